"""From a file to the store: what a person changed in a note is done to its memories, each by its
own line; and what the file is to look like then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial

from tacit.errors import Conflict, InvalidInput, NotFound, StoreError
from tacit.notes.mirror.hands import Hand, Known, filed_as
from tacit.notes.mirror.pairing import Loose, Pair, Pairing, Shown, kept_of, line_of, pair
from tacit.notes.mirror.plan import Agreed, Alone, Whereabouts, bereft, missing, settle
from tacit.notes.text.document import Document, Entry
from tacit.notes.text.splices import Add, Drop, Edit, SetItem
from tacit.records import notes
from tacit.records.memory import Memory, State
from tacit.records.notes import CHECKBOX_SECTIONS, Filing, NoteChange, NoteItem, NoteKind, Section
from tacit.storage import memories
from tacit.storage.memories import Transaction
from tacit.storage.notes import (
    ItemRow,
    NoteRow,
    is_tombstoned,
    list_note_paths,
    put_item,
    remove_item,
)

_SUCCEEDED = -1  # the version of what another memory took the place of


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a reading may do."""

    forget: bool = True  # what has no line any more
    restore_lines: bool = False  # the line instead
    elsewhere: frozenset[str] = frozenset()  # ids that stand in other files that were changed
    accept_unknown: bool = True  # ids that this database has never heard of are taken in
    strict: bool = False  # what is refused ends it; otherwise the line is left alone
    own_only: bool = False  # no id counts but of what was shown


class Strangers(Exception):
    """There are lines of another database, and nobody said that they are to be taken in."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    edits: list[Edit] = field(default_factory=list)
    changes: list[NoteChange] = field(default_factory=list)
    # By id: the memory that a line stands for now. What is not here keeps what was agreed before.
    versions: dict[str, tuple[int, bool | None]] = field(default_factory=dict)
    unresolved: set[str] = field(default_factory=set)  # refused or asked about
    has_conflicts: bool = False  # both wordings are to be shown first, and then it is read again
    asked: int = 0
    refused: int = 0

    def count(self, *acts: str) -> int:
        return sum(change.act in acts for change in self.changes)


class Reading:
    """One file in one write."""

    def __init__(
        self,
        w: Transaction,
        hand: Hand,
        row: NoteRow,
        document: Document,
        shown: Sequence[Shown],
        agreed: Mapping[str, Agreed],
        rules: Rules,
    ) -> None:
        self._tx, self._writer, self._row, self._rules = w, hand, row, rules
        self._document, self._shown, self._agreed = document, list(shown), dict(agreed)
        self.outcome = Outcome()

    def read(self) -> Outcome:
        paired = self._pair_successors(pair(self._document.entries, self._shown, self._agreed))
        self._show_conflicts(paired)
        if self.outcome.has_conflicts:
            return self.outcome
        for one in paired.pairs:
            self._attempt(one.entry, one.memory.id, partial(self._apply_pair, one))
        for bare in paired.unpaired:
            self._attempt(bare.entry, bare.entry.item.id, partial(self._apply_unpaired, bare))
        for entry in paired.new:
            if entry.item.content.strip():
                self._attempt(entry, None, partial(self._add_memory, entry))
        for row, memory in paired.missing:
            self._attempt(None, memory.id, partial(self._apply_missing, row, memory))
        return self.outcome

    def _attempt(self, entry: Entry | None, id: str | None, work: Callable[[], None]) -> None:
        """What may not be kept, or is not theirs to change, is left as it stands in the file."""
        try:
            work()
        except StoreError:
            raise
        except (InvalidInput, NotFound, Conflict):
            if self._rules.strict:
                raise
            self.outcome.refused += 1
            self.outcome.unresolved |= {id} if id else set()
            after = None if entry is None else entry.item.content
            self._record_change("refused", after=after)

    def _show_conflicts(self, paired: Pairing) -> None:
        for one in paired.pairs:
            found = settle(
                line_of(one.entry, one.alternatives),
                self._agreed.get(one.memory.id),
                kept_of(one.row, one.memory),
            )
            if found.conflict is not None:
                other = replace(one.entry.item, content=found.conflict, conflict=True)
                other = replace(other, id=one.memory.id, added=one.row.added_on)
                self.outcome.edits.append(Add(item=other, after=one.entry))
                self.outcome.has_conflicts = True
                self._record_change("conflict", found.conflict, found.content)

    def _apply_pair(self, one: Pair) -> None:
        entry, row, memory = one.entry, one.row, one.memory
        before = self._agreed.get(memory.id)
        touched = before is None or before.digest != entry.digest
        found = settle(line_of(entry, one.alternatives), before, kept_of(row, memory))
        section = entry.item.section if touched else row.section
        if found.changes_store or section is not row.section:
            memory = self._update_memory(one, found.content, found.done, section)
        elif found.changes_file:
            self._record_change("show", entry.item.content, found.content)
        dated = entry.item.added if touched and entry.item.added else row.added_on
        if memory.id != row.memory_id or section is not row.section or dated != row.added_on:
            position = row.position if memory.id != row.memory_id else None
            put_item(self._tx, self._row.path, memory.id, section, position, dated)
        done = found.done if section in CHECKBOX_SECTIONS else None
        # A person who took the day off a line does not want it back.
        day = entry.item.added if entry.item.id is not None else dated
        self._set_item(
            entry, NoteItem(section=section, content=found.content, done=done, added=day), memory
        )

    def _update_memory(
        self, one: Pair, content: str, done: bool | None, section: Section
    ) -> Memory:
        memory, was = one.memory, kept_of(one.row, one.memory)
        if content != memory.content:
            memory = self._writer.reword(memory, content)
            self._record_change("update", was.content, content)
        filed = Filing(memory.kind, memory.category, notes.tags_of_item(section, done, memory.tags))
        if section is not one.row.section:
            plain = notes.filing_of_section(section)
            tags = [
                tag
                for tag in memory.tags
                if tag not in notes.filing_of_section(one.row.section).tags
            ]
            filed = plain._replace(tags=notes.tags_of_item(section, done, tags))
        if (memory.kind, memory.category, memory.tags) != tuple(filed):
            memory = self._writer.refile(memory, filed)
            if done != was.done and done is not None:
                self._record_change("complete" if done else "reopen", content, content)
            elif content == was.content:
                self._record_change("update", content, content)
        return memory

    def _apply_unpaired(self, bare: Loose) -> None:
        entry, id = bare.entry, bare.entry.item.id
        assert id is not None
        memory, where = self._find_memory(id)
        if where is Whereabouts.UNKNOWN and not self._rules.accept_unknown:
            raise Strangers
        act = bereft(line_of(entry), self._agreed.get(id), where)
        if act is Alone.DROP:
            self.outcome.edits += [Drop(entry=one) for one in (entry, *bare.alternatives)]
            self._record_change("drop", entry.item.content)
        elif act is Alone.RESTORE and memory is not None:
            self._restore_memory(entry, memory, where)
        else:
            self._add_memory(entry, id if where is Whereabouts.UNKNOWN else None)

    def _find_memory(self, id: str) -> tuple[Memory | None, Whereabouts]:
        if self._rules.own_only:
            return None, Whereabouts.FOREIGN
        memory = memories.get_for_update(self._tx, id)
        if memory is None:
            erased = is_tombstoned(self._tx, id)
            return None, Whereabouts.ERASED if erased else Whereabouts.UNKNOWN
        if not self._writer.may_restore(memory):
            return None, Whereabouts.FOREIGN
        if memory.state in (State.ACTIVE, State.EXPIRED):
            return memory, Whereabouts.ELSEWHERE
        if memory.state is State.FORGOTTEN:
            return memory, Whereabouts.FORGOTTEN
        return None, Whereabouts.FORGOTTEN  # set aside, or replaced by what is not in this note

    def _restore_memory(self, entry: Entry, memory: Memory, where: Whereabouts) -> None:
        item = entry.item
        if where is Whereabouts.FORGOTTEN:
            memory = self._writer.restore(memory)
        day = self._added_on(item)
        row = ItemRow(memory_id=memory.id, section=item.section, position=0, added_on=day)
        done = item.done if item.section in CHECKBOX_SECTIONS else None
        memory = self._update_memory(
            Pair(entry=entry, row=row, memory=memory), item.content, done, item.section
        )
        put_item(self._tx, self._row.path, memory.id, item.section, None, day)
        if where is Whereabouts.FORGOTTEN:
            self._record_change("restore", None, item.content)
        self._set_item(entry, item, memory)

    def _add_memory(self, entry: Entry, id: str | None = None) -> None:
        item = replace(entry.item, added=self._added_on(entry.item))
        known = None
        if id is not None:
            at = (self._row.created_at, self._row.updated_at)
            known = Known(id=id, created_at=at[0], updated_at=at[1])
        memory = self._writer.remember(item.content, filed_as(item), known)
        put_item(self._tx, self._row.path, memory.id, item.section, None, item.added)
        self._record_change("remember", None, item.content)
        self._set_item(entry, item, memory)

    def _apply_missing(self, row: ItemRow, memory: Memory) -> None:
        before = self._agreed.get(memory.id)
        if self._rules.restore_lines or missing(before, kept_of(row, memory)) is Alone.ADD:
            item = notes.item_from_memory(memory, row.section, row.added_on)
            self.outcome.edits.append(Add(item=item, after=self._previous_entry(row)))
            self._record_version(memory, item.done)
            self._record_change("add", None, memory.content)
        elif memory.id in self._rules.elsewhere or self._is_in_other_note(memory.id):
            remove_item(self._tx, self._row.path, memory.id)
        elif self._rules.forget:
            self._writer.forget(memory)
            self._record_change("forget", memory.content)
        else:
            self.outcome.asked += 1
            self.outcome.unresolved.add(memory.id)
            self._record_change("asks", memory.content)

    def _is_in_other_note(self, id: str) -> bool:
        """Out of this note it is not out of mind."""
        return bool(
            list_note_paths(self._tx.connection, self._tx.space, [id])[id] - {self._row.path}
        )

    def _previous_entry(self, row: ItemRow) -> Entry | None:
        """The line that it comes after: the nearest one before it in its section."""
        earlier = {one.memory_id: one.position for one, _ in self._shown if _before(one, row)}
        here = [e for e in self._document.entries if e.item.id in earlier and not e.item.conflict]
        return max(here, key=lambda e: earlier[e.item.id or ""], default=None)

    def _pair_successors(self, paired: Pairing) -> Pairing:
        """Lines of what another memory of the note took the place of are lines of that."""
        if not paired.unpaired or not paired.missing:
            return paired
        lost = {memory.id: (row, memory) for row, memory in paired.missing}
        pairs, loose = list(paired.pairs), []
        for bare in paired.unpaired:
            id = bare.entry.item.id or ""
            heir = lost.pop(self._find_successor(id), None)
            if heir is None:
                loose.append(bare)
                continue
            pairs.append(
                Pair(entry=bare.entry, row=heir[0], memory=heir[1], alternatives=bare.alternatives)
            )
            if id in self._agreed:
                self._agreed[heir[1].id] = replace(self._agreed[id], version=_SUCCEEDED)
        return replace(
            paired, pairs=tuple(pairs), unpaired=tuple(loose), missing=tuple(lost.values())
        )

    def _find_successor(self, id: str) -> str:
        shown, seen = {row.memory_id for row, _ in self._shown}, {id}
        while (memory := memories.get_for_update(self._tx, id)) and memory.superseded_by:
            id = memory.superseded_by
            if id in shown or id in seen:
                return id
            seen.add(id)
        return ""

    def _added_on(self, item: NoteItem) -> date | None:
        if self._row.kind is not NoteKind.LONG_TERM:
            return None
        return item.added or self._tx.at.date()

    def _set_item(self, entry: Entry, item: NoteItem, memory: Memory) -> None:
        wanted = replace(item, id=memory.id, conflict=False)
        if wanted != entry.item:
            self.outcome.edits.append(SetItem(entry=entry, item=wanted))
        self._record_version(memory, wanted.done)

    def _record_version(self, memory: Memory, done: bool | None) -> None:
        self.outcome.versions[memory.id] = (memory.version, done)

    def _record_change(self, act: str, before: str | None = None, after: str | None = None) -> None:
        self.outcome.changes.append(
            NoteChange(path=self._row.path, act=act, before=before, after=after)
        )


def _before(one: ItemRow, row: ItemRow) -> bool:
    return one.section is row.section and one.position < row.position
