"""Read memories: the predicate is in each query, `decide` is asserted on each row.

Every read requires a request. Statements are built once for each shape of request and filter,
because building one costs more than running it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import Enum
from functools import lru_cache
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Select,
    TextClause,
    and_,
    bindparam,
    false,
    func,
    or_,
    select,
    text,
)

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import DisclosureBreach
from tacit.policy.rules import (
    PredicateBranch,
    RequestShape,
    build_branches,
    can_see_data,
    decide,
    predicate_parameters,
    shape_of_request,
    sql_literal,
)
from tacit.records.memory import (
    ChatKind,
    HistoryEntry,
    Kind,
    Memory,
    Sensitivity,
    Source,
    State,
    Trust,
    Version,
    Visibility,
)
from tacit.records.request import Decision, Request
from tacit.records.validation import dump_json
from tacit.storage.dialect import Dialect
from tacit.storage.engine import fetch_rows, insert_missing, to_record
from tacit.storage.schema import (
    POLICY_TABLES,
    audience_people,
    history_table,
    learned_facts_table,
    memories_table,
    memory_versions,
    relations_table,
    vectors_table,
)

_M = memories_table.c
_NOBODY: frozenset[str] = frozenset()

# Rows and records. An unreadable column value becomes the strictest default.


def pack_people(words: Iterable[str]) -> str:
    return json.dumps(sorted(words), ensure_ascii=False) if words else "[]"


def unpack_people(text: str) -> frozenset[str]:
    """Return the people of a JSON list; an empty set if it is unreadable."""
    return frozenset(_parse_string_list(text) or ())


def _parse_string_list(text: str) -> Sequence[str] | None:
    if text == "[]":
        return ()
    try:
        found = json.loads(text)
    except ValueError:
        return None
    good = isinstance(found, list) and all(isinstance(one, str) for one in found)
    return found if good else None


def unpack_object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found else None


def _enum_or(default: Any) -> Callable[[str], Any]:
    known: dict[str, Enum] = {one.value: one for one in type(default)}
    return lambda text: known.get(text, default)


to_visibility = _enum_or(Visibility.PRIVATE_ONLY)
to_sensitivity = _enum_or(Sensitivity.SENSITIVE)
_to_group_visibility = _enum_or(Visibility.ROOM)

# The columns of the record, and how each is decoded and encoded.
MEMORY_COLUMNS = tuple(c for c in memories_table.c if c.name not in ("is_turn", "stamp"))
AUDIENCE_INDEX = MEMORY_COLUMNS.index(_M.audience)
_FIELD_NAMES = {"space_id": "space"}
# Interned: as keyword arguments, other strings take many times as long to match.
_READ_NAMES = [sys.intern(_FIELD_NAMES.get(c.name, str(c.name))) for c in MEMORY_COLUMNS]
_FLAGS = [name for name, column in zip(_READ_NAMES, MEMORY_COLUMNS, strict=True) if isinstance(column.type, Boolean)]
_TIMES = [str(c.name) for c in MEMORY_COLUMNS if isinstance(c.type, BigInteger) and c is not _M.seq]
_DECODERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_FLAGS, bool),
    **dict.fromkeys(_TIMES, from_micros),
    "subjects": unpack_people,
    "tags": lambda text: tuple(_parse_string_list(text) or ()),
    "learned_kind": {"private": ChatKind.PRIVATE, "group": ChatKind.GROUP}.get,
    "kind": _enum_or(Kind.KNOWLEDGE),
    "sensitivity": _enum_or(Sensitivity.PERSONAL),
    "trust": _enum_or(Trust.UNTRUSTED),
    "state": _enum_or(State.QUARANTINED),
    "data": unpack_object,
}
_ENCODERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_TIMES, to_micros),
    **dict.fromkeys(("subjects", "withheld_from", "tags"), pack_people),
    **dict.fromkeys(("learned_kind", "kind", "visibility", "sensitivity", "trust", "state"), attrgetter("value")),
}
_COLUMNS_ONLY = ("audience", "has_withheld", "source_channel", "source_chat", "source_message")
_WRITTEN_NAMES = [str(c.name) for c in memories_table.c if c.name not in {*_COLUMNS_ONLY, "stamp"}]
_written_fields = attrgetter(*(_FIELD_NAMES.get(name, name) for name in _WRITTEN_NAMES))


def to_memory(row: Sequence[Any], heard_by: frozenset[str]) -> Memory:
    """Build a memory from a row of MEMORY_COLUMNS and its audience, which is fetched separately."""
    found = dict(zip(_READ_NAMES, row, strict=True))
    for name, decode in _DECODERS.items():
        if found[name] is not None:
            found[name] = decode(found[name])
    of_group = found["learned_kind"] is ChatKind.GROUP
    to_known = _to_group_visibility if of_group else to_visibility
    found["visibility"] = to_known(found["visibility"])
    withheld_from = _parse_string_list(found["withheld_from"])
    found["withheld_from"] = frozenset(withheld_from or ())
    # An unreadable list counts as withheld from an unknown person.
    found["withheld_unknown"] = found["withheld_unknown"] or withheld_from is None
    _, _, channel, chat, message = map(found.pop, _COLUMNS_ONLY)
    source = Source(channel=channel, chat=chat, message=message)
    return Memory(heard_by=heard_by, source=source, **found)


def to_row(memory: Memory, audience: str | None) -> dict[str, Any]:
    row = dict(zip(_WRITTEN_NAMES, _written_fields(memory), strict=True))
    for name, encode in _ENCODERS.items():
        if row[name] is not None:
            row[name] = encode(row[name])
    source = memory.source
    row["data"] = dump_json(memory.data) if memory.data else None
    only = (audience, bool(memory.withheld_from), source.channel, source.chat, source.message)
    return row | dict(zip(_COLUMNS_ONLY, only, strict=True))


def effective_subjects(memory: Memory) -> frozenset[str]:
    """Return the subjects of a memory: as given, else its speaker, else its owner."""
    if memory.subjects:
        return memory.subjects
    person = memory.speaker or memory.owner
    return frozenset({person}) if person else _NOBODY


# Audiences. An audience is immutable under its id, so a cached one stays valid.

_A = audience_people.c
_SELECT_AUDIENCE_PEOPLE = select(_A.audience, _A.person).where(
    _A.space_id == bindparam("space"), _A.audience.in_(bindparam("ids", expanding=True))
)
_AUDIENCE_EXISTS = select(_A.audience).where(_A.space_id == bindparam("space"), _A.audience == bindparam("id")).limit(1)


class AudienceCache:
    """Read audiences and cache them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def get_cached(self, space: str, id: str | None) -> frozenset[str] | None:
        """Return an audience without a query; None if it is not cached."""
        return _NOBODY if id is None else self._known.get((space, id))

    def get_people(
        self, connection: Connection, space: str, ids: Iterable[str | None]
    ) -> dict[str | None, frozenset[str]]:
        found = {id: self.get_cached(space, id) for id in ids}
        missing = [id for id, people in found.items() if people is None]
        if missing:
            sets: dict[str | None, set[str]] = {id: set() for id in missing}
            for audience, person in fetch_rows(connection, _SELECT_AUDIENCE_PEOPLE, {"space": space, "ids": missing}):
                sets[audience].add(person)
            if len(self._known) > limits.AUDIENCE_CACHE_MAX_COUNT:
                self._known.clear()
            for id, people in sets.items():
                found[id] = frozenset(people)
                if id and people:  # an empty audience may be one not committed yet
                    self._known[space, id] = frozenset(people)
        return {id: people or _NOBODY for id, people in found.items()}

    def to_memories(self, connection: Connection, space: str, rows: Sequence[Sequence[Any]]) -> list[Memory]:
        """Build memories from rows of MEMORY_COLUMNS."""
        people = self.get_people(connection, space, (row[AUDIENCE_INDEX] for row in rows))
        return [to_memory(row, people[row[AUDIENCE_INDEX]]) for row in rows]


def audience_id(people: frozenset[str]) -> str:
    """Return the id of an audience; equal sets of people have the same id."""
    return hashlib.sha256("\n".join(sorted(people)).encode()).hexdigest()[:32]


def ensure_audience(connection: Connection, space: str, people: frozenset[str]) -> str | None:
    """Return the id of this audience; insert it if it is new."""
    if not people:
        return None
    id = audience_id(people)
    if not fetch_rows(connection, _AUDIENCE_EXISTS, {"space": space, "id": id}):
        rows = [{"audience": id, "person": person} for person in sorted(people)]
        insert_missing(connection, audience_people, space, rows)
    return id


MemoryDecision = tuple[Memory, Decision]


def fetch_permitted(
    connection: Connection, request: Request, build: Callable[..., Select[Any]], *given: Any, **params: Any
) -> Sequence[tuple[Any, ...]]:
    """Fetch the rows of the query that `build` makes for the shape of the request and `given`.

    The query contains the predicate. A request that may see nothing has no shape, and no rows.
    """
    shape = shape_of_request(request)
    if shape is None:
        return []
    params = predicate_parameters(request) | params
    return fetch_rows(connection, build(shape, *given), params)


def fetch_visible(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    build: Callable[..., Select[Any]],
    *given: Any,
    **params: Any,
) -> list[MemoryDecision]:
    """Fetch memories by a query of MEMORY_COLUMNS, as `fetch_permitted` does."""
    rows = fetch_permitted(connection, request, build, *given, **params)
    found = []
    for memory in audiences.to_memories(connection, request.space, rows):
        _, decision = check_decision(request, memory)
        found.append((apply_expiry(memory, request.at), decision))
    return found


def check_decision(request: Request, memory: Memory) -> MemoryDecision:
    """Return the memory with the decision on it; raise DisclosureBreach if it is hidden."""
    decision = decide(request, memory)
    if not decision.allowed or memory.space != request.space:
        raise DisclosureBreach(f"a row came back that rule {decision.rule} forbids")
    return memory, decision


def apply_expiry(memory: Memory, at: datetime) -> Memory:
    """Return the memory as expired if its time is past, even before the sweep marks it."""
    if memory.state is State.ACTIVE and memory.expires_at and memory.expires_at <= at:
        return replace(memory, state=State.EXPIRED)
    return memory


def any_branch_condition(shape: RequestShape) -> ColumnElement[bool]:
    return or_(false(), *(branch.condition for branch in build_branches(shape, POLICY_TABLES)))


def sees_all_condition(shape: RequestShape) -> ColumnElement[bool]:
    """Test whether the requester sees every field, as `policy.rules.can_see_all_fields` decides."""
    of_room = _M.owner.is_(None)
    mine = _M.owner.in_(bindparam("p_me", expanding=True))
    return or_(of_room, mine) if shape.private else of_room


MemoryLookup = Literal["id", "ids", "key"]


def lookup_condition(by: MemoryLookup) -> ColumnElement[bool]:
    """Test for an id, for ids, or for the requester's own value of a category and key."""
    if by == "id":
        return _M.id == bindparam("id")
    if by == "ids":
        return _M.id.in_(bindparam("ids", expanding=True))
    return and_(
        _M.owner.in_(bindparam("p_me", expanding=True)),
        _M.category == bindparam("category"),
        _M.key == bindparam("key"),
        _M.key.is_not(None),
        _M.state == sql_literal(State.ACTIVE),
        _M.overridden.is_(False),  # among a person's identities one value counts
    )


@lru_cache(maxsize=256)
def _select_permitted(shape: RequestShape, by: MemoryLookup, columns: tuple[Any, ...] = MEMORY_COLUMNS) -> Select[Any]:
    return select(*columns).where(
        _M.space_id == bindparam("p_space"), lookup_condition(by), any_branch_condition(shape)
    )


def get_memory(connection: Connection, audiences: AudienceCache, request: Request, id: str) -> MemoryDecision | None:
    found = fetch_visible(connection, audiences, request, _select_permitted, "id", id=id)
    return found[0] if found else None


def get_memory_by_key(
    connection: Connection, audiences: AudienceCache, request: Request, category: str, key: str
) -> MemoryDecision | None:
    """Return the requester's own value of a key, if it may be disclosed here."""
    found = fetch_visible(connection, audiences, request, _select_permitted, "key", category=category, key=key)
    return found[0] if found else None


def list_visible(
    connection: Connection, audiences: AudienceCache, request: Request, ids: Sequence[str]
) -> dict[str, MemoryDecision]:
    """Return these memories in full, filtered by the predicate again."""
    if not ids:
        return {}
    found = fetch_visible(connection, audiences, request, _select_permitted, "ids", ids=list(ids))
    return {memory.id: (memory, decision) for memory, decision in found}


def list_versions(connection: Connection, audiences: AudienceCache, request: Request, memory: Memory) -> list[Version]:
    """List the versions this requester may see, oldest first, each by its own audience.

    A version that changed only data is included for requesters who see the data.
    """
    rows = connection.execute(SELECT_VERSIONS, {"space": memory.space, "id": memory.id}).all()
    members = audiences.get_people(connection, memory.space, (row.audience for row in rows))
    found: list[Version] = []
    for row in rows:
        subjects, heard_by = unpack_people(row.subjects), members[row.audience]
        version = to_record(Version, row, number=row.version, subjects=subjects, heard_by=heard_by)
        # Apply the audience of that version, and the stricter of the rules then and now.
        then = replace(
            memory,
            speaker=version.speaker,
            subjects=version.subjects,
            heard_by=version.heard_by,
            visibility=min(memory.visibility, to_visibility(row.visibility), key=lambda v: v.rank),
            sensitivity=max(memory.sensitivity, to_sensitivity(row.sensitivity), key=lambda s: s.rank),
            portable=memory.portable and bool(row.portable),
        )
        if not decide(request, then).allowed:
            continue
        if not found or can_see_data(request, memory) or _wording_of(found[-1]) != _wording_of(version):
            found.append(version)
    return found


def _wording_of(version: Version) -> tuple[str, str | None, frozenset[str]]:
    return version.content, version.speaker, version.subjects


def visible_version(
    connection: Connection, audiences: AudienceCache, request: Request, memory: Memory
) -> tuple[int, datetime]:
    """Return how many versions this requester may see, and the time of the current one.

    Only the owner in private sees all versions, and the time of changes to other fields.
    """
    if request.private and memory.owner and request.person(memory.owner) == request.requester:
        return memory.version, memory.updated_at
    if memory.version == 1:
        return 1, memory.created_at
    versions = list_versions(connection, audiences, request, memory)
    return max(1, len(versions)), versions[-1].created_at if versions else memory.created_at


def list_memory_history(connection: Connection, memory: Memory) -> list[HistoryEntry]:
    rows = connection.execute(_SELECT_HISTORY, {"space": memory.space, "id": memory.id})
    return [to_record(HistoryEntry, row, content=None) for row in rows]


SELECT_VERSIONS = (
    select(memory_versions)
    .where(memory_versions.c.space_id == bindparam("space"), memory_versions.c.memory_id == bindparam("id"))
    .order_by(memory_versions.c.version)
)
_SELECT_HISTORY = (
    select(history_table)
    .where(history_table.c.space_id == bindparam("space"), history_table.c.memory_id == bindparam("id"))
    .order_by(history_table.c.seq)
)


# Ids of the memories that a request may see: the predicate only, by branch, without ranking.
#
# A branch that leads with an owner can be read for one owner, and only for changes since a
# revision. This makes it cheap to keep a person's memories in the index cache.

_L = learned_facts_table.c
_R = relations_table.c
_V = memory_versions.c
_X = vectors_table.c
_IDS_AT_ONCE_COUNT = 500
_CANDIDATE_COLUMNS = (_M.id, _M.stamp, _M.owner, _M.learned_in)


class Candidate(NamedTuple):
    id: str
    stamp: int
    owner: str | None
    learned_in: str | None


class MemoryEdge(NamedTuple):
    from_id: str
    to_id: str
    strength: float
    found: bool | int  # found by similarity, not stated by a person


def policy_branches(request: Request) -> tuple[PredicateBranch, ...]:
    shape = shape_of_request(request)
    return () if shape is None else build_branches(shape, POLICY_TABLES)


def list_candidates(
    connection: Connection,
    request: Request,
    number: int,
    most: int,
    *,
    owner: str | None = None,
    since: int | None = None,
) -> list[Candidate]:
    """List at most `most` memories that the branch with this number permits."""
    which = (number, owner is not None, since is not None)
    rows = fetch_permitted(connection, request, _select_candidates, *which, c_owner=owner, c_since=since, c_most=most)
    return [Candidate(*row) for row in rows]


@lru_cache(maxsize=512)
def _select_candidates(shape: RequestShape, number: int, of_owner: bool, since: bool) -> Select[Any]:
    branch = build_branches(shape, POLICY_TABLES)[number]
    found = select(*_CANDIDATE_COLUMNS).where(branch.condition)
    if of_owner:
        found = found.where(_M.owner == bindparam("c_owner"))
    if since:
        found = found.where(_M.stamp > bindparam("c_since"))
    return found.limit(bindparam("c_most"))


_SELECT_CHANGED = select(_M.id, _M.stamp).where(
    _M.space_id == bindparam("space"), _M.owner == bindparam("owner"), _M.stamp > bindparam("since")
)


def list_changed(connection: Connection, space: str, owner: str, since: int) -> list[tuple[str, int]]:
    """List ids and stamps of changed memories. Do not disclose that they exist."""
    params = {"space": space, "owner": owner, "since": since}
    return [(id, stamp) for id, stamp in fetch_rows(connection, _SELECT_CHANGED, params)]


def filter_visible(connection: Connection, request: Request, ids: Sequence[str]) -> list[Candidate]:
    """Return the candidates among these ids that the request may see."""
    if not ids:
        return []
    which = ("ids", _CANDIDATE_COLUMNS)
    rows = fetch_permitted(connection, request, _select_permitted, *which, ids=list(ids))
    return [Candidate(*row) for row in rows]


def list_slot_candidates(connection: Connection, request: Request, slots: frozenset[str], most: int) -> list[Candidate]:
    """List the requester's own visible memories that fill one of these slots."""
    shape = shape_of_request(request)
    if shape is None or not request.own_identities:
        return []
    filled = [or_(_L.slot == slot, and_(_L.slot >= f"{slot}:", _L.slot < f"{slot};")) for slot in sorted(slots)]
    statement = (
        select(*_CANDIDATE_COLUMNS)
        .join(learned_facts_table, and_(_L.space_id == _M.space_id, _L.memory_id == _M.id))
        .where(_L.space_id == bindparam("p_space"), or_(*filled), any_branch_condition(shape))
        .where(_L.owner.in_(sorted(request.own_identities)))
        .order_by(_M.created_at.desc(), _M.id)
        .limit(most)
    )
    return [Candidate(*row) for row in connection.execute(statement, predicate_parameters(request))]


def list_nearest(
    connection: Connection, dialect: Dialect, request: Request, model: str, vector: bytes, most: int
) -> list[Candidate]:
    """List the nearest vectors of each branch, if the database compares vectors."""
    shape = shape_of_request(request)
    distance = dialect.vector_distance(len(vector) // 4)
    if shape is None or distance is None:
        return []
    dialect.prepare_vector_search(connection)
    params = predicate_parameters(request) | {"n_vector": dialect.encode_vector(vector)}
    nearest = (
        select(*_CANDIDATE_COLUMNS)
        .join(vectors_table, and_(_X.space_id == _M.space_id, _X.memory_id == _M.id))
        .where(_X.model == model)
        .order_by(distance)
        .limit(most)
    )
    return [
        Candidate(*row)
        for branch in build_branches(shape, POLICY_TABLES)
        for row in connection.execute(nearest.where(branch.condition), params)
    ]


class RankingFeatures(NamedTuple):
    """Hold the columns that ranking uses."""

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
    worded_at: int | None  # None for a turn, which has no versions

    @classmethod
    def from_new_row(cls, row: Mapping[str, Any]) -> RankingFeatures:
        """Build the features of a new memory: it was worded when it was last changed."""
        return cls._make([*(row[name] for name in cls._fields[:-1]), row["updated_at"]])


# The time of the current wording: versions that changed only data do not count.
_WORDED_AT = (
    select(func.min(_V.created_at))
    .where(_V.space_id == _M.space_id, _V.memory_id == _M.id, _V.content == _M.content)
    .scalar_subquery()
)
_SELECT_FEATURES = select(*(_M[name] for name in RankingFeatures._fields[:-1]), _WORDED_AT).where(
    _M.space_id == bindparam("space"), _M.id.in_(bindparam("ids", expanding=True))
)


def read_features(connection: Connection, space: str, ids: Sequence[str]) -> list[RankingFeatures]:
    """Read the features of ids that passed the predicate in the same snapshot."""
    return [RankingFeatures(*row) for row in _fetch_in_chunks(connection, _SELECT_FEATURES, space, ids)]


def _fetch_in_chunks(
    connection: Connection, statement: Select[Any], space: str, ids: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(ids), _IDS_AT_ONCE_COUNT):
        params = {"space": space, "ids": list(ids[start : start + _IDS_AT_ONCE_COUNT])}
        yield from fetch_rows(connection, statement, params)


# Vectors are grouped by home path. Each database has its own vector type: the dialect decodes it.


def read_vectors(
    connection: Connection, dialect: Dialect, space: str, home: str, ids: Sequence[str] | None, model: str
) -> dict[str, bytes]:
    """Return this model's vectors of a home path: of these ids, or of all if `ids` is None."""
    params: dict[str, Any] = {"space": space, "home": home, "model": model}
    if ids is not None:
        params["ids"] = list(ids)
    rows = fetch_rows(connection, _select_vectors(dialect, ids is not None), params)
    return {id: dialect.decode_vector(vector) for id, vector in rows}


@lru_cache(maxsize=16)
def _select_vectors(dialect: Dialect, some: bool) -> TextClause:
    every = (
        f"SELECT memory_id, {dialect.vector_out} FROM vectors "  # noqa: S608
        "WHERE space_id = :space AND home_path = :home AND model = :model"
    )
    if not some:
        return text(every)
    return text(f"{every} AND memory_id IN :ids").bindparams(bindparam("ids", expanding=True))


_SELECT_EDGES = [
    select(_R.from_id, _R.to_id, _R.strength, _R.found).where(
        _R.space_id == bindparam("space"), side.in_(bindparam("ids", expanding=True))
    )
    for side in (_R.from_id, _R.to_id)
]


def list_edges(connection: Connection, space: str, ids: Sequence[str]) -> set[MemoryEdge]:
    """List relations with one of these ids at either end.

    The other end may be any memory: check its visibility before use.
    """
    return {
        MemoryEdge(*row) for statement in _SELECT_EDGES for row in _fetch_in_chunks(connection, statement, space, ids)
    }
