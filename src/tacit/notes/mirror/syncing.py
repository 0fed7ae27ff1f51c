"""One look at the notes of a space: what its files and its store differ in is settled, file by
file, each in one transaction and one write of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from tacit import limits
from tacit.errors import InvalidInput, NoteMoved, NoteOutside, NoteUnreadable
from tacit.notes.disk.folder import Folder, Read
from tacit.notes.mirror import writing_out
from tacit.notes.mirror.hands import OPERATOR, Hand, Keeping, OwnHand, RoomHand
from tacit.notes.mirror.heads import summary_of
from tacit.notes.mirror.origins import asking_of, row_for
from tacit.notes.mirror.reading_back import Outcome, Rules, Strangers
from tacit.notes.mirror.residue import without_erased
from tacit.notes.mirror.settling import INTO_STORE, current, gone, merged
from tacit.notes.mirror.sheets import STRANGE, Options, Sheet, Tally, prefix
from tacit.notes.mirror.weighing import weigh
from tacit.notes.mirror.writing_out import digest_of, state_of, told_of
from tacit.notes.text import names
from tacit.notes.text.document import Document, parse
from tacit.records.notes import NoteChange, NoteKind, NoteProblem
from tacit.storage import notes
from tacit.storage.memories import Transaction
from tacit.storage.notes import FileState, NoteRow
from tacit.storage.store import Store

T = TypeVar("T")


class Rehearsed(Exception):
    """Takes a write back, and what it would have done with it."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


class Sync:
    def __init__(
        self,
        store: Store,
        folder: Folder,
        space: str,
        how: Keeping,
        options: Options,
        *,
        known: bool = False,
    ) -> None:
        self._store, self._folder, self._space, self._retention = store, folder, space, how
        self._options, self._id, self._tally = options, folder.identity(), Tally()
        self._known = known  # this database has mirrored this folder before
        self._elsewhere: frozenset[str] = frozenset()
        self._may_forget = True

    def run(self, paths: Iterable[str] | None = None) -> Tally:
        """Of these notes; None: of all there are, in the folder or in the store."""
        sheets = self._load_all() if paths is None else self._load_some(paths)
        self._tally.files = len(sheets)
        asked = self._options.resolves_problems
        todo = [
            one
            for one in sheets
            if not one.is_in_sync or (asked and one.state and one.state.problem)
        ]
        weighed = weigh(self._store, self._space, todo, self._options)
        self._elsewhere, self._may_forget = weighed.elsewhere, weighed.may_forget
        for sheet in todo:
            self._sync_file(sheet)
        return self._tally

    def _load_all(self) -> list[Sheet]:
        scan = self._folder.scan()
        for disk, reason in scan.refused.items():
            self._record_problem(disk, "outside", reason)
        files = [path for disk in scan.files if (path := self._note_path(disk)) is not None]
        with self._store.database.read() as connection:
            states = notes.list_file_states(connection, self._space, self._id)
            rows = {row.path: row for row in notes.list_changed_notes(connection, self._space, 0)}
        self._known = any(state.problem != STRANGE for state in states.values())
        for state in states.values():
            if state.problem:
                self._record_problem(state.path, *state.problem.split(","))
        every = sorted({*files, *states, *rows})
        return [self._load_state(path, states.get(path), rows.get(path)) for path in every]

    def _load_some(self, paths: Iterable[str]) -> list[Sheet]:
        found = []
        with self._store.database.read() as connection:
            for path in sorted(set(paths)):
                state = notes.get_file_state(connection, self._space, self._id, path)
                found.append((path, state, notes.get_note(connection, self._space, path)))
        return [self._load_state(*one) for one in found]

    def _note_path(self, disk: str) -> str | None:
        """The note that a file is, if it is one of this space."""
        found = names.place_of(disk)
        return disk.removeprefix(prefix(self._space)) if found and found[0] == self._space else None

    def _load_state(self, path: str, state: FileState | None, row: NoteRow | None) -> Sheet:
        found = names.place_of(path)
        assert found is not None  # only names of notes come here
        read = None
        try:
            read = self._folder.read(prefix(self._space) + path)
        except NoteOutside:
            self._record_problem(path, "outside")
        except NoteUnreadable:
            self._record_problem(path, "unreadable")
        return Sheet(path=path, place=found[1], file=read, state=state, row=row)

    # One file

    def _sync_file(self, sheet: Sheet) -> None:
        for _ in range(limits.NOTE_ATTEMPTS_MAX_COUNT):
            try:
                if self._try_sync(sheet):
                    return
            except NoteMoved:
                pass  # somebody wrote meanwhile: look again
            except NoteUnreadable as error:
                self._record_unreadable(sheet, error)
                return
            except NoteOutside:
                self._record_problem(sheet.path, "outside")
                return
            except InvalidInput:  # what stands in the store has no place in such a file
                self._record_problem(sheet.path, "refused")
                return
            (sheet,) = self._load_some([sheet.path])
        self._record_problem(sheet.path, "busy")  # the next look may find it still

    def _try_sync(self, sheet: Sheet) -> bool:
        """Whether there is nothing more to do about it."""
        if sheet.file is None:
            said = self._tally.problems.get(sheet.path)
            there = said is not None and said.problem in ("outside", "unreadable")
            return there or self._sync_absent(sheet)
        mirrored = sheet.state is not None and not sheet.is_unknown
        untouched = mirrored and not sheet.is_changed  # what a person wrote since stays
        erased = sheet.row is None and (untouched or self._is_erased(sheet.path))
        if erased or self._is_deleted_page(sheet):
            return self._remove_file(sheet)
        document = parse(sheet.file.data, sheet.place.kind)
        row = sheet.row
        if row is None:
            row = row_for(sheet.place, document.head, document.links, self._store.clock())
            if row is None or row.path != sheet.path:
                self._record_problem(sheet.path, "unknown_person")
                return True
        return self._merge_changes(sheet, row, document)

    def _sync_absent(self, sheet: Sheet) -> bool:
        if sheet.row is None:
            if not self._options.rehearse:
                self._as_system(lambda w: notes.delete_file_state(w, self._id, sheet.path))
        elif sheet.state is None or self._options.bring_back:
            self._create_file(sheet.row)
        else:
            self._sync_deleted(sheet, sheet.row)
        return True

    def _create_file(self, row: NoteRow) -> None:
        def work(w: Transaction) -> tuple[bytes, FileState] | None:
            now = current(w, row)  # first: what changes after this moves its stamp on
            shown = notes.list_file_items(w.connection, w.audiences, w.space, row.path)
            summary = summary_of(w, now)
            if not shown and summary is None:
                return None
            data = writing_out.whole(now, shown, summary)
            told = told_of(shown, summary)
            return data, state_of(self._id, now, data, told, None, summary)

        made = self._as_system(work)
        if made is None or self._options.read_only:
            return
        self._tally.changes.append(NoteChange(path=row.path, act="add"))
        if not self._options.rehearse:
            self._write_file(row.path, made[0], None)
            self._as_system(lambda w: notes.save_file_state(w, made[1]))
            self._tally.problems.pop(row.path, None)  # whatever was missing is there again

    def _sync_deleted(self, sheet: Sheet, row: NoteRow) -> None:
        """A person deleted it, or it was moved, or the disk is not there."""

        def work(w: Transaction, hand: Hand) -> Outcome:
            return gone(w, hand, row, sheet.state, self._elsewhere, forget=self._options.forget)

        try:
            outcome = self._as_owner(row, work)
        except Rehearsed as told:
            outcome = told.outcome
        self._record_outcome(sheet.path, outcome)

    def _merge_changes(self, sheet: Sheet, row: NoteRow, document: Document) -> bool:
        read = sheet.file
        assert read is not None
        asked = sheet.state is not None and sheet.state.asked > 0
        rules = Rules(
            forget=self._options.forget or (self._may_forget and not asked),
            restore_lines=self._options.bring_back,
            elsewhere=self._elsewhere,
            accept_unknown=self._options.strangers or (self._known and not sheet.is_unknown),
        )

        def work(w: Transaction, hand: Hand) -> tuple[Outcome, bytes, FileState]:
            done = merged(w, hand, row, document, read.data, rules, (self._id, sheet.is_changed))
            outcome, data, state = done
            if data == read.data and not outcome.has_conflicts and not self._options.read_only:
                notes.save_file_state(w, state)
            return done

        try:
            outcome, data, state = self._as_owner(row, work)
        except Rehearsed as told:
            self._record_outcome(sheet.path, told.outcome)
            return True
        except Strangers:
            return self._leave_unknown(sheet)
        if data != read.data and not self._options.read_only:
            self._write_file(sheet.path, data, read)
            if not outcome.has_conflicts:
                self._as_system(lambda w: notes.save_file_state(w, state))
        if outcome.has_conflicts and not self._options.read_only:
            self._tally.changes += [one for one in outcome.changes if one.act == "conflict"]
            return False  # both are shown now: read it again
        self._record_outcome(sheet.path, outcome, state.problem)
        return True

    def _leave_unknown(self, sheet: Sheet) -> bool:
        """Until somebody says that it is to be taken in."""
        self._record_problem(sheet.path, STRANGE)
        if sheet.file is not None and not self._options.rehearse:
            digest = digest_of(sheet.file.data)
            left = FileState(folder=self._id, path=sheet.path, digest=digest, problem=STRANGE)
            self._as_system(lambda w: notes.save_file_state(w, left))
        return True

    def _remove_file(self, sheet: Sheet) -> bool:
        """The note was erased with its person, or with all that stood in it."""
        self._tally.changes.append(NoteChange(path=sheet.path, act="drop"))
        if not self._options.rehearse and not self._options.read_only and sheet.file is not None:
            self._folder.remove(prefix(self._space) + sheet.path, expected=sheet.file)
            self._as_system(lambda w: notes.delete_file_state(w, self._id, sheet.path))
            self._tally.written += 1
        return True

    def _record_unreadable(self, sheet: Sheet, error: NoteUnreadable) -> None:
        self._record_problem(sheet.path, "unreadable", error.reason)
        if sheet.file is None or self._options.rehearse or self._options.read_only:
            return
        read, state = sheet.file, sheet.state
        data = self._as_system(lambda w: without_erased(w, read.data))
        if data != read.data:
            self._write_file(sheet.path, data, read)
        if state is not None:
            told = ",".join(["unreadable", error.reason.replace(",", ";")])  # until it is mended
            left = replace(state, digest=digest_of(data), problem=told)
            self._as_system(lambda w: notes.save_file_state(w, left))

    def _is_deleted_page(self, sheet: Sheet) -> bool:
        """A page that was deleted as a whole, through the store, and nobody edited since."""
        row, state = sheet.row, sheet.state
        if row is None or state is None or row.kind is not NoteKind.PAGE or sheet.is_changed:
            return False
        with self._store.database.read() as connection:
            shown = notes.list_file_items(connection, self._store.audiences, self._space, row.path)
        return row.layout is None and bool(state.lines) and not shown

    # Small things

    def _is_erased(self, path: str) -> bool:
        return self._as_system(lambda w: notes.is_tombstoned(w, path))

    def _as_owner(self, row: NoteRow, work: Callable[[Transaction, Hand], T]) -> T:
        """As the person whose note it is; as the operator of the folder where it is a room's."""

        def tried(w: Transaction, hand: Hand) -> T:
            done = work(w, hand)
            if self._options.rehearse:
                raise Rehearsed(done[0] if isinstance(done, tuple) else done)  # type: ignore[arg-type]
            return done

        asking = asking_of(self._store, self._space, row)
        if asking is None:
            chat = row.chat or ""
            return self._store.write_as(
                self._space, OPERATOR, lambda w: tried(w, RoomHand(w, self._retention, chat))
            )
        thread = row.thread or asking.chat
        return self._store.write(
            self._space, asking, thread, lambda w: tried(w, OwnHand(w, self._retention))
        )

    def _as_system(self, work: Callable[[Transaction], T]) -> T:
        return self._store.write_as(self._space, "system", work)

    def _write_file(self, path: str, data: bytes, expected: Read | None) -> None:
        self._folder.write(prefix(self._space) + path, data, expected=expected)
        self._tally.written += 1

    def _record_outcome(self, path: str, outcome: Outcome, problem: str | None = None) -> None:
        self._tally.changes += outcome.changes
        self._tally.read_back += any(one.act in INTO_STORE for one in outcome.changes)
        self._tally.problems.pop(path, None)
        if outcome.asked and not problem:
            problem = "asks"
        if problem:
            self._record_problem(path, *problem.split(","))

    def _record_problem(self, path: str, problem: str, *detail: str) -> None:
        said = ", ".join(detail)
        self._tally.problems[path] = NoteProblem(path=path, problem=problem, detail=said)
