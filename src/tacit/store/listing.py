"""Listings: newest first, narrowed by filters, a page at a time, through the predicate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    false,
    func,
    select,
    tuple_,
    union,
)

from tacit.policy.predicate import (
    ROLE_MENTIONED,
    ROLE_SUBJECT,
    RequestShape,
    build_branches,
    predicate_parameters,
    shape_of_request,
    sql_literal,
)
from tacit.records.memory import Purpose, State
from tacit.records.request import Request
from tacit.store import doors, words
from tacit.store.audiences import Audiences
from tacit.store.dialect import Dialect
from tacit.store.reads import Found, fetch, sees_all
from tacit.store.rows import COLUMNS
from tacit.store.tables import ROWS, memories, memory_people

_M = memories.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a listing is narrowed to. None means: not by this."""

    category: str | None = None
    categories: tuple[str, ...] | None = None  # any of these
    kind: str | None = None
    state: str | None = None  # only the owner in private sees other states than active
    key: str | None = None
    prefix: str | None = None  # of the key; % and _ are text
    pinned: bool | None = None
    owners: tuple[str, ...] | None = None
    about: tuple[str, ...] | None = None  # identities of the people it is about
    words: tuple[str, ...] | None = None
    chats: tuple[str, ...] | None = None  # the ids of the one it was learned in
    visibility: str | None = None
    sensitivity: str | None = None
    since: int | None = None  # created then or later
    until: int | None = None  # created before
    prefixes: tuple[str, ...] = ()  # beginnings of words: `browsing.py`
    after: tuple[int, str] | None = None  # created_at and id of the last one shown

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(n for n in _FILTERS if getattr(self, n) is not None)

    @property
    def params(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in self.names}
        values: dict[str, Any] = {
            f"f_{name}": list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
        }
        if self.prefix is not None:
            values["f_prefix_length"] = len(self.prefix)
        if self.after is not None:
            values["f_after"], values["f_after_id"] = self.after
        return values


_FILTERS = (
    "category", "categories", "kind", "state", "key", "prefix", "pinned", "owners", "about",
    "chats", "visibility", "sensitivity", "since", "until", "after",
)  # fmt: skip


def page(
    connection: Connection,
    audiences: Audiences,
    dialect: Dialect,
    request: Request,
    wanted: Filter,
    limit: int,
) -> list[Found]:
    """Newest first: each branch of the predicate yields its newest, and the newest of all win."""
    shape = shape_of_request(request)
    if shape is None:
        return []
    statement = _page(shape, wanted.names, dialect, bool(wanted.words))
    params = predicate_parameters(request) | wanted.params | {"p_limit": limit}
    if wanted.words:
        words.require(connection, dialect)
        behind = {
            branch.access_path: partial(doors.of_request, connection, request, branch.access_path)
            for branch in build_branches(shape, ROWS)
        }
        params.update(dialect.word_match_params(wanted.words, behind))
    return fetch(connection, audiences, request, statement, params)


@lru_cache(maxsize=512)
def _page(
    shape: RequestShape, names: tuple[str, ...], dialect: Dialect, by_words: bool
) -> Select[Any]:
    terms = [term(name, shape) for name in names]
    newest = (_M.created_at.desc(), _M.id.desc())
    parts = []
    for branch in build_branches(shape, ROWS):
        part = select(_M.created_at, _M.id).where(branch.condition, *terms)
        if by_words:
            part = part.where(dialect.word_match_condition(branch.access_path))
        part = part.order_by(*newest).limit(bindparam("p_limit"))
        parts.append(select(part.subquery()))
    chosen = union(*parts).subquery() if len(parts) > 1 else parts[0].subquery()
    return (
        select(*COLUMNS)
        .where(_M.space_id == bindparam("p_space"), _M.id.in_(select(chosen.c.id)))
        .order_by(*newest)
        .limit(bindparam("p_limit"))
    )


def count(connection: Connection, request: Request, wanted: Filter) -> int:
    """How many there are on all pages together."""
    shape = shape_of_request(request)
    if shape is None:
        return 0
    found = connection.scalar(
        _count(shape, wanted.names), predicate_parameters(request) | wanted.params
    )
    return found or 0


@lru_cache(maxsize=512)
def _count(shape: RequestShape, names: tuple[str, ...]) -> Select[Any]:
    terms = [term(name, shape) for name in names]
    parts = [
        select(_M.id).where(branch.condition, *terms) for branch in build_branches(shape, ROWS)
    ]
    chosen = union(*parts).subquery() if len(parts) > 1 else parts[0].subquery()
    return select(func.count()).select_from(chosen)


def state_at() -> ColumnElement[str]:
    """A memory past its time is expired, also before a sweep has said so."""
    lapsed = and_(_M.state == sql_literal(State.ACTIVE), _M.expires_at <= bindparam("p_at"))
    return case((lapsed, sql_literal(State.EXPIRED)), else_=_M.state)


def about_ids() -> Select[Any]:
    p = memory_people.alias().c
    return select(p.memory_id).where(
        p.space_id == bindparam("p_space"),
        p.person.in_(bindparam("f_about", expanding=True)),
        p.role.in_([sql_literal(ROLE_SUBJECT), sql_literal(ROLE_MENTIONED)]),
    )


def _seen_pin(shape: RequestShape | None) -> ColumnElement[bool]:
    """A pin is the owner's own act: for other requesters, nothing is pinned (`redact`)."""
    if shape is None or shape.purpose is Purpose.MANAGE:
        return _M.pinned
    # CASE, not AND: PostgreSQL would take `owner IS NULL` out of an AND and scan the space by it.
    return case((sees_all(shape), _M.pinned), else_=false())


def term(name: str, shape: RequestShape | None = None) -> ColumnElement[bool]:
    """`shape` is that of the request; without one, an operator asks, who sees every field."""

    def many(param: str) -> Any:
        return bindparam(param, expanding=True)

    terms: dict[str, Any] = {
        "category": lambda: _M.category == bindparam("f_category"),
        "categories": lambda: _M.category.in_(many("f_categories")),
        "kind": lambda: _M.kind == bindparam("f_kind"),
        "state": lambda: state_at() == bindparam("f_state"),
        "key": lambda: _M.key == bindparam("f_key"),
        # Not LIKE: its % and _ would have to be escaped, and SQLite's ignores case.
        "prefix": lambda: (
            func.substr(_M.key, 1, bindparam("f_prefix_length")) == bindparam("f_prefix")
        ),
        "pinned": lambda: _seen_pin(shape) == bindparam("f_pinned"),
        "chats": lambda: _M.learned_in.in_(many("f_chats")),
        "visibility": lambda: _M.visibility == bindparam("f_visibility"),
        "sensitivity": lambda: _M.sensitivity == bindparam("f_sensitivity"),
        "since": lambda: _M.created_at >= bindparam("f_since"),
        "until": lambda: _M.created_at < bindparam("f_until"),
        "owners": lambda: _M.owner.in_(many("f_owners")),
        "about": lambda: _M.id.in_(about_ids()),
        # A row value and not an OR: then the branch's own index finds the place to go on.
        "after": lambda: (
            tuple_(_M.created_at, _M.id) < tuple_(bindparam("f_after"), bindparam("f_after_id"))
        ),
    }
    found: ColumnElement[bool] = terms[name]()
    return found
