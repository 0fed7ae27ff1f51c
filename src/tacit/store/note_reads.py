"""Notes as somebody may hear them: each item through the predicate."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import Any

from sqlalchemy import Connection, FromClause, Select, bindparam, select, union_all

from tacit.policy.predicate import sql_literal
from tacit.records.memory import ChatKind, Memory, State
from tacit.records.notes import NoteKind
from tacit.records.request import Request
from tacit.store import candidates, rendered
from tacit.store.audiences import Audiences
from tacit.store.note_rows import COLUMNS, NoteRow, Rows, to_item, to_note
from tacit.store.noted import pages
from tacit.store.tables import chat_members, note_items, notes

_N = notes.c
_I = note_items.c
_C = chat_members.c
_SHOWN = frozenset({State.ACTIVE, State.EXPIRED})
_LOOKED_AT_ONCE_COUNT = 100
_OF_PATHS = (
    select(_I.path, _I.memory_id, _I.section, _I.position, _I.added_on)
    .where(_I.space_id == bindparam("space"), _I.path.in_(bindparam("paths", expanding=True)))
    .order_by(_I.path, _I.position, _I.memory_id)
)


def readable(
    connection: Connection, audiences: Audiences, request: Request, paths: Collection[str]
) -> dict[str, Rows]:
    """Of these notes what this request may hear, by position; every path is there, maybe with
    nothing. `request.managing()` hears one's own that are expired as well."""
    told: dict[str, Rows] = {path: [] for path in paths}
    rows = [row for some in pages(told) for row in _rows(connection, request.space, some)]
    heard = _heard(connection, audiences, request, {row[1] for row in rows})
    for path, id, *rest in rows:
        if id in heard:
            told[path].append((to_item(id, *rest), heard[id]))
    return told


def summaries(
    connection: Connection, audiences: Audiences, request: Request, rows: Sequence[NoteRow]
) -> dict[str, Memory]:
    """By path: the summaries in the heads that this request may hear."""
    named = {row.path: row.summary_id for row in rows if row.summary_id is not None}
    heard = _heard(connection, audiences, request, set(named.values()))
    return {path: heard[id] for path, id in named.items() if id in heard}


def recent(
    connection: Connection, audiences: Audiences, request: Request, since: date, limit: int
) -> list[NoteRow]:
    """Sessions from that day on, newest first. One's own private ones in private alone; a group's
    in that group, and in private for whoever was there: as far as any of it may be heard."""
    found: list[NoteRow] = []
    for page in _candidates(connection, request, since):
        rooms = [row for row in page if row.chat_kind is ChatKind.GROUP]
        closed = {row.path for row in rooms} - _told(connection, audiences, request, rooms)
        found += [row for row in page if row.path not in closed]
        if len(found) >= limit:
            break
    return found[:limit]


def _told(
    connection: Connection, audiences: Audiences, request: Request, rows: Sequence[NoteRow]
) -> set[str]:
    """The paths of those of which something may be heard."""
    summed = summaries(connection, audiences, request, rows)
    items = readable(connection, audiences, request, [row.path for row in rows])
    return {path for path, heard in items.items() if heard} | set(summed)


def _candidates(connection: Connection, request: Request, since: date) -> Iterator[list[NoteRow]]:
    """Pages of what may be looked at here at all."""
    if request.requester is None or not (request.private or request.kind is ChatKind.GROUP):
        return
    rooms, mine = sorted(request.chat_ids), sorted(request.own_identities)
    if request.private:
        found = rendered.rows(connection, _ROOMS, {"space": request.space, "mine": mine})
        rooms = sorted({chat for chat, _ in found})
    params: dict[str, Any] = {
        "space": request.space,
        "since": since.isoformat(),
        "rooms": rooms,
        "most": _LOOKED_AT_ONCE_COUNT,
        "after": 0,
    }
    statement = _OF_ROOMS
    if request.private:
        statement, params = _OF_BOTH, params | {"mine": mine}
    while True:
        rows = rendered.rows(connection, statement, params)
        yield [to_note(row) for row in rows]
        if len(rows) < _LOOKED_AT_ONCE_COUNT:
            return
        params["after"] += _LOOKED_AT_ONCE_COUNT


def _session(*which: Any) -> Select[Any]:
    return select(*COLUMNS).where(
        _N.space_id == bindparam("space"),
        _N.kind == sql_literal(NoteKind.SESSION),
        _N.day >= bindparam("since"),
        *which,
    )


def _newest(rows: FromClause) -> Select[Any]:
    order = (rows.c.day.desc(), rows.c.updated_at.desc(), rows.c.path)
    return select(rows).order_by(*order).limit(bindparam("most")).offset(bindparam("after"))


# What the primary key does not hold is read along: else SQLite would walk through all of that.
_ROOMS = select(_C.chat, _C.left_at).where(
    _C.space_id == bindparam("space"), _C.person.in_(bindparam("mine", expanding=True))
)
_GROUPS = _session(
    _N.chat.in_(bindparam("rooms", expanding=True)), _N.chat_kind == sql_literal(ChatKind.GROUP)
)
_OWN = _session(
    _N.subject.in_(bindparam("mine", expanding=True)), _N.chat_kind == sql_literal(ChatKind.PRIVATE)
)
_OF_ROOMS = _newest(_GROUPS.subquery())
_OF_BOTH = _newest(union_all(_OWN, _GROUPS).subquery())


def _rows(connection: Connection, space: str, paths: list[str]) -> Sequence[tuple[Any, ...]]:
    return rendered.rows(connection, _OF_PATHS, {"space": space, "paths": paths})


def _heard(
    connection: Connection, audiences: Audiences, request: Request, ids: set[str]
) -> dict[str, Memory]:
    heard: dict[str, Memory] = {}
    for some in pages(ids):
        found = candidates.some(connection, audiences, request, some)
        heard |= {id: memory for id, (memory, _) in found.items() if memory.state in _SHOWN}
    return heard
