"""Where an agent had got to in a thread: a JSON value of its own, checked at the edge."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput
from tacit.model import text

_FIELD = "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The last state that was saved for one person and thread; from a disabled view, none: then it
    is false."""

    thread: str
    data: Any  # a JSON value
    version: int  # counts what was saved; hand it back with the next one
    updated_at: datetime

    def __bool__(self) -> bool:
        return self.version > 0


def packed(data: object) -> str:
    """As JSON, without secrets and within its limit. What would not come back the same is
    refused."""
    _check(data, limits.CHECKPOINT_DEPTH_MAX_COUNT)
    try:
        whole = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:  # a number of thousands of digits
        raise InvalidInput(_FIELD, "holds a number that is too long to be written") from None
    size = len(whole.encode())
    if size > limits.CHECKPOINT_MAX_BYTES:
        raise InvalidInput(
            _FIELD,
            f"is {size:,} bytes of JSON; at most {limits.CHECKPOINT_MAX_BYTES:,} are kept: "
            "save less of it",
        )
    return whole


def _check(value: object, depth: int) -> None:
    if value is None or isinstance(value, bool | int):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(_FIELD, "holds a number that JSON has no word for")
    elif isinstance(value, str):
        _check_words(value)
    elif depth == 0:
        raise InvalidInput(
            _FIELD, f"is nested deeper than {limits.CHECKPOINT_DEPTH_MAX_COUNT} levels"
        )
    elif isinstance(value, list | tuple):
        for one in value:
            _check(one, depth - 1)
    elif isinstance(value, dict):
        _check_names(value, depth)
    else:
        raise InvalidInput(_FIELD, f"holds a {type(value).__name__}; use what JSON has")


def _check_names(value: dict[object, object], depth: int) -> None:
    for name, one in value.items():
        if not isinstance(name, str):
            raise InvalidInput(_FIELD, f"holds a {type(name).__name__} as a name; use text")
        _check_words(name)
        if isinstance(one, str):  # by its name a value may be known as a secret
            text.storable(_FIELD, one, limits.CHECKPOINT_MAX_BYTES)
            text.without_secrets(_FIELD, f"{name}: {one}")
        else:
            _check(one, depth - 1)


def _check_words(value: str) -> None:
    text.without_secrets(_FIELD, text.storable(_FIELD, value, limits.CHECKPOINT_MAX_BYTES))
