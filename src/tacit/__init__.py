"""Tacit: long-term memory for AI agents that knows what to leave unsaid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import (
    AccessRefused,
    Conflict,
    DisclosureBreach,
    EmbeddingFailed,
    ErasureForged,
    InvalidInput,
    KeyRefused,
    LanguageBadAnswer,
    LanguageFailed,
    LanguageOverBudget,
    LanguageRefused,
    LanguageUnavailable,
    MissingExtra,
    NotAllowed,
    NoteMoved,
    NoteOutside,
    NoteUnreadable,
    NotFound,
    SchemaMismatch,
    SecretRefused,
    SettingsError,
    SignInRefused,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    TacitError,
    TooManyRequests,
)
from tacit.records.accounts import (
    Key,
    LinkOffer,
    LinkWaiting,
    NewKey,
    NewSignIn,
    Scope,
    SignedIn,
    WebSession,
)
from tacit.records.checkpoints import Checkpoint
from tacit.records.conversation import (
    Message,
    ModelTurn,
    PendingUpdate,
    TalkReply,
    TalkTurn,
    ToolCall,
    ToolSpec,
    ToolTurn,
    Update,
    UserTurn,
)
from tacit.records.drafts import (
    ImportItem,
    ImportPreview,
    ImportPreviewItem,
    ImportRun,
    ImportStep,
    RefusedItem,
    RevertedImport,
)
from tacit.records.memory import ChatKind, Kind, Sensitivity, State, Visibility
from tacit.records.notes import (
    NoteChange,
    NoteLink,
    NoteProblem,
    NotesReport,
    NoteSummary,
    SessionDraft,
    SessionEnded,
    SessionStart,
    TaskDraft,
    TopicDraft,
)
from tacit.records.queries import Search
from tacit.records.request import Chat, Requester
from tacit.records.results import (
    Accepted,
    AccessLogEntry,
    ActivityEntry,
    AudienceChat,
    AudiencePreview,
    AudienceReport,
    Backup,
    Block,
    Bullet,
    Certificate,
    Change,
    Consolidated,
    DayCounts,
    Delta,
    Diagnosis,
    Edge,
    EmbeddingStatus,
    Erased,
    EventCounts,
    Expired,
    Explanation,
    Finding,
    Fresh,
    Graph,
    Imported,
    JobRun,
    JobStatus,
    LearningQueueStatus,
    Maintained,
    Node,
    Page,
    PendingErasure,
    Proposal,
    Purged,
    Quarantined,
    Recalled,
    Recorded,
    Reflected,
    Remembered,
    Restored,
    Reverted,
    Signals,
    Stats,
    Suggestion,
    Summarised,
    TraceStep,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.client import Client, RemoteView
    from tacit.clock import Clock
    from tacit.embeddings.embedder import Embedder
    from tacit.memory import Link, Memory, View
    from tacit.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Accepted",
    "AccessLogEntry",
    "AccessRefused",
    "ActivityEntry",
    "AudienceChat",
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
    "Consolidated",
    "DayCounts",
    "Delta",
    "Diagnosis",
    "DisclosureBreach",
    "Edge",
    "EmbeddingFailed",
    "EmbeddingStatus",
    "Erased",
    "ErasureForged",
    "EventCounts",
    "Expired",
    "Explanation",
    "Finding",
    "Fresh",
    "Graph",
    "ImportItem",
    "ImportPreview",
    "ImportPreviewItem",
    "ImportRun",
    "ImportStep",
    "Imported",
    "InvalidInput",
    "JobRun",
    "JobStatus",
    "Key",
    "KeyRefused",
    "Kind",
    "LanguageBadAnswer",
    "LanguageFailed",
    "LanguageOverBudget",
    "LanguageRefused",
    "LanguageUnavailable",
    "LearningQueueStatus",
    "Link",
    "LinkOffer",
    "LinkWaiting",
    "Maintained",
    "Memory",
    "Message",
    "MissingExtra",
    "ModelTurn",
    "NewKey",
    "NewSignIn",
    "Node",
    "NotAllowed",
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
    "PendingErasure",
    "PendingUpdate",
    "Proposal",
    "Purged",
    "Quarantined",
    "Recalled",
    "Recorded",
    "Reflected",
    "RefusedItem",
    "Remembered",
    "RemoteView",
    "Requester",
    "Restored",
    "Reverted",
    "RevertedImport",
    "SchemaMismatch",
    "Scope",
    "Search",
    "SecretRefused",
    "Sensitivity",
    "SessionDraft",
    "SessionEnded",
    "SessionStart",
    "SettingsError",
    "SignInRefused",
    "Signals",
    "SignedIn",
    "State",
    "Stats",
    "StoreBusy",
    "StoreError",
    "StoreUnavailable",
    "Suggestion",
    "Summarised",
    "TacitError",
    "TalkReply",
    "TalkTurn",
    "TaskDraft",
    "TooManyRequests",
    "ToolCall",
    "ToolSpec",
    "ToolTurn",
    "TopicDraft",
    "TraceStep",
    "Update",
    "UserTurn",
    "View",
    "Visibility",
    "WebSession",
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
    """A memory behind a server: `http://127.0.0.1:8377`, with the key that `tacit keys create`
    showed. Its views have the words of `View`. `timeout`: how many seconds one of them may take.
    """
    from tacit.client import Client

    return Client(url, key) if timeout is None else Client(url, key, timeout=timeout)


def __getattr__(name: str) -> Any:
    """The types that come with a database, named here but loaded only when somebody asks."""
    if name in ("Link", "Memory", "View"):
        from tacit import memory

        return getattr(memory, name)
    if name in ("Client", "RemoteView"):
        from tacit import client

        return getattr(client, name)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")
