"""JSON values that people and programs hand over, checked at the edge: without secrets, within
their bounds, and nothing in them that would not come back the same."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit import moving_limits
from tacit.errors import InvalidInput
from tacit.model import text


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Of one field: how it is called, how long it may be as JSON, and how deep."""

    field: str
    bytes: int
    depth: int


_DATA = Bounds(
    field="data", bytes=moving_limits.DATA_MAX_BYTES, depth=moving_limits.DATA_DEPTH_MAX_COUNT
)


def data(value: object) -> dict[str, Any]:
    """What goes with a memory: a copy, so that the caller's own may change."""
    if not isinstance(value, Mapping):
        raise InvalidInput("data", 'expected an object, such as {"unit": "kg"}')
    copy: dict[str, Any] = json.loads(packed(dict(value), _DATA))
    return copy


def packed(value: object, bounds: Bounds) -> str:
    """As JSON, without secrets and within its limit. What would not come back the same is
    refused."""
    _check(value, bounds, bounds.depth)
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


def _check(value: object, bounds: Bounds, depth: int) -> None:
    if value is None or isinstance(value, bool | int):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(bounds.field, "holds a number that JSON has no word for")
    elif isinstance(value, str):
        _check_words(value, bounds)
    elif depth == 0:
        raise InvalidInput(bounds.field, f"is nested deeper than {bounds.depth} levels")
    elif isinstance(value, list | tuple):
        for one in value:
            _check(one, bounds, depth - 1)
    elif isinstance(value, dict):
        _check_names(value, bounds, depth)
    else:
        raise InvalidInput(bounds.field, f"holds a {type(value).__name__}; use what JSON has")


def _check_names(value: dict[object, object], bounds: Bounds, depth: int) -> None:
    for name, one in value.items():
        if not isinstance(name, str):
            raise InvalidInput(bounds.field, f"holds a {type(name).__name__} as a name; use text")
        _check_words(name, bounds)
        if isinstance(one, str):  # by its name a value may be known as a secret
            text.storable(bounds.field, one, bounds.bytes)
            text.without_secrets(bounds.field, f"{name}: {one}")
        else:
            _check(one, bounds, depth - 1)


def _check_words(value: str, bounds: Bounds) -> None:
    text.without_secrets(bounds.field, text.storable(bounds.field, value, bounds.bytes))
