"""Check text, identifiers, numbers, times and JSON values that callers hand in."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from tacit import limits
from tacit.errors import InvalidInput, SecretRefused
from tacit.screening.secrets import find_secret, may_name_secret
from tacit.text import normalize_unicode, strip_invisible

EnumT = TypeVar("EnumT", bound=StrEnum)

_MEMORY_ID = re.compile(r"[A-Za-z0-9]{8}")
_CHANNEL = re.compile(r"[a-z][a-z0-9_-]*")
_SPACE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_CONTROLS_ALLOWED_IN_CONTENT = frozenset("\n\r\t")


def check_storable(field: str, value: object, max_chars: int) -> str:
    """Check that both databases can store the text; return it unchanged."""
    if not isinstance(value, str):
        raise InvalidInput(field, f"expected text, got {type(value).__name__}")
    if len(value) > max_chars:
        raise InvalidInput(field, f"is {len(value):,} characters long; at most {max_chars:,} are kept: shorten it")
    if "\x00" in value:
        raise InvalidInput(field, "contains a NUL character; remove it")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(field, "contains half of a surrogate pair; decode it properly") from None
    return value


def parse_content(value: object, field: str = "content") -> str:
    """Check the content of a memory: any visible text without secrets."""
    return refuse_secrets(field, _check_visible(field, value))


def refuse_secrets(field: str, text: str) -> str:
    """Return the text, or raise SecretRefused if it contains a secret."""
    secret = find_secret(text)
    if secret is not None:
        raise SecretRefused(field, secret.kind, secret.says)
    return text


def _check_visible(field: str, value: object) -> str:
    text = check_storable(field, value, limits.CONTENT_MAX_CHARS)
    if text.isascii() and text.isprintable() and not text.isspace() and text:
        return text  # fast path
    if all(c.isspace() or unicodedata.category(c) in _INVISIBLE for c in text):
        raise InvalidInput(field, "is empty; write at least one visible character")
    for char in text:
        if unicodedata.category(char) == "Cc" and char not in _CONTROLS_ALLOWED_IN_CONTENT:
            raise InvalidInput(field, f"contains the control character U+{ord(char):04X}; remove it")
    return text


def parse_identifier(field: str, value: object, max_chars: int) -> str:
    """Check an identifier: visible characters only, in NFC, so that equal looks mean equal text."""
    text = check_storable(field, value, max_chars)
    if not text or text != text.strip():
        raise InvalidInput(field, "must not be empty or begin or end with a space")
    if text.isascii() and text.isprintable():
        return text
    for char in text:
        if unicodedata.category(char) in _INVISIBLE:
            raise InvalidInput(field, f"contains the invisible character U+{ord(char):04X}; remove it")
    return unicodedata.normalize("NFC", text)


def parse_screened_identifier(field: str, value: object, max_chars: int) -> str:
    """Check an identifier that people choose, and refuse secrets in it."""
    return refuse_secrets(field, parse_identifier(field, value, max_chars))


def parse_key_prefix(value: object) -> str | None:
    """Return the prefix of a key in NFC, or None if it is empty."""
    text = check_storable("prefix", value, limits.KEY_MAX_CHARS)
    return unicodedata.normalize("NFC", text) or None


def parse_optional_identifier(field: str, value: object, max_chars: int) -> str | None:
    return None if value is None else parse_identifier(field, value, max_chars)


def parse_label(field: str, value: object) -> str:
    """Check a name that a program gives: of an agent, a run, a thread, a role."""
    return parse_identifier(field, value, limits.LABEL_MAX_CHARS)


def parse_optional_label(field: str, value: object) -> str | None:
    return None if value is None else parse_label(field, value)


def parse_memory_id(value: object) -> str | None:
    """Return a well-formed id, or None: a malformed id is treated as one that does not exist."""
    return value if isinstance(value, str) and _MEMORY_ID.fullmatch(value) else None


def parse_category(value: object, allowed: Iterable[str], field: str = "category") -> str:
    text = parse_identifier(field, value, limits.CATEGORY_MAX_CHARS)
    known = tuple(allowed)
    if text not in known:
        raise InvalidInput(field, f"unknown category {text!r}; use one of {', '.join(known)}")
    return text


def parse_categories(value: object, field: str = "categories") -> tuple[str, ...]:
    """Return sorted, distinct categories. An unknown category is allowed and matches nothing."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(field, "expected a list of categories")
    return tuple(sorted({parse_identifier(field, one, limits.CATEGORY_MAX_CHARS) for one in value}))


def parse_space(value: object) -> str:
    text = parse_identifier("space", value, limits.SPACE_MAX_CHARS)
    if not _SPACE_NAME.fullmatch(text):
        raise InvalidInput("space", "use letters, digits, dot, dash and underscore")
    return text


def parse_channel(field: str, value: str) -> str:
    if not _CHANNEL.fullmatch(value):
        raise InvalidInput(field, f"{value!r} is not a channel; write for example telegram:123")
    return value


def enum_parser(enum: type[EnumT]) -> Callable[[str, object], EnumT]:
    return lambda field, value: parse_enum(field, value, enum)


def parse_enum(field: str, value: object, enum: type[EnumT]) -> EnumT:
    if isinstance(value, str):
        try:
            return enum(str(value))
        except ValueError:
            pass
    shown = repr(value) if isinstance(value, str) and len(value) <= 40 else type(value).__name__
    raise InvalidInput(field, f"{shown} is not one of {', '.join(enum)}")


def parse_int(field: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidInput(field, f"must be a whole number from {low} to {high}")
    return value


def parse_importance(field: str, value: object) -> int:
    return parse_int(field, value, limits.IMPORTANCE_MIN, limits.IMPORTANCE_MAX)


def parse_fraction(field: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(field, "must be a number from 0 to 1")
    return float(value)


def parse_bool(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(field, "must be true or false")
    return value


def parse_datetime(field: str, value: object) -> datetime:
    """Return an aware time in UTC; refuse a naive one."""
    if not isinstance(value, datetime):
        raise InvalidInput(field, f"expected a datetime, got {type(value).__name__}")
    if value.utcoffset() is None:
        raise InvalidInput(field, "has no time zone; add one, for example tzinfo=UTC")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(field, "is too far from today") from None


def parse_iso_datetime(field: str, value: object) -> object:
    """Parse a time from ISO text such as 2026-03-01, as in tool calls; return other values as is."""
    if not isinstance(value, str):
        return value
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        raise InvalidInput(field, "is not a date; write it as 2026-03-01 or 2026-03-01T12:00Z") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def parse_tags(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput("tags", "expected a list of words")
    found = sorted({parse_screened_identifier("tags", tag, limits.TAG_MAX_CHARS) for tag in value})
    if len(found) > limits.TAGS_MAX_COUNT:
        raise InvalidInput("tags", f"at most {limits.TAGS_MAX_COUNT} tags are kept")
    return tuple(found)


def clean_display_name(name: object) -> str:
    """Remove invisible characters from a channel's display name; return "" if it holds a secret.

    Never raise: a person with a bad name is served all the same.
    """
    if not isinstance(name, str):
        return ""
    visible = "".join(c for c in name if c.isspace() or unicodedata.category(c) not in _INVISIBLE)
    shown = normalize_unicode("NFC", " ".join(visible.split()))[: limits.NAME_MAX_CHARS].strip()
    return "" if find_secret(shown) else shown


def fold_name(name: str) -> str:
    """Return the form in which names are compared."""
    plain = " ".join(normalize_unicode("NFKC", name).casefold().split())
    return plain[: limits.NAME_MAX_CHARS]


# JSON values of callers: within limits, without secrets, and unchanged by a round trip.


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLimits:
    """The limits of one field: size as JSON and depth."""

    field: str
    bytes: int
    depth: int


_DATA_LIMITS = JsonLimits(field="data", bytes=limits.DATA_MAX_BYTES, depth=limits.DATA_DEPTH_MAX_COUNT)


_NAMES_COUNT = 4  # nearest names above a value that are screened with it
_NAMED_CHARS = 500  # of a value screened with its name; longer than any such secret
_SHORT_CHARS = 100  # longest text whose result is cached
_NAME_FIELDS = ("name", "key", "label", "field")
_CODE_MIN, _CARD_MIN, _CARD_MAX = 100, 10**11, 10**20  # as numbers
_CAMEL_CASE_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # userPassword


def parse_data(value: object) -> dict[str, Any]:
    """Check the data of a memory and return a deep copy."""
    if not isinstance(value, Mapping):
        raise InvalidInput("data", 'expected an object, such as {"unit": "kg"}')
    copy: dict[str, Any] = json.loads(encode_json_value(dict(value), _DATA_LIMITS))
    return copy


def encode_json_value(value: object, bounds: JsonLimits) -> str:
    """Encode as JSON. Refuse secrets, values above a limit, and values that JSON would change."""
    _JsonChecker(bounds).check(value, (), bounds.depth)
    try:
        whole = dump_json(value)
    except ValueError:  # a number of thousands of digits
        raise InvalidInput(bounds.field, "holds a number that is too long") from None
    size = len(whole.encode())
    if size > bounds.bytes:
        raise InvalidInput(
            bounds.field, f"is {size:,} bytes of JSON; at most {bounds.bytes:,} are kept: save less of it"
        )
    return whole


def dump_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def is_same_json(one: object, other: object) -> bool:
    """Compare as JSON, which distinguishes True from 1 and ignores the order of names."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


class _JsonChecker:
    """Walk one value and check it. Screening is the slow part, so its amount is limited too."""

    def __init__(self, bounds: JsonLimits) -> None:
        # The shortest value is a digit and a comma.
        self._bounds, self._left = bounds, bounds.bytes // 2 + 1
        self._screened_left = limits.SCREENED_MAX_CHARS
        self._clean_texts: set[str] = set()  # short texts without secrets
        self._may_name: dict[str, bool] = {}

    def check(self, value: object, names: tuple[str, ...], depth: int) -> None:
        """Check a value. `names` are the names above it, which may mark it as a secret."""
        self._left -= 1
        if self._left < 0:
            self._refuse(f"holds more than fits into {self._bounds.bytes:,} bytes: save less of it")
        if value is None or isinstance(value, bool):
            return
        if isinstance(value, int):
            if _CODE_MIN <= abs(value) < _CARD_MAX and (names or abs(value) >= _CARD_MIN):
                self._screen(str(value), names)
        elif isinstance(value, float):
            if not math.isfinite(value):
                self._refuse("holds a number that JSON cannot represent")
        elif isinstance(value, str):
            self._storable(value)
            self._screen(value, names)
        elif depth == 0:
            self._refuse(f"is nested deeper than {self._bounds.depth} levels")
        elif isinstance(value, list | tuple):
            self._spend(limits.SCREENED_LIST_CHARS)
            for one in value:
                self.check(one, names, depth - 1)
            words = " ".join(one for one in value if isinstance(one, str))
            if words:
                self._screen(words, names)
        elif isinstance(value, dict):
            self._check_object(value, names, depth)
        else:
            self._refuse(f"holds a {type(value).__name__}; use JSON types only")

    def _check_object(self, value: dict[object, object], names: tuple[str, ...], depth: int) -> None:
        self._spend(limits.SCREENED_LIST_CHARS)
        for name, one in value.items():
            if not isinstance(name, str):
                self._refuse(f"holds a {type(name).__name__} as a name; use text")
            self._screen(self._storable(name), ())
            inner = (*names, _CAMEL_CASE_BOUNDARY.sub("_", name)) if self._names_secrets(name) else names
            self.check(one, inner[-_NAMES_COUNT:], depth - 1)
            if isinstance(one, str):
                self._screen_alone(f"{name}: {_visible_start(one)}")
        if isinstance(named_value := value.get("value"), str | int):
            # A record with its own name, such as {"name": "pin", "value": 1234}.
            own_names = (one for one in map(value.get, _NAME_FIELDS) if isinstance(one, str))
            self.check(named_value, tuple(filter(self._names_secrets, own_names)), 0)

    def _screen(self, words: str, names: tuple[str, ...]) -> None:
        """Screen a text alone and together with each name above it."""
        self._screen_alone(words)
        start = _visible_start(words) if names else ""
        for name in names:
            self._screen_alone(f"{name}: {start}")

    def _screen_alone(self, words: str) -> None:
        if words in self._clean_texts:
            return
        self._spend(len(words) + limits.SCREENED_TEXT_CHARS)
        refuse_secrets(self._bounds.field, words)
        if len(words) <= _SHORT_CHARS:
            self._clean_texts.add(words)

    def _spend(self, chars: int) -> None:
        self._screened_left -= chars
        if self._screened_left < 0:
            most, more = limits.SCREENED_MAX_CHARS, limits.SCREENED_TEXT_CHARS
            self._refuse(
                f"holds more text than is screened for secrets at once: {most:,} characters, "
                f"where each text and each name counts {more} more; save it in parts"
            )

    def _names_secrets(self, name: str) -> bool:
        if name not in self._may_name:
            self._may_name[name] = may_name_secret(name)
        return self._may_name[name]

    def _storable(self, value: str) -> str:
        return check_storable(self._bounds.field, value, self._bounds.bytes)

    def _refuse(self, problem: str) -> NoReturn:
        raise InvalidInput(self._bounds.field, problem)


def _visible_start(words: str) -> str:
    return strip_invisible(words).lstrip()[:_NAMED_CHARS]
