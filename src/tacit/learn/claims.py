"""What a language model claims that a message says, held against the message: a claim is taken only
where the message states it, and who it is about and which slot it fills are read off its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from tacit import limits
from tacit.learn.amending.cues import cues
from tacit.learn.claim_sense import Sense, denies
from tacit.learn.claim_subject import before_verb
from tacit.learn.claim_wording import ABOUT_MAX_COUNT, WORD, Fact, Wording
from tacit.learn.classify import classify
from tacit.learn.facts import Mention, Statement
from tacit.learn.reading import rules
from tacit.learn.reading.holds import silenced
from tacit.learn.reading.mentions import is_name, kin_of, mention, possessive
from tacit.learn.reading.sentences import BLANK, Piece, blanked, clauses, sentences
from tacit.learn.reading.tongue import Tongue
from tacit.learn.turn import Turn
from tacit.learn.verify import form, support
from tacit.records.memory import Kind, Sensitivity
from tacit.screening import secrets
from tacit.screening.instructions import find_instruction

_REPEATED = re.compile(r"\b(\w+)(?:\W+\1\b){2,}", re.IGNORECASE)
_STRANGE_MAX_COUNT = 1  # words of a content that are not in the message
_KEPT_MIN_SHARE = 0.5  # of the words of a claim, in their order, in another wording of it
_STEM_MIN_CHARS = 3
_STEM_CUT_CHARS = 3
_OWNED = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    reason: str
    said: bool = False  # the message says it: only the wording is wrong, and another may pass


def stated(text: str, tongue: Tongue) -> list[Piece]:
    """The stretches of a message in which its writer states something: no questions, jokes that
    say so, hypotheticals, quotes, pasted text, or words on how far it may go. [] where there is
    nothing to ask a model about."""
    seen = silenced(blanked(text, tongue), tongue)
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

    def at_once(self, fact: Fact) -> bool:
        """Whether a claim is of the right form as the model gave it: nothing to put right."""
        statement = self.wording.put(fact, mended=False)
        return (
            self.misshapen(statement) is None
            and self.wording.dated(statement) == statement.content
            and support(statement, self.turn.text, self.speaker, self.tongue) is None
        )

    def misshapen(self, statement: Statement) -> str | None:
        """What is wrong with the wording, whether or not it is so."""
        content = statement.content[: limits.LEARN_CONTEXT_MAX_CHARS]
        reason = form(content, self.speaker, self.tongue)
        if reason is None and _REPEATED.search(content):
            return "the content repeats itself"
        return reason

    def judged(self, fact: Fact) -> Statement | Refused:
        """The statement, with slips of form put right; or why it is not taken. What the message
        does not say is refused whatever its form."""
        statement = self.wording.put(fact, mended=True)
        reason = self.misshapen(statement)
        if reason and len(statement.content) > limits.LEARN_CONTEXT_MAX_CHARS:
            return Refused(reason=reason)  # too long to be looked at any further
        backed = self.supported(statement, fact)
        if reason is None or isinstance(backed, Refused):
            return backed
        return Refused(reason=reason, said=True)

    def reworded(self, fact: Fact, content: str) -> Statement | Refused:
        """A claim that the message says in another wording: of the same, and of nobody else."""
        before = self.wording.put(fact, mended=True).content
        statement = self.judged(replace(fact, content=content))
        if isinstance(statement, Refused):
            return statement
        words = self._counting(before)
        kept = SequenceMatcher(None, words, self._counting(statement.content), autojunk=False)
        if sum(same.size for same in kept.get_matching_blocks()) < _KEPT_MIN_SHARE * len(words):
            return Refused(reason="the new wording says something else")
        if self._leads(statement.content) and not self._says(before, self.speaker):
            return Refused(reason="the new wording is about somebody else")
        return statement

    def supported(self, statement: Statement, fact: Fact) -> Statement | Refused:
        """The statement with whom it is about, or what of it the message does not say."""
        reason = support(statement, self.turn.text, self.speaker, self.tongue)
        if reason is not None:
            return Refused(reason=reason)
        if find_instruction(statement.content) or secrets.find_secret(statement.content):
            return Refused(reason="the content is an instruction or a secret")
        return (
            self._invented(statement)
            or self._unstated(statement)
            or self._attributed(statement, fact)
        )

    def _invented(self, statement: Statement) -> Refused | None:
        """Stricter than for the rules, whose words are their own: one word that is not in the
        message may be a better one, two are another claim."""
        text, tongue = self.turn.text, self.tongue
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
        place = self._meant(statement.quote)
        around = next((p for p in self.said if place and p.start <= place[0] < p.end), None)
        if place is None or around is None:
            return Refused(reason="the message does not state the quoted words")
        seen = around.text[place[0] - around.start : place[1] - around.start]
        if 2 * seen.count(BLANK) > len(seen):
            return Refused(reason="the message only quotes it")
        clause = " ".join(self._clauses([around], place))
        over = any(form.search(clause) for form, _ in cues(self.tongue.code).endings)
        if not over and denies(clause, self.tongue) != denies(statement.content, self.tongue):
            return Refused(reason="the message says the opposite: keep its negation")
        leads = self._leads(statement.content)
        sense = Sense(statement.content, self.turn.text, self.speaker, self.tongue, leads=leads)
        # A quote may begin in one sentence and end in another.
        spoken = [one for one in self.said if one.start < place[1] and place[0] < one.end]
        whole = " ".join(one.text for one in spoken)
        dated = self.wording.says_when(clause)
        reason = sense.missed(whole, self._clauses(spoken, place), dated=dated)
        return Refused(reason=reason) if reason else None

    def _clauses(self, pieces: Sequence[Piece], place: tuple[int, int]) -> list[str]:
        """The clauses of sentences that a quote touches; from where it begins, where it has a
        subject of its own: "you will laugh, but the garden …"."""
        found = [one for piece in pieces for one in clauses(piece, self.tongue)]
        touched = [one for one in found if one.start < place[1] and place[0] < one.end]
        return [
            one.text[place[0] - one.start :]
            if one.start < place[0] and before_verb(one.text[place[0] - one.start :], self.tongue)
            else one.text
            for one in touched
        ]

    def _meant(self, quote: str) -> tuple[int, int] | None:
        """Where a quote stands, from the first word that is not on how far it may go."""
        place = self.wording.place(quote)
        if place is None:
            return None
        first = WORD.search(silenced(self.turn.text, self.tongue), *place)
        return (first.start(), place[1]) if first else None

    def _attributed(self, statement: Statement, fact: Fact) -> Statement | Refused:
        """Whom it is about, as far as the words say so: neither a name that is not said nor a
        silence about somebody who leads the sentence is the model's to decide."""
        mentions: list[Mention] = []
        for name in fact.about[:ABOUT_MAX_COUNT]:
            found = self._mention(name)
            if found is None:
                continue
            known = found.username or found.name or found.relation or ""
            if not self._says(self.turn.text, known):
                return Refused(reason=f"{known!r} is not in the message")
            if not self._says(statement.content, known):
                return Refused(reason=f"the content does not name {known!r}", said=True)
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
            return Refused(reason="the content does not say whom it is about", said=True)
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
