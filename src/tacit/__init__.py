"""Tacit: long-term memory for AI agents that knows what to leave unsaid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import (
    AccessRefused,
    Conflict,
    EmbeddingFailed,
    InvalidInput,
    LanguageFailed,
    MissingExtra,
    NotAllowed,
    NotFound,
    SchemaMismatch,
    SecretRefused,
    SettingsError,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    TacitError,
    TooManyRequests,
)
from tacit.records.accounts import Key, LinkOffer, NewKey, Scope
from tacit.records.checkpoints import Checkpoint
from tacit.records.conversation import Message, Update
from tacit.records.drafts import ImportItem, ImportPreview, ImportRun
from tacit.records.memory import ChatKind, Kind, Sensitivity, State, Visibility
from tacit.records.notes import SessionDraft, SessionEnded, SessionStart, TaskDraft, TopicDraft
from tacit.records.queries import Search
from tacit.records.request import Chat, Requester
from tacit.records.results import (
    Accepted,
    AudiencePreview,
    AudienceReport,
    Backup,
    Block,
    Bullet,
    Certificate,
    Change,
    Delta,
    Diagnosis,
    Erased,
    Explanation,
    Fresh,
    Graph,
    Imported,
    JobRun,
    Page,
    Proposal,
    Recalled,
    Recorded,
    Remembered,
    Signals,
    Stats,
    Suggestion,
    TraceStep,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.client import Client
    from tacit.clock import Clock
    from tacit.embeddings.embedder import Embedder
    from tacit.memory import Link, Memory, View
    from tacit.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Accepted",
    "AccessRefused",
    "AudiencePreview",
    "AudienceReport",
    "Backup",
    "Block",
    "Bullet",
    "Certificate",
    "Change",
    "Chat",
    "ChatKind",
    "Checkpoint",
    "Client",
    "Conflict",
    "Delta",
    "Diagnosis",
    "EmbeddingFailed",
    "Erased",
    "Explanation",
    "Fresh",
    "Graph",
    "ImportItem",
    "ImportPreview",
    "ImportRun",
    "Imported",
    "InvalidInput",
    "JobRun",
    "Key",
    "Kind",
    "LanguageFailed",
    "Link",
    "LinkOffer",
    "Memory",
    "Message",
    "MissingExtra",
    "NewKey",
    "NotAllowed",
    "NotFound",
    "Page",
    "Proposal",
    "Recalled",
    "Recorded",
    "Remembered",
    "Requester",
    "SchemaMismatch",
    "Scope",
    "Search",
    "SecretRefused",
    "Sensitivity",
    "SessionDraft",
    "SessionEnded",
    "SessionStart",
    "SettingsError",
    "Signals",
    "State",
    "Stats",
    "StoreBusy",
    "StoreError",
    "StoreUnavailable",
    "Suggestion",
    "TacitError",
    "TaskDraft",
    "TooManyRequests",
    "TopicDraft",
    "TraceStep",
    "Update",
    "View",
    "Visibility",
    "connect",
    "open",
]


def open(
    url: str | Path | None = None,
    *,
    space: str | None = None,
    settings: Settings | None = None,
    clock: Clock | None = None,
    embedder: Embedder | Literal["by settings"] | None = "by settings",
) -> Memory:
    """Open a memory: `sqlite:///path`, a plain path, `postgresql://…`, or what the settings say.

    Without settings either, it is a SQLite file in the `.tacit` folder of the user's home. An
    `embedder` of your own takes the place of the one in the settings; None means words alone.
    """
    from tacit.bootstrap import open_memory

    options: dict[str, Any] = {} if clock is None else {"clock": clock}
    return open_memory(url, space=space, settings=settings, embedder=embedder, **options)


def connect(url: str, key: str | None = None, *, timeout: float | None = None) -> Client:
    """Connect to a server such as `http://127.0.0.1:8377`, with a key from `tacit keys create`.

    Its views have the methods of `View`. `timeout` is in seconds, for each call.
    """
    from tacit.client import Client

    return Client(url, key) if timeout is None else Client(url, key, timeout=timeout)


def __getattr__(name: str) -> Any:
    """Load the classes that need the database or the HTTP client at first use."""
    if name in ("Link", "Memory", "View"):
        from tacit import memory

        return getattr(memory, name)
    if name == "Client":
        from tacit.client import Client

        return Client
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")
