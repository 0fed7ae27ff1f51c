"""Edges between memories: found by likeness, stated by somebody, or learned from a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, select

from tacit import limits
from tacit.clock import to_micros
from tacit.model.words import State
from tacit.store import partitions
from tacit.store.tables import derived_from, memories, relations
from tacit.store.writes import Writing

RELATED_TO = "related_to"
_R, _M = relations.c, memories.c
# Two statements, because with an OR neither index is used.
_UNFOUND = [
    delete(relations).where(
        _R.space_id == bindparam("space"), side == bindparam("id"), _R.found.is_(True)
    )
    for side in (_R.from_id, _R.to_id)
]
_STANDING = select(_M.id).where(
    _M.space_id == bindparam("space"),
    _M.id.in_(bindparam("ids", expanding=True)),
    _M.state == State.ACTIVE.value,
    _M.is_turn.is_(False),
)


def find(w: Writing, id: str, likeness: Mapping[str, float], *, new: bool) -> int:
    """What a memory is like, in place of what it was like before. An edge by likeness has no
    direction: it runs from the smaller id, so that there is never a second one."""
    if not new:
        for statement in _UNFOUND:
            w.connection.execute(statement, {"space": w.space, "id": id})
    if not likeness:
        return 0
    params = {"space": w.space, "ids": sorted(likeness)}
    standing = w.connection.execute(_STANDING, params).scalars().all()
    best = sorted((one for one in standing if one != id), key=lambda one: (-likeness[one], one))
    most = limits.RELATIONS_PER_MEMORY_MAX_COUNT
    pairs = [(min(id, other), max(id, other), likeness[other]) for other in best[:most]]
    rows = [_row(w, *pair, RELATED_TO, found=True) for pair in pairs]
    w.dialect.insert_missing(w.connection, relations, rows)
    return len(rows)


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
