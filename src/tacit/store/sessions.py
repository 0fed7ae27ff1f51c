"""Conversations as they were kept: which of somebody's ended, and what was said in them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.records.memory import ChatKind, Kind, Memory, State
from tacit.store.audiences import Audiences
from tacit.store.rows import COLUMNS, to_memory
from tacit.store.tables import memories

_M = memories.c
_HEARD = COLUMNS.index(_M.heard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Of one person, in one private chat."""

    owner: str
    name: str
    chat: str
    last_at: datetime  # when the last turn of it was kept
    nth: int  # among those that ended at that very moment


def next_ended(
    connection: Connection,
    space: str,
    owner: str,
    done: tuple[datetime, int] | None,
    still: datetime,
    now: datetime,
) -> Session | None:
    """The first that ended after those that are `done` (when the last of them ended, and how many
    did at that very moment), and in which nobody has spoken after `still`."""
    since, count = done or (None, 0)
    last = func.max(_M.created_at)
    ended = (
        select(_M.session, _M.learned_in, last.label("last_at"))
        .where(
            _M.space_id == space,
            _M.owner == owner,
            _M.is_turn.is_(True),
            _M.state == State.ACTIVE.value,
            _M.learned_kind == ChatKind.PRIVATE.value,
            _M.learned_in.is_not(None),
            _M.expires_at > to_micros(now),
        )
        .group_by(_M.session, _M.learned_in)
        .having(last <= to_micros(still))
        .having(last >= (to_micros(since) if since else -(2**62)))
        .order_by(last, _M.session, _M.learned_in)
        .limit(count + 1)
    )
    rows = connection.execute(ended).all()
    at_once = [row for row in rows if from_micros(row.last_at) == since]
    left = [*at_once[count:], *rows[len(at_once) :]]
    if not left:
        return None
    row, nth = left[0], count + 1 if len(at_once) > count else 1
    at = from_micros(row.last_at)
    return Session(owner=owner, name=row.session, chat=row.learned_in, last_at=at, nth=nth)


def turns(
    connection: Connection, audiences: Audiences, space: str, session: Session, now: datetime
) -> list[Memory]:
    """The last ones of it, oldest first."""
    found = (
        select(*COLUMNS)
        .where(
            _M.space_id == space,
            _M.owner == session.owner,
            _M.is_turn.is_(True),
            _M.state == State.ACTIVE.value,
            _M.session == session.name,
            _M.learned_in == session.chat,
            _M.learned_kind == ChatKind.PRIVATE.value,
            _M.expires_at > to_micros(now),
        )
        .order_by(_M.seq.desc(), _M.id)
        .limit(limits.SUMMARY_TURNS_MAX_COUNT)
    )
    rows = [tuple(row) for row in connection.execute(found)]
    heard = audiences.get_people(connection, space, {row[_HEARD] for row in rows})
    return [to_memory(row, heard[row[_HEARD]]) for row in reversed(rows)]


def summary_of(connection: Connection, space: str, session: Session) -> str | None:
    """The memory that sums it up, whatever became of it."""
    found = select(_M.id).where(
        _M.space_id == space,
        _M.owner == session.owner,
        _M.is_turn.is_(False),
        _M.learned_in == session.chat,
        _M.kind == Kind.EVENT.value,
        _M.inferred.is_(True),
        _M.run == session.name,
    )
    return connection.execute(found.limit(1)).scalar()
