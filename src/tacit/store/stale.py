"""Rows that nobody needs any more: old refusals, counts, compared pairs, what was done once, what
channels brought, codes that link identities, looks, links and sittings that are over, and
changes."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Table, delete, select, tuple_

from tacit import limits
from tacit.clock import to_micros
from tacit.store import inbox
from tacit.store.tables import (
    blocks,
    change_log,
    declined,
    done_once,
    learning_days,
    link_offers,
    link_tries,
    looks,
    pair_checks,
    sign_ins,
    sittings,
    thread_revisions,
    updates,
)

_C = change_log.c
_T = thread_revisions.c
_B = blocks.c


def drop(connection: Connection, space: str, now: datetime, most: int) -> int:
    """What was noted for a while only. Says how many rows went, up to as many as asked for."""

    def ago(**time: int) -> int:
        return to_micros(now - timedelta(**time))

    u = updates.c
    day = (now - timedelta(days=limits.DAILY_COUNTS_KEEP_DAYS)).date().isoformat()
    stale: list[tuple[Table, ColumnElement[bool]]] = [
        (declined, declined.c.until <= to_micros(now)),
        (learning_days, learning_days.c.day < day),
        (pair_checks, pair_checks.c.checked_at <= ago(days=limits.PAIR_CHECK_DAYS)),
        (done_once, done_once.c.at <= ago(days=limits.IDEMPOTENCY_KEEP_DAYS)),
        (updates, (u.state == inbox.DONE) & (u.at <= ago(days=limits.UPDATE_DEDUPLICATION_DAYS))),
        (updates, (u.state == inbox.PARKED) & (u.at <= ago(days=limits.UPDATE_PARKED_DAYS))),
        (link_offers, link_offers.c.expires_at <= ago()),
        (link_tries, link_tries.c.at <= ago(hours=limits.LINK_TRIES_HOURS)),
        (looks, looks.c.at <= ago(days=limits.ACCESS_LOG_KEEP_DAYS)),
        (sign_ins, sign_ins.c.expires_at <= ago()),
        (sittings, sittings.c.expires_at <= ago()),
    ]
    count = 0
    for table, when in stale:
        if count < most:
            count += _drop_some(connection, space, table, when, most - count)
    return count


def _drop_some(
    connection: Connection, space: str, table: Table, when: ColumnElement[bool], most: int
) -> int:
    key = tuple_(*table.primary_key.columns)
    some = select(*table.primary_key.columns).where(table.c.space_id == space, when).limit(most)
    gone = delete(table).where(table.c.space_id == space, key.in_(some))
    return connection.execute(gone).rowcount


def drop_changes(
    connection: Connection, space: str, now: datetime, after: str, most: int
) -> tuple[int, str | None]:
    """The oldest changes of the next threads, and when their blocks were taken. Revisions go by the
    clock, or ahead of it: what is older than its revision stays a little longer. Says how many
    went, and after which thread to go on; None at the end."""
    since = to_micros(now - timedelta(days=limits.CHANGES_KEEP_DAYS))
    page = select(_T.thread).where(_T.space_id == space, _T.thread > after)
    threads = list(connection.execute(page.order_by(_T.thread).limit(most)).scalars())
    if not threads:
        return 0, None
    some = _C.thread.in_(threads) & (_C.rev <= since)
    count = _drop_some(connection, space, change_log, some, most)
    if count >= most:
        return count, after
    old = (_B.space_id == space) & _B.thread.in_(threads) & (_B.used_at <= since)
    count += connection.execute(delete(blocks).where(old)).rowcount
    return count, threads[-1] if len(threads) >= most else None
