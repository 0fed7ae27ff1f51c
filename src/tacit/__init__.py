"""Tacit: long-term memory for AI agents that knows what to leave unsaid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import (
    Conflict,
    DisclosureBreach,
    EmbeddingFailed,
    ErasureForged,
    InvalidInput,
    LanguageBadAnswer,
    LanguageFailed,
    LanguageOverBudget,
    LanguageRefused,
    LanguageUnavailable,
    MissingExtra,
    NoteMoved,
    NoteOutside,
    NoteUnreadable,
    NotFound,
    SchemaMismatch,
    SecretRefused,
    SettingsError,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    TacitError,
)
from tacit.model.chat import Chat, Requester
from tacit.model.happening import EventCounts
from tacit.model.message import Message
from tacit.model.notes import Link as NoteLink
from tacit.model.notes import (
    NoteChange,
    NoteProblem,
    NotesReport,
    NoteSummary,
    SessionDraft,
    SessionEnded,
    TaskDraft,
    TopicDraft,
    Woken,
)
from tacit.model.results import (
    Accepted,
    Block,
    Bullet,
    Change,
    Delta,
    Embedding,
    Erased,
    Explanation,
    Fresh,
    Imported,
    Maintained,
    Page,
    Proposal,
    Quarantined,
    Recalled,
    Recorded,
    Remembered,
    Reverted,
    Signals,
    Stats,
    Step,
    Suggestion,
    Waiting,
)
from tacit.model.upkeep import (
    Backup,
    Certificate,
    Consolidated,
    Diagnosis,
    Finding,
    JobRun,
    JobStatus,
    Purged,
    Reflected,
    Restored,
    Summarised,
    Swept,
)
from tacit.model.words import ChatKind, Kind, Sensitivity, State, Visibility

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.clock import Clock
    from tacit.embedding.port import Embedder
    from tacit.memory import DisabledView, Link, Memory, View
    from tacit.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Accepted",
    "Backup",
    "Block",
    "Bullet",
    "Certificate",
    "Change",
    "Chat",
    "ChatKind",
    "Conflict",
    "Consolidated",
    "Delta",
    "Diagnosis",
    "DisabledView",
    "DisclosureBreach",
    "Embedding",
    "EmbeddingFailed",
    "Erased",
    "ErasureForged",
    "EventCounts",
    "Explanation",
    "Finding",
    "Fresh",
    "Imported",
    "InvalidInput",
    "JobRun",
    "JobStatus",
    "Kind",
    "LanguageBadAnswer",
    "LanguageFailed",
    "LanguageOverBudget",
    "LanguageRefused",
    "LanguageUnavailable",
    "Link",
    "Maintained",
    "Memory",
    "Message",
    "MissingExtra",
    "NotFound",
    "NoteChange",
    "NoteLink",
    "NoteMoved",
    "NoteOutside",
    "NoteProblem",
    "NoteSummary",
    "NoteUnreadable",
    "NotesReport",
    "Page",
    "Proposal",
    "Purged",
    "Quarantined",
    "Recalled",
    "Recorded",
    "Reflected",
    "Remembered",
    "Requester",
    "Restored",
    "Reverted",
    "SchemaMismatch",
    "SecretRefused",
    "Sensitivity",
    "SessionDraft",
    "SessionEnded",
    "SettingsError",
    "Signals",
    "State",
    "Stats",
    "Step",
    "StoreBusy",
    "StoreError",
    "StoreUnavailable",
    "Suggestion",
    "Summarised",
    "Swept",
    "TacitError",
    "TaskDraft",
    "TopicDraft",
    "View",
    "Visibility",
    "Waiting",
    "Woken",
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


def __getattr__(name: str) -> Any:
    """The types that come with a database, named here but loaded only when somebody asks."""
    if name in ("DisabledView", "Link", "Memory", "View"):
        from tacit import memory

        return getattr(memory, name)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")
