"""How a graph's steps go: threads and runs that are forgotten, what is pruned, and all that an
erasure takes along. Copies, too, because they go by the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    delete,
    literal,
    or_,
    select,
    tuple_,
    update,
)

from tacit.store.exposure import Exposure
from tacit.store.graph_steps import required_places
from tacit.store.tables import audience_people, graph_steps, graph_values, graph_writes
from tacit.store.writes import Writing

T = TypeVar("T")
TABLES = (graph_steps, graph_values, graph_writes)
_AT_ONCE_COUNT = 500
_S = graph_steps.c
_V = graph_values.c
_O = graph_writes.c
_A = audience_people.c
Allowed = frozenset[str] | None
Tests = list[ColumnElement[bool]]


def _theirs(w: Writing, table: Table, allowed: Allowed) -> Tests:
    """Rows that the requester may make disappear: theirs, here, by agents that may use no more.
    Whoever else is in the room learns nothing from what goes."""
    c = table.c
    found = [
        c.space_id == w.space,
        c.person.in_(sorted(w.request.own_identities)),
        c.place.in_(required_places(w)),
    ]
    if allowed is None:
        return found
    lists = w.connection.execute(select(c.categories).where(*found).distinct()).scalars()
    within = [one for one in lists if one and set(json.loads(one)) <= allowed]
    return [*found, c.categories.in_(within)]


def forget(w: Writing, threads: Collection[str], allowed: Allowed) -> None:
    for table in TABLES:
        theirs = _theirs(w, table, allowed)
        for some in _some(sorted(threads)):
            w.connection.execute(delete(table).where(*theirs, table.c.thread.in_(some)))


def forget_runs(w: Writing, runs: Collection[str], allowed: Allowed) -> None:
    """The steps of these runs, with what was written after them and the values that no other step
    has."""
    touched: dict[tuple[str, str], set[str]] = {}
    theirs = _theirs(w, graph_steps, allowed)
    for some in _some(sorted(runs)):
        which = select(_S.thread, _S.ns, _S.id).where(*theirs, _S.run.in_(some))
        for thread, ns, id in w.connection.execute(which):
            touched.setdefault((thread, ns), set()).add(id)
    for (thread, ns), ids in sorted(touched.items()):
        _drop_steps(w, thread, ns, ids, allowed)


def prune(w: Writing, thread: str, allowed: Allowed) -> None:
    """Of each namespace the newest step that each company may read, and what it is rebuilt from."""
    which = (*_theirs(w, graph_steps, allowed), _S.thread == thread)
    columns = (_S.ns, _S.id, _S.parent, _S.heard, _S.categories, _S.metadata, _S.versions)
    rows = w.connection.execute(select(*columns).where(*which).order_by(_S.id.desc())).all()
    for ns in sorted({row.ns for row in rows}):
        here = {row.id: row for row in rows if row.ns == ns}
        newest: dict[Any, str] = {}
        for id, row in here.items():
            newest.setdefault((row.heard, row.categories), id)
        kept = set(newest.values())
        for id in newest.values():
            kept |= _rebuilt_from(w, thread, ns, here, id)
        _drop_steps(w, thread, ns, set(here) - kept, allowed)


def _rebuilt_from(w: Writing, thread: str, ns: str, here: Mapping[str, Any], id: str) -> set[str]:
    """The steps that a channel of mere changes is put together from: back to the last one that has
    its whole value."""
    waiting = set(json.loads(here[id].metadata).get("counters_since_delta_snapshot") or ())
    whole = _values(w, thread, ns) if waiting else set()
    found: set[str] = set()
    while waiting and id in here and id not in found:
        found.add(id)
        versions = json.loads(here[id].versions)
        waiting -= {one for one in waiting if (one, versions.get(one)) in whole}
        id = here[id].parent
    return found


def _values(w: Writing, thread: str, ns: str) -> set[tuple[str, str]]:
    where = (*_theirs(w, graph_values, None), _V.thread == thread, _V.ns == ns)
    rows = w.connection.execute(select(_V.channel, _V.version).where(*where))
    return {(channel, version) for channel, version in rows}


def _drop_steps(w: Writing, thread: str, ns: str, ids: Collection[str], allowed: Allowed) -> None:
    if not ids:
        return
    for table, id in ((graph_steps, _S.id), (graph_writes, _O.step)):
        where = (*_theirs(w, table, allowed), table.c.thread == thread, table.c.ns == ns)
        for some in _some(sorted(ids)):
            w.connection.execute(delete(table).where(*where, id.in_(some)))
    left = (*_theirs(w, graph_steps, None), _S.thread == thread, _S.ns == ns)
    for some in _some(sorted(ids)):
        orphans = update(graph_steps).where(*left, _S.parent.in_(some))
        w.connection.execute(orphans.values(parent=None))
    versions = w.connection.execute(select(_S.versions).where(*left)).scalars()
    used = {pair for one in versions for pair in json.loads(one).items()}
    where = (*_theirs(w, graph_values, None), _V.thread == thread, _V.ns == ns)
    for pairs in _some(sorted(_values(w, thread, ns) - used)):
        unused = tuple_(_V.channel, _V.version).in_(pairs)
        w.connection.execute(delete(graph_values).where(*where, unused))


def copy(w: Writing, source: str, target: str, allowed: Allowed) -> None:
    """All of a thread, also under another name; what is there already stays."""
    for table in TABLES:
        c, names = table.c, [column.name for column in table.columns]
        there = [literal(target) if name == "thread" else c[name] for name in names]
        rows = select(*there).where(*_theirs(w, table, allowed), c.thread == source)
        w.connection.execute(w.dialect.insert_missing_statement(table).from_select(names, rows))


def drop(connection: Connection, space: str, who: Collection[str]) -> int:
    """All of somebody's, wherever they are kept; how many steps that were."""
    return _drop(connection, space, lambda c: c.person.in_(sorted(who)))


def drop_places(connection: Connection, space: str, rooms: Collection[str]) -> int:
    """All that was kept in a chat, whoever's it is."""
    return _drop(connection, space, partial(_in_rooms, sorted(set(rooms) - {""})))


def drop_exposed(connection: Connection, space: str, exposed: Exposure) -> None:
    """Before memories are erased: what was saved since by whomever they may have reached. In a
    group, only where one of them might have been told in a group at all."""

    def since(which: Callable[[Any], ColumnElement[bool]]) -> None:
        _drop(connection, space, lambda c: which(c) & (c.saved_at >= exposed.since))

    for some in _some(sorted(exposed.people)):
        since(partial(_in_private, some))
        if exposed.includes_groups:
            sets = select(_A.audience).where(_A.space_id == space, _A.person.in_(some))
            since(partial(_in_company, some, sets))
    if exposed.includes_groups and exposed.rooms:
        since(partial(_in_rooms, sorted(exposed.rooms)))


def _in_private(who: Sequence[str], c: Any) -> ColumnElement[bool]:
    return c.person.in_(who) & (c.place == "")  # type: ignore[no-any-return]


def _in_company(who: Sequence[str], sets: Any, c: Any) -> ColumnElement[bool]:
    return (c.place != "") & or_(c.person.in_(who), c.heard.in_(sets))  # type: ignore[no-any-return]


def _in_rooms(rooms: Sequence[str], c: Any) -> ColumnElement[bool]:
    return (c.place != "") & c.place.in_(rooms)  # type: ignore[no-any-return]


def _drop(connection: Connection, space: str, which: Callable[[Any], ColumnElement[bool]]) -> int:
    counts = [
        connection.execute(delete(one).where(one.c.space_id == space, which(one.c))).rowcount
        for one in TABLES
    ]
    return counts[0]


def _some(names: Sequence[T]) -> Iterable[Sequence[T]]:
    for start in range(0, len(names), _AT_ONCE_COUNT):
        yield names[start : start + _AT_ONCE_COUNT]
