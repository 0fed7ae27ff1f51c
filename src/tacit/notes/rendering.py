"""Render a note of the store into its file, and build the state both agree on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, select

from tacit.errors import SecretRefused
from tacit.notes.document import UNDATED, Document, parse_note, render_note
from tacit.notes.edits import Edit, SetHead, apply_edits, extract_layout, fill_layout_with_ids
from tacit.notes.readback import (
    SUMMARY_CONFLICT_KEY,
    AgreedLine,
    ReadbackOutcome,
    ShownItem,
    build_note_head,
    digest_summary,
)
from tacit.records import notes, validation
from tacit.records.memory import Memory
from tacit.records.notes import SECTIONS_BY_KIND, Note, NoteKind, NoteRef, Section, TaskProgress
from tacit.storage.memories import Transaction
from tacit.storage.notes import FileState, LineState, NoteRow, put_item, update_note
from tacit.storage.schema import memory_versions

_COUNTED_SECTIONS = (("tasks", Section.TASKS), ("follow_ups", Section.FOLLOW_UPS))
_V = memory_versions.c


def digest_data(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def note_place(row: NoteRow) -> NoteRef:
    name = row.path.split("/", 2)[2] if row.kind is NoteKind.PAGE else None
    return NoteRef(kind=row.kind, subject=row.subject, day=row.day, session=row.session, name=name)


def last_updated_at(row: NoteRow, shown: Sequence[ShownItem], summary: Memory | None) -> datetime:
    """Return when anything in the note last changed."""
    told = [memory for _, memory in shown] + ([summary] if summary is not None else [])
    return max([row.updated_at, *(memory.updated_at for memory in told)])


def build_note(row: NoteRow, shown: Sequence[ShownItem], summary: Memory | None) -> Note:
    """Build the note, in the order of its sections."""
    order = {section: at for at, section in enumerate(SECTIONS_BY_KIND[row.kind])}
    placed = sorted(shown, key=lambda one: (order.get(one[0].section, 0), one[0].position))
    long_term = row.kind is NoteKind.LONG_TERM
    head = build_note_head(row, summary.content if summary is not None else "")
    return Note(
        place=note_place(row),
        head=replace(head, updated_at=last_updated_at(row, shown, summary)),
        items=tuple(
            notes.item_from_memory(memory, item.section, item.added_on if long_term else None)
            for item, memory in placed
        ),
        links=row.links,
    )


def render_file(row: NoteRow, shown: Sequence[ShownItem], summary: Memory | None) -> bytes:
    """Render a new file."""
    if row.kind is NoteKind.PAGE and row.layout is not None:
        return render_page(row.layout, shown)
    return render_note(build_note(row, shown, summary))


def render_page(layout: str, shown: Sequence[ShownItem]) -> bytes:
    """Render a page as it was written, with the ids of its memories."""
    return fill_layout_with_ids(
        layout,
        [(row.position, notes.item_from_memory(memory, row.section)) for row, memory in shown],
    )


def finish_file(
    document: Document, data: bytes, edits: Sequence[Edit], row: NoteRow, at: datetime
) -> bytes:
    """Apply edits and update the task counts. What needs no edit stays byte for byte."""
    after = apply_edits(document, edits) if edits else data
    if row.kind is NoteKind.PAGE:
        return after
    again = parse_note(after, row.kind)
    changes: dict[str, object] = {
        key: counted
        for key, section in _COUNTED_SECTIONS
        if again.fields.get(key) != str(counted := _count_progress(again, section))
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


def build_file_state(
    folder: str,
    row: NoteRow,
    data: bytes,
    outcome: ReadbackOutcome,
    before: FileState | None,
    summary: Memory | None,
) -> FileState:
    """Build the agreed state; refused lines keep their former one."""
    document = parse_note(data, row.kind)
    known = before.lines if before is not None else {}
    lines = {id: known[id] for id in outcome.unresolved if id in known}
    for entry in document.entries:
        told = outcome.versions.get(entry.item.id or "")
        if told is not None and not entry.item.conflict and entry.item.id is not None:
            version, done = told
            lines[entry.item.id] = LineState(version=version, done=done, digest=entry.digest)
    if summary is not None and summary.id in outcome.versions:
        digest = digest_summary(document.head.summary)
        lines[summary.id] = LineState(version=summary.version, digest=digest)
    return FileState(
        folder=folder,
        path=row.path,
        digest=digest_data(data),
        stamp=row.stamp,
        lines=lines,
        problem=",".join(_list_problems(document, outcome)) or None,
        asked=outcome.asked,
    )


def outcome_of_new_file(shown: Sequence[ShownItem], summary: Memory | None) -> ReadbackOutcome:
    """Return the outcome for a file that was just written whole."""
    outcome = ReadbackOutcome()
    for row, memory in shown:
        outcome.versions[memory.id] = (
            memory.version,
            notes.item_from_memory(memory, row.section).done,
        )
    if summary is not None:
        outcome.versions[summary.id] = (summary.version, None)
    return outcome


def load_agreed_lines(
    connection: Connection, space: str, lines: Mapping[str, LineState], memories: Sequence[Memory]
) -> dict[str, AgreedLine]:
    """Load what was agreed on each line, with its wording where the database has changed."""
    now = {memory.id: memory.version for memory in memories}
    found = {}
    for id, line in lines.items():
        content = None
        if now.get(id, line.version) != line.version:
            wording = select(_V.content).where(
                _V.space_id == space, _V.memory_id == id, _V.version == line.version
            )
            content = connection.execute(wording).scalar_one_or_none()
        found[id] = AgreedLine(
            digest=line.digest, version=line.version, done=line.done, content=content
        )
    return found


def _list_problems(document: Document, outcome: ReadbackOutcome) -> list[str]:
    clash = any(entry.item.conflict for entry in document.entries)
    found = {
        "asks": outcome.asked,
        "conflict": clash or SUMMARY_CONFLICT_KEY in document.fields,
        "refused": outcome.refused,
    }
    return [problem for problem, there in found.items() if there]


def _count_progress(document: Document, section: Section) -> TaskProgress:
    boxes = [
        entry.item.done
        for entry in document.entries
        if entry.item.section is section and not entry.item.conflict
    ]
    return TaskProgress(done=sum(map(bool, boxes)), total=len(boxes))


def save_layout(tx: Transaction, row: NoteRow, shown: Sequence[ShownItem], data: bytes) -> bool:
    """Store the layout of a page and the order of its items; report whether it is new.

    What must not be stored stays in the file only.
    """
    document = parse_note(data, row.kind)
    layout: str | None = extract_layout(document)
    try:
        validation.refuse_secrets("layout", layout or "")
    except SecretRefused:
        layout = None
    if layout != row.layout:
        update_note(tx, row.path, layout=layout)
    place = {item.memory_id: item for item, _ in shown}
    moved = False
    for position, entry in enumerate(document.entries):
        item = place.get(entry.item.id or "")
        if item is not None and item.position != position and not entry.item.conflict:
            put_item(tx, row.path, item.memory_id, item.section, position)
            moved = True
    return moved or layout != row.layout


def save_order(tx: Transaction, row: NoteRow, shown: Sequence[ShownItem], data: bytes) -> bool:
    """Store the order of items in each section; report whether it changed."""
    place = {item.memory_id: item for item, _ in shown}
    entries = [
        entry.item for entry in parse_note(data, row.kind).entries if not entry.item.conflict
    ]
    order = list(dict.fromkeys(item.id for item in entries if item.id in place))
    at: dict[Section, int] = {}
    sorted_already = True
    for id in order:
        item = place[id or ""]
        sorted_already &= at.get(item.section, -1) <= item.position
        at[item.section] = item.position
    if sorted_already:
        return False
    for position, id in enumerate(order):
        item = place[id or ""]
        put_item(tx, row.path, item.memory_id, item.section, position, item.added_on)
    return True
