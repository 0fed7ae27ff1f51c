"""Store checkpoints of agents and steps of LangGraph graphs."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    TextClause,
    and_,
    bindparam,
    func,
    literal,
    or_,
    select,
    text,
    tuple_,
)

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import Conflict, InvalidInput
from tacit.identity import RawRequest
from tacit.records.checkpoints import Checkpoint, GraphStep, StepValue, StepWrite, StoredGraphStep, dump_compact_json
from tacit.records.memory import ChatKind
from tacit.records.request import Request
from tacit.storage import memory_reads
from tacit.storage.dialect import Statement
from tacit.storage.engine import (
    Database,
    chunks,
    delete_rows,
    fetch_rows,
    insert_for,
    insert_row,
    insert_statement,
    lock_rows,
    run_statements,
    select_set,
    to_record,
    update_rows,
)
from tacit.storage.erasures import Exposure
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import AudienceCache
from tacit.storage.schema import (
    audience_people,
    checkpoints_table,
    graph_steps,
    graph_values,
    graph_writes,
    spaces_table,
)
from tacit.storage.store import FAST_PATH_MISS, SELECT_NEWEST_MARK, FastPathMiss, RecentSteps, StepKey, StepMark, Store

# Checkpoints: one row for each person and thread, under any identity of the person.

_C = checkpoints_table.c
_PAGE_COUNT = 20  # rows of up to 1 MiB each


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint:
    person: str
    categories: frozenset[str] | None  # categories that the saving agent could use; None: all
    checkpoint: Checkpoint

    def is_open_to(self, allowed: frozenset[str] | None) -> bool:
        """Return whether an agent limited to these categories may read the checkpoint."""
        return allowed is None or (self.categories is not None and self.categories <= allowed)


def find_checkpoint(connection: Connection, space: str, who: Collection[str], thread: str) -> StoredCheckpoint | None:
    """Return the newest checkpoint of the thread.

    Identities that were linked later may each have saved their own.
    """
    row = connection.execute(_select_own(space, who, thread)).first()
    return None if row is None else _to_checkpoint(row)


def _select_own(space: str, who: Collection[str], thread: str) -> Select[Any]:
    return (
        select(checkpoints_table)
        .where(_C.space_id == space, _C.person.in_(sorted(who)), _C.thread == thread)
        .order_by(_C.updated_at.desc(), _C.person)
    )


def save_checkpoint(
    tx: Transaction, thread: str, data: str, allowed: frozenset[str] | None, version: int | None
) -> Checkpoint:
    """Save a checkpoint.

    `version` is the version that the caller has read, 0 for none. Raise Conflict if the stored
    version differs.
    """
    mine = tx.request.own_identities
    this = lock_rows(_select_own(tx.space, mine, thread))
    row = tx.connection.execute(this).first()
    kept = None if row is None else _to_checkpoint(row)
    if kept is not None and not kept.is_open_to(allowed):
        raise Conflict("an agent that may use more keeps a checkpoint here: name another thread")
    found = 0 if kept is None else kept.checkpoint.version
    if version is not None and version != found:
        raise Conflict(f"the checkpoint is at version {found} by now: read it again")
    values: dict[str, Any] = {"data": data, "categories": allowed, "version": found + 1, "updated_at": tx.at}
    where = (tx.connection, checkpoints_table, tx.space)
    if kept is None:
        theirs = (_C.space_id == tx.space, _C.person.in_(sorted(mine)))
        counted = select(func.count()).select_from(checkpoints_table).where(*theirs)
        if tx.connection.execute(counted).scalar_one() >= limits.CHECKPOINTS_MAX_COUNT:
            raise InvalidInput(
                "checkpoint", f"of one person at most {limits.CHECKPOINTS_MAX_COUNT:,} are kept: forget some"
            )
        insert_row(*where, person=tx.request.subject, thread=thread, **values)
    else:
        update_rows(*where, _C.person == kept.person, _C.thread == thread, **values)
    return Checkpoint(thread=thread, data=json.loads(data), version=found + 1, updated_at=tx.at)


def delete_checkpoints(connection: Connection, space: str, who: Collection[str], thread: str | None) -> int:
    """Delete the checkpoint of one thread, or all checkpoints of these identities."""
    theirs: Conditions = [_C.person.in_(sorted(who))]
    if thread is not None:
        theirs.append(_C.thread == thread)
    return delete_rows(connection, checkpoints_table, space, *theirs)


def delete_exposed_checkpoints(connection: Connection, space: str, exposed: Exposure) -> None:
    """Delete checkpoints of people whom memories to be erased may have reached in private.

    Call this before the erasure. Only checkpoints saved since the exposure are deleted.
    """
    for some in chunks(exposed.people):
        since = (_C.person.in_(some), _C.updated_at >= exposed.since)
        delete_rows(connection, checkpoints_table, space, *since)


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
    checkpoint = to_record(Checkpoint, row, data=json.loads(row.data))
    return to_record(StoredCheckpoint, row, checkpoint=checkpoint)


# Reading graph steps: the owner of the steps and the people present in the chat.
#
# In private, steps belong to the person, under any identity that saved them. In a group, they
# belong to the person in that chat, and are hidden while a person is present who was not present
# when they were saved. An agent with fewer categories than the agent that saved the steps cannot
# read them.

StepRows = Sequence[tuple[Any, ...]]
Conditions = list[ColumnElement[bool]]
# Numbers of identities and places; the columns whose values are filtered.
StepAccessShape = tuple[int, int, tuple[str, ...]]
_S = graph_steps.c
_SELECT_AUDIENCES = (
    select(_S.audience, _S.categories)
    .where(
        _S.space_id == bindparam("space"),
        _S.person.in_(bindparam("mine", expanding=True)),
        _S.chat.in_(bindparam("places", expanding=True)),
    )
    .distinct()
)
_SELECT_AUDIENCES_OF_THREAD = _SELECT_AUDIENCES.where(_S.thread == bindparam("thread"))
_STEP, _VALUE, _WRITE = 0, 1, 2  # part of the step that a row holds
# Table expression that expands the channels of a step, by dialect.
_EACH_CHANNEL = {
    "sqlite": "json_each(s.versions) AS e",
    "postgresql": "jsonb_each_text(CAST(s.versions AS jsonb)) AS e(key, value)",
}
_STEP_COLUMNS = "s.id, s.ns, s.type, s.parent, s.metadata, s.versions, s.run, s.saved_at, s.data"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAccess:
    """Filter for the steps that a request may read."""

    space: str
    mine: list[str]
    places: list[str]
    # Audiences that include all people present, and category lists within the allowed categories,
    # by column; a column that is missing does not filter.
    lists: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def shape(self) -> StepAccessShape:
        return len(self.mine), len(self.places), tuple(self.lists)

    def params(self, **named: Any) -> dict[str, Any]:
        """Return the parameters of a statement of this shape."""
        named |= {f"mine{n}": one for n, one in enumerate(self.mine)}
        named |= {f"place{n}": one for n, one in enumerate(self.places)}
        return named | {"space": self.space, **self.lists}

    def conditions(self, table: Table) -> Conditions:
        """Return conditions for the rows of a table of steps, values or writes."""
        c = table.c
        whose = [c.space_id == self.space, c.person.in_(self.mine), c.chat.in_(self.places)]
        return [*whose, *(c[name].in_(values) for name, values in self.lists.items())]


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
    wanted: dict[str, Any] = {"space": whole.space, "mine": whole.mine, "places": where}
    statement = _SELECT_AUDIENCES
    if thread is not None:
        statement, wanted = _SELECT_AUDIENCES_OF_THREAD, wanted | {"thread": thread}
    rows = fetch_rows(connection, statement, wanted)
    lists: dict[str, list[str]] = {}
    if not request.private:
        sets = audiences.get_people(connection, request.space, {row[0] for row in rows})
        lists["audience"] = sorted(id for id, people in sets.items() if id and _includes_everyone(request, people))
    if allowed is not None:
        lists["categories"] = sorted({row[1] for row in rows if row[1] and set(json.loads(row[1])) <= allowed})
    return replace(whole, lists=lists) if all(lists.values()) else None


def _includes_everyone(request: Request, audience: Iterable[str]) -> bool:
    """Return whether the audience includes all people present, under any of their identities."""
    were = {request.person(one) for one in audience} | {request.requester}
    return request.audience <= were


def find_step(
    connection: Connection, access: StepAccess, thread: str, ns: str, id: str | None
) -> StoredGraphStep | None:
    """Return one step, the newest if `id` is None."""
    statement, params = _step_query(connection.dialect.name, access, thread, ns, id)
    rows = fetch_rows(connection, statement, params, binary=True)
    return _to_stored_step(rows, thread)


def _step_query(
    dialect: str, access: StepAccess, thread: str, ns: str, id: str | None
) -> tuple[TextClause, dict[str, Any]]:
    """Return a query for the rows of one step, and its parameters.

    The row of the step also holds the identity revision, even if there is no such step.
    """
    named = {"thread": thread, "ns": ns} | ({} if id is None else {"id": id})
    return _select_step(dialect, access.shape, id is not None), access.params(**named)


def get_step_fast(
    database: Database, recent: RecentSteps, kept: tuple[int, Request], thread: str, ns: str, id: str | None
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
    access = StepAccess(space=request.space, mine=sorted(request.own_identities), places=[""])
    query = _step_query(database.dialect.name, access, thread, ns, id)
    rows = database.fetch_directly(*query, binary=True)
    own = _own_row(rows) if rows else None
    if rows is None or own is None or own[1] != rev:
        return FAST_PATH_MISS
    whole = _to_stored_step(rows, thread)
    if whole is not None and alone:
        recent.add_read(key, _mark_of(rows, own), whole)
    return whole


def _get_recent_step(database: Database, recent: RecentSteps, key: StepKey, rev: int) -> StoredGraphStep | None:
    params = {"space": key[0], "person": key[1], "thread": key[2], "ns": key[3]}
    rows = database.fetch_directly(SELECT_NEWEST_MARK, params)
    return recent.find(key, rows[0][1:]) if rows and rows[0][0] == rev else None


def _mark_of(rows: StepRows, own: tuple[Any, ...]) -> StepMark:
    """Return the mark of a step, by which a cached copy is compared with the newest step."""
    at = [row[9] for row in rows if row[0] == _WRITE]
    _, _, id, _, _, parent, metadata, versions, _, saved_at, _ = own
    return id, saved_at, parent, metadata, versions, f"{len(at)} {max(at, default=0)}"


def _own_row(rows: StepRows) -> tuple[Any, ...] | None:
    return next((row for row in rows if row[0] == _STEP), None)


def _to_stored_step(rows: StepRows, thread: str) -> StoredGraphStep | None:
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
            writes.append(StepWrite(task=task, index=index, channel=name, type=type_, data=blob, path=path))
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
    connection: Connection, access: StepAccess, wanted: Mapping[str, str], after: tuple[str, str, str] | None, most: int
) -> StepRows:
    """List steps as (id, thread, ns, metadata), the newest first, after the previous page.

    `wanted` filters by `thread`, `ns` or `id`, or by `before` an id.
    """
    rows = select(_S.id, _S.thread, _S.ns, _S.metadata).where(*access.conditions(graph_steps))
    for name, value in wanted.items():
        rows = rows.where(_S.id < value if name == "before" else _S[name] == value)
    if after is not None:
        id, *rest = after
        rows = rows.where(or_(_S.id < id, and_(_S.id == id, tuple_(_S.thread, _S.ns) > tuple_(*rest))))
    page = rows.distinct().order_by(_S.id.desc(), _S.thread, _S.ns).limit(most)
    return connection.execute(page).all()


def _access_condition(of: str, shape: StepAccessShape) -> str:
    mine = ", ".join(f":mine{n}" for n in range(shape[0]))
    places = ", ".join(f":place{n}" for n in range(shape[1]))
    return (
        f"{of}.space_id = :space AND {of}.person IN ({mine}) AND {of}.chat IN ({places})"
        f"{_audience_condition(of, shape)}"
    )


def _audience_condition(of: str, shape: StepAccessShape) -> str:
    return "".join(f" AND {of}.{name} IN :{name}" for name in shape[2])


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
    sql = (
        f"WITH s AS MATERIALIZED ({newest}) "  # noqa: S608
        f"SELECT 0 AS part, spaces.identity_rev, {_STEP_COLUMNS} FROM spaces LEFT JOIN s ON 1 = 1 "
        "WHERE spaces.space_id = :space "
        f"UNION ALL SELECT 1, 0, {v}.channel, {v}.version, {v}.type, NULL, NULL, NULL, NULL, "
        f"{v}.saved_at, {v}.data FROM s CROSS JOIN {_EACH_CHANNEL[dialect]} CROSS JOIN {v} "
        f"WHERE {_access_condition(v, shape)} AND {v}.thread = s.thread AND {v}.ns = s.ns "
        f"AND {v}.channel = e.key AND {v}.version = e.value "
        f"UNION ALL SELECT 2, {tx}.idx, {tx}.channel, NULL, {tx}.type, {tx}.task, {tx}.path, NULL, "
        f"NULL, {tx}.saved_at, {tx}.data FROM s CROSS JOIN {tx} "
        f"WHERE {_access_condition(tx, shape)} AND {tx}.thread = s.thread AND {tx}.ns = s.ns AND {tx}.step = s.id"
    )
    return text(sql).bindparams(*(bindparam(name, expanding=True) for name in shape[2]))


# Writing graph steps: a step with its changed values, and the writes of its tasks.


def _upsert_text(table: Table) -> str:
    """Build an INSERT that replaces all other columns of a row with the same key."""
    key = [column.name for column in table.primary_key]
    others = [column.name for column in table.columns if column.name not in key]
    changes = ", ".join(f"{name} = excluded.{name}" for name in others)
    conflict = f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}"
    return f"{insert_statement(table).text} {conflict}"


_INSERT_STEP = text(_upsert_text(graph_steps))
# A version usually has one value. Graphs that count versions from 1 may write the same version for
# several audiences or category lists: the newest value then replaces the value of another audience
# or list.
_INSERT_VALUE = text(
    _upsert_text(graph_values) + " WHERE graph_values.audience IS DISTINCT FROM excluded.audience "
    "OR graph_values.categories IS DISTINCT FROM excluded.categories"
)
_KEEP_WRITE = text(insert_statement(graph_writes).text + " ON CONFLICT DO NOTHING")
_REPLACE_WRITE = text(_upsert_text(graph_writes))
# Locked, so that they stay unchanged until the write ends.
_IDENTITIES_UNCHANGED = (
    select(spaces_table.c.identity_rev)
    .where(spaces_table.c.space_id == bindparam("space"), spaces_table.c.identity_rev == bindparam("rev"))
    .with_for_update(read=True)
)
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
    own = {"id": step.id, "parent": step.parent, "type": step.type, "run": step.run}
    own |= {"metadata": metadata, "versions": dump_compact_json(step.versions)}
    found: list[Statement] = [(_INSERT_STEP, {**same, **own, "data": step.data})]
    # Keep one value per key: in a joined PostgreSQL statement no insert sees another.
    for one in {(one.channel, one.version): one for one in values}.values():
        key = {"channel": one.channel, "version": one.version}
        found.append((_INSERT_VALUE, {**same, **key, **_payload(one)}))
    return found


def _payload(one: StepValue | StepWrite) -> dict[str, Any]:
    return {"type": one.type, "data": one.data}


def write_inserts(same: Mapping[str, Any], id: str, writes: Sequence[StepWrite], replace: bool) -> list[Statement]:
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
            {**same, "step": id, "task": task, "idx": index, "path": one.path}
            | {"channel": one.channel, **_payload(one)},
        )
        for (task, index), one in told.items()
    ]


def insert_steps_fast(store: Store, space: str, asking: RawRequest, to: StepTarget, rows: StepStatements) -> int | None:
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
    same = _shared_columns(request, "", to, None, at)
    done = store.database.write_if((_IDENTITIES_UNCHANGED, {"space": space, "rev": rev}), rows(same))
    return at if done else None


def insert_steps(tx: Transaction, to: StepTarget, rows: StepStatements) -> None:
    audience = None if tx.request.private else _common_audience(tx, to)
    chat = require_step_places(tx)[0]
    same = _shared_columns(tx.request, chat, to, audience, to_micros(tx.at))
    run_statements(tx.connection, rows(same))


def _shared_columns(request: Request, chat: str, to: StepTarget, audience: str | None, at: int) -> dict[str, Any]:
    """Return the columns that a step shares with its values and writes."""
    key = {"space_id": request.space, "person": request.subject, "chat": chat}
    key |= {"thread": to.thread, "ns": to.ns}
    return {**key, "audience": audience, "categories": to.categories, "saved_at": at}


def require_step_places(tx: Transaction) -> list[str]:
    found = step_places(tx.request)
    if found is None:
        raise InvalidInput("chat", "steps of a graph are kept in a private chat, or in a group that one is in")
    return found


def _common_audience(tx: Transaction, to: StepTarget) -> str | None:
    """Return the audience of the people present who were also present for the preceding step.

    A person who joined in between has not seen the whole state.
    """
    request, here = tx.request, tx.request.present
    found = _audiences_before(tx, to)
    sets = tx.audiences.get_people(tx.connection, tx.space, found)
    for audience in found:
        were = {request.person(one) for one in sets[audience]} | {request.requester}
        here = frozenset(one for one in here if request.person(one) in were)
    return memory_reads.ensure_audience(tx.connection, tx.space, here)


def _audiences_before(tx: Transaction, to: StepTarget) -> set[str | None]:
    """Read the audiences of the preceding step; a subgraph continues from its parent graph."""
    ns = to.ns if to.parent is not None else to.ns.rpartition(_NAMESPACE_SEPARATOR)[0]
    own = _own_access(tx).conditions(graph_steps)
    before = select(_S.audience).where(*own, _S.thread == to.thread, _S.ns == ns)
    if to.parent is not None:
        return select_set(tx.connection, before.where(_S.id == to.parent))
    newest = before.order_by(_S.id.desc()).limit(1)
    return select_set(tx.connection, newest) if to.ns else set()


# Deleting graph steps: threads and runs, pruning, and erasure. Copying a thread uses the same rows.

STEP_TABLES = (graph_steps, graph_values, graph_writes)
_V = graph_values.c
_A = audience_people.c
AllowedCategories = frozenset[str] | None


def _own_rows(tx: Transaction, table: Table, allowed: AllowedCategories) -> Conditions:
    """Return conditions for the rows that the requester may delete.

    These are the requester's own rows in this chat, saved by agents with no more categories than
    `allowed`. The audience is not checked: the other people present learn nothing from a deletion.
    """
    found = _own_access(tx).conditions(table)
    if allowed is None:
        return found
    lists = select_set(tx.connection, select(table.c.categories).where(*found).distinct())
    within = sorted(one for one in lists if one and set(json.loads(one)) <= allowed)
    return [*found, table.c.categories.in_(within)]


def _own_access(tx: Transaction) -> StepAccess:
    mine = sorted(tx.request.own_identities)
    return StepAccess(space=tx.space, mine=mine, places=require_step_places(tx))


def delete_threads(tx: Transaction, threads: Collection[str], allowed: AllowedCategories) -> None:
    for table in STEP_TABLES:
        theirs = _own_rows(tx, table, allowed)
        for some in chunks(threads):
            delete_rows(tx.connection, table, tx.space, *theirs, table.c.thread.in_(some))


def delete_runs(tx: Transaction, runs: Collection[str], allowed: AllowedCategories) -> None:
    """Delete the steps of these runs, with their writes and the values that no other step uses."""
    touched: dict[tuple[str, str], set[str]] = {}
    theirs = _own_rows(tx, graph_steps, allowed)
    for some in chunks(runs):
        which = select(_S.thread, _S.ns, _S.id).where(*theirs, _S.run.in_(some))
        for thread, ns, id in tx.connection.execute(which):
            touched.setdefault((thread, ns), set()).add(id)
    for (thread, ns), ids in sorted(touched.items()):
        _delete_steps(tx, thread, ns, ids, allowed)


def prune_thread(tx: Transaction, thread: str, allowed: AllowedCategories) -> None:
    """Delete all steps but the newest for each namespace and audience, and the steps it needs."""
    which = (*_own_rows(tx, graph_steps, allowed), _S.thread == thread)
    columns = (_S.ns, _S.id, _S.parent, _S.audience, _S.categories, _S.metadata, _S.versions)
    rows = tx.connection.execute(select(*columns).where(*which).order_by(_S.id.desc())).all()
    for ns in sorted({row.ns for row in rows}):
        here = {row.id: row for row in rows if row.ns == ns}
        newest: dict[Any, str] = {}
        for id, row in here.items():
            newest.setdefault((row.audience, row.categories), id)
        kept = set(newest.values())
        for id in newest.values():
            kept |= _required_steps(tx, thread, ns, here, id)
        _delete_steps(tx, thread, ns, set(here) - kept, allowed)


def _required_steps(tx: Transaction, thread: str, ns: str, here: Mapping[str, Any], id: str) -> set[str]:
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


def _delete_steps(tx: Transaction, thread: str, ns: str, ids: Collection[str], allowed: AllowedCategories) -> None:
    if not ids:
        return

    def of_thread(table: Table, within: AllowedCategories) -> Conditions:
        c = table.c
        return [*_own_rows(tx, table, within), c.thread == thread, c.ns == ns]

    where = (tx.connection, graph_steps, tx.space)
    left = of_thread(graph_steps, None)
    for table, id in ((graph_steps, _S.id), (graph_writes, graph_writes.c.step)):
        theirs = of_thread(table, allowed)
        for some in chunks(ids):
            delete_rows(tx.connection, table, tx.space, *theirs, id.in_(some))
    for some in chunks(ids):
        update_rows(*where, *left, _S.parent.in_(some), parent=None)
    versions = tx.connection.execute(select(_S.versions).where(*left)).scalars()
    used = {pair for one in versions for pair in json.loads(one).items()}
    theirs = of_thread(graph_values, None)
    for pairs in chunks(_stored_values(tx, thread, ns) - used):
        unused = tuple_(_V.channel, _V.version).in_(pairs)
        delete_rows(tx.connection, graph_values, tx.space, *theirs, unused)


def copy_thread(tx: Transaction, source: str, target: str, allowed: AllowedCategories) -> None:
    """Copy a thread under another name; existing rows of the target stay."""
    for table in STEP_TABLES:
        c, names = table.c, [column.name for column in table.columns]
        there = [literal(target) if name == "thread" else c[name] for name in names]
        rows = select(*there).where(*_own_rows(tx, table, allowed), c.thread == source)
        tx.connection.execute(insert_for(tx.connection, table).on_conflict_do_nothing().from_select(names, rows))


def delete_steps_of_people(connection: Connection, space: str, who: Collection[str]) -> int:
    """Delete all steps of these people in all chats; return the number of steps."""
    return _delete_matching(connection, space, lambda c: c.person.in_(sorted(who)))


def delete_steps_of_chats(connection: Connection, space: str, rooms: Collection[str]) -> int:
    """Delete all steps saved in these chats, of all people; return the number of steps."""
    return _delete_matching(connection, space, lambda c: _is_in(c, rooms))


def delete_exposed_steps(connection: Connection, space: str, exposed: Exposure) -> None:
    """Delete steps of people whom memories to be erased may have reached.

    Call this before the erasure. Only steps saved since the exposure are deleted, and steps in
    groups only if one of the memories may have been shown in a group.
    """
    for table in STEP_TABLES:
        c = table.c
        since = c.saved_at >= exposed.since
        for some in chunks(exposed.people):
            delete_rows(connection, table, space, since, c.person.in_(some), c.chat == "")
            if exposed.includes_groups:
                sets = select(_A.audience).where(_A.space_id == space, _A.person.in_(some))
                there = or_(c.person.in_(some), c.audience.in_(sets))
                delete_rows(connection, table, space, since, c.chat != "", there)
        if exposed.includes_groups and exposed.rooms:
            delete_rows(connection, table, space, since, _is_in(c, exposed.rooms))


def _is_in(c: Any, rooms: Collection[str]) -> ColumnElement[bool]:
    return (c.chat != "") & c.chat.in_(sorted(rooms))  # type: ignore[no-any-return]


def _delete_matching(connection: Connection, space: str, which: Callable[[Any], ColumnElement[bool]]) -> int:
    counts = [delete_rows(connection, table, space, which(table.c)) for table in STEP_TABLES]
    return counts[0]
