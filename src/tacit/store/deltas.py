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
from tacit.store.tables import change_log, memories

_C, _M = change_log.c, memories.c
_HEARD = COLUMNS.index(_M.heard)
_PAGE_COUNT = 500
_PAGES_MAX_COUNT = 20
_CHANGES = (
    select(_C.rev, _C.event, _C.at, *COLUMNS)
    .join(memories, (_M.space_id == _C.space_id) & (_M.id == _C.memory_id))
    .where(
        _C.space_id == bindparam("space"),
        _C.thread == bindparam("thread"),
        _C.rev > bindparam("since"),
        _C.rev < bindparam("before"),
    )
    .order_by(_C.rev.desc())
    .limit(_PAGE_COUNT)
)


def delta(
    connection: Connection, audiences: Audiences, request: Request, thread: str, since: int
) -> Delta:
    """The last word on each memory that changed, newest first. The revision is that of the newest
    change that is told: what is hidden does not move it."""
    changes: list[Change] = []
    judged: set[str] = set()
    before = 2**62
    for _ in range(_PAGES_MAX_COUNT):
        params = {"space": request.space, "thread": thread, "since": since, "before": before}
        rows = connection.execute(_CHANGES, params).all()
        heard = audiences.people(connection, request.space, {row[3 + _HEARD] for row in rows})
        for rev, event, at, *row in rows:
            before = rev
            memory = to_memory(row, heard[row[_HEARD]])
            if memory.id in judged:
                continue
            judged.add(memory.id)
            told = _told(request, memory, event)
            if told is not None:
                content, category = told
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
        if len(rows) < _PAGE_COUNT or len(changes) >= limits.DELTA_MAX_COUNT:
            break
    newest = changes[0].revision if changes else since
    return Delta(revision=newest, changes=tuple(changes[: limits.DELTA_MAX_COUNT]))


def _told(request: Request, memory: Memory, event: str) -> tuple[str | None, str | None] | None:
    """Content and category, as far as they may be said; None where even the change may not."""
    if not memory.shadowed and decide(request, memory).allowed:
        return memory.content, memory.category
    gone = event in ("deleted", "superseded") and memory.state is not State.ACTIVE
    before = replace(memory, state=State.ACTIVE, expires_at=None)
    if gone and not memory.shadowed and decide(request, before).allowed:
        return None, None
    return None
