"""Where an agent had got to in a thread: a JSON value of its own, checked at the edge."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tacit import limits
from tacit.model import json_value
from tacit.model.json_value import Bounds

_BOUNDS = Bounds(
    field="data", bytes=limits.CHECKPOINT_MAX_BYTES, depth=limits.CHECKPOINT_DEPTH_MAX_COUNT
)


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
    """As JSON, without secrets and within its limit."""
    return json_value.packed(data, _BOUNDS)
