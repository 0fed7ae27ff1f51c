"""Find dates, personal topics and known names in questions and memories."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, date, datetime
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.records.accounts import Person
from tacit.records.request import Request
from tacit.text import fold_text, key_words, split_words, stem_word

# Dates in questions and memories.

MICROS_PER_DAY = 86_400_000_000
_EPOCH = date(1970, 1, 1).toordinal()
_MONTHS = [
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
]  # fmt: skip
_MONTH_STEMS = [stem_word(month) for month in _MONTHS]
_MONTH = "|".join(_MONTHS)
_MENTIONS_TIME = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|ago|last|next|recently|since|weekend|weeks?|months?"
    rf"|years?|days?|this morning|(?:mon|tues|wednes|thurs|fri|satur|sun)day|{_MONTH}"
    r"|\d{4}|\d+(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)
_ASKS_WHEN = re.compile(
    r"^\W*(?:since )?when\b|\bhow (?:long|often)\b|\b(?:what|which) (?:date|day|month|year|week)\b", re.IGNORECASE
)
_ISO_DAY = re.compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NAMED_MONTH = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?({_MONTH})\b"
    r"(?:,? (\d{1,2})(?:st|nd|rd|th)?\b)?",
    re.IGNORECASE,
)
_MENTIONS_TIME_MAX_CHARS = 4_000
_DAYS_SCALE = 4.0  # a date this many days off counts 1/e
_TOLD_LATER_DAYS = 31  # people often mention an event in the month after it

# Year, month and day, as far as they are named.
PartialDate = tuple[int | None, int | None, int | None]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


def date_terms(moment: datetime) -> list[str]:
    """Return index terms for a date: month and year. A bare day number would be ambiguous."""
    return [_MONTH_STEMS[moment.month - 1], str(moment.year)]


def mentions_time(text: str) -> bool:
    """Whether the beginning of a text names a time. The bound keeps long texts cheap."""
    return _MENTIONS_TIME.search(text, 0, _MENTIONS_TIME_MAX_CHARS) is not None


def asks_when(text: str) -> bool:
    return _ASKS_WHEN.search(text) is not None


def parse_date(text: str) -> PartialDate | None:
    iso = _ISO_DAY.search(text)
    if iso:
        return _valid_date(int(iso[1]), int(iso[2]), int(iso[3]))
    year = _YEAR.search(text)
    month: int | None = None
    day: int | None = None
    for match in _NAMED_MONTH.finditer(text):
        number = match[1] or match[3]
        # "may" and "march" are also verbs: a month has a capital or a number beside it.
        if number or match[2][0].isupper():
            month = _MONTHS.index(match[2].lower()) + 1
            day = int(number) if number else None
            break
    if month is None and year is None:
        return None
    return _valid_date(int(year[0]) if year else None, month, day)


def _valid_date(year: int | None, month: int | None, day: int | None) -> PartialDate:
    if month is None or not 1 <= month <= 12:
        return year, None, None
    return year, month, day if day is not None and 1 <= day <= 31 else None


def score_date_proximity(named: PartialDate, moments: Ints) -> Floats:
    """Return 1 for moments at the named date, less near it, and a half for a year alone."""
    year, month, day = named
    if not len(moments):
        return np.zeros(0, np.float32)
    days = moments // MICROS_PER_DAY + _EPOCH
    if year is not None:
        years: Iterable[int] = (year,)
    else:
        first, last = (date.fromordinal(int(one)).year for one in (days.min(), days.max()))
        years = range(first, min(last, MAXYEAR - 1) + 1)
    found = np.zeros(len(days), np.float32)
    for one in years:
        found = np.maximum(found, _score_proximity_in_year(one, month, day, days))
    return found


def _score_proximity_in_year(year: int, month: int | None, day: int | None, days: Ints) -> Floats:
    if month is None:
        inside = (days >= date(year, 1, 1).toordinal()) & (days <= date(year, 12, 31).toordinal())
        return (0.5 * inside).astype(np.float32)
    first = date(year, month, 1).toordinal()
    if day is not None:
        off = np.abs(days - (first + day - 1)).astype(np.float32)
        return np.asarray(np.exp(-off / np.float32(_DAYS_SCALE)), np.float32)
    last = date(year + month // 12, month % 12 + 1, 1).toordinal() - 1
    during: Floats = ((days >= first) & (days <= last)).astype(np.float32)
    later: Floats = ((days > last) & (days <= last + _TOLD_LATER_DAYS)).astype(np.float32)
    found: Floats = during + np.float32(0.5) * later
    return found


# Questions of a person about themselves: home, work, family. A fact about the requester answers
# such a question even without shared words; a fact about a friend does not.

_ADVERBS = "currently|now|still|actually|usually|really|even|also|been|just|have|am|to|mostly"
_LEAD = (
    r"^\W*(?:(?:so|and|hey|hi|hello|ok|okay|please|sorry|wait|say|btw|by the way|tell me|remind me)"
    r"\b\W*|(?:can|could|do|would|will) you (?:please |still |even )?"
    r"(?:tell me|remind me|know|remember|recall|say)(?: again)?\W+)*"
)
_WHAT = r"(?:(?:what|who|which|when|where|how)(?:'s|s| is| are| was| were| again is)? |of |about )*"
_END = (
    r"(?: (?:again|please|now|currently|right now|these days|at the moment|called|then|is|are))*"
    r"\W*$"
)
_LEAD_DE = r"^\W*(?:(?:und|hey|hallo|ok|sag mal|bitte|weißt du(?: noch)?|sag mir)\b\W*)*"
_WHAT_DE = r"(?:(?:was|wer|wie|wann|wo|welche\w*)(?: (?:ist|sind|war|lautet|heißt|heißen))? )?"
_END_DE = r"(?: (?:nochmal|noch mal|eigentlich|denn|jetzt|gerade|ist|sind))*\W*$"
# The questions of each language, around the words of a topic.
_QUESTION_PATTERNS = {
    "en": {
        "i": r"\b(?:do|did|am|was|have|where|what|who|whom|whether|if|how long|since when"
        rf"|(?:which|what) \w+) i(?:'m|'ve)?(?: (?:{_ADVERBS})){{0,2}} (?:<topic>)\b",
        "my": rf"{_LEAD}{_WHAT}(?:the name of )?my (?:(?:current|new|own|exact|present) )*"
        rf"(?:<topic>){_END}",
    },
    "de": {
        "i": r"\b(?:wo|was|wer|wie|woher|wogegen|als was|bei wem|für wen|seit wann"
        r"|(?:in )?welche\w* \w+) (?:[\w ]{0,20}? )?(?:<topic>) ich\b"
        r"|\b(?:wo|was|woher|als was|bei wem|ob) ich (?:\w+ )?(?:<topic>)\b"
        r"|\b(?:wo|als was|wogegen) bin ich (?:\w+ )?(?:<topic>)\b",
        "my": rf"{_LEAD_DE}{_WHAT_DE}mein(?:e[nmrs]?)? (?:<topic>){_END_DE}",
    },
}
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|ich|mein\w*)\b")
# The opening of a fact: the person, a thing of theirs, or another person.
_SELF = re.compile(r"(?:i|we|ich|wir|(?:the )?(?:user|speaker))\b(?!['\u2019]s\b)", re.IGNORECASE)
_OWNED = re.compile(
    r"(?:(?P<mine>my|our|mein\w*|unser\w*|(?:the )?(?:user|speaker)['\u2019]s)"
    r"|(?P<name>\w+)['\u2019]s)"
    r" (?:(?:new|current|home|full|first|native|favou?rite) )?(?P<what>\w+)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n")
# Such questions are short and stand near the end of a message.
_SENTENCES_MAX_COUNT = 5
_SENTENCE_MAX_CHARS = 120
_OPENING_MAX_CHARS = 64
_SELF_WORD = "i"
_MY_WORD = "my"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalTopic:
    """A topic of questions about oneself, such as home or work."""

    slots: frozenset[str]
    content_stems: frozenset[str]
    name_stems: frozenset[str]
    search_words: frozenset[str]  # unstemmed words of both, for full-text search
    question_pattern: re.Pattern[str]


def find_personal_topics(question: str) -> tuple[PersonalTopic, ...]:
    """Return the topics that the requester asks about themselves; empty for most questions."""
    plain = question.lower().replace("\u2019", "'")
    asked = [
        " ".join(sentence.split())
        for sentence in _SENTENCE_END.split(plain)[-_SENTENCES_MAX_COUNT:]
        if len(sentence) <= _SENTENCE_MAX_CHARS and _FIRST_PERSON.search(sentence)
    ]
    if not asked:
        return ()
    return tuple(topic for topic in _load_topics().values() if any(map(topic.question_pattern.search, asked)))


@cache
def list_topic_slots() -> frozenset[str]:
    return frozenset().union(*(topic.slots for topic in _load_topics().values()))


def find_opening(content: str, key: str | None) -> str:
    """Return whom or what a memory mentions first, in the form of `list_openings`.

    A memory with a key is about what the key names.
    """
    named = split_words(" ".join(key_words(key))) if key is not None else []
    if named:
        return f"{_MY_WORD} {stem_word(named[-1])}"
    if _SELF.match(content):
        return _SELF_WORD
    owned = _OWNED.match(content)
    if owned is not None:
        of = _MY_WORD if owned["mine"] else fold_text(owned["name"])
        return f"{of} {stem_word(fold_text(owned['what']))}"
    first = split_words(content[:_OPENING_MAX_CHARS])[:1]
    return first[0] if first else ""


def list_openings(topic: PersonalTopic, names: Collection[str]) -> frozenset[str]:
    """Return the openings of facts on this topic about a person with these names."""
    called = {one for name in names for one in split_words(name)[:1]}
    owned = {f"{of} {what}" for of in {_MY_WORD, *called} for what in topic.name_stems}
    return frozenset({_SELF_WORD, *called, *owned})


@cache
def _load_topics() -> Mapping[str, PersonalTopic]:
    import yaml

    text = files("tacit.retrieval").joinpath("personal_topics.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return {name: _parse_topic(entry) for name, entry in yaml.load(text, Loader=loader).items()}


def _parse_topic(entry: Mapping[str, Any]) -> PersonalTopic:
    patterns = []
    for code, forms in _QUESTION_PATTERNS.items():
        given = entry.get(code, {})
        patterns += [forms[form].replace("<topic>", given[form]) for form in forms if form in given]
        patterns += given.get("ask", ())
    said, named = entry["says"].split(), entry["names"].split()
    return PersonalTopic(
        slots=frozenset(entry["slots"].split()),
        content_stems=frozenset(map(stem_word, map(fold_text, said))),
        name_stems=frozenset(map(stem_word, map(fold_text, named))),
        search_words=frozenset([*said, *named, *(f"{word}s" for word in said)]),
        question_pattern=re.compile("|".join(f"(?:{one})" for one in patterns)),
    )


# Names of people in questions.

NameEntry = tuple[tuple[str, ...], str, frozenset[str]]  # words of a name, name, identities


class LazyPersonLabels(Mapping[str, str]):
    """Names of people by identity, loaded at first use."""

    def __init__(self, find: Callable[[], Mapping[str, str]]) -> None:
        self._find = cache(find)

    def __getitem__(self, identity: str) -> str:
        return self._find()[identity]

    def __iter__(self) -> Iterator[str]:
        return iter(self._find())

    def __len__(self) -> int:
        return len(self._find())


class KnownNames:
    """The names of the people that a requester knows."""

    def __init__(self, request: Request, known: Iterable[Person]) -> None:
        self._by_first: dict[str, list[NameEntry]] = {}
        self._labels: dict[str, str] = {}
        for person in known:
            if person.names:
                self._labels |= dict.fromkeys(person.identities, person.names[0].text)
            if person.identities & request.own_identities:
                continue  # nearly all memories of a person are about that person
            for name in person.names:
                parts = tuple(split_words(name.text))
                if parts:
                    entry = (parts, name.text, person.identities)
                    self._by_first.setdefault(parts[0], []).append(entry)

    @property
    def labels(self) -> Mapping[str, str]:
        """Display names by identity."""
        return self._labels

    def find_in(self, question: str) -> dict[str, frozenset[str]]:
        """Return the names in a question, with the identities that they may mean."""
        if not self._by_first:
            return {}
        asked = split_words(question)
        found: dict[str, frozenset[str]] = {}
        for at, word in enumerate(asked):
            for parts, name, identities in self._by_first.get(word, ()):
                if tuple(asked[at : at + len(parts)]) == parts:
                    found[name] = found.get(name, frozenset()) | identities
        return found

    def labels_of(self, people: Iterable[str]) -> list[str]:
        """Return the display names of these people, if known."""
        return sorted({self._labels[one] for one in people if one in self._labels})
