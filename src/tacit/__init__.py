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
from tacit.model.results import (
    Change,
    Delta,
    Erased,
    Explanation,
    Imported,
    Maintained,
    Page,
    Recalled,
    Remembered,
    Stats,
)
from tacit.model.words import ChatKind, Kind, Sensitivity, State, Visibility

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.clock import Clock
    from tacit.memory import DisabledView, Link, Memory, View
    from tacit.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Change",
    "Chat",
    "ChatKind",
    "Conflict",
    "Delta",
    "DisabledView",
    "DisclosureBreach",
    "Erased",
    "Explanation",
    "Imported",
    "InvalidInput",
    "Kind",
    "Link",
    "Maintained",
    "Memory",
    "MissingExtra",
    "NotFound",
    "Page",
    "Recalled",
    "Remembered",
    "Requester",
    "SchemaMismatch",
    "Sensitivity",
    "SettingsError",
    "State",
    "Stats",
    "StoreBusy",
    "StoreError",
    "StoreUnavailable",
    "TacitError",
    "View",
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


def __getattr__(name: str) -> Any:
    """The types that come with a database, named here but loaded only when somebody asks."""
    if name in ("DisabledView", "Link", "Memory", "View"):
        from tacit import memory

        return getattr(memory, name)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")
