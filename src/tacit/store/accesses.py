"""Which memories were used, written in batches so that no read waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from threading import Lock

from sqlalchemy import Connection, bindparam, update

from tacit.clock import to_micros
from tacit.store.engine import Database
from tacit.store.tables import memories

_BATCH_COUNT = 256
_M = memories.c
_TOUCH = (
    update(memories)
    .where(_M.space_id == bindparam("b_space"), _M.id == bindparam("b_id"))
    .values(access_count=_M.access_count + bindparam("b_count"), last_accessed_at=bindparam("b_at"))
)


class Accesses:
    """Counts in memory until there is a batch. A crash loses counts, never memories."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts: dict[tuple[str, str], tuple[int, int]] = {}
        self._lock = Lock()

    def note(self, space: str, ids: Iterable[str], at: datetime) -> None:
        now = to_micros(at)
        with self._lock:
            for id in ids:
                count, _ = self._counts.get((space, id), (0, 0))
                self._counts[space, id] = (count + 1, now)
            full = len(self._counts) >= _BATCH_COUNT
        if full:
            self.flush()

    def flush(self) -> None:
        with self._lock:
            counts, self._counts = self._counts, {}
        if counts:
            rows = [
                {"b_space": space, "b_id": id, "b_count": count, "b_at": at}
                for (space, id), (count, at) in sorted(counts.items())
            ]

            def work(connection: Connection) -> None:
                connection.execute(_TOUCH, rows)

            self._database.write(work)
