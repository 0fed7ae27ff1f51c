"""Render a note of the store into its file, and build the state both agree on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from tacit.errors import SecretRefused
from tacit.notes import readback
from tacit.notes.document import UNDATED, Document, parse_note, render_note
from tacit.notes.edits import Edit, SetHead, apply_edits, extract_layout, fill_layout_with_ids
from tacit.notes.frontmatter import HeadValue
from tacit.records import notes, validation
from tacit.records.memory import Memory
from tacit.records.notes import SECTIONS_BY_KIND, Frontmatter, Note, NoteKind, NoteRef, Section, TaskProgress
from tacit.storage.memories import Transaction
from tacit.storage.notes import FileState, LineState, NoteRow, get_note, list_file_items, put_item, update_note
from tacit.storage.schema import memory_versions

_INDEX_SUMMARY = "Most important and stable long-term facts and project state."
_COUNTED_SECTIONS = (Section.TASKS, Section.FOLLOW_UPS)
_V = memory_versions.c


def digest_data(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNote:
    """A note as the database has it."""

    row: NoteRow
    shown: Sequence[readback.ShownItem]
    summary: Memory | None

    @property
    def memories(self) -> list[Memory]:
        found = [memory for _, memory in self.shown]
        return found if self.summary is None else [*found, self.summary]

    @property
    def updated_at(self) -> datetime:
        """Return when anything in the note last changed."""
        return max([self.row.updated_at, *(memory.updated_at for memory in self.memories)])


def load_stored(tx: Transaction, row: NoteRow) -> StoredNote:
    """Load a note anew; its row first, because a later change increments its stamp."""
    now = get_note(tx.connection, tx.space, row.path) or row
    shown = list_file_items(tx.connection, tx.audiences, tx.space, row.path)
    return StoredNote(row=now, shown=shown, summary=readback.get_summary(tx, now))


def render_file(stored: StoredNote) -> bytes:
    """Render a new file, in the order of its sections; a page as it was written."""
    row = stored.row
    if row.kind is NoteKind.PAGE and row.layout is not None:
        return fill_layout_with_ids(
            row.layout, [(item.position, notes.item_from_memory(memory, item.section)) for item, memory in stored.shown]
        )
    order = {section: at for at, section in enumerate(SECTIONS_BY_KIND[row.kind])}
    placed = sorted(stored.shown, key=lambda one: (order.get(one[0].section, 0), one[0].position))
    long_term = row.kind is NoteKind.LONG_TERM
    said = stored.summary.content if stored.summary is not None else ""
    name = row.path.split("/", 2)[2] if row.kind is NoteKind.PAGE else None
    note = Note(
        place=NoteRef(kind=row.kind, subject=row.subject, day=row.day, session=row.session, name=name),
        head=Frontmatter(
            created_at=row.created_at,
            updated_at=stored.updated_at,
            summary=_INDEX_SUMMARY if long_term else said,
            session_id=row.session,
            subject_id=row.subject,
            **{key: getattr(row, key) for key in readback.HEAD_FIELDS},
        ),
        items=tuple(
            notes.item_from_memory(memory, item.section, item.added_on if long_term else None)
            for item, memory in placed
        ),
        links=row.links,
    )
    return render_note(note)


def finish_file(document: Document, data: bytes, edits: Sequence[Edit], stored: StoredNote) -> bytes:
    """Apply edits and update the task counts. What needs no edit stays byte for byte."""
    row, at = stored.row, stored.updated_at
    after = apply_edits(document, edits) if edits else data
    if row.kind is NoteKind.PAGE:
        return after
    again = parse_note(after, row.kind)
    changes: dict[str, HeadValue] = {
        section.value: counted
        for section in _COUNTED_SECTIONS
        if again.fields.get(section.value) != str(counted := _count_progress(again, section))
    }
    if not edits and not changes:
        return after
    if again.head.updated_at < at:
        changes["updated_at"] = at
    if again.head.created_at == UNDATED:
        changes["created_at"] = row.created_at
    ours = {"session_id": row.session, "subject_id": row.subject}
    changes |= {key: one for key, one in ours.items() if one and key not in again.fields}
    return apply_edits(again, [SetHead(changes=changes)]) if changes else after


def _count_progress(document: Document, section: Section) -> TaskProgress:
    items = (item for item in document.items if item.section is section and not item.conflict)
    boxes = [item.done for item in items]
    return TaskProgress(done=sum(map(bool, boxes)), total=len(boxes))


def build_file_state(
    folder: str, stored: StoredNote, data: bytes, read: readback.Readback | None = None, before: FileState | None = None
) -> FileState:
    """Build the state that file and database agree on now; `read` led to it, if the file existed.

    Refused lines, and those that were asked about, keep what was agreed before.
    """
    row, summary = stored.row, stored.summary
    document = parse_note(data, row.kind)
    known = before.lines if before is not None else {}
    left = read.unresolved if read is not None else set()
    lines = {id: known[id] for id in left if id in known}
    shown = {memory.id: (item, memory) for item, memory in stored.shown if memory.id not in left}
    for entry in document.entries:
        if entry.item.id in shown and not entry.item.conflict:
            item, memory = shown[entry.item.id]
            done = notes.item_from_memory(memory, item.section).done
            lines[memory.id] = LineState(version=memory.version, done=done, digest=entry.digest)
    if summary is not None and summary.id not in left:
        digest = readback.digest_summary(document.head.summary)
        lines[summary.id] = LineState(version=summary.version, digest=digest)
    clash = any(item.conflict for item in document.items) or readback.SUMMARY_CONFLICT_KEY in document.fields
    asked = read.count("asks") if read is not None else 0
    refused = read.count("refused") if read is not None else 0
    problems = {"asks": asked, "conflict": clash, "refused": refused}
    return FileState(
        folder=folder,
        path=row.path,
        digest=digest_data(data),
        stamp=row.stamp,
        lines=lines,
        problem=",".join(name for name, found in problems.items() if found) or None,
        asked=asked,
    )


def load_agreed_lines(
    connection: Connection, space: str, lines: Mapping[str, LineState], memories: Sequence[Memory]
) -> dict[str, readback.AgreedLine]:
    """Load what was agreed on each line, with its wording where the database has changed."""
    now = {memory.id: memory.version for memory in memories}
    found = {}
    for id, line in lines.items():
        content = None
        if now.get(id, line.version) != line.version:
            wording = select(_V.content).where(_V.space_id == space, _V.memory_id == id, _V.version == line.version)
            content = connection.execute(wording).scalar_one_or_none()
        found[id] = readback.AgreedLine(digest=line.digest, version=line.version, done=line.done, content=content)
    return found


def save_order(tx: Transaction, stored: StoredNote, data: bytes, *, layout: bool) -> bool:
    """Store the order of items in each section; report whether anything changed.

    With `layout`, store the text between the items of a page too, whose positions then count from
    0. What must not be stored stays in the file only.
    """
    row, items = stored.row, {item.memory_id: item for item, _ in stored.shown}
    document = parse_note(data, row.kind)
    places: dict[str, int] = {}
    for position, entry in enumerate(document.entries):
        if entry.item.id in items and not entry.item.conflict:
            places.setdefault(entry.item.id, position)
    changed = False
    if layout:
        text: str | None = extract_layout(document)
        try:
            validation.refuse_secrets("layout", text or "")
        except SecretRefused:
            text = None
        if text != row.layout:
            update_note(tx, row.path, layout=text)
            changed = True
    else:
        in_file = sorted(places, key=lambda id: items[id].section)
        if in_file == sorted(places, key=lambda id: (items[id].section, items[id].position)):
            return False
    for id, position in places.items():
        item = items[id]
        if item.position != position:
            put_item(tx, row.path, id, item.section, position, item.added_on)
            changed = True
    return changed
