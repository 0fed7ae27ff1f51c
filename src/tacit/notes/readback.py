"""Read changes in the file of a note back into its memories: match lines, then reconcile."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial

from tacit import limits
from tacit.errors import Conflict, InvalidInput, NotFound, StoreError
from tacit.notes.document import Document, Entry
from tacit.notes.edits import AddItem, AddLink, DropItem, DropLink, Edit, SetHead, SetItem
from tacit.notes.frontmatter import HeadValue
from tacit.notes.merge import match_items, merge_links
from tacit.notes.writers import ForeignMemory, NoteWriter
from tacit.records import notes, validation
from tacit.records.memory import Memory, State
from tacit.records.notes import (
    CHECKBOX_SECTIONS,
    SESSION_SUMMARY_FILING,
    Filing,
    NoteChange,
    NoteItem,
    NoteKind,
    NoteLink,
    Section,
)
from tacit.storage import memories
from tacit.storage.memories import Transaction
from tacit.storage.notes import (
    FileState,
    ItemMemories,
    ItemRow,
    LineState,
    NoteRow,
    is_tombstoned,
    list_note_paths,
    put_item,
    remove_item,
    update_note,
)

# One line of a note and its memory: pure functions that compare three states, which are the file,
# the database, and both at the last agreement.


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreedLine(LineState):
    """What both said when they last agreed."""

    content: str | None = None  # the wording of that version; None: unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconciledLine:
    """What both should say."""

    content: str
    done: bool | None
    changes_store: bool = False
    changes_file: bool = False
    conflict: str | None = None  # another wording, to be shown before either is taken


def reconcile_line(
    said: NoteItem,
    digest: str,
    kept: NoteItem,
    version: int,
    agreed: AgreedLine | None,
    alternatives: Collection[str] = (),
) -> ReconciledLine:
    """Reconcile a line of a file, of this digest, with its memory, of this version.

    `alternatives` are the wordings that the file shows beside it.
    """
    done = _merge_done(said.done, agreed, kept.done)
    if agreed is not None and (agreed.digest, agreed.version) == (digest, version):
        # However the line is written, it had this wording at the last agreement.
        return ReconciledLine(content=said.content, done=done, changes_file=done != said.done)
    content, clash = said.content, None
    if content != kept.content:
        if agreed is not None and (digest == agreed.digest or content == agreed.content):
            content = kept.content
        elif (agreed is None or version != agreed.version) and kept.content not in alternatives:
            clash = kept.content
    return ReconciledLine(
        content=content,
        done=done,
        changes_store=(content, done) != (kept.content, kept.done),
        changes_file=(content, done) != (said.content, said.done),
        conflict=clash,
    )


def _merge_done(said: bool | None, agreed: AgreedLine | None, kept: bool | None) -> bool | None:
    """Return the side that changed since the agreement; without one, done wins."""
    if said is None or kept is None or said == kept:
        return kept if said is None else said
    if agreed is None or agreed.done is None:
        return True
    return said if said != agreed.done else kept


def is_line_deleted(agreed: AgreedLine | None, version: int, done: bool | None) -> bool:
    """Report whether a memory without a line is one whose line was deleted.

    If it changed since, the line comes back: the person has not seen the new wording.
    """
    return agreed is not None and (agreed.version, agreed.done) == (version, done)


# Which line of a file is which memory of its note. Pure functions.

ShownItem = tuple[ItemRow, Memory]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePair:
    entry: Entry
    row: ItemRow
    memory: Memory
    alternatives: Sequence[Entry] = ()  # further wordings, left by a conflict


@dataclass(slots=True, kw_only=True)
class LinePairing:
    pairs: list[LinePair]
    unpaired: list[tuple[Entry, Sequence[Entry]]]  # their memory is not shown; with alternatives
    new: list[Entry]  # lines without an id
    missing: ItemMemories  # memories without a line


def pair_lines(entries: Sequence[Entry], shown: Sequence[ShownItem], agreed: Mapping[str, AgreedLine]) -> LinePairing:
    """Pair by id; then lines that lost their id by words, or as new wordings of missing items.

    Of a copied line the unchanged copy keeps the id; the others are new.
    """
    plain: dict[str, list[Entry]] = {}
    clashing: dict[str, list[Entry]] = {}
    new = [entry for entry in entries if entry.item.id is None]
    for entry in entries:
        if entry.item.id is not None:
            (clashing if entry.item.conflict else plain).setdefault(entry.item.id, []).append(entry)
    named: dict[str, Entry] = {}
    for id, some in plain.items():
        before = agreed.get(id)
        same = [one for one in some if before is not None and one.digest == before.digest]
        named[id] = (same or some)[0]
        new += [one for one in some if one is not named[id]]
    for id, some in clashing.items():
        if id not in named:  # the other one was deleted: this is the wording now
            named[id] = some.pop(0)
    new.sort(key=lambda one: one.start)
    rows = {row.memory_id: (row, memory) for row, memory in shown}
    pairing = LinePairing(pairs=[], unpaired=[], new=new, missing=[])
    for id, entry in named.items():
        others = clashing.get(id, ())
        if id in rows:
            row, memory = rows.pop(id)
            pairing.pairs.append(LinePair(entry=entry, row=row, memory=memory, alternatives=others))
        else:
            pairing.unpaired.append((entry, others))
    _pair_by_content(pairing, rows, agreed)
    pairing.missing = list(rows.values())
    return pairing


def _pair_by_content(pairing: LinePairing, left: dict[str, ShownItem], agreed: Mapping[str, AgreedLine]) -> None:
    """Move new lines and the memories left over to the pairs, where they belong together."""

    def take(entry: Entry, id: str) -> None:
        row, memory = left.pop(id)
        pairing.pairs.append(LinePair(entry=entry, row=row, memory=memory))
        pairing.new.remove(entry)

    for entry in tuple(pairing.new):  # stored, but the process ended before the file had the id
        said = (entry.item.content, entry.item.section)
        same = (id for id, (row, memory) in left.items() if (memory.content, row.section) == said)
        if (found := next(same, None)) is not None:
            take(entry, found)
    # Only what had a line before can have lost its id; a copied line has that of another.
    old = [
        notes.item_from_memory(memory, row.section, row.added_on) for id, (row, memory) in left.items() if id in agreed
    ]
    unnamed = [entry for entry in pairing.new if entry.item.id is None]
    if old and unnamed:
        likely = match_items(old, [entry.item for entry in unnamed])
        for entry, (_, before) in zip(unnamed, likely, strict=True):
            if before is not None and before.id is not None:
                take(entry, before.id)


# From a file to the database: apply each changed line to its memory, and tell what the file should
# contain then. The head too: its summary, which is a memory, and other keys.

SUMMARY_CONFLICT_KEY = "summary_conflict"  # the database's wording, where both were changed
HEAD_FIELDS = ("source", "channel", "tags", "contact_id", "contact_nickname")
_SHOWN_STATES = (State.ACTIVE, State.EXPIRED)
_SUPERSEDED_VERSION = -1  # the version of a superseded memory


def digest_summary(summary: str) -> str:
    return hashlib.sha256(summary.encode()).hexdigest()


def get_summary(tx: Transaction, row: NoteRow) -> Memory | None:
    """Return the active summary of a session, if there is one."""
    memory = memories.get_for_update(tx, row.summary_id) if row.summary_id else None
    return memory if memory is not None and memory.state in _SHOWN_STATES else None


def is_storable(value: str | NoteLink | tuple[str, ...] | None) -> bool:
    """Report whether it may be stored. What may not stays in the file only."""
    if isinstance(value, NoteLink):
        value = (value.text, value.target)
    parts = value if isinstance(value, tuple) else () if value is None else (value,)
    try:
        for part in parts:
            validation.refuse_secrets("head", validation.check_storable("head", part, limits.LINK_MAX_CHARS))
    except InvalidInput:
        return False
    return len(parts) <= limits.TAGS_MAX_COUNT


class UnknownLines(Exception):
    """The file has lines of another database that no person has accepted."""


@dataclass(slots=True, kw_only=True)
class Readback:
    """Read one file back in one write: first its lines, then its head."""

    tx: Transaction
    writer: NoteWriter
    row: NoteRow
    document: Document
    shown: Sequence[ShownItem]
    agreed: dict[str, AgreedLine]
    forget: bool = True  # forget what has no line any more
    restore_lines: bool = False  # write the line again instead
    elsewhere: frozenset[str] = frozenset()  # ids that stand in other changed files
    accept_unknown: bool = True  # accept ids that this database never had
    strict: bool = False  # a refusal ends it, and only ids that were shown count

    edits: list[Edit] = field(default_factory=list)  # what the file should change
    changes: list[NoteChange] = field(default_factory=list)
    unresolved: set[str] = field(default_factory=set)  # ids that were refused or asked about

    def count(self, *acts: str) -> int:
        return sum(change.act in acts for change in self.changes)

    @property
    def has_conflicts(self) -> bool:
        """Report whether the file must show both wordings and be read again."""
        return self.count("conflict") > 0

    def read_lines(self) -> None:
        paired = pair_lines(self.document.entries, self.shown, self.agreed)
        self._pair_successors(paired)
        found = [(one, self._reconcile(one)) for one in paired.pairs]
        for one, wanted in found:
            if wanted.conflict is not None:
                other = replace(one.entry.item, content=wanted.conflict, conflict=True)
                other = replace(other, id=one.memory.id, added=one.row.added_on)
                self.edits.append(AddItem(item=other, after=one.entry))
                self._record("conflict", wanted.conflict, wanted.content)
        if self.has_conflicts:
            return
        for one, wanted in found:
            said = one.entry.item.content
            self._attempt(said, one.memory.id, partial(self._apply_pair, one, wanted))
        for entry, others in paired.unpaired:
            work = partial(self._apply_unpaired, entry, others)
            self._attempt(entry.item.content, entry.item.id, work)
        for entry in paired.new:
            if entry.item.content.strip():
                self._attempt(entry.item.content, None, partial(self._add_memory, entry))
        for row, memory in paired.missing:
            self._attempt(None, memory.id, partial(self._apply_missing, row, memory))

    def _attempt(self, said: str | None, id: str | None, work: Callable[[], None]) -> None:
        """Apply a line; leave it as it is where it is refused."""
        try:
            work()
        except StoreError:
            raise
        except (InvalidInput, NotFound, Conflict):
            if self.strict:
                raise
            self.unresolved |= {id} if id else set()
            self._record("refused", after=said)

    def _reconcile(self, one: LinePair) -> ReconciledLine:
        return reconcile_line(
            one.entry.item,
            one.entry.digest,
            notes.item_from_memory(one.memory, one.row.section),
            one.memory.version,
            self.agreed.get(one.memory.id),
            [other.item.content for other in one.alternatives],
        )

    def _apply_pair(self, one: LinePair, wanted: ReconciledLine) -> None:
        item, row, memory = one.entry.item, one.row, one.memory
        before = self.agreed.get(memory.id)
        touched = before is None or before.digest != one.entry.digest
        section = item.section if touched else row.section
        if wanted.changes_store or section is not row.section:
            memory = self._update(memory, row.section, wanted.content, wanted.done, section)
        elif wanted.changes_file:
            self._record("show", item.content, wanted.content)
        dated = item.added if touched and item.added else row.added_on
        if memory.id != row.memory_id or section is not row.section or dated != row.added_on:
            position = row.position if memory.id != row.memory_id else None
            put_item(self.tx, self.row.path, memory.id, section, position, dated)
        self._set_item(
            one.entry,
            memory.id,
            section=section,
            content=wanted.content,
            done=wanted.done if section in CHECKBOX_SECTIONS else None,
            # A person who removed the date of a line does not want it back.
            added=item.added if item.id is not None else dated,
        )

    def _update(self, memory: Memory, was: Section, content: str, done: bool | None, section: Section) -> Memory:
        """Reword, tick or refile a memory that was in the section `was`."""
        old = notes.item_from_memory(memory, was)
        if content != old.content:
            memory = self.writer.reword(memory, content)
            self._record("update", old.content, content)
        filed = Filing(memory.kind, memory.category, notes.tags_of_item(section, done, memory.tags))
        if section is not was:
            former = notes.filing_of_section(was).tags
            kept = [tag for tag in memory.tags if tag not in former]
            filed = notes.filing_of_section(section)
            filed = filed._replace(tags=notes.tags_of_item(section, done, kept))
        if (memory.kind, memory.category, memory.tags) != tuple(filed):
            memory = self.writer.refile(memory, filed)
            if done != old.done and done is not None:
                self._record("complete" if done else "reopen", content, content)
            elif content == old.content:
                self._record("update", content, content)
        return memory

    def _apply_unpaired(self, entry: Entry, others: Sequence[Entry]) -> None:
        """Drop a line whose memory the note does not show, restore the memory, or remember it."""
        id = entry.item.id
        assert id is not None
        memory = None if self.strict else memories.get_for_update(self.tx, id)
        before = self.agreed.get(id)
        is_foreign = memory is not None and not self.writer.may_restore(memory)
        if self.strict or is_foreign:
            self._add_memory(entry)
        elif memory is None and not is_tombstoned(self.tx, id):
            if not self.accept_unknown:
                raise UnknownLines
            self._add_memory(entry, id)
        elif memory is None or (before is not None and before.digest == entry.digest):
            # It was erased, or another writer forgot it or took it out of the note.
            self.edits += [DropItem(entry=one) for one in (entry, *others)]
            self._record("drop", entry.item.content)
        elif memory.state in (*_SHOWN_STATES, State.FORGOTTEN):
            self._restore_memory(entry, memory)
        else:  # quarantined, or superseded by a memory outside this note
            self._add_memory(entry)

    def _restore_memory(self, entry: Entry, memory: Memory) -> None:
        item, forgotten = entry.item, memory.state is State.FORGOTTEN
        if forgotten:
            memory = self.writer.restore(memory)
        done = item.done if item.section in CHECKBOX_SECTIONS else None
        memory = self._update(memory, item.section, item.content, done, item.section)
        put_item(self.tx, self.row.path, memory.id, item.section, None, self._added_on(item))
        if forgotten:
            self._record("restore", None, item.content)
        self._set_item(entry, memory.id)

    def _add_memory(self, entry: Entry, id: str | None = None) -> None:
        """Remember a line; with the id that it has in another database, if given."""
        item, added = entry.item, self._added_on(entry.item)
        filed = notes.filing_of_section(item.section)
        filed = filed._replace(tags=notes.tags_of_item(item.section, item.done))
        known = None if id is None else self._foreign(id)
        memory = self.writer.remember(item.content, filed, known)
        put_item(self.tx, self.row.path, memory.id, item.section, None, added)
        self._record("remember", None, item.content)
        self._set_item(entry, memory.id, added=added)

    def _apply_missing(self, row: ItemRow, memory: Memory) -> None:
        item = notes.item_from_memory(memory, row.section, row.added_on)
        deleted = is_line_deleted(self.agreed.get(memory.id), memory.version, item.done)
        if self.restore_lines or not deleted:
            self.edits.append(AddItem(item=item, after=self._previous_entry(row)))
            self._record("add", None, memory.content)
        elif memory.id in self.elsewhere or self._is_in_other_note(memory.id):
            remove_item(self.tx, self.row.path, memory.id)
        else:
            self._forget(memory)

    def _forget(self, memory: Memory) -> None:
        """Forget a memory whose text was deleted, or ask about it."""
        if self.forget:
            self.writer.forget(memory)
        else:
            self.unresolved.add(memory.id)
        self._record("forget" if self.forget else "asks", memory.content)

    def _is_in_other_note(self, id: str) -> bool:
        """Report whether another note still shows the memory."""
        found = list_note_paths(self.tx.connection, self.tx.space, [id])[id]
        return bool(found - {self.row.path})

    def _previous_entry(self, row: ItemRow) -> Entry | None:
        """Return the nearest line before it in its section."""
        earlier = {
            one.memory_id: one.position
            for one, _ in self.shown
            if one.section is row.section and one.position < row.position
        }
        here = [e for e in self.document.entries if e.item.id in earlier and not e.item.conflict]
        return max(here, key=lambda e: earlier[e.item.id or ""], default=None)

    def _pair_successors(self, paired: LinePairing) -> None:
        """Pair lines of superseded memories with their successors in the note."""
        lost = {memory.id: (row, memory) for row, memory in paired.missing}
        for entry, others in tuple(paired.unpaired) if lost else ():
            id = entry.item.id or ""
            heir = lost.pop(self._find_successor(id), None)
            if heir is not None:
                row, memory = heir
                paired.pairs.append(LinePair(entry=entry, row=row, memory=memory, alternatives=others))
                paired.unpaired.remove((entry, others))
                if id in self.agreed:
                    self.agreed[memory.id] = replace(self.agreed[id], version=_SUPERSEDED_VERSION)
        paired.missing = list(lost.values())

    def _find_successor(self, id: str) -> str:
        shown, seen = {row.memory_id for row, _ in self.shown}, {id}
        while (memory := memories.get_for_update(self.tx, id)) and memory.superseded_by:
            id = memory.superseded_by
            if id in shown or id in seen:
                return id
            seen.add(id)
        return ""

    def _foreign(self, id: str | None) -> ForeignMemory:
        at = (self.row.created_at, self.row.updated_at)
        return ForeignMemory(id=id, created_at=at[0], updated_at=at[1])

    def _added_on(self, item: NoteItem) -> date | None:
        if self.row.kind is not NoteKind.LONG_TERM:
            return None
        return item.added or self.tx.at.date()

    def _set_item(self, entry: Entry, id: str, **changes: object) -> None:
        wanted = replace(entry.item, id=id, conflict=False, **changes)  # type: ignore[arg-type]
        if wanted != entry.item:
            self.edits.append(SetItem(entry=entry, item=wanted))

    def _record(self, act: str, before: str | None = None, after: str | None = None) -> None:
        self.changes.append(NoteChange(path=self.row.path, act=act, before=before, after=after))

    # The head

    def read_head(self, state: FileState | None, *, touched: bool) -> None:
        """Read the head; its keys and links count if a person changed the file (`touched`)."""
        if self.row.kind is NoteKind.SESSION:
            said = self.document.head.summary
            self._attempt(said, self.row.summary_id, partial(self._read_summary, said, state))
        if self.row.kind is not NoteKind.PAGE:
            self._read_fields(touched=touched)
            self._read_links(state, touched=touched)

    def _read_summary(self, said: str, state: FileState | None) -> None:
        memory = get_summary(self.tx, self.row)
        if memory is None:
            self._add_summary(said, state)
            return
        before = self.agreed.get(memory.id)
        if not said:
            if self.restore_lines or not is_line_deleted(before, memory.version, None):
                self._set_head(summary=memory.content)
                self._record("show", None, memory.content)
            else:
                self._forget(memory)
            return
        other = self.document.fields.get(SUMMARY_CONFLICT_KEY)
        found = reconcile_line(
            NoteItem(section=Section.SUMMARY, content=said),
            digest_summary(said),
            NoteItem(section=Section.SUMMARY, content=memory.content),
            memory.version,
            before,
            (other,) if isinstance(other, str) else (),
        )
        if found.conflict is not None:
            self._set_head(**{SUMMARY_CONFLICT_KEY: found.conflict})
            self._record("conflict", found.conflict, said)
        elif found.changes_store:
            self._save_summary_id(self.writer.reword(memory, said))
            self._record("update", memory.content, said)
        elif found.changes_file:
            self._set_head(summary=found.content)
            self._record("show", said, found.content)

    def _add_summary(self, said: str, state: FileState | None) -> None:
        """Remember a summary that has no memory: it is new, or its memory is gone."""
        if not said:
            return
        id = self.row.summary_id
        before = self.agreed.get(id) if id else None
        forgotten = before is not None and before.digest == digest_summary(said)
        buried = id is None and state is not None and state.stamp < 0
        if forgotten or buried:
            self._set_head(summary="")
            if SUMMARY_CONFLICT_KEY in self.document.fields:
                self._set_head(**{SUMMARY_CONFLICT_KEY: None})
            self._record("drop", said)
            return
        known = self._foreign(None) if state is None else None
        self._save_summary_id(self.writer.remember(said, SESSION_SUMMARY_FILING, known))
        self._record("remember", None, said)

    def _save_summary_id(self, memory: Memory) -> None:
        if memory.id != self.row.summary_id:
            update_note(self.tx, self.row.path, summary_id=memory.id)

    def _read_fields(self, *, touched: bool) -> None:
        said, row = self.document.head, self.row
        differ = [
            one for one in HEAD_FIELDS if getattr(said, one) != getattr(row, one) and is_storable(getattr(said, one))
        ]
        if touched:
            changes = {one: getattr(said, one) for one in differ if one in self.document.fields}
            if changes:
                update_note(self.tx, row.path, **changes)
        elif differ:
            self._set_head(**{one: getattr(row, one) for one in differ})

    def _read_links(self, state: FileState | None, *, touched: bool) -> None:
        row = self.row
        said = tuple(link for link in self.document.links if is_storable(link))
        if said == row.links:
            return
        wanted = row.links
        if touched:
            alone = state is not None and state.stamp == row.stamp
            wanted = said if alone else merge_links(row.links, said)
        if wanted != row.links:
            update_note(self.tx, row.path, links=wanted)
        targets = {link.target for link in wanted}
        here = {link.target for link in said}
        self.edits += [DropLink(target=one) for one in sorted(here - targets)]
        self.edits += [AddLink(link=one) for one in wanted if one.target not in here]

    def _set_head(self, **changes: HeadValue) -> None:
        self.edits.append(SetHead(changes=changes))
