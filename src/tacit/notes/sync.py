"""Sync the notes of a space with their files, one transaction and one write per file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput, NoteMoved, NoteOutside, NoteUnreadable
from tacit.identity import external_keys
from tacit.identity.resolution import RawRequest, parse_request
from tacit.notes import paths, rendering
from tacit.notes.document import UNDATED, Document, parse_note
from tacit.notes.edits import extract_layout
from tacit.notes.files import FileContent
from tacit.notes.folder import NotesFolder
from tacit.notes.paths import note_path
from tacit.notes.readback import (
    HeadReadback,
    Readback,
    ReadbackOutcome,
    ReadbackRules,
    ShownItem,
    UnknownLines,
    UnpairedAction,
    decide_missing_line,
    get_summary,
    is_storable,
    make_stored_line,
    pair_lines,
)
from tacit.notes.rendering import (
    build_file_state,
    digest_data,
    load_agreed_lines,
    outcome_of_new_file,
)
from tacit.notes.writers import (
    NOTES_OPERATOR,
    ChatNoteWriter,
    NoteRetention,
    NoteWriter,
    OwnerNoteWriter,
)
from tacit.records.memory import ChatKind
from tacit.records.notes import (
    Frontmatter,
    NoteChange,
    NoteKind,
    NoteLink,
    NoteProblem,
    NoteRef,
    NotesReport,
)
from tacit.records.request import Chat, Requester
from tacit.storage import memories, notes
from tacit.storage.memories import Transaction
from tacit.storage.notes import FileState, ItemMemories, NoteRow
from tacit.storage.store import Store

# Remove erased memories from a file that cannot be parsed as a note.

_ID_COMMENT = re.compile(rb"<!--[ \t]{0,8}([A-Za-z0-9]{8})(?:[ \t]{1,8}conflict)?[ \t]{0,8}-->")
_INDENTS = (b" ", b"\t")


def strip_erased_items(tx: Transaction, data: bytes) -> bytes:
    """Remove the bullets of erased memories, with the lines indented below them.

    Everything else stays as it is, because its meaning is unknown.
    """
    kept: list[bytes] = []
    dropping = False
    for line in data.splitlines(keepends=True):
        named = [match.decode() for match in _ID_COMMENT.findall(line)]
        if any(notes.is_tombstoned(tx, id) for id in named):
            dropping = True
        elif not (dropping and line.startswith(_INDENTS) and line.strip()):
            dropping = False
            kept.append(line)
    return b"".join(kept)


# What a sync of a space works with, and its result.

UNKNOWN_FOLDER = "unknown_folder"  # lines of another database, in a folder that was never mirrored


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions:
    forget_at_once_max: int = limits.NOTE_FORGET_AT_ONCE_DEFAULT_COUNT
    forget: bool = False  # however much it is
    accept_unknown: bool = False  # accept lines of another database
    restore_lines: bool = False  # restore missing lines instead of asking
    dry_run: bool = False  # change nothing
    read_only: bool = False  # leave the files as they are

    @property
    def resolves_problems(self) -> bool:
        """Report whether the caller decided about problems that were left alone."""
        return self.forget or self.accept_unknown or self.restore_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSyncState:
    """One note: its file, its stored state and its row."""

    path: str
    place: NoteRef
    file: FileContent | None
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
        return digest_data(self.file.data) != self.state.digest

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


@lru_cache(maxsize=limits.IDENTITY_CACHE_MAX_COUNT)
def space_prefix(space: str) -> str:
    """Return the path prefix of a space's files."""
    somewhere = NoteRef(kind=NoteKind.LONG_TERM, subject="acct:0")
    return paths.note_path(somewhere, space).removesuffix(paths.note_path(somewhere))


def parse_file(sync_state: NoteSyncState) -> Document | None:
    try:
        return (
            parse_note(sync_state.file.data, sync_state.place.kind)
            if sync_state.file is not None
            else None
        )
    except NoteUnreadable:
        return None


# Which lines are gone from the files of a space, and whether to forget their memories or ask.


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGuard:
    elsewhere: frozenset[str] = frozenset()  # ids in changed files
    may_forget: bool = True


def guard_deletes(
    store: Store, space: str, sync_states: Sequence[NoteSyncState], options: SyncOptions
) -> DeleteGuard:
    """Decide about missing lines; lines that moved to another file are not missing.

    A missing file, or many missing lines, may be a checkout or an unmounted disk: then nothing is
    forgotten.
    """
    pages = {one.path: page for one in sync_states if one.is_changed and (page := parse_file(one))}
    elsewhere = frozenset(
        entry.item.id for page in pages.values() for entry in page.entries if entry.item.id
    )
    gone, count = False, 0
    with store.database.read() as connection:
        for sync_state in sync_states:
            if sync_state.state is None or sync_state.row is None:
                continue
            page = pages.get(sync_state.path)
            if sync_state.file is None or page is not None:
                deleted = [
                    one
                    for one in _find_deleted(connection, store, space, sync_state, page)
                    if one[1].id not in elsewhere
                ]
                gone |= sync_state.file is None and bool(deleted)
                count += len(deleted)
    few = not gone and count <= options.forget_at_once_max
    return DeleteGuard(elsewhere=elsewhere, may_forget=options.forget or few)


def _find_deleted(
    connection: Connection,
    store: Store,
    space: str,
    sync_state: NoteSyncState,
    page: Document | None,
) -> list[ShownItem]:
    shown = notes.list_file_items(connection, store.audiences, space, sync_state.path)
    lines = sync_state.state.lines if sync_state.state is not None else {}
    agreed = load_agreed_lines(connection, space, lines, [memory for _, memory in shown])
    lost = shown if page is None else pair_lines(page.entries, shown, agreed).missing
    return [
        (row, memory)
        for row, memory in lost
        if decide_missing_line(agreed.get(memory.id), make_stored_line(row, memory))
        is UnpairedAction.FORGET
    ]


# Who owns a note, and who acts when its file changes.


def build_note_row(
    place: NoteRef, head: Frontmatter, links: tuple[NoteLink, ...], at: datetime
) -> NoteRow | None:
    """Build the row of a file that the database does not know; None without a known owner."""
    try:
        return _build_row(place, head, links, at)
    except InvalidInput:
        return None


def resolve_note_owner(store: Store, space: str, row: NoteRow) -> RawRequest | None:
    """Return the owner of a note, in their private chat; None for a group's note."""
    if row.subject is None:
        return None
    key = row.subject.removeprefix(f"{external_keys.EXTERNAL_PREFIX}:")
    asking = parse_request(Requester(key), Chat.private(row.chat or key))
    alone = store.read(space, asking, lambda _, request: request.private)
    if alone or row.chat in (None, key):
        return asking
    return parse_request(
        Requester(key), Chat.private(key)
    )  # of a chat that belongs to another person by now


def _build_row(
    place: NoteRef, head: Frontmatter, links: tuple[NoteLink, ...], at: datetime
) -> NoteRow | None:
    session = place.kind is NoteKind.SESSION
    named = head.session_id if session else None
    subject = head.subject_id if session else place.subject or head.subject_id
    if subject is not None:
        subject = external_keys.parse_subject(subject)
    which = NoteRef(
        kind=place.kind,
        subject=None if session else subject,
        day=place.day,
        session=place.session or named,
        name=place.name,
    )
    if not session and subject is None:
        return None
    if not session and head.subject_id not in (None, subject):
        return None  # the folder and the head name two people
    chat = _find_chat(head, which.session, subject)
    if chat is None:
        return None
    private = subject is not None
    created = at if head.created_at == UNDATED else min(head.created_at, at)
    return NoteRow(
        path=note_path(which),
        kind=place.kind,
        subject=subject,
        day=place.day,
        session=which.session,
        chat=chat,
        chat_kind=ChatKind.PRIVATE if private else ChatKind.GROUP,
        thread=chat,
        created_at=created,
        updated_at=created if head.updated_at == UNDATED else min(head.updated_at, at),
        source=_storable(head.source),
        channel=_storable(head.channel),
        contact_id=_storable(head.contact_id),
        contact_nickname=_storable(head.contact_nickname),
        tags=head.tags if is_storable(head.tags) else (),
        links=tuple(link for link in links if is_storable(link)),
    )


def _storable(value: str | None) -> str | None:
    return value if is_storable(value) else None


def _find_chat(head: Frontmatter, session: str | None, subject: str | None) -> str | None:
    """Return the chat: a session's name starts with it; the channel in the head may be one too."""
    for named in (head.channel, (session or "").partition("/")[0]):
        if named and ":" in named:
            try:
                chat = external_keys.parse_chat_id(named)
            except InvalidInput:
                continue
            kind = external_keys.infer_chat_kind(chat)
            wanted = ChatKind.PRIVATE if subject is not None else ChatKind.GROUP
            if kind in (None, wanted):
                return chat
    return None if subject is None else subject.removeprefix(f"{external_keys.EXTERNAL_PREFIX}:")


# Reconcile one file with one note in one write.

STORE_ACTS = ("remember", "update", "complete", "reopen", "restore", "forget")


def merge_file(
    tx: Transaction,
    writer: NoteWriter,
    row: NoteRow,
    document: Document,
    data: bytes,
    rules: ReadbackRules,
    of: tuple[str, bool],
) -> tuple[ReadbackOutcome, bytes, FileState]:
    """Apply a person's changes in one write; return the outcome, the file and its state.

    `of`: the folder, and whether a person changed the file.
    """
    folder, touched = of
    tx.dialect.acquire_lock(
        tx.connection, f"{tx.space} note {row.path}"
    )  # same lock as the end of a session
    row = notes.ensure_note(tx, row)
    state = notes.get_file_state(tx.connection, tx.space, folder, row.path)
    if state is not None and state.problem == UNKNOWN_FOLDER:
        state = None  # it was never read
    shown = lock_note_items(tx, row.path)
    summary = get_summary(tx, row)
    memories = [memory for _, memory in shown] + ([summary] if summary is not None else [])
    lines = state.lines if state is not None else {}
    agreed = load_agreed_lines(tx.connection, tx.space, lines, memories)
    reading = Readback(tx, writer, row, document, shown, agreed, rules)
    outcome = reading.read()
    if not outcome.has_conflicts:
        HeadReadback(tx, writer, row, document, agreed, rules, outcome).read(state, touched=touched)
    if outcome.count(*STORE_ACTS) and state is not None:
        notes.update_note(tx, row.path, updated_at=tx.at)
    notes.stamp_notes(tx)
    row = reload_row(tx, row)
    shown = notes.list_file_items(tx.connection, tx.audiences, tx.space, row.path)
    summary = get_summary(tx, row)
    at = rendering.last_updated_at(row, shown, summary)
    after = rendering.finish_file(document, data, outcome.edits, row, at)
    page = row.kind is NoteKind.PAGE
    if page and not touched and row.layout not in (None, extract_layout(document)):
        after = rendering.render_file(row, shown, summary)
    keep = rendering.save_layout if page and touched else rendering.save_order
    if keep(tx, row, shown, after):
        notes.stamp_notes(tx)
        row = replace(
            reload_row(tx, row), stamp=row.stamp
        )  # other changes of its stamp are examined next time
    return outcome, after, build_file_state(folder, row, after, outcome, state, summary)


def apply_deleted_file(
    tx: Transaction,
    writer: NoteWriter,
    row: NoteRow,
    state: FileState | None,
    elsewhere: frozenset[str],
    *,
    forget: bool,
) -> ReadbackOutcome:
    """Handle a missing file: a person deleted or renamed it, or the disk is not mounted."""
    tx.dialect.acquire_lock(tx.connection, f"{tx.space} note {row.path}")
    outcome = ReadbackOutcome()
    shown = lock_note_items(tx, row.path)
    moved = [memory.id for _, memory in shown if memory.id in elsewhere]
    here = [memory for _, memory in shown if memory.id not in elsewhere]
    for id in moved:
        notes.remove_item(tx, row.path, id)
    outcome.changes = [
        NoteChange(path=row.path, act="forget" if forget else "asks", before=memory.content)
        for memory in here
    ]
    if here and not forget and state is not None:
        notes.save_file_state(tx, replace(state, problem="asks", asked=len(here)))
        outcome.asked = len(here)
        return outcome
    summary = get_summary(tx, row)
    for memory in [*here, *([summary] if summary is not None and not moved else [])]:
        writer.forget(memory)
    if state is not None:
        notes.delete_file_state(tx, state.folder, row.path)
    if moved and not notes.list_items(tx.connection, tx.space, row.path):
        notes.delete_note(tx, row.path)
    return outcome


def lock_note_items(tx: Transaction, path: str) -> ItemMemories:
    """Lock what a note shows until this write ends."""
    locked: set[str] = set()
    while True:
        shown = notes.list_file_items(tx.connection, tx.audiences, tx.space, path)
        ids = {memory.id for _, memory in shown}
        if tx.dialect.one_writer or ids <= locked:
            return shown
        for id in sorted(ids - locked):
            memories.get_for_update(tx, id)
        locked |= ids


def reload_row(tx: Transaction, row: NoteRow) -> NoteRow:
    found = notes.get_note(tx.connection, tx.space, row.path)
    return row if found is None else found


# Sync the notes of a space: reconcile file by file, each in one transaction and one write of the
# file.

T = TypeVar("T")


class DryRun(Exception):
    """Roll back a write and carry its result."""

    def __init__(self, outcome: ReadbackOutcome) -> None:
        super().__init__()
        self.outcome = outcome


class NotesSync:
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
        self._known = known  # this database has mirrored this folder before
        self._elsewhere: frozenset[str] = frozenset()
        self._may_forget = True

    def run(self, paths: Iterable[str] | None = None) -> SyncTally:
        """Sync these notes; None: all notes, in the folder or in the database."""
        sync_states = self._load_all() if paths is None else self._load_some(paths)
        self._tally.files = len(sync_states)
        asked = self._options.resolves_problems
        todo = [
            one
            for one in sync_states
            if not one.is_in_sync or (asked and one.state and one.state.problem)
        ]
        weighed = guard_deletes(self._store, self._space, todo, self._options)
        self._elsewhere, self._may_forget = weighed.elsewhere, weighed.may_forget
        for sync_state in todo:
            self._sync_file(sync_state)
        return self._tally

    def _load_all(self) -> list[NoteSyncState]:
        scan = self._folder.scan()
        for disk, reason in scan.refused.items():
            self._record_problem(disk, "outside", reason)
        files = [path for disk in scan.files if (path := self._note_path(disk)) is not None]
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

    def _note_path(self, disk: str) -> str | None:
        """Return the note of a file, if it is one of this space."""
        found = paths.parse_note_path(disk)
        return (
            disk.removeprefix(space_prefix(self._space))
            if found and found[0] == self._space
            else None
        )

    def _load_state(self, path: str, state: FileState | None, row: NoteRow | None) -> NoteSyncState:
        found = paths.parse_note_path(path)
        assert found is not None  # only names of notes reach this
        read = None
        try:
            read = self._folder.read(space_prefix(self._space) + path)
        except NoteOutside:
            self._record_problem(path, "outside")
        except NoteUnreadable:
            self._record_problem(path, "unreadable")
        return NoteSyncState(path=path, place=found[1], file=read, state=state, row=row)

    # One file

    def _sync_file(self, sync_state: NoteSyncState) -> None:
        for _ in range(limits.NOTE_ATTEMPTS_MAX_COUNT):
            try:
                if self._try_sync(sync_state):
                    return
            except NoteMoved:
                pass  # it was written meanwhile: compare again
            except NoteUnreadable as error:
                self._record_unreadable(sync_state, error)
                return
            except NoteOutside:
                self._record_problem(sync_state.path, "outside")
                return
            except InvalidInput:  # what is stored cannot be written into such a file
                self._record_problem(sync_state.path, "refused")
                return
            (sync_state,) = self._load_some([sync_state.path])
        self._record_problem(sync_state.path, "busy")  # the next sync may succeed

    def _try_sync(self, sync_state: NoteSyncState) -> bool:
        """Try to sync one note; return whether nothing is left to do."""
        if sync_state.file is None:
            said = self._tally.problems.get(sync_state.path)
            there = said is not None and said.problem in ("outside", "unreadable")
            return there or self._sync_absent(sync_state)
        mirrored = sync_state.state is not None and not sync_state.is_unknown
        untouched = mirrored and not sync_state.is_changed  # keep what a person wrote since
        erased = sync_state.row is None and (untouched or self._is_erased(sync_state.path))
        if erased or self._is_deleted_page(sync_state):
            return self._remove_file(sync_state)
        document = parse_note(sync_state.file.data, sync_state.place.kind)
        row = sync_state.row
        if row is None:
            row = build_note_row(
                sync_state.place, document.head, document.links, self._store.clock()
            )
            if row is None or row.path != sync_state.path:
                self._record_problem(sync_state.path, "unknown_person")
                return True
        return self._merge_changes(sync_state, row, document)

    def _sync_absent(self, sync_state: NoteSyncState) -> bool:
        if sync_state.row is None:
            if not self._options.dry_run:
                self._as_system(lambda tx: notes.delete_file_state(tx, self._id, sync_state.path))
        elif sync_state.state is None or self._options.restore_lines:
            self._create_file(sync_state.row)
        else:
            self._sync_deleted(sync_state, sync_state.row)
        return True

    def _create_file(self, row: NoteRow) -> None:
        def work(tx: Transaction) -> tuple[bytes, FileState] | None:
            now = reload_row(tx, row)  # first: a later change increments its stamp
            shown = notes.list_file_items(tx.connection, tx.audiences, tx.space, row.path)
            summary = get_summary(tx, now)
            if not shown and summary is None:
                return None
            data = rendering.render_file(now, shown, summary)
            told = outcome_of_new_file(shown, summary)
            return data, build_file_state(self._id, now, data, told, None, summary)

        made = self._as_system(work)
        if made is None or self._options.read_only:
            return
        self._tally.changes.append(NoteChange(path=row.path, act="add"))
        if not self._options.dry_run:
            self._write_file(row.path, made[0], None)
            self._as_system(lambda tx: notes.save_file_state(tx, made[1]))
            self._tally.problems.pop(row.path, None)  # what was missing is there again

    def _sync_deleted(self, sync_state: NoteSyncState, row: NoteRow) -> None:
        """Handle a missing file: deleted, moved, or the disk is not mounted."""

        def work(tx: Transaction, writer: NoteWriter) -> ReadbackOutcome:
            return apply_deleted_file(
                tx, writer, row, sync_state.state, self._elsewhere, forget=self._options.forget
            )

        try:
            outcome = self._as_owner(row, work)
        except DryRun as told:
            outcome = told.outcome
        self._record_outcome(sync_state.path, outcome)

    def _merge_changes(self, sync_state: NoteSyncState, row: NoteRow, document: Document) -> bool:
        read = sync_state.file
        assert read is not None
        asked = sync_state.state is not None and sync_state.state.asked > 0
        rules = ReadbackRules(
            forget=self._options.forget or (self._may_forget and not asked),
            restore_lines=self._options.restore_lines,
            elsewhere=self._elsewhere,
            accept_unknown=self._options.accept_unknown
            or (self._known and not sync_state.is_unknown),
        )

        def work(tx: Transaction, writer: NoteWriter) -> tuple[ReadbackOutcome, bytes, FileState]:
            done = merge_file(
                tx, writer, row, document, read.data, rules, (self._id, sync_state.is_changed)
            )
            outcome, data, state = done
            if data == read.data and not outcome.has_conflicts and not self._options.read_only:
                notes.save_file_state(tx, state)
            return done

        try:
            outcome, data, state = self._as_owner(row, work)
        except DryRun as told:
            self._record_outcome(sync_state.path, told.outcome)
            return True
        except UnknownLines:
            return self._leave_unknown(sync_state)
        if data != read.data and not self._options.read_only:
            self._write_file(sync_state.path, data, read)
            if not outcome.has_conflicts:
                self._as_system(lambda tx: notes.save_file_state(tx, state))
        if outcome.has_conflicts and not self._options.read_only:
            self._tally.changes += [one for one in outcome.changes if one.act == "conflict"]
            return False  # both are shown now: read it again
        self._record_outcome(sync_state.path, outcome, state.problem)
        return True

    def _leave_unknown(self, sync_state: NoteSyncState) -> bool:
        """Leave a file of another database alone until a person accepts it."""
        self._record_problem(sync_state.path, UNKNOWN_FOLDER)
        if sync_state.file is not None and not self._options.dry_run:
            digest = digest_data(sync_state.file.data)
            left = FileState(
                folder=self._id, path=sync_state.path, digest=digest, problem=UNKNOWN_FOLDER
            )
            self._as_system(lambda tx: notes.save_file_state(tx, left))
        return True

    def _remove_file(self, sync_state: NoteSyncState) -> bool:
        """Remove the file of a note that was erased with its person or with all its items."""
        self._tally.changes.append(NoteChange(path=sync_state.path, act="drop"))
        if (
            not self._options.dry_run
            and not self._options.read_only
            and sync_state.file is not None
        ):
            self._folder.remove(
                space_prefix(self._space) + sync_state.path, expected=sync_state.file
            )
            self._as_system(lambda tx: notes.delete_file_state(tx, self._id, sync_state.path))
            self._tally.written += 1
        return True

    def _record_unreadable(self, sync_state: NoteSyncState, error: NoteUnreadable) -> None:
        self._record_problem(sync_state.path, "unreadable", error.reason)
        if sync_state.file is None or self._options.dry_run or self._options.read_only:
            return
        read, state = sync_state.file, sync_state.state
        data = self._as_system(lambda tx: strip_erased_items(tx, read.data))
        if data != read.data:
            self._write_file(sync_state.path, data, read)
        if state is not None:
            told = ",".join(["unreadable", error.reason.replace(",", ";")])  # until it is repaired
            left = replace(state, digest=digest_data(data), problem=told)
            self._as_system(lambda tx: notes.save_file_state(tx, left))

    def _is_deleted_page(self, sync_state: NoteSyncState) -> bool:
        """Report whether a page was deleted through the database and not edited since."""
        row, state = sync_state.row, sync_state.state
        if row is None or state is None or row.kind is not NoteKind.PAGE or sync_state.is_changed:
            return False
        with self._store.database.read() as connection:
            shown = notes.list_file_items(connection, self._store.audiences, self._space, row.path)
        return row.layout is None and bool(state.lines) and not shown

    # Helpers

    def _is_erased(self, path: str) -> bool:
        return self._as_system(lambda tx: notes.is_tombstoned(tx, path))

    def _as_owner(self, row: NoteRow, work: Callable[[Transaction, NoteWriter], T]) -> T:
        """Act as the note's owner, or as the operator of the folder for a group's note."""

        def tried(tx: Transaction, writer: NoteWriter) -> T:
            done = work(tx, writer)
            if self._options.dry_run:
                raise DryRun(done[0] if isinstance(done, tuple) else done)  # type: ignore[arg-type]
            return done

        asking = resolve_note_owner(self._store, self._space, row)
        if asking is None:
            chat = row.chat or ""
            return self._store.write_as(
                self._space,
                NOTES_OPERATOR,
                lambda tx: tried(tx, ChatNoteWriter(tx, self._retention, chat)),
            )
        thread = row.thread or asking.chat
        return self._store.write(
            self._space, asking, thread, lambda tx: tried(tx, OwnerNoteWriter(tx, self._retention))
        )

    def _as_system(self, work: Callable[[Transaction], T]) -> T:
        return self._store.write_as(self._space, "system", work)

    def _write_file(self, path: str, data: bytes, expected: FileContent | None) -> None:
        self._folder.write(space_prefix(self._space) + path, data, expected=expected)
        self._tally.written += 1

    def _record_outcome(
        self, path: str, outcome: ReadbackOutcome, problem: str | None = None
    ) -> None:
        self._tally.changes += outcome.changes
        self._tally.read_back += any(one.act in STORE_ACTS for one in outcome.changes)
        self._tally.problems.pop(path, None)
        if outcome.asked and not problem:
            problem = "asks"
        if problem:
            self._record_problem(path, *problem.split(","))

    def _record_problem(self, path: str, problem: str, *detail: str) -> None:
        said = ", ".join(detail)
        self._tally.problems[path] = NoteProblem(path=path, problem=problem, detail=said)
