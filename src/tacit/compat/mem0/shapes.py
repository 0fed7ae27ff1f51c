"""What a memory, and what became of it, looks like to a script that was written for mem0."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from typing import Any

from tacit import Signals
from tacit.compat.mem0 import metadata
from tacit.compat.mem0.scope import Scope
from tacit.records.memory import HistoryEntry, HistoryEvent, Memory

Item = dict[str, Any]

# What is not here (a relation, a yes to a proposal) changes neither words nor metadata.
_EVENTS = {
    HistoryEvent.ADD: "ADD",
    HistoryEvent.RESTORE: "ADD",
    HistoryEvent.UPDATE: "UPDATE",
    HistoryEvent.DELETE: "DELETE",
    HistoryEvent.SUPERSEDE: "DELETE",
    HistoryEvent.TTL: "DELETE",
}
_MERGED_AWAY = "into"  # in what history says of a merge: the memory that stays


def item(scope: Scope, memory: Memory) -> Item:
    """As `get_all` lists it."""
    kept, beside = metadata.told(memory)
    created = beside.pop(metadata.MADE, None) or memory.created_at.isoformat()
    return {
        "id": scope.id_of(memory.id),
        "memory": memory.content,
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": kept,
        "created_at": created,
        "updated_at": memory.updated_at.isoformat(),
        **scope.ids_of(memory),
        **beside,
    }


def alone(scope: Scope, memory: Memory) -> Item:
    """As `get` gives it: nothing was asked, so there is no score."""
    return {**item(scope, memory), "score": None}


def scored(
    scope: Scope, memory: Memory, score: float, signals: Signals, *, threshold: float | None
) -> Item:
    """As `search` finds it. With a threshold it says what raised it: mem0's names, our figures."""
    whole = min(score, 1.0)
    found = {**item(scope, memory), "score": whole}
    if threshold is not None:
        found["score_details"] = {
            "semantic_score": signals.meaning,
            "bm25_score": signals.words,
            "entity_boost": signals.person,
            "raw_score": score,
            "max_possible_score": 1.0,
            "final_score": whole,
            "threshold": threshold,
        }
    return found


def payload(scope: Scope, memory: Memory) -> Item:
    """What filters look at: metadata and everything beside it, by their names."""
    shown = item(scope, memory)
    return {**(shown["metadata"] or {}), **shown, "data": memory.content}


def history(memory_id: str, memory: Memory, entries: Sequence[HistoryEntry]) -> list[Item]:
    """Oldest first."""
    _, beside = metadata.told(memory)
    made: list[Item] = []
    before: str | None = None
    for number, entry in enumerate(entries):
        event = _EVENTS.get(entry.event)
        if entry.event is HistoryEvent.MERGE and _MERGED_AWAY in entry.detail:
            event = "DELETE"
        if event is None:
            continue
        gone = event == "DELETE"
        made.append(
            {
                "id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{memory_id}#{number}")),
                "memory_id": memory_id,
                "old_memory": None if event == "ADD" else before,
                "new_memory": None if gone else entry.content,
                "event": event,
                "created_at": beside.get(metadata.MADE) or memory.created_at.isoformat(),
                "updated_at": entry.at.isoformat(),
                "is_deleted": gone,
                "actor_id": beside.get(metadata.ACTOR),
                "role": beside.get("role"),
            }
        )
        before = entry.content
    return made
