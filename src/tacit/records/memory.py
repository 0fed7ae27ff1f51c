"""The memory record, its versions and history, and the enums of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """The kind of a memory, which decides how long it is kept."""

    PREFERENCE = "preference"
    IDENTITY = "identity"
    RELATIONSHIP = "relationship"
    KNOWLEDGE = "knowledge"
    CONTEXT = "context"
    EVENT = "event"
    TASK = "task"
    OBSERVATION = "observation"
    INSIGHT = "insight"
    PROCEDURE = "procedure"

    @property
    def lasting(self) -> bool:
        return self in _LASTING


_LASTING = frozenset({Kind.PREFERENCE, Kind.IDENTITY, Kind.RELATIONSHIP, Kind.KNOWLEDGE})


class Visibility(StrEnum):
    """How widely a memory may be shown, from least to most."""

    PRIVATE_ONLY = "private_only"
    ROOM = "room"
    PUBLIC_OK = "public_ok"

    @property
    def rank(self) -> int:
        return _VISIBILITY_RANK[self]


_VISIBILITY_RANK = {Visibility.PRIVATE_ONLY: 0, Visibility.ROOM: 1, Visibility.PUBLIC_OK: 2}


class Sensitivity(StrEnum):
    PUBLIC = "public"
    PERSONAL = "personal"
    SENSITIVE = "sensitive"

    @property
    def rank(self) -> int:
        return _SENSITIVITY_RANK[self]


_SENSITIVITY_RANK = {Sensitivity.PUBLIC: 0, Sensitivity.PERSONAL: 1, Sensitivity.SENSITIVE: 2}


class State(StrEnum):
    ACTIVE = "active"
    PENDING = "pending"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    EXPIRED = "expired"
    QUARANTINED = "quarantined"


class Trust(StrEnum):
    STATED = "stated"
    HEARSAY = "hearsay"
    INFERRED = "inferred"
    IMPORTED = "imported"
    UNTRUSTED = "untrusted"


class ChatKind(StrEnum):
    PRIVATE = "private"
    GROUP = "group"
    UNKNOWN = "unknown"


class Purpose(StrEnum):
    RECALL = "recall"
    MANAGE = "manage"


class ExportFormat(StrEnum):
    JSONL = "jsonl"
    MARKDOWN = "markdown"


class HistoryEvent(StrEnum):
    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MERGE = "MERGE"
    LINK = "LINK"
    TTL = "TTL"
    RESTORE = "RESTORE"
    SUPERSEDE = "SUPERSEDE"
    ERASE = "ERASE"
    CONSENT = "CONSENT"


# Operators may add categories in the settings.
CATEGORIES = (
    "profile",
    "preference",
    "fact",
    "project",
    "task_state",
    "person",
    "context",
    "goal",
    "relationship",
    "event",
    "procedure",
    "relationship_dynamic",
    "item",  # of a program, such as a LangGraph store
)

CATEGORY_OF_KIND = {
    Kind.PREFERENCE: "preference",
    Kind.IDENTITY: "profile",
    Kind.RELATIONSHIP: "relationship",
    Kind.KNOWLEDGE: "fact",
    Kind.CONTEXT: "context",
    Kind.EVENT: "event",
    Kind.TASK: "task_state",
    Kind.OBSERVATION: "context",
    Kind.INSIGHT: "relationship_dynamic",
    Kind.PROCEDURE: "procedure",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The message that a memory comes from."""

    channel: str | None = None
    chat: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One stored fact. People are stored identities: `ext:…`, `acct:…` or `person:…`."""

    id: str  # 8 characters, never changes
    space: str
    owner: str | None  # None: the fact belongs to the chat
    speaker: str | None  # None: forwarded, quoted or tool text
    subjects: frozenset[str]  # people it is about; empty: the speaker, else the owner
    learned_in: str | None  # the chat it was learned in
    learned_kind: ChatKind | None  # private or group; None: no provenance
    heard_by: frozenset[str]  # people known to have been present then
    confidential: bool  # the chat is confidential: the memory never leaves it
    kind: Kind
    category: str
    key: str | None  # unique within (owner, category)
    slot: str | None  # (person, attribute), found by learning
    content: str
    version: int  # counts the versions that the requester may see, from 1
    visibility: Visibility
    sensitivity: Sensitivity
    portable: bool  # may leave the chat it was learned in
    withheld_from: frozenset[str]
    withheld_unknown: bool  # a person in withheld_from has no known identity
    inferred: bool  # concluded by the system, not stated by a person
    trust: Trust
    importance: int  # 1–5
    confidence: float | None  # 0–1
    pinned: bool
    tags: tuple[str, ...]
    source: Source
    thread: str | None
    agent: str | None
    run: str | None
    role: str | None
    created_at: datetime
    updated_at: datetime  # changes only with the content or a visible field
    observed_at: datetime | None
    expires_at: datetime | None
    last_accessed_at: datetime | None
    access_count: int
    state: State
    purge_at: datetime | None
    superseded_by: str | None
    overridden: bool  # another value of the same key takes precedence for this person
    session: str | None = None  # of an episode: its session
    seq: int | None = None  # of an episode: its position in the session
    name: str | None = None  # display name of a speaker who is not the requester
    data: Mapping[str, Any] | None = field(default=None, hash=False)  # a copy for the caller

    @property
    def is_turn(self) -> bool:
        return self.session is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One wording of a memory, with its speaker and audience."""

    number: int
    content: str
    speaker: str | None
    subjects: frozenset[str]
    heard_by: frozenset[str]
    actor: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One event in the history of a memory. `content` is the wording of its version."""

    event: HistoryEvent
    at: datetime
    actor: str
    version: int
    content: str | None
    detail: dict[str, str]
