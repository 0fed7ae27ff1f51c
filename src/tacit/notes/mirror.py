"""Keep the notes folder and the store in step: on demand, from a thread, and for the doctor."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from tacit import limits
from tacit.errors import InvalidInput, NoteMoved, StoreBusy, StoreError, TacitError
from tacit.notes import paths, rendering
from tacit.notes.folder import NotesFolder
from tacit.notes.paths import space_prefix
from tacit.notes.sync import UNKNOWN_FOLDER, NotesSync, SyncOptions, SyncTally
from tacit.notes.watcher import FolderWatcher
from tacit.notes.writers import NoteRetention
from tacit.records.notes import NotesReport
from tacit.records.results import Finding
from tacit.storage import notes
from tacit.storage.backend import FileChanges
from tacit.storage.memories import Transaction
from tacit.storage.store import Store

# The notes folder as a mirror of the database: one process at a time compares both and reconciles
# them.

_PAUSE_SECONDS = 0.02
_LISTED_SECONDS = 2.0


class NotesMirror:
    """Synchronize files and database. Thread-safe. `written` is called when vectors are missing."""

    def __init__(
        self,
        store: Store,
        root: Path,
        how: NoteRetention,
        *,
        forget_at_once_max: int = limits.NOTE_FORGET_AT_ONCE_DEFAULT_COUNT,
    ) -> None:
        self.folder = NotesFolder(root)
        self.written: Callable[[], None] = lambda: None
        self._store, self._retention, self._most = store, how, forget_at_once_max
        self._lock = RLock()
        self._known: set[tuple[str, str]] = set()  # folder and space that were mirrored before
        self._seen: dict[str, int] = {}  # by space: the revision of its notes
        self._listed: list[str] = []  # spaces that have notes
        self._listed_until = 0.0
        self._traces = FileChanges(store.database.engine)

    def sync(self, space: str, *, forget: bool = False, accept_unknown: bool = False) -> NotesReport:
        """Synchronize everything, both ways.

        `forget`: also forget what has no line any more, however much that is.
        """
        return self._sync_space(space, self._options(forget=forget, accept_unknown=accept_unknown)).report()

    def rebuild(self, space: str, to: Path | None = None) -> NotesReport:
        """Write the files from the database, which restores missing lines.

        With `to`, write all of them into another folder.
        """
        if to is None:
            return self._sync_space(space, self._options(restore_lines=True)).report()

        def work(tx: Transaction) -> dict[str, bytes]:
            rows = notes.list_changed_notes(tx.connection, space, 0)
            stored = [rendering.load_stored(tx, row) for row in rows]
            return {one.row.path: rendering.render_file(one) for one in stored if one.memories}

        with NotesFolder(to) as folder, _lock_folder(folder):
            made = self._store.write_as(space, "system", work)
            for path, data in made.items():
                try:
                    folder.write(space_prefix(space) + path, data, expected=None)
                except NoteMoved:
                    problem = "contains notes already; name an empty folder"
                    raise InvalidInput("to", problem) from None
        return NotesReport(files=len(made), written=len(made))

    def import_folder(self, space: str, source: Path, *, forget: bool = False) -> NotesReport:
        """Read the notes of another folder, whose files stay as they are."""
        with NotesFolder(source) as folder, _lock_folder(folder):
            options = self._options(forget=forget, accept_unknown=True, read_only=True)
            tally = NotesSync(self._store, folder, space, self._retention, options).run()
        self._notify_written(tally)
        return tally.report()

    def dry_run(self, space: str) -> SyncTally:
        """Return what a sync would do, without doing it."""
        return self._sync_space(space, self._options(dry_run=True))

    def sync_changed(self, changed: Iterable[str] = ()) -> NotesReport:
        """Synchronize these files, and the notes that changed in the database since the last call."""
        files = self._by_space(changed)
        total = SyncTally()
        for space, (revision, changed_paths) in self._due(files).items():
            if changed_paths:
                with self._lock_exclusively():
                    done = self._make_sync(space, self._options()).run(changed_paths)
                self._notify_written(done)
                total.add(done)
            self._seen[space] = revision
        return total.report()

    def _due(self, files: dict[str, set[str]]) -> dict[str, tuple[int, set[str]]]:
        """Return, by space, its revision and the notes that changed up to it."""
        due: dict[str, tuple[int, set[str]]] = {}
        if not files and self._traces.is_unchanged():
            return due
        seen_then = {space: self._seen.get(space, 0) for space in self._listed}
        listed = time.monotonic() < self._listed_until
        if listed and not files and not notes.have_notes_changed(self._store.database, seen_then):
            return due
        with self._store.database.read() as connection:
            if not listed:  # a new space is rare, and may wait
                self._listed = notes.list_spaces_with_notes(connection)
                self._listed_until = time.monotonic() + _LISTED_SECONDS
            for space in sorted({*self._listed, *files}):
                paths = files.get(space, set())
                revision, seen = notes.notes_revision(connection, space), self._seen.get(space, 0)
                if revision != seen:
                    since = seen if seen < revision else 0  # lower: the space was erased
                    rows = notes.list_changed_notes(connection, space, since)
                    paths |= {row.path for row in rows}
                    paths |= set(notes.list_orphaned_files(connection, space, self.folder.identity()))
                if paths or revision != seen:
                    due[space] = (revision, paths)
        if not listed and not due:
            self._traces.mark_seen()
        return due

    def refresh_spaces(self) -> None:
        """Include new spaces the next time."""
        self._listed_until = 0.0
        self._traces.reset()

    def sync_all(self) -> NotesReport:
        """Synchronize every space that has notes, in the database or in the folder."""
        total = SyncTally()
        for space in self._spaces():
            total.add(self._sync_space(space, self._options()))
        return total.report()

    def remove_erased(self) -> bool:
        """Remove erased content from all files. Return False where that could not be verified."""
        try:
            cleaned = [self._clean_space(space) for space in self._spaces()]
            return all(cleaned)
        except (TacitError, OSError):
            return False

    def remove_space(self, space: str) -> bool:
        """Remove the files of an erased space. Return False where that failed."""
        try:
            with self._lock_exclusively():
                self._known = {one for one in self._known if one[1] != space}
                for path in self._by_space(self.folder.files()).get(space, ()):
                    self.folder.remove(space_prefix(space) + path)
                self.folder.clean()
        except (TacitError, OSError):
            return False
        return True

    def close(self) -> None:
        self.folder.close()

    def _sync_space(self, space: str, options: SyncOptions) -> SyncTally:
        with self._lock_exclusively():
            with self._store.database.read() as connection:
                revision = notes.notes_revision(connection, space)
            tally = self._make_sync(space, options).run()
            if not options.dry_run:
                self._seen[space] = revision
        self._notify_written(tally)
        return tally

    def _make_sync(self, space: str, options: SyncOptions) -> NotesSync:
        here = self.folder.identity()
        if (here, space) not in self._known:
            with self._store.database.read() as connection:
                states = notes.list_file_states(connection, space, here).values()
            if any(state.problem != UNKNOWN_FOLDER for state in states):
                self._known.add((here, space))
        known = (here, space) in self._known
        return NotesSync(self._store, self.folder, space, self._retention, options, known=known)

    def _clean_space(self, space: str) -> bool:
        with self._lock_exclusively():
            here = self.folder.identity()
            with self._store.database.read() as connection:
                states = notes.list_file_states(connection, space, here)
                held = {path for path, state in states.items() if state.stamp < 0}
                held |= set(notes.list_orphaned_files(connection, space, here))
                moved = notes.list_changed_notes(connection, space, 0)
                known = {row.path: states[row.path].stamp for row in moved if row.path in states}
                held |= {row.path for row in moved if known.get(row.path, row.stamp) != row.stamp}
            new = self._by_space(self.folder.files()).get(space, set()) - set(states)
            tally = self._make_sync(space, self._options()).run(held | new)
            self.folder.clean()
        left = {one.problem for path, one in tally.problems.items() if path in held}
        return not left & {"unreadable", "outside", "busy"}

    def _spaces(self) -> list[str]:
        here = self._by_space(self.folder.files())
        with self._store.database.read() as connection:
            return sorted({*notes.list_spaces_with_notes(connection), *here})

    def _by_space(self, files: Iterable[str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for path in files:
            place = paths.parse_note_path(path)
            if place is not None:
                space = place[0]
                found.setdefault(space, set()).add(path.removeprefix(space_prefix(space)))
        return found

    def _options(self, **chosen: bool) -> SyncOptions:
        return SyncOptions(forget_at_once_max=self._most, **chosen)

    def _notify_written(self, tally: SyncTally) -> None:
        if tally.read_back:
            self.written()

    @contextmanager
    def _lock_exclusively(self) -> Iterator[None]:
        with self._lock, _lock_folder(self.folder):
            yield


@contextmanager
def _lock_folder(folder: NotesFolder) -> Iterator[None]:
    """Hold the folder's lock, among all threads and processes."""
    until = time.monotonic() + limits.NOTE_LOCK_WAIT_MAX_SECONDS
    while not folder.lock():
        if time.monotonic() > until:
            raise StoreBusy("another process synchronizes the notes; try again")
        time.sleep(_PAUSE_SECONDS)
    try:
        yield
    finally:
        folder.unlock()


# A background thread that mirrors while a memory is open.

_log = logging.getLogger(__name__)
MirrorListener = Callable[[NotesReport], None]


class MirrorThread:
    """Synchronize at the start, within a second of each change while `watch` is on, and at the end."""

    def __init__(self, mirror: NotesMirror, *, watch: bool) -> None:
        self.mirror = mirror
        self._watch = watch
        self._started = False  # an observer changes nothing, not even at the end
        self._changed: set[str] = set()
        self._everything = False
        self._moved = threading.Event()
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._watcher: FolderWatcher | None = None
        self._listeners: list[MirrorListener] = []

    def start(self) -> None:
        self._started = True
        self._run_safely(self.mirror.sync_all)
        if self._watch:
            self.watch()

    def watch(self) -> None:
        """Watch the folder until closed. A second call does nothing."""
        with self._lock:
            if self._thread is not None or self._stopping.is_set():
                return
            self._started = True
            self._watcher = FolderWatcher(self.mirror.folder, self._on_changed)
            self._thread = threading.Thread(target=self._run, name="tacit-notes", daemon=True)
            self._watcher.start()
            self._thread.start()

    def listen(self, listener: MirrorListener) -> Callable[[], None]:
        """Call the listener after each sync that found something; the result removes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @property
    def watching(self) -> bool:
        return self._thread is not None

    @property
    def closed(self) -> bool:
        return self._stopping.is_set()

    def close(self) -> None:
        """Write the last changes to the files, then stop."""
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
            with self._lock:  # retry later
                self._changed |= changed
                self._everything |= everything
            raise

    def _run_safely(self, work: Callable[[], NotesReport]) -> None:
        """Log a failure instead of raising: the next sync tries again."""
        try:
            report = work()
        except Exception as error:  # noqa: BLE001 - the thread must outlive any failure
            if not self._stopping.is_set() or not isinstance(error, StoreError):
                _log.warning("Mirroring notes was interrupted: %s", type(error).__name__)
            return
        if report.read_back or report.written or report.problems:
            for listener in tuple(self._listeners):
                listener(report)


# Checks of the doctor: where files and database disagree, and why.

# By name: the problem, for people, after a count; who can fix it; and the problems it counts.
_PROBLEM_CHECKS: dict[str, tuple[str, str, frozenset[str]]] = {
    "notes-unreadable": (
        "note files cannot be read",
        "a person repairs the file: its frontmatter must be plain YAML; see docs/notes.md",
        frozenset({"unreadable"}),
    ),
    "notes-refused": (
        "note files contain lines that may not be stored",
        "a person removes the secret from the line, or shortens it",
        frozenset({"refused"}),
    ),
    "notes-conflicts": (
        "note files contain both wordings of a line that was changed on both sides",
        "a person deletes the wrong wording",
        frozenset({"conflict"}),
    ),
    "notes-asking": (
        "note files miss more lines than are forgotten without confirmation",
        "`tacit notes import --forget` forgets them, `tacit notes rebuild` restores them",
        frozenset({"asks"}),
    ),
    "notes-orphaned": (
        "note files belong to an unknown person, or to another database",
        "name the person in subject_id; `tacit notes import` accepts files of another database",
        frozenset({"unknown_person", UNKNOWN_FOLDER}),
    ),
    "notes-outside": (
        "files in the notes folder are links, or have names that no note may have",
        "a person renames the file, or puts a plain file in place of the link",
        frozenset({"outside"}),
    ),
}
_DRIFT_CHECK = "notes-drift"
NOTES_CHECK_NAMES = (_DRIFT_CHECK, *_PROBLEM_CHECKS)


def check_notes(mirror: NotesMirror, space: str, names: frozenset[str], *, repair: bool) -> tuple[Finding, ...]:
    """Check notes; with `repair`, synchronize. What only a person can decide stays."""
    tally, findings, repaired = mirror.dry_run(space), [], 0
    differing = _count_differing(tally)
    if _DRIFT_CHECK in names and differing:
        if repair:
            mirror.sync(space)
            tally = mirror.dry_run(space)
            repaired = differing - _count_differing(tally)
        findings.append(
            Finding(
                check=_DRIFT_CHECK,
                says="notes differ between files and database",
                mends="synchronizes them",
                count=differing,
                repairable=differing,
                repaired=repaired,
            )
        )
    told = [{one.problem, *one.detail.split(", ")} for one in tally.problems.values()]
    for name, (says, mends, problems) in _PROBLEM_CHECKS.items():
        found = sum(bool(one & problems) for one in told) if name in names else 0
        if found:
            findings.append(Finding(check=name, says=says, mends=mends, count=found, repairable=0))
    return tuple(findings)


def _count_differing(tally: SyncTally) -> int:
    """Count the notes that a sync would change."""
    return len({one.path for one in tally.changes if one.act not in {"asks", "refused"}})
