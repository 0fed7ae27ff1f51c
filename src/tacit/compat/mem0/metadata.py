"""mem0's metadata as the JSON object that goes with a memory, and back."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from tacit.compat.mem0 import dates
from tacit.compat.mem0.scope import NAMES
from tacit.errors import InvalidInput
from tacit.records.memory import Memory

_log = logging.getLogger(__name__)
ACTOR = "actor_id"
MADE = "created_at"
_EXPIRES = "expiration_date"
UNSAID: Final = object()  # None means never
# What mem0 tells beside the metadata, wherever it was said.
_BESIDE = (ACTOR, "attributed_to", MADE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a call says of a memory besides its words."""

    data: dict[str, Any]
    expires_at: datetime | None  # None: nothing was said

    def with_actor(self, name: str | None) -> dict[str, Any] | None:
        data = self.data if name is None else {**self.data, ACTOR: name}
        return data or None


def given(metadata: object, expiration_date: object = UNSAID) -> Given:
    """Whose a memory is, is said by whose call it is: metadata may not place it elsewhere."""
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInput("metadata", f"expected a dict, got {type(metadata).__name__}")
    data = {}
    for name, value in (metadata or {}).items():
        if name in (*NAMES, ACTOR):
            _log.warning("metadata may not say %s; it is left out", name)
        elif name == _EXPIRES:
            expiration_date = value if expiration_date is UNSAID else expiration_date
        else:
            data[name] = value
    expires = None if expiration_date is UNSAID else dates.end_of(expiration_date)
    return Given(data=data, expires_at=expires)


def metadata_with(memory: Memory, more: Given) -> dict[str, Any]:
    """What it has, and what is said now. When it was made, is settled."""
    said = {name: value for name, value in more.data.items() if name != MADE}
    return {**(memory.data or {}), **said}


def told(memory: Memory) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The metadata, and what mem0 tells beside it."""
    data = dict(memory.data or {})
    for name in NAMES:  # of what was moved here from mem0; `Scope` tells of them
        data.pop(name, None)
    beside: dict[str, Any] = {
        name: data.pop(name) for name in _BESIDE if isinstance(data.get(name), str)
    }
    if memory.role is not None:
        beside["role"] = memory.role
    elif isinstance(data.get("role"), str):
        beside["role"] = data.pop("role")
    if memory.expires_at is not None:
        beside[_EXPIRES] = dates.day_of(memory)
    return data or None, beside
