"""The outline of a clause: whom or what it is about, its verb, and what it says of them."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.learn.amending.cues import Cues
from tacit.learn.amending.typed import Token, Value

OWNED = "'s"
_FINITE_MIN_CHARS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Gist:
    text: str
    words: tuple[Token, ...]
    speaks: bool  # the speaker is its subject, or nobody is named: "sold the car"
    referring: bool  # its subject is a pronoun, which another clause explains
    owned: bool  # its subject is the speaker's: "my phone"
    other: str | None  # its subject is somebody else's: "Karim's phone"
    subject: tuple[str, ...]  # stems, () for the speaker and for pronouns
    plain: tuple[str, ...]  # the subject as it was written
    verb: str | None  # its stem
    negated: bool
    preposition: str | None
    start: int  # where what it says begins, as a position among the words
    end: int
    explained: bool  # the clause before told what its pronoun means
    role: bool  # said the other way round: "Ivo is my boss"
    past: bool  # it tells of something that happened: "bought a tent"
    settings: frozenset[str]  # "at work", "in the evening"
    sides: frozenset[str]  # "work" of "work phone"
    added: bool  # "also", "too": it stands beside the rest
    over: bool  # it was so once: "used to live in Leeds"
    values: tuple[Value, ...]
    stems: frozenset[str]  # of the words that tell something

    @property
    def said(self) -> tuple[Token, ...]:
        return self.words[self.start : self.end]

    @property
    def stated(self) -> bool:
        """Whether it says of whom or what it tells, in words of its own message."""
        named = bool(self.subject) and (not self.referring or self.explained)
        left_out = self.past and not self.referring  # "sold the boat"
        return self.verb is not None and (self.speaks or named or left_out)

    @property
    def segment(self) -> str:
        return self.text[self.words[0].start : self.words[-1].end] if self.words else ""

    @property
    def said_text(self) -> str:
        if self.start >= self.end:
            return ""
        return self.text[self.words[self.start].start : self.words[self.end - 1].end]


def finite(word: Token, own: Cues) -> bool:
    if word.low in own.words["be"] or word.low in own.words["auxiliaries"]:
        return True
    if word.low.endswith(tuple(own.words["finite_any"])) and len(word.low) > _FINITE_MIN_CHARS:
        return True
    inflected = word.low.endswith(tuple(own.words["finite_endings"])) or word.low in own.irregular
    return inflected and word.stem in own.words["verbs"]


def finite_at(words: tuple[Token, ...], position: int, own: Cues) -> bool:
    if position >= len(words):
        return False
    word = words[position]
    if word.low != OWNED:
        return finite(word, own)
    before, after = words[position - 1], words[position + 1] if position + 1 < len(words) else None
    if before.low in own.words["pronouns"]:
        return True
    if after is None:
        return False
    return after.low in own.words["after_is"] or _participle_at(words, position + 1, own)


def _participle_at(words: tuple[Token, ...], position: int, own: Cues) -> bool:
    """ "Tim's retired", and not "Tim's shared flat"."""
    low = words[position].low
    aged = low.isdecimal() or low in own.words["number_words"]
    past = low.endswith("ed") and len(low) > _FINITE_MIN_CHARS
    if not (aged or past or low in own.words["done"]):
        return False
    ahead = words[position + 1] if position + 1 < len(words) else None
    if ahead is None or not ahead.low[:1].isalnum():
        return True
    plain = own.among("small", "prepositions", "adverbs")
    return ahead.low in plain
