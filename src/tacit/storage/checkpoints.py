"""Store checkpoints of agents and steps of LangGraph graphs."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    TextClause,
    bindparam,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    text,
    tuple_,
    update,
)

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import Conflict, InvalidInput
from tacit.identity import RawRequest
from tacit.records.checkpoints import (
    Checkpoint,
    GraphStep,
    StepValue,
    StepWrite,
    StoredGraphStep,
    dump_compact_json,
)
from tacit.records.memory import ChatKind
from tacit.records.request import Request
from tacit.storage import memory_reads, statements
from tacit.storage.engine import Database
from tacit.storage.erasures import Exposure
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import AudienceCache
from tacit.storage.rows import insert_for
from tacit.storage.schema import (
    audience_people,
    checkpoints_table,
    graph_steps,
    graph_values,
    graph_writes,
    spaces_table,
)
from tacit.storage.statements import Statement, insert_statement
from tacit.storage.store import (
    FAST_PATH_MISS,
    SELECT_NEWEST_MARK,
    FastPathMiss,
    RecentSteps,
    StepKey,
    StepMark,
    Store,
)

# Checkpoints: one row for each person and thread, under any identity of the person.

_C = checkpoints_table.c
_SELECT_OWN = (
    select(_C.person, _C.thread, _C.data, _C.categories, _C.version, _C.updated_at)
    .where(
        _C.space_id == bindparam("space"),
        _C.person.in_(bindparam("who", expanding=True)),
        _C.thread == bindparam("thread"),
    )
    .order_by(_C.updated_at.desc(), _C.person)
)
_PAGE_COUNT = 20  # rows of up to 1 MiB each
_AT_ONCE_COUNT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint:
    person: str
    categories: frozenset[str] | None  # categories that the saving agent could use; None: all
    checkpoint: Checkpoint

    def is_open_to(self, allowed: frozenset[str] | None) -> bool:
        """Return whether an agent limited to these categories may read the checkpoint."""
        return allowed is None or (self.categories is not None and self.categories <= allowed)


def find_checkpoint(
    connection: Connection, space: str, who: Collection[str], thread: str
) -> StoredCheckpoint | None:
    """Return the newest checkpoint of the thread.

    Identities that were linked later may each have saved their own.
    """
    params = {"space": space, "who": sorted(who), "thread": thread}
    row = connection.execute(_SELECT_OWN, params).first()
    return None if row is None else _to_checkpoint(row)


def save_checkpoint(
    tx: Transaction, thread: str, data: str, allowed: frozenset[str] | None, version: int | None
) -> Checkpoint:
    """Save a checkpoint.

    `version` is the version that the caller has read, 0 for none. Raise Conflict if the stored
    version differs.
    """
    params = {"space": tx.space, "who": sorted(tx.request.own_identities), "thread": thread}
    row = tx.connection.execute(tx.dialect.lock_memory(_SELECT_OWN), params).first()
    kept = None if row is None else _to_checkpoint(row)
    if kept is not None and not kept.is_open_to(allowed):
        raise Conflict("an agent that may use more keeps a checkpoint here: name another thread")
    found = 0 if kept is None else kept.checkpoint.version
    if version is not None and version != found:
        raise Conflict(f"the checkpoint is at version {found} by now: read it again")
    named = None if allowed is None else json.dumps(sorted(allowed))
    values = {"data": data, "categories": named, "version": found + 1}
    values["updated_at"] = to_micros(tx.at)
    if kept is None:
        _require_capacity(tx)
        key = {"space_id": tx.space, "person": tx.request.subject, "thread": thread}
        tx.connection.execute(insert(checkpoints_table).values(**key, **values))
    else:
        one = (_C.space_id == tx.space, _C.person == kept.person, _C.thread == thread)
        tx.connection.execute(update(checkpoints_table).where(*one).values(**values))
    return Checkpoint(thread=thread, data=json.loads(data), version=found + 1, updated_at=tx.at)


def _require_capacity(tx: Transaction) -> None:
    theirs = (_C.space_id == tx.space, _C.person.in_(sorted(tx.request.own_identities)))
    count = tx.connection.execute(
        select(func.count()).select_from(checkpoints_table).where(*theirs)
    )
    if count.scalar_one() >= limits.CHECKPOINTS_MAX_COUNT:
        raise InvalidInput(
            "checkpoint",
            f"of one person at most {limits.CHECKPOINTS_MAX_COUNT:,} are kept: forget some",
        )


def delete_checkpoints(
    connection: Connection, space: str, who: Collection[str], thread: str | None
) -> int:
    """Delete the checkpoint of one thread, or all checkpoints of these identities."""
    theirs = [_C.space_id == space, _C.person.in_(sorted(who))]
    if thread is not None:
        theirs.append(_C.thread == thread)
    return connection.execute(delete(checkpoints_table).where(*theirs)).rowcount


def delete_exposed_checkpoints(connection: Connection, space: str, exposed: Exposure) -> None:
    """Delete checkpoints of people whom memories to be erased may have reached in private.

    Call this before the erasure. Only checkpoints saved since the exposure are deleted.
    """
    who = sorted(exposed.people)
    for start in range(0, len(who), _AT_ONCE_COUNT):
        some = _C.person.in_(who[start : start + _AT_ONCE_COUNT])
        theirs = (_C.space_id == space, some, _C.updated_at >= exposed.since)
        connection.execute(delete(checkpoints_table).where(*theirs))


def list_checkpoints(
    connection: Connection, space: str, who: Collection[str], after: StoredCheckpoint | None
) -> list[StoredCheckpoint]:
    """List a page of checkpoints by thread, after the last one of the previous page."""
    wanted = select(checkpoints_table).where(_C.space_id == space, _C.person.in_(sorted(who)))
    if after is not None:
        thread = after.checkpoint.thread
        further = (_C.thread == thread) & (_C.person > after.person)
        wanted = wanted.where((_C.thread > thread) | further)
    rows = connection.execute(wanted.order_by(_C.thread, _C.person).limit(_PAGE_COUNT))
    return [_to_checkpoint(row) for row in rows]


def _to_checkpoint(row: Any) -> StoredCheckpoint:
    return StoredCheckpoint(
        person=row.person,
        categories=None if row.categories is None else frozenset(json.loads(row.categories)),
        checkpoint=Checkpoint(
            thread=row.thread,
            data=json.loads(row.data),
            version=row.version,
            updated_at=from_micros(row.updated_at),
        ),
    )


# Reading graph steps: the owner of the steps and the people present in the chat.
#
# In private, steps belong to the person, under any identity that saved them. In a group, they
# belong to the person in that chat, and are hidden while a person is present who was not present
# when they were saved. An agent with fewer categories than the agent that saved the steps cannot
# read them.

StepRows = Sequence[tuple[Any, ...]]
StepAccessShape = tuple[
    int, int, bool, bool
]  # numbers of identities and places; whether audiences and categories filter
RowReader = Callable[[TextClause, Mapping[str, Any]], StepRows]
_STEP, _VALUE, _WRITE = 0, 1, 2  # part of the step that a row holds
# Table expression that expands the channels of a step, by dialect.
_EACH_CHANNEL = {
    "sqlite": "json_each(s.versions) AS e",
    "postgresql": "jsonb_each_text(CAST(s.versions AS jsonb)) AS e(key, value)",
}
_STEP_COLUMNS = "s.id, s.ns, s.type, s.parent, s.metadata, s.versions, s.run, s.saved_at, s.data"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAccess:
    """Filter for the steps that a request may read. A list that is None does not filter."""

    space: str
    mine: list[str]
    places: list[str]
    audiences: list[str] | None = None  # audience ids that include all people present
    categories: list[str] | None = None  # JSON lists within the allowed categories

    @property
    def shape(self) -> StepAccessShape:
        lists = (self.audiences is not None, self.categories is not None)
        return len(self.mine), len(self.places), *lists

    def params(self, **named: Any) -> dict[str, Any]:
        """Return the parameters of a statement of this shape."""
        named["space"] = self.space
        for n, one in enumerate(self.mine):
            named[f"mine{n}"] = one
        for n, one in enumerate(self.places):
            named[f"place{n}"] = one
        if self.audiences is not None:
            named["audience"] = self.audiences
        if self.categories is not None:
            named["categories"] = self.categories
        return named

    @property
    def is_closed(self) -> bool:
        return self.audiences == [] or self.categories == []


def step_places(request: Request) -> list[str] | None:
    """Return the places of the requester's steps, or None if there are none.

    Inserts use the first place.
    """
    if request.private:
        return [""]
    if request.kind is not ChatKind.GROUP or request.requester is None or request.chat is None:
        return None
    return [request.chat, *sorted(request.chat_ids - {request.chat})]


def read_step_access(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    allowed: frozenset[str] | None,
    thread: str | None,
) -> StepAccess | None:
    """Return the access filter of a request, or None if the request may read no steps."""
    where = step_places(request)
    if where is None:
        return None
    whole = StepAccess(space=request.space, mine=sorted(request.own_identities), places=where)
    if request.private and allowed is None:
        return whole
    named = {} if thread is None else {"thread": thread}
    rows = statements.fetch_rows(
        connection, _select_step_audiences(whole.shape, thread is not None), whole.params(**named)
    )
    open_sets = None
    if not request.private:
        sets = audiences.get_people(connection, request.space, {row[0] for row in rows})
        open_sets = sorted(
            id for id, people in sets.items() if id and _includes_everyone(request, people)
        )
    lists = None
    if allowed is not None:
        lists = sorted({row[1] for row in rows if row[1] and set(json.loads(row[1])) <= allowed})
    found = StepAccess(
        space=whole.space, mine=whole.mine, places=where, audiences=open_sets, categories=lists
    )
    return None if found.is_closed else found


def _includes_everyone(request: Request, audience: Iterable[str]) -> bool:
    """Return whether the audience includes all people present, under any of their identities."""
    were = {request.person(one) for one in audience} | {request.requester}
    return request.audience <= were


def read_step_rows(
    run: RowReader, dialect: str, open_: StepAccess, thread: str, ns: str, id: str | None
) -> StepRows:
    """Return the rows of one step for `to_stored_step`, of the newest step if `id` is None.

    The row of the step also holds the identity revision, even if there is no such step.
    """
    statement = _select_step(dialect, open_.shape, id is not None)
    return run(statement, open_.params(thread=thread, ns=ns, **({} if id is None else {"id": id})))


def get_step_fast(
    database: Database,
    recent: RecentSteps,
    kept: tuple[int, Request],
    thread: str,
    ns: str,
    id: str | None,
) -> StoredGraphStep | FastPathMiss | None:
    """Read a step in private with one driver statement; FAST_PATH_MISS if that is not possible."""
    rev, request = kept
    if not request.private:
        return FAST_PATH_MISS
    key = (request.space, request.subject or "", thread, ns)
    alone = id is None and len(request.person_by_identity) == 1  # the person has one identity
    if alone and recent.has(key):
        at_hand = _get_recent_step(database, recent, key, rev)
        if at_hand is not None:
            return at_hand
    open_ = StepAccess(space=request.space, mine=sorted(request.own_identities), places=[""])
    params = open_.params(thread=thread, ns=ns)
    if id is not None:
        params["id"] = id
    statement = _select_step(database.dialect.name, open_.shape, id is not None)
    rows = database.fetch_directly(statement, params, binary=True)
    own = _own_row(rows) if rows else None
    if rows is None or own is None or own[1] != rev:
        return FAST_PATH_MISS
    whole = to_stored_step(rows, thread)
    if whole is not None and alone:
        recent.add_read(key, _mark_of(rows, own), whole)
    return whole


def _get_recent_step(
    database: Database, recent: RecentSteps, key: StepKey, rev: int
) -> StoredGraphStep | None:
    params = {"space": key[0], "person": key[1], "thread": key[2], "ns": key[3]}
    rows = database.fetch_directly(SELECT_NEWEST_MARK, params)
    return recent.find(key, rows[0][1:]) if rows and rows[0][0] == rev else None


def _mark_of(rows: StepRows, own: tuple[Any, ...]) -> StepMark:
    """Return the mark of a step, by which a cached copy is compared with the newest step."""
    at = [row[9] for row in rows if row[0] == _WRITE]
    _, _, id, _, _, parent, metadata, versions, _, saved_at, _ = own
    return id, saved_at, parent, metadata, versions, f"{len(at)} {max(at, default=0)}"


def _own_row(rows: StepRows) -> tuple[Any, ...] | None:
    for row in rows:
        if row[0] == _STEP:
            return row
    return None


def to_stored_step(rows: StepRows, thread: str) -> StoredGraphStep | None:
    """Build a step from its rows, or return None if the step is missing or incomplete.

    A step is incomplete if one of its values was deleted or belongs to another audience by now. The
    graph then restarts instead of resuming with a part of its state.
    """
    own = _own_row(rows)
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


def list_step_rows(
    connection: Connection,
    open_: StepAccess,
    wanted: Mapping[str, str],
    after: tuple[str, str, str] | None,
    most: int,
) -> StepRows:
    """List steps as (id, thread, ns, metadata), the newest first, after the previous page.

    `wanted` filters by `thread`, `ns` or `id`, or by `before` an id.
    """
    named = {name: one for name, one in wanted.items() if name in ("thread", "ns", "id", "before")}
    if after is not None:
        named |= {"a_id": after[0], "a_thread": after[1], "a_ns": after[2]}
    statement = _select_step_list(open_.shape, tuple(sorted(named)))
    return statements.fetch_rows(connection, statement, open_.params(most=most, **named))


def _access_condition(of: str, shape: StepAccessShape) -> str:
    mine = ", ".join(f":mine{n}" for n in range(shape[0]))
    places = ", ".join(f":place{n}" for n in range(shape[1]))
    return (
        f"{of}.space_id = :space AND {of}.person IN ({mine}) AND {of}.chat IN ({places})"
        f"{_audience_condition(of, shape)}"
    )


def _audience_condition(of: str, shape: StepAccessShape) -> str:
    lists = (("audience", shape[2]), ("categories", shape[3]))
    return "".join(f" AND {of}.{name} IN :{name}" for name, asked in lists if asked)


def _build_text(sql: str, shape: StepAccessShape) -> TextClause:
    lists = (("audience", shape[2]), ("categories", shape[3]))
    return text(sql).bindparams(
        *(bindparam(name, expanding=True) for name, asked in lists if asked)
    )


@lru_cache(maxsize=64)
def _select_step_audiences(shape: StepAccessShape, of_thread: bool) -> TextClause:
    which = " AND thread = :thread" if of_thread else ""
    return _build_text(
        "SELECT DISTINCT audience, categories FROM graph_steps "  # noqa: S608
        f"WHERE {_access_condition('graph_steps', shape)}{which}",
        shape,
    )


@lru_cache(maxsize=256)
def _select_step_list(shape: StepAccessShape, named: tuple[str, ...]) -> TextClause:
    tests = {
        "thread": "thread = :thread",
        "ns": "ns = :ns",
        "id": "id = :id",
        "before": "id < :before",
        "a_id": "(id < :a_id OR (id = :a_id AND (thread > :a_thread "
        "OR (thread = :a_thread AND ns > :a_ns))))",
    }
    which = "".join(f" AND {tests[name]}" for name in named if name in tests)
    return _build_text(
        "SELECT DISTINCT id, thread, ns, metadata FROM graph_steps "  # noqa: S608
        f"WHERE {_access_condition('graph_steps', shape)}{which} ORDER BY id DESC, thread, ns LIMIT :most",
        shape,
    )


def _newest_step(shape: StepAccessShape, which: str) -> str:
    """Return SQL for the newest matching step.

    Each identity and place is a separate subquery that reads one row from the end of an index.
    """
    each = [
        "SELECT * FROM (SELECT * FROM graph_steps "  # noqa: S608
        f"WHERE space_id = :space AND person = :mine{n} AND chat = :place{m} "
        f"AND thread = :thread AND ns = :ns{which}{_audience_condition('graph_steps', shape)} "
        f"ORDER BY id DESC LIMIT 1) AS k{n}_{m}"
        for n in range(shape[0])
        for m in range(shape[1])
    ]
    if len(each) == 1:
        return each[0]
    return f"SELECT * FROM ({' UNION ALL '.join(each)}) AS k ORDER BY k.id DESC, k.person LIMIT 1"  # noqa: S608


@lru_cache(maxsize=64)
def _select_step(dialect: str, shape: StepAccessShape, by_id: bool) -> TextClause:
    """Select a step, its channel values and its writes as rows of one shape.

    CROSS JOIN makes SQLite keep this join order.
    """
    newest = _newest_step(shape, " AND id = :id" if by_id else "")
    v, tx = "graph_values", "graph_writes"  # unaliased, for checks of query plans
    return _build_text(
        f"WITH s AS MATERIALIZED ({newest}) "  # noqa: S608
        f"SELECT 0 AS part, spaces.identity_rev, {_STEP_COLUMNS} FROM spaces LEFT JOIN s ON 1 = 1 "
        "WHERE spaces.space_id = :space "
        f"UNION ALL SELECT 1, 0, {v}.channel, {v}.version, {v}.type, NULL, NULL, NULL, NULL, "
        f"{v}.saved_at, {v}.data FROM s CROSS JOIN {_EACH_CHANNEL[dialect]} CROSS JOIN {v} "
        f"WHERE {_access_condition(v, shape)} AND {v}.thread = s.thread AND {v}.ns = s.ns "
        f"AND {v}.channel = e.key AND {v}.version = e.value "
        f"UNION ALL SELECT 2, {tx}.idx, {tx}.channel, NULL, {tx}.type, {tx}.task, {tx}.path, NULL, "
        f"NULL, {tx}.saved_at, {tx}.data FROM s CROSS JOIN {tx} "
        f"WHERE {_access_condition(tx, shape)} AND {tx}.thread = s.thread AND {tx}.ns = s.ns AND {tx}.step = s.id",
        shape,
    )


# Writing graph steps: a step with its changed values, and the writes of its tasks.

_KEY_COLUMNS = "space_id, person, chat, thread, ns"
_INSERT_STEP = text(
    insert_statement(graph_steps).text
    + f" ON CONFLICT ({_KEY_COLUMNS}, id) DO UPDATE SET parent = excluded.parent, "
    "type = excluded.type, run = excluded.run, audience = excluded.audience, "
    "categories = excluded.categories, saved_at = excluded.saved_at, "
    "metadata = excluded.metadata, versions = excluded.versions, data = excluded.data"
)
# A version usually has one value. Graphs that count versions from 1 may write the same version for
# several audiences or category lists: the newest value then replaces the value of another audience
# or list.
_INSERT_VALUE = text(
    insert_statement(graph_values).text
    + f" ON CONFLICT ({_KEY_COLUMNS}, channel, version) DO UPDATE SET type = excluded.type, "
    "audience = excluded.audience, categories = excluded.categories, "
    "saved_at = excluded.saved_at, data = excluded.data "
    "WHERE graph_values.audience IS DISTINCT FROM excluded.audience "
    "OR graph_values.categories IS DISTINCT FROM excluded.categories"
)
_INSERT_WRITE = (
    insert_statement(graph_writes).text + f" ON CONFLICT ({_KEY_COLUMNS}, step, task, idx) DO "
)
_KEEP_WRITE = text(_INSERT_WRITE + "NOTHING")
_REPLACE_WRITE = text(
    _INSERT_WRITE + "UPDATE SET path = excluded.path, channel = excluded.channel, "
    "type = excluded.type, audience = excluded.audience, categories = excluded.categories, "
    "saved_at = excluded.saved_at, data = excluded.data"
)
# Locked, so that they stay unchanged until the write ends.
_IDENTITIES_UNCHANGED = (
    select(spaces_table.c.identity_rev)
    .where(
        spaces_table.c.space_id == bindparam("space"),
        spaces_table.c.identity_rev == bindparam("rev"),
    )
    .with_for_update(read=True)
)
_S = graph_steps.c
_SELECT_AUDIENCES = select(_S.audience).where(
    _S.space_id == bindparam("space"),
    _S.person.in_(bindparam("mine", expanding=True)),
    _S.chat.in_(bindparam("places", expanding=True)),
    _S.thread == bindparam("thread"),
    _S.ns == bindparam("ns"),
)
_SELECT_AUDIENCE_OF_STEP = _SELECT_AUDIENCES.where(_S.id == bindparam("id"))
_SELECT_NEWEST_AUDIENCE = _SELECT_AUDIENCES.order_by(_S.id.desc()).limit(1)
_NAMESPACE_SEPARATOR = "|"  # separates the names of a graph and its subgraph in LangGraph
StepStatements = Callable[[Mapping[str, Any]], list[Statement]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTarget:
    """The position in a thread where rows are inserted."""

    thread: str
    ns: str
    parent: str | None  # the preceding step
    categories: str | None  # JSON list of categories that the writing agent may use; None: all


def step_inserts(
    same: Mapping[str, Any], step: GraphStep, metadata: str, values: Iterable[StepValue]
) -> list[Statement]:
    """Build the inserts of a step and its values, to run together.

    `same` holds the columns that all rows share.
    """
    row = {
        **same,
        "id": step.id,
        "parent": step.parent,
        "type": step.type,
        "run": step.run,
        "metadata": metadata,
        "versions": dump_compact_json(step.versions),
        "data": step.data,
    }
    found: list[Statement] = [(_INSERT_STEP, row)]
    # Keep one value per key: in a joined PostgreSQL statement no insert sees another.
    for one in {(one.channel, one.version): one for one in values}.values():
        value = {
            **same,
            "channel": one.channel,
            "version": one.version,
            "type": one.type,
            "data": one.data,
        }
        found.append((_INSERT_VALUE, value))
    return found


def write_inserts(
    same: Mapping[str, Any], id: str, writes: Sequence[StepWrite], replace: bool
) -> list[Statement]:
    """Build the inserts of the writes of a step.

    The step `id` may not be inserted yet. With `replace`, overwrite earlier writes of a task with
    the same index; otherwise keep them.
    """
    statement = _REPLACE_WRITE if replace else _KEEP_WRITE
    # Keep one write per index, the last or the first: in a joined PostgreSQL statement no insert
    # sees another.
    told = {(one.task, one.index): one for one in (writes if replace else reversed(writes))}
    return [
        (
            statement,
            {
                **same,
                "step": id,
                "task": one.task,
                "idx": one.index,
                "path": one.path,
                "channel": one.channel,
                "type": one.type,
                "data": one.data,
            },
        )
        for one in told.values()
    ]


def insert_steps_fast(
    store: Store, space: str, asking: RawRequest, to: StepTarget, rows: StepStatements
) -> int | None:
    """Insert rows in private with a cached request; return the time of the write.

    The statements and the check of the identity revision run together. Return None if the cached
    request is stale or the write fails: the caller then uses `insert_steps`, which reports the
    error.
    """
    kept = store.requests.get_cached(space, asking, union=True)
    if kept is None or not kept[1].private:
        return None
    rev, request = kept
    if not store.requests.is_registered(space, asking, rev):
        return None
    at = to_micros(store.clock())
    same = {
        "space_id": space,
        "person": request.subject,
        "chat": "",
        "thread": to.thread,
        "ns": to.ns,
        "audience": None,
        "categories": to.categories,
        "saved_at": at,
    }
    done = store.database.write_if(
        (_IDENTITIES_UNCHANGED, {"space": space, "rev": rev}), rows(same)
    )
    return at if done else None


def insert_steps(tx: Transaction, to: StepTarget, rows: StepStatements) -> None:
    request = tx.request
    same = {
        "space_id": tx.space,
        "person": request.subject,
        "chat": require_step_places(tx)[0],
        "thread": to.thread,
        "ns": to.ns,
        "audience": None if request.private else _common_audience(tx, to),
        "categories": to.categories,
        "saved_at": to_micros(tx.at),
    }
    statements.run_statements(tx.connection, rows(same))


def require_step_places(tx: Transaction) -> list[str]:
    found = step_places(tx.request)
    if found is None:
        raise InvalidInput(
            "chat", "steps of a graph are kept in a private chat, or in a group that one is in"
        )
    return found


def _common_audience(tx: Transaction, to: StepTarget) -> str | None:
    """Return the audience of the people present who were also present for the preceding step.

    A person who joined in between has not seen the whole state.
    """
    request, here = tx.request, tx.request.present
    rows = _audiences_before(tx, to)
    sets = tx.audiences.get_people(tx.connection, tx.space, {row[0] for row in rows})
    for (audience,) in rows:
        were = {request.person(one) for one in sets[audience]} | {request.requester}
        here = frozenset(one for one in here if request.person(one) in were)
    return memory_reads.ensure_audience(tx.connection, tx.dialect, tx.space, here)


def _audiences_before(tx: Transaction, to: StepTarget) -> Sequence[tuple[Any, ...]]:
    """Read the audiences of the preceding step; a subgraph continues from its parent graph."""
    at = {
        "space": tx.space,
        "mine": sorted(tx.request.own_identities),
        "places": require_step_places(tx),
    }
    at |= {"thread": to.thread, "ns": to.ns}
    if to.parent is not None:
        return statements.fetch_rows(
            tx.connection, _SELECT_AUDIENCE_OF_STEP, {**at, "id": to.parent}
        )
    if not to.ns:
        return []
    return statements.fetch_rows(
        tx.connection,
        _SELECT_NEWEST_AUDIENCE,
        {**at, "ns": to.ns.rpartition(_NAMESPACE_SEPARATOR)[0]},
    )


# Deleting graph steps: threads and runs, pruning, and erasure. Copying a thread uses the same rows.

T = TypeVar("T")
STEP_TABLES = (graph_steps, graph_values, graph_writes)
_STEPS = graph_steps.c
_V = graph_values.c
_O = graph_writes.c
_A = audience_people.c
AllowedCategories = frozenset[str] | None
Conditions = list[ColumnElement[bool]]


def _own_rows(tx: Transaction, table: Table, allowed: AllowedCategories) -> Conditions:
    """Return conditions for the rows that the requester may delete.

    These are the requester's own rows in this chat, saved by agents with no more categories than
    `allowed`. The audience is not checked: the other people present learn nothing from a deletion.
    """
    c = table.c
    found = [
        c.space_id == tx.space,
        c.person.in_(sorted(tx.request.own_identities)),
        c.chat.in_(require_step_places(tx)),
    ]
    if allowed is None:
        return found
    lists = tx.connection.execute(select(c.categories).where(*found).distinct()).scalars()
    within = [one for one in lists if one and set(json.loads(one)) <= allowed]
    return [*found, c.categories.in_(within)]


def delete_threads(tx: Transaction, threads: Collection[str], allowed: AllowedCategories) -> None:
    for table in STEP_TABLES:
        theirs = _own_rows(tx, table, allowed)
        for some in _chunks_of(sorted(threads)):
            tx.connection.execute(delete(table).where(*theirs, table.c.thread.in_(some)))


def delete_runs(tx: Transaction, runs: Collection[str], allowed: AllowedCategories) -> None:
    """Delete the steps of these runs, with their writes and the values that no other step uses."""
    touched: dict[tuple[str, str], set[str]] = {}
    theirs = _own_rows(tx, graph_steps, allowed)
    for some in _chunks_of(sorted(runs)):
        which = select(_STEPS.thread, _STEPS.ns, _STEPS.id).where(*theirs, _STEPS.run.in_(some))
        for thread, ns, id in tx.connection.execute(which):
            touched.setdefault((thread, ns), set()).add(id)
    for (thread, ns), ids in sorted(touched.items()):
        _delete_steps(tx, thread, ns, ids, allowed)


def prune_thread(tx: Transaction, thread: str, allowed: AllowedCategories) -> None:
    """Delete all steps but the newest for each namespace and audience, and the steps it needs."""
    which = (*_own_rows(tx, graph_steps, allowed), _STEPS.thread == thread)
    columns = (
        _STEPS.ns,
        _STEPS.id,
        _STEPS.parent,
        _STEPS.audience,
        _STEPS.categories,
        _STEPS.metadata,
        _STEPS.versions,
    )
    rows = tx.connection.execute(select(*columns).where(*which).order_by(_STEPS.id.desc())).all()
    for ns in sorted({row.ns for row in rows}):
        here = {row.id: row for row in rows if row.ns == ns}
        newest: dict[Any, str] = {}
        for id, row in here.items():
            newest.setdefault((row.audience, row.categories), id)
        kept = set(newest.values())
        for id in newest.values():
            kept |= _required_steps(tx, thread, ns, here, id)
        _delete_steps(tx, thread, ns, set(here) - kept, allowed)


def _required_steps(
    tx: Transaction, thread: str, ns: str, here: Mapping[str, Any], id: str
) -> set[str]:
    """Return the steps that delta channels are rebuilt from, back to the last full value."""
    waiting = set(json.loads(here[id].metadata).get("counters_since_delta_snapshot") or ())
    whole = _stored_values(tx, thread, ns) if waiting else set()
    found: set[str] = set()
    while waiting and id in here and id not in found:
        found.add(id)
        versions = json.loads(here[id].versions)
        waiting -= {one for one in waiting if (one, versions.get(one)) in whole}
        id = here[id].parent
    return found


def _stored_values(tx: Transaction, thread: str, ns: str) -> set[tuple[str, str]]:
    where = (*_own_rows(tx, graph_values, None), _V.thread == thread, _V.ns == ns)
    rows = tx.connection.execute(select(_V.channel, _V.version).where(*where))
    return {(channel, version) for channel, version in rows}


def _delete_steps(
    tx: Transaction, thread: str, ns: str, ids: Collection[str], allowed: AllowedCategories
) -> None:
    if not ids:
        return
    for table, id in ((graph_steps, _STEPS.id), (graph_writes, _O.step)):
        where = (*_own_rows(tx, table, allowed), table.c.thread == thread, table.c.ns == ns)
        for some in _chunks_of(sorted(ids)):
            tx.connection.execute(delete(table).where(*where, id.in_(some)))
    left = (*_own_rows(tx, graph_steps, None), _STEPS.thread == thread, _STEPS.ns == ns)
    for some in _chunks_of(sorted(ids)):
        orphans = update(graph_steps).where(*left, _STEPS.parent.in_(some))
        tx.connection.execute(orphans.values(parent=None))
    versions = tx.connection.execute(select(_STEPS.versions).where(*left)).scalars()
    used = {pair for one in versions for pair in json.loads(one).items()}
    where = (*_own_rows(tx, graph_values, None), _V.thread == thread, _V.ns == ns)
    for pairs in _chunks_of(sorted(_stored_values(tx, thread, ns) - used)):
        unused = tuple_(_V.channel, _V.version).in_(pairs)
        tx.connection.execute(delete(graph_values).where(*where, unused))


def copy_thread(tx: Transaction, source: str, target: str, allowed: AllowedCategories) -> None:
    """Copy a thread under another name; existing rows of the target stay."""
    for table in STEP_TABLES:
        c, names = table.c, [column.name for column in table.columns]
        there = [literal(target) if name == "thread" else c[name] for name in names]
        rows = select(*there).where(*_own_rows(tx, table, allowed), c.thread == source)
        tx.connection.execute(
            insert_for(tx.connection, table).on_conflict_do_nothing().from_select(names, rows)
        )


def delete_steps_of_people(connection: Connection, space: str, who: Collection[str]) -> int:
    """Delete all steps of these people in all chats; return the number of steps."""
    return _delete_matching(connection, space, lambda c: c.person.in_(sorted(who)))


def delete_steps_of_chats(connection: Connection, space: str, rooms: Collection[str]) -> int:
    """Delete all steps saved in these chats, of all people; return the number of steps."""
    return _delete_matching(connection, space, partial(_in_chats, sorted(set(rooms) - {""})))


def delete_exposed_steps(connection: Connection, space: str, exposed: Exposure) -> None:
    """Delete steps of people whom memories to be erased may have reached.

    Call this before the erasure. Only steps saved since the exposure are deleted, and steps in
    groups only if one of the memories may have been shown in a group.
    """

    def since(which: Callable[[Any], ColumnElement[bool]]) -> None:
        _delete_matching(connection, space, lambda c: which(c) & (c.saved_at >= exposed.since))

    for some in _chunks_of(sorted(exposed.people)):
        since(partial(_in_private, some))
        if exposed.includes_groups:
            sets = select(_A.audience).where(_A.space_id == space, _A.person.in_(some))
            since(partial(_in_groups_with, some, sets))
    if exposed.includes_groups and exposed.rooms:
        since(partial(_in_chats, sorted(exposed.rooms)))


def _in_private(who: Sequence[str], c: Any) -> ColumnElement[bool]:
    return c.person.in_(who) & (c.chat == "")  # type: ignore[no-any-return]


def _in_groups_with(who: Sequence[str], sets: Any, c: Any) -> ColumnElement[bool]:
    return (c.chat != "") & or_(c.person.in_(who), c.audience.in_(sets))  # type: ignore[no-any-return]


def _in_chats(rooms: Sequence[str], c: Any) -> ColumnElement[bool]:
    return (c.chat != "") & c.chat.in_(rooms)  # type: ignore[no-any-return]


def _delete_matching(
    connection: Connection, space: str, which: Callable[[Any], ColumnElement[bool]]
) -> int:
    counts = [
        connection.execute(delete(one).where(one.c.space_id == space, which(one.c))).rowcount
        for one in STEP_TABLES
    ]
    return counts[0]


def _chunks_of(names: Sequence[T]) -> Iterable[Sequence[T]]:
    for start in range(0, len(names), _AT_ONCE_COUNT):
        yield names[start : start + _AT_ONCE_COUNT]
