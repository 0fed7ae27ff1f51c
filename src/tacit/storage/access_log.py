"""The access log: which operator read whose memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Connection, Select, insert, select, tuple_

from tacit.clock import to_micros
from tacit.records import queries
from tacit.records.request import Request
from tacit.records.results import AccessLogEntry, Page
from tacit.storage.engine import chunks, delete_rows, insert_row, select_set, to_record, update_rows
from tacit.storage.memories import Transaction
from tacit.storage.schema import access_log_people, access_log_table
from tacit.storage.spaces import new_id

_L = access_log_table.c
_P = access_log_people.c

AccessLogPosition = tuple[int, str] | None  # when, and the id of the last one shown


class LoggedMemory(Protocol):
    """The fields of a memory that an entry records."""

    @property
    def id(self) -> str: ...
    @property
    def owner(self) -> str | None: ...


def insert_access_log_entry(
    tx: Transaction, actor: str, word: str, memories: Iterable[LoggedMemory], people: Iterable[str] = ()
) -> None:
    """Record a read by an operator, with the owners of the memories shown.

    Facts of a chat have no owner. `people`: others about whom the read returned something.
    """
    shown = list(memories)
    at, id = to_micros(tx.at), new_id()
    only = shown[0].id if len(shown) == 1 else None
    entry = {"id": id, "at": at, "actor": actor, "operation": word, "memory_id": only}
    insert_row(tx.connection, access_log_table, tx.space, **entry, count=len(shown))
    whose = Counter(dict.fromkeys(people, 0))
    whose.update(memory.owner for memory in shown if memory.owner is not None)
    rows = [
        {"space_id": tx.space, "entry_id": id, "person": one, "at": at, "count": count}
        for one, count in sorted(whose.items())
    ]
    if rows:
        tx.connection.execute(insert(access_log_people), rows)


def list_access_log_of_person(
    connection: Connection, request: Request, after: AccessLogPosition, limit: int
) -> list[AccessLogEntry]:
    """List reads of the requester's memories, newest first.

    Each identity is queried by itself, in index order. Other owners are not revealed.
    """
    found: dict[str, AccessLogEntry] = {}
    rows = (
        select(_L.id, _P.at, _L.actor, _L.operation.label("word"), _P.count, _L.memory_id)
        .join(access_log_table, (_L.space_id == _P.space_id) & (_L.id == _P.entry_id))
        .where(_P.space_id == request.space)
    )
    for person in sorted(request.own_identities):
        page = _older(rows.where(_P.person == person), (_P.at, _P.entry_id), after, limit)
        for row in connection.execute(page):
            entry = to_record(AccessLogEntry, row)
            count = entry.count + (found[row.id].count if row.id in found else 0)
            # With a count of 0 the one memory shown belongs to another person.
            shown = entry.memory_id if count else None
            found[row.id] = replace(entry, count=count, memory_id=shown)
    return sorted(found.values(), key=lambda entry: (entry.at, entry.id), reverse=True)[:limit]


def list_access_log(tx: Transaction, after: AccessLogPosition, limit: int) -> list[AccessLogEntry]:
    rows = select(access_log_table, _L.operation.label("word")).where(_L.space_id == tx.space)
    page = _older(rows, (_L.at, _L.id), after, limit)
    return [to_record(AccessLogEntry, row) for row in tx.connection.execute(page)]


def _older(rows: Select[Any], by: tuple[ColumnElement[Any], ...], after: AccessLogPosition, limit: int) -> Select[Any]:
    """Select the newest rows, or the newest before a position."""
    if after is not None:
        rows = rows.where(tuple_(*by) < tuple_(*after))
    return rows.order_by(*(column.desc() for column in by)).limit(limit)


def access_log_page(found: Sequence[AccessLogEntry], most: int) -> Page[AccessLogEntry]:
    return queries.make_page(found, most, lambda last: (to_micros(last.at), last.id))


def remove_memories_from_log(connection: Connection, space: str, ids: Sequence[str]) -> None:
    """Clear the ids of erased memories; the entries stay."""
    update_rows(connection, access_log_table, space, _L.memory_id.in_(ids), memory_id=None)


def delete_access_log_of_people(connection: Connection, space: str, who: Collection[str]) -> int:
    """Delete entries of these people alone, and their rows in entries with other owners."""
    theirs = _P.person.in_(sorted(who))
    ids = select_set(connection, select(_P.entry_id).where(_P.space_id == space, theirs))
    delete_rows(connection, access_log_people, space, theirs)
    others = select(_P.entry_id).where(_P.space_id == space, _P.entry_id == _L.id)
    return sum(
        delete_rows(connection, access_log_table, space, _L.id.in_(some), ~others.exists()) for some in chunks(ids)
    )
