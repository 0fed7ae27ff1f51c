"""Which lines are gone from the files of a space, and whether that is forgotten or asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from tacit.notes.mirror.pairing import Shown, kept_of, pair
from tacit.notes.mirror.plan import Alone, missing
from tacit.notes.mirror.sheets import Options, Sheet, parsed
from tacit.notes.mirror.writing_out import agreed_of
from tacit.notes.text.document import Document
from tacit.storage import notes
from tacit.storage.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    elsewhere: frozenset[str] = frozenset()  # ids in files that were changed
    may_forget: bool = True


def weigh(store: Store, space: str, sheets: Sequence[Sheet], options: Options) -> Weighed:
    """Lines that moved from one file to another are not gone. A file that is gone, or many lines at
    once, may be a checkout or a disk that is not there: nothing is forgotten then."""
    pages = {one.path: page for one in sheets if one.is_changed and (page := parsed(one))}
    elsewhere = frozenset(
        entry.item.id for page in pages.values() for entry in page.entries if entry.item.id
    )
    gone, count = False, 0
    with store.database.read() as connection:
        for sheet in sheets:
            if sheet.state is None or sheet.row is None:
                continue
            page = pages.get(sheet.path)
            if sheet.file is None or page is not None:
                deleted = [
                    one
                    for one in _deleted(connection, store, space, sheet, page)
                    if one[1].id not in elsewhere
                ]
                gone |= sheet.file is None and bool(deleted)
                count += len(deleted)
    few = not gone and count <= options.forget_at_once_max
    return Weighed(elsewhere=elsewhere, may_forget=options.forget or few)


def _deleted(
    connection: Connection, store: Store, space: str, sheet: Sheet, page: Document | None
) -> list[Shown]:
    shown = notes.list_file_items(connection, store.audiences, space, sheet.path)
    lines = sheet.state.lines if sheet.state is not None else {}
    agreed = agreed_of(connection, space, lines, [memory for _, memory in shown])
    lost = shown if page is None else pair(page.entries, shown, agreed).missing
    return [
        (row, memory)
        for row, memory in lost
        if missing(agreed.get(memory.id), kept_of(row, memory)) is Alone.FORGET
    ]
