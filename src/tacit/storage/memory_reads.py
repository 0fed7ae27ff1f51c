"""Read memories: the predicate is in each query, `decide` is asserted on each row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, false, func, or_, select

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import DisclosureBreach
from tacit.policy.predicate import (
    PredicateBranch,
    RequestShape,
    build_branches,
    predicate_parameters,
    shape_of_request,
    sql_literal,
)
from tacit.policy.rules import can_see_data, decide
from tacit.records.memory import (
    ChatKind,
    HistoryEntry,
    HistoryEvent,
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
from tacit.storage import statements
from tacit.storage.dialect import Dialect
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
from tacit.storage.spaces import audience_id

# Convert memories to rows and back. An unreadable column value becomes the strictest default.

_KINDS = {k.value: k for k in Kind}
_VISIBILITIES = {v.value: v for v in Visibility}
_SENSITIVITIES = {s.value: s for s in Sensitivity}
_STATES = {s.value: s for s in State}
_TRUSTS = {t.value: t for t in Trust}
_LEARNED_KINDS = {"private": ChatKind.PRIVATE, "group": ChatKind.GROUP}
_NOBODY: frozenset[str] = frozenset()

# The columns of the record, in the order that `to_memory` unpacks.
MEMORY_COLUMNS = tuple(c for c in memories_table.c if c.name not in ("is_turn", "stamp"))


def to_visibility(text: str) -> Visibility:
    return _VISIBILITIES.get(text, Visibility.PRIVATE_ONLY)


def to_sensitivity(text: str) -> Sensitivity:
    return _SENSITIVITIES.get(text, Sensitivity.SENSITIVE)


def pack_people(words: Iterable[str]) -> str:
    found = sorted(words)
    return json.dumps(found, ensure_ascii=False) if found else "[]"


def unpack_people(text: str) -> frozenset[str]:
    """Return the people of a JSON list; an empty set if it is unreadable."""
    return _NOBODY if text == "[]" else frozenset(_parse_string_list(text) or ())


def _parse_string_list(text: str) -> list[str] | None:
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


def _to_datetime(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def to_micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def to_memory(row: Any, heard_by: frozenset[str]) -> Memory:
    """Build a memory from a row of MEMORY_COLUMNS and its audience, which is fetched separately."""
    (
        space, id, owner, speaker, subjects, learned_in, learned_kind, _heard, confidential, kind,
        category, key, slot, content, version, visibility, sensitivity, portable, withheld_from,
        _has_withheld, withheld_unknown, inferred, trust, importance, confidence, pinned, tags,
        source_channel, source_chat, source_message, thread, agent, run, role, created_at,
        updated_at, observed_at, expires_at, last_accessed_at, access_count, state, purge_at,
        superseded_by, overridden, session, seq, name, data,
    ) = row  # fmt: skip
    learned = _LEARNED_KINDS.get(learned_kind)
    unreadable = Visibility.ROOM if learned is ChatKind.GROUP else Visibility.PRIVATE_ONLY
    return Memory(
        id=id,
        space=space,
        owner=owner,
        speaker=speaker,
        subjects=unpack_people(subjects),
        learned_in=learned_in,
        learned_kind=learned,
        heard_by=heard_by,
        confidential=bool(confidential),
        kind=_KINDS.get(kind, Kind.KNOWLEDGE),
        category=category,
        key=key,
        slot=slot,
        content=content,
        version=version,
        visibility=_VISIBILITIES.get(visibility, unreadable),
        sensitivity=_SENSITIVITIES.get(sensitivity, Sensitivity.PERSONAL),
        portable=bool(portable),
        withheld_from=unpack_people(withheld_from),
        # An unreadable `withheld_from` list counts as withheld from an unknown person.
        withheld_unknown=bool(withheld_unknown)
        or (withheld_from != "[]" and _parse_string_list(withheld_from) is None),
        inferred=bool(inferred),
        trust=_TRUSTS.get(trust, Trust.UNTRUSTED),
        importance=importance,
        confidence=confidence,
        pinned=bool(pinned),
        tags=() if tags == "[]" else tuple(_parse_string_list(tags) or ()),
        source=Source(channel=source_channel, chat=source_chat, message=source_message),
        thread=thread,
        agent=agent,
        run=run,
        role=role,
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
        observed_at=_to_datetime(observed_at),
        expires_at=_to_datetime(expires_at),
        last_accessed_at=_to_datetime(last_accessed_at),
        access_count=access_count,
        state=_STATES.get(state, State.QUARANTINED),
        purge_at=_to_datetime(purge_at),
        superseded_by=superseded_by,
        shadowed=bool(overridden),
        session=session,
        seq=seq,
        name=name,
        data=None if data is None else unpack_object(data),
    )


def to_row(memory: Memory, audience: str | None) -> dict[str, Any]:
    return {
        "space_id": memory.space,
        "id": memory.id,
        "owner": memory.owner,
        "speaker": memory.speaker,
        "subjects": pack_people(memory.subjects),
        "learned_in": memory.learned_in,
        "learned_kind": memory.learned_kind.value if memory.learned_kind else None,
        "audience": audience,
        "confidential": memory.confidential,
        "kind": memory.kind.value,
        "category": memory.category,
        "key": memory.key,
        "slot": memory.slot,
        "content": memory.content,
        "version": memory.version,
        "visibility": memory.visibility.value,
        "sensitivity": memory.sensitivity.value,
        "portable": memory.portable,
        "withheld_from": pack_people(memory.withheld_from),
        "has_withheld": bool(memory.withheld_from),
        "withheld_unknown": memory.withheld_unknown,
        "inferred": memory.inferred,
        "trust": memory.trust.value,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "pinned": memory.pinned,
        "tags": pack_people(memory.tags),
        "source_channel": memory.source.channel,
        "source_chat": memory.source.chat,
        "source_message": memory.source.message,
        "thread": memory.thread,
        "agent": memory.agent,
        "run": memory.run,
        "role": memory.role,
        "created_at": to_micros(memory.created_at),
        "updated_at": to_micros(memory.updated_at),
        "observed_at": to_micros_or_none(memory.observed_at),
        "expires_at": to_micros_or_none(memory.expires_at),
        "last_accessed_at": to_micros_or_none(memory.last_accessed_at),
        "access_count": memory.access_count,
        "state": memory.state.value,
        "purge_at": to_micros_or_none(memory.purge_at),
        "superseded_by": memory.superseded_by,
        "overridden": memory.shadowed,
        "is_turn": memory.is_turn,
        "session": memory.session,
        "seq": memory.seq,
        "name": memory.name,
        "data": dump_json(memory.data) if memory.data else None,
    }


def effective_subjects(memory: Memory) -> frozenset[str]:
    """Return the subjects of a memory: as given, else its speaker, else its owner."""
    if memory.subjects:
        return memory.subjects
    somebody = memory.speaker or memory.owner
    return frozenset({somebody}) if somebody else _NOBODY


# Audiences. An audience is immutable under its id, so a cached one stays valid.

_A = audience_people.c
_SELECT_AUDIENCE_PEOPLE = select(_A.audience, _A.person).where(
    _A.space_id == bindparam("space"), _A.audience.in_(bindparam("ids", expanding=True))
)
_AUDIENCE_EXISTS = (
    select(_A.audience)
    .where(_A.space_id == bindparam("space"), _A.audience == bindparam("id"))
    .limit(1)
)


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
        found: dict[str | None, frozenset[str]] = {None: _NOBODY}
        missing = []
        for id in set(ids) - {None}:
            assert id is not None
            known = self._known.get((space, id))
            if known is None:
                missing.append(id)
            else:
                found[id] = known
        if missing:
            sets: dict[str, set[str]] = {id: set() for id in missing}
            for audience, person in statements.fetch_rows(
                connection, _SELECT_AUDIENCE_PEOPLE, {"space": space, "ids": missing}
            ):
                sets[audience].add(person)
            if len(self._known) > limits.AUDIENCE_CACHE_MAX_COUNT:
                self._known.clear()
            for id, people in sets.items():
                found[id] = frozenset(people)
                if people:  # an empty audience may be one not committed yet
                    self._known[space, id] = found[id]
        return found


def ensure_audience(
    connection: Connection, dialect: Dialect, space: str, people: frozenset[str]
) -> str | None:
    """Return the id of this audience; insert it if it is new."""
    if not people:
        return None
    id = audience_id(people)
    if not statements.fetch_rows(connection, _AUDIENCE_EXISTS, {"space": space, "id": id}):
        rows = [{"space_id": space, "audience": id, "person": person} for person in sorted(people)]
        dialect.insert_missing(connection, audience_people, rows)
    return id


# Every read of memories. The predicate is in each query; `decide` is asserted on each row.
#
# Every read requires a request. Statements are built once for each shape of request and filter,
# because building one costs more than running it.

_M = memories_table.c
_AUDIENCE = MEMORY_COLUMNS.index(_M.audience)

MemoryDecision = tuple[Memory, Decision]


def get_memory(
    connection: Connection, audiences: AudienceCache, request: Request, id: str
) -> MemoryDecision | None:
    shape = shape_of_request(request)
    if shape is None:
        return None
    params = predicate_parameters(request) | {"id": id}
    found = fetch_visible(connection, audiences, request, _select_by_id(shape), params)
    return found[0] if found else None


def get_memory_by_key(
    connection: Connection, audiences: AudienceCache, request: Request, category: str, key: str
) -> MemoryDecision | None:
    """Return the requester's own value of a key, if it may be disclosed here."""
    shape = shape_of_request(request)
    if shape is None:
        return None
    params = predicate_parameters(request) | {"category": category, "key": key}
    found = fetch_visible(connection, audiences, request, _select_by_key(shape), params)
    return found[0] if found else None


def list_versions(
    connection: Connection, audiences: AudienceCache, request: Request, memory: Memory
) -> list[Version]:
    """List the versions this requester may see, oldest first, each by its own audience.

    A version that changed only data is included for requesters who see the data.
    """
    rows = connection.execute(SELECT_VERSIONS, {"space": memory.space, "id": memory.id}).all()
    members = audiences.get_people(connection, memory.space, (row.audience for row in rows))
    found: list[Version] = []
    for row in rows:
        version = Version(
            number=row.version,
            content=row.content,
            speaker=row.speaker,
            subjects=unpack_people(row.subjects),
            heard_by=members[row.audience],
            actor=row.actor,
            created_at=from_micros(row.created_at),
        )
        # Apply the audience of that version, and the stricter of the rules then and now.
        then = replace(
            memory,
            speaker=version.speaker,
            subjects=version.subjects,
            heard_by=version.heard_by,
            visibility=min(memory.visibility, to_visibility(row.visibility), key=lambda v: v.rank),
            sensitivity=max(
                memory.sensitivity, to_sensitivity(row.sensitivity), key=lambda s: s.rank
            ),
            portable=memory.portable and bool(row.portable),
        )
        if not decide(request, then).allowed:
            continue
        if (
            not found
            or can_see_data(request, memory)
            or _wording_of(found[-1]) != _wording_of(version)
        ):
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
    return [
        HistoryEntry(
            event=HistoryEvent(row.event),
            at=from_micros(row.at),
            actor=row.actor,
            version=row.version,
            content=None,
            detail=json.loads(row.detail),
        )
        for row in rows
    ]


SELECT_VERSIONS = (
    select(memory_versions)
    .where(
        memory_versions.c.space_id == bindparam("space"),
        memory_versions.c.memory_id == bindparam("id"),
    )
    .order_by(memory_versions.c.version)
)
_SELECT_HISTORY = (
    select(history_table)
    .where(
        history_table.c.space_id == bindparam("space"), history_table.c.memory_id == bindparam("id")
    )
    .order_by(history_table.c.seq)
)


def fetch_visible(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    statement: Select[Any],
    params: dict[str, Any],
) -> list[MemoryDecision]:
    rows = statements.fetch_rows(connection, statement, params)
    members = audiences.get_people(connection, request.space, [row[_AUDIENCE] for row in rows])
    found: list[MemoryDecision] = []
    for row in rows:
        memory = to_memory(row, members[row[_AUDIENCE]])
        decision = decide(request, memory)
        if not decision.allowed or memory.space != request.space:
            raise DisclosureBreach(f"a row came back that rule {decision.rule} forbids")
        found.append((apply_expiry(memory, request.at), decision))
    return found


def apply_expiry(memory: Memory, at: datetime) -> Memory:
    """Return the memory as expired if its time is past, even before the sweep marks it."""
    if memory.state is State.ACTIVE and memory.expires_at and memory.expires_at <= at:
        return replace(memory, state=State.EXPIRED)
    return memory


def any_branch_condition(shape: RequestShape) -> ColumnElement[bool]:
    return or_(false(), *(branch.condition for branch in build_branches(shape, POLICY_TABLES)))


def sees_all_condition(shape: RequestShape) -> ColumnElement[bool]:
    """Test whether the requester sees every field, as `policy.redaction` decides."""
    of_room = _M.owner.is_(None)
    mine = _M.owner.in_(bindparam("p_me", expanding=True))
    return or_(of_room, mine) if shape.private else of_room


@lru_cache(maxsize=256)
def _select_by_id(shape: RequestShape) -> Select[Any]:
    return select(*MEMORY_COLUMNS).where(
        _M.space_id == bindparam("p_space"), _M.id == bindparam("id"), any_branch_condition(shape)
    )


@lru_cache(maxsize=256)
def _select_by_key(shape: RequestShape) -> Select[Any]:
    return select(*MEMORY_COLUMNS).where(own_key_condition(), any_branch_condition(shape))


def own_key_condition() -> ColumnElement[bool]:
    """Test for the value of a key: among a person's identities only one is not overridden."""
    return and_(
        _M.space_id == bindparam("p_space"),
        _M.owner.in_(bindparam("p_me", expanding=True)),
        _M.category == bindparam("category"),
        _M.key == bindparam("key"),
        _M.key.is_not(None),
        _M.state == sql_literal(State.ACTIVE),
        _M.overridden.is_(False),
    )


# Ids of the memories that a request may see: the predicate only, by branch, without ranking.
#
# A branch that leads with an owner can be read for one owner, and only for changes since a
# revision. This makes it cheap to keep a person's memories in the index cache.

_L = learned_facts_table.c
_MEMORY = memories_table.c
_R = relations_table.c
_V = memory_versions.c
_X = vectors_table.c
_IDS_AT_ONCE_COUNT = 500


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
    shape = shape_of_request(request)
    if shape is None:
        return []
    statement = _select_candidates(shape, number, owner is not None, since is not None)
    named = {"c_owner": owner, "c_since": since, "c_most": most}
    params = predicate_parameters(request) | {k: v for k, v in named.items() if v is not None}
    return list(map(Candidate._make, statements.fetch_rows(connection, statement, params)))


@lru_cache(maxsize=512)
def _select_candidates(
    shape: RequestShape, number: int, of_owner: bool, since: bool
) -> Select[Any]:
    branch = build_branches(shape, POLICY_TABLES)[number]
    found = select(_MEMORY.id, _MEMORY.stamp, _MEMORY.owner, _MEMORY.learned_in).where(
        branch.condition
    )
    if of_owner:
        found = found.where(_MEMORY.owner == bindparam("c_owner"))
    if since:
        found = found.where(_MEMORY.stamp > bindparam("c_since"))
    return found.limit(bindparam("c_most"))


_SELECT_CHANGED = select(_MEMORY.id, _MEMORY.stamp).where(
    _MEMORY.space_id == bindparam("space"),
    _MEMORY.owner == bindparam("owner"),
    _MEMORY.stamp > bindparam("since"),
)


def list_changed(
    connection: Connection, space: str, owner: str, since: int
) -> list[tuple[str, int]]:
    """List ids and stamps of changed memories. Do not disclose that they exist."""
    params = {"space": space, "owner": owner, "since": since}
    return [(id, stamp) for id, stamp in statements.fetch_rows(connection, _SELECT_CHANGED, params)]


def list_visible(
    connection: Connection, audiences: AudienceCache, request: Request, ids: Sequence[str]
) -> dict[str, MemoryDecision]:
    """Return these memories in full, filtered by the predicate again."""
    shape = shape_of_request(request)
    if shape is None or not ids:
        return {}
    params = predicate_parameters(request) | {"ids": list(ids)}
    found = fetch_visible(connection, audiences, request, _select_visible(shape), params)
    return {memory.id: (memory, decision) for memory, decision in found}


@lru_cache(maxsize=256)
def _select_visible(shape: RequestShape) -> Select[Any]:
    return select(*MEMORY_COLUMNS).where(
        _MEMORY.space_id == bindparam("p_space"),
        _MEMORY.id.in_(bindparam("ids", expanding=True)),
        any_branch_condition(shape),
    )


def filter_visible(connection: Connection, request: Request, ids: Sequence[str]) -> list[Candidate]:
    """Return the candidates among these ids that the request may see."""
    shape = shape_of_request(request)
    if shape is None or not ids:
        return []
    params = predicate_parameters(request) | {"ids": list(ids)}
    return list(
        map(Candidate._make, statements.fetch_rows(connection, _select_filtered(shape), params))
    )


@lru_cache(maxsize=256)
def _select_filtered(shape: RequestShape) -> Select[Any]:
    return select(_MEMORY.id, _MEMORY.stamp, _MEMORY.owner, _MEMORY.learned_in).where(
        _MEMORY.space_id == bindparam("p_space"),
        _MEMORY.id.in_(bindparam("ids", expanding=True)),
        any_branch_condition(shape),
    )


def list_slot_candidates(
    connection: Connection, request: Request, slots: frozenset[str], most: int
) -> list[Candidate]:
    """List the requester's own visible memories that fill one of these slots."""
    shape = shape_of_request(request)
    if shape is None or not request.own_identities:
        return []
    filled = [
        or_(_L.slot == slot, and_(_L.slot >= f"{slot}:", _L.slot < f"{slot};"))
        for slot in sorted(slots)
    ]
    statement = (
        select(_MEMORY.id, _MEMORY.stamp, _MEMORY.owner, _MEMORY.learned_in)
        .join(
            learned_facts_table, and_(_L.space_id == _MEMORY.space_id, _L.memory_id == _MEMORY.id)
        )
        .where(_L.space_id == bindparam("p_space"), or_(*filled), any_branch_condition(shape))
        .where(_L.owner.in_(sorted(request.own_identities)))
        .order_by(_MEMORY.created_at.desc(), _MEMORY.id)
        .limit(most)
    )
    return [Candidate(*row) for row in connection.execute(statement, predicate_parameters(request))]


def list_nearest(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    model: str,
    vector: bytes,
    most: int,
) -> list[Candidate]:
    """List the nearest vectors of each branch, if the database compares vectors."""
    shape = shape_of_request(request)
    if shape is None or dialect.vector_distance(len(vector) // 4) is None:
        return []
    params = predicate_parameters(request) | {"n_most": most, "n_model": model}
    params |= dialect.vector_distance_params(vector)
    dialect.prepare_vector_search(connection)
    found = []
    for number in range(len(build_branches(shape, POLICY_TABLES))):
        statement = _select_nearest(shape, number, dialect, len(vector) // 4)
        found += [Candidate(*row) for row in connection.execute(statement, params)]
    return found


@lru_cache(maxsize=256)
def _select_nearest(
    shape: RequestShape, number: int, dialect: Dialect, dimension: int
) -> Select[Any]:
    nearness = dialect.vector_distance(dimension)
    assert nearness is not None
    return (
        select(_MEMORY.id, _MEMORY.stamp, _MEMORY.owner, _MEMORY.learned_in)
        .join(vectors_table, and_(_X.space_id == _MEMORY.space_id, _X.memory_id == _MEMORY.id))
        .where(
            build_branches(shape, POLICY_TABLES)[number].condition, _X.model == bindparam("n_model")
        )
        .order_by(nearness)
        .limit(bindparam("n_most"))
    )


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
    .where(
        _V.space_id == _MEMORY.space_id, _V.memory_id == _MEMORY.id, _V.content == _MEMORY.content
    )
    .scalar_subquery()
)
_SELECT_FEATURES = select(
    *(_MEMORY[name] for name in RankingFeatures._fields[:-1]), _WORDED_AT
).where(_MEMORY.space_id == bindparam("space"), _MEMORY.id.in_(bindparam("ids", expanding=True)))


def read_features(connection: Connection, space: str, ids: Sequence[str]) -> list[RankingFeatures]:
    """Read the features of ids that passed the predicate in the same snapshot."""
    found: list[RankingFeatures] = []
    for start in range(0, len(ids), _IDS_AT_ONCE_COUNT):
        some = list(ids[start : start + _IDS_AT_ONCE_COUNT])
        found += map(
            RankingFeatures._make,
            statements.fetch_rows(connection, _SELECT_FEATURES, {"space": space, "ids": some}),
        )
    return found


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
    found: set[MemoryEdge] = set()
    for start in range(0, len(ids), _IDS_AT_ONCE_COUNT):
        params = {"space": space, "ids": list(ids[start : start + _IDS_AT_ONCE_COUNT])}
        for statement in _SELECT_EDGES:
            found.update(
                map(MemoryEdge._make, statements.fetch_rows(connection, statement, params))
            )
    return found
