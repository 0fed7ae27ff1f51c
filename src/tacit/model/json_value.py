"""JSON values that people and programs hand over, checked at the edge: without secrets, within
their bounds, and nothing in them that would not come back the same."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from tacit import moving_limits
from tacit.errors import InvalidInput
from tacit.model import text
from tacit.screening.disguise import seen
from tacit.screening.secrets import may_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Of one field: how it is called, how long it may be as JSON, and how deep."""

    field: str
    bytes: int
    depth: int


_DATA = Bounds(
    field="data", bytes=moving_limits.DATA_MAX_BYTES, depth=moving_limits.DATA_DEPTH_MAX_COUNT
)


_NAMES_COUNT = 4  # of those above a value, the nearest
_NAMED_CHARS = 500  # of a value: more than any secret that is known by its name has
_SHORT_CHARS = 100  # texts that are not looked at again where they stand again
_SAYS_ITS_NAME = ("name", "key", "label", "field")
_CODE_MIN, _CARD_MIN, _CARD_MAX = 100, 10**11, 10**20  # as numbers
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # userPassword


def data(value: object) -> dict[str, Any]:
    """What goes with a memory: a copy, so that the caller's own may change."""
    if not isinstance(value, Mapping):
        raise InvalidInput("data", 'expected an object, such as {"unit": "kg"}')
    copy: dict[str, Any] = json.loads(packed(dict(value), _DATA))
    return copy


def packed(value: object, bounds: Bounds) -> str:
    """As JSON, without secrets and within its limit. What would not come back the same is
    refused."""
    _Checking(bounds).check(value, (), bounds.depth)
    try:
        whole = written(value)
    except ValueError:  # a number of thousands of digits
        raise InvalidInput(bounds.field, "holds a number that is too long to be written") from None
    size = len(whole.encode())
    if size > bounds.bytes:
        raise InvalidInput(
            bounds.field,
            f"is {size:,} bytes of JSON; at most {bounds.bytes:,} are kept: save less of it",
        )
    return whole


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def same(one: object, other: object) -> bool:
    """As JSON, which tells True from 1, and does not care which name comes first."""
    return _sorted(one) == _sorted(other)


def _sorted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


class _Checking:
    """One value, and how much of it has been looked at: what is in two places is there twice. To
    look for secrets is what takes long, so that is bounded as well."""

    def __init__(self, bounds: Bounds) -> None:
        # The shortest are a digit and a comma.
        self._bounds, self._left = bounds, bounds.bytes // 2 + 1
        self._screened_left = moving_limits.SCREENED_MAX_CHARS
        self._found_good: set[str] = set()  # short texts without secrets
        self._may_name: dict[str, bool] = {}

    def check(self, value: object, names: tuple[str, ...], depth: int) -> None:
        """`names` are those that it stands under, of which one may say that it is secret."""
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
                self._refuse("holds a number that JSON has no word for")
        elif isinstance(value, str):
            self._storable(value)
            self._screen(value, names)
        elif depth == 0:
            self._refuse(f"is nested deeper than {self._bounds.depth} levels")
        elif isinstance(value, list | tuple):
            self._spend(moving_limits.SCREENED_LIST_CHARS)
            for one in value:
                self.check(one, names, depth - 1)
            words = " ".join(one for one in value if isinstance(one, str))
            if words:
                self._screen(words, names)
        elif isinstance(value, dict):
            self._check_object(value, names, depth)
        else:
            self._refuse(f"holds a {type(value).__name__}; use what JSON has")

    def _check_object(
        self, value: dict[object, object], names: tuple[str, ...], depth: int
    ) -> None:
        self._spend(moving_limits.SCREENED_LIST_CHARS)
        for name, one in value.items():
            if not isinstance(name, str):
                self._refuse(f"holds a {type(name).__name__} as a name; use text")
            self._screen(self._storable(name), ())
            inner = (*names, _HUMP.sub("_", name)) if self._names_secrets(name) else names
            self.check(one, inner[-_NAMES_COUNT:], depth - 1)
            if isinstance(one, str):
                self._screen_alone(f"{name}: {_beginning(one)}")
        if isinstance(said := value.get("value"), str | int):
            # A record that says its own name, such as {"name": "pin", "value": 1234}.
            named = (one for one in map(value.get, _SAYS_ITS_NAME) if isinstance(one, str))
            self.check(said, tuple(filter(self._names_secrets, named)), 0)

    def _screen(self, words: str, names: tuple[str, ...]) -> None:
        """By its name, too, a value may be known as a secret."""
        self._screen_alone(words)
        begins = _beginning(words) if names else ""
        for name in names:
            self._screen_alone(f"{name}: {begins}")

    def _screen_alone(self, words: str) -> None:
        if words in self._found_good:
            return
        self._spend(len(words) + moving_limits.SCREENED_TEXT_CHARS)
        text.without_secrets(self._bounds.field, words)
        if len(words) <= _SHORT_CHARS:
            self._found_good.add(words)

    def _spend(self, chars: int) -> None:
        self._screened_left -= chars
        if self._screened_left < 0:
            most, more = moving_limits.SCREENED_MAX_CHARS, moving_limits.SCREENED_TEXT_CHARS
            self._refuse(
                f"holds more text than is looked at for secrets at once: {most:,} characters, "
                f"where each text and each name counts {more} more; save it in parts"
            )

    def _names_secrets(self, name: str) -> bool:
        if name not in self._may_name:
            self._may_name[name] = may_name(name)
        return self._may_name[name]

    def _storable(self, value: str) -> str:
        return text.storable(self._bounds.field, value, self._bounds.bytes)

    def _refuse(self, problem: str) -> NoReturn:
        raise InvalidInput(self._bounds.field, problem)


def _beginning(words: str) -> str:
    """What a name is put before; all of the words are looked at without it."""
    return seen(words).lstrip()[:_NAMED_CHARS]
