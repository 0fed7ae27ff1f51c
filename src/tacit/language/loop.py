"""An event loop in a thread of its own, for libraries that know no other way to wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from tacit import limits
from tacit.errors import LanguageUnavailable
from tacit.language.port import CLOSED
from tacit.language.quiet import THREAD_NAME

R = TypeVar("R")


class Loop:
    """Callers may be in any thread, with or without a running loop of their own."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._closing = False
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._main()), name=THREAD_NAME, daemon=True
        )
        self._thread.start()
        self._ready.wait()

    @property
    def alive(self) -> bool:
        """False after a fork: threads stay with the parent."""
        return self._thread.is_alive()

    def run(self, work: Callable[[], Coroutine[Any, Any, R]], timeout_seconds: float) -> R:
        """The result of the coroutine, which is to end by itself within the time."""
        future: Future[R] = Future()
        try:
            self._loop.call_soon_threadsafe(self._begin, work, future)
            return future.result(timeout_seconds + limits.LANGUAGE_STOP_WAIT_MAX_SECONDS)
        except (CancelledError, TimeoutError, RuntimeError):
            pass  # the loop is closed, or was while we waited
        raise LanguageUnavailable(CLOSED)

    def close(self) -> None:
        """Ends what runs, and the thread."""
        self._closing = True
        if self.alive:
            try:
                self._loop.call_soon_threadsafe(self._stop.set)
            except RuntimeError:
                return  # closed already
            self._thread.join(limits.LANGUAGE_STOP_WAIT_MAX_SECONDS)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._ready.set()
        await self._stop.wait()  # what still runs then is cancelled by `asyncio.run`

    def _begin(self, work: Callable[[], Coroutine[Any, Any, R]], future: Future[R]) -> None:
        if self._closing:
            future.cancel()
            return
        # Made here: a coroutine that no loop takes would warn that it was never awaited.
        task = self._loop.create_task(work())

        def done(task: asyncio.Task[R]) -> None:
            if task.cancelled():
                future.cancel()
            elif (problem := task.exception()) is not None:
                future.set_exception(problem)
            else:
                future.set_result(task.result())

        task.add_done_callback(done)
