"""What an operator sets going and need not wait for: a task of the space, a look of the doctor's.
Few at a time, in threads of their own: pages go on being answered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any

from starlette.concurrency import run_in_threadpool

from tacit.clock import system_clock
from tacit.errors import Conflict

Name = tuple[str, str]  # the space, and what is done in it
PATIENCE_SECONDS = 3.0  # for so long the page waits for it
_HANDS_COUNT = 2
_GOING_MAX_COUNT = 20
_KEPT_MAX_COUNT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    at: datetime
    result: Any


class Errands:
    """Of one app. What came of each is kept here, the last time of the last so many."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(_HANDS_COUNT, "tacit-console")
        self._lock = Lock()
        self._running: dict[Name, Future[Any]] = {}
        self._results: OrderedDict[Name, Done] = OrderedDict()

    def run(self, name: Name, work: Callable[[], Any]) -> bool:
        """Whether it came to its end while the page could wait. One that goes on already is not
        begun again. What went wrong meanwhile is raised."""
        going = self._start(name, work)
        if not wait_for([going], PATIENCE_SECONDS).done:
            return False
        going.result()
        return True

    def is_running(self, name: Name) -> bool:
        with self._lock:
            return name in self._running

    def last_result(self, name: Name) -> Done | None:
        with self._lock:
            return self._results.get(name)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """What was begun comes to its end before the memory is closed."""
        try:
            yield
        finally:
            await run_in_threadpool(self._executor.shutdown, wait=True, cancel_futures=True)

    def _start(self, name: Name, work: Callable[[], Any]) -> Future[Any]:
        with self._lock:
            if name in self._running:
                return self._running[name]
            if len(self._running) >= _GOING_MAX_COUNT:
                raise Conflict("much is being done already; wait a moment, then try again")
            self._running[name] = begun = self._executor.submit(self._work, name, work)
            return begun

    def _work(self, name: Name, work: Callable[[], Any]) -> None:
        try:
            done = Done(at=system_clock(), result=work())
            with self._lock:
                self._results[name] = done
                self._results.move_to_end(name)
                if len(self._results) > _KEPT_MAX_COUNT:
                    self._results.popitem(last=False)
        finally:
            with self._lock:
                del self._running[name]
