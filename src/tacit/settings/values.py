"""How values are read. Each arrives as the text that was written, from file and environment alike.

So `space: no` is the space "no", and a parser is needed once. It raises InvalidInput.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Literal
from urllib.parse import urlsplit

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.settings.mistakes import shown

URL = re.compile(r"[A-Za-z0-9+.-]+:/")

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_WHOLE = re.compile(r"[0-9]{1,12}")
_FRACTION = re.compile(r"[0-9]?\.[0-9]{1,12}|[01]")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?|\.[0-9]{1,12}")
_DURATION = re.compile(r"(?=.)(?:([0-9]{1,5})h)?(?:([0-9]{1,5})m)?(?:([0-9]{1,5})s)?")
_TONGUE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CATEGORY = re.compile(r"[a-z][a-z0-9_-]*")

Parse = Callable[[str, str], object]


def one_of(*words: str) -> Parse:
    def parse(key: str, value: str) -> str:
        if value not in words:
            raise InvalidInput(key, f"{shown(value)} is not one of {', '.join(words)}")
        return value

    return parse


def whole(low: int, high: int) -> Callable[[str, str], int]:
    def parse(key: str, value: str) -> int:
        if not _WHOLE.fullmatch(value) or not low <= int(value) <= high:
            raise InvalidInput(key, f"must be a whole number from {low} to {high}, in digits")
        return int(value)

    return parse


def fraction(key: str, value: str) -> float:
    if not _FRACTION.fullmatch(value) or float(value) > 1:
        raise InvalidInput(key, "must be a number from 0 to 1; write for example 0.6")
    return float(value)


def number(low: float, high: float) -> Callable[[str, str], float]:
    def parse(key: str, value: str) -> float:
        if not _NUMBER.fullmatch(value) or not low <= float(value) <= high:
            problem = f"must be a number from {plainly(low)} to {plainly(high)}"
            raise InvalidInput(key, f"{problem}; write for example 10 or 0.5")
        return float(value)

    return parse


def plainly(value: float) -> str:
    return repr(value).removesuffix(".0")


def or_nothing(parse: Callable[[str, str], object]) -> Parse:
    """Empty text is a value of its own: None."""
    return lambda key, value: parse(key, value) if value else None


def flag(key: str, value: str) -> bool:
    if value.lower() not in _TRUE | _FALSE:
        raise InvalidInput(key, f"{shown(value)} is neither true nor false")
    return value.lower() in _TRUE


def always_true(why: str) -> Callable[[str, str], Literal[True]]:
    def parse(key: str, value: str) -> Literal[True]:
        if not flag(key, value):
            raise InvalidInput(key, f"must stay true: {why}; remove this key")
        return True

    return parse


def duration(key: str, value: str) -> timedelta:
    match = _DURATION.fullmatch(value)
    if match is None:
        raise InvalidInput(key, "is not a duration; write for example 0s, 30m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def category(key: str, value: str) -> str:
    name = validation.parse_identifier(key, value, limits.CATEGORY_MAX_CHARS)
    if not _CATEGORY.fullmatch(name):
        raise InvalidInput(key, "a category is lower-case letters, digits, - and _; rename it")
    return name


def dsn(key: str, value: str) -> str:
    return validation.check_storable(key, value, limits.DSN_MAX_CHARS)


def path(key: str, value: str) -> str:
    """As it was written: where it starts is known only to whoever opens it. Empty is none."""
    if URL.match(value):  # it is not repeated: it may hold a password
        raise InvalidInput(key, "is a URL; fetch what is there and write the path of your copy")
    return validation.check_storable(key, value, limits.DSN_MAX_CHARS)


def label(key: str, value: str) -> str:
    """A name that somebody else gave, or nothing."""
    return validation.parse_identifier(key, value, limits.LABEL_MAX_CHARS) if value else ""


def address(key_goes_to: str, like: str = "https://host/v1") -> Callable[[str, str], str]:
    """Of an HTTP endpoint, or nothing. Never repeated: somebody may have written a key into it."""

    def parse(key: str, value: str) -> str:
        return _address(key, value, key_goes_to, like)

    return parse


def _address(key: str, value: str, key_goes_to: str, like: str) -> str:
    problem = f"is not an address; write it like {like}, with nothing after the path"
    if not value:
        return ""
    if not _in_one_word(value) or len(value) > limits.ENDPOINT_URL_MAX_CHARS:
        raise InvalidInput(key, problem)
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidInput(key, problem) from None
    if "@" in parts.netloc:
        raise InvalidInput(key, f"holds a user name or password; use {key_goes_to} instead")
    if parts.scheme not in ("http", "https") or not host or "?" in value or "#" in value:
        raise InvalidInput(key, problem)
    return value


def api_key(key: str, value: str) -> str:
    """What goes into a header: nothing in it may end the line. Never repeated."""
    if value and not _in_one_word(value):
        raise InvalidInput(key, "holds spaces or characters that no key has; copy it again")
    if len(value) > limits.ENDPOINT_KEY_MAX_CHARS:
        raise InvalidInput(
            key, f"is longer than {limits.ENDPOINT_KEY_MAX_CHARS:,} characters; copy it again"
        )
    return value


def variable_name(key: str, value: str) -> str:
    """Of the variable that holds a key, or nothing. Never repeated: it may be the key itself."""
    if value and (not _VARIABLE.fullmatch(value) or len(value) > limits.LABEL_MAX_CHARS):
        problem = "is not the name of a variable; put the key into a variable of the environment"
        raise InvalidInput(key, f"{problem}, and its name here, as in OPENAI_API_KEY")
    if value.startswith("TACIT_"):
        raise InvalidInput(
            key, "names one of Tacit's own variables; give it a name that does not begin so"
        )
    return value


def tongue(key: str, value: str) -> str:
    if value != "auto" and not _TONGUE.fullmatch(value):
        raise InvalidInput(key, f"{shown(value)} is neither auto nor a language, as in en or de")
    return value


def _in_one_word(value: str) -> bool:
    return value.isascii() and value.isprintable() and " " not in value
