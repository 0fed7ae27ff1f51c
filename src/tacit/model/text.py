"""Parsing of text and identifiers at the edge: a value comes back usable, or a typed error does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

from tacit import limits
from tacit.errors import InvalidInput, SecretRefused
from tacit.screening.secrets import screen
from tacit.unicode_forms import normalize

E = TypeVar("E", bound=StrEnum)

_ID = re.compile(r"[A-Za-z0-9]{8}")
_WORD = re.compile(r"[a-z][a-z0-9_-]*")
_SPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_CONTROLS_ALLOWED_IN_CONTENT = frozenset("\n\r\t")


def storable(field: str, value: object, max_chars: int) -> str:
    """Text both databases can hold, within its limit. Nothing is changed or trimmed."""
    if not isinstance(value, str):
        raise InvalidInput(field, f"expected text, got {type(value).__name__}")
    if len(value) > max_chars:
        raise InvalidInput(
            field, f"is {len(value):,} characters long; at most {max_chars:,} are kept: shorten it"
        )
    if "\x00" in value:
        raise InvalidInput(field, "contains a NUL character; remove it")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(field, "contains half of a surrogate pair; decode it properly") from None
    return value


def content(value: object, field: str = "content") -> str:
    """What a person said. Any script and any mark is text; only emptiness and secrets are
    refused."""
    return without_secrets(field, _visible(field, value))


def without_secrets(field: str, text: str) -> str:
    """The same text, where nothing in it must never be kept."""
    secret = screen(text)
    if secret is not None:
        raise SecretRefused(field, secret.kind, secret.says)
    return text


def _visible(field: str, value: object) -> str:
    text = storable(field, value, limits.CONTENT_MAX_CHARS)
    if text.isascii() and text.isprintable() and not text.isspace() and text:
        return text  # most of what people write; the rest is looked at one by one
    if all(c.isspace() or unicodedata.category(c) in _INVISIBLE for c in text):
        raise InvalidInput(field, "is empty; write at least one visible character")
    for char in text:
        if unicodedata.category(char) == "Cc" and char not in _CONTROLS_ALLOWED_IN_CONTENT:
            raise InvalidInput(
                field, f"contains the control character U+{ord(char):04X}; remove it"
            )
    return text


def identifier(field: str, value: object, max_chars: int) -> str:
    """Text that names a thing: visible characters only, so that two that look alike are alike."""
    text = storable(field, value, max_chars)
    if not text or text != text.strip():
        raise InvalidInput(field, "must not be empty or begin or end with a space")
    if text.isascii() and text.isprintable():
        return text
    for char in text:
        if unicodedata.category(char) in _INVISIBLE:
            raise InvalidInput(
                field, f"contains the invisible character U+{ord(char):04X}; remove it"
            )
    return unicodedata.normalize("NFC", text)


def said_identifier(field: str, value: object, max_chars: int) -> str:
    """One that people choose the words of, and so may hold what must not be kept."""
    return without_secrets(field, identifier(field, value, max_chars))


def prefix(value: object) -> str | None:
    """The beginning of a key, in the one spelling that keys have; None where it is empty."""
    text = storable("prefix", value, limits.KEY_MAX_CHARS)
    return unicodedata.normalize("NFC", text) or None


def optional_identifier(field: str, value: object, max_chars: int) -> str | None:
    return None if value is None else identifier(field, value, max_chars)


def memory_id(value: object) -> str | None:
    """A well-formed id, or None: a malformed id is only ever one that does not exist."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def category(value: object, allowed: Iterable[str], field: str = "category") -> str:
    text = identifier(field, value, limits.CATEGORY_MAX_CHARS)
    known = tuple(allowed)
    if text not in known:
        raise InvalidInput(field, f"unknown category {text!r}; use one of {', '.join(known)}")
    return text


def categories(value: object, field: str = "categories") -> tuple[str, ...]:
    """A list of them, each once. None of them has to be known: it then allows nothing."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(field, "expected a list of categories")
    return tuple(sorted({identifier(field, one, limits.CATEGORY_MAX_CHARS) for one in value}))


def space(value: object) -> str:
    text = identifier("space", value, limits.SPACE_MAX_CHARS)
    if not _SPACE.fullmatch(text):
        raise InvalidInput("space", "use letters, digits, dot, dash and underscore")
    return text


def channel(field: str, value: str) -> str:
    if not _WORD.fullmatch(value):
        raise InvalidInput(field, f"{value!r} is no channel; write for example telegram:123")
    return value


def choice(field: str, value: object, words: type[E]) -> E:
    try:
        return words(str(value)) if isinstance(value, str) else _refuse(field, value, words)
    except ValueError:
        return _refuse(field, value, words)


def _refuse(field: str, value: object, words: type[E]) -> E:
    shown = repr(value) if isinstance(value, str) and len(value) <= 40 else type(value).__name__
    raise InvalidInput(field, f"{shown} is not one of {', '.join(words)}") from None


def whole(field: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidInput(field, f"must be a whole number from {low} to {high}")
    return value


def fraction(field: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(field, "must be a number from 0 to 1")
    return float(value)


def flag(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(field, "must be true or false")
    return value


def moment(field: str, value: object) -> datetime:
    """An aware time, as UTC. A naive one is refused rather than guessed at."""
    if not isinstance(value, datetime):
        raise InvalidInput(field, f"expected a datetime, got {type(value).__name__}")
    if value.utcoffset() is None:
        raise InvalidInput(field, "has no time zone; add one, for example tzinfo=UTC")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(field, "is too far from today") from None


def written_moment(field: str, value: object) -> object:
    """A time that may be written as text, as in a tool call: 2026-03-01 or 2026-03-01T12:00:00Z."""
    if not isinstance(value, str):
        return value
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        raise InvalidInput(
            field, "is no date; write it as 2026-03-01 or 2026-03-01T12:00Z"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def tags(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput("tags", "expected a list of words")
    found = sorted({said_identifier("tags", tag, limits.TAG_MAX_CHARS) for tag in value})
    if len(found) > limits.TAGS_MAX_COUNT:
        raise InvalidInput("tags", f"at most {limits.TAGS_MAX_COUNT} tags are kept")
    return tuple(found)


def display(name: object) -> str:
    """A name as a channel hands it over, with what cannot be seen or kept left out; nothing of it,
    where it holds a secret: whoever is called so is served all the same."""
    if not isinstance(name, str):
        return ""
    seen = "".join(c for c in name if c.isspace() or unicodedata.category(c) not in _INVISIBLE)
    shown = normalize("NFC", " ".join(seen.split()))[: limits.NAME_MAX_CHARS].strip()
    return "" if screen(shown) else shown


def folded(name: str) -> str:
    """How two spellings of a name are compared."""
    plain = " ".join(normalize("NFKC", name).casefold().split())
    return plain[: limits.NAME_MAX_CHARS]
