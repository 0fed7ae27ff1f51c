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
from tacit.model.activity import DayCounts, Happened
from tacit.model.chat import Chat, Requester
from tacit.model.checkpoint import Checkpoint
from tacit.model.graph import Edge, Graph, Node
from tacit.model.happening import EventCounts
from tacit.model.hearing import Hearers, Hearing, Room
from tacit.model.imports import (
    Foreseen,
    ImportPreview,
    ImportRun,
    ImportStep,
    Incoming,
    RefusedItem,
    RevertedImport,
)
from tacit.model.keys import Key, NewKey, Scope
from tacit.model.linking import LinkOffer, LinkWaiting
from tacit.model.looks import Look
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
from tacit.model.search import Search
from tacit.model.signing import NewSignIn, SignedIn, Sitting
from tacit.model.talk import (
    ModelTurn,
    Offered,
    TalkReply,
    TalkTurn,
    ToolCall,
    ToolTurn,
    UserTurn,
)
from tacit.model.updates import TakenUpdate, Update
from tacit.model.upkeep import (
    Backup,
    Certificate,
    Consolidated,
    Diagnosis,
    Finding,
    JobRun,
    JobStatus,
    Pending,
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
    from tacit.surfaces.client import Client, RemoteView

__version__ = "0.1.0"

__all__ = [
    "Accepted",
    "AccessRefused",
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
    "DisabledView",
    "DisclosureBreach",
    "Edge",
    "Embedding",
    "EmbeddingFailed",
    "Erased",
    "ErasureForged",
    "EventCounts",
    "Explanation",
    "Finding",
    "Foreseen",
    "Fresh",
    "Graph",
    "Happened",
    "Hearers",
    "Hearing",
    "ImportPreview",
    "ImportRun",
    "ImportStep",
    "Imported",
    "Incoming",
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
    "Link",
    "LinkOffer",
    "LinkWaiting",
    "Look",
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
    "Offered",
    "Page",
    "Pending",
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
    "Room",
    "SchemaMismatch",
    "Scope",
    "Search",
    "SecretRefused",
    "Sensitivity",
    "SessionDraft",
    "SessionEnded",
    "SettingsError",
    "SignInRefused",
    "Signals",
    "SignedIn",
    "Sitting",
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
    "TakenUpdate",
    "TalkReply",
    "TalkTurn",
    "TaskDraft",
    "TooManyRequests",
    "ToolCall",
    "ToolTurn",
    "TopicDraft",
    "Update",
    "UserTurn",
    "View",
    "Visibility",
    "Waiting",
    "Woken",
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
    from tacit.surfaces.client import Client

    return Client(url, key) if timeout is None else Client(url, key, timeout=timeout)


def __getattr__(name: str) -> Any:
    """The types that come with a database, named here but loaded only when somebody asks."""
    if name in ("DisabledView", "Link", "Memory", "View"):
        from tacit import memory

        return getattr(memory, name)
    if name in ("Client", "RemoteView"):
        from tacit.surfaces import client

        return getattr(client, name)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")
