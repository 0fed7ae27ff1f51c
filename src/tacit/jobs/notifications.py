"""Wake the learning workers when another process queues a turn (PostgreSQL's LISTEN/NOTIFY)."""

from __future__ import annotations

import logging
import selectors
import socket
import threading
from collections.abc import Callable

import psycopg
from sqlalchemy import Engine

from tacit import limits
from tacit.storage.postgres import NOTIFY_CHANNEL

_log = logging.getLogger(__name__)
_CONNECT_TIMEOUT_SECONDS = 10


class JobListener:
    """Call `wake` for each transaction, of any process, that committed a job which is due.

    Notifications may get lost: the connection breaks, or a connection pooler does not pass them
    on. Workers poll as well, so a lost one only delays its job by a poll interval.
    """

    def __init__(self, engine: Engine, wake: Callable[[], None]) -> None:
        self._engine, self._wake = engine, wake
        self._stopping = threading.Event()
        # Closing one end makes the other one readable, which ends the wait for notifications.
        self._stopped, self._stop = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="tacit-learn-listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopping.set()
        self._stop.close()
        self._thread.join(_CONNECT_TIMEOUT_SECONDS)
        if not self._thread.is_alive():  # else it is still connecting, and stops after that
            self._stopped.close()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except (psycopg.Error, OSError) as error:
                _log.warning("Cannot listen for jobs (%s): workers poll instead", type(error).__name__)
                self._stopping.wait(limits.LEARN_RETRY_FIRST_SECONDS)

    def _listen(self) -> None:
        _, given = self._engine.dialect.create_connect_args(self._engine.url)
        options = {"connect_timeout": _CONNECT_TIMEOUT_SECONDS, **given}
        with psycopg.connect(**options, autocommit=True) as connection, selectors.DefaultSelector() as selector:
            connection.execute(f"LISTEN {NOTIFY_CHANNEL}")
            self._wake()  # for jobs that were committed while nothing listened
            selector.register(connection, selectors.EVENT_READ)
            selector.register(self._stopped, selectors.EVENT_READ)
            while not self._stopping.is_set():
                for _ in connection.notifies(timeout=0):
                    self._wake()
                selector.select()
