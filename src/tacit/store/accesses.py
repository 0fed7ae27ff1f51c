"""Which memories were used, written in batches so that no read waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from threading import Lock, Thread

from sqlalchemy import Connection, bindparam, update

from tacit.clock import to_micros
from tacit.errors import StoreError
from tacit.store.engine import Database
from tacit.store.tables import memories

_BATCH_COUNT = 256
_BATCH_MICROS = 600_000_000  # whoever sweeps elsewhere should know of it
_KEPT_MAX_COUNT = 65_536
_M = memories.c
_TOUCH = (
    update(memories)
    .where(_M.space_id == bindparam("b_space"), _M.id == bindparam("b_id"))
    .values(access_count=_M.access_count + bindparam("b_count"), last_accessed_at=bindparam("b_at"))
)


class Accesses:
    """Counts in memory until there is a batch, which a thread of its own then writes. A crash or a
    database that cannot be written to costs counts, never memories and never a read."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts: dict[tuple[str, str], tuple[int, int]] = {}
        self._since = 0  # the first of them, in microseconds
        self._lock = Lock()
        self._writer: Thread | None = None

    def count(self, space: str, ids: Iterable[str], at: datetime) -> None:
        now = to_micros(at)
        with self._lock:
            if not self._counts:
                self._since = now
            for id in ids:
                count, _ = self._counts.get((space, id), (0, 0))
                self._counts[space, id] = (count + 1, now)
            busy = self._writer is not None and self._writer.is_alive()
            young = now - self._since < _BATCH_MICROS
            if (len(self._counts) < _BATCH_COUNT and young) or busy:
                if len(self._counts) > _KEPT_MAX_COUNT:
                    self._counts.clear()
                return
            self._writer = Thread(target=self.flush, name="tacit-accesses", daemon=True)
            self._writer.start()

    def flush(self) -> None:
        with self._lock:
            counts, self._counts = self._counts, {}
        if not counts:
            return
        rows = [
            {"b_space": space, "b_id": id, "b_count": count, "b_at": at}
            for (space, id), (count, at) in sorted(counts.items())
        ]

        def work(connection: Connection) -> None:
            connection.execute(_TOUCH, rows)

        with suppress(StoreError):
            self._database.write(work)

    def close(self) -> None:
        with self._lock:
            writer = self._writer
        if writer is not None:
            writer.join()
        self.flush()
