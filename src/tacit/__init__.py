"""Tacit: long-term memory for AI agents that knows what to leave unsaid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import (
    Conflict,
    DisclosureBreach,
    InvalidInput,
    MissingExtra,
    NotFound,
    SchemaMismatch,
    SettingsError,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    TacitError,
)
from tacit.model.chat import Chat, Requester
from tacit.model.words import Kind, Sensitivity, State, Visibility

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.clock import Clock
    from tacit.memory import Memory
    from tacit.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Chat",
    "Conflict",
    "DisclosureBreach",
    "InvalidInput",
    "Kind",
    "MissingExtra",
    "NotFound",
    "Requester",
    "SchemaMismatch",
    "Sensitivity",
    "SettingsError",
    "State",
    "StoreBusy",
    "StoreError",
    "StoreUnavailable",
    "TacitError",
    "Visibility",
    "open",
]


def open(
    url: str | Path | None = None,
    *,
    space: str | None = None,
    settings: Settings | None = None,
    clock: Clock | None = None,
) -> Memory:
    """Open a memory: `sqlite:///path`, a plain path, `postgresql://…`, or what the settings say.

    Without settings either, it is a SQLite file in the `.tacit` folder of the user's home.
    """
    from tacit.bootstrap import open_memory

    options: dict[str, Any] = {} if clock is None else {"clock": clock}
    return open_memory(url, space=space, settings=settings, **options)
