"""Deltas: what changed in a thread, told only as far as the requester may hear it."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection, bindparam, select

from tacit import limits
from tacit.clock import from_micros
from tacit.disclosure.decide import decide
from tacit.model.memory import Memory
from tacit.model.request import Request
from tacit.model.results import Change, Delta
from tacit.model.words import State
from tacit.store.audiences import Audiences
from tacit.store.rows import COLUMNS, to_memory
from tacit.store.tables import change_log, memories, thread_revisions

_C, _M, _T = change_log.c, memories.c, thread_revisions.c
_HEARD = COLUMNS.index(_M.heard)
_REVISION = select(_T.rev).where(
    _T.space_id == bindparam("space"), _T.thread == bindparam("thread")
)
_CHANGES = (
    select(_C.rev, _C.event, _C.at, *COLUMNS)
    .join(memories, (_M.space_id == _C.space_id) & (_M.id == _C.memory_id))
    .where(
        _C.space_id == bindparam("space"),
        _C.thread == bindparam("thread"),
        _C.rev > bindparam("since"),
    )
    .order_by(_C.rev.desc())
    .limit(limits.DELTA_MAX_COUNT)
)


def revision(connection: Connection, space: str, thread: str) -> int:
    found = connection.execute(_REVISION, {"space": space, "thread": thread}).scalar()
    return int(found or 0)


def delta(
    connection: Connection, audiences: Audiences, request: Request, thread: str, since: int
) -> Delta:
    """The last word on each memory that changed, newest first."""
    params = {"space": request.space, "thread": thread, "since": since}
    now = revision(connection, request.space, thread)
    rows = connection.execute(_CHANGES, params).all()
    heard = audiences.people(connection, request.space, {row[3 + _HEARD] for row in rows})
    changes: list[Change] = []
    told: set[str] = set()
    for rev, event, at, *row in rows:
        memory = to_memory(row, heard[row[_HEARD]])
        if memory.id in told:
            continue
        told.add(memory.id)
        change = _told(request, memory, event)
        if change is not None:
            content, category = change
            changes.append(
                Change(
                    revision=rev,
                    event=event,
                    memory_id=memory.id,
                    category=category,
                    content=content,
                    at=from_micros(at),
                )
            )
    return Delta(revision=now, changes=tuple(changes))


def _told(request: Request, memory: Memory, event: str) -> tuple[str | None, str | None] | None:
    """Content and category, as far as they may be said; None where even the change may not."""
    if not memory.shadowed and decide(request, memory).allowed:
        return memory.content, memory.category
    gone = event in ("deleted", "superseded") and memory.state is not State.ACTIVE
    before = replace(memory, state=State.ACTIVE, expires_at=None)
    if gone and not memory.shadowed and decide(request, before).allowed:
        return None, None
    return None
