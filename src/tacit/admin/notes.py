"""Synchronize the files of notes with storage, in one direction or both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import TYPE_CHECKING

from tacit import limits
from tacit.errors import InvalidInput, SettingsError
from tacit.records import validation
from tacit.records.notes import NoteChange, NotesReport
from tacit.view.context import SpaceContext

if TYPE_CHECKING:  # imported only if notes are mirrored as files
    from tacit.notes.mirror import MirrorThread, NotesMirror

_NOTES_DISABLED = "notes.enabled: is false, so there are no files of notes; set it to true"


class Notes(SpaceContext):
    """The mirror of notes as Markdown files."""

    def sync(self) -> NotesReport:
        """Apply edits of the files to storage and changes in storage to the files, now.

        While a memory is open and `notes.watch` is on, this happens automatically.
        """
        return self._mirror().sync(self._space)

    def rebuild(self, to: str | Path | None = None) -> NotesReport:
        """Write the files from storage.

        Edits are read first; missing lines and files are written again. With `to`, write all files
        to a folder that has none.
        """
        return self._mirror().rebuild(self._space, None if to is None else _parse_folder("to", to))

    def import_files(self, from_: str | Path | None = None, *, forget: bool = False) -> NotesReport:
        """Write storage from the files, including files of another database, and keep their ids.

        With `from_`, read another folder, which is not changed. `forget` confirms that memories
        missing in the files are forgotten, however many they are.
        """
        sure = validation.parse_bool("forget", forget)
        if from_ is None:
            return self._mirror().sync(self._space, forget=sure, accept_unknown=True)
        source = _parse_folder("from_", from_)
        if not source.is_dir():
            raise InvalidInput("from_", "is no folder")
        return self._mirror().import_folder(self._space, source, forget=sure)

    def diff(self) -> list[NoteChange]:
        """Report how files and storage differ, and what a sync would do."""
        return self._mirror().dry_run(self._space).changes

    def watch(self) -> Iterator[NotesReport]:
        """Mirror until this iterator or the memory is closed; yield each report with changes.

        Reports cover every space.
        """
        mirroring = self._mirroring()
        told: Queue[NotesReport] = Queue()
        stop = mirroring.listen(told.put)
        mirroring.watch()
        try:
            while not mirroring.closed:
                try:
                    yield told.get(timeout=limits.NOTE_MIRROR_POLL_SECONDS)
                except Empty:
                    continue
        finally:
            stop()

    def _mirroring(self) -> MirrorThread:
        if self._runtime.mirroring is None:
            raise SettingsError(_NOTES_DISABLED)
        return self._runtime.mirroring

    def _mirror(self) -> NotesMirror:
        return self._mirroring().mirror


def _parse_folder(field: str, path: object) -> Path:
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InvalidInput(field, "is no name of a folder")
    return Path(path)
