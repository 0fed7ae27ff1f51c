"""Read changes in the file of a note back into its memories: match lines, then reconcile."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from functools import partial

from tacit import limits
from tacit.errors import Conflict, InvalidInput, NotFound, StoreError
from tacit.notes.document import Document, Entry
from tacit.notes.edits import AddItem, AddLink, DropItem, DropLink, Edit, SetHead, SetItem
from tacit.notes.merge import match_items, merge_links
from tacit.notes.writers import ForeignMemory, NoteWriter, file_new_item
from tacit.records import notes, validation
from tacit.records.memory import Memory, State
from tacit.records.notes import (
    CHECKBOX_SECTIONS,
    SESSION_SUMMARY_FILING,
    Filing,
    Frontmatter,
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
    ItemRow,
    NoteRow,
    is_tombstoned,
    list_note_paths,
    put_item,
    remove_item,
    update_note,
)

# What to do about one line of a note and its memory. Pure functions that compare three states: the
# file, the database, and both at the last agreement.


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    """What the file says."""

    content: str
    digest: str  # of the lines as written
    done: bool | None = None
    alternatives: tuple[str, ...] = ()  # other wordings shown beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLine:
    """What the database says."""

    content: str
    version: int
    done: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreedLine:
    """What both said when they last agreed."""

    digest: str
    version: int
    done: bool | None = None
    content: str | None = None  # the wording of that version; None: unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconciledLine:
    """What both should say."""

    content: str
    done: bool | None
    changes_store: bool = False  # update the database
    changes_file: bool = False  # update the file
    conflict: str | None = None  # another wording, to be shown before either is taken


class UnpairedAction(StrEnum):
    """What happens to a line or a memory without a counterpart."""

    ADD = "add"  # a memory without a line gets one
    FORGET = "forget"  # its line was deleted
    NOTHING = "nothing"
    DROP = "drop"  # a line without a memory is removed
    RESTORE = "restore"  # the memory is restored
    REMEMBER = "remember"  # the line becomes a memory


class MemoryStatus(StrEnum):
    """What became of a memory that a line names and the note does not show."""

    UNKNOWN = "unknown"  # this database never had it
    ERASED = "erased"
    FORGOTTEN = "forgotten"
    ELSEWHERE = "elsewhere"  # active, but not in this note
    FOREIGN = "foreign"  # the note's owner may not change it


def reconcile_line(line: FileLine, agreed: AgreedLine | None, kept: StoredLine) -> ReconciledLine:
    """Reconcile a line with its memory, both present."""
    done = _merge_done(line, agreed, kept)
    untouched = agreed is not None and agreed.digest == line.digest
    if untouched and agreed is not None and kept.version == agreed.version:
        # However the line is written, it had this wording at the last agreement.
        return ReconciledLine(content=line.content, done=done, changes_file=done != line.done)
    content, clash = _merge_wording(line, agreed, kept)
    return ReconciledLine(
        content=content,
        done=done,
        changes_store=(content, done) != (kept.content, kept.done),
        changes_file=(content, done) != (line.content, line.done),
        conflict=clash,
    )


def decide_missing_line(agreed: AgreedLine | None, kept: StoredLine) -> UnpairedAction:
    """Decide about a memory of the note without a line.

    If it changed since a person deleted its line, the line comes back: the person has not seen the
    new wording.
    """
    if agreed is None or agreed.version != kept.version or agreed.done != kept.done:
        return UnpairedAction.ADD
    return UnpairedAction.FORGET


def decide_unpaired_line(
    line: FileLine, agreed: AgreedLine | None, where: MemoryStatus
) -> UnpairedAction:
    """Decide about a line whose memory the note does not show."""
    if where is MemoryStatus.ERASED:
        return UnpairedAction.DROP
    if where in (MemoryStatus.UNKNOWN, MemoryStatus.FOREIGN):
        return UnpairedAction.REMEMBER
    if agreed is not None and agreed.digest == line.digest:
        return UnpairedAction.DROP  # another writer forgot it, or took it out of the note
    return UnpairedAction.RESTORE  # the line was written again


def _merge_wording(
    line: FileLine, agreed: AgreedLine | None, kept: StoredLine
) -> tuple[str, str | None]:
    if line.content == kept.content:
        return line.content, None
    if agreed is not None:
        if line.digest == agreed.digest or line.content == agreed.content:
            return kept.content, None
        if kept.version == agreed.version:
            return line.content, None
    shown = kept.content in line.alternatives
    return line.content, None if shown else kept.content


def _merge_done(line: FileLine, agreed: AgreedLine | None, kept: StoredLine) -> bool | None:
    """Return the side that changed since the agreement; without one, done wins."""
    if line.done is None or kept.done is None or line.done == kept.done:
        return kept.done if line.done is None else line.done
    if agreed is None or agreed.done is None:
        return True
    return line.done if line.done != agreed.done else kept.done


# Which line of a file is which memory of its note. Pure functions.

ShownItem = tuple[ItemRow, Memory]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePair:
    """A line and its memory."""

    entry: Entry
    row: ItemRow
    memory: Memory
    alternatives: tuple[Entry, ...] = ()  # further wordings, left by a conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpairedLine:
    """A line that names a memory which the note does not show."""

    entry: Entry
    alternatives: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePairing:
    pairs: tuple[LinePair, ...] = ()
    unpaired: tuple[UnpairedLine, ...] = ()
    new: tuple[Entry, ...] = ()  # lines without an id
    missing: tuple[ShownItem, ...] = ()  # memories without a line


def pair_lines(
    entries: Sequence[Entry], shown: Sequence[ShownItem], agreed: Mapping[str, AgreedLine]
) -> LinePairing:
    """Pair by id; then lines that lost their id by words, or as new wordings of missing items."""
    named, others, new = _pair_by_id(entries, agreed)
    rows = {row.memory_id: (row, memory) for row, memory in shown}
    pairs = {
        id: LinePair(
            entry=entry, row=rows[id][0], memory=rows[id][1], alternatives=others.get(id, ())
        )
        for id, entry in named.items()
        if id in rows
    }
    loose = tuple(
        UnpairedLine(entry=entry, alternatives=others.get(id, ()))
        for id, entry in named.items()
        if id not in rows
    )
    left = [one for one in shown if one[0].memory_id not in pairs]
    found, new = _pair_by_content(new, left, agreed)
    pairs |= found
    lost = tuple(one for one in left if one[0].memory_id not in pairs)
    return LinePairing(pairs=tuple(pairs.values()), unpaired=loose, new=tuple(new), missing=lost)


def make_file_line(entry: Entry, others: Sequence[Entry] = ()) -> FileLine:
    return FileLine(
        content=entry.item.content,
        digest=entry.digest,
        done=entry.item.done,
        alternatives=tuple(other.item.content for other in others),
    )


def make_stored_line(row: ItemRow, memory: Memory) -> StoredLine:
    done = notes.item_from_memory(memory, row.section).done
    return StoredLine(content=memory.content, version=memory.version, done=done)


def _pair_by_id(
    entries: Sequence[Entry], agreed: Mapping[str, AgreedLine]
) -> tuple[dict[str, Entry], dict[str, tuple[Entry, ...]], list[Entry]]:
    """Return lines by id, the wordings of conflicts by id, and new lines.

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
    return named, {id: tuple(some) for id, some in clashing.items()}, new


def _pair_by_content(
    new: Sequence[Entry], left: Sequence[ShownItem], agreed: Mapping[str, AgreedLine]
) -> tuple[dict[str, LinePair], list[Entry]]:
    found: dict[str, LinePair] = {}
    rest = list(new)

    def take(entry: Entry, one: ShownItem) -> None:
        row, memory = one
        found[memory.id] = LinePair(entry=entry, row=row, memory=memory)
        rest.remove(entry)

    for entry in new:  # stored, but the process ended before the file had the id
        for one in left:
            item, (row, memory) = entry.item, one
            same = item.content == memory.content and item.section is row.section
            if same and memory.id not in found:
                take(entry, one)
                break
    # Only what had a line before can have lost its id; a copied line has that of another.
    missing = {one[1].id: one for one in left if one[1].id in agreed and one[1].id not in found}
    old = [
        notes.item_from_memory(memory, row.section, row.added_on)
        for row, memory in missing.values()
    ]
    unnamed = [entry for entry in rest if entry.item.id is None]
    if old and unnamed:
        likely = match_items(old, [entry.item for entry in unnamed])
        for entry, (_, before) in zip(unnamed, likely, strict=True):
            if before is not None and before.id is not None:
                take(entry, missing[before.id])
    return found, rest


# From a file to the database: apply each changed line to its memory, and tell what the file should
# contain then.

_SUPERSEDED_VERSION = -1  # the version of a superseded memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadbackRules:
    """What a readback may do."""

    forget: bool = True  # forget what has no line any more
    restore_lines: bool = False  # write the line again instead
    elsewhere: frozenset[str] = frozenset()  # ids that stand in other changed files
    accept_unknown: bool = True  # accept ids that this database never had
    strict: bool = False  # a refusal ends it; otherwise the line is left alone
    own_only: bool = False  # accept no ids but those that were shown


class UnknownLines(Exception):
    """The file has lines of another database that no person has accepted."""


@dataclass(slots=True, kw_only=True)
class ReadbackOutcome:
    edits: list[Edit] = field(default_factory=list)
    changes: list[NoteChange] = field(default_factory=list)
    # By id: the memory of each line. Absent ids keep what was agreed before.
    versions: dict[str, tuple[int, bool | None]] = field(default_factory=dict)
    unresolved: set[str] = field(default_factory=set)  # refused or asked about
    has_conflicts: bool = False  # show both wordings, then read again
    asked: int = 0
    refused: int = 0

    def count(self, *acts: str) -> int:
        return sum(change.act in acts for change in self.changes)


class Readback:
    """Read one file back in one write."""

    def __init__(
        self,
        tx: Transaction,
        writer: NoteWriter,
        row: NoteRow,
        document: Document,
        shown: Sequence[ShownItem],
        agreed: Mapping[str, AgreedLine],
        rules: ReadbackRules,
    ) -> None:
        self._tx, self._writer, self._row, self._rules = tx, writer, row, rules
        self._document, self._shown, self._agreed = document, list(shown), dict(agreed)
        self.outcome = ReadbackOutcome()

    def read(self) -> ReadbackOutcome:
        paired = self._pair_successors(
            pair_lines(self._document.entries, self._shown, self._agreed)
        )
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
        """Apply a line; leave it as it is where it is refused."""
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

    def _show_conflicts(self, paired: LinePairing) -> None:
        for one in paired.pairs:
            found = reconcile_line(
                make_file_line(one.entry, one.alternatives),
                self._agreed.get(one.memory.id),
                make_stored_line(one.row, one.memory),
            )
            if found.conflict is not None:
                other = replace(one.entry.item, content=found.conflict, conflict=True)
                other = replace(other, id=one.memory.id, added=one.row.added_on)
                self.outcome.edits.append(AddItem(item=other, after=one.entry))
                self.outcome.has_conflicts = True
                self._record_change("conflict", found.conflict, found.content)

    def _apply_pair(self, one: LinePair) -> None:
        entry, row, memory = one.entry, one.row, one.memory
        before = self._agreed.get(memory.id)
        touched = before is None or before.digest != entry.digest
        found = reconcile_line(
            make_file_line(entry, one.alternatives), before, make_stored_line(row, memory)
        )
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
        # A person who removed the date of a line does not want it back.
        day = entry.item.added if entry.item.id is not None else dated
        self._set_item(
            entry, NoteItem(section=section, content=found.content, done=done, added=day), memory
        )

    def _update_memory(
        self, one: LinePair, content: str, done: bool | None, section: Section
    ) -> Memory:
        memory, was = one.memory, make_stored_line(one.row, one.memory)
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

    def _apply_unpaired(self, bare: UnpairedLine) -> None:
        entry, id = bare.entry, bare.entry.item.id
        assert id is not None
        memory, where = self._find_memory(id)
        if where is MemoryStatus.UNKNOWN and not self._rules.accept_unknown:
            raise UnknownLines
        act = decide_unpaired_line(make_file_line(entry), self._agreed.get(id), where)
        if act is UnpairedAction.DROP:
            self.outcome.edits += [DropItem(entry=one) for one in (entry, *bare.alternatives)]
            self._record_change("drop", entry.item.content)
        elif act is UnpairedAction.RESTORE and memory is not None:
            self._restore_memory(entry, memory, where)
        else:
            self._add_memory(entry, id if where is MemoryStatus.UNKNOWN else None)

    def _find_memory(self, id: str) -> tuple[Memory | None, MemoryStatus]:
        if self._rules.own_only:
            return None, MemoryStatus.FOREIGN
        memory = memories.get_for_update(self._tx, id)
        if memory is None:
            erased = is_tombstoned(self._tx, id)
            return None, MemoryStatus.ERASED if erased else MemoryStatus.UNKNOWN
        if not self._writer.may_restore(memory):
            return None, MemoryStatus.FOREIGN
        if memory.state in (State.ACTIVE, State.EXPIRED):
            return memory, MemoryStatus.ELSEWHERE
        if memory.state is State.FORGOTTEN:
            return memory, MemoryStatus.FORGOTTEN
        return (
            None,
            MemoryStatus.FORGOTTEN,
        )  # quarantined, or superseded by a memory outside this note

    def _restore_memory(self, entry: Entry, memory: Memory, where: MemoryStatus) -> None:
        item = entry.item
        if where is MemoryStatus.FORGOTTEN:
            memory = self._writer.restore(memory)
        day = self._added_on(item)
        row = ItemRow(memory_id=memory.id, section=item.section, position=0, added_on=day)
        done = item.done if item.section in CHECKBOX_SECTIONS else None
        memory = self._update_memory(
            LinePair(entry=entry, row=row, memory=memory), item.content, done, item.section
        )
        put_item(self._tx, self._row.path, memory.id, item.section, None, day)
        if where is MemoryStatus.FORGOTTEN:
            self._record_change("restore", None, item.content)
        self._set_item(entry, item, memory)

    def _add_memory(self, entry: Entry, id: str | None = None) -> None:
        item = replace(entry.item, added=self._added_on(entry.item))
        known = None
        if id is not None:
            at = (self._row.created_at, self._row.updated_at)
            known = ForeignMemory(id=id, created_at=at[0], updated_at=at[1])
        memory = self._writer.remember(item.content, file_new_item(item), known)
        put_item(self._tx, self._row.path, memory.id, item.section, None, item.added)
        self._record_change("remember", None, item.content)
        self._set_item(entry, item, memory)

    def _apply_missing(self, row: ItemRow, memory: Memory) -> None:
        before = self._agreed.get(memory.id)
        if (
            self._rules.restore_lines
            or decide_missing_line(before, make_stored_line(row, memory)) is UnpairedAction.ADD
        ):
            item = notes.item_from_memory(memory, row.section, row.added_on)
            self.outcome.edits.append(AddItem(item=item, after=self._previous_entry(row)))
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
        """Report whether another note still shows the memory."""
        return bool(
            list_note_paths(self._tx.connection, self._tx.space, [id])[id] - {self._row.path}
        )

    def _previous_entry(self, row: ItemRow) -> Entry | None:
        """Return the nearest line before it in its section."""
        earlier = {
            one.memory_id: one.position
            for one, _ in self._shown
            if one.section is row.section and one.position < row.position
        }
        here = [e for e in self._document.entries if e.item.id in earlier and not e.item.conflict]
        return max(here, key=lambda e: earlier[e.item.id or ""], default=None)

    def _pair_successors(self, paired: LinePairing) -> LinePairing:
        """Pair lines of superseded memories with their successors in the note."""
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
                LinePair(
                    entry=bare.entry, row=heir[0], memory=heir[1], alternatives=bare.alternatives
                )
            )
            if id in self._agreed:
                self._agreed[heir[1].id] = replace(self._agreed[id], version=_SUPERSEDED_VERSION)
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


# The head of a note, both ways: its summary, which is a memory, and other keys.

SUMMARY_CONFLICT_KEY = "summary_conflict"  # the database's wording, where both were changed
INDEX_SUMMARY = "Most important and stable long-term facts and project state."
_HEAD_FIELDS = ("source", "channel", "tags", "contact_id", "contact_nickname")
SHOWN_STATES = (State.ACTIVE, State.EXPIRED)


def digest_summary(summary: str) -> str:
    return hashlib.sha256(summary.encode()).hexdigest()


def build_note_head(row: NoteRow, summary: str) -> Frontmatter:
    return Frontmatter(
        created_at=row.created_at,
        updated_at=row.updated_at,
        summary=INDEX_SUMMARY if row.kind is NoteKind.LONG_TERM else summary,
        session_id=row.session,
        source=row.source,
        channel=row.channel,
        tags=row.tags,
        subject_id=row.subject,
        contact_id=row.contact_id,
        contact_nickname=row.contact_nickname,
    )


def get_summary(tx: Transaction, row: NoteRow) -> Memory | None:
    """Return the active summary of a session, if there is one."""
    memory = memories.get_for_update(tx, row.summary_id) if row.summary_id else None
    return memory if memory is not None and memory.state in SHOWN_STATES else None


def is_storable(value: str | NoteLink | tuple[str, ...] | None) -> bool:
    """Report whether it may be stored. What may not stays in the file only."""
    if isinstance(value, NoteLink):
        value = (value.text, value.target)
    parts = value if isinstance(value, tuple) else () if value is None else (value,)
    try:
        for part in parts:
            validation.refuse_secrets(
                "head", validation.check_storable("head", part, limits.LINK_MAX_CHARS)
            )
    except InvalidInput:
        return False
    return len(parts) <= limits.TAGS_MAX_COUNT


class HeadReadback:
    """Read the head of one file back in one write."""

    def __init__(
        self,
        tx: Transaction,
        writer: NoteWriter,
        row: NoteRow,
        document: Document,
        agreed: Mapping[str, AgreedLine],
        rules: ReadbackRules,
        outcome: ReadbackOutcome,
    ) -> None:
        self._tx, self._writer, self._row, self._document = tx, writer, row, document
        self._agreed, self._rules, self._outcome = agreed, rules, outcome

    def read(self, state: FileState | None, *, touched: bool) -> None:
        """Read the head; it counts if a person changed the file (`touched`)."""
        if self._row.kind is NoteKind.SESSION:
            try:
                self._summary(state)
            except StoreError:
                raise
            except (InvalidInput, NotFound, Conflict):
                if self._rules.strict:
                    raise
                self._outcome.refused += 1
                self._record_change("refused", None, self._document.head.summary)
        if self._row.kind is not NoteKind.PAGE:
            self._fields(touched=touched)
            self._links(state, touched=touched)

    def _summary(self, state: FileState | None) -> None:
        memory, said = get_summary(self._tx, self._row), self._document.head.summary
        if memory is None:
            self._add_summary(said, state)
            return
        before = self._agreed.get(memory.id)
        kept = StoredLine(content=memory.content, version=memory.version)
        if not said:
            self._remove_summary(memory, before, kept)
            return
        other = self._document.fields.get(SUMMARY_CONFLICT_KEY)
        others = (other,) if isinstance(other, str) else ()
        line = FileLine(content=said, digest=digest_summary(said), alternatives=others)
        found = reconcile_line(line, before, kept)
        if found.conflict is not None:
            self._set(**{SUMMARY_CONFLICT_KEY: found.conflict})
            self._outcome.has_conflicts = True
            self._record_change("conflict", found.conflict, said)
        elif found.changes_store:
            memory = self._writer.reword(memory, said)
            self._is(memory)
            self._record_change("update", kept.content, said)
        elif found.changes_file:
            self._set(summary=found.content)
            self._record_change("show", said, found.content)
        self._outcome.versions[memory.id] = (memory.version, None)

    def _add_summary(self, said: str, state: FileState | None) -> None:
        """Remember a summary that has no memory: it is new, or its memory is gone."""
        if not said:
            return
        id = self._row.summary_id
        before = self._agreed.get(id) if id else None
        forgotten = before is not None and before.digest == digest_summary(said)
        buried = id is None and state is not None and state.stamp < 0
        if forgotten or buried:
            self._set(summary="")
            if SUMMARY_CONFLICT_KEY in self._document.fields:
                self._set(**{SUMMARY_CONFLICT_KEY: None})
            self._record_change("drop", said)
            return
        known = None
        if state is None:
            at = (self._row.created_at, self._row.updated_at)
            known = ForeignMemory(id=None, created_at=at[0], updated_at=at[1])
        memory = self._writer.remember(said, SESSION_SUMMARY_FILING, known)
        self._is(memory)
        self._outcome.versions[memory.id] = (memory.version, None)
        self._record_change("remember", None, said)

    def _remove_summary(self, memory: Memory, before: AgreedLine | None, kept: StoredLine) -> None:
        if self._rules.restore_lines or decide_missing_line(before, kept) is UnpairedAction.ADD:
            self._set(summary=memory.content)
            self._outcome.versions[memory.id] = (memory.version, None)
            self._record_change("show", None, memory.content)
        elif self._rules.forget:
            self._writer.forget(memory)
            self._record_change("forget", memory.content)
        else:
            self._outcome.asked += 1
            self._outcome.unresolved.add(memory.id)
            self._record_change("asks", memory.content)

    def _is(self, memory: Memory) -> None:
        if memory.id != self._row.summary_id:
            update_note(self._tx, self._row.path, summary_id=memory.id)

    def _fields(self, *, touched: bool) -> None:
        said, row = self._document.head, self._row
        written = self._document.fields
        differ = [
            one
            for one in _HEAD_FIELDS
            if getattr(said, one) != getattr(row, one) and is_storable(getattr(said, one))
        ]
        if not differ:
            return
        if touched:
            changes = {one: getattr(said, one) for one in differ if one in written}
            if changes:
                update_note(self._tx, row.path, **changes)
        else:
            self._set(**{one: getattr(row, one) for one in differ})

    def _links(self, state: FileState | None, *, touched: bool) -> None:
        row = self._row
        said = tuple(link for link in self._document.links if is_storable(link))
        if said == row.links:
            return
        wanted = row.links
        if touched:
            alone = state is not None and state.stamp == row.stamp
            wanted = said if alone else merge_links(row.links, said)
        if wanted != row.links:
            update_note(self._tx, row.path, links=wanted)
        targets = {link.target for link in wanted}
        here = {link.target for link in said}
        self._outcome.edits += [DropLink(target=one) for one in sorted(here - targets)]
        self._outcome.edits += [AddLink(link=one) for one in wanted if one.target not in here]

    def _set(self, **changes: object) -> None:
        self._outcome.edits.append(SetHead(changes=changes))

    def _record_change(self, act: str, before: str | None = None, after: str | None = None) -> None:
        self._outcome.changes.append(
            NoteChange(path=self._row.path, act=act, before=before, after=after)
        )
