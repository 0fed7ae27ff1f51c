"""The memory record, its versions and history, and the enums of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

# The closed vocabularies of the record, each as the text that is stored and shown.


class Kind(StrEnum):
    """What a memory is, which sets how it ages."""

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
    """How far a memory may travel, from least to most."""

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
    """How an export is written."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"


class HistoryEvent(StrEnum):
    """What history says happened to a memory."""

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


# Where a memory is filed. Operators may add their own in the settings.
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
    "item",  # of a program's own, such as a graph's store
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


# The record: one fact, with where it came from and how far it may go.


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the words stood."""

    channel: str | None = None
    chat: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """People are identities as stored: `ext:…`, `acct:…` or `person:…`."""

    id: str  # 8 characters, for life
    space: str
    owner: str | None  # whose it is; None for a room's own fact
    speaker: str | None  # who said it; None for forwarded, quoted or tool text
    subjects: frozenset[str]  # whom it is about; empty means the speaker, else the owner
    learned_in: str | None  # the chat it was learned in
    learned_kind: ChatKind | None  # private or group; None means no provenance
    heard_by: frozenset[str]  # who was there then, by positive evidence
    confidential: bool  # the chat's own flag: nothing leaves it
    kind: Kind
    category: str
    key: str | None  # an optional slot inside (owner, category): one value
    slot: str | None  # (person, attribute) found while learning
    content: str
    version: int  # counts the versions that the reader may hear, from 1
    visibility: Visibility
    sensitivity: Sensitivity
    portable: bool  # may leave the chat it was learned in
    withheld_from: frozenset[str]
    withheld_unknown: bool  # somebody in withheld_from has no known identity
    inferred: bool  # concluded by the system, not said by anybody
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
    updated_at: datetime  # moves only when content or a visible field changes
    observed_at: datetime | None
    expires_at: datetime | None
    last_accessed_at: datetime | None
    access_count: int
    state: State
    purge_at: datetime | None
    superseded_by: str | None
    shadowed: bool  # another value of the same key wins in this person's union read
    # A turn of a conversation, as it was said: where it stood, and what its speaker went by there.
    session: str | None = None
    seq: int | None = None
    name: str | None = None  # also what a speaker goes by who is not the one that reads it
    # A JSON object that goes with the current wording; the reader's own copy.
    data: Mapping[str, Any] | None = field(default=None, hash=False)

    @property
    def is_turn(self) -> bool:
        return self.session is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One wording of a memory, with who said it and who heard it."""

    number: int
    content: str
    speaker: str | None
    subjects: frozenset[str]
    heard_by: frozenset[str]
    actor: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One act on a memory. The wording, where it has one, is that of its version."""

    event: HistoryEvent
    at: datetime
    actor: str
    version: int
    content: str | None
    detail: dict[str, str]
