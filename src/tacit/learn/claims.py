"""What a language model claims that a message says, held against the message: a claim is taken only
where the message states it, and who it is about and which slot it fills are read off its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit import limits
from tacit.learn.amending.cues import cues
from tacit.learn.claim_wording import WORD, Fact, Wording
from tacit.learn.classify import classify
from tacit.learn.facts import Mention, Statement
from tacit.learn.reading import rules
from tacit.learn.reading.mentions import is_name, kin_of, mention, possessive
from tacit.learn.reading.sentences import BLANK, Piece, blanked, clauses, sentences
from tacit.learn.reading.tongue import Tongue
from tacit.learn.turn import Turn
from tacit.learn.verify import verify
from tacit.model.words import Kind, Sensitivity
from tacit.screening import secrets
from tacit.screening.instructions import suspicious

_ABOUT_MAX_COUNT = 5
_NEGATED_END = "n't"
_REPEATED = re.compile(r"\b(\w+)(?:\W+\1\b){2,}", re.IGNORECASE)
_STRANGE_MAX_COUNT = 1  # words of a content that are not in the message
_STEM_MIN_CHARS = 3
_STEM_CUT_CHARS = 3
_OWNED = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    reason: str
    mendable: bool = True  # another wording might pass


def stated(text: str, tongue: Tongue) -> list[Piece]:
    """The stretches of a message in which its writer states something: no questions, jokes that
    say so, hypotheticals, quotes or pasted text. [] where there is nothing to ask a model about."""
    seen = blanked(text, tongue)
    if tongue.has("not_meant", seen):
        return []
    found: list[Piece] = []
    for sentence in sentences(seen, tongue):
        end = _asked_from(sentence, tongue)
        if end > sentence.start and not tongue.has("sentence_veto", sentence.text):
            found.append(replace(sentence, end=end, text=seen[sentence.start : end]))
    return found


def _asked_from(sentence: Piece, tongue: Tongue) -> int:
    """Where a sentence begins to ask: "I'm vegetarian, what can I order?" does so in the middle."""
    if tongue.patterns["explicit"].match(sentence.text):
        return sentence.end
    pieces = clauses(sentence, tongue)
    asking = [one.start for one in pieces if tongue.has("question", one.text)]
    if sentence.asked:
        return min(asking, default=sentence.start)
    # Without a question mark, "… and has no password" asks nothing.
    return sentence.start if asking and asking[0] == pieces[0].start else sentence.end


class Judge:
    """Of one message, what may be claimed."""

    def __init__(self, turn: Turn, speaker: str, tongue: Tongue, said: Sequence[Piece]) -> None:
        self.turn, self.speaker, self.tongue, self.said = turn, speaker, tongue, said
        self.wording = Wording(turn, speaker, tongue)

    def misshapen(self, statement: Statement) -> str | None:
        return verify(statement, self.turn.text, self.speaker, self.tongue)

    def judged(self, fact: Fact) -> Statement | Refused:
        """The statement, or why it is not taken."""
        statement = self.wording.put(fact, mended=True)
        reason = self.misshapen(statement)
        if reason is not None:
            return Refused(reason=reason)
        if suspicious(statement.content) or secrets.screen(statement.content):
            return Refused(reason="the content is an instruction or a secret", mendable=False)
        return (
            self._invented(statement)
            or self._unstated(statement)
            or self._attributed(statement, fact)
        )

    def _invented(self, statement: Statement) -> Refused | None:
        """Stricter than for the rules, whose words are their own: one word that is not in the
        message may be a better one, two are another claim."""
        text, tongue = self.turn.text, self.tongue
        if _REPEATED.search(statement.content):
            return Refused(reason="the content repeats itself")
        first = WORD.match(statement.content)
        named = first and is_name(first[0], tongue) and not self._says(text, _bare(first[0]))
        if first and named and not self._says(self.speaker, _bare(first[0])):
            return Refused(reason=f"{first[0]!r} is not in the message")
        for entry in tongue.lexicon:
            if entry.match.search(statement.content) and not entry.match.search(text):
                return Refused(reason=f"the message does not speak of {entry.topic}")
        strange = [word for word in self._counting(statement.content) if not self._heard(word)]
        if len(strange) > _STRANGE_MAX_COUNT:
            return Refused(reason=f"the message does not say {', '.join(strange)}")
        return None

    def _counting(self, content: str) -> list[str]:
        """The words that say something, but for dates, which have been looked at."""
        own = self.tongue.words
        ignored = (
            own["small"]
            | own["glue"]
            | own["months"]
            | {_bare(m[0]).casefold() for m in WORD.finditer(self.speaker)}
        )
        words = [_bare(m[0]).casefold() for m in WORD.finditer(content)]
        return [word for word in words if word.isalpha() and word not in ignored]

    def _heard(self, word: str) -> bool:
        stem = word[: max(_STEM_MIN_CHARS, len(word) - _STEM_CUT_CHARS)]
        irregular = self.tongue.verbs.irregular
        said = self.wording.words
        return any(one.startswith(stem) or irregular.get(one) == word for one in said)

    def _unstated(self, statement: Statement) -> Refused | None:
        place = self.wording.place(statement.quote)
        around = next((p for p in self.said if place and p.start <= place[0] < p.end), None)
        if place is None or around is None:
            return Refused(reason="the message does not state the quoted words", mendable=False)
        seen = around.text[place[0] - around.start : place[1] - around.start]
        if 2 * seen.count(BLANK) > len(seen):
            return Refused(reason="the message only quotes it", mendable=False)
        clause = " ".join(
            one.text
            for one in clauses(around, self.tongue)
            if one.start < place[1] and place[0] < one.end
        )
        over = any(form.search(clause) for form in cues(self.tongue.code).endings)
        if not over and self._denies(clause) != self._denies(statement.content):
            return Refused(reason="the message says the opposite: keep its negation")
        return None

    def _denies(self, text: str) -> bool:
        words = [m[0].casefold().replace("’", "'") for m in WORD.finditer(text)]
        own = cues(self.tongue.code).words
        while words and words[0] in own.get("openers", ()):
            words.pop(0)  # "no, I live in Rome"
        return any(one in own["negations"] or one.endswith(_NEGATED_END) for one in words)

    def _attributed(self, statement: Statement, fact: Fact) -> Statement | Refused:
        """Whom it is about, as far as the words say so: neither a name that is not said nor a
        silence about somebody who leads the sentence is the model's to decide."""
        mentions: list[Mention] = []
        for name in fact.about[:_ABOUT_MAX_COUNT]:
            found = self._mention(name)
            if found is None:
                continue
            known = found.username or found.name or found.relation or ""
            if not self._says(self.turn.text, known) or not self._says(statement.content, known):
                return Refused(reason=f"{known!r} is not in the message and in the content")
            mentions.append(found)
        own = self._says(statement.content, self.speaker)
        statement = replace(statement, about=tuple(mentions), about_speaker=own)
        read = self._read(statement.content)
        if read is not None:
            statement = replace(
                statement,
                about=read.about or statement.about,
                about_speaker=read.about_speaker,
                slot=read.slot,
                value=read.value,
                negated=read.negated,
                observed_at=read.observed_at or statement.observed_at,
            )
        elif mentions and not self._leads(statement.content):
            statement = replace(
                statement, about_speaker=statement.kind is Kind.RELATIONSHIP and own
            )
        others = bool(statement.about) and not statement.about_speaker
        statement = replace(statement, hearsay=others)
        sensitive = classify(statement, self.tongue).sensitivity is Sensitivity.SENSITIVE
        if sensitive and not others and not statement.about_speaker:
            return Refused(reason="the content does not say whom it is about")
        return statement

    def _leads(self, content: str) -> bool:
        """Whether it is the speaker, and nobody of theirs, whom a sentence begins with."""
        name = self.speaker.casefold()
        words = content.casefold()
        return words.startswith(name) and not words.startswith(
            possessive(name, self.tongue).casefold()
        )

    def _says(self, text: str, name: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None

    def _mention(self, said: str) -> Mention | None:
        """Somebody by name or relation; None for the speaker and for things."""
        said = " ".join(said.split())[: limits.NAME_MAX_CHARS]
        own = f"{possessive(self.speaker, self.tongue)} "
        if said.casefold().startswith(own.casefold()):
            said = said[len(own) :]
        mine = self.tongue.patterns["mine"].match(said)
        rest = said[mine.end() :].lstrip() if mine else said
        kin = self.tongue.patterns["kin"].match(rest)
        if kin is not None:
            name = rest[kin.end() :].strip()
            known = kin_of(kin["kin"], kin["mod"] or "", self.tongue)
            return mention(said, known, name if is_name(name, self.tongue) else None)
        if said.casefold() == self.speaker.casefold() or not is_name(said, self.tongue):
            return None
        return mention(said, None, said)

    def _read(self, content: str) -> Statement | None:
        """What the rules make of the content itself, with the speaker as "my" or as somebody with
        a name that is surely one."""
        own = possessive(self.speaker, self.tongue)
        text = re.sub(rf"(?<!\w){re.escape(own)}(?!\w)", self.tongue.texts["my"], content)
        taken = set(self.wording.words)
        names = sorted(self.tongue.words["first_names"] - taken - self.tongue.words["small"])
        stand_in = names[0].capitalize() if names else self.speaker
        text = re.sub(rf"(?<!\w){re.escape(self.speaker)}(?!\w)", stand_in, text)
        found = rules.extract(text, self.speaker, self.turn.said_at, self.tongue)
        if len(found) != 1:
            return None
        (one,) = found
        if _plain(one.content.replace(stand_in, self.speaker)) != _plain(content):
            return None
        others = tuple(who for who in one.about if who.name != stand_in)
        return replace(
            one, about=others, about_speaker=one.about_speaker or len(others) < len(one.about)
        )


def _bare(word: str) -> str:
    return _OWNED.sub("", word)


def _plain(content: str) -> str:
    return " ".join(content.casefold().split()).rstrip(".!")
