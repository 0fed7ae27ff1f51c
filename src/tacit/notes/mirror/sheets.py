"""What a look at the notes of a space works with: notes beside their files, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from tacit import limits
from tacit.errors import NoteUnreadable
from tacit.notes.disk.folder import Read
from tacit.notes.mirror.writing_out import digest_of
from tacit.notes.text import names
from tacit.notes.text.document import Document, parse
from tacit.records.notes import NoteChange, NoteKind, NoteProblem, NoteRef, NotesReport
from tacit.storage.notes import FileState, NoteRow

STRANGE = "unknown_folder"  # lines of another database, in a folder that was never mirrored


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    forget_at_once_max: int = limits.NOTE_FORGET_AT_ONCE_DEFAULT_COUNT
    forget: bool = False  # however much it is
    strangers: bool = False  # lines of another database are taken in
    bring_back: bool = False  # lines that are missing, instead of asking about them
    rehearse: bool = False  # nothing is changed
    read_only: bool = False  # the files stay as they are

    @property
    def resolves_problems(self) -> bool:
        """Somebody said what is to be done about what was left alone."""
        return self.forget or self.strangers or self.bring_back


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One note: its file, what is known of that, and its row."""

    path: str
    place: NoteRef
    file: Read | None
    state: FileState | None
    row: NoteRow | None

    @property
    def is_unknown(self) -> bool:
        """It was left alone: it is of another database."""
        return self.state is not None and self.state.problem == STRANGE

    @property
    def is_changed(self) -> bool:
        """Somebody changed the file, or it has to be looked at."""
        if self.file is None:
            return False
        if self.state is None or self.is_unknown:
            return True
        return digest_of(self.file.data) != self.state.digest

    @property
    def is_in_sync(self) -> bool:
        if self.file is None:
            return self.state is None and self.row is None
        if self.row is None or self.state is None or self.state.asked:
            return False
        return not self.is_changed and self.row.stamp == self.state.stamp


@dataclass(slots=True, kw_only=True)
class Tally:
    files: int = 0
    read_back: int = 0
    written: int = 0
    changes: list[NoteChange] = field(default_factory=list)
    problems: dict[str, NoteProblem] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        self.files += other.files
        self.read_back += other.read_back
        self.written += other.written
        self.changes += other.changes
        self.problems |= other.problems

    def report(self) -> NotesReport:
        def count(*acts: str) -> int:
            return sum(change.act in acts for change in self.changes)

        return NotesReport(
            files=self.files,
            read_back=self.read_back,
            remembered=count("remember", "restore"),
            updated=count("update", "reopen"),
            forgotten=count("forget"),
            completed=count("complete"),
            written=self.written,
            problems=tuple(self.problems[path] for path in sorted(self.problems)),
        )


@lru_cache(maxsize=limits.IDENTITY_CACHE_MAX_COUNT)
def prefix(space: str) -> str:
    """Of the folder's tree, the part that a space has."""
    somewhere = NoteRef(kind=NoteKind.LONG_TERM, subject="acct:0")
    return names.path_of(somewhere, space).removesuffix(names.path_of(somewhere))


def parsed(sheet: Sheet) -> Document | None:
    try:
        return parse(sheet.file.data, sheet.place.kind) if sheet.file is not None else None
    except NoteUnreadable:
        return None
