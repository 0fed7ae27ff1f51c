"""Deltas: what changed in a thread, told only as far as the requester may hear it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, exists, or_, select

from tacit import limits
from tacit.clock import from_micros
from tacit.errors import DisclosureBreach
from tacit.policy.predicate import RequestShape, predicate_parameters, shape_of_request, sql_literal
from tacit.policy.redaction import may_enter_prompt
from tacit.policy.rules import decide
from tacit.records.memory import Memory, State
from tacit.records.request import Request
from tacit.records.results import Change, Delta
from tacit.store.audiences import Audiences
from tacit.store.reads import any_branch, sees_all
from tacit.store.rows import COLUMNS, to_memory
from tacit.store.tables import change_log, memories, memory_versions

_C = change_log.c
_M = memories.c
_V = memory_versions.c
_HEARD = COLUMNS.index(_M.heard)
_PAGE_COUNT = 500
_PAGES_MAX_COUNT = 20
_UPDATED = "updated"
_REMOVALS = ("deleted", "soft_deleted", "expired", "superseded")


@lru_cache(maxsize=256)
def _changes(shape: RequestShape, newest: bool) -> Select[Any]:
    """Changes of what may be heard; and that something is gone, where it could be heard before."""
    removal = _C.event.in_([sql_literal(event) for event in _REMOVALS])
    told = or_(any_branch(shape), and_(removal, any_branch(replace(shape, inactive=True))))
    seen = or_(_C.event != sql_literal(_UPDATED), _worded(), sees_all(shape))
    return (
        select(_C.rev, _C.event, _C.at, *COLUMNS)
        .join(memories, (_M.space_id == _C.space_id) & (_M.id == _C.memory_id))
        .where(
            _C.space_id == bindparam("p_space"),
            _C.thread == bindparam("thread"),
            _C.rev > bindparam("since"),
            _C.rev < bindparam("before"),
            told,
            seen,
        )
        .order_by(_C.rev.desc() if newest else _C.rev)
        .limit(_PAGE_COUNT)
    )


def _worded() -> ColumnElement[bool]:
    """Whether the words changed then. That the owner changed other fields is the owner's."""
    return exists().where(
        _V.space_id == _C.space_id, _V.memory_id == _C.memory_id, _V.created_at == _C.at
    )


def delta(
    connection: Connection,
    audiences: Audiences,
    request: Request,
    thread: str,
    since: int,
    categories: frozenset[str] | None = None,
    *,
    newest: bool = False,
) -> Delta:
    """The last word on each memory that changed, newest first. The revision is that of the newest
    change that is told: what is hidden does not move it. Where there are more than can be told, the
    oldest are, so that whoever goes on from that revision misses none; or the newest, if asked."""
    shape = shape_of_request(request)
    if shape is None:
        return Delta(revision=since)
    told: dict[str, Change] = {}
    after, before = since, 2**62
    for _ in range(_PAGES_MAX_COUNT):
        named = {"thread": thread, "since": after, "before": before}
        rows = connection.execute(
            _changes(shape, newest), predicate_parameters(request) | named
        ).all()
        heard = audiences.get_people(connection, request.space, {row[3 + _HEARD] for row in rows})
        for rev, event, at, *row in rows:
            memory = to_memory(row, heard[row[_HEARD]])
            if len(told) >= limits.DELTA_MAX_COUNT and memory.id not in told:
                break
            after, before = (after, rev) if newest else (rev, before)
            if categories is not None and memory.category not in categories:
                continue
            if not may_enter_prompt(request, memory):
                continue
            if not newest or memory.id not in told:
                told[memory.id] = _change(request, memory, rev, event, at)
        if len(rows) < _PAGE_COUNT or len(told) >= limits.DELTA_MAX_COUNT:
            break
    changes = sorted(told.values(), key=lambda change: -change.revision)
    return Delta(revision=changes[0].revision if changes else since, changes=tuple(changes))


def _change(request: Request, memory: Memory, rev: int, event: str, at: int) -> Change:
    said = _may_be_said(request, memory)
    return Change(
        revision=rev,
        event=event,
        memory_id=memory.id,
        category=memory.category if said else None,
        content=memory.content if said else None,
        at=from_micros(at),
        key=memory.key if said else None,
    )


def _may_be_said(request: Request, memory: Memory) -> bool:
    """Its content, or only that it is gone? The query let it through; the rules are asserted."""
    if not memory.shadowed and decide(request, memory).allowed:
        return True
    before = replace(memory, state=State.ACTIVE, expires_at=None)
    decision = decide(request, before)
    if memory.state is State.ACTIVE or memory.shadowed or not decision.allowed:
        raise DisclosureBreach(f"a change came back that rule {decision.rule} forbids")
    return False
