"""The words of change of one language, from learning/locales/corrections, and typed values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

from tacit.errors import InvalidInput
from tacit.learning.extraction.locale import (
    Literals,
    Locale,
    Rewrite,
    apply_rewrites,
    find_required_literals,
    load_locale,
    make_rewrite,
    may_match,
)
from tacit.text import fold_case

# How a language says that something known has changed, read from the data files in
# `learning/locales/corrections/`: `en.yaml`, and parts of it in `en_patterns.yaml` and `en_topics.yaml`.

_FOLDER = "locales/corrections"
_PARTS = ("", "_patterns", "_topics")
_STEM_MIN_CHARS = 3
_STEMS_MAX_COUNT = 20_000
_LIST = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionTopic:
    """A field of a life with one value at a time: how it is known, and how a change is said."""

    name: str
    known: re.Pattern[str]
    said: re.Pattern[str]
    needs: Literals  # of what is said
    named: bool  # who is named has to be the same one: "Theo and I broke up"
    thing: bool  # what it is about has to be named again: "renewed the passport"
    opposite: bool  # it undoes what is known: "out of hospital"
    plain: bool  # it needs no word of change: who is married is not single


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionCues:
    """The words of change of one language. Compare by code: there is one object for each."""

    code: str
    words: Mapping[str, frozenset[str]]
    patterns: Mapping[str, re.Pattern[str]]
    needs: Mapping[str, Literals]  # of each pattern
    exchanges: tuple[re.Pattern[str], ...]  # old and new in one breath: "swapped tea for coffee"
    endings: tuple[tuple[re.Pattern[str], Literals], ...]  # what is over: "sold the boat"
    topics: tuple[CorrectionTopic, ...]
    irregular: Mapping[str, str]
    suffix: re.Pattern[str]  # a stem, and what is cut off
    stems: dict[str, str]  # those that were asked for
    unions: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)  # likewise

    def among(self, *lists: str) -> frozenset[str]:
        """The words of several lists."""
        found = self.unions.get(lists)
        if found is None:
            found = self.unions[lists] = frozenset().union(*(self.words[name] for name in lists))
        return found

    def stem(self, word: str) -> str:
        """What a word has in common with its other forms; only good for comparing."""
        known = self.stems.get(word)
        if known is None:
            known = self._stemmed(self.irregular.get(word, word))
            if len(self.stems) < _STEMS_MAX_COUNT:
                self.stems[word] = known
        return known

    def _stemmed(self, word: str) -> str:
        match = self.suffix.match(word)
        word = match[1] if match else word
        return word[:-1] if len(word) > _STEM_MIN_CHARS and word[-1] == word[-2] else word

    def has(self, pattern: str, text: str) -> bool:
        return may_match(self.needs[pattern], fold_case(text)) and bool(self.patterns[pattern].search(text))


@cache
def load_cues(code: str) -> CorrectionCues:
    folder = files("tacit.learning").joinpath(_FOLDER)
    if not folder.joinpath(f"{code}.yaml").is_file():
        raise InvalidInput("language", f"no words of change for {code!r}; add {code}.yaml")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document: dict[str, Any] = {}
    for part in _PARTS:  # a language may keep all of it in one file
        path = folder.joinpath(f"{code}{part}.yaml")
        if path.is_file():
            document |= yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    return _read(code, document)


def _read(code: str, document: dict[str, Any]) -> CorrectionCues:
    listed = document["words"].items()
    words = {name: frozenset(str(value or "").casefold().split()) for name, value in listed}

    def compiled(pattern: str) -> re.Pattern[str]:
        def listed(match: re.Match[str]) -> str:
            known = sorted(words[match[1]], key=lambda word: (-len(word), word))
            return "(?:" + "|".join(map(re.escape, known)) + ")"

        folded = pattern.replace("\n", "")  # a long alternation goes over several lines
        try:
            return re.compile(_LIST.sub(listed, folded), re.IGNORECASE)
        except (re.error, KeyError) as wrong:
            raise ValueError(f"{code}.yaml: cannot read {pattern!r}: {wrong}") from wrong

    patterns = {name: compiled(value) for name, value in document["patterns"].items()}
    made = CorrectionCues(
        code=code,
        words=words,
        patterns=patterns,
        needs={name: find_required_literals(one.pattern) for name, one in patterns.items()},
        exchanges=tuple(map(compiled, document["exchanges"])),
        endings=tuple((one, find_required_literals(one.pattern)) for one in map(compiled, document["endings"])),
        topics=tuple(
            CorrectionTopic(
                name=name,
                known=compiled(one["known"]),
                said=compiled(one["said"]),
                needs=find_required_literals(compiled(one["said"]).pattern),
                named=one.get("named", False),
                thing=one.get("thing", False),
                opposite=one.get("opposite", False),
                plain=one.get("plain", False),
            )
            for name, one in document["topics"].items()
        ),
        irregular={str(word).casefold(): str(kept).casefold() for word, kept in document["irregular"].items()},
        suffix=re.compile(f"(.{{{_STEM_MIN_CHARS},}}?){document['suffix']}$"),
        stems={},
    )
    # Verbs and nouns are compared by their stems.
    for name in document["stemmed"]:
        words[name] = frozenset(map(made.stem, words[name]))
    words["verbs"] = words["verbs"].union(*(words[name] for name in document["verb_lists"]))
    return made


# Other ways to say a change, put into the words that the rules read: "packed in the job" is
# "quit the job".

_PART = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Restatements:
    said: tuple[Rewrite, ...]  # of a message
    known: tuple[Rewrite, ...]  # of what is known


def restate_message(text: str, code: str) -> str:
    """A message in the words that the rules read."""
    return apply_rewrites(load_restatements(code).said, text)


def restate_known(content: str, code: str) -> str:
    """What is known, likewise: its places are those of the text that comes back."""
    return apply_rewrites(load_restatements(code).known, content)


@cache
def load_restatements(code: str) -> Restatements:
    """Those of one language; none where it has no file."""
    path = files("tacit.learning").joinpath(_FOLDER).joinpath(f"{code}_restated.yaml")
    if not path.is_file():
        return Restatements(said=(), known=())
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    parts: dict[str, str] = {}

    def written_out(pattern: str) -> str:
        return _PART.sub(lambda match: parts[match[1]], pattern)

    for name, pattern in document["parts"].items():
        parts[name] = written_out(pattern)

    def compiled(name: str) -> tuple[Rewrite, ...]:
        try:
            return tuple(
                make_rewrite(re.compile(written_out(pattern), re.IGNORECASE), new) for pattern, new in document[name]
            )
        except (re.error, KeyError) as wrong:
            raise ValueError(f"{path.name}: {name} cannot be read: {wrong}") from wrong

    return Restatements(said=compiled("said"), known=compiled("known"))


# Values of a sentence: days, times, sums, names.

# Words of a sentence and what sort of value they are: a day, an hour, a sum, a name.

_TOKEN = re.compile(r"[€$£]?[\w@#](?:[\w'&+@-]|[.:/](?=\w)|,(?=\d{3}))*%?|[^\s\w]")
_CLOCK = re.compile(r"\d{1,2}[:.]\d\d(?:am|pm)?|\d{1,2}(?:am|pm)")
_NTH = re.compile(r"\d{1,2}(?:st|nd|rd|th|\.)")
_NTH_DAY = re.compile(r"(?P<n>\d{1,2})(?:st|nd|rd|th)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{0,4}")
_MONEY = re.compile(r"[€$£]\d[\d.,]*k?|\d[\d.,]*(?:k|€)")
_NUMBER = re.compile(r"\d[\d.,]*%?")
_JOINED = re.compile(r"(\d+(?:[.,]\d+)?)([a-z]{1,3})")
# Ends the unit of a number that is no count of anything.
LABEL = " #"
ELLIPSIS = "…"  # stands before words that are no clause
_HOURS_MAX_COUNT = 24
_NAME_MIN_CHARS = 3
_DAYS_MAX_COUNT = 31
# Lists of a language whose words are values of one sort.
_CLASSES = ("places", "jobs", "diets", "marital", "languages", "instruments", "sports")


class WordToken(NamedTuple):  # made in hundreds: a tuple is made in a third of the time
    text: str
    low: str
    stem: str
    start: int
    end: int
    first: bool  # opens its sentence: a capital tells nothing


class TypedValue(NamedTuple):
    """A stretch of tokens of one sort. `unit` tells numbers apart: kilometres, children."""

    sort: str
    unit: str
    start: int
    end: int
    plain: str


def tokenize(text: str, cues: CorrectionCues) -> tuple[WordToken, ...]:
    found: list[WordToken] = []
    first = True
    for match in _TOKEN.finditer(text.replace("’", "'")):
        start = match.start()
        for part in _parts(match[0], cues):
            low = part.casefold()
            end = start + len(part)
            found.append(WordToken(text=part, low=low, stem=cues.stem(low), start=start, end=end, first=first))
            start = end
            first = part in ".!?"
    return tuple(found)


def _parts(word: str, cues: CorrectionCues) -> list[str]:
    """ "don't" is two words, and so is "Ann's"."""
    head, mark, tail = word.rpartition("'")
    if not mark or not head:
        return [word]
    if tail.casefold() == "t" and head.casefold().endswith("n"):
        return [head[:-1], "n't"] if len(head) > 1 else [word]
    return [head, f"'{tail}"] if tail.casefold() in cues.words["clitics"] else [word]


def find_values(words: tuple[WordToken, ...], cues: CorrectionCues, locale: Locale) -> tuple[TypedValue, ...]:
    found: list[TypedValue] = []
    position = 0
    while position < len(words):
        made = _value(words, position, cues, locale)
        if made is None:
            position += 1
            continue
        found.append(made)
        position = made.end
    return tuple(found)


@cache
def _telling(code: str) -> tuple[frozenset[str], frozenset[str]]:
    """Words that may be a value of some sort without a capital; and those after which any may be a
    name."""
    own, locale = load_cues(code), load_locale(code)
    lists = ("weekdays", "days", "half", "number_words", "clock_words", "colours", "titles")
    telling = frozenset().union(*(own.words[name] for name in lists))
    telling |= locale.words["months"] | locale.words["first_names"]
    telling |= locale.dates.words["numbers"].keys()
    telling = telling.union(*(locale.words[name] for name in _CLASSES))
    return telling, own.among("called", "adverbs")


def _plain(words: tuple[WordToken, ...], at: int, code: str) -> bool:
    """Whether a word can be no value of any sort, as most: what is asked of each of them."""
    text, low, stem, *_ = words[at]
    telling, naming = _telling(code)
    if text != low or low in telling or stem in telling or not (low.isalpha() and low.isascii()):
        return False
    return at == 0 or words[at - 1].low not in naming


def _value(words: tuple[WordToken, ...], at: int, cues: CorrectionCues, locale: Locale) -> TypedValue | None:
    if _plain(words, at, locale.code):
        return None
    low = words[at].low
    following = words[at + 1].low if at + 1 < len(words) else ""
    months = locale.words["months"]
    if low in cues.words["weekdays"] or low in cues.words["days"]:
        return _made("day", words, at, at + 1)
    if low in months and (words[at].text[:1].isupper() or low not in cues.words["small"]):
        end = at + 2 if _numeral(following) else at + 1
        return _dated(words, at, end) if end > at + 1 else _made("month", words, at, end)
    if low[:1] in "0123456789€$£" and low not in "€$£":
        return _number(words, at, cues, locale)
    spelled = _spelled_number(words, at, cues, locale)
    if spelled:
        return spelled
    if low in cues.words["clock_words"]:
        return _made("clock", words, at, at + 1)
    if low in cues.words["colours"]:
        return _made("colour", words, at, at + 1)
    if "@" in low and len(low) > 1:
        return _made("contact", words, at, at + 1)
    named = _named(words, at, cues, locale)
    if named:
        return named
    if low[:1].isalpha() and any(char.isdecimal() for char in low):
        return _made("code", words, at, at + 1)
    for name in () if low in cues.words["small"] else _CLASSES:
        if low in locale.words[name] or words[at].stem in locale.words[name]:
            return _made(name, words, at, at + 1)
    return None


def _spelled_number(words: tuple[WordToken, ...], at: int, cues: CorrectionCues, locale: Locale) -> TypedValue | None:
    """Read a number or an hour in words: "at nine", "two children", "half past nine"."""
    low, numbers = words[at].low, locale.dates.words["numbers"]
    following = words[at + 1].low if at + 1 < len(words) else ""
    before = words[at - 1].low if at else ""
    hour = not following.isalpha() and before in cues.words["before_hours"]
    if hour and low in cues.words["number_words"]:
        return _made("clock", words, at, at + 1, "", f"{numbers[low]}:00")
    if low in numbers and low not in locale.words["articles"] and following:
        counted = following.isalpha() and following not in cues.words["prepositions"]
        unit = words[at + 1].stem if counted else ""
        return _made("number", words, at, at + 1, unit, str(numbers[low]))
    if low in cues.words["half"] and following.isdecimal():
        return _made("clock", words, at, at + 2, "", f"{int(following)}:30")
    if low in cues.words["half"] and following in cues.words["number_words"]:
        return _made("clock", words, at, at + 2, "", f"{numbers[following]}:30")
    return None


def _number(words: tuple[WordToken, ...], at: int, cues: CorrectionCues, locale: Locale) -> TypedValue:
    low = words[at].low
    following = words[at + 1].low if at + 1 < len(words) else ""
    before = words[at - 1].low if at else ""
    later = words[at + 2].low if at + 2 < len(words) else ""
    if following in locale.words["months"]:
        return _dated(words, at, at + 2)
    if following in ("of", ".") and later in locale.words["months"]:
        return _dated(words, at, at + 3)
    if _CLOCK.fullmatch(low):
        return _made("clock", words, at, at + 1, "", _hour(low))
    if following in cues.words["clock_units"]:
        return _made("clock", words, at, at + 2, "", _hour(low + following))
    if _DATE.fullmatch(low) or _NTH.fullmatch(low):
        return _made("day", words, at, at + 1)
    if _MONEY.fullmatch(low) or following in cues.words["currencies"]:
        end = at + 2 if following in cues.words["currencies"] else at + 1
        return _made("money", words, at, end, "", low.strip("€$£"))
    if _YEAR.fullmatch(low):
        return _made("year", words, at, at + 1)
    joined = _JOINED.fullmatch(low)
    if joined:
        return _made("number", words, at, at + 1, joined[2], joined[1])
    hour = low.isdecimal() and int(low) <= _HOURS_MAX_COUNT and before in cues.words["before_hours"]
    plain = cues.among("small", "adverbs", "prepositions")
    noun = following.isalpha() and following not in plain
    # "Down to 19 singers" is a number of them.
    if hour and not (noun and following not in cues.among("weekdays", "days")):
        return _made("clock", words, at, at + 1, "", _hour(low))
    if not _NUMBER.fullmatch(low):
        return _made("code", words, at, at + 1)
    unit = words[at + 1].stem if following.isalpha() and following not in plain else ""
    if not unit and before.isalpha() and before not in plain and words[at - 1].stem not in cues.words["verbs"]:
        unit = words[at - 1].stem + LABEL  # "room 310", "year 4"
    return _made("number", words, at, at + 1, unit)


def _named(words: tuple[WordToken, ...], at: int, cues: CorrectionCues, locale: Locale) -> TypedValue | None:
    """A run of words with capitals, and the numbers that belong to it: "Mrs. Adeyemi", "EV6"."""
    if _lower_name(words, at, cues, locale):
        return _made("name", words, at, at + 1)
    titled = words[at].low in cues.words["titles"] and words[at].text[:1].isupper()
    last = at + 2 if titled and at + 1 < len(words) and words[at + 1].text == "." else at + 1
    if titled and last < len(words) and words[last].text[:1].isupper():
        return _made("name", words, at, last + 1)
    if not _capital(words[at], cues, locale):
        return None
    end = at + 1
    while end < len(words) and (
        _capital(words[end], cues, locale)
        or words[end].low.isdecimal()
        or (words[end].text == "." and words[end - 1].low in cues.words["titles"])
    ):
        end += 1
    return _made("name", words, at, end)


def _lower_name(words: tuple[WordToken, ...], at: int, cues: CorrectionCues, locale: Locale) -> bool:
    """A name typed without its capital, where one is due: "my boss is now carol"."""
    before = at - 1
    while before > 0 and words[before].low in cues.words["adverbs"]:
        before -= 1
    if not words[at].text.islower() or len(words[at].low) < _NAME_MIN_CHARS:
        return False
    if words[at].low in cues.words["small"]:
        return False
    if before >= 0 and words[before].low in cues.words["called"]:
        return True
    # A fragment opens no sentence: "sorry, meant max".
    due = not words[at].first if before < 0 else words[before].low in cues.words["be"]
    return due and words[at].low in locale.words["first_names"]


def _capital(word: WordToken, cues: CorrectionCues, locale: Locale) -> bool:
    if locale.texts["names"] != "capital" and word.low not in locale.words["first_names"]:
        return False
    plain = word.text == word.low and word.text.isascii()  # as most are
    mixed = not plain and any(char.isupper() for char in word.text[1:])
    if word.first and not mixed:
        return word.low in locale.words["first_names"] or word.low in cues.words["titles"]
    own = word.low in cues.words["speaker"] or word.low in cues.words["mine"]
    return (mixed or word.text[:1].isupper()) and not own


def _dated(words: tuple[WordToken, ...], start: int, end: int) -> TypedValue:
    # A day is the same with its year and without.
    said = [word.low for word in words[start:end] if word.low.isalnum()]
    day = "".join(char for word in said for char in word if char.isdecimal())
    month = next((word for word in said if word.isalpha() and word != "of"), "")
    if end < len(words) and _YEAR.fullmatch(words[end].low):
        end += 1
    elif end + 1 < len(words) and words[end].low == "," and _YEAR.fullmatch(words[end + 1].low):
        end += 2
    return _made("day", words, start, end, "", f"{day} {month[:3]}")


def _made(sort: str, words: tuple[WordToken, ...], start: int, end: int, unit: str = "", plain: str = "") -> TypedValue:
    said = plain or " ".join(word.low for word in words[start:end])
    return TypedValue(sort=sort, unit=unit, start=start, end=end, plain=said)


def _numeral(word: str) -> bool:
    return (word.isdecimal() and int(word) <= _DAYS_MAX_COUNT) or _NTH.fullmatch(word) is not None


def _hour(low: str) -> str:
    digits = re.findall(r"\d+", low)
    hour = int(digits[0]) % _HOURS_MAX_COUNT
    if "pm" in low or "p.m" in low:
        hour = hour % 12 + 12
    return f"{hour}:{digits[1] if len(digits) > 1 else '00'}"


def is_same_value(one: TypedValue, other: TypedValue) -> bool:
    """Whether two values of one sort are one: "the 26th" is "26 June"."""
    if one.plain == other.plain:
        return True
    if one.sort != "day":
        return False
    first, second = _NTH_DAY.match(one.plain), _NTH_DAY.match(other.plain)
    if not first or not second or first["n"] != second["n"]:
        return False
    return first[0] == one.plain or second[0] == other.plain


def is_same_sort(one: TypedValue, other: TypedValue) -> bool:
    """Whether two values are of one sort; names of firms, people and places are one sort, and a
    bare number is whatever the other one is."""
    if one.sort == other.sort:
        return one.sort != "number" or one.unit == other.unit or "" in (one.unit, other.unit)
    pair = {one.sort, other.sort}
    if pair <= {"name", "places"}:
        return True
    bare = one if one.sort == "number" else other
    if bare.unit or pair not in ({"number", "clock"}, {"number", "money"}):
        return False
    return "clock" not in pair or (bare.plain.isdecimal() and int(bare.plain) <= _HOURS_MAX_COUNT)


# The day that a date in full falls on.

_FULL = re.compile(r"(?P<day>\d{1,2})\.? (?P<month>\w+) (?P<year>\d{4})")


def parse_full_date(said: str, locale: Locale) -> date | None:
    """ "17 June 2025"; None where it is no date in full, or no date at all."""
    match = _FULL.search(said)
    month = locale.dates.words["months"].get(match["month"].casefold()) if match else None
    if match is None or not isinstance(month, int):
        return None
    try:
        return date(int(match["year"]), month, int(match["day"]))
    except ValueError:
        return None
