"""One file and one note, settled in one write."""

from __future__ import annotations

from dataclasses import replace

from tacit.notes.mirror import writing_out
from tacit.notes.mirror.hands import Hand
from tacit.notes.mirror.heads import HeadReading, summary_of
from tacit.notes.mirror.reading_back import Outcome, Reading, Rules
from tacit.notes.mirror.sheets import STRANGE
from tacit.notes.mirror.writing_out import agreed_of, state_of
from tacit.notes.text.document import Document
from tacit.notes.text.layout import layout_of
from tacit.records.notes import NoteChange, NoteKind
from tacit.storage import memories, notes
from tacit.storage.memories import Transaction
from tacit.storage.notes import FileState, ItemMemories, NoteRow

INTO_STORE = ("remember", "update", "complete", "reopen", "restore", "forget")


def merged(
    w: Transaction,
    hand: Hand,
    row: NoteRow,
    document: Document,
    data: bytes,
    rules: Rules,
    of: tuple[str, bool],
) -> tuple[Outcome, bytes, FileState]:
    """In one write: what a person changed is done, and what the file and its state are then. `of`:
    the folder, and whether somebody changed the file."""
    folder, touched = of
    w.dialect.acquire_lock(w.connection, f"{w.space} note {row.path}")  # as whoever ends a session
    row = notes.ensure_note(w, row)
    state = notes.get_file_state(w.connection, w.space, folder, row.path)
    if state is not None and state.problem == STRANGE:
        state = None  # it was never read
    shown = held(w, row.path)
    summary = summary_of(w, row)
    memories = [memory for _, memory in shown] + ([summary] if summary is not None else [])
    lines = state.lines if state is not None else {}
    agreed = agreed_of(w.connection, w.space, lines, memories)
    reading = Reading(w, hand, row, document, shown, agreed, rules)
    outcome = reading.read()
    if not outcome.has_conflicts:
        HeadReading(w, hand, row, document, agreed, rules, outcome).read(state, touched=touched)
    if outcome.count(*INTO_STORE) and state is not None:
        notes.update_note(w, row.path, updated_at=w.at)
    notes.stamp_notes(w)
    row = current(w, row)
    shown = notes.list_file_items(w.connection, w.audiences, w.space, row.path)
    summary = summary_of(w, row)
    at = writing_out.updated_at(row, shown, summary)
    after = writing_out.finished(document, data, outcome.edits, row, at)
    page = row.kind is NoteKind.PAGE
    if page and not touched and row.layout not in (None, layout_of(document)):
        after = writing_out.whole(row, shown, summary)
    keep = writing_out.keep_layout if page and touched else writing_out.reorder
    if keep(w, row, shown, after):
        notes.stamp_notes(w)
        row = replace(current(w, row), stamp=row.stamp)  # whatever else moved it is looked at
    return outcome, after, state_of(folder, row, after, outcome, state, summary)


def gone(
    w: Transaction,
    hand: Hand,
    row: NoteRow,
    state: FileState | None,
    elsewhere: frozenset[str],
    *,
    forget: bool,
) -> Outcome:
    """The file is not there: a person deleted or renamed it, or the disk is away."""
    w.dialect.acquire_lock(w.connection, f"{w.space} note {row.path}")
    outcome = Outcome()
    shown = held(w, row.path)
    moved = [memory.id for _, memory in shown if memory.id in elsewhere]
    here = [memory for _, memory in shown if memory.id not in elsewhere]
    for id in moved:
        notes.remove_item(w, row.path, id)
    outcome.changes = [
        NoteChange(path=row.path, act="forget" if forget else "asks", before=memory.content)
        for memory in here
    ]
    if here and not forget and state is not None:
        notes.save_file_state(w, replace(state, problem="asks", asked=len(here)))
        outcome.asked = len(here)
        return outcome
    summary = summary_of(w, row)
    for memory in [*here, *([summary] if summary is not None and not moved else [])]:
        hand.forget(memory)
    if state is not None:
        notes.delete_file_state(w, state.folder, row.path)
    if moved and not notes.list_items(w.connection, w.space, row.path):
        notes.delete_note(w, row.path)
    return outcome


def held(w: Transaction, path: str) -> ItemMemories:
    """What a note shows, as it stays until this write is done: another writer may be at it."""
    locked: set[str] = set()
    while True:
        shown = notes.list_file_items(w.connection, w.audiences, w.space, path)
        ids = {memory.id for _, memory in shown}
        if w.dialect.one_writer or ids <= locked:
            return shown
        for id in sorted(ids - locked):
            memories.get_for_update(w, id)
        locked |= ids


def current(w: Transaction, row: NoteRow) -> NoteRow:
    found = notes.get_note(w.connection, w.space, row.path)
    return row if found is None else found
