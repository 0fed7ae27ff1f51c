"""What happened to memories: one by one, and how often on each day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from tacit.model.words import Event

# By these a day is counted; each event of a history has its own.
COUNTED_AS: Mapping[Event, str] = {
    Event.ADD: "learned",
    Event.UPDATE: "updated",
    Event.DELETE: "forgotten",
    Event.MERGE: "merged",
    Event.LINK: "related",
    Event.TTL: "expired",
    Event.RESTORE: "restored",
    Event.SUPERSEDE: "replaced",
    Event.ERASE: "erased",
    Event.CONSENT: "agreed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """One thing that happened to one memory. What is erased takes its history along."""

    at: datetime
    event: Event
    memory_id: str
    category: str
    content: str | None  # as it was worded then; None where that wording is gone
    actor: str  # who did it
    reason: str | None  # why, or what about it changed, where that is known
    owner: str | None = None  # whose it is: told to operators


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCounts:
    """How often what happened on one day, in UTC. What did not happen is not counted."""

    day: date
    counts: Mapping[str, int] = field(default_factory=dict)  # by the words of COUNTED_AS
