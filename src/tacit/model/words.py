"""The closed vocabularies of the record, each as the text that is stored and shown."""

from __future__ import annotations

from enum import StrEnum


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


class Format(StrEnum):
    """How an export is written."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"


class Event(StrEnum):
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
