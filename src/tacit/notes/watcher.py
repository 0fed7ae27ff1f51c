"""Report changed files of the notes folder from a thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tacit import limits
from tacit.errors import MissingExtra, NoteOutside, TacitError
from tacit.notes import paths
from tacit.notes.files import FileStamp
from tacit.notes.folder import NotesFolder

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

log = logging.getLogger("tacit")
_OPEN_ATTEMPTS_COUNT = 5  # while folders come and go
_DRAIN_MS = 1


class FolderWatcher:
    """Call `changed`, in a thread, with the paths that may have changed.

    The paths are those of `NotesFolder.files`, including own writes and removed files. An empty set
    means that anything may have changed: once at the start, when the folder was created again, and
    where notifications are unreliable. What `changed` raises is logged by its type.

    Each folder is watched by itself: watching a tree as a whole follows links and misses files that
    are put into a folder right after it is created.
    """

    def __init__(
        self, folder: NotesFolder, changed: Callable[[set[str]], None], *, poll: bool = False
    ) -> None:
        """Set up; `poll` does without notifications, for a folder on a network."""
        self._folder, self._changed = folder, changed
        self._poll = poll
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._notify: RustNotify | None = None
        self._generation = 0
        self._folders: frozenset[str] = frozenset()
        self._files: dict[str, FileStamp] = {}  # at the last scan

    def start(self) -> None:
        """Start; changes after this returns are reported."""
        if self._thread is not None:
            return
        self._open()
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
        try:
            self._report_paths(set())
            while not self._stop.is_set():
                try:
                    self._run_once()
                except (TacitError, OSError, RuntimeError) as error:
                    # The folder cannot be watched now, or the library lost its thread.
                    name = type(error).__name__
                    log.warning("Cannot watch the notes (%s); trying again", name)
                    self._stop.wait(limits.NOTE_POLL_MS / 1_000)
                    self._start_over()
        finally:
            self._close()

    def _run_once(self) -> None:
        if self._notify is None:
            self._stop.wait(limits.NOTE_POLL_MS / 1_000)
            told = set()
        else:
            told = _changed_paths(
                self._notify.watch(
                    limits.NOTE_WATCH_GATHER_MAX_MS,
                    limits.NOTE_WATCH_STEP_MS,
                    limits.NOTE_WATCH_ROUND_MS,
                    self._stop,
                )
            )
        if self._stop.is_set():
            return
        if self._folder.generation() != self._generation or not (self._notify or self._poll):
            self._start_over()
        elif self._notify is None:
            self._scan_changes()
        else:
            self._handle_changes(set(filter(None, map(self._relative, told))))

    def _handle_changes(self, paths: set[str]) -> None:
        """Report changed notes and watch new folders."""
        folders = {path for path in paths if self._folder.is_folder(path)}
        if not paths.isdisjoint(self._folders - folders):
            self._start_over()  # one is gone, and its content need not have been reported
            return
        if folders - self._folders:
            paths |= self._watch_new_folders()
        if paths - folders:
            self._report_paths(paths - folders)

    def _scan_changes(self) -> None:
        """Report what changed since the last scan."""
        before, after = self._files, self._folder.files()
        self._files = after
        changed = {path for path, stamp in after.items() if before.get(path) != stamp}
        changed |= before.keys() - after.keys()
        if changed:
            self._report_paths(changed)

    def _watch_new_folders(self) -> set[str]:
        """Watch the new folders and return what they contain.

        The old notifications are read to their end, so that nothing is missed in between.
        """
        known, old = self._folders, self._notify
        assert old is not None  # it reported them
        self._notify = None
        with old:
            self._open()
            rest = _changed_paths(old.watch(_DRAIN_MS, _DRAIN_MS, _DRAIN_MS, None))
        paths = {path for path in self._files if path.rpartition("/")[0] not in known}
        return paths.union(filter(None, map(self._relative, rest)))

    def _start_over(self) -> None:
        self._close()
        try:
            self._open()
        except TacitError:
            return  # and again in the next round
        self._report_paths(set())

    def _open(self) -> None:
        for _ in range(_OPEN_ATTEMPTS_COUNT):
            self._close()
            try:
                if self._is_open():
                    return
            except TacitError:
                self._close()
                raise

    def _is_open(self) -> bool:
        """Report whether every folder is watched, and was when it was scanned."""
        self._generation = self._folder.generation()
        folders = self._folder.scan().folders
        if not self._poll:
            try:
                self._notify = self._notifications(folders)
            except FileNotFoundError:  # the folder is gone by now
                return False
        scan = self._folder.scan()
        self._folders, self._files = frozenset(scan.folders), scan.files
        return scan.folders == folders

    def _notifications(self, folders: Iterable[str]) -> RustNotify | None:
        notify, watched = _load_watchfiles(), [str(self._folder.root / path) for path in folders]
        try:
            return notify(watched, False, False, limits.NOTE_POLL_MS, False, True)
        except FileNotFoundError:
            raise
        except (OSError, RuntimeError):
            log.warning(
                "the system has no notifications left for the notes; they are looked through every "
                "%.0f seconds instead. Raise fs.inotify.max_user_watches",
                limits.NOTE_POLL_MS / 1_000,
            )
            self._poll = True
            return None

    def _close(self) -> None:
        if self._notify is not None:
            self._notify.close()
            self._notify = None

    def _relative(self, path: str) -> str | None:
        """Return the path as notes use it; None for other files, such as temporary ones."""
        relative = path.removeprefix(f"{self._folder.root}/")
        try:
            paths.split_path(relative)
        except NoteOutside:
            return None
        return relative

    def _report_paths(self, paths: set[str]) -> None:
        try:
            self._changed(paths)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next change is told
            log.warning("A change of the notes was not processed (%s)", type(error).__name__)


def _changed_paths(told: set[tuple[int, str]] | str) -> set[str]:
    return set() if isinstance(told, str) else {path for _, path in told}


def _load_watchfiles() -> type[RustNotify]:
    try:
        from watchfiles._rust_notify import RustNotify
    except ImportError:
        raise MissingExtra("notes", "watching notes") from None
    return RustNotify
