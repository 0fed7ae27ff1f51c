"""The access log: which operator read whose memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from sqlalchemy import Connection, bindparam, delete, insert, select, tuple_, update

from tacit.clock import from_micros, to_micros
from tacit.records import queries
from tacit.records.request import Request
from tacit.records.results import AccessLogEntry, Page
from tacit.storage.memories import Transaction
from tacit.storage.schema import access_log_people, access_log_table
from tacit.storage.spaces import new_id

_AT_ONCE_COUNT = 500
_L = access_log_table.c
_P = access_log_people.c
_SELECT_ENTRIES = (
    select(_L.id, _L.at, _L.actor, _L.operation, _L.count.label("shown"), _L.memory_id)
    .where(_L.space_id == bindparam("space"))
    .order_by(_L.at.desc(), _L.id.desc())
    .limit(bindparam("most"))
)
_IS_OLDER = tuple_(_L.at, _L.id) < tuple_(bindparam("at"), bindparam("id"))
_SELECT_ENTRIES_OF_PERSON = (
    select(_L.id, _P.at, _L.actor, _L.operation, _P.count.label("shown"), _L.memory_id)
    .join(access_log_table, (_L.space_id == _P.space_id) & (_L.id == _P.entry_id))
    .where(_P.space_id == bindparam("space"), _P.person == bindparam("person"))
    .order_by(_P.at.desc(), _P.entry_id.desc())
    .limit(bindparam("most"))
)
_IS_OLDER_OF_PERSON = tuple_(_P.at, _P.entry_id) < tuple_(bindparam("at"), bindparam("id"))

AccessLogPosition = tuple[int, str] | None  # when, and the id of the last one shown


class LoggedMemory(Protocol):
    """The fields of a memory that an entry records."""

    @property
    def id(self) -> str: ...
    @property
    def owner(self) -> str | None: ...


def insert_access_log_entry(
    tx: Transaction,
    actor: str,
    word: str,
    memories: Iterable[LoggedMemory],
    people: Iterable[str] = (),
) -> None:
    """Record a read by an operator, with the owners of the memories shown.

    Facts of a chat have no owner. `people`: others about whom the read returned something.
    """
    shown = list(memories)
    at, id = to_micros(tx.at), new_id()
    row = {
        "space_id": tx.space,
        "id": id,
        "at": at,
        "actor": actor,
        "operation": word,
        "memory_id": shown[0].id if len(shown) == 1 else None,
        "count": len(shown),
    }
    tx.connection.execute(insert(access_log_table).values(row))
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
    for person in sorted(request.own_identities):
        statement = (
            _SELECT_ENTRIES_OF_PERSON
            if after is None
            else _SELECT_ENTRIES_OF_PERSON.where(_IS_OLDER_OF_PERSON)
        )
        for row in connection.execute(statement, _page_params(request.space, after, limit, person)):
            known = found.get(row.id)
            count = row.shown + (known.count if known else 0)
            # With a count of 0 the one memory shown belongs to another person.
            shown = row.memory_id if count else None
            found[row.id] = replace(_to_entry(row), count=count, memory_id=shown)
    return sorted(found.values(), key=lambda entry: (entry.at, entry.id), reverse=True)[:limit]


def list_access_log(tx: Transaction, after: AccessLogPosition, limit: int) -> list[AccessLogEntry]:
    statement = _SELECT_ENTRIES if after is None else _SELECT_ENTRIES.where(_IS_OLDER)
    return [
        _to_entry(row)
        for row in tx.connection.execute(statement, _page_params(tx.space, after, limit))
    ]


def access_log_page(found: Sequence[AccessLogEntry], most: int) -> Page[AccessLogEntry]:
    return queries.make_page(found, most, lambda last: (to_micros(last.at), last.id))


def _page_params(
    space: str, after: AccessLogPosition, limit: int, person: str = ""
) -> dict[str, Any]:
    at, id = after or (0, "")
    return {"space": space, "person": person, "most": limit, "at": at, "id": id}


def _to_entry(row: Any) -> AccessLogEntry:
    return AccessLogEntry(
        id=row.id,
        at=from_micros(row.at),
        actor=row.actor,
        word=row.operation,
        count=row.shown,
        memory_id=row.memory_id,
    )


def remove_memories_from_log(connection: Connection, space: str, ids: Sequence[str]) -> None:
    """Clear the ids of erased memories; the entries stay."""
    one = (_L.space_id == space, _L.memory_id.in_(ids))
    connection.execute(update(access_log_table).where(*one).values(memory_id=None))


def delete_access_log_of_people(connection: Connection, space: str, who: Collection[str]) -> int:
    """Delete entries of these people alone, and their rows in entries with other owners."""
    theirs = select(_P.entry_id).where(_P.space_id == space, _P.person.in_(sorted(who)))
    ids = sorted(set(connection.execute(theirs).scalars()))
    connection.execute(
        delete(access_log_people).where(_P.space_id == space, _P.person.in_(sorted(who)))
    )
    others = select(_P.entry_id).where(_P.space_id == space, _P.entry_id == _L.id)
    gone = 0
    for start in range(0, len(ids), _AT_ONCE_COUNT):
        some = (
            _L.space_id == space,
            _L.id.in_(ids[start : start + _AT_ONCE_COUNT]),
            ~others.exists(),
        )
        gone += connection.execute(delete(access_log_table).where(*some)).rowcount
    return gone
