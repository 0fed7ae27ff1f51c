"""Trouble with a channel: told once, and tried again after longer and longer pauses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from tacit import limits
from tacit.surfaces.chat.say import NotSent
from tacit.surfaces.chat.working import Log, backoff

T = TypeVar("T")


class Stop(Protocol):
    """When to end; a `threading.Event` is one."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float) -> bool: ...


class Patience:
    def __init__(
        self,
        channel: str,
        log: Log,
        stop: Stop,
        backoff_seconds: float = limits.CHAT_BACKOFF_SECONDS,
    ) -> None:
        self._channel = channel
        self._log = log
        self._stop = stop
        self._backoff_seconds = backoff_seconds
        self._failures = 0
        self._logged_problem: str | None = None

    def record_failure(self, problem: str, wait_seconds: float | None = None) -> None:
        """One line for each trouble, however often it is tried."""
        self._failures += 1
        pause = wait_seconds or backoff(self._failures, self._backoff_seconds)
        if problem != self._logged_problem and not self._stop.is_set():
            self._log.tell(f"{self._channel} waits", problem=problem, again_in_seconds=pause)
            self._logged_problem = problem
        self._stop.wait(pause)

    def record_success(self) -> None:
        if self._logged_problem is not None:
            self._log.tell(f"{self._channel} goes on")
        self._failures, self._logged_problem = 0, None

    def call_until_done(self, call: Callable[[], T]) -> T | None:
        """None: it was stopped before that came about."""
        while not self._stop.is_set():
            try:
                done = call()
            except NotSent as problem:
                self.record_failure(str(problem), problem.wait_seconds)
            else:
                self.record_success()
                return done
        return None
