"""Every read of memories. The predicate is in each query; `decide` is asserted on each row.

There is no way in without a request. Statements are built once for each shape of request and
filter, because building one costs more than running it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    false,
    or_,
    select,
)

from tacit.clock import from_micros
from tacit.errors import DisclosureBreach
from tacit.policy.predicate import (
    RequestShape,
    build_branches,
    predicate_parameters,
    shape_of_request,
    sql_literal,
)
from tacit.policy.redaction import can_see_data
from tacit.policy.rules import decide
from tacit.records.memory import HistoryEntry, HistoryEvent, Memory, State, Version
from tacit.records.request import Decision, Request
from tacit.store import rendered
from tacit.store.audiences import Audiences
from tacit.store.rows import COLUMNS, to_memory, to_sensitivity, to_visibility, unpacked
from tacit.store.tables import ROWS, history, memories, memory_versions

_M = memories.c
_HEARD = COLUMNS.index(_M.heard)

Found = tuple[Memory, Decision]


def by_id(connection: Connection, audiences: Audiences, request: Request, id: str) -> Found | None:
    shape = shape_of_request(request)
    if shape is None:
        return None
    params = predicate_parameters(request) | {"id": id}
    found = fetch(connection, audiences, request, _by_id(shape), params)
    return found[0] if found else None


def by_key(
    connection: Connection, audiences: Audiences, request: Request, category: str, key: str
) -> Found | None:
    """The requester's own value of a key, as far as it may be said here."""
    shape = shape_of_request(request)
    if shape is None:
        return None
    params = predicate_parameters(request) | {"category": category, "key": key}
    found = fetch(connection, audiences, request, _by_key(shape), params)
    return found[0] if found else None


def versions(
    connection: Connection, audiences: Audiences, request: Request, memory: Memory
) -> list[Version]:
    """The wordings this requester may hear, oldest first: each by who was there then. A version
    that changed only data counts for those who see the data."""
    rows = connection.execute(VERSIONS, {"space": memory.space, "id": memory.id}).all()
    heard = audiences.get_people(connection, memory.space, (row.heard for row in rows))
    found: list[Version] = []
    for row in rows:
        version = Version(
            number=row.version,
            content=row.content,
            speaker=row.speaker,
            subjects=unpacked(row.subjects),
            heard_by=heard[row.heard],
            actor=row.actor,
            created_at=from_micros(row.created_at),
        )
        # By who was there then, and no further than it might go then or may go now.
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
        if not found or can_see_data(request, memory) or _words(found[-1]) != _words(version):
            found.append(version)
    return found


def _words(version: Version) -> tuple[str, str | None, frozenset[str]]:
    return version.content, version.speaker, version.subjects


def seen_version(
    connection: Connection, audiences: Audiences, request: Request, memory: Memory
) -> tuple[int, datetime]:
    """How many versions this requester may hear, and since when the current one stands. Only the
    owner in private knows them all, and when anything else about the memory changed."""
    if request.private and memory.owner and request.person(memory.owner) == request.requester:
        return memory.version, memory.updated_at
    if memory.version == 1:
        return 1, memory.created_at
    heard = versions(connection, audiences, request, memory)
    return max(1, len(heard)), heard[-1].created_at if heard else memory.created_at


def events(connection: Connection, memory: Memory) -> list[HistoryEntry]:
    rows = connection.execute(_HISTORY, {"space": memory.space, "id": memory.id})
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


VERSIONS = (
    select(memory_versions)
    .where(
        memory_versions.c.space_id == bindparam("space"),
        memory_versions.c.memory_id == bindparam("id"),
    )
    .order_by(memory_versions.c.version)
)
_HISTORY = (
    select(history)
    .where(history.c.space_id == bindparam("space"), history.c.memory_id == bindparam("id"))
    .order_by(history.c.seq)
)


def fetch(
    connection: Connection,
    audiences: Audiences,
    request: Request,
    statement: Select[Any],
    params: dict[str, Any],
) -> list[Found]:
    rows = rendered.rows(connection, statement, params)
    heard = audiences.get_people(connection, request.space, [row[_HEARD] for row in rows])
    found: list[Found] = []
    for row in rows:
        memory = to_memory(row, heard[row[_HEARD]])
        decision = decide(request, memory)
        if not decision.allowed or memory.space != request.space:
            raise DisclosureBreach(f"a row came back that rule {decision.rule} forbids")
        found.append((lapsed(memory, request.at), decision))
    return found


def lapsed(memory: Memory, at: datetime) -> Memory:
    """Past its time it is expired, also before a sweep has said so."""
    if memory.state is State.ACTIVE and memory.expires_at and memory.expires_at <= at:
        return replace(memory, state=State.EXPIRED)
    return memory


def any_branch(shape: RequestShape) -> ColumnElement[bool]:
    return or_(false(), *(branch.condition for branch in build_branches(shape, ROWS)))


def sees_all(shape: RequestShape) -> ColumnElement[bool]:
    """Whether the requester sees every field, as `disclosure.redact` has it."""
    of_room = _M.owner.is_(None)
    mine = _M.owner.in_(bindparam("p_me", expanding=True))
    return or_(of_room, mine) if shape.private else of_room


@lru_cache(maxsize=256)
def _by_id(shape: RequestShape) -> Select[Any]:
    return select(*COLUMNS).where(
        _M.space_id == bindparam("p_space"), _M.id == bindparam("id"), any_branch(shape)
    )


@lru_cache(maxsize=256)
def _by_key(shape: RequestShape) -> Select[Any]:
    return select(*COLUMNS).where(own_key(), any_branch(shape))


def own_key() -> ColumnElement[bool]:
    """The value of a key: among a person's identities all but one value are shadowed."""
    return and_(
        _M.space_id == bindparam("p_space"),
        _M.owner.in_(bindparam("p_me", expanding=True)),
        _M.category == bindparam("category"),
        _M.key == bindparam("key"),
        _M.key.is_not(None),
        _M.state == sql_literal(State.ACTIVE),
        _M.shadowed.is_(False),
    )
