"""A message read for what it may correct, and what is asked of it together with something known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tacit.learn.amending.change import Tone
from tacit.learn.amending.clause import Gist
from tacit.learn.amending.cues import Cues, Topic
from tacit.learn.amending.typed import Token, Value, tokens
from tacit.learn.needed import low, may_match

_PRECISE = frozenset({"day", "clock", "month", "year", "number", "money", "name", "contact"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """ "Swapped the Volvo for a Skoda"."""

    old: frozenset[str]  # stems
    new: str
    fresh: frozenset[str]  # stems of the new that are none of the old


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """ "Sold the boat"."""

    what: frozenset[str]  # stems
    said: str
    died: bool = False  # whoever is dead lives and works nowhere
    leads: bool = False  # it is named first, as a subject: "the boat is sold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One message, read for what it may correct."""

    clauses: tuple[Gist, ...]  # pronouns already explained by the clause before
    tone: Tone
    stems: frozenset[str]
    every: frozenset[str]  # stems, also of words that tell little
    settings: frozenset[str]
    exchanges: tuple[Exchange, ...]
    endings: tuple[Ending, ...]
    topics: tuple[tuple[Topic, Gist], ...]  # with the clause that speaks of each
    correction: Gist | None  # "actually it's the 14th": a value that corrects another
    not_that: frozenset[str]  # stems of what the correction says it is not


def topics_of(clauses: Sequence[Gist], tone: Tone, own: Cues) -> Iterator[tuple[Topic, Gist]]:
    said = [(clause, clause.segment, low(clause.segment)) for clause in clauses if not clause.added]
    for topic in own.topics:
        if not (topic.plain or tone.turned):
            continue
        for clause, segment, seen in said:
            if may_match(topic.needs, seen) and topic.said.search(segment):
                yield topic, clause


def reaches(old: Gist, heard: Heard, own: Cues) -> bool:
    """Whether a message may be about whom the known thing is about: for somebody else's things,
    they have to be named."""
    people = {stem for stem in old.subject if stem in own.words["people"]}
    people |= {old.other} if old.other else set()
    people = people and people | {
        stem for stem, text in zip(old.subject, old.plain, strict=True) if text[:1].isupper()
    }
    if people and not old.role and not people & heard.stems:
        return any(clause.referring for clause in heard.clauses)
    strangers = [
        clause.other
        for clause in heard.clauses
        if clause.other and clause.other not in old.stems and not clause.role
    ]
    kin = {stem for clause in heard.clauses for stem in clause.subject if not clause.role}
    kin &= own.words["people"]
    return not strangers and (kin <= old.stems or old.role)


def settings_differ(old: Gist, heard: Heard) -> bool:
    """ "At work", "at home": another setting is another fact."""
    both = bool(old.settings) and bool(heard.settings)
    return both and not old.settings & heard.settings


def telling(said: str, own: Cues) -> frozenset[str]:
    small, titles = own.words["small"], own.words["titles"]
    return frozenset(
        word.stem
        for word in tokens(said, own)
        if word.low not in small and word.low not in titles and word.low[:1].isalnum()
    )


def span_of(old: Gist, stems: frozenset[str]) -> tuple[int, int] | None:
    """The characters of what is known that say all of these words."""
    if not stems or not stems <= {word.stem for word in old.words}:
        return None
    at = [word for word in old.words if word.stem in stems]
    return at[0].start, at[-1].end


def span_at(old: Gist, value: Value) -> tuple[int, int]:
    return old.words[value.start].start, old.words[value.end - 1].end


def text_of(gist: Gist, value: Value) -> str:
    return gist.text[gist.words[value.start].start : gist.words[value.end - 1].end]


def untyped(gist: Gist) -> frozenset[str]:
    """The words of a clause that are no day, hour, number or name."""
    typed = {n for v in gist.values if v.sort in _PRECISE for n in range(v.start, v.end)}
    return frozenset(word.stem for n, word in enumerate(gist.words) if n not in typed)


def same_ending(old: Gist, new: Gist, own: Cues) -> tuple[Token, ...] | None:
    """ "Oat milk" for "soy milk"."""
    last = [word for word in new.said if word.low[:1].isalnum()][-1:]
    if not last or last[0].stem not in untyped(new):
        return None
    for position, word in enumerate(old.words):
        if word.stem == last[0].stem and position:
            start = position - 1
            if old.words[start].low in own.words["small"]:
                return None
            return old.words[start : position + 1]
    return None
