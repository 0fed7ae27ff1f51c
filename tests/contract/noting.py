"""Notes as rows, for the contract's stories: made and read through the store."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TypeVar

from tacit.memory import Memory
from tacit.records.memory import ChatKind
from tacit.records.memory import Memory as Record
from tacit.records.notes import NoteKind, Section
from tacit.storage import notes
from tacit.storage.memories import Transaction
from tacit.storage.notes import FileState, LineState, NoteRow

T = TypeVar("T")
SPACE = "default"
DAY = date(2026, 3, 1)
AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
FOLDER = "f1"
WHO_ALICE = "ext:telegram:1001"

INDEX = NoteRow(
    path="_longterms/ext_telegram_1001/_index.md",
    kind=NoteKind.LONG_TERM,
    subject=WHO_ALICE,
    chat_kind=ChatKind.PRIVATE,
    created_at=AT,
    updated_at=AT,
)
OWN = NoteRow(
    path="2026-03-01/telegram_1001.md",
    kind=NoteKind.SESSION,
    subject=WHO_ALICE,
    day=DAY,
    session="telegram:1001",
    chat="telegram:1001",
    chat_kind=ChatKind.PRIVATE,
    created_at=AT,
    updated_at=AT,
)
ROOM = replace(
    OWN,
    path="2026-03-01/telegram_-100.md",
    subject=None,
    session="telegram:-100",
    chat="telegram:-100",
    chat_kind=ChatKind.GROUP,
)


def act(memory: Memory, work: Callable[[Transaction], T]) -> T:
    return memory._storage.write_as(SPACE, "operator:test", work)


def noted(memory: Memory, row: NoteRow, *ids: str, section: Section = Section.FACTS) -> NoteRow:
    """A note with these memories in it, in this order."""

    def work(w: Transaction) -> None:
        notes.ensure_note(w, row)
        for id in ids:
            notes.put_item(w, row.path, id, section)

    act(memory, work)
    return found(memory, row.path)


def found(memory: Memory, path: str) -> NoteRow:
    row = maybe(memory, path)
    assert row is not None
    return row


def maybe(memory: Memory, path: str) -> NoteRow | None:
    with memory._storage.database.read() as connection:
        return notes.get_note(connection, SPACE, path)


def shown(memory: Memory, path: str) -> list[str]:
    """What the file of a note shows."""
    return [record.content for record in records(memory, path)]


def records(memory: Memory, path: str) -> list[Record]:
    with memory._storage.database.read() as connection:
        rows = notes.list_file_items(connection, memory._storage.audiences, SPACE, path)
    return [record for _, record in rows]


def revision(memory: Memory) -> int:
    with memory._storage.database.read() as connection:
        return notes.notes_revision(connection, SPACE)


def mirrored(memory: Memory, path: str, *ids: str) -> FileState:
    """As if a mirror had written the file."""
    lines = {id: LineState(version=1, digest=f"of {id}", done=None) for id in ids}
    state = FileState(folder=FOLDER, path=path, digest="d1", stamp=7, lines=lines)
    act(memory, lambda w: notes.save_file_state(w, state))
    return state


def known(memory: Memory, path: str) -> FileState | None:
    with memory._storage.database.read() as connection:
        return notes.get_file_state(connection, SPACE, FOLDER, path)
