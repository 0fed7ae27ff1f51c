"""The folder of notes as a mirror of the store: one process at a time looks at both, and settles
what they differ in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from tacit import limits
from tacit.errors import InvalidInput, NoteMoved, StoreBusy, TacitError
from tacit.notes.disk.folder import Folder
from tacit.notes.mirror import writing_out
from tacit.notes.mirror.hands import Keeping
from tacit.notes.mirror.heads import summary_of
from tacit.notes.mirror.sheets import STRANGE, Options, Tally, prefix
from tacit.notes.mirror.syncing import Sync
from tacit.notes.text import names
from tacit.records.notes import NoteChange, NotesReport
from tacit.storage import notes
from tacit.storage.engine import FileChanges
from tacit.storage.memories import Transaction
from tacit.storage.store import Store

_PAUSE_SECONDS = 0.02
_LISTED_SECONDS = 2.0


class Mirror:
    """Safe to share between threads. `written` is told when there are words without a vector."""

    def __init__(
        self,
        store: Store,
        root: Path,
        how: Keeping,
        *,
        forget_at_once_max: int = limits.NOTE_FORGET_AT_ONCE_DEFAULT_COUNT,
    ) -> None:
        self.folder = Folder(root)
        self.written: Callable[[], None] = lambda: None
        self._store, self._retention, self._most = store, how, forget_at_once_max
        self._lock = RLock()
        self._known: set[tuple[str, str]] = set()  # folder and space that were mirrored before
        self._seen: dict[str, int] = {}  # by space: the revision of its notes
        self._listed: list[str] = []  # spaces that have notes
        self._listed_until = 0.0
        self._traces = FileChanges(store.database.engine)

    def sync(self, space: str, *, forget: bool = False, strangers: bool = False) -> NotesReport:
        """Everything, both ways. `forget`: what has no line any more, however much that is."""
        return self._sync_space(space, self._options(forget=forget, strangers=strangers)).report()

    def rebuild(self, space: str, to: Path | None = None) -> NotesReport:
        """The files from the store: lines that are missing come back. With `to`, all of them anew
        in another folder."""
        if to is None:
            return self._sync_space(space, self._options(bring_back=True)).report()
        with Folder(to) as folder:
            return self._copy(space, folder)

    def import_folder(self, space: str, source: Path, *, forget: bool = False) -> NotesReport:
        """What stands in another folder, whose files stay as they are."""
        with Folder(source) as folder, _turn(folder):
            options = self._options(forget=forget, strangers=True, read_only=True)
            tally = Sync(self._store, folder, space, self._retention, options).run()
        self._notify_written(tally)
        return tally.report()

    def diff(self, space: str) -> list[NoteChange]:
        """What a sync would do, and does not."""
        return self._sync_space(space, self._options(rehearse=True)).changes

    def inspect(self, space: str) -> tuple[NotesReport, int]:
        """How files and store stand, without a change to either; and how many notes a sync would
        change, on either side."""
        tally = self._sync_space(space, self._options(rehearse=True))
        left = {"asks", "refused"}
        return tally.report(), len({one.path for one in tally.changes if one.act not in left})

    def sync_changed(self, changed: Iterable[str] = ()) -> NotesReport:
        """What changed since the last look: these files, and whatever moved in the store."""
        files = self._by_space(changed)
        total = Tally()
        for space, (revision, paths) in self._due(files).items():
            if paths:
                with self._lock_exclusively():
                    done = self._make_sync(space, self._options()).run(paths)
                self._notify_written(done)
                total.add(done)
            self._seen[space] = revision
        return total.report()

    def _due(self, files: dict[str, set[str]]) -> dict[str, tuple[int, set[str]]]:
        """By space: its revision, and the notes that changed up to it."""
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
                    paths |= set(
                        notes.list_orphaned_files(connection, space, self.folder.identity())
                    )
                if paths or revision != seen:
                    due[space] = (revision, paths)
        if not listed and not due:
            self._traces.mark_seen()
        return due

    def refresh_spaces(self) -> None:
        """At the next look no space is left out, however new."""
        self._listed_until = 0.0
        self._traces.reset()

    def sync_all(self) -> NotesReport:
        """Every space that has notes, in the store or in the folder."""
        total = Tally()
        for space in self._spaces():
            total.add(self._sync_space(space, self._options()))
        return total.report()

    def remove_erased(self) -> bool:
        """After an erasure: no file holds anything of it. False where that could not be seen to."""
        try:
            cleaned = [self._clean_space(space) for space in self._spaces()]
        except (TacitError, OSError):
            return False
        return all(cleaned)

    def remove_space(self, space: str) -> bool:
        """A space was erased, with all that could tell what stood in its files."""
        try:
            with self._lock_exclusively():
                self._known = {one for one in self._known if one[1] != space}
                for path in self.folder.files():
                    found = names.place_of(path)
                    if found is not None and found[0] == space:
                        self.folder.remove(path)
                self.folder.clean()
        except (TacitError, OSError):
            return False
        return True

    def close(self) -> None:
        self.folder.close()

    def _sync_space(self, space: str, options: Options) -> Tally:
        with self._lock_exclusively():
            with self._store.database.read() as connection:
                revision = notes.notes_revision(connection, space)
            tally = self._make_sync(space, options).run()
            if not options.rehearse:
                self._seen[space] = revision
        self._notify_written(tally)
        return tally

    def _make_sync(self, space: str, options: Options) -> Sync:
        here = self.folder.identity()
        if (here, space) not in self._known:
            with self._store.database.read() as connection:
                states = notes.list_file_states(connection, space, here).values()
            if any(state.problem != STRANGE for state in states):
                self._known.add((here, space))
        known = (here, space) in self._known
        return Sync(self._store, self.folder, space, self._retention, options, known=known)

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

    def _copy(self, space: str, folder: Folder) -> NotesReport:
        tally = Tally()

        def work(w: Transaction) -> list[tuple[str, bytes]]:
            made = []
            for row in notes.list_changed_notes(w.connection, space, 0):
                shown = notes.list_file_items(w.connection, w.audiences, space, row.path)
                summary = summary_of(w, row)
                if shown or summary is not None:
                    made.append((row.path, writing_out.whole(row, shown, summary)))
            return made

        with _turn(folder):
            for path, data in self._store.write_as(space, "system", work):
                try:
                    folder.write(prefix(space) + path, data, expected=None)
                except NoteMoved:
                    problem = "has notes in it already; name an empty folder"
                    raise InvalidInput("to", problem) from None
                tally.files, tally.written = tally.files + 1, tally.written + 1
        return tally.report()

    def _spaces(self) -> list[str]:
        here = self._by_space(self.folder.files())
        with self._store.database.read() as connection:
            return sorted({*notes.list_spaces_with_notes(connection), *here})

    def _by_space(self, files: Iterable[str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for path in files:
            place = names.place_of(path)
            if place is not None:
                space = place[0]
                found.setdefault(space, set()).add(path.removeprefix(prefix(space)))
        return found

    def _options(self, **chosen: bool) -> Options:
        return Options(forget_at_once_max=self._most, **chosen)

    def _notify_written(self, tally: Tally) -> None:
        if tally.read_back:
            self.written()

    @contextmanager
    def _lock_exclusively(self) -> Iterator[None]:
        with self._lock, _turn(self.folder):
            yield


@contextmanager
def _turn(folder: Folder) -> Iterator[None]:
    """One at a time, of all threads and processes."""
    until = time.monotonic() + limits.NOTE_LOCK_WAIT_MAX_SECONDS
    while not folder.lock():
        if time.monotonic() > until:
            raise StoreBusy("another process is at the notes; try again")
        time.sleep(_PAUSE_SECONDS)
    try:
        yield
    finally:
        folder.unlock()
