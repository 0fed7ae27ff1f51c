"""What happened, written in batches so that nothing waits for it, and counted by day."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import count
from threading import Lock, Thread
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, func, or_, select, text, tuple_

from tacit.clock import from_micros, to_micros
from tacit.errors import StoreError
from tacit.records.results import EventCounts, EventNode, EventOperation, EventStatus
from tacit.store import rendered
from tacit.store.dialect import Dialect
from tacit.store.engine import Database
from tacit.store.happening import Happened
from tacit.store.tables import events, spaces

_BATCH_COUNT = 256
_BATCH_MICROS = 600_000_000  # what waited for so long is written with the next one
_KEPT_MAX_COUNT = 65_536
_PRUNED_AT_ONCE_COUNT = 2_000  # more than a batch: what is too old goes faster than new comes
_DAY_MICROS = 86_400_000_000
_E = events.c
_SPACE = select(spaces.c.space_id).where(spaces.c.space_id == bindparam("space"))
_ANY_TIME = 2**63 - 1
_OLD = (
    select(_E.id)
    .where(_E.space_id == bindparam("space"), _E.node == bindparam("node"))
    .where(_E.at < bindparam("before"))
    .order_by(_E.at)
    .limit(bindparam("most"))
)
# What was erased meanwhile is not written. Should that happen at this very moment, in another
# process, the key to `memories` refuses the row, and the batch is tried again without it.
_INSERT = text(
    "INSERT INTO events (space_id, id, owner, thread, node, op, status, memory_id, category, "
    "likeness, at) SELECT CAST(:space AS TEXT), CAST(:id AS TEXT), CAST(:owner AS TEXT), "
    "CAST(:thread AS TEXT), CAST(:node AS TEXT), CAST(:op AS TEXT), CAST(:status AS TEXT), "
    "CAST(:memory AS TEXT), CAST(:category AS TEXT), CAST(:likeness AS DOUBLE PRECISION), "
    "CAST(:at AS BIGINT) WHERE CAST(:memory AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM memories m "
    "WHERE m.space_id = CAST(:space AS TEXT) AND m.id = CAST(:memory AS TEXT))"
)


class Events:
    """Kept in memory until there is a batch, which a thread of its own then writes. A crash or a
    database that cannot be written to costs events, never memories and never an answer."""

    def __init__(self, database: Database, keep_days: int) -> None:
        self._database = database
        self.keep_days = keep_days  # 0: none are kept
        self._batch: list[tuple[str, int, Happened]] = []
        self._seen: set[str] = set()  # spaces, where nothing is kept and older ones are to go
        self._lock = Lock()
        self._writing = Lock()  # whoever flushes waits for what is being written
        self._writer: Thread | None = None
        # Ids of one process: they are unlike those of any other, and lie side by side.
        self._origin, self._numbers = secrets.token_hex(6), count()

    def append(self, space: str, at: datetime, happened: Sequence[Happened]) -> None:
        """What is committed. An erased memory takes along what is not written yet."""
        gone = {one.memory_id for one in happened if one.op is EventOperation.ERASE}
        if gone:
            happened = [_unnamed(one, gone) for one in happened]
            self.discard(space, gone)
        if not self.keep_days:
            self._seen.add(space)
            return
        now = to_micros(at)
        with self._lock:
            self._batch.extend([(space, now, one) for one in happened])
            waiting, first = len(self._batch), self._batch[0][1]
            if waiting < _BATCH_COUNT and abs(now - first) < _BATCH_MICROS:
                return
            if self._writer is not None and self._writer.is_alive():
                if waiting > _KEPT_MAX_COUNT:
                    self._batch.clear()
                return
            self._writer = Thread(target=self.flush, name="tacit-events", daemon=True)
            self._writer.start()

    def discard(
        self, space: str, ids: Collection[str | None] | None = None, owners: Collection[str] = ()
    ) -> None:
        """What is not written yet, of these memories and people; without `ids`, of the space."""
        with self._lock:
            self._batch[:] = [
                (where, at, one)
                for where, at, one in self._batch
                if where != space
                or (
                    ids is not None
                    and (one.memory_id is None or one.memory_id not in ids)
                    and (one.owner is None or one.owner not in owners)
                )
            ]

    def flush(self) -> None:
        with self._writing:
            self._flush()

    def _flush(self) -> None:
        with self._lock:
            batch, self._batch = self._batch, []
        rows: dict[str, list[dict[str, Any]]] = {space: [] for space in list(self._seen)}
        for space, at, one in batch:
            rows.setdefault(space, []).append(self._row(space, at, one))
        if not rows:
            return
        latest = max((at for _, at, _ in batch), default=None)

        def work(connection: Connection) -> None:
            for space in sorted(rows):
                if _is_there(connection, self._database.dialect, space):
                    if rows[space]:  # in the order in which an erasure goes through memories
                        ordered = sorted(rows[space], key=lambda row: row["memory"] or "")
                        connection.execute(_INSERT, ordered)
                    prune(connection, space, self._oldest(latest))

        with suppress(StoreError):
            self._database.write(work)

    def close(self) -> None:
        with self._lock:
            writer = self._writer
        if writer is not None:
            writer.join()
        self.flush()

    def _oldest(self, latest: int | None) -> int | None:
        """From when on they are kept; None: not at all."""
        if not self.keep_days or latest is None:
            return None
        return latest - self.keep_days * _DAY_MICROS

    def _row(self, space: str, at: int, one: Happened) -> dict[str, Any]:
        return {
            "space": space,
            "id": f"{self._origin}{next(self._numbers):012x}",
            "owner": one.owner,
            "thread": one.thread,
            "node": one.node.value,
            "op": one.op.value,
            "status": one.status.value,
            "memory": one.memory_id,
            "category": one.category,
            "likeness": None if one.likeness is None else round(one.likeness, 4),
            "at": at,
        }


def _unnamed(one: Happened, gone: Collection[str | None]) -> Happened:
    if one.memory_id not in gone:
        return one
    return Happened(one.node, one.op, one.status)


def _is_there(connection: Connection, dialect: Dialect, space: str) -> bool:
    """And stays until this is written: whoever erases the space waits, or was there first."""
    return bool(rendered.rows(connection, _held_still(dialect), {"space": space}))


@lru_cache(maxsize=8)
def _held_still(dialect: Dialect) -> Select[Any]:
    return dialect.lock_space_shared(_SPACE)


def drop(connection: Connection, space: str, ids: Iterable[str], owners: Iterable[str] = ()) -> int:
    """Of these memories and of these people, in the transaction that erases them. Those of a memory
    also go with its row, which they refer to."""
    who, which = sorted(owners), sorted(ids)
    named = or_(_E.owner.in_(who), _E.memory_id.in_(which))
    return connection.execute(delete(events).where(_E.space_id == space, named)).rowcount


def prune(connection: Connection, space: str, before: int | None) -> int:
    """Those from before that time, some at once; None: of all."""
    ids: list[str] = []
    named = {"space": space, "before": _ANY_TIME if before is None else before}
    for node in EventNode:  # the index leads with it
        most = _PRUNED_AT_ONCE_COUNT - len(ids)
        old = rendered.rows(connection, _OLD, {**named, "node": node.value, "most": most})
        ids += [id for (id,) in old]
    if not ids:
        return 0
    return connection.execute(delete(events).where(_E.space_id == space, _E.id.in_(ids))).rowcount


Place = tuple[int, str, str, str]  # a day's first microsecond, node, op, status


def counts(
    connection: Connection,
    space: str,
    nodes: Sequence[EventNode],
    op: EventOperation | None,
    since: datetime | None,
    most: int,
    after: Place | None = None,
) -> list[EventCounts]:
    """By day, newest first, then by node, op and status."""
    day = _E.at - _E.at % _DAY_MICROS
    found = select(day.label("day"), _E.node, _E.op, _E.status, func.count().label("times"))
    found = found.where(_E.space_id == space, _E.node.in_([node.value for node in nodes]))
    if op is not None:
        found = found.where(_E.op == op.value)
    if since is not None:
        found = found.where(_E.at >= to_micros(since))
    if after is not None:
        first, *rest = after
        later = tuple_(_E.node, _E.op, _E.status) > tuple_(*rest)
        # The day is over at its end: an index on the time can be used.
        found = found.where(_E.at < first + _DAY_MICROS, or_(_E.at < first, later))
    found = found.group_by(day, _E.node, _E.op, _E.status)
    found = found.order_by(day.desc(), _E.node, _E.op, _E.status).limit(most)
    return [
        EventCounts(
            day=from_micros(row.day).astimezone(UTC).date(),
            node=EventNode(row.node),
            op=EventOperation(row.op),
            status=EventStatus(row.status),
            count=row.times,
        )
        for row in connection.execute(found)
    ]


def since_then(
    connection: Connection, at: datetime, span: timedelta
) -> list[tuple[str, str, str, int]]:
    """Node, op, status and how often, in all spaces, since then: for an operator's gauges."""
    found = select(_E.node, _E.op, _E.status, func.count()).where(_E.at >= to_micros(at - span))
    found = found.group_by(_E.node, _E.op, _E.status)
    return [(node, op, status, times) for node, op, status, times in connection.execute(found)]
