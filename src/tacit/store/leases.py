"""Renewing the leases that this process holds, so that a lease can be short.

What a killed process held is then taken over soon, and what a slow one holds is not. One thread
renews all leases of a store: it starts with the first that is held, and ends when none is left.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from tacit import limits
from tacit.clock import Clock
from tacit.errors import StoreError
from tacit.store.engine import Database

_log = logging.getLogger(__name__)
Renew = Callable[[Connection, datetime], object]  # as of this moment


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    renew: Renew
    until: float  # of the monotonic clock: a holder that hangs does not keep its lease for ever


class Leases:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._held: set[_Held] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def hold(self, renew: Renew) -> Iterator[None]:
        """Renew a lease that was just taken, until the block ends or takes too long."""
        one = _Held(renew, time.monotonic() + limits.LEASE_HELD_MAX_SECONDS)
        with self._lock:
            self._held.add(one)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tacit-leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.discard(one)

    def close(self) -> None:
        self._stopping.set()
        thread = self._thread
        if thread is not None:
            thread.join(limits.CLOSE_WAIT_MAX_SECONDS)

    def _run(self) -> None:
        while True:
            self._stopping.wait(limits.LEASE_RENEWAL_SECONDS)
            with self._lock:
                if not self._held or self._stopping.is_set():
                    self._thread = None
                    return
                now = time.monotonic()
                due = [one for one in self._held if now < one.until]
            for one in due:
                self._renew(one)

    def _renew(self, one: _Held) -> None:
        """The next try may go better; a holder whose lease ran out finds that out by itself."""
        try:
            self._database.write(lambda connection: one.renew(connection, self._clock()))
        except StoreError as error:
            _log.warning("a lease could not be renewed: %s", type(error).__name__)
