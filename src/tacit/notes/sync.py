"""Sync the notes of a space with their files, one transaction and one write per file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from tacit import limits
from tacit.errors import InvalidInput, NoteMoved, NoteOutside, NoteUnreadable
from tacit.identity import EXTERNAL_PREFIX, RawRequest, infer_chat_kind, parse_chat_id, parse_request, parse_subject
from tacit.notes import paths, rendering
from tacit.notes.document import UNDATED, Document, parse_note
from tacit.notes.edits import extract_layout
from tacit.notes.folder import NotesFolder
from tacit.notes.paths import note_path, space_prefix
from tacit.notes.readback import Readback, UnknownLines, get_summary, is_line_deleted, is_storable, pair_lines
from tacit.notes.rendering import StoredNote, build_file_state, digest_data, load_agreed_lines
from tacit.notes.writers import ChatNoteWriter, NoteRetention, NoteWriter
from tacit.records.memory import ChatKind
from tacit.records.notes import (
    Frontmatter,
    NoteChange,
    NoteKind,
    NoteLink,
    NoteProblem,
    NoteRef,
    NotesReport,
    item_from_memory,
)
from tacit.records.request import Chat, Requester
from tacit.storage import memories, notes
from tacit.storage.memories import Transaction
from tacit.storage.notes import FileState, ItemMemories, NoteRow
from tacit.storage.store import Store

T = TypeVar("T")
NOTES_OPERATOR = "operator:notes"  # in the history of a group's memories
UNKNOWN_FOLDER = "unknown_folder"  # lines of another database, in a folder that was never mirrored
_STORE_ACTS = frozenset({"remember", "update", "complete", "reopen", "restore", "forget"})
_ID_COMMENT = re.compile(rb"<!--[ \t]{0,8}([A-Za-z0-9]{8})(?:[ \t]{1,8}conflict)?[ \t]{0,8}-->")


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions:
    forget_at_once_max: int = limits.NOTE_FORGET_AT_ONCE_DEFAULT_COUNT
    forget: bool = False  # however much it is
    accept_unknown: bool = False  # accept lines of another database
    restore_lines: bool = False  # restore missing lines instead of asking
    dry_run: bool = False  # change nothing
    read_only: bool = False  # leave the files as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSyncState:
    """One note: its file, its stored state and its row."""

    path: str
    place: NoteRef
    file: bytes | None
    state: FileState | None
    row: NoteRow | None

    @property
    def is_unknown(self) -> bool:
        """Report whether it was left alone because it is of another database."""
        return self.state is not None and self.state.problem == UNKNOWN_FOLDER

    @property
    def is_changed(self) -> bool:
        """Report whether the file was changed or must be examined."""
        if self.file is None:
            return False
        if self.state is None or self.is_unknown:
            return True
        return digest_data(self.file) != self.state.digest

    @property
    def is_in_sync(self) -> bool:
        if self.file is None:
            return self.state is None and self.row is None
        if self.row is None or self.state is None or self.state.asked:
            return False
        return not self.is_changed and self.row.stamp == self.state.stamp


@dataclass(slots=True, kw_only=True)
class SyncTally:
    files: int = 0
    read_back: int = 0
    written: int = 0
    changes: list[NoteChange] = field(default_factory=list)
    problems: dict[str, NoteProblem] = field(default_factory=dict)

    def add(self, other: SyncTally) -> None:
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


def strip_erased_items(tx: Transaction, data: bytes) -> bytes:
    """Remove erased memories from a file that cannot be parsed as a note.

    That is their bullets, with the lines indented below them. Everything else stays as it is,
    because its meaning is unknown.
    """
    kept: list[bytes] = []
    dropping = False
    for line in data.splitlines(keepends=True):
        if any(notes.is_tombstoned(tx, id.decode()) for id in _ID_COMMENT.findall(line)):
            dropping = True
        elif not (dropping and line.startswith((b" ", b"\t")) and line.strip()):
            dropping = False
            kept.append(line)
    return b"".join(kept)


def build_note_row(place: NoteRef, head: Frontmatter, links: tuple[NoteLink, ...], at: datetime) -> NoteRow | None:
    """Build the row of a file that the database does not know; None without a known owner."""
    session = place.kind is NoteKind.SESSION
    subject = head.subject_id if session else place.subject or head.subject_id
    try:
        subject = None if subject is None else parse_subject(subject)
        if not session and (subject is None or head.subject_id not in (None, subject)):
            return None  # no person, or the folder and the head name two
        name = place.session or (head.session_id if session else None)
        chat = _find_chat(head, name, subject)
        if chat is None:
            return None
        which = replace(place, subject=None if session else subject, session=name)
        path = note_path(which)
    except InvalidInput:
        return None
    created = at if head.created_at == UNDATED else min(head.created_at, at)
    labels = ("source", "channel", "contact_id", "contact_nickname")
    return NoteRow(
        path=path,
        kind=place.kind,
        subject=subject,
        day=place.day,
        session=name,
        chat=chat,
        chat_kind=ChatKind.PRIVATE if subject is not None else ChatKind.GROUP,
        thread=chat,
        created_at=created,
        updated_at=created if head.updated_at == UNDATED else min(head.updated_at, at),
        **{one: said for one in labels if is_storable(said := getattr(head, one))},
        tags=head.tags if is_storable(head.tags) else (),
        links=tuple(link for link in links if is_storable(link)),
    )


def _find_chat(head: Frontmatter, session: str | None, subject: str | None) -> str | None:
    """Return the chat: a session's name starts with it; the channel in the head may be one too."""
    wanted = ChatKind.PRIVATE if subject is not None else ChatKind.GROUP
    for named in (head.channel, (session or "").partition("/")[0]):
        if named and ":" in named:
            try:
                chat = parse_chat_id(named)
            except InvalidInput:
                continue
            if infer_chat_kind(chat) in (None, wanted):
                return chat
    return None if subject is None else subject.removeprefix(f"{EXTERNAL_PREFIX}:")


def _resolve_owner(store: Store, space: str, row: NoteRow) -> RawRequest | None:
    """Return the owner of a note, in their private chat; None for a group's note."""
    if row.subject is None:
        return None
    key = row.subject.removeprefix(f"{EXTERNAL_PREFIX}:")
    asking = parse_request(Requester(key), Chat.private(row.chat or key))
    if row.chat in (None, key) or store.read(space, asking, lambda _, request: request.private):
        return asking
    # The chat belongs to another person by now.
    return parse_request(Requester(key), Chat.private(key))


def lock_note_items(tx: Transaction, path: str) -> ItemMemories:
    """Lock a note, as the end of a session does, and what it shows until this write ends."""
    tx.dialect.acquire_lock(tx.connection, f"{tx.space} note {path}")
    locked: set[str] = set()
    while True:
        shown = notes.list_file_items(tx.connection, tx.audiences, tx.space, path)
        ids = {memory.id for _, memory in shown}
        if tx.dialect.one_writer or ids <= locked:
            return shown
        for id in sorted(ids - locked):
            memories.get_for_update(tx, id)
        locked |= ids


class _DryRun(Exception):
    """Roll back a write."""


class NotesSync:
    """Sync the notes of a space: reconcile file by file."""

    def __init__(
        self,
        store: Store,
        folder: NotesFolder,
        space: str,
        how: NoteRetention,
        options: SyncOptions,
        *,
        known: bool = False,
    ) -> None:
        self._store, self._folder, self._space, self._retention = store, folder, space, how
        self._options, self._id, self._tally = options, folder.identity(), SyncTally()
        self._keeps_files = options.dry_run or options.read_only
        self._known = known  # this database has mirrored this folder before
        self._elsewhere: frozenset[str] = frozenset()  # ids in changed files
        self._may_forget = True

    def run(self, paths: Iterable[str] | None = None) -> SyncTally:
        """Sync these notes; None: all notes, in the folder or in the database."""
        options = self._options
        found = self._load_all() if paths is None else self._load_some(paths)
        self._tally.files = len(found)
        # The caller decided about problems that were left alone.
        resolves = options.forget or options.accept_unknown or options.restore_lines
        todo = [one for one in found if not one.is_in_sync or (resolves and one.state and one.state.problem)]
        self._guard_deletes(todo)
        for one in todo:
            self._sync_file(one)
        return self._tally

    def _load_all(self) -> list[NoteSyncState]:
        scan = self._folder.scan()
        for disk, reason in scan.refused.items():
            self._record_problem(disk, "outside", reason)
        prefix = space_prefix(self._space)
        placed = ((disk, paths.parse_note_path(disk)) for disk in scan.files)
        files = [disk.removeprefix(prefix) for disk, at in placed if at and at[0] == self._space]
        with self._store.database.read() as connection:
            states = notes.list_file_states(connection, self._space, self._id)
            rows = {row.path: row for row in notes.list_changed_notes(connection, self._space, 0)}
        self._known = any(state.problem != UNKNOWN_FOLDER for state in states.values())
        for state in states.values():
            if state.problem:
                self._record_problem(state.path, *state.problem.split(","))
        every = sorted({*files, *states, *rows})
        return [self._load_state(path, states.get(path), rows.get(path)) for path in every]

    def _load_some(self, paths: Iterable[str]) -> list[NoteSyncState]:
        found = []
        with self._store.database.read() as connection:
            for path in sorted(set(paths)):
                state = notes.get_file_state(connection, self._space, self._id, path)
                found.append((path, state, notes.get_note(connection, self._space, path)))
        return [self._load_state(*one) for one in found]

    def _load_state(self, path: str, state: FileState | None, row: NoteRow | None) -> NoteSyncState:
        found = paths.parse_note_path(path)
        assert found is not None  # only names of notes reach this
        read = None
        try:
            read = self._folder.read(space_prefix(self._space) + path)
        except (NoteOutside, NoteUnreadable) as error:
            outside = isinstance(error, NoteOutside)
            self._record_problem(path, "outside" if outside else "unreadable")
        return NoteSyncState(path=path, place=found[1], file=read, state=state, row=row)

    def _guard_deletes(self, todo: Sequence[NoteSyncState]) -> None:
        """Decide whether missing lines are forgotten; lines that moved to another file are not.

        A missing file, or many missing lines, may be a checkout or an unmounted disk: then nothing
        is forgotten.
        """
        pages: dict[str, Document] = {}
        for one in todo:
            try:
                if one.is_changed and one.file is not None:
                    pages[one.path] = parse_note(one.file, one.place.kind)
            except NoteUnreadable:
                continue
        ids = (item.id for page in pages.values() for item in page.items)
        self._elsewhere = frozenset(id for id in ids if id)
        gone, count = False, 0
        for one in todo:
            if one.state and one.row and (one.file is None or one.path in pages):
                deleted = self._count_deleted(one.path, one.state, pages.get(one.path))
                gone |= one.file is None and deleted > 0
                count += deleted
        few = not gone and count <= self._options.forget_at_once_max
        self._may_forget = self._options.forget or few

    def _count_deleted(self, path: str, state: FileState, page: Document | None) -> int:
        with self._store.database.read() as connection:
            shown = notes.list_file_items(connection, self._store.audiences, self._space, path)
            told = [memory for _, memory in shown]
            agreed = load_agreed_lines(connection, self._space, state.lines, told)
        lost = shown if page is None else pair_lines(page.entries, shown, agreed).missing
        return sum(
            memory.id not in self._elsewhere
            and is_line_deleted(agreed.get(memory.id), memory.version, item_from_memory(memory, row.section).done)
            for row, memory in lost
        )

    # One file

    def _sync_file(self, one: NoteSyncState) -> None:
        for _ in range(limits.NOTE_ATTEMPTS_MAX_COUNT):
            try:
                if self._try_sync(one):
                    return
            except NoteMoved:
                pass  # it was written meanwhile: compare again
            except NoteUnreadable as error:
                self._record_unreadable(one, error)
                return
            except InvalidInput as error:  # or what is stored cannot be written into such a file
                outside = isinstance(error, NoteOutside)
                self._record_problem(one.path, "outside" if outside else "refused")
                return
            (one,) = self._load_some([one.path])
        self._record_problem(one.path, "busy")  # the next sync may succeed

    def _try_sync(self, one: NoteSyncState) -> bool:
        """Try to sync one note; return whether nothing is left to do."""
        if one.file is None:
            said = self._tally.problems.get(one.path)
            if said is None or said.problem not in ("outside", "unreadable"):
                self._sync_absent(one)
            return True
        mirrored = one.state is not None and not one.is_unknown
        untouched = mirrored and not one.is_changed  # keep what a person wrote since
        erased = one.row is None and (untouched or self._as_system(lambda tx: notes.is_tombstoned(tx, one.path)))
        if erased or self._is_deleted_page(one):
            self._remove_file(one.path, one.file)
            return True
        document = parse_note(one.file, one.place.kind)
        row = one.row
        if row is None:
            row = build_note_row(one.place, document.head, document.links, self._store.clock())
            if row is None or row.path != one.path:
                self._record_problem(one.path, "unknown_person")
                return True
        return self._merge_changes(one, row, document, one.file)

    def _is_deleted_page(self, one: NoteSyncState) -> bool:
        """Report whether a page was deleted through the database and not edited since."""
        row, state = one.row, one.state
        if row is None or state is None or row.kind is not NoteKind.PAGE or one.is_changed:
            return False
        with self._store.database.read() as connection:
            shown = notes.list_file_items(connection, self._store.audiences, self._space, row.path)
        return row.layout is None and bool(state.lines) and not shown

    def _sync_absent(self, one: NoteSyncState) -> None:
        if one.row is None:
            if not self._options.dry_run:
                self._as_system(lambda tx: notes.delete_file_state(tx, self._id, one.path))
        elif one.state is None or self._options.restore_lines:
            self._create_file(one.row)
        else:
            self._sync_deleted(one.row, one.state)

    def _create_file(self, row: NoteRow) -> None:
        def work(tx: Transaction) -> tuple[bytes, FileState] | None:
            stored = rendering.load_stored(tx, row)
            if not stored.memories:
                return None
            data = rendering.render_file(stored)
            return data, build_file_state(self._id, stored, data)

        made = self._as_system(work)
        if made is None or self._options.read_only:
            return
        self._tally.changes.append(NoteChange(path=row.path, act="add"))
        if not self._options.dry_run:
            self._write_file(row.path, made[0], None)
            self._save_state(made[1])
            self._tally.problems.pop(row.path, None)  # what was missing is there again

    def _sync_deleted(self, row: NoteRow, state: FileState) -> None:
        """Handle a missing file: a person deleted or moved it, or the disk is not mounted."""
        forget = self._options.forget

        def work(tx: Transaction, writer: NoteWriter) -> list[NoteChange]:
            shown = lock_note_items(tx, row.path)
            moved = [memory for _, memory in shown if memory.id in self._elsewhere]
            here = [memory for _, memory in shown if memory.id not in self._elsewhere]
            for memory in moved:
                notes.remove_item(tx, row.path, memory.id)
            act = "forget" if forget else "asks"
            changes = [NoteChange(path=row.path, act=act, before=one.content) for one in here]
            if here and not forget:
                notes.save_file_state(tx, replace(state, problem="asks", asked=len(here)))
                return changes
            summary = get_summary(tx, row)
            for memory in [*here, *([summary] if summary is not None and not moved else [])]:
                writer.forget(memory)
            notes.delete_file_state(tx, state.folder, row.path)
            if moved and not notes.list_items(tx.connection, tx.space, row.path):
                notes.delete_note(tx, row.path)
            return changes

        changes = self._as_owner(row, work)
        asks = any(change.act == "asks" for change in changes)
        self._record_changes(row.path, changes, "asks" if asks else None)

    def _merge_changes(self, one: NoteSyncState, row: NoteRow, document: Document, file: bytes) -> bool:
        """Apply a person's changes in one write, then write the file."""
        options = self._options
        try:
            read, data, state = self._as_owner(
                row, lambda tx, writer: self._merge_file(tx, writer, one, row, document, file)
            )
        except UnknownLines:
            self._record_problem(one.path, UNKNOWN_FOLDER)
            if not options.dry_run:  # left alone until a person accepts it
                digest = digest_data(file)
                left = FileState(folder=self._id, path=one.path, digest=digest, problem=UNKNOWN_FOLDER)
                self._save_state(left)
            return True
        if options.dry_run:
            asks = "asks" if read.count("asks") else None
            self._record_changes(one.path, read.changes, asks)
            return True
        if data != file and not options.read_only:
            self._write_file(one.path, data, file)
            if not read.has_conflicts:
                self._save_state(state)
        if read.has_conflicts and not options.read_only:
            self._tally.changes += [one for one in read.changes if one.act == "conflict"]
            return False  # both are shown now: read it again
        self._record_changes(one.path, read.changes, state.problem)
        return True

    def _merge_file(
        self, tx: Transaction, writer: NoteWriter, one: NoteSyncState, row: NoteRow, document: Document, data: bytes
    ) -> tuple[Readback, bytes, FileState]:
        """Return what was read, the file as it should be, and its state."""
        options, touched = self._options, one.is_changed
        asked = one.state is not None and one.state.asked > 0
        shown = lock_note_items(tx, row.path)
        row = notes.ensure_note(tx, row)
        state = notes.get_file_state(tx.connection, tx.space, self._id, row.path)
        if state is not None and state.problem == UNKNOWN_FOLDER:
            state = None  # it was never read
        stored = StoredNote(row=row, shown=shown, summary=get_summary(tx, row))
        lines = state.lines if state is not None else {}
        read = Readback(
            tx=tx,
            writer=writer,
            row=row,
            document=document,
            shown=shown,
            agreed=load_agreed_lines(tx.connection, tx.space, lines, stored.memories),
            forget=options.forget or (self._may_forget and not asked),
            restore_lines=options.restore_lines,
            elsewhere=self._elsewhere,
            accept_unknown=options.accept_unknown or (self._known and not one.is_unknown),
        )
        read.read_lines()
        if not read.has_conflicts:
            read.read_head(state, touched=touched)
        if read.count(*_STORE_ACTS) and state is not None:
            notes.update_note(tx, row.path, updated_at=tx.at)
        notes.stamp_notes(tx)
        stored = rendering.load_stored(tx, row)
        row = stored.row
        after = rendering.finish_file(document, data, read.edits, stored)
        page = row.kind is NoteKind.PAGE
        if page and not touched and row.layout not in (None, extract_layout(document)):
            after = rendering.render_file(stored)
        if rendering.save_order(tx, stored, after, layout=page and touched):
            notes.stamp_notes(tx)  # other changes of this stamp are examined next time
        made = build_file_state(self._id, stored, after, read, state)
        if after == data and not read.has_conflicts and not options.read_only:
            notes.save_file_state(tx, made)
        return read, after, made

    def _remove_file(self, path: str, file: bytes) -> None:
        """Remove the file of a note that was erased with its person or with all its items."""
        self._tally.changes.append(NoteChange(path=path, act="drop"))
        if not self._keeps_files:
            self._folder.remove(space_prefix(self._space) + path, expected=file)
            self._as_system(lambda tx: notes.delete_file_state(tx, self._id, path))
            self._tally.written += 1

    def _record_unreadable(self, one: NoteSyncState, error: NoteUnreadable) -> None:
        self._record_problem(one.path, "unreadable", error.reason)
        file, state = one.file, one.state
        if file is None or self._keeps_files:
            return
        data = self._as_system(lambda tx: strip_erased_items(tx, file))
        if data != file:
            self._write_file(one.path, data, file)
        if state is not None:
            told = ",".join(["unreadable", error.reason.replace(",", ";")])  # until it is repaired
            self._save_state(replace(state, digest=digest_data(data), problem=told))

    # Helpers

    def _as_owner(self, row: NoteRow, work: Callable[[Transaction, NoteWriter], T]) -> T:
        """Act as the note's owner, or as the operator of the folder for a group's note."""
        store, space, how = self._store, self._space, self._retention
        asking = _resolve_owner(store, space, row)
        done: list[T] = []

        def tried(tx: Transaction) -> None:
            own = NoteWriter(tx, how) if asking else ChatNoteWriter(tx, how, row.chat or "")
            done[:] = [work(tx, own)]
            if self._options.dry_run:
                raise _DryRun

        with suppress(_DryRun):
            if asking is None:
                store.write_as(space, NOTES_OPERATOR, tried)
            else:
                store.write(space, asking, row.thread or asking.chat, tried)
        return done[0]

    def _as_system(self, work: Callable[[Transaction], T]) -> T:
        return self._store.write_as(self._space, "system", work)

    def _save_state(self, state: FileState) -> None:
        self._as_system(lambda tx: notes.save_file_state(tx, state))

    def _write_file(self, path: str, data: bytes, expected: bytes | None) -> None:
        self._folder.write(space_prefix(self._space) + path, data, expected=expected)
        self._tally.written += 1

    def _record_changes(self, path: str, changes: Sequence[NoteChange], problem: str | None) -> None:
        self._tally.changes += changes
        self._tally.read_back += any(one.act in _STORE_ACTS for one in changes)
        self._tally.problems.pop(path, None)
        if problem:
            self._record_problem(path, *problem.split(","))

    def _record_problem(self, path: str, problem: str, *detail: str) -> None:
        said = ", ".join(detail)
        self._tally.problems[path] = NoteProblem(path=path, problem=problem, detail=said)
