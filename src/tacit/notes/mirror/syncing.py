"""One look at the notes of a space: what its files and its store differ in is settled, file by
file, each in one transaction and one write of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from tacit import limits
from tacit.errors import InvalidInput, NoteMoved, NoteOutside, NoteUnreadable
from tacit.model.notes import NoteChange, NoteKind, NoteProblem
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
from tacit.store import notes
from tacit.store.core import Store
from tacit.store.notes import FileState, NoteRow
from tacit.store.writes import Writing

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
        self._store, self._folder, self._space, self._how = store, folder, space, how
        self._options, self._id, self._tally = options, folder.identity(), Tally()
        self._known = known  # this database has mirrored this folder before
        self._elsewhere: frozenset[str] = frozenset()
        self._may_forget = True

    def run(self, paths: Iterable[str] | None = None) -> Tally:
        """Of these notes; None: of all there are, in the folder or in the store."""
        sheets = self._all() if paths is None else self._some(paths)
        self._tally.files = len(sheets)
        asked = self._options.answers
        todo = [
            one for one in sheets if not one.settled or (asked and one.state and one.state.problem)
        ]
        weighed = weigh(self._store, self._space, todo, self._options)
        self._elsewhere, self._may_forget = weighed.elsewhere, weighed.may_forget
        for sheet in todo:
            self._settle(sheet)
        return self._tally

    def _all(self) -> list[Sheet]:
        scan = self._folder.scan()
        for disk, reason in scan.refused.items():
            self._problem(disk, "outside", reason)
        files = [path for disk in scan.files if (path := self._path(disk)) is not None]
        with self._store.database.read() as connection:
            states = notes.states(connection, self._space, self._id)
            rows = {row.path: row for row in notes.changed_since(connection, self._space, 0)}
        self._known = any(state.problem != STRANGE for state in states.values())
        for state in states.values():
            if state.problem:
                self._problem(state.path, *state.problem.split(","))
        every = sorted({*files, *states, *rows})
        return [self._sheet(path, states.get(path), rows.get(path)) for path in every]

    def _some(self, paths: Iterable[str]) -> list[Sheet]:
        found = []
        with self._store.database.read() as connection:
            for path in sorted(set(paths)):
                state = notes.state(connection, self._space, self._id, path)
                found.append((path, state, notes.get(connection, self._space, path)))
        return [self._sheet(*one) for one in found]

    def _path(self, disk: str) -> str | None:
        """The note that a file is, if it is one of this space."""
        found = names.place_of(disk)
        return disk.removeprefix(prefix(self._space)) if found and found[0] == self._space else None

    def _sheet(self, path: str, state: FileState | None, row: NoteRow | None) -> Sheet:
        found = names.place_of(path)
        assert found is not None  # only names of notes come here
        read = None
        try:
            read = self._folder.read(prefix(self._space) + path)
        except NoteOutside:
            self._problem(path, "outside")
        except NoteUnreadable:
            self._problem(path, "unreadable")
        return Sheet(path=path, place=found[1], read=read, state=state, row=row)

    # One file

    def _settle(self, sheet: Sheet) -> None:
        for _ in range(limits.NOTE_ATTEMPTS_MAX_COUNT):
            try:
                if self._settled(sheet):
                    return
            except NoteMoved:
                pass  # somebody wrote meanwhile: look again
            except NoteUnreadable as error:
                self._unreadable(sheet, error)
                return
            except NoteOutside:
                self._problem(sheet.path, "outside")
                return
            except InvalidInput:  # what stands in the store has no place in such a file
                self._problem(sheet.path, "refused")
                return
            (sheet,) = self._some([sheet.path])
        self._problem(sheet.path, "busy")  # the next look may find it still

    def _settled(self, sheet: Sheet) -> bool:
        """Whether there is nothing more to do about it."""
        if sheet.read is None:
            said = self._tally.problems.get(sheet.path)
            there = said is not None and said.problem in ("outside", "unreadable")
            return there or self._absent(sheet)
        mirrored = sheet.state is not None and not sheet.strange
        untouched = mirrored and not sheet.touched  # what a person wrote since stays
        erased = sheet.row is None and (untouched or self._erased(sheet.path))
        if erased or self._discarded(sheet):
            return self._remove(sheet)
        document = parse(sheet.read.data, sheet.place.kind)
        row = sheet.row
        if row is None:
            row = row_for(sheet.place, document.head, document.links, self._store.clock())
            if row is None or row.path != sheet.path:
                self._problem(sheet.path, "unknown_person")
                return True
        return self._merge(sheet, row, document)

    def _absent(self, sheet: Sheet) -> bool:
        if sheet.row is None:
            if not self._options.rehearse:
                self._system(lambda w: notes.drop_state(w, self._id, sheet.path))
        elif sheet.state is None or self._options.bring_back:
            self._create(sheet.row)
        else:
            self._deleted_file(sheet, sheet.row)
        return True

    def _create(self, row: NoteRow) -> None:
        def work(w: Writing) -> tuple[bytes, FileState] | None:
            now = current(w, row)  # first: what changes after this moves its stamp on
            shown = notes.rows_of(w.connection, w.audiences, w.space, row.path)
            summary = summary_of(w, now)
            if not shown and summary is None:
                return None
            data = writing_out.whole(now, shown, summary)
            told = told_of(shown, summary)
            return data, state_of(self._id, now, data, told, None, summary)

        made = self._system(work)
        if made is None or self._options.read_only:
            return
        self._tally.changes.append(NoteChange(path=row.path, act="add"))
        if not self._options.rehearse:
            self._write(row.path, made[0], None)
            self._system(lambda w: notes.set_state(w, made[1]))
            self._tally.problems.pop(row.path, None)  # whatever was missing is there again

    def _deleted_file(self, sheet: Sheet, row: NoteRow) -> None:
        """A person deleted it, or it was moved, or the disk is not there."""

        def work(w: Writing, hand: Hand) -> Outcome:
            return gone(w, hand, row, sheet.state, self._elsewhere, forget=self._options.forget)

        try:
            outcome = self._as_owner(row, work)
        except Rehearsed as told:
            outcome = told.outcome
        self._count(sheet.path, outcome)

    def _merge(self, sheet: Sheet, row: NoteRow, document: Document) -> bool:
        read = sheet.read
        assert read is not None
        asked = sheet.state is not None and sheet.state.asked > 0
        rules = Rules(
            forget=self._options.forget or (self._may_forget and not asked),
            bring_back=self._options.bring_back,
            elsewhere=self._elsewhere,
            strangers=self._options.strangers or (self._known and not sheet.strange),
        )

        def work(w: Writing, hand: Hand) -> tuple[Outcome, bytes, FileState]:
            done = merged(w, hand, row, document, read.data, rules, (self._id, sheet.touched))
            outcome, data, state = done
            if data == read.data and not outcome.clashes and not self._options.read_only:
                notes.set_state(w, state)
            return done

        try:
            outcome, data, state = self._as_owner(row, work)
        except Rehearsed as told:
            self._count(sheet.path, told.outcome)
            return True
        except Strangers:
            return self._left_alone(sheet)
        if data != read.data and not self._options.read_only:
            self._write(sheet.path, data, read)
            if not outcome.clashes:
                self._system(lambda w: notes.set_state(w, state))
        if outcome.clashes and not self._options.read_only:
            self._tally.changes += [one for one in outcome.changes if one.act == "conflict"]
            return False  # both are shown now: read it again
        self._count(sheet.path, outcome, state.problem)
        return True

    def _left_alone(self, sheet: Sheet) -> bool:
        """Until somebody says that it is to be taken in."""
        self._problem(sheet.path, STRANGE)
        if sheet.read is not None and not self._options.rehearse:
            digest = digest_of(sheet.read.data)
            left = FileState(folder=self._id, path=sheet.path, digest=digest, problem=STRANGE)
            self._system(lambda w: notes.set_state(w, left))
        return True

    def _remove(self, sheet: Sheet) -> bool:
        """The note was erased with its person, or with all that stood in it."""
        self._tally.changes.append(NoteChange(path=sheet.path, act="drop"))
        if not self._options.rehearse and not self._options.read_only and sheet.read is not None:
            self._folder.remove(prefix(self._space) + sheet.path, expected=sheet.read)
            self._system(lambda w: notes.drop_state(w, self._id, sheet.path))
            self._tally.written += 1
        return True

    def _unreadable(self, sheet: Sheet, error: NoteUnreadable) -> None:
        self._problem(sheet.path, "unreadable", error.reason)
        if sheet.read is None or self._options.rehearse or self._options.read_only:
            return
        read, state = sheet.read, sheet.state
        data = self._system(lambda w: without_erased(w, read.data))
        if data != read.data:
            self._write(sheet.path, data, read)
        if state is not None:
            told = ",".join(["unreadable", error.reason.replace(",", ";")])  # until it is mended
            left = replace(state, digest=digest_of(data), problem=told)
            self._system(lambda w: notes.set_state(w, left))

    def _discarded(self, sheet: Sheet) -> bool:
        """A page that was deleted as a whole, through the store, and nobody edited since."""
        row, state = sheet.row, sheet.state
        if row is None or state is None or row.kind is not NoteKind.PAGE or sheet.touched:
            return False
        with self._store.database.read() as connection:
            shown = notes.rows_of(connection, self._store.audiences, self._space, row.path)
        return row.layout is None and bool(state.lines) and not shown

    # Small things

    def _erased(self, path: str) -> bool:
        return self._system(lambda w: notes.tombstoned(w, path))

    def _as_owner(self, row: NoteRow, work: Callable[[Writing, Hand], T]) -> T:
        """As the person whose note it is; as the operator of the folder where it is a room's."""

        def tried(w: Writing, hand: Hand) -> T:
            done = work(w, hand)
            if self._options.rehearse:
                raise Rehearsed(done[0] if isinstance(done, tuple) else done)  # type: ignore[arg-type]
            return done

        asking = asking_of(self._store, self._space, row)
        if asking is None:
            chat = row.chat or ""
            return self._store.act(
                self._space, OPERATOR, lambda w: tried(w, RoomHand(w, self._how, chat))
            )
        thread = row.thread or asking.chat
        return self._store.write(
            self._space, asking, thread, lambda w: tried(w, OwnHand(w, self._how))
        )

    def _system(self, work: Callable[[Writing], T]) -> T:
        return self._store.act(self._space, "system", work)

    def _write(self, path: str, data: bytes, expected: Read | None) -> None:
        self._folder.write(prefix(self._space) + path, data, expected=expected)
        self._tally.written += 1

    def _count(self, path: str, outcome: Outcome, problem: str | None = None) -> None:
        self._tally.changes += outcome.changes
        self._tally.read_back += any(one.act in INTO_STORE for one in outcome.changes)
        self._tally.problems.pop(path, None)
        if outcome.asked and not problem:
            problem = "asks"
        if problem:
            self._problem(path, *problem.split(","))

    def _problem(self, path: str, problem: str, *detail: str) -> None:
        said = ", ".join(detail)
        self._tally.problems[path] = NoteProblem(path=path, problem=problem, detail=said)
