"""What happened, in closed vocabularies: for counts over time, never for content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class Node(StrEnum):
    """Where in the flow of a conversation it happened."""

    HOTPATH = "hotpath"  # what people and their agents do, and what is learned from them
    CONTEXT = "context"  # bringing to mind what a prompt is made of
    EPISODIC = "episodic"  # what was said, word for word
    WORKER = "worker"  # upkeep, by nobody's wish


class Op(StrEnum):
    CLASSIFY = "classify"
    SEARCH = "search"
    CREATE = "create"
    UPDATE = "update"
    MERGE = "merge"
    LINK = "link"
    TTL = "ttl"
    DELETE = "delete"
    RESTORE = "restore"
    ERASE = "erase"


class Status(StrEnum):
    OK = "ok"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCounts:
    """How often one thing happened on one day, in UTC."""

    day: date
    node: Node
    op: Op
    status: Status
    count: int
