"""The records as JSON: the fields that `--json` promises, listed in docs/cli.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, is_dataclass
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING, Any

from tacit.records.accounts import Person
from tacit.records.memory import HistoryEntry, Memory
from tacit.records.results import (
    Block,
    Bullet,
    Change,
    EmbeddingStatus,
    Fresh,
    LearningQueueStatus,
    Proposal,
    Quarantined,
    Recalled,
    Remembered,
)

if TYPE_CHECKING:
    from tacit.memory import Link

MEMORY_FIELDS = (
    "id", "content", "kind", "category", "key", "version", "visibility", "sensitivity", "trust",
    "importance", "confidence", "pinned", "tags", "state", "owner", "speaker", "subjects",
    "created_at", "updated_at", "observed_at", "expires_at", "data",
)  # fmt: skip
# Where it came from and where it may not go: for its owner alone.
OWNER_FIELDS = (
    "learned_in", "learned_kind", "heard_by", "confidential", "portable", "withheld_from", "slot",
    "inferred", "source", "thread", "agent", "run", "role", "last_accessed_at", "access_count",
    "purge_at", "superseded_by",
)  # fmt: skip


def memory(record: Memory) -> dict[str, Any]:
    return {name: plain(getattr(record, name)) for name in MEMORY_FIELDS}


def owners(record: Memory) -> dict[str, Any]:
    found = {name: plain(getattr(record, name)) for name in OWNER_FIELDS if name != "source"}
    return found | {"source": asdict(record.source)}


def recalled(one: Recalled) -> dict[str, Any]:
    return {
        "memory": memory(one.memory),
        "score": one.score,
        "why": one.why,
        "rule": one.rule,
        "similarity": one.similarity,
        "signals": asdict(one.signals),
        "related": [memory(other) for other in one.related],
        "turn": turn(one.memory),
    }


def turn(record: Memory) -> dict[str, Any] | None:
    """Who spoke, of a turn of a conversation; a memory is none."""
    return {"role": record.role, "name": record.name} if record.is_turn else None


def bullet(one: Bullet) -> dict[str, Any]:
    return {
        "id": one.id,
        "category": one.category,
        "text": one.text,
        "related": one.related,
        "recalled": None if one.recalled is None else recalled(one.recalled),
    }


def block(one: Block) -> dict[str, Any]:
    return {
        "text": one.text,
        "revision": one.revision,
        "ids": list(one.ids),
        "cut": dict(one.cut),
        "tokens": one.tokens,
    }


def fresh(one: Fresh) -> dict[str, Any]:
    found = [recalled(each) for each in one.recalled]
    return {
        "text": one.text,
        "revision": one.revision,
        "recalled": found,
        "tokens": one.tokens,
    }


def embedding(one: EmbeddingStatus) -> dict[str, Any]:
    return asdict(one) | {"complete": one.complete}


def remembered(done: Remembered) -> dict[str, Any]:
    return {
        "id": done.id,
        "state": plain(done.state),
        "version": done.version,
        "created": done.created,
        "supersedes": done.supersedes,
    }


def change(one: Change) -> dict[str, Any]:
    return {name: plain(value) for name, value in asdict(one).items()}


def proposal(one: Proposal) -> dict[str, Any]:
    return {name: plain(value) for name, value in asdict(one).items()}


def quarantined(one: Quarantined) -> dict[str, Any]:
    return {name: plain(value) for name, value in asdict(one).items()}


def waiting(one: LearningQueueStatus) -> dict[str, Any]:
    return {name: plain(value) for name, value in asdict(one).items()}


def nested(record: Any) -> dict[str, Any]:
    """A record of records, each under the names of its own fields."""
    return {one.name: _deep(getattr(record, one.name)) for one in fields(record)}


def _deep(value: object) -> Any:
    if is_dataclass(value):
        return nested(value)
    return [_deep(one) for one in value] if isinstance(value, tuple) else plain(value)


def event(entry: HistoryEntry) -> dict[str, Any]:
    return {
        "event": entry.event.value,
        "at": plain(entry.at),
        "actor": entry.actor,
        "version": entry.version,
        "content": entry.content,
        "detail": entry.detail,
    }


def person(one: Person) -> dict[str, Any]:
    names = [{"kind": name.kind.value, "text": name.text} for name in one.names]
    return {"id": one.id, "names": names, "identities": sorted(one.identities)}


def link(one: Link) -> dict[str, Any]:
    return {
        "id": one.id,
        "source": one.source,
        "target": one.target,
        "kind": one.kind.value,
        "actor": one.actor,
        "created_at": plain(one.created_at),
        "verified_at": plain(one.verified_at),
        "ended_at": plain(one.ended_at),
    }


def plain(value: object) -> Any:
    if isinstance(value, date):  # or a moment
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(value)
    if (
        isinstance(value, Iterable)
        and not isinstance(value, Mapping)
        and not isinstance(value, str)
    ):
        return list(value)
    return value
