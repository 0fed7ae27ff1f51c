"""Secrets that people state in words: which words name a secret, and whether a value follows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tacit.screening.kind import placeholder

_QUOTES = "\"'`"
_VALUE_LOOK_AHEAD_CHARS = 200
_LOOK_BACK_CHARS = 120
_LATER_WORDS_COUNT = 8
_STRONG_MIN_CHARS = 6
_SHORTEST_CHARS = 3
_LETTERS = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*\Z")
# Letters and digits together, and yet no password: 1Password, 10:30am, 8-character, 2nd, v1.2, Q3.
_KNOWN = re.compile(
    r"\d{1,2}[:.]\d\d(?:am|pm|h|uhr)?\Z|\d+-?[a-zäöü]+\Z|v?\d+(?:[.-]\d+)+[a-z]?\Z|1password\Z"
    r"|[a-z]+-?\d{1,3}\Z(?<=256|512|365|b64|e64)|utf-?(?:8|16)\Z|https?://|[a-z]+'s\Z",
    re.IGNORECASE,
)
_DIRECT = re.compile(r"(?:'s)?[ \t]+(?:(?:-|to|auf|as|als|into)[ \t]+)?(\S{3,100})")
_CLAUSE = re.compile(r"[.!?](?=\s|$)|[;\n]")
_TRAILING = ".,;:!?)]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    labels: Mapping[str, re.Pattern[str]]  # by the kind of secret
    link: re.Pattern[str]  # what may stand between a label and its value
    reverse: re.Pattern[str]  # "... is my", at the end of what stands before a label
    stops: frozenset[str]
    meanwhile: frozenset[str]
    ordinary: frozenset[str]
    endings: tuple[str, ...]
    units: frozenset[str]


@cache
def words() -> Words:
    """Read once, at the first text that is looked at."""
    from importlib import resources

    import yaml

    source = resources.files("tacit.screening").joinpath("words.yaml").read_text("utf-8")
    tongues = yaml.safe_load(source).values()
    labels: dict[str, list[str]] = {}
    for tongue in tongues:
        for kind, spellings in tongue["labels"].items():
            labels.setdefault(kind, []).extend(str(spellings).split("|"))
    links = _either(_listed(tongues, "links"))
    about = _either(_listed(tongues, "about"))
    owners = _either(_listed(tongues, "owners"))
    return Words(
        labels={
            kind: re.compile(rf"(?<![^\W_])(?:{_either(found)})(?![\w-])", re.IGNORECASE)
            for kind, found in labels.items()
        },
        link=re.compile(
            rf"[\"'`*]{{0,3}}(?:\s?\([^)\n]{{1,40}}\))?"
            rf"(?:\s+(?:{about})\s+(?:[^\n!?;:=.]|\.(?=\S)){{1,60}}?)?"
            rf"\s{{0,4}}(?:(?P<mark>[:=]=?|[-=]+>|\u2192)|(?<=\s)(?P<word>{links})(?!\w)\s{{0,2}}:?)\s{{0,4}}",
            re.IGNORECASE,
        ),
        reverse=re.compile(
            rf"(\S{{3,80}})\s+(?:{links})\s+(?:{owners})\s+(?:\S{{1,30}}\s+){{0,2}}\Z",
            re.IGNORECASE,
        ),
        stops=frozenset(_listed(tongues, "stops")),
        meanwhile=frozenset(_listed(tongues, "meanwhile")),
        ordinary=frozenset(_listed(tongues, "ordinary")),
        endings=tuple(_listed(tongues, "endings")),
        units=frozenset(_listed(tongues, "units")),
    )


def _listed(tongues: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    """Lists of single words are written with spaces between, the others with bars."""
    written = [str(tongue.get(key, "")) for tongue in tongues]
    return [word for one in written for word in (one.split("|") if "|" in one else one.split())]


def _either(spellings: Iterable[str]) -> str:
    """The longest first, so that 'pin code' is not taken for 'pin'."""
    found = sorted({*spellings}, key=lambda one: (-len(one), one))
    return "|".join(re.escape(one).replace(r"\ ", r"[\s-]?") for one in found if one)


def stated(kind: str, text: str) -> bool:
    """A label of this kind, and beside it what looks like the password itself."""
    return any(_value_beside(text, label) for label in words().labels[kind].finditer(text))


def after(kind: str, text: str) -> Iterable[tuple[str, bool, str]]:
    """What follows each label: the text, whether a link came between, and what stood before."""
    for label in words().labels[kind].finditer(text):
        tail = text[label.end() : label.end() + _VALUE_LOOK_AHEAD_CHARS]
        link = words().link.match(tail)
        before = text[max(0, label.start() - _LOOK_BACK_CHARS) : label.start()]
        yield tail[link.end() if link else 0 :], link is not None, before + label[0]


def _value_beside(text: str, label: re.Match[str]) -> bool:
    tail = text[label.end() : label.end() + _VALUE_LOOK_AHEAD_CHARS]
    link = words().link.match(tail)
    if link:
        return _is_value(tail[link.end() :], marked=link["mark"] is not None)
    # "user bob password hunter2"
    direct = _DIRECT.match(tail)
    if direct and (_quoted(direct[1]) or _strong(direct[1].rstrip(_TRAILING))):
        return True
    if not re.match(r"[ \t]*(?:[.,;!?)\n]|$)|\s+(?:for|on|at|to|and|but|für|bei|und|zum)\b", tail):
        return False
    before = words().reverse.search(text[max(0, label.start() - _LOOK_BACK_CHARS) : label.start()])
    if not before:
        return False
    return _quoted(before[1]) or _strong(before[1], _SHORTEST_CHARS + 2)


def _is_value(rest: str, *, marked: bool) -> bool:
    """Whether a value is stated: 'hunter2' and 'swordfish' are, 'expired' and 'in there' not."""
    pieces = rest.partition("\n")[0].split()
    while pieces and pieces[0].lower().rstrip(",") in words().meanwhile:
        pieces.pop(0)
    first = pieces[0].rstrip(_TRAILING) if pieces else ""
    if not first:
        return False
    if _is_ordinary(first):
        return _later(" ".join(pieces))
    if placeholder(pieces[0]):
        return False
    if first[0] in _QUOTES:
        return _quoted(" ".join(pieces))
    if not _LETTERS.match(first):
        return _odd(pieces, marked)
    if marked:
        return len(first) >= _SHORTEST_CHARS
    return _alone(pieces) and len(first) >= _SHORTEST_CHARS


def _odd(pieces: list[str], marked: bool) -> bool:
    """A value with digits or marks in it, that is neither a length nor a time."""
    first = pieces[0].rstrip(_TRAILING)
    if first.isdigit():
        unit = len(pieces) > 1 and pieces[1].lower().rstrip(_TRAILING) in words().units
        return len(first) >= _SHORTEST_CHARS and not unit
    if _KNOWN.match(first) and not marked:
        return bool(re.match(r"\d+[a-z]+\d*\Z", first)) and not _measure(first) and _alone(pieces)
    return len(first) >= _SHORTEST_CHARS and any(char.isalnum() for char in first)


def _measure(first: str) -> bool:
    return re.match(r"\d+(?:st|nd|rd|th|am|pm|x|d|h|m|s|password)\Z", first.lower()) is not None


def _is_ordinary(word: str) -> bool:
    plain = word.lower()
    known = words()
    return plain in known.ordinary or (len(plain) > 4 and plain.endswith(known.endings))


def _alone(pieces: list[str]) -> bool:
    """One word and then the end, or several words none of which belongs into a sentence."""
    for piece in pieces:
        plain = piece.lower()
        bare = plain.rstrip(_TRAILING)
        if bare in words().stops:
            return True
        if bare in words().ordinary:
            return False
        if plain != bare:
            return True
    return True


def _later(rest: str) -> bool:
    """'The password is the one we always use: Rex2019!'"""
    first, *others = [piece.strip(_QUOTES + _TRAILING) for piece in _CLAUSE.split(rest)[0].split()]
    if any(_strong(piece) for piece in others[:_LATER_WORDS_COUNT]):
        return True
    # "correct horse battery staple": a row of words that make no sentence.
    return (
        len(first) > _SHORTEST_CHARS
        and len(others) >= _SHORTEST_CHARS
        and not any(_is_ordinary(piece) or not piece.isalpha() for piece in others)
        and not words().stops.intersection(others)
    )


def _quoted(value: str) -> bool:
    if not value or value[0] not in _QUOTES:
        return False
    inside = value[1:].split(value[0], 1)[0].strip()
    return len(inside) >= _SHORTEST_CHARS and not placeholder(inside)


def _strong(value: str, min_chars: int = _STRONG_MIN_CHARS) -> bool:
    """Letters with digits among them, as in no word."""
    if len(value) < min_chars or placeholder(value) or _KNOWN.match(value):
        return False
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
