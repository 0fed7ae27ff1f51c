"""The tasks of notes that somebody may hear, without the rest of what stands there: of many notes
at once, whose summaries tell the rest."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, select

from tacit.policy.predicate import sql_literal
from tacit.records.memory import State
from tacit.records.notes import CHECKBOX_SECTIONS
from tacit.records.request import Request
from tacit.store import candidates, rendered
from tacit.store.audiences import Audiences
from tacit.store.note_rows import Rows, to_item
from tacit.store.noted import pages
from tacit.store.tables import note_items

_I = note_items.c
_BOXES = (
    select(_I.path, _I.memory_id, _I.section, _I.position, _I.added_on)
    .where(
        _I.space_id == bindparam("space"),
        _I.path.in_(bindparam("paths", expanding=True)),
        _I.section.in_([sql_literal(section) for section in sorted(CHECKBOX_SECTIONS)]),
    )
    .order_by(_I.path, _I.position, _I.memory_id)
)


def boxes(
    connection: Connection, audiences: Audiences, request: Request, paths: Collection[str]
) -> dict[str, Rows]:
    """As `notes.readable`, of tasks and follow-ups alone."""
    told: dict[str, Rows] = {path: [] for path in paths}
    rows = [
        row
        for some in pages(told)
        for row in rendered.rows(connection, _BOXES, {"space": request.space, "paths": some})
    ]
    heard = {
        id: memory
        for some in pages({row[1] for row in rows})
        for id, (memory, _) in candidates.some(connection, audiences, request, some).items()
        if memory.state is State.ACTIVE
    }
    for path, id, *rest in rows:
        if id in heard:
            told[path].append((to_item(id, *rest), heard[id]))
    return told
