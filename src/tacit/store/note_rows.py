"""Notes and their items as records, and back to rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from tacit.clock import from_micros, to_micros
from tacit.errors import InvalidInput
from tacit.records.memory import ChatKind, Memory
from tacit.records.notes import NoteKind, NoteLink, Section
from tacit.store.tables import notes

# What of a note may change while it stays the same note.
CHANGEABLE = frozenset(
    {"thread", "summary_id", "source", "channel", "contact_id", "contact_nickname", "tags", "links"}
    | {"layout", "updated_at"}
)
COLUMNS = tuple(notes.c)[1:]  # without the space


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    path: str  # as `notes.names.path_of` says, without the folder of the space
    kind: NoteKind
    created_at: datetime
    updated_at: datetime
    subject: str | None = None  # whose it is; None: a room's
    day: date | None = None  # of sessions
    session: str | None = None
    chat: str | None = None
    chat_kind: ChatKind = ChatKind.UNKNOWN
    thread: str | None = None
    summary_id: str | None = None  # the memory that the summary in the head is
    source: str | None = None
    channel: str | None = None
    contact_id: str | None = None
    contact_nickname: str | None = None
    tags: tuple[str, ...] = ()
    links: tuple[NoteLink, ...] = ()
    layout: str | None = None  # of pages: what stands between the items, without an id in it
    stamp: int = 0  # of when it last changed; what is given to `ensure` counts for nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    memory_id: str
    section: Section
    position: int
    added_on: date | None = None


Rows = list[tuple[ItemRow, Memory]]


def to_columns(space: str, row: NoteRow) -> dict[str, Any]:
    """A row of `notes`."""
    values = {column.name: packed(column.name, getattr(row, column.name)) for column in COLUMNS}
    return {"space_id": space, **values}


def to_note(row: Any) -> NoteRow:
    """`row` is a tuple of COLUMNS."""
    named = dict(zip((column.name for column in COLUMNS), row, strict=True))
    return NoteRow(
        **named
        | {
            "kind": NoteKind(named["kind"]),
            "chat_kind": ChatKind(named["chat_kind"]),
            "day": to_day(named["day"]),
            "created_at": from_micros(named["created_at"]),
            "updated_at": from_micros(named["updated_at"]),
            "tags": tuple(json.loads(named["tags"])),
            "links": tuple(
                NoteLink(text=text, target=target) for text, target in json.loads(named["links"])
            ),
        }
    )


def packed(name: str, value: Any) -> Any:
    """A field of NoteRow as its column has it."""
    if name == "tags":
        return json.dumps(list(value), ensure_ascii=False)
    if name == "links":
        return json.dumps([[link.text, link.target] for link in value], ensure_ascii=False)
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, date):
        return value.isoformat()
    return value.value if isinstance(value, NoteKind | ChatKind) else value


def changes_of(changes: dict[str, Any]) -> dict[str, Any]:
    """Columns and values for fields of NoteRow."""
    fixed = changes.keys() - CHANGEABLE
    if fixed:
        raise InvalidInput(min(fixed), "is no field of a note that changes")
    return {name: packed(name, value) for name, value in changes.items()}


def to_item(memory_id: str, section: str, position: int, added_on: str | None) -> ItemRow:
    return ItemRow(
        memory_id=memory_id,
        section=Section(section),
        position=position,
        added_on=to_day(added_on),
    )


def to_day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
