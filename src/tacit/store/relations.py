"""Edges between memories: found by likeness, stated by somebody, or learned from a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import TextClause, bindparam, delete, select, text

from tacit import limits
from tacit.clock import to_micros
from tacit.store import partitions, rendered
from tacit.store.candidates import Edge
from tacit.store.steps import RELATED_TO
from tacit.store.tables import derived_from, memories, relations
from tacit.store.writes import Writing

_R = relations.c
_M = memories.c
# Two statements, because with an OR neither index is used.
_UNFOUND = [
    delete(relations).where(
        _R.space_id == bindparam("space"), side == bindparam("id"), _R.found.is_(True)
    )
    for side in (_R.from_id, _R.to_id)
]


@lru_cache(maxsize=limits.RELATIONS_PER_MEMORY_MAX_COUNT)
def _finding(count: int) -> TextClause:
    """Edges to those of so many that stand and are no turns."""
    rows = ", ".join(f"(:other{n}, :from{n}, :to{n}, :strength{n})" for n in range(count))
    # Named twice, so that they are looked up whatever the planner knows of the tables.
    others = ", ".join(f":other{n}" for n in range(count))
    return text(
        "INSERT INTO relations "  # noqa: S608
        "(space_id, from_id, to_id, relation_type, strength, found, created_at) "
        f"SELECT m.space_id, v.column2, v.column3, '{RELATED_TO}', v.column4, :found, :at "
        f"FROM (VALUES {rows}) AS v JOIN memories AS m ON m.space_id = :space AND m.id = v.column1 "
        f"WHERE m.id IN ({others}) AND m.state = 'active' AND NOT m.is_turn "
        "ON CONFLICT DO NOTHING RETURNING from_id, to_id, strength, found"
    )


def find(w: Writing, id: str, likeness: Mapping[str, float], *, new: bool) -> list[Edge]:
    """What a memory is like, in place of what it was like before. An edge by likeness has no
    direction: it runs from the smaller id, so that there is never a second one."""
    if not new:
        for statement in _UNFOUND:
            w.connection.execute(statement, {"space": w.space, "id": id})
    others = sorted(likeness.keys() - {id}, key=lambda one: (-likeness[one], one))
    others = others[: limits.RELATIONS_PER_MEMORY_MAX_COUNT]
    if not others:
        return []
    params: dict[str, Any] = {"space": w.space, "found": True, "at": to_micros(w.at)}
    for n, other in enumerate(others):
        params[f"other{n}"] = other
        params[f"from{n}"], params[f"to{n}"] = min(id, other), max(id, other)
        params[f"strength{n}"] = round(likeness[other], 4)
    return [Edge(*row) for row in rendered.rows(w.connection, _finding(len(others)), params)]


def state(w: Writing, from_id: str, to_id: str, relation_type: str, strength: float) -> None:
    """Somebody says that two memories belong together. That they are related goes both ways, so it
    is kept once; any other relation runs from one to the other."""
    if relation_type == RELATED_TO:
        from_id, to_id = min(from_id, to_id), max(from_id, to_id)
    w.connection.execute(
        delete(relations).where(
            _R.space_id == w.space,
            _R.from_id == from_id,
            _R.to_id == to_id,
            _R.relation_type == relation_type,
        )
    )
    row = _row(w, from_id, to_id, relation_type=relation_type, strength=strength, found=False)
    w.dialect.insert_missing(w.connection, relations, [row])
    partitions.restamp(w.connection, w.space, [from_id, to_id])


def _row(
    w: Writing, from_id: str, to_id: str, strength: float, relation_type: str, *, found: bool
) -> dict[str, Any]:
    return {
        "space_id": w.space,
        "from_id": from_id,
        "to_id": to_id,
        "relation_type": relation_type,
        "strength": round(strength, 4),
        "found": found,
        "created_at": to_micros(w.at),
    }


def derive(w: Writing, id: str, turns: Sequence[str]) -> None:
    """Which turns a memory was learned from; those of the writer's own that there are."""
    named = select(_M.id).where(
        _M.space_id == w.space,
        _M.id.in_(sorted(turns)),
        _M.is_turn.is_(True),
        _M.owner == w.request.subject,
    )
    rows = [
        {"space_id": w.space, "memory_id": id, "turn_id": turn}
        for turn in w.connection.execute(named).scalars()
    ]
    w.dialect.insert_missing(w.connection, derived_from, rows)
