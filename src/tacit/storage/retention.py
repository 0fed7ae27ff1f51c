"""Find memories past their time; expire, forget or delete them in bulk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    bindparam,
    func,
    insert,
    literal_column,
    or_,
    select,
    text,
    tuple_,
    update,
)

from tacit import limits
from tacit.clock import to_micros
from tacit.policy.rules import sql_literal
from tacit.records.memory import HistoryEvent, State
from tacit.records.results import EventNode, EventOperation
from tacit.storage import queue
from tacit.storage.engine import delete_rows, fetch_rows, insert_rows, insert_statement, lock_rows
from tacit.storage.memories import EventRecord, Transaction
from tacit.storage.schema import (
    access_log_table,
    blocks,
    change_log,
    declined_proposals,
    history_table,
    idempotency_keys,
    learning_days,
    link_attempts,
    link_offers,
    memories_table,
    pair_checks,
    sign_in_links,
    thread_revisions,
    updates,
    web_sessions,
)
from tacit.storage.spaces import (
    home_path,
    increment_revisions,
    keyed_digest,
    stored_access_paths,
    update_note_links_of_many,
)

# Retention: memories that are expired, unused, over the quota or due for purge, and the bulk write
# that retires them.

_M = memories_table.c
_IS_ACTIVE: ColumnElement[bool] = _M.state == sql_literal(State.ACTIVE)
_INDEXED_BELOW_IMPORTANCE = 3  # as in ix_memories_decay
_WINDOW_MICROS = 100_000
_INSERT_CHANGE = insert_statement(change_log)
# Reserves a range of revisions; the last one becomes the revision of the thread. If the thread was
# idle, the range ends at the current time, so its end does not depend on the number of changes.
_RESERVE_REVISIONS = text(
    "INSERT INTO thread_revisions (space_id, thread, rev) VALUES (:space, :thread, :at) "
    "ON CONFLICT (space_id, thread) DO UPDATE SET rev = CASE WHEN thread_revisions.rev < "
    "excluded.rev - :window THEN excluded.rev ELSE thread_revisions.rev + :window END RETURNING rev"
)
_SELECT_LAST_EVENTS = (
    select(_M.id, _M.version, _M.owner, func.max(history_table.c.seq))
    .outerjoin(history_table, (history_table.c.space_id == _M.space_id) & (history_table.c.memory_id == _M.id))
    .group_by(_M.space_id, _M.id, _M.version, _M.owner)
)
_SELECT_RETIRED = select(_M.id, _M.owner, _M.learned_in, _M.thread, _M.category)


def list_expired(tx: Transaction, most: int, *, turns: bool) -> list[str]:
    """List and lock active memories, or turns, whose time is past."""
    statement = (
        select(_M.id)
        .where(*_active_in(tx.space, turns=turns), _M.expires_at.is_not(None), _M.expires_at <= to_micros(tx.at))
        .order_by(_M.expires_at, _M.id)
        .limit(most)
    )
    return _lock_ids(tx, statement)


def list_unused(tx: Transaction, since: datetime, below: int, after: str, most: int) -> list[str]:
    """List and lock active memories of low importance, neither used nor changed since.

    An index covers importance below the default threshold. Above it, the query scans the space by
    id.
    """
    before = to_micros(since)
    statement = select(_M.id).where(
        *_active_in(tx.space),
        _M.pinned.is_(False),
        _M.importance < below,
        _M.updated_at < before,
        or_(_M.last_accessed_at.is_(None), _M.last_accessed_at < before),
    )
    if below <= _INDEXED_BELOW_IMPORTANCE:
        few = _M.importance < literal_column(str(_INDEXED_BELOW_IMPORTANCE))
        statement = statement.where(few).order_by(_M.updated_at, _M.id)
    else:
        statement = statement.where(_M.id > after).order_by(_M.id)
    return _lock_ids(tx, statement.limit(most))


def list_owner_counts(tx: Transaction, after: str, most: int) -> list[tuple[str, int]]:
    """List the next owners with the number of their active memories."""
    counts = (
        select(_M.owner, func.count())
        .where(*_active_in(tx.space), _M.owner > after)
        .group_by(_M.owner)
        .order_by(_M.owner)
        .limit(most)
    )
    return [(owner, int(count)) for owner, count in tx.connection.execute(counts)]


def list_evictable(tx: Transaction, owner: str, until: datetime) -> Sequence[Row[Any]]:
    """List an owner's memories that may be evicted: not pinned, and not changed since."""
    is_keyed = _M.key.is_not(None).label("keyed")
    found = select(_M.id, _M.access_count, _M.last_accessed_at, _M.updated_at, _M.importance, is_keyed).where(
        *_active_in(tx.space), _M.owner == owner, _M.pinned.is_(False), _M.updated_at <= to_micros(until)
    )
    return tx.connection.execute(found).all()


def list_due_for_purge(tx: Transaction, most: int) -> Sequence[Row[Any]]:
    """List and lock memories due for purge."""
    due = (
        select(_M.id, _M.owner, _M.category, _M.key, _M.overridden, _M.purge_at, _M.state)
        .where(
            _M.space_id == tx.space,
            _M.purge_at.is_not(None),
            _M.purge_at <= to_micros(tx.at),
            _M.state.in_([sql_literal(State.FORGOTTEN), sql_literal(State.EXPIRED)]),
        )
        .order_by(_M.purge_at, _M.id)
        .limit(most)
    )
    return tx.connection.execute(lock_rows(due)).all()


def _active_in(space: str, *, turns: bool = False) -> tuple[ColumnElement[bool], ...]:
    return _M.space_id == space, _M.is_turn.is_(turns), _IS_ACTIVE


def _lock_ids(tx: Transaction, statement: Select[Any]) -> list[str]:
    return list(tx.connection.execute(lock_rows(statement)).scalars())


def retire_memories(
    tx: Transaction, ids: Sequence[str], state: State, shown: str | None, until: datetime, why: str
) -> int:
    """Retire memories past their time, restorable until `until`; return how many were active."""
    return _retire_active(tx, ids, state, shown, until, HistoryEvent.TTL, {"aged": why})


def forget_memories(tx: Transaction, ids: Sequence[str], until: datetime, why: str) -> int:
    """Forget memories that their owner no longer wants; return how many were active."""
    return _retire_active(tx, ids, State.FORGOTTEN, "deleted", until, HistoryEvent.DELETE, {"why": why})


def _retire_active(
    tx: Transaction,
    ids: Sequence[str],
    state: State,
    shown: str | None,
    until: datetime,
    event: HistoryEvent,
    detail: dict[str, str],
) -> int:
    """Retire active memories in a few statements, with the same effect as changing each.

    Their content, people and access paths do not change.
    """
    active = _SELECT_RETIRED.where(_M.space_id == tx.space, _M.id.in_(list(ids)), _IS_ACTIVE)
    rows = tx.connection.execute(lock_rows(active)).all() if ids else []
    if not rows:
        return 0
    at, found = to_micros(tx.at), [row.id for row in rows]
    through = stored_access_paths(tx.connection, tx.space, found)
    revisions = increment_revisions(tx.connection, tx.space, through)
    values = {"state": state.value, "updated_at": at, "purge_at": to_micros(until)}
    retired = update(memories_table).where(_M.space_id == tx.space, _M.id == bindparam("b_id"))
    tx.connection.execute(
        retired.values(**values, stamp=bindparam("b_stamp")),
        [{"b_id": row.id, "b_stamp": revisions[home_path(row.owner, row.learned_in)]} for row in rows],
    )
    told = {"space_id": tx.space, "event": event.value, "actor": tx.actor, "detail": json.dumps(detail), "at": at}
    last = _SELECT_LAST_EVENTS.where(_M.space_id == tx.space, _M.id.in_(found))
    tx.connection.execute(
        insert(history_table),
        [
            told | {"memory_id": id, "version": version, "owner": owner, "seq": (seq or 0) + 1}
            for id, version, owner, seq in tx.connection.execute(last).all()
        ],
    )
    update_note_links_of_many(tx, found)
    node, op = (
        (EventNode.WORKER, EventOperation.TTL)
        if event is HistoryEvent.TTL
        else (EventNode.HOTPATH, EventOperation.DELETE)
    )
    tx.events.extend(EventRecord.of_memory(row, node, op) for row in rows)
    if shown is not None:
        both = [(thread, row.id) for row in rows for thread in {row.thread or "", tx.thread}]
        insert_thread_changes(tx, both, shown)
    return len(rows)


def insert_thread_changes(tx: Transaction, changed: Iterable[tuple[str, str]], shown: str) -> None:
    """Insert the changes by thread: the thread of origin, and the current one.

    Revisions of one sweep are not consecutive. A keyed hash places each in the reserved range, so
    that a reader cannot infer how many other memories were swept.
    """
    threads: dict[str, list[str]] = {}
    for thread, id in changed:
        if thread:
            threads.setdefault(thread, []).append(id)
    at = to_micros(tx.at)
    changes = []
    for thread in sorted(threads):
        params = {"space": tx.space, "thread": thread, "at": at, "window": _WINDOW_MICROS}
        ((last,),) = fetch_rows(tx.connection, _RESERVE_REVISIONS, params)
        taken: set[int] = set()
        for id in sorted(threads[thread]):
            place = int(keyed_digest(tx.secret, id)[:12], 16) % _WINDOW_MICROS
            while place in taken:
                place = (place + 1) % _WINDOW_MICROS
            taken.add(place)
            changes.append(
                {
                    "space_id": tx.space,
                    "thread": thread,
                    "rev": int(last) - place,
                    "memory_id": id,
                    "event": shown,
                    "at": at,
                }
            )
    if changes:
        insert_rows(tx.connection, [(_INSERT_CHANGE, one) for one in changes])


# Rows past their retention: old refusals, counts, compared pairs, idempotency keys, channel
# updates, link codes, access log entries, sign-in links, web sessions and changes.

_C = change_log.c
_T = thread_revisions.c
_B = blocks.c


def delete_old_rows(connection: Connection, space: str, now: datetime, most: int) -> int:
    """Delete rows past their retention, at most `most`, and return how many were deleted."""

    def ago(**time: int) -> int:
        return to_micros(now - timedelta(**time))

    u = updates.c
    day = (now - timedelta(days=limits.DAILY_COUNTS_KEEP_DAYS)).date().isoformat()
    stale: list[tuple[Table, ColumnElement[bool]]] = [
        (declined_proposals, declined_proposals.c.until <= to_micros(now)),
        (learning_days, learning_days.c.day < day),
        (pair_checks, pair_checks.c.checked_at <= ago(days=limits.PAIR_CHECK_DAYS)),
        (idempotency_keys, idempotency_keys.c.at <= ago(days=limits.IDEMPOTENCY_KEEP_DAYS)),
        (updates, (u.state == queue.UPDATE_DONE) & (u.at <= ago(days=limits.UPDATE_DEDUPLICATION_DAYS))),
        (updates, (u.state == queue.UPDATE_PARKED) & (u.at <= ago(days=limits.UPDATE_PARKED_DAYS))),
        (link_offers, link_offers.c.expires_at <= ago()),
        (link_attempts, link_attempts.c.at <= ago(hours=limits.LINK_TRIES_HOURS)),
        (access_log_table, access_log_table.c.at <= ago(days=limits.ACCESS_LOG_KEEP_DAYS)),
        (sign_in_links, sign_in_links.c.expires_at <= ago()),
        (web_sessions, web_sessions.c.expires_at <= ago()),
    ]
    count = 0
    for table, when in stale:
        if count < most:
            count += _delete_some(connection, space, table, when, most - count)
    return count


def _delete_some(connection: Connection, space: str, table: Table, when: ColumnElement[bool], most: int) -> int:
    key = table.primary_key.columns
    some = select(*key).where(table.c.space_id == space, when).limit(most)
    return delete_rows(connection, table, space, tuple_(*key).in_(some))


def delete_old_changes(
    connection: Connection, space: str, now: datetime, after: str, most: int
) -> tuple[int, str | None]:
    """Delete the oldest changes of the next threads, with the times of their blocks.

    Revisions follow the clock or run ahead of it, so a row may stay slightly longer. Return the
    number of deleted rows, and the thread to continue after; None at the end.
    """
    since = to_micros(now - timedelta(days=limits.CHANGES_KEEP_DAYS))
    page = select(_T.thread).where(_T.space_id == space, _T.thread > after)
    threads = list(connection.execute(page.order_by(_T.thread).limit(most)).scalars())
    if not threads:
        return 0, None
    some = _C.thread.in_(threads) & (_C.rev <= since)
    count = _delete_some(connection, space, change_log, some, most)
    if count >= most:
        return count, after
    count += delete_rows(connection, blocks, space, _B.thread.in_(threads), _B.used_at <= since)
    return count, threads[-1] if len(threads) >= most else None
