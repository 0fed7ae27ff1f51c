"""What a request may hear, as ids: the predicate alone, one branch at a time, without ranking.

A branch that leads with an owner can be read for one of them, and only as far as it changed since a
revision; that is what makes it cheap to keep a person's memories at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, bindparam, func, or_, select

from tacit.policy.predicate import (
    PredicateBranch,
    RequestShape,
    build_branches,
    predicate_parameters,
    shape_of_request,
)
from tacit.records.request import Request
from tacit.store import rendered
from tacit.store.audiences import Audiences
from tacit.store.dialect import Dialect
from tacit.store.reads import Found, any_branch, fetch
from tacit.store.rows import COLUMNS
from tacit.store.tables import ROWS, learned, memories, memory_versions, relations, vectors

_L = learned.c
_M = memories.c
_R = relations.c
_V = memory_versions.c
_X = vectors.c
_ASKED_AT_ONCE_COUNT = 500


class Candidate(NamedTuple):
    id: str
    stamp: int
    owner: str | None
    learned_in: str | None


class Edge(NamedTuple):
    from_id: str
    to_id: str
    strength: float
    found: bool | int  # by likeness, as against said by somebody


def branches_of(request: Request) -> tuple[PredicateBranch, ...]:
    shape = shape_of_request(request)
    return () if shape is None else build_branches(shape, ROWS)


def through(
    connection: Connection,
    request: Request,
    number: int,
    most: int,
    *,
    owner: str | None = None,
    since: int | None = None,
) -> list[Candidate]:
    """At most so many of what the branch with this number lets through."""
    shape = shape_of_request(request)
    if shape is None:
        return []
    statement = _through(shape, number, owner is not None, since is not None)
    named = {"c_owner": owner, "c_since": since, "c_most": most}
    params = predicate_parameters(request) | {k: v for k, v in named.items() if v is not None}
    return list(map(Candidate._make, rendered.rows(connection, statement, params)))


@lru_cache(maxsize=512)
def _through(shape: RequestShape, number: int, of_owner: bool, since: bool) -> Select[Any]:
    branch = build_branches(shape, ROWS)[number]
    found = select(_M.id, _M.stamp, _M.owner, _M.learned_in).where(branch.condition)
    if of_owner:
        found = found.where(_M.owner == bindparam("c_owner"))
    if since:
        found = found.where(_M.stamp > bindparam("c_since"))
    return found.limit(bindparam("c_most"))


_CHANGED = select(_M.id, _M.stamp).where(
    _M.space_id == bindparam("space"), _M.owner == bindparam("owner"), _M.stamp > bindparam("since")
)


def changed(connection: Connection, space: str, owner: str, since: int) -> list[tuple[str, int]]:
    """Ids and stamps of what changed in any way; that they exist is nobody's to hear."""
    params = {"space": space, "owner": owner, "since": since}
    return [(id, stamp) for id, stamp in rendered.rows(connection, _CHANGED, params)]


def some(
    connection: Connection, audiences: Audiences, request: Request, ids: Sequence[str]
) -> dict[str, Found]:
    """These memories in full, as far as they may be heard: once more through the predicate."""
    shape = shape_of_request(request)
    if shape is None or not ids:
        return {}
    params = predicate_parameters(request) | {"ids": list(ids)}
    found = fetch(connection, audiences, request, _some(shape), params)
    return {memory.id: (memory, decision) for memory, decision in found}


@lru_cache(maxsize=256)
def _some(shape: RequestShape) -> Select[Any]:
    return select(*COLUMNS).where(
        _M.space_id == bindparam("p_space"),
        _M.id.in_(bindparam("ids", expanding=True)),
        any_branch(shape),
    )


def standing(connection: Connection, request: Request, ids: Sequence[str]) -> list[Candidate]:
    """Those of these ids that may be heard."""
    shape = shape_of_request(request)
    if shape is None or not ids:
        return []
    params = predicate_parameters(request) | {"ids": list(ids)}
    return list(map(Candidate._make, rendered.rows(connection, _standing(shape), params)))


@lru_cache(maxsize=256)
def _standing(shape: RequestShape) -> Select[Any]:
    return select(_M.id, _M.stamp, _M.owner, _M.learned_in).where(
        _M.space_id == bindparam("p_space"),
        _M.id.in_(bindparam("ids", expanding=True)),
        any_branch(shape),
    )


def of_slots(
    connection: Connection, request: Request, slots: frozenset[str], most: int
) -> list[Candidate]:
    """The requester's own memories that fill one of these slots, as far as they may be heard."""
    shape = shape_of_request(request)
    if shape is None or not request.own_identities:
        return []
    filled = [
        or_(_L.slot == slot, and_(_L.slot >= f"{slot}:", _L.slot < f"{slot};"))
        for slot in sorted(slots)
    ]
    statement = (
        select(_M.id, _M.stamp, _M.owner, _M.learned_in)
        .join(learned, and_(_L.space_id == _M.space_id, _L.memory_id == _M.id))
        .where(_L.space_id == bindparam("p_space"), or_(*filled), any_branch(shape))
        .where(_L.owner.in_(sorted(request.own_identities)))
        .order_by(_M.created_at.desc(), _M.id)
        .limit(most)
    )
    return [Candidate(*row) for row in connection.execute(statement, predicate_parameters(request))]


def nearest(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    model: str,
    vector: bytes,
    most: int,
) -> list[Candidate]:
    """What is closest in meaning, through each branch, where the database compares vectors."""
    shape = shape_of_request(request)
    if shape is None or dialect.vector_distance(len(vector) // 4) is None:
        return []
    params = predicate_parameters(request) | {"n_most": most, "n_model": model}
    params |= dialect.vector_distance_params(vector)
    dialect.prepare_vector_search(connection)
    found = []
    for number in range(len(build_branches(shape, ROWS))):
        statement = _nearest(shape, number, dialect, len(vector) // 4)
        found += [Candidate(*row) for row in connection.execute(statement, params)]
    return found


@lru_cache(maxsize=256)
def _nearest(shape: RequestShape, number: int, dialect: Dialect, dimension: int) -> Select[Any]:
    nearness = dialect.vector_distance(dimension)
    assert nearness is not None
    return (
        select(_M.id, _M.stamp, _M.owner, _M.learned_in)
        .join(vectors, and_(_X.space_id == _M.space_id, _X.memory_id == _M.id))
        .where(build_branches(shape, ROWS)[number].condition, _X.model == bindparam("n_model"))
        .order_by(nearness)
        .limit(bindparam("n_most"))
    )


class Feature(NamedTuple):
    """What ranking goes by."""

    id: str
    key: str | None
    slot: str | None
    content: str
    kind: str
    category: str
    importance: int
    pinned: bool
    trust: str
    owner: str | None
    speaker: str | None
    subjects: str
    agent: str | None
    run: str | None
    role: str | None
    created_at: int
    updated_at: int
    observed_at: int | None
    expires_at: int | None
    session: str | None
    seq: int | None
    name: str | None
    state: str
    worded_at: int | None  # None: of a turn, which has no versions

    @classmethod
    def from_new_row(cls, row: Mapping[str, Any]) -> Feature:
        """Of a memory that has just been written: it was worded when it was last changed."""
        return cls._make([*(row[name] for name in cls._fields[:-1]), row["updated_at"]])


# Since when the words are what they are: a version that changed only data does not count.
_WORDED_AT = (
    select(func.min(_V.created_at))
    .where(_V.space_id == _M.space_id, _V.memory_id == _M.id, _V.content == _M.content)
    .scalar_subquery()
)
_FEATURES = select(*(_M[name] for name in Feature._fields[:-1]), _WORDED_AT).where(
    _M.space_id == bindparam("space"), _M.id.in_(bindparam("ids", expanding=True))
)


def features(connection: Connection, space: str, ids: Sequence[str]) -> list[Feature]:
    """For ids that came through the predicate in the same snapshot."""
    found: list[Feature] = []
    for start in range(0, len(ids), _ASKED_AT_ONCE_COUNT):
        some = list(ids[start : start + _ASKED_AT_ONCE_COUNT])
        found += map(
            Feature._make, rendered.rows(connection, _FEATURES, {"space": space, "ids": some})
        )
    return found


_EDGES = [
    select(_R.from_id, _R.to_id, _R.strength, _R.found).where(
        _R.space_id == bindparam("space"), side.in_(bindparam("ids", expanding=True))
    )
    for side in (_R.from_id, _R.to_id)
]


def edges(connection: Connection, space: str, ids: Sequence[str]) -> set[Edge]:
    """Relations with one of these at either end. The other end may be anything: ask before use."""
    found: set[Edge] = set()
    for start in range(0, len(ids), _ASKED_AT_ONCE_COUNT):
        params = {"space": space, "ids": list(ids[start : start + _ASKED_AT_ONCE_COUNT])}
        for statement in _EDGES:
            found.update(map(Edge._make, rendered.rows(connection, statement, params)))
    return found
