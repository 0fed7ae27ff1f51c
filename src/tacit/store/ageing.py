"""What ages: which memories are past their time, unused, too many or due to go for good, and the
one write that retires many of them at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    bindparam,
    func,
    literal_column,
    or_,
    select,
    text,
    update,
)

from tacit.clock import to_micros
from tacit.policy.predicate import sql_literal
from tacit.records.memory import HistoryEvent, State
from tacit.records.results import EventNode, EventOperation, EventStatus
from tacit.store import noted, partitions, rendered
from tacit.store.happening import Happened
from tacit.store.ids import digest
from tacit.store.tables import change_log, memories
from tacit.store.writes import Writing

_M = memories.c
_ACTIVE: ColumnElement[bool] = _M.state == sql_literal(State.ACTIVE)
_OF_SPACE: ColumnElement[bool] = _M.space_id == bindparam("space")
_INDEXED_BELOW_IMPORTANCE = 3  # as ix_memories_fading says
_WINDOW_MICROS = 100_000
_INSERT_CHANGE = rendered.inserting(change_log)
# A stretch of revisions, of which the last one is the thread's from then on. It reaches back from
# now where the thread was still, so that it has the same end however many changes lie in it.
_RESERVE = text(
    "INSERT INTO thread_revisions (space_id, thread, rev) VALUES (:space, :thread, :at) "
    "ON CONFLICT (space_id, thread) DO UPDATE SET rev = CASE WHEN thread_revisions.rev < "
    "excluded.rev - :window THEN excluded.rev ELSE thread_revisions.rev + :window END RETURNING rev"
)
_NOTE = text(
    "INSERT INTO history (space_id, memory_id, seq, event, version, actor, detail, at, owner) "
    "SELECT m.space_id, m.id, (SELECT coalesce(max(h.seq), 0) + 1 FROM history h "
    "WHERE h.space_id = m.space_id AND h.memory_id = m.id), "
    ":event, m.version, :actor, :detail, :at, m.owner "
    "FROM memories m WHERE m.space_id = :space AND m.id IN :ids"
).bindparams(bindparam("ids", expanding=True))
_RETIRE = (
    update(memories)
    .where(_M.space_id == bindparam("b_space"), _M.id == bindparam("b_id"))
    .values(
        state=bindparam("b_state"),
        purge_at=bindparam("b_purge_at"),
        updated_at=bindparam("b_at"),
        stamp=bindparam("b_stamp"),
    )
)
_RETIRED = select(_M.id, _M.owner, _M.learned_in, _M.thread, _M.category)
_OWNERS = (
    select(_M.owner, func.count().label("count"))
    .where(_OF_SPACE, _M.owner > bindparam("after"), _M.is_turn.is_(False), _ACTIVE)
    .group_by(_M.owner)
    .order_by(_M.owner)
    .limit(bindparam("most"))
)
_EVICTABLE = select(
    _M.id,
    _M.access_count,
    _M.last_accessed_at,
    _M.updated_at,
    _M.importance,
    _M.key.is_not(None).label("keyed"),
).where(
    _OF_SPACE,
    _M.owner == bindparam("owner"),
    _M.is_turn.is_(False),
    _ACTIVE,
    _M.pinned.is_(False),
    _M.updated_at <= bindparam("until"),
)
_DUE = (
    select(_M.id, _M.owner, _M.category, _M.key, _M.shadowed, _M.purge_at)
    .where(
        _OF_SPACE,
        _M.purge_at.is_not(None),
        _M.purge_at <= bindparam("now"),
        _M.state.in_([sql_literal(State.FORGOTTEN), sql_literal(State.EXPIRED)]),
    )
    .order_by(_M.purge_at, _M.id)
    .limit(bindparam("most"))
)


def lapsed(w: Writing, most: int, *, turns: bool) -> list[str]:
    """Active memories, or turns, whose time is up; locked."""
    statement = (
        select(_M.id)
        .where(
            _OF_SPACE,
            _M.is_turn.is_(turns),
            _ACTIVE,
            _M.expires_at.is_not(None),
            _M.expires_at <= bindparam("now"),
        )
        .order_by(_M.expires_at, _M.id)
        .limit(bindparam("most"))
    )
    return _locked(w, statement, {"now": to_micros(w.at), "most": most})


def unused(w: Writing, since: datetime, below: int, after: str, most: int) -> list[str]:
    """Active memories of little importance that were neither used nor changed since; locked. An
    index leads to them up to the default threshold; above, a space is walked through by ids."""
    before: ColumnElement[int] = bindparam("before")
    statement = select(_M.id).where(
        _OF_SPACE,
        _M.is_turn.is_(False),
        _ACTIVE,
        _M.pinned.is_(False),
        _M.importance < bindparam("below"),
        _M.updated_at < before,
        or_(_M.last_accessed_at.is_(None), _M.last_accessed_at < before),
    )
    params: dict[str, Any] = {"before": to_micros(since), "below": below, "most": most}
    if below <= _INDEXED_BELOW_IMPORTANCE:
        few = _M.importance < literal_column(str(_INDEXED_BELOW_IMPORTANCE))
        statement = statement.where(few).order_by(_M.updated_at, _M.id)
    else:
        statement = statement.where(_M.id > bindparam("after")).order_by(_M.id)
        params |= {"after": after}
    return _locked(w, statement.limit(bindparam("most")), params)


def owners(w: Writing, after: str, most: int) -> list[tuple[str, int]]:
    """The next owners, and how many active memories each has."""
    params = {"space": w.space, "after": after, "most": most}
    return [(row.owner, int(row[1])) for row in w.connection.execute(_OWNERS, params)]


def evictable(w: Writing, owner: str, until: datetime) -> Sequence[Row[Any]]:
    """What of an owner's may give way: not pinned, and not changed since."""
    params = {"space": w.space, "owner": owner, "until": to_micros(until)}
    return w.connection.execute(_EVICTABLE, params).all()


def due(w: Writing, most: int) -> Sequence[Row[Any]]:
    """What is to be removed for good by now; locked."""
    params = {"space": w.space, "now": to_micros(w.at), "most": most}
    return w.connection.execute(w.dialect.lock_memory(_DUE), params).all()


def _locked(w: Writing, statement: Select[Any], params: dict[str, Any]) -> list[str]:
    locked = w.dialect.lock_memory(statement)
    return list(w.connection.execute(locked, {"space": w.space, **params}).scalars())


def retire(
    w: Writing, ids: Sequence[str], state: State, shown: str | None, until: datetime, why: str
) -> int:
    """Past its time, out of mind and restorable until then. Says how many were active until now."""
    return _retire(w, ids, state, shown, until, HistoryEvent.TTL, {"aged": why})


def forget(w: Writing, ids: Sequence[str], until: datetime, why: str) -> int:
    """The same for what its owner no longer wants, all of it at once."""
    return _retire(w, ids, State.FORGOTTEN, "deleted", until, HistoryEvent.DELETE, {"why": why})


def _retire(
    w: Writing,
    ids: Sequence[str],
    state: State,
    shown: str | None,
    until: datetime,
    event: HistoryEvent,
    detail: dict[str, str],
) -> int:
    """The same as `writes.change` for each of them, in a few statements for all. Neither their
    wording nor their people nor what leads to them changes."""
    params = {"space": w.space, "ids": list(ids)}
    active = _RETIRED.where(_OF_SPACE, _M.id.in_(bindparam("ids", expanding=True)), _ACTIVE)
    rows = w.connection.execute(w.dialect.lock_memory(active), params).all() if ids else []
    if not rows:
        return 0
    at, found = to_micros(w.at), [row.id for row in rows]
    through = partitions.doors_of_stored(w.connection, w.space, found)
    revisions = partitions.bump(w.connection, w.space, through)
    fixed = {"b_space": w.space, "b_state": state.value, "b_at": at, "b_purge_at": to_micros(until)}
    w.connection.execute(
        _RETIRE,
        [
            fixed
            | {"b_id": row.id, "b_stamp": revisions[partitions.home(row.owner, row.learned_in)]}
            for row in rows
        ],
    )
    told = {
        "space": w.space,
        "ids": found,
        "event": event.value,
        "actor": w.actor,
        "detail": json.dumps(detail),
        "at": at,
    }
    w.connection.execute(_NOTE, told)
    noted.retired(w, found)
    node, op = (
        (EventNode.WORKER, EventOperation.TTL)
        if event is HistoryEvent.TTL
        else (EventNode.HOTPATH, EventOperation.DELETE)
    )
    w.events.extend(
        Happened(node, op, EventStatus.OK, row.id, row.owner, row.thread, row.category)
        for row in rows
    )
    if shown is not None:
        both = [(thread, row.id) for row in rows for thread in {row.thread or "", w.thread}]
        tell(w, both, shown)
    return len(rows)


def tell(w: Writing, changed: Iterable[tuple[str, str]], shown: str) -> None:
    """By thread: where they came from, and where it happens. Revisions of one sweep are not counted
    up: where each lies in the stretch goes by a keyed hash, so that nobody learns how much else was
    swept."""
    threads: dict[str, list[str]] = {}
    for thread, id in changed:
        if thread:
            threads.setdefault(thread, []).append(id)
    at = to_micros(w.at)
    changes = []
    for thread in sorted(threads):
        params = {"space": w.space, "thread": thread, "at": at, "window": _WINDOW_MICROS}
        ((last,),) = rendered.rows(w.connection, _RESERVE, params)
        taken: set[int] = set()
        for id in sorted(threads[thread]):
            place = int(digest(w.secret, id)[:12], 16) % _WINDOW_MICROS
            while place in taken:
                place = (place + 1) % _WINDOW_MICROS
            taken.add(place)
            changes.append(
                {
                    "space_id": w.space,
                    "thread": thread,
                    "rev": int(last) - place,
                    "memory_id": id,
                    "event": shown,
                    "at": at,
                }
            )
    if changes:
        rendered.insert(w.connection, [(_INSERT_CHANGE, one) for one in changes])
