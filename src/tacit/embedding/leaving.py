"""The end of a process while a background thread is in the code of a model: Python would tear that
thread out of it, and the whole process with it. So the end waits until nobody is in there, and no
background thread gets in any more."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

_PATIENCE_SECONDS = 30.0  # a group of texts takes far less


class Foreign:
    """Code that is not Python's, as something that threads are in or not."""

    def __init__(self) -> None:
        self._door = threading.Condition()
        self._inside = 0
        self._ending = False
        atexit.register(self._end)

    @contextmanager
    def inside(self) -> Iterator[None]:
        with self._door:
            while self._ending and threading.current_thread().daemon:
                self._door.wait()  # nobody wakes it: it goes with the process
            self._inside += 1
        try:
            yield
        finally:
            with self._door:
                self._inside -= 1
                self._door.notify_all()

    def _end(self) -> None:
        with self._door:
            self._ending = True
            self._door.wait_for(lambda: self._inside == 0, _PATIENCE_SECONDS)


@cache
def foreign() -> Foreign:
    """One for the process."""
    return Foreign()
