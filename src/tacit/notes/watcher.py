"""Report changed files of the notes folder from a thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from tacit import limits
from tacit.errors import MissingExtra, NoteOutside, TacitError
from tacit.notes import paths
from tacit.notes.files import FileStamp
from tacit.notes.folder import NotesFolder

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

log = logging.getLogger("tacit")


class FolderWatcher:
    """Call `changed`, in a thread, with the paths that may have changed.

    The paths are those of `NotesFolder.files`, including own writes and removed files. An empty set
    means that anything may have changed: once at the start, when the folder was created again, and
    after a failure. What `changed` raises is logged by its type.

    Notifications wake the watcher, and a scan tells what changed: so nothing is missed between two
    of them. Each folder is watched by itself: watching a tree as a whole follows links.
    """

    def __init__(self, folder: NotesFolder, changed: Callable[[set[str]], None], *, poll: bool = False) -> None:
        """Set up; `poll` does without notifications, for a folder on a network."""
        self._folder, self._changed = folder, changed
        self._poll = poll
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._generation = 0
        self._folders: frozenset[str] = frozenset()
        self._files: dict[str, FileStamp | str] = {}  # at the last scan; with those it refused

    def start(self) -> None:
        """Start; changes after this returns are reported."""
        if self._thread is not None:
            return
        _load_watchfiles()
        self._scan()
        self._thread = threading.Thread(target=self._run, name="tacit-notes-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop and wait for the thread; `changed` is not called afterwards.

        A second call does nothing.
        """
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        self._report(set())
        while not self._stop.is_set():
            try:
                self._watch_folders()
            except (TacitError, OSError, RuntimeError) as error:
                # The folder cannot be watched now, or the library lost its thread.
                name = type(error).__name__
                log.warning("Cannot watch the notes (%s); trying again", name)
                self._generation = -1  # report everything
                self._stop.wait(limits.NOTE_POLL_MS / 1_000)

    def _watch_folders(self) -> None:
        """Report changes until a folder comes or goes."""
        notify = self._open_notify()
        try:
            same = self._report_changes(set())
            while same and not self._stop.is_set():
                told = self._wait(notify)
                if told or notify is None or self._folder.generation() != self._generation:
                    same = self._report_changes(told)
        finally:
            if notify is not None:
                notify.close()

    def _open_notify(self) -> RustNotify | None:
        """Return notifications of all folders; None where the system has none left."""
        if self._poll:
            return None
        watched = [str(self._folder.root / path) for path in self._folders]
        try:
            return _load_watchfiles()(watched, False, False, limits.NOTE_POLL_MS, False, True)
        except FileNotFoundError:  # one is gone by now: the next scan tells
            return None
        except (OSError, RuntimeError):
            log.warning(
                "the system has no notifications left for the notes; they are looked through every "
                "%.0f seconds instead. Raise fs.inotify.max_user_watches",
                limits.NOTE_POLL_MS / 1_000,
            )
            self._poll = True
            return None

    def _wait(self, notify: RustNotify | None) -> set[str]:
        """Wait for notifications, and return the paths that they name."""
        if notify is None:
            self._stop.wait(limits.NOTE_POLL_MS / 1_000)
            return set()
        told = notify.watch(
            limits.NOTE_WATCH_GATHER_MAX_MS, limits.NOTE_WATCH_STEP_MS, limits.NOTE_WATCH_ROUND_MS, self._stop
        )
        return set() if isinstance(told, str) else {path for _, path in told}

    def _report_changes(self, told: set[str]) -> bool:
        """Report what changed since the last scan; return whether the folders are the same.

        Files that notifications name count as changed: two edits of equal size within one tick of
        the clock look alike to a scan.
        """
        generation, folders, files = self._generation, self._folders, self._files
        self._scan()
        found = {path for path, _ in self._files.items() ^ files.items()}
        found |= set(filter(None, map(self._relative, told))) - folders - self._folders
        if generation != self._generation:
            self._report(set())
        if found:
            self._report(found)
        return (generation, folders) == (self._generation, self._folders)

    def _scan(self) -> None:
        self._generation, scan = self._folder.generation(), self._folder.scan()
        self._folders, self._files = frozenset(scan.folders), {**scan.files, **scan.refused}

    def _relative(self, path: str) -> str | None:
        """Return the path as notes use it; None for other files, such as temporary ones."""
        relative = path.removeprefix(f"{self._folder.root}/")
        try:
            paths.split_path(relative)
        except NoteOutside:
            return None
        return relative

    def _report(self, found: set[str]) -> None:
        try:
            self._changed(found)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next change is told
            log.warning("A change of the notes was not processed (%s)", type(error).__name__)


def _load_watchfiles() -> type[RustNotify]:
    try:
        from watchfiles._rust_notify import RustNotify
    except ImportError:
        raise MissingExtra("notes", "watching notes") from None
    return RustNotify
