"""Store relations between memories: edges, the graph, compared pairs and sources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    TextClause,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    text,
    union_all,
)

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.policy.predicate import (
    RequestShape,
    build_branches,
    predicate_parameters,
    shape_of_request,
    sql_literal,
)
from tacit.records.memory import Kind, Memory, State
from tacit.records.request import Request
from tacit.storage import memory_reads, revisions, statements
from tacit.storage.memories import RELATED_TO, Transaction
from tacit.storage.memory_reads import (
    MEMORY_COLUMNS,
    AudienceCache,
    MemoryEdge,
    fetch_visible,
    to_memory,
)
from tacit.storage.schema import (
    POLICY_TABLES,
    derived_from,
    memories_table,
    memory_versions,
    pair_checks,
    person_names,
    reflections,
    relations_table,
)

# Edges between memories: found by similarity, stated by a person, or learned from a turn.

_R = relations_table.c
_MEMORY = memories_table.c
# Use two statements: an OR over both columns would use neither index.
_DELETE_FOUND_EDGES = [
    delete(relations_table).where(
        _R.space_id == bindparam("space"), side == bindparam("id"), _R.found.is_(True)
    )
    for side in (_R.from_id, _R.to_id)
]


_SELECT_ACTIVE = select(_MEMORY.id).where(
    _MEMORY.space_id == bindparam("space"),
    _MEMORY.id.in_(bindparam("ids", expanding=True)),
    _MEMORY.state == sql_literal(State.ACTIVE),
    _MEMORY.is_turn.is_(False),
)


@lru_cache(maxsize=limits.RELATIONS_PER_MEMORY_MAX_COUNT)
def _insert_found_edges(count: int) -> TextClause:
    rows = ", ".join(
        f"(:space, :from{n}, :to{n}, '{RELATED_TO}', :strength{n}, :found, :at)"
        for n in range(count)
    )
    return text(
        "INSERT INTO relations "  # noqa: S608
        f"(space_id, from_id, to_id, relation_type, strength, found, created_at) VALUES {rows} "
        "ON CONFLICT DO NOTHING RETURNING from_id, to_id, strength, found"
    )


def replace_found_edges(
    tx: Transaction, id: str, likeness: Mapping[str, float], *, new: bool
) -> list[MemoryEdge]:
    """Replace the similarity edges of a memory.

    A similarity edge has no direction: it runs from the smaller id, so that each pair has one edge.
    """
    if not new:
        for statement in _DELETE_FOUND_EDGES:
            tx.connection.execute(statement, {"space": tx.space, "id": id})
    others = sorted(likeness.keys() - {id}, key=lambda one: (-likeness[one], one))
    others = others[: limits.RELATIONS_PER_MEMORY_MAX_COUNT]
    if others:
        params_of_others = {"space": tx.space, "ids": others}
        active = {
            id for (id,) in statements.fetch_rows(tx.connection, _SELECT_ACTIVE, params_of_others)
        }
        others = [one for one in others if one in active]
    if not others:
        return []
    params: dict[str, Any] = {"space": tx.space, "found": True, "at": to_micros(tx.at)}
    for n, other in enumerate(others):
        params[f"from{n}"], params[f"to{n}"] = min(id, other), max(id, other)
        params[f"strength{n}"] = round(likeness[other], 4)
    return [
        MemoryEdge(*row)
        for row in statements.fetch_rows(tx.connection, _insert_found_edges(len(others)), params)
    ]


def insert_stated_edge(
    tx: Transaction, from_id: str, to_id: str, relation_type: str, strength: float
) -> None:
    """Insert an edge that a person has stated.

    `related_to` is symmetric and is stored once; any other relation has a direction.
    """
    if relation_type == RELATED_TO:
        from_id, to_id = min(from_id, to_id), max(from_id, to_id)
    tx.connection.execute(
        delete(relations_table).where(
            _R.space_id == tx.space,
            _R.from_id == from_id,
            _R.to_id == to_id,
            _R.relation_type == relation_type,
        )
    )
    row = _edge_row(tx, from_id, to_id, relation_type=relation_type, strength=strength, found=False)
    tx.dialect.insert_missing(tx.connection, relations_table, [row])
    revisions.restamp_memories(tx.connection, tx.space, [from_id, to_id])


def _edge_row(
    tx: Transaction, from_id: str, to_id: str, strength: float, relation_type: str, *, found: bool
) -> dict[str, Any]:
    return {
        "space_id": tx.space,
        "from_id": from_id,
        "to_id": to_id,
        "relation_type": relation_type,
        "strength": round(strength, 4),
        "found": found,
        "created_at": to_micros(tx.at),
    }


def insert_source_turns(tx: Transaction, id: str, turns: Sequence[str]) -> None:
    """Insert the turns that a memory was learned from, limited to the requester's own turns."""
    named = select(_MEMORY.id).where(
        _MEMORY.space_id == tx.space,
        _MEMORY.id.in_(sorted(turns)),
        _MEMORY.is_turn.is_(True),
        _MEMORY.owner == tx.request.subject,
    )
    rows = [
        {"space_id": tx.space, "memory_id": id, "turn_id": turn}
        for turn in tx.connection.execute(named).scalars()
    ]
    tx.dialect.insert_missing(tx.connection, derived_from, rows)


# Graph: memories in the order pinned, important, newest, and the edges between them.

_M = memories_table.c
_GRAPH_ORDER = (_M.pinned.desc(), _M.importance.desc(), _M.created_at.desc(), _M.id.desc())
_IS_ACTIVE: ColumnElement[bool] = and_(
    _M.state == sql_literal(State.ACTIVE),
    or_(_M.expires_at.is_(None), _M.expires_at > bindparam("p_at")),
)


def list_graph_memories(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    categories: tuple[str, ...] | None,
    most: int,
) -> tuple[list[Memory], int]:
    """List the requester's first active memories in graph order, and count all of them."""
    asked = request.for_management()
    shape = shape_of_request(asked)
    if shape is None:
        return [], 0
    mine = sorted(asked.own_identities)
    owners = {f"g_owner{n}": one for n, one in enumerate(mine)}
    params = predicate_parameters(asked) | owners | {"g_most": most}
    if categories is not None:
        params["g_categories"] = list(categories)
    statement = _select_graph_memories(shape, len(mine), categories is not None)
    found = [memory for memory, _ in fetch_visible(connection, audiences, asked, statement, params)]
    if len(found) < most:
        return found, len(found)
    ((count,),) = statements.fetch_rows(
        connection, _select_graph_count(shape, categories is not None), params
    )
    return found, count


@lru_cache(maxsize=32)
def _select_graph_memories(shape: RequestShape, count: int, narrowed: bool) -> Select[Any]:
    """Select per identity: the index returns the rows of one owner in order, but not of several."""
    parts = []
    for n in range(count):
        part = select(_M.id).where(
            _M.owner == bindparam(f"g_owner{n}"), *_graph_conditions(shape, narrowed)
        )
        part = part.order_by(*_GRAPH_ORDER).limit(bindparam("g_most"))
        parts.append(select(part.subquery()))
    chosen = (union_all(*parts) if count > 1 else parts[0]).subquery()
    return (
        select(*MEMORY_COLUMNS)
        .where(_M.space_id == bindparam("p_space"), _M.id.in_(select(chosen.c.id)))
        .order_by(*_GRAPH_ORDER)
        .limit(bindparam("g_most"))
    )


@lru_cache(maxsize=8)
def _select_graph_count(shape: RequestShape, narrowed: bool) -> Select[Any]:
    return (
        select(func.count()).select_from(memories_table).where(*_graph_conditions(shape, narrowed))
    )


def _graph_conditions(shape: RequestShape, narrowed: bool) -> list[ColumnElement[bool]]:
    terms = [build_branches(shape, POLICY_TABLES)[0].condition, _IS_ACTIVE]
    if narrowed:
        terms.append(_M.category.in_(bindparam("g_categories", expanding=True)))
    return terms


def list_graph_edges(
    connection: Connection, space: str, ids: Sequence[str], most: int
) -> list[tuple[str, str, float]]:
    """List edges between these memories, the strongest first, one for each pair."""
    shown = set(ids)
    found: dict[tuple[str, str], float] = {}
    for one in memory_reads.list_edges(connection, space, ids):
        if one.from_id in shown and one.to_id in shown:
            ends = (min(one.from_id, one.to_id), max(one.from_id, one.to_id))
            found[ends] = max(one.strength, found.get(ends, 0.0))
    strongest = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [(source, target, strength) for (source, target), strength in strongest[:most]]


# Queries of consolidation and reflection: next owner, memories to compare, compared pairs and
# sources.

_MEMORIES = memories_table.c
_V = memory_versions.c
_K = pair_checks.c
_REFLECTIONS = reflections.c
_D = derived_from.c
_N = person_names.c
_AUDIENCE = MEMORY_COLUMNS.index(_MEMORIES.audience)
_IDS_AT_ONCE_COUNT = 500
# A person has said that this pair is not a duplicate: kept as long as both memories exist.
FOREVER = timedelta(days=36_500)
STATED_BY_PERSON = -1

PairKey = tuple[str, str]  # ids of a pair, the smaller first


@dataclass(frozen=True, slots=True, kw_only=True)
class WordedMemory:
    """A memory and the time of its current wording."""

    memory: Memory
    worded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCheck:
    similarity: int  # in hundredths, or STATED_BY_PERSON
    is_same: bool
    checked_at: datetime


def pair_key(one: str, other: str) -> PairKey:
    return min(one, other), max(one, other)


def next_owner(connection: Connection, space: str, after: str) -> str | None:
    """Return the next identity that owns a memory, in the order of identities."""
    found = select(func.min(_MEMORIES.owner)).where(
        _MEMORIES.space_id == space, _MEMORIES.owner > after
    )
    return connection.execute(found).scalar()


def list_mergeable(
    connection: Connection, audiences: AudienceCache, space: str, owner: str, now: datetime
) -> list[WordedMemory]:
    """List memories of an owner that may be merged, the newest first.

    These are active, have no structured data and changed recently.
    """
    since = now - timedelta(days=limits.CONSOLIDATE_RECENCY_DAYS)
    found = (
        _select_active(space, owner, now)
        .where(_MEMORIES.updated_at >= to_micros(since), _MEMORIES.data.is_(None))
        .order_by(_MEMORIES.updated_at.desc(), _MEMORIES.id)
        .limit(limits.CONSOLIDATE_POOL_MAX_COUNT)
    )
    return list(_fetch_worded(connection, audiences, space, found))


def list_evidence(
    connection: Connection, audiences: AudienceCache, space: str, owner: str, now: datetime
) -> list[WordedMemory]:
    """List plain statements of the owner from private chats: recently used ones, then new ones."""
    own = _select_active(space, owner, now).where(
        _MEMORIES.speaker == owner,
        _MEMORIES.learned_kind == "private",
        _MEMORIES.sensitivity != "sensitive",
        _MEMORIES.has_withheld.is_(False),
        _MEMORIES.trust == "stated",
    )
    used = own.where(_MEMORIES.last_accessed_at.is_not(None)).order_by(
        _MEMORIES.last_accessed_at.desc(), _MEMORIES.id
    )
    newest = own.order_by(_MEMORIES.created_at.desc(), _MEMORIES.id)
    found: dict[str, WordedMemory] = {}
    for statement, most in (
        (used, limits.REFLECT_USED_MAX_COUNT),
        (newest, limits.REFLECT_NEWEST_MAX_COUNT),
    ):
        for one in _fetch_worded(connection, audiences, space, statement.limit(most)):
            found.setdefault(one.memory.id, one)
    return list(found.values())


def _select_active(space: str, owner: str, now: datetime) -> Select[Any]:
    return (
        select(_V.created_at.label("worded_at"), *MEMORY_COLUMNS)
        .join(
            memory_versions,
            and_(
                _V.space_id == _MEMORIES.space_id,
                _V.memory_id == _MEMORIES.id,
                _V.version == _MEMORIES.version,
            ),
        )
        .where(
            _MEMORIES.space_id == space,
            _MEMORIES.owner == owner,
            _MEMORIES.is_turn.is_(False),
            _MEMORIES.state == State.ACTIVE.value,
            _MEMORIES.inferred.is_(False),
            _MEMORIES.overridden.is_(False),
            _MEMORIES.kind.not_in([Kind.INSIGHT.value, Kind.PROCEDURE.value]),
            or_(_MEMORIES.expires_at.is_(None), _MEMORIES.expires_at > to_micros(now)),
        )
    )


def _fetch_worded(
    connection: Connection, audiences: AudienceCache, space: str, statement: Select[Any]
) -> Iterator[WordedMemory]:
    rows = [tuple(row) for row in connection.execute(statement)]
    members = audiences.get_people(connection, space, {row[1 + _AUDIENCE] for row in rows})
    for worded_at, *row in rows:
        memory = to_memory(row, members[row[_AUDIENCE]])
        yield WordedMemory(memory=memory, worded_at=from_micros(worded_at))


def get_public_name(connection: Connection, space: str, owner: str) -> str | None:
    """Return the newest public name of a person."""
    found = (
        select(_N.name)
        .where(_N.space_id == space, _N.person == owner, _N.kind == "name", _N.known_to == "")
        .order_by(_N.created_at.desc(), _N.folded)
        .limit(1)
    )
    return connection.execute(found).scalar()


def is_name_of_other(connection: Connection, space: str, owner: str, words: Sequence[str]) -> bool:
    """Return whether one of these words names another person.

    Public names and the owner's own names for other people count.
    """
    found = select(_N.person).where(
        _N.space_id == space,
        _N.folded.in_(list(words)),
        _N.known_to.in_(["", owner]),
        _N.person != owner,
        _N.kind.in_(["name", "username", "alias"]),
    )
    return connection.execute(found.limit(1)).first() is not None


# Pairs


def list_pair_checks(
    connection: Connection, space: str, ids: Sequence[str], now: datetime
) -> dict[PairKey, PairCheck]:
    """Read valid checks of pairs whose smaller id is one of these."""
    since = to_micros(now - timedelta(days=limits.PAIR_CHECK_DAYS))
    found: dict[PairKey, PairCheck] = {}
    for some in _id_chunks(ids):
        rows = connection.execute(
            select(pair_checks).where(
                _K.space_id == space, _K.first_id.in_(some), _K.checked_at >= since
            )
        )
        for row in rows:
            found[row.first_id, row.second_id] = PairCheck(
                similarity=row.similarity,
                is_same=row.is_same,
                checked_at=from_micros(row.checked_at),
            )
    return found


def save_pair_checks(tx: Transaction, noted: Mapping[PairKey, PairCheck]) -> None:
    """Replace the checks of these pairs. Both memories of each pair must exist."""
    for (first, second), check in noted.items():
        tx.connection.execute(
            delete(pair_checks).where(
                _K.space_id == tx.space, _K.first_id == first, _K.second_id == second
            )
        )
        row = {
            "space_id": tx.space,
            "first_id": first,
            "second_id": second,
            "similarity": check.similarity,
            "is_same": check.is_same,
            "checked_at": to_micros(check.checked_at),
        }
        tx.dialect.insert_missing(tx.connection, pair_checks, [row])


def delete_old_pair_checks(tx: Transaction) -> None:
    """Delete expired checks, so that these pairs are compared again."""
    before = to_micros(tx.at - timedelta(days=limits.PAIR_CHECK_DAYS))
    tx.connection.execute(
        delete(pair_checks).where(_K.space_id == tx.space, _K.checked_at < before)
    )


# Frequency and cost


def last_reflection(
    connection: Connection, space: str, owner: str, task: str
) -> tuple[datetime, int] | None:
    """Return when a task last ran for an owner, and how much it spent."""
    found = connection.execute(
        select(_REFLECTIONS.at, _REFLECTIONS.spent).where(
            _REFLECTIONS.space_id == space, _REFLECTIONS.owner == owner, _REFLECTIONS.task == task
        )
    ).first()
    return None if found is None else (from_micros(found.at), found.spent)


def save_reflection(tx: Transaction, owner: str, task: str, at: datetime, spent: int) -> None:
    which = (
        _REFLECTIONS.space_id == tx.space,
        _REFLECTIONS.owner == owner,
        _REFLECTIONS.task == task,
    )
    tx.connection.execute(delete(reflections).where(*which))
    row = {
        "space_id": tx.space,
        "owner": owner,
        "task": task,
        "at": to_micros(at),
        "spent": spent,
    }
    tx.dialect.insert_missing(tx.connection, reflections, [row])


# Sources


def insert_sources(tx: Transaction, id: str, evidence: Iterable[str]) -> None:
    """Insert the memories or turns that a memory was derived from."""
    rows = [
        {"space_id": tx.space, "memory_id": id, "turn_id": one} for one in sorted(set(evidence))
    ]
    tx.dialect.insert_missing(tx.connection, derived_from, rows)


def list_insights(tx: Transaction, ids: Collection[str]) -> list[str]:
    """List the insights derived from any of these memories, in any state."""
    found: set[str] = set()
    for some in _id_chunks(sorted(ids)):
        resting = (
            select(_D.memory_id)
            .join(
                memories_table,
                and_(_MEMORIES.space_id == _D.space_id, _MEMORIES.id == _D.memory_id),
            )
            .where(
                _D.space_id == tx.space,
                _D.turn_id.in_(some),
                _MEMORIES.kind == Kind.INSIGHT.value,
                _MEMORIES.inferred.is_(True),
            )
        )
        found.update(tx.connection.execute(resting).scalars())
    return sorted(found)


def _id_chunks(ids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _IDS_AT_ONCE_COUNT):
        yield list(ids[start : start + _IDS_AT_ONCE_COUNT])
