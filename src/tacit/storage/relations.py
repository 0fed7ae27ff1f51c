"""Store relations between memories: edges, the graph, compared pairs and sources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, delete, func, or_, select, union_all

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.policy.rules import RequestShape, build_branches, sql_literal
from tacit.records.memory import Kind, Memory, State
from tacit.records.request import Request
from tacit.storage import memory_reads
from tacit.storage.engine import (
    chunks,
    delete_rows,
    encode,
    fetch_rows,
    has_row,
    insert_missing,
    select_set,
    to_record,
    upsert,
)
from tacit.storage.memories import RELATED_TO, Transaction, edge_inserts, similarity_edges
from tacit.storage.memory_reads import MEMORY_COLUMNS, AudienceCache, MemoryEdge, fetch_permitted, fetch_visible
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
from tacit.storage.spaces import restamp_memories

# Edges between memories: found by similarity, stated by a person, or learned from a turn.

_R = relations_table.c
_M = memories_table.c
# Use two statements: an OR over both columns would use neither index.
_DELETE_FOUND_EDGES = [
    delete(relations_table).where(_R.space_id == bindparam("space"), side == bindparam("id"), _R.found.is_(True))
    for side in (_R.from_id, _R.to_id)
]
_SELECT_ACTIVE = select(_M.id).where(
    _M.space_id == bindparam("space"),
    _M.id.in_(bindparam("ids", expanding=True)),
    _M.state == sql_literal(State.ACTIVE),
    _M.is_turn.is_(False),
)


def replace_found_edges(tx: Transaction, id: str, likeness: Mapping[str, float], *, new: bool) -> list[MemoryEdge]:
    """Replace the similarity edges of a memory, and return those that were inserted."""
    if not new:
        for statement in _DELETE_FOUND_EDGES:
            tx.connection.execute(statement, {"space": tx.space, "id": id})
    others = sorted(likeness.keys() - {id}, key=lambda one: (-likeness[one], one))
    others = others[: limits.RELATIONS_PER_MEMORY_MAX_COUNT]
    rows = fetch_rows(tx.connection, _SELECT_ACTIVE, {"space": tx.space, "ids": others})
    active = {one for (one,) in rows}
    edges = similarity_edges(id, {one: likeness[one] for one in others if one in active})
    return [
        MemoryEdge(*row) for step in edge_inserts(tx.space, edges, tx.at) for row in fetch_rows(tx.connection, *step)
    ]


def insert_stated_edge(tx: Transaction, from_id: str, to_id: str, relation_type: str, strength: float) -> None:
    """Insert an edge that a person has stated.

    `related_to` is symmetric and is stored once; any other relation has a direction.
    """
    if relation_type == RELATED_TO:
        from_id, to_id = min(from_id, to_id), max(from_id, to_id)
    row = {
        "space_id": tx.space,
        "from_id": from_id,
        "to_id": to_id,
        "relation_type": relation_type,
        "strength": round(strength, 4),
        "found": False,
        "created_at": to_micros(tx.at),
    }
    upsert(tx.connection, relations_table, row)
    restamp_memories(tx.connection, tx.space, [from_id, to_id])


def insert_source_turns(tx: Transaction, id: str, turns: Sequence[str]) -> None:
    """Insert the turns that a memory was learned from, limited to the requester's own turns."""
    named = select(_M.id).where(
        _M.space_id == tx.space, _M.id.in_(sorted(turns)), _M.is_turn.is_(True), _M.owner == tx.request.subject
    )
    insert_sources(tx, id, tx.connection.execute(named).scalars())


# Graph: memories in the order pinned, important, newest, and the edges between them.

_GRAPH_ORDER = (_M.pinned.desc(), _M.importance.desc(), _M.created_at.desc(), _M.id.desc())
_IS_ACTIVE: ColumnElement[bool] = and_(
    _M.state == sql_literal(State.ACTIVE), or_(_M.expires_at.is_(None), _M.expires_at > bindparam("p_at"))
)


def list_graph_memories(
    connection: Connection, audiences: AudienceCache, request: Request, categories: tuple[str, ...] | None, most: int
) -> tuple[list[Memory], int]:
    """List the requester's first active memories in graph order, and count all of them."""
    asked = request.for_management()
    mine, narrowed = sorted(asked.own_identities), categories is not None
    params: dict[str, Any] = {f"g_owner{n}": one for n, one in enumerate(mine)}
    params["g_categories"] = list(categories or ())
    rows = fetch_visible(
        *(connection, audiences, asked, _select_graph_memories, len(mine), narrowed), **params, g_most=most
    )
    found = [memory for memory, _ in rows]
    if len(found) < most:
        return found, len(found)
    ((count,),) = fetch_permitted(connection, asked, _select_graph_count, narrowed, **params)
    return found, count


@lru_cache(maxsize=32)
def _select_graph_memories(shape: RequestShape, count: int, narrowed: bool) -> Select[Any]:
    """Select per identity: the index returns the rows of one owner in order, but not of several."""
    parts = []
    for n in range(count):
        part = select(_M.id).where(_M.owner == bindparam(f"g_owner{n}"), *_graph_conditions(shape, narrowed))
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
    return select(func.count()).select_from(memories_table).where(*_graph_conditions(shape, narrowed))


def _graph_conditions(shape: RequestShape, narrowed: bool) -> list[ColumnElement[bool]]:
    terms = [build_branches(shape, POLICY_TABLES)[0].condition, _IS_ACTIVE]
    if narrowed:
        terms.append(_M.category.in_(bindparam("g_categories", expanding=True)))
    return terms


def list_graph_edges(connection: Connection, space: str, ids: Sequence[str], most: int) -> list[tuple[str, str, float]]:
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

_V = memory_versions.c
_K = pair_checks.c
_REFLECTIONS = reflections.c
_D = derived_from.c
_N = person_names.c
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
    found = select(func.min(_M.owner)).where(_M.space_id == space, _M.owner > after)
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
        .where(_M.updated_at >= to_micros(since), _M.data.is_(None))
        .order_by(_M.updated_at.desc(), _M.id)
        .limit(limits.CONSOLIDATE_POOL_MAX_COUNT)
    )
    return list(_fetch_worded(connection, audiences, space, found))


def list_evidence(
    connection: Connection, audiences: AudienceCache, space: str, owner: str, now: datetime
) -> list[WordedMemory]:
    """List plain statements of the owner from private chats: recently used ones, then new ones."""
    own = _select_active(space, owner, now).where(
        _M.speaker == owner,
        _M.learned_kind == "private",
        _M.sensitivity != "sensitive",
        _M.has_withheld.is_(False),
        _M.trust == "stated",
    )
    used = own.where(_M.last_accessed_at.is_not(None)).order_by(_M.last_accessed_at.desc(), _M.id)
    newest = own.order_by(_M.created_at.desc(), _M.id)
    found: dict[str, WordedMemory] = {}
    for statement, most in ((used, limits.REFLECT_USED_MAX_COUNT), (newest, limits.REFLECT_NEWEST_MAX_COUNT)):
        for one in _fetch_worded(connection, audiences, space, statement.limit(most)):
            found.setdefault(one.memory.id, one)
    return list(found.values())


def _select_active(space: str, owner: str, now: datetime) -> Select[Any]:
    return (
        select(_V.created_at.label("worded_at"), *MEMORY_COLUMNS)
        .join(memory_versions, and_(_V.space_id == _M.space_id, _V.memory_id == _M.id, _V.version == _M.version))
        .where(
            _M.space_id == space,
            _M.owner == owner,
            _M.is_turn.is_(False),
            _M.state == State.ACTIVE.value,
            _M.inferred.is_(False),
            _M.overridden.is_(False),
            _M.kind.not_in([Kind.INSIGHT.value, Kind.PROCEDURE.value]),
            or_(_M.expires_at.is_(None), _M.expires_at > to_micros(now)),
        )
    )


def _fetch_worded(
    connection: Connection, audiences: AudienceCache, space: str, statement: Select[Any]
) -> Iterator[WordedMemory]:
    rows = connection.execute(statement).all()
    found = audiences.to_memories(connection, space, [row[1:] for row in rows])
    for row, memory in zip(rows, found, strict=True):
        yield WordedMemory(memory=memory, worded_at=from_micros(row[0]))


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
    return has_row(connection, found)


# Pairs


def list_pair_checks(connection: Connection, space: str, ids: Sequence[str], now: datetime) -> dict[PairKey, PairCheck]:
    """Read valid checks of pairs whose smaller id is one of these."""
    since = to_micros(now - timedelta(days=limits.PAIR_CHECK_DAYS))
    found: dict[PairKey, PairCheck] = {}
    for some in chunks(ids):
        which = (_K.space_id == space, _K.first_id.in_(some), _K.checked_at >= since)
        for row in connection.execute(select(pair_checks).where(*which)):
            found[row.first_id, row.second_id] = to_record(PairCheck, row)
    return found


def save_pair_checks(tx: Transaction, noted: Mapping[PairKey, PairCheck]) -> None:
    """Replace the checks of these pairs. Both memories of each pair must exist."""
    for (first, second), check in noted.items():
        row = {"space_id": tx.space, "first_id": first, "second_id": second}
        row |= {field.name: encode(getattr(check, field.name)) for field in fields(check)}
        upsert(tx.connection, pair_checks, row)


def delete_old_pair_checks(tx: Transaction) -> None:
    """Delete expired checks, so that these pairs are compared again."""
    before = to_micros(tx.at - timedelta(days=limits.PAIR_CHECK_DAYS))
    delete_rows(tx.connection, pair_checks, tx.space, _K.checked_at < before)


# Frequency and cost


def last_reflection(connection: Connection, space: str, owner: str, task: str) -> tuple[datetime, int] | None:
    """Return when a task last ran for an owner, and how much it spent."""
    found = connection.execute(
        select(_REFLECTIONS.at, _REFLECTIONS.spent).where(
            _REFLECTIONS.space_id == space, _REFLECTIONS.owner == owner, _REFLECTIONS.task == task
        )
    ).first()
    return None if found is None else (from_micros(found.at), found.spent)


def save_reflection(tx: Transaction, owner: str, task: str, at: datetime, spent: int) -> None:
    key = {"space_id": tx.space, "owner": owner, "task": task}
    upsert(tx.connection, reflections, {**key, "at": to_micros(at), "spent": spent})


# Sources


def insert_sources(tx: Transaction, id: str, evidence: Iterable[str]) -> None:
    """Insert the memories or turns that a memory was derived from."""
    rows = [{"memory_id": id, "turn_id": one} for one in sorted(set(evidence))]
    insert_missing(tx.connection, derived_from, tx.space, rows)


def list_insights(tx: Transaction, ids: Collection[str]) -> list[str]:
    """List the insights derived from any of these memories, in any state."""
    found: set[str] = set()
    for some in chunks(ids):
        derived = (
            select(_D.memory_id)
            .join(memories_table, and_(_M.space_id == _D.space_id, _M.id == _D.memory_id))
            .where(_D.space_id == tx.space, _D.turn_id.in_(some), _M.kind == Kind.INSIGHT.value, _M.inferred.is_(True))
        )
        found |= select_set(tx.connection, derived)
    return sorted(found)
