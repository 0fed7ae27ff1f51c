"""The statements that a new memory, a new wording or an event consists of, to be run together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import TextClause, text

from tacit.clock import to_micros
from tacit.policy.predicate import ROLE_MENTIONED, ROLE_SUBJECT, ROLE_WITHHELD
from tacit.records.memory import ChatKind, HistoryEvent, Memory
from tacit.store.candidates import Edge
from tacit.store.rendered import Step, inserting
from tacit.store.rows import counted_subjects, packed
from tacit.store.tables import change_log, history, memory_people, memory_versions

RELATED_TO = "related_to"
_INSERT_VERSION = inserting(memory_versions)
_INSERT_PERSON = inserting(memory_people)
_INSERT_FIRST_EVENT = inserting(history)
_INSERT_EVENT = text(
    "INSERT INTO history (space_id, memory_id, seq, event, version, actor, detail, at, owner) "
    "SELECT :space_id, :memory_id, coalesce(max(seq), 0) + 1, "
    ":event, :version, :actor, :detail, :at, :owner "
    "FROM history WHERE space_id = :space_id AND memory_id = :memory_id"
)
# A revision only grows. It goes by the clock, so that its steps do not count what is hidden.
NEXT_REVISION = text(
    "INSERT INTO thread_revisions (space_id, thread, rev) VALUES (:space, :thread, :at) "
    "ON CONFLICT (space_id, thread) DO UPDATE SET rev = CASE WHEN thread_revisions.rev < "
    "excluded.rev THEN excluded.rev ELSE thread_revisions.rev + 1 END RETURNING rev"
)
_INSERT_CHANGE = inserting(change_log)
_EMBEDDED = text("DELETE FROM embedded WHERE space_id = :space AND model <> :model")


def version(memory: Memory, heard: str | None, actor: str, at: datetime) -> Step:
    return _INSERT_VERSION, {
        "space_id": memory.space,
        "memory_id": memory.id,
        "version": memory.version,
        "content": memory.content,
        "speaker": memory.speaker,
        "subjects": packed(memory.subjects),
        "heard": heard,
        "visibility": memory.visibility.value,
        "sensitivity": memory.sensitivity.value,
        "portable": memory.portable,
        "actor": actor,
        "created_at": to_micros(at),
    }


def people(memory: Memory) -> list[Step]:
    about = ROLE_SUBJECT if memory.learned_kind is ChatKind.GROUP else ROLE_MENTIONED
    named = [(about, person) for person in counted_subjects(memory)]
    named += [(ROLE_WITHHELD, person) for person in memory.withheld_from]
    return [
        (
            _INSERT_PERSON,
            {"space_id": memory.space, "memory_id": memory.id, "role": role, "person": person},
        )
        for role, person in sorted(named)
    ]


def incomplete(space: str, model: str) -> Step:
    """Models that made no vector of something new are no longer complete here."""
    return _EMBEDDED, {"space": space, "model": model}


def event(
    memory: Memory, what: HistoryEvent, actor: str, at: datetime, detail: dict[str, str] | None
) -> Step:
    """What happened to a memory, after what its history tells already."""
    return _INSERT_EVENT, _event(memory, what, actor, at, detail)


def first_event(
    memory: Memory, what: HistoryEvent, actor: str, at: datetime, detail: dict[str, str] | None
) -> Step:
    """With which the history of a new memory begins."""
    return _INSERT_FIRST_EVENT, {**_event(memory, what, actor, at, detail), "seq": 1}


def _event(
    memory: Memory, what: HistoryEvent, actor: str, at: datetime, detail: dict[str, str] | None
) -> dict[str, Any]:
    return {
        "space_id": memory.space,
        "memory_id": memory.id,
        "event": what.value,
        "version": memory.version,
        "actor": actor,
        "detail": json.dumps(detail, ensure_ascii=False, sort_keys=True) if detail else "{}",
        "at": to_micros(at),
        "owner": memory.owner,
    }


@lru_cache(maxsize=32)
def _inserting_edges(count: int) -> TextClause:
    rows = ", ".join(
        f"(:space, :from{n}, :to{n}, '{RELATED_TO}', :strength{n}, :found, :at)"
        for n in range(count)
    )
    return text(
        "INSERT INTO relations "  # noqa: S608
        f"(space_id, from_id, to_id, relation_type, strength, found, created_at) VALUES {rows}"
    )


def edges(space: str, found: Sequence[Edge], at: datetime) -> Step:
    """Of a new memory to others: there is none of them yet."""
    params: dict[str, Any] = {"space": space, "found": True, "at": to_micros(at)}
    for n, edge in enumerate(found):
        params[f"from{n}"], params[f"to{n}"] = edge.from_id, edge.to_id
        params[f"strength{n}"] = edge.strength
    return _inserting_edges(len(found)), params


def shown(memory: Memory, thread: str, rev: int, word: str, at: datetime) -> Step:
    """The delta of a thread tells of it under this revision."""
    return _INSERT_CHANGE, {
        "space_id": memory.space,
        "thread": thread,
        "rev": rev,
        "memory_id": memory.id,
        "event": word,
        "at": to_micros(at),
    }
