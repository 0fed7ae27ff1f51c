"""Whether the clause that a claim quotes says such a thing of whom the claim names: not an order,
not what is said to or of somebody else, and nothing that passes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tacit.learn.amending.cues import cues
from tacit.learn.claim_subject import before_verb, finite
from tacit.learn.reading.mentions import is_name, possessive, subject
from tacit.learn.reading.readings import written_out
from tacit.learn.reading.sentences import BLANK
from tacit.learn.reading.tongue import Tongue

_LEADS_MAX_COUNT = 5
_STEM_CHARS = 3
_VERBATIM_COUNT = 2
_NEAR_COUNT = 3
_WORD = re.compile(r"[^\W_]+")
_SPOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NO_COMMA = re.compile(r"\s*(\w+)(?:\s*[,.!:;-]+|(?=\s+(?:i|we|ich|wir)\b))", re.IGNORECASE)
_NEGATED_END = "n't"
_JOKED = "the message does not mean it"


def denies(text: str, tongue: Tongue) -> bool:
    """Whether words have a negation of their own."""
    own = cues(tongue.code).words
    # "No, I live in Rome" denies nothing; "no sugar for me" does.
    while (opened := _NO_COMMA.match(text)) and opened[1].lower() in own.get("openers", ()):
        text = text[opened.end() :]
    words = [m[0].lower().replace("’", "'") for m in _SPOKEN.finditer(text)]
    return any(one in own["negations"] or one.endswith(_NEGATED_END) for one in words)


class Sense:
    """One claim, and the words of the message that it is said to come from."""

    def __init__(
        self, content: str, text: str, speaker: str, tongue: Tongue, *, leads: bool
    ) -> None:
        self.content, self.speaker, self.tongue = content, speaker, tongue
        self.text = text
        self.said = {m[0].lower() for m in _WORD.finditer(text)}
        self.leads = leads  # the claim begins with the speaker, and nobody of theirs
        self.words = {m[0].lower() for m in _WORD.finditer(content)}

    def missed(self, sentence: str, clauses: Sequence[str], *, dated: bool) -> str | None:
        """Why the sentence does not say it; None where one of the quoted clauses may."""
        tongue = self.tongue
        if tongue.has("denied_denial", sentence):
            return "the message only denies a denial"
        if tongue.has("jested", self.content):
            return _JOKED
        if not dated and self._passes():
            return "it passes: nothing to remember"
        if self.leads and self._tells():
            return "that somebody writes it is no fact"
        if self._relates():
            return "the message does not say that they are related so"
        reasons = [self._missed(one) for one in self._meant(clauses)]
        return reasons[0] if reasons and all(reasons) else None

    def _meant(self, clauses: Sequence[str]) -> Sequence[str]:
        """The clauses that have the first word of what is claimed: what follows may be of another
        clause, "Nathan has an allergy, so no nuts"."""
        mine = self._of(self.speaker)
        for match in _WORD.finditer(self.content):
            word = {match[0].lower()} - mine - self._small
            found = [one for one in clauses if word & self._of(one)]
            if found:
                return found
        return clauses

    def _passes(self) -> bool:
        """A mood, a turn of phrase, or how a thing is at the moment."""
        if not self.leads:
            thing = before_verb(self.content, self.tongue)
            rest = self.content[len(thing or "") :].strip()
            return thing is not None and self.tongue.has("thing_passes", rest)
        predicate = written_out(self.content[len(self.speaker) :], self.tongue)
        first, _, rest = predicate.partition(" ")
        if first.lower() in self.tongue.words["verbs_being_now"]:
            return self.tongue.has("passing_state", rest)
        said = self.tongue.patterns["idiom"].search(predicate)
        more = _WORD.search(predicate, said.end()) if said else None
        # "Grows old" is a turn of phrase, "grows old roses" is not.
        return said is not None and (more is None or more[0].lower() in self._small)

    def _tells(self) -> bool:
        """ "Yuki says good morning", where the message does not speak of saying."""
        predicate = self.content[len(self.speaker) :].lstrip()
        if self.tongue.has("noting", predicate):
            return True
        found = self.tongue.patterns["tells"].match(predicate)
        stem = found[0].lower()[:_STEM_CHARS] if found else ""
        return found is not None and not any(one.startswith(stem) for one in self.said)

    def _relates(self) -> bool:
        """Whether somebody is called the speaker's child whom the message does not call so: it
        says "my", or "the kids", or begins with them; "lots of kids" are nobody's."""
        kin = self.tongue.kin
        whose = re.escape(possessive(self.speaker, self.tongue))
        found = re.findall(rf"(?<!\w){whose} (\w+)", self.content, re.IGNORECASE)
        named = {kin[one.lower()].word for one in found if one.lower() in kin}
        said = [one for one in _WORD.finditer(self.text) if self._kin(one[0]) & named]
        near = self.tongue.has("first_person", self.text)
        return bool(named) and not any(near or self._known(one.start()) for one in said)

    def _kin(self, word: str) -> set[str]:
        known = self.tongue.kin.get(word.lower())
        return {word.lower(), known.word} if known else {word.lower()}

    def _known(self, start: int) -> bool:
        before = re.split(r"[.,:;!?]", self.text[:start])[-1].lower().split()[-_NEAR_COUNT:]
        return not before or bool(set(before) & self.tongue.words["definite"])

    def _missed(self, typed: str) -> str | None:
        tongue = self.tongue
        clause = _opened(written_out(typed, tongue), tongue)
        own = tongue.has("first_person", clause)
        if tongue.has("veto", clause) or tongue.has("unsure", clause):
            return "the message does not say it for sure"
        standing = tongue.has("standing", typed)  # "from now on …" is what somebody wants
        said = {m[0].lower() for m in _WORD.finditer(typed)}
        mine = tongue.texts["self"].lower() in said  # "look at what I found"
        if tongue.has("orders", _opened(typed, tongue)) and not standing and not mine:
            return "the message asks somebody to do it"
        addressed = tongue.has("addressed", clause) or (
            not own and tongue.has("addressed_within", clause)
        )
        if addressed and not standing:
            return "the message says it of whom it is written to"
        if self._of_theirs(clause) or (not own and self._of_another(clause)):
            return "the message says it of somebody else"
        return None

    def _of_theirs(self, clause: str) -> bool:
        """Whether a claim says of the speaker what the clause says of somebody of theirs: "my
        mother has asthma". "My wife is Ana" says who that is, and something of both."""
        found = subject(clause, self.speaker, self.tongue, None) if self.leads else None
        if found is None or found[0].speaks or found[0].owns:
            return False
        who, rest = found
        being, _, what = rest.partition(" ")
        if not finite(being, self.tongue):
            return False  # "Roman by birth": no name, or nothing that they do
        listed = self.tongue.has("names_listed", rest)
        if listed or (being in self.tongue.words["verbs_being"] and is_name(what, self.tongue)):
            return False
        return not self.words & (self._of(who.words) - self._of(self.speaker))

    def _of_another(self, clause: str) -> bool:
        """Whether the claim puts the speaker, or something of theirs that the message does not
        speak of, where the clause has another subject."""
        if self._of(clause) & self._of(self.speaker):
            return False
        if self.tongue.has("third_person", clause):
            return self.leads or self._brought()
        if not self.leads:
            return False
        if clause.startswith(BLANK):
            return True
        if f"{self.speaker} {clause}".lower() == self.content.lower():
            first = clause.partition(" ")[0].lower()
            if first in self.tongue.words["conjunctions"]:
                return True  # "and all that jazz", with a name before it
        before = before_verb(clause, self.tongue)
        another = self._of(self._instead(clause) if before is None else before)
        return bool(another) and not self.words & another

    def _instead(self, clause: str) -> str:
        """What stands in the clause before the words that the claim has after the speaker."""
        predicate = " ".join(self.content[len(self.speaker) :].lower().split()[:_VERBATIM_COUNT])
        before, said, _ = clause.lower().partition(f" {predicate}")
        adverbs = self.tongue.words["adverbs"]
        return " ".join(word for word in before.split() if said and word not in adverbs)

    def _brought(self) -> bool:
        """Whether a claim names a thing where the clause says "it": "Henrik's computer …"."""
        named = self._of(before_verb(self.content, self.tongue) or "")
        mine, glue = self._of(self.speaker), self.tongue.words["glue"]
        return bool(named & mine) and not named & self.said - mine - glue

    @property
    def _small(self) -> frozenset[str]:
        return self.tongue.words["small"]

    def _of(self, text: str) -> set[str]:
        return {m[0].lower() for m in _WORD.finditer(text)} - self._small


def _opened(text: str, tongue: Tongue) -> str:
    """A clause without what merely opens it: "remember that", "by the way"."""
    for _ in range(_LEADS_MAX_COUNT):
        asked = tongue.patterns["explicit"].match(f"{text} ")
        opened = asked or tongue.patterns["lead"].match(text)
        if opened is None or not opened[0]:
            break
        text = text[opened.end() :].lstrip(" ,:-")
    return text
