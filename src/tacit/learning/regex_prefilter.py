"""Find the literals that a regex needs, so that most patterns need not be tried."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

Literals = tuple[str, ...]  # lower case; one of them is in whatever matches
ANY_TEXT: Literals = ("",)
_PIECE_MIN_CHARS = 2
_PIECES_MAX_COUNT = 64  # with more of them the pattern itself is as quick
_GROUP = re.compile(r"\((?:\?(?:P<\w+>|[a-z]*(?:-[a-z]+)?:|(?P<aside>[=!]|<[=!])))?")
_REPEAT = re.compile(r"(?P<none>[?*]|\{0?,\d*\}|\{0\})?(?P<some>\+|\{\d+(?:,\d*)?\})?[?+]?")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")


class Rewrite(NamedTuple):
    """A pattern, what takes its place, and what it needs."""

    pattern: re.Pattern[str]
    new: str
    needs: Literals


class UnsupportedPattern(Exception):
    """A pattern of a form that is not read here."""


def make_rewrite(pattern: re.Pattern[str], new: str) -> Rewrite:
    return Rewrite(pattern, new, find_required_literals(pattern.pattern))


def find_required_literals(pattern: str) -> Literals:
    try:
        found, end = _either(pattern, 0)
    except UnsupportedPattern:
        return ANY_TEXT
    return found if end == len(pattern) else ANY_TEXT


def fold_case(text: str) -> str:
    """A text as pieces are looked for in it: without the case that patterns do not see."""
    return text.casefold().replace("ı", "i").replace("i\u0307", "i")


def may_match(needs: Literals, seen: str) -> bool:
    """`seen` is a text as `low` makes it."""
    for piece in needs:  # noqa: SIM110 - half as fast with `any`, and this is called a lot
        if piece in seen:
            return True
    return False


def apply_rewrites(rewrites: Iterable[Rewrite], text: str) -> str:
    """All of them, from first to last, each on what the one before made of it."""
    seen = fold_case(text)
    for pattern, new, needs in rewrites:
        for piece in needs:  # as `may_match`, without a call for each of hundreds
            if piece in seen:
                break
        else:
            continue
        if pattern.search(text):  # the template of `sub` is read even where nothing matches
            text = pattern.sub(new, text)
            seen = fold_case(text)
    return text


def _either(pattern: str, at: int) -> tuple[Literals, int]:
    """Ways divided by bars, up to the end of the group: what is needed is needed by one of them."""
    ways: list[Literals] = []
    while True:
        found, at = _sequence(pattern, at)
        ways.append(found)
        if pattern[at : at + 1] != "|":
            break
        at += 1
    pieces = tuple(dict.fromkeys(piece for way in ways for piece in way))
    known = "" not in pieces and len(pieces) <= _PIECES_MAX_COUNT
    return (pieces if known else ANY_TEXT), at


def _sequence(pattern: str, at: int) -> tuple[Literals, int]:
    """The most telling of what all has to be there."""
    best, run = ANY_TEXT, ""
    while at < len(pattern) and pattern[at] not in "|)":
        found, literal, at = _atom(pattern, at)
        repeat = _REPEAT.match(pattern, at)
        assert repeat is not None
        at = repeat.end()
        optional, repeated = repeat["none"] is not None, repeat["some"] is not None
        if literal and not optional:
            run += literal
        if not literal or optional or repeated:
            best, run = _better(best, (run,)), ""
        if found is not None and not optional:
            best = _better(best, found)
    return _better(best, (run,)), at


def _atom(pattern: str, at: int) -> tuple[Literals | None, str, int]:
    """What it needs, where it is a group; its letter, where it is one; and where it ends."""
    first = pattern[at]
    if first == "\\":
        escaped = pattern[at + 1]
        return None, "" if escaped.isalnum() or not escaped.isascii() else escaped, at + 2
    if first == "[":
        end = _CLASS.match(pattern, at)
        if end is None:
            raise UnsupportedPattern
        return None, "", end.end()
    if first == "(":
        opened = _GROUP.match(pattern, at)
        if opened is None or pattern[opened.end() : opened.end() + 1] == "?":
            raise UnsupportedPattern
        found, at = _either(pattern, opened.end())
        if pattern[at : at + 1] != ")":
            raise UnsupportedPattern
        return None if opened["aside"] else found, "", at + 1
    if first in ".^$":
        return None, "", at + 1
    if first in "?*+{":
        raise UnsupportedPattern
    return None, first.lower() if first.isascii() else "", at + 1


def _better(one: Literals, other: Literals) -> Literals:
    """The one whose shortest piece is longer."""
    if "" in other or min(map(len, other)) < _PIECE_MIN_CHARS:
        return one
    return other if min(map(len, other)) > min(map(len, one)) else one
