"""Threads that do what comes round: until they are closed, or once when a memory is opened."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from tacit import limits
from tacit.errors import StoreError
from tacit.jobs.rounds import Rounds
from tacit.storage import queue

_log = logging.getLogger(__name__)
AT_OPENING = ("expire", "purge")


class Keepers:
    """Apart from those who learn: a task may take minutes, and a turn must not wait for it."""

    def __init__(self, hand: Callable[[], Rounds]) -> None:
        self._make_runner = hand
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._starting = threading.Lock()
        self._started = False

    def start(self, count: int) -> None:
        """From now on. Asked again, nothing changes."""
        with self._starting:
            if self._started:
                return
            self._started = True
        for number in range(count):
            self._start_thread(f"tacit-jobs-{number}", self._run_periodically)

    def run_overdue(self, space: str) -> None:
        """Once, what is overdue in any space, and what never ran in this one."""
        self._start_thread("tacit-jobs-opening", lambda hand: self._run_overdue_once(hand, space))

    def close(self) -> None:
        """The steps that are being done are finished; somebody else goes on from there."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _start_thread(self, name: str, work: Callable[[Rounds], None]) -> None:
        hand = self._make_runner()
        thread = threading.Thread(target=work, args=(hand,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run_periodically(self, hand: Rounds) -> None:
        planned = -limits.JOBS_PLAN_SECONDS
        while not self._stopping.is_set():
            if time.monotonic() - planned >= limits.JOBS_PLAN_SECONDS and self._run_safely(
                hand.plan
            ):
                planned = time.monotonic()
            self._run_safely(lambda: hand.drain(stop=self._stopping.is_set, pause=self._pause))
            self._stopping.wait(limits.LEARN_POLL_SECONDS)

    def _run_overdue_once(self, hand: Rounds, space: str) -> None:
        def work() -> None:
            hand.plan()
            now = hand.store.clock()
            hand.store.database.write(lambda c: queue.schedule_now(c, space, AT_OPENING, now))
            hand.drain(AT_OPENING, stop=self._stopping.is_set, pause=self._pause)

        self._run_safely(work)

    def _pause(self, took: float) -> None:
        """Half of the time is left to whoever is waiting for an answer."""
        self._stopping.wait(min(took, limits.JOBS_PAUSE_MAX_SECONDS))

    def _run_safely(self, work: Callable[[], object]) -> bool:
        """The next look may go better."""
        try:
            work()
        except StoreError as error:
            if not self._stopping.is_set():
                _log.warning("tasks wait for the database: %s", type(error).__name__)
            return False
        except Exception as error:  # noqa: BLE001 - nobody else would look any more
            _log.warning("tasks were interrupted: %s", type(error).__name__)
            return False
        return True
