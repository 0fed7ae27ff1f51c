"""When the block of a conversation was put together, for each thread and audience.

What is newer waits in the delta. A changed audience is another audience, so its block is new.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, select, text

from tacit import limits
from tacit.clock import to_micros
from tacit.records.request import Request
from tacit.store import writes
from tacit.store.tables import blocks, change_log
from tacit.store.writes import Writing

_B = blocks.c
_C = change_log.c
_TAKEN = select(_B.taken_at, _B.used_at).where(
    _B.space_id == bindparam("space"),
    _B.thread == bindparam("thread"),
    _B.audience == bindparam("audience"),
)
_TAKE = text(
    "INSERT INTO blocks (space_id, thread, audience, taken_at, used_at) "
    "VALUES (:space, :thread, :audience, :taken, :at) "
    "ON CONFLICT (space_id, thread, audience) DO UPDATE SET "
    "taken_at = excluded.taken_at, used_at = excluded.used_at"
)
_NOTED_AGAIN = 4  # that it is in use is written down four times within the gap
_NEW = (
    select(_C.memory_id)
    .where(
        _C.space_id == bindparam("space"),
        _C.thread == bindparam("thread"),
        _C.rev > bindparam("since"),
        _C.event == "created",
    )
    .order_by(_C.rev)
    .limit(limits.BLOCK_CHANGES_MAX_COUNT)
)


def audience_of(request: Request) -> str:
    parts = [
        request.requester or "",
        request.chat or "",
        request.kind.value,
        str(request.complete),
        *sorted(request.audience),
        *sorted(request.own_identities),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def taken_at(connection: Connection, request: Request, thread: str) -> int | None:
    row = connection.execute(_TAKEN, _named(request, thread)).first()
    return None if row is None else row.taken_at


def current(
    connection: Connection, request: Request, thread: str, gap: timedelta
) -> tuple[int | None, str]:
    """The moment that holds now, and for whom; None where a new conversation begins, or where it
    has to be written down that this one goes on."""
    named = _named(request, thread)
    row = connection.execute(_TAKEN, named).first()
    noted = to_micros(request.at) - _micros(gap) // _NOTED_AGAIN
    return None if row is None or row.used_at < noted else row.taken_at, named["audience"]


def take(w: Writing, audience: str, gap: timedelta) -> int:
    """The next revision of the thread: whatever is being written right now comes after it, also if
    it was begun before. Of two who begin a conversation at once, the first one's holds for both."""
    next_one = writes.next_revision(w, w.thread)
    named = {"space": w.space, "thread": w.thread, "audience": audience}
    at = to_micros(w.at)
    row = w.connection.execute(_TAKEN, named).first()
    # The last use may have been noted up to a quarter of the gap before it was.
    goes_on = row is not None and row.used_at >= at - _micros(gap) - _micros(gap) // _NOTED_AGAIN
    taken = int(row.taken_at) if row is not None and goes_on else next_one
    w.connection.execute(_TAKE, named | {"at": at, "taken": taken})
    return taken


def news(connection: Connection, request: Request, thread: str, since: int) -> set[str]:
    """What came to this thread after its block was taken; that it did is for nobody to hear."""
    params = {"space": request.space, "thread": thread, "since": since}
    return set(connection.execute(_NEW, params).scalars())


def _named(request: Request, thread: str) -> dict[str, Any]:
    return {"space": request.space, "thread": thread, "audience": audience_of(request)}


def _micros(gap: timedelta) -> int:
    return gap // timedelta(microseconds=1)
