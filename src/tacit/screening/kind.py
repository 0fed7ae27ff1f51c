"""What a kind of secret is, and the questions that tell a secret from what only looks like one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

# The ASCII letters and digits: other scripts are written without spaces around what they quote.
START = r"(?<![A-Za-z0-9_])"
END = r"(?![A-Za-z0-9_])"

_PLACEHOLDER = re.compile(
    r"[\"'`]*(?:[<{\[(%$…]|[*xX•·#?._\-0]+[\"'`.,;)]*$|(?:process\.)?env\b|[A-Za-z_.]{1,60}[(\[]"
    r"|(?:your|my|the|some|insert|enter|replace|example|sample|dummy|fake|placeholder|redacted"
    r"|removed|hidden|todo|tbd|none|null|nil|undefined|true|false|string|str|text|n/?a|unknown"
    r"|empty|optional|required|secret|token|password|dein|deine|mein|leer|geheim)"
    r"(?:[\"'`\s_.,;)\]\-]|$))",
    re.IGNORECASE,
)
_HEX = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{32,}\Z", re.IGNORECASE)
_DIGIT = re.compile(r"[0-9]")
_ROW = re.compile(r"[xX]{4}|(.)\1{9}")
_RANDOM_MIN_CHARS = 16
_RANDOM_MIN_DISTINCT = 8
_TURNS_MIN_SHARE = 0.2
_TOKEN_MIN_DISTINCT = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretKind:
    name: str
    says: str  # one sentence for people
    hints: tuple[str, ...]  # in lower case; a text without any of them is not looked at further
    found: Callable[[str], bool]


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def shaped(
    name: str,
    says: str,
    hints: tuple[str, ...],
    pattern: str,
    holds: Callable[[re.Match[str]], bool] | None = None,
) -> SecretKind:
    """A kind that is told by its shape, and by one more question where the shape is not enough."""

    def found(text: str) -> bool:
        matches = compiled(pattern).finditer(text)
        return any(holds is None or holds(match) for match in matches)

    return SecretKind(name=name, says=says, hints=hints, found=found)


def varied(match: re.Match[str]) -> bool:
    """Not a row of x or 0, as in instructions on where to put a key."""
    body = match[match.lastindex or 0]
    return len(set(body.lower())) >= _TOKEN_MIN_DISTINCT and not _ROW.search(body)


def random(value: str) -> bool:
    """Letters and digits in turns, as no word or name has them, or hex as long as a key."""
    if len(value) < _RANDOM_MIN_CHARS or len(set(value)) < _RANDOM_MIN_DISTINCT:
        return False
    if _HEX.match(value):
        return True
    if value.isascii() and not _DIGIT.search(value):
        return False
    classes = [_class(char) for char in value]
    if not {"letter", "digit"} <= {"digit" if one == "digit" else "letter" for one in classes}:
        return False
    turns = sum(one != other for one, other in pairwise(classes))
    return turns / len(value) >= _TURNS_MIN_SHARE


def _class(char: str) -> str:
    if char.isdigit():
        return "digit"
    return "upper" if char.isupper() else "lower"


def placeholder(value: str) -> bool:
    """Masked, empty, or a name for the value that goes there."""
    return not value or _PLACEHOLDER.match(value) is not None
