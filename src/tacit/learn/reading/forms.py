"""The shapes that a language's data file gives to the rules: forms, captures, kin and verbs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tacit.learn.facts import Hold
from tacit.learn.needed import Pieces
from tacit.records.memory import Kind, Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    """One plain way of saying a thing, as a pattern over a clause put into the third person. There
    is one object for each."""

    name: str
    match: re.Pattern[str]
    types: Mapping[str, str]  # its groups, and the captures that they are
    kind: Kind
    who: frozenset[str]  # self, kin, name: whose word may be taken in this form
    slot: str | None  # may hold captures: "likes:{thing}"
    value: str | None
    say: str | None  # content where the clause itself would not do
    negated: bool
    dated: bool  # nothing without a date
    recurs: bool  # a date in it comes back every year, and is no time of its own
    firm: bool  # meant even where the speaker laughs
    people: tuple[str, ...]  # captures that name somebody whom it is about
    tags: frozenset[str]  # what classification knows the form by


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What may stand in one place of a form."""

    pattern: str
    words: int  # at most so many
    only: frozenset[str] | None  # its last word, or the whole, is one of these
    ends: re.Pattern[str] | None  # … or ends like this
    never: frozenset[str]  # none of its words is one of these
    never_first: frozenset[str]
    proper: bool  # begins with a capital, or is known, or the speaker uses none …
    strict: bool  # … which does not count here
    known: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """A word for somebody by what they are to another."""

    word: str  # singular, as it is kept
    slot: str | None  # where one has only one of these
    plural: bool
    gender: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verbs:
    """How a verb of the first person becomes one of the third."""

    same: frozenset[str]
    irregular: Mapping[str, str]
    same_endings: tuple[str, ...]
    endings: tuple[tuple[re.Pattern[str], str], ...]
    plural: Mapping[str, str]  # they are -> is: what forms are matched against
    plural_endings: tuple[tuple[re.Pattern[str], str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DateForm:
    match: re.Pattern[str]
    means: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    forms: tuple[DateForm, ...]
    words: Mapping[str, Mapping[str, int | str]]  # months, weekdays, numbers, units, …
    months: tuple[str, ...]  # how a month is written in content
    say: Mapping[str, str]  # how a date is written, by its grain
    kept: frozenset[str]  # prepositions that stay: by, until, since


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldForm:
    """Words about how far a message may go, or from whom it is kept."""

    match: re.Pattern[str]
    needs: Pieces
    hold: Hold | None
    stated: bool  # part of what is said: "a surprise party for Bob"
    last: bool  # read only where no form before it was found
    firm: bool  # withholds even where the person it names is not recognized: "don't tell the boss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How values and sentences about a person's name, pronouns, home and language read."""

    keys: frozenset[str]
    things: frozenset[str]
    called: re.Pattern[str]
    lived: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Words that set a floor: the topic, its words, and how sensitive it is."""

    topic: str
    match: re.Pattern[str]
    sensitivity: Sensitivity
