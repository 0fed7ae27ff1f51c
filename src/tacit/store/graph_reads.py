"""Reading a graph's steps: whose they are, and who is here while they are read.

In private they are the person's, whichever of their identities saved them. In a group they are the
person's in that chat, and absent while anybody is there who was not there when they were saved. An
agent that may use less than the one that saved them reads nothing of them either.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, TextClause, bindparam, text

from tacit.clock import from_micros
from tacit.records.checkpoints import GraphStep, StepValue, StepWrite, StoredGraphStep
from tacit.records.memory import ChatKind
from tacit.records.request import Request
from tacit.store import rendered
from tacit.store.audiences import Audiences
from tacit.store.engine import Database
from tacit.store.glance import MISS, Miss
from tacit.store.graph_recent import NEWEST, Key, Mark, Recent

Rows = Sequence[tuple[Any, ...]]
Shape = tuple[int, int, bool, bool]  # identities, places, and whether a gate has the other lists
Run = Callable[[TextClause, Mapping[str, Any]], Rows]
_STEP, _VALUE, _WRITE = 0, 1, 2  # which part a row is
# How a database takes the channels of a step apart.
_EACH = {
    "sqlite": "json_each(s.versions) AS e",
    "postgresql": "jsonb_each_text(CAST(s.versions AS jsonb)) AS e(key, value)",
}
_OWN = "s.id, s.ns, s.type, s.parent, s.metadata, s.versions, s.run, s.saved_at, s.data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What of somebody's steps is open in a request. None: no matter which."""

    space: str
    mine: list[str]
    places: list[str]
    heard: list[str] | None = None  # sets of people that everybody here is in
    categories: list[str] | None = None  # lists of them, none of which goes too far

    @property
    def shape(self) -> Shape:
        lists = (self.heard is not None, self.categories is not None)
        return len(self.mine), len(self.places), *lists

    def params(self, **named: Any) -> dict[str, Any]:
        """What statements of this shape take."""
        named["space"] = self.space
        for n, one in enumerate(self.mine):
            named[f"mine{n}"] = one
        for n, one in enumerate(self.places):
            named[f"place{n}"] = one
        if self.heard is not None:
            named["heard"] = self.heard
        if self.categories is not None:
            named["categories"] = self.categories
        return named

    @property
    def is_closed(self) -> bool:
        return self.heard == [] or self.categories == []


def places(request: Request) -> list[str] | None:
    """Where the requester's steps are kept, the place for new ones first; None: nowhere."""
    if request.private:
        return [""]
    if request.kind is not ChatKind.GROUP or request.requester is None or request.chat is None:
        return None
    return [request.chat, *sorted(request.chat_ids - {request.chat})]


def gate(
    connection: Connection,
    audiences: Audiences,
    request: Request,
    allowed: frozenset[str] | None,
    thread: str | None,
) -> Gate | None:
    """None where nothing is open at all."""
    where = places(request)
    if where is None:
        return None
    whole = Gate(space=request.space, mine=sorted(request.own_identities), places=where)
    if request.private and allowed is None:
        return whole
    named = {} if thread is None else {"thread": thread}
    rows = rendered.rows(connection, _seals(whole.shape, thread is not None), whole.params(**named))
    heard = None
    if not request.private:
        sets = audiences.get_people(connection, request.space, {row[0] for row in rows})
        heard = sorted(id for id, people in sets.items() if id and _all_here(request, people))
    lists = None
    if allowed is not None:
        lists = sorted({row[1] for row in rows if row[1] and set(json.loads(row[1])) <= allowed})
    found = Gate(space=whole.space, mine=whole.mine, places=where, heard=heard, categories=lists)
    return None if found.is_closed else found


def _all_here(request: Request, heard: Iterable[str]) -> bool:
    """Whether everybody who is here now was there, by whichever of their identities."""
    were = {request.person(one) for one in heard} | {request.requester}
    return request.audience <= were


def find(run: Run, dialect: str, open_: Gate, thread: str, ns: str, id: str | None) -> Rows:
    """The rows of one step, for `found`: the newest, where no id is given. The step's own says at
    which revision of everybody's identities it was read, also where there is none."""
    statement = _one(dialect, open_.shape, id is not None)
    return run(statement, open_.params(thread=thread, ns=ns, **({} if id is None else {"id": id})))


def glance(
    database: Database,
    recent: Recent,
    kept: tuple[int, Request],
    thread: str,
    ns: str,
    id: str | None,
) -> StoredGraphStep | Miss | None:
    """The same in private, in one statement on the driver itself; MISS where that cannot tell."""
    rev, request = kept
    if not request.private:
        return MISS
    key = (request.space, request.subject or "", thread, ns)
    alone = id is None and len(request.person_by_identity) == 1  # under one name
    if alone and recent.has(key):
        at_hand = _recent(database, recent, key, rev)
        if at_hand is not None:
            return at_hand
    open_ = Gate(space=request.space, mine=sorted(request.own_identities), places=[""])
    params = open_.params(thread=thread, ns=ns)
    if id is not None:
        params["id"] = id
    statement = _one(database.dialect.name, open_.shape, id is not None)
    rows = database.fetch_rows_binary(*rendered.plain(database.engine.dialect, statement, params))
    own = _own(rows) if rows else None
    if rows is None or own is None or own[1] != rev:
        return MISS
    whole = found(rows, thread)
    if whole is not None and alone:
        recent.add_read(key, _mark(rows, own), whole)
    return whole


def _recent(database: Database, recent: Recent, key: Key, rev: int) -> StoredGraphStep | None:
    params = {"space": key[0], "person": key[1], "thread": key[2], "ns": key[3]}
    rows = database.fetch_rows_binary(*rendered.plain(database.engine.dialect, NEWEST, params))
    return recent.find(key, rows[0][1:]) if rows and rows[0][0] == rev else None


def _mark(rows: Rows, own: tuple[Any, ...]) -> Mark:
    """As the newest step is told by, of all of its rows."""
    at = [row[9] for row in rows if row[0] == _WRITE]
    _, _, id, _, _, parent, metadata, versions, _, saved_at, _ = own
    return id, saved_at, parent, metadata, versions, f"{len(at)} {max(at, default=0)}"


def _own(rows: Rows) -> tuple[Any, ...] | None:
    for row in rows:
        if row[0] == _STEP:
            return row
    return None


def found(rows: Rows, thread: str) -> StoredGraphStep | None:
    """A step of its rows. Absent, too, where one of its values is somebody else's by now, or went:
    a graph begins anew rather than with half of its state."""
    own = _own(rows)
    if own is None or own[2] is None:
        return None
    _, _, id, ns, kind, parent, metadata, versions, run, saved_at, data = own
    values: dict[str, StepValue] = {}
    writes = []
    for part, index, name, version, type_, task, path, _, _, _, blob in rows:
        if part == _VALUE:
            one = StepValue(channel=name, version=version, type=type_, data=blob)
            values.setdefault(name, one)
        elif part == _WRITE:
            writes.append(
                StepWrite(task=task, index=index, channel=name, type=type_, data=blob, path=path)
            )
    if values.keys() != json.loads(versions).keys():
        return None
    if len(writes) > 1:
        writes.sort(key=lambda one: (one.path, one.task, one.index))
    step = GraphStep(
        thread=thread,
        ns=ns,
        id=id,
        parent=parent,
        type=kind,
        data=data,
        metadata=json.loads(metadata),
        versions={one.channel: one.version for one in values.values()},
        run=run,
        saved_at=from_micros(saved_at),
    )
    return StoredGraphStep(step=step, values=tuple(values.values()), writes=tuple(writes))


def listed(
    connection: Connection,
    open_: Gate,
    wanted: Mapping[str, str],
    after: tuple[str, str, str] | None,
    most: int,
) -> Rows:
    """Steps as (id, thread, ns, metadata), the newest first, behind the last one of those before.
    `wanted`: of this thread, ns or id, or before an id."""
    named = {name: one for name, one in wanted.items() if name in ("thread", "ns", "id", "before")}
    if after is not None:
        named |= {"a_id": after[0], "a_thread": after[1], "a_ns": after[2]}
    statement = _listing(open_.shape, tuple(sorted(named)))
    return rendered.rows(connection, statement, open_.params(most=most, **named))


def _here(of: str, shape: Shape) -> str:
    mine = ", ".join(f":mine{n}" for n in range(shape[0]))
    places = ", ".join(f":place{n}" for n in range(shape[1]))
    return (
        f"{of}.space_id = :space AND {of}.person IN ({mine}) AND {of}.place IN ({places})"
        f"{_sealed(of, shape)}"
    )


def _sealed(of: str, shape: Shape) -> str:
    lists = (("heard", shape[2]), ("categories", shape[3]))
    return "".join(f" AND {of}.{name} IN :{name}" for name, asked in lists if asked)


def _made(sql: str, shape: Shape) -> TextClause:
    lists = (("heard", shape[2]), ("categories", shape[3]))
    return text(sql).bindparams(
        *(bindparam(name, expanding=True) for name, asked in lists if asked)
    )


@lru_cache(maxsize=64)
def _seals(shape: Shape, of_thread: bool) -> TextClause:
    which = " AND thread = :thread" if of_thread else ""
    return _made(
        "SELECT DISTINCT heard, categories FROM graph_steps "  # noqa: S608
        f"WHERE {_here('graph_steps', shape)}{which}",
        shape,
    )


@lru_cache(maxsize=256)
def _listing(shape: Shape, named: tuple[str, ...]) -> TextClause:
    tests = {
        "thread": "thread = :thread",
        "ns": "ns = :ns",
        "id": "id = :id",
        "before": "id < :before",
        "a_id": "(id < :a_id OR (id = :a_id AND (thread > :a_thread "
        "OR (thread = :a_thread AND ns > :a_ns))))",
    }
    which = "".join(f" AND {tests[name]}" for name in named if name in tests)
    return _made(
        "SELECT DISTINCT id, thread, ns, metadata FROM graph_steps "  # noqa: S608
        f"WHERE {_here('graph_steps', shape)}{which} ORDER BY id DESC, thread, ns LIMIT :most",
        shape,
    )


def _newest(shape: Shape, which: str) -> str:
    """A step. Under each name and in each place the newest is the last of an index, of which no
    more than that is read."""
    each = [
        "SELECT * FROM (SELECT * FROM graph_steps "  # noqa: S608
        f"WHERE space_id = :space AND person = :mine{n} AND place = :place{m} "
        f"AND thread = :thread AND ns = :ns{which}{_sealed('graph_steps', shape)} "
        f"ORDER BY id DESC LIMIT 1) AS k{n}_{m}"
        for n in range(shape[0])
        for m in range(shape[1])
    ]
    if len(each) == 1:
        return each[0]
    return f"SELECT * FROM ({' UNION ALL '.join(each)}) AS k ORDER BY k.id DESC, k.person LIMIT 1"  # noqa: S608


@lru_cache(maxsize=64)
def _one(dialect: str, shape: Shape, by_id: bool) -> TextClause:
    """A step, the values of its channels and what was written after it, as rows of one shape. CROSS
    JOIN is SQLite's word for "in this order"."""
    newest = _newest(shape, " AND id = :id" if by_id else "")
    v, w = "graph_values", "graph_writes"  # by their names, which plans are checked for
    return _made(
        f"WITH s AS MATERIALIZED ({newest}) "  # noqa: S608
        f"SELECT 0 AS part, spaces.identity_rev, {_OWN} FROM spaces LEFT JOIN s ON 1 = 1 "
        "WHERE spaces.space_id = :space "
        f"UNION ALL SELECT 1, 0, {v}.channel, {v}.version, {v}.type, NULL, NULL, NULL, NULL, "
        f"{v}.saved_at, {v}.data FROM s CROSS JOIN {_EACH[dialect]} CROSS JOIN {v} "
        f"WHERE {_here(v, shape)} AND {v}.thread = s.thread AND {v}.ns = s.ns "
        f"AND {v}.channel = e.key AND {v}.version = e.value "
        f"UNION ALL SELECT 2, {w}.idx, {w}.channel, NULL, {w}.type, {w}.task, {w}.path, NULL, "
        f"NULL, {w}.saved_at, {w}.data FROM s CROSS JOIN {w} "
        f"WHERE {_here(w, shape)} AND {w}.thread = s.thread AND {w}.ns = s.ns AND {w}.step = s.id",
        shape,
    )
