"""Every read of memories. The predicate is in each query; `decide` is asserted on each row.

There is no way in without a request. Statements are built once for each shape of request and
filter, because building one costs more than running it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    false,
    func,
    or_,
    select,
    union,
)

from tacit.clock import from_micros
from tacit.disclosure.decide import decide
from tacit.disclosure.predicate import SUBJECT, Shape, branches, parameters, shape_of, word
from tacit.errors import DisclosureBreach
from tacit.model.memory import HistoryEntry, Memory, Version
from tacit.model.request import Decision, Request
from tacit.model.words import Event, State
from tacit.store.audiences import Audiences
from tacit.store.dialect import Dialect
from tacit.store.rows import COLUMNS, to_memory, unpacked
from tacit.store.tables import ROWS, history, memories, memory_people, memory_versions

_M = memories.c
_HEARD = COLUMNS.index(_M.heard)

Found = tuple[Memory, Decision]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a listing is narrowed to. None means: not by this."""

    category: str | None = None
    kind: str | None = None
    state: str | None = None  # only the owner in private sees other states than active
    key: str | None = None
    prefix: str | None = None  # of the key; % and _ are text
    pinned: bool | None = None
    owners: tuple[str, ...] | None = None
    about: tuple[str, ...] | None = None  # identities of the people it is about
    learned_in: tuple[str, ...] | None = None
    words: tuple[str, ...] | None = None
    after: tuple[int, str] | None = None  # created_at and id of the last one shown

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(n for n in _FILTERS if getattr(self, n) is not None)

    @property
    def params(self) -> dict[str, Any]:
        values: dict[str, Any] = {f"f_{n}": getattr(self, n) for n in self.names}
        if self.prefix is not None:
            values["f_prefix_length"] = len(self.prefix)
        if self.after is not None:
            values["f_after"], values["f_after_id"] = self.after
        return values


_FILTERS = (
    "category", "kind", "state", "key", "prefix", "pinned", "owners", "about", "learned_in",
    "after",
)  # fmt: skip


def by_id(connection: Connection, audiences: Audiences, request: Request, id: str) -> Found | None:
    shape = shape_of(request)
    if shape is None:
        return None
    params = parameters(request) | {"id": id}
    found = _fetch(connection, audiences, request, _by_id(shape), params)
    return found[0] if found else None


def by_key(
    connection: Connection, audiences: Audiences, request: Request, category: str, key: str
) -> Found | None:
    """The requester's own value of a key, as far as it may be said here."""
    shape = shape_of(request)
    if shape is None:
        return None
    params = parameters(request) | {"category": category, "key": key}
    found = _fetch(connection, audiences, request, _by_key(shape), params)
    return found[0] if found else None


def page(
    connection: Connection,
    audiences: Audiences,
    dialect: Dialect,
    request: Request,
    wanted: Filter,
    limit: int,
) -> list[Found]:
    """Newest first: each branch of the predicate yields its newest, and the newest of all win."""
    shape = shape_of(request)
    if shape is None:
        return []
    statement = _page(shape, wanted.names, dialect, bool(wanted.words))
    params = parameters(request) | wanted.params | {"p_limit": limit}
    if wanted.words:
        params["p_words"] = dialect.words_query(wanted.words)
    return _fetch(connection, audiences, request, statement, params)


def versions(
    connection: Connection, audiences: Audiences, request: Request, memory: Memory
) -> list[Version]:
    """The wordings this requester may hear, oldest first: each by who was there then."""
    rows = connection.execute(_VERSIONS, {"space": memory.space, "id": memory.id}).all()
    heard = audiences.people(connection, memory.space, (row.heard for row in rows))
    found = []
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
        then = replace(
            memory,
            speaker=version.speaker,
            subjects=version.subjects,
            heard_by=version.heard_by,
            content=version.content,
        )
        if decide(request, then).allowed:
            found.append(version)
    return found


def seen_version(
    connection: Connection, audiences: Audiences, request: Request, memory: Memory
) -> int:
    """How many versions this requester may hear. Only the owner in private knows them all."""
    if memory.version == 1:
        return 1
    if request.private and memory.owner and request.person(memory.owner) == request.requester:
        return memory.version
    return max(1, len(versions(connection, audiences, request, memory)))


def events(connection: Connection, memory: Memory) -> list[HistoryEntry]:
    rows = connection.execute(_HISTORY, {"space": memory.space, "id": memory.id})
    return [
        HistoryEntry(
            event=Event(row.event),
            at=from_micros(row.at),
            actor=row.actor,
            version=row.version,
            content=None,
            detail=json.loads(row.detail),
        )
        for row in rows
    ]


_VERSIONS = (
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


def _fetch(
    connection: Connection,
    audiences: Audiences,
    request: Request,
    statement: Select[Any],
    params: dict[str, Any],
) -> list[Found]:
    rows = connection.execute(statement, params).all()
    heard = audiences.people(connection, request.space, [row[_HEARD] for row in rows])
    found: list[Found] = []
    for row in rows:
        memory = to_memory(row, heard[row[_HEARD]])
        decision = decide(request, memory)
        if not decision.allowed or memory.space != request.space:
            raise DisclosureBreach(f"a row came back that rule {decision.rule} forbids")
        found.append((memory, decision))
    return found


def any_branch(shape: Shape) -> ColumnElement[bool]:
    return or_(false(), *(branch.condition for branch in branches(shape, ROWS)))


@lru_cache(maxsize=256)
def _by_id(shape: Shape) -> Select[Any]:
    return select(*COLUMNS).where(
        _M.space_id == bindparam("p_space"), _M.id == bindparam("id"), any_branch(shape)
    )


@lru_cache(maxsize=256)
def _by_key(shape: Shape) -> Select[Any]:
    return select(*COLUMNS).where(own_key(), any_branch(shape))


def own_key() -> ColumnElement[bool]:
    """The value of a key: among a person's identities all but one value are shadowed."""
    return and_(
        _M.space_id == bindparam("p_space"),
        _M.owner.in_(bindparam("p_me", expanding=True)),
        _M.category == bindparam("category"),
        _M.key == bindparam("key"),
        _M.key.is_not(None),
        _M.state == word(State.ACTIVE),
        _M.shadowed.is_(False),
    )


@lru_cache(maxsize=512)
def _page(shape: Shape, names: tuple[str, ...], dialect: Dialect, by_words: bool) -> Select[Any]:
    terms = [_term(name) for name in names]
    if by_words:
        terms.append(dialect.has_words)
    newest = (_M.created_at.desc(), _M.id.desc())
    parts = []
    for branch in branches(shape, ROWS):
        part = select(_M.created_at, _M.id).where(branch.condition, *terms)
        part = part.order_by(*newest).limit(bindparam("p_limit"))
        parts.append(select(part.subquery()))
    chosen = union(*parts).subquery() if len(parts) > 1 else parts[0].subquery()
    return (
        select(*COLUMNS)
        .where(_M.space_id == bindparam("p_space"), _M.id.in_(select(chosen.c.id)))
        .order_by(*newest)
        .limit(bindparam("p_limit"))
    )


def _term(name: str) -> ColumnElement[bool]:
    def many(param: str) -> Any:
        return bindparam(param, expanding=True)

    p = memory_people.alias().c
    terms: dict[str, Any] = {
        "category": lambda: _M.category == bindparam("f_category"),
        "kind": lambda: _M.kind == bindparam("f_kind"),
        "state": lambda: _M.state == bindparam("f_state"),
        "key": lambda: _M.key == bindparam("f_key"),
        # Not LIKE: its % and _ would have to be escaped, and SQLite's ignores case.
        "prefix": lambda: (
            func.substr(_M.key, 1, bindparam("f_prefix_length")) == bindparam("f_prefix")
        ),
        "pinned": lambda: _M.pinned.is_(bindparam("f_pinned")),
        "owners": lambda: _M.owner.in_(many("f_owners")),
        "learned_in": lambda: _M.learned_in.in_(many("f_learned_in")),
        "about": lambda: _M.id.in_(
            select(p.memory_id).where(
                p.space_id == bindparam("p_space"),
                p.person.in_(many("f_about")),
                p.role == word(SUBJECT),
            )
        ),
        "after": lambda: or_(
            _M.created_at < bindparam("f_after"),
            and_(_M.created_at == bindparam("f_after"), _M.id < bindparam("f_after_id")),
        ),
    }
    term: ColumnElement[bool] = terms[name]()
    return term
