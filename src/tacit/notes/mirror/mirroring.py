"""Mirroring while a memory is open: a thread that hears of changed files and asks the store."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from tacit import limits
from tacit.errors import StoreError, TacitError
from tacit.notes.disk.watching import Watcher
from tacit.notes.mirror.mirror import Mirror
from tacit.records.notes import NotesReport

_log = logging.getLogger(__name__)
Listener = Callable[[NotesReport], None]


class Mirroring:
    """Files and store are brought together once at the start, within a second of each change while
    `watch` is on, and once more at the end."""

    def __init__(self, mirror: Mirror, *, watch: bool) -> None:
        self.mirror = mirror
        self._watch = watch
        self._started = False  # whoever only looks on changes nothing, not even at the end
        self._changed: set[str] = set()
        self._everything = False
        self._moved = threading.Event()
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._watcher: Watcher | None = None
        self._listeners: list[Listener] = []

    def start(self) -> None:
        self._started = True
        self._run_safely(self.mirror.sync_all)
        if self._watch:
            self.watch()

    def watch(self) -> None:
        """From now on. Asked again, nothing changes."""
        with self._lock:
            if self._thread is not None or self._stopping.is_set():
                return
            self._started = True
            self._watcher = Watcher(self.mirror.folder, self._on_changed)
            self._thread = threading.Thread(target=self._run, name="tacit-notes", daemon=True)
            self._watcher.start()
            self._thread.start()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tells of each look that found something. The answer ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @property
    def watching(self) -> bool:
        return self._thread is not None

    @property
    def closed(self) -> bool:
        return self._stopping.is_set()

    def close(self) -> None:
        """What was written last is in the files before this returns."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._moved.set()
        if self._watcher is not None:
            self._watcher.stop()
        if self._thread is not None:
            self._thread.join()
        if self._started:
            self.mirror.refresh_spaces()
            self._run_safely(self._sync_once)
        self.mirror.close()

    def _on_changed(self, paths: set[str]) -> None:
        with self._lock:
            self._changed |= paths
            self._everything |= not paths
        self._moved.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._moved.wait(limits.NOTE_MIRROR_POLL_SECONDS)
            self._moved.clear()
            if not self._stopping.is_set():
                self._run_safely(self._sync_once)

    def _sync_once(self) -> NotesReport:
        with self._lock:
            changed, everything = self._changed, self._everything
            self._changed, self._everything = set(), False
        try:
            if everything:
                return self.mirror.sync_all()
            return self.mirror.sync_changed(changed)
        except BaseException:
            self._retry_later(changed, everything=everything)
            raise

    def _retry_later(self, changed: set[str], *, everything: bool) -> None:
        with self._lock:
            self._changed |= changed
            self._everything |= everything

    def _run_safely(self, work: Callable[[], NotesReport]) -> None:
        """The next look may go better."""
        try:
            report = work()
        except (TacitError, OSError) as error:
            if not self._stopping.is_set() or not isinstance(error, StoreError):
                _log.warning("notes wait: %s", type(error).__name__)
            return
        except Exception as error:  # noqa: BLE001 - nobody else would look any more
            _log.warning("mirroring notes was interrupted: %s", type(error).__name__)
            return
        if report.read_back or report.written or report.problems:
            for listener in tuple(self._listeners):
                listener(report)
