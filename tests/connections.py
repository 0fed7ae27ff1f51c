"""Connections of memories to a lent PostgreSQL outlive them: to let somebody in, and to plan their
statements anew, takes the server longer than most tests take it."""

import threading
from collections import deque
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg.pq import ExecStatus, TransactionStatus
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

_OURS = "prepare_threshold"  # an engine that a test makes for itself asks for nothing like it
_IDLE_MAX_COUNT = 8
_USED_MAX_COUNT = 200  # a connection keeps the plan of every statement it has seen

Place = tuple[str, ...]


class Connections:
    """What is left by one engine is taken by the next one that asks for the very same."""

    def __init__(self) -> None:
        self.databases: set[str] = set()  # those whose connections are kept
        self._idle: dict[Place, deque[tuple[Any, int]]] = {}
        # Not kept alive: whoever loses one without closing it is warned by psycopg itself.
        self._taken: WeakKeyDictionary[Any, tuple[Place, int]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def take(self, **wanted: Any) -> Any:
        named = {name: value for name, value in wanted.items() if name != "context"}  # of types
        place = tuple(f"{name}={value}" for name, value in sorted(named.items()))
        while (found := self._next(place)) is not None:
            connection, used = found
            if connection.pgconn.exec_(b"").status == ExecStatus.EMPTY_QUERY:  # still there
                break
            connection.close()
        else:
            connection, used = psycopg.connect(**wanted), 0
        if _OURS in wanted:
            with self._lock:
                self._taken[connection] = place, used + 1
        return connection

    def leave(self, connection: Any) -> None:
        with self._lock:
            place, used = self._taken.pop(connection, ((), _USED_MAX_COUNT))
            others = self._idle.setdefault(place, deque())
            wanted = used < _USED_MAX_COUNT and len(others) < _IDLE_MAX_COUNT
            if wanted and self._as_new(connection):
                others.append((connection, used))
                return
        connection.close()

    def pids(self) -> list[int]:
        """Of those that nobody uses."""
        with self._lock:
            return [one.info.backend_pid for idle in self._idle.values() for one, _ in idle]

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, {}
        for kept in idle.values():
            for connection, _ in kept:
                connection.close()

    def _next(self, place: Place) -> tuple[Any, int] | None:
        with self._lock:
            idle = self._idle.get(place)
            return idle.pop() if idle else None

    def _as_new(self, connection: Any) -> bool:
        status = connection.info.transaction_status
        if status != TransactionStatus.IDLE or connection.info.dbname not in self.databases:
            return False
        connection.autocommit, connection.isolation_level = False, None
        return True


KEPT = Connections()


def remember_connections() -> None:
    """From here on, in this process. An engine asks its first connection what the server is like,
    and lets it forget all statements then: what the first engine found goes for all."""
    PGDialect_psycopg.connect = lambda _, **wanted: KEPT.take(**wanted)  # type: ignore[method-assign]
    PGDialect_psycopg.do_close = lambda _, one: KEPT.leave(one)  # type: ignore[method-assign]
    PGDialect_psycopg.do_terminate = lambda _, one: one.close()  # type: ignore[method-assign]
    ask, found = PGDialect_psycopg.initialize, dict[str, Any]()

    def initialize(dialect: Any, connection: Any) -> None:
        if not found:
            before = dict(vars(dialect))
            ask(dialect, connection)  # type: ignore[no-untyped-call]
            found.update({k: v for k, v in vars(dialect).items() if before.get(k) is not v})
        vars(dialect).update(found)

    PGDialect_psycopg.initialize = initialize  # type: ignore[method-assign]
