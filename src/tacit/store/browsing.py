"""Looking through memories, newest first: a person through their own, an operator through a space.

Each identity's memories are read by themselves, in the order of an index that holds every filter,
and merged here. Where words are typed, the newest memories are asked whether they are the beginning
of some word there: what many have is met soon. If that is not enough, an index says how many have
it; few are looked up and put in order, and many are met by walking on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    Text,
    and_,
    bindparam,
    case,
    column,
    func,
    literal_column,
    select,
)

from tacit import limits
from tacit.clock import to_micros
from tacit.policy.predicate import (
    RequestShape,
    build_branches,
    predicate_parameters,
    shape_of_request,
)
from tacit.records.memory import Memory
from tacit.records.request import Request
from tacit.store import rendered, spelling, words
from tacit.store.audiences import Audiences
from tacit.store.dialect import Dialect
from tacit.store.listing import Filter, about_ids, term
from tacit.store.reads import VERSIONS, Found, fetch, lapsed
from tacit.store.rows import COLUMNS, to_memory
from tacit.store.tables import ROWS, memories
from tacit.store.writes import Writing

_M = memories.c
_HEARD = COLUMNS.index(_M.heard)
_IN_SPACE = _M.space_id == bindparam("p_space")
_BY_ID = and_(_IN_SPACE, _M.is_turn.is_(False), _M.id.in_(bindparam("ids", expanding=True)))
_SOME = select(*COLUMNS).where(_BY_ID)
_OWNED = select(_M.id, _M.owner).where(_BY_ID)


def _counting(found: Select[Any]) -> Select[Any]:
    return select(func.count()).select_from(found.limit(bindparam("p_limit")).subquery())


# How many memories are about somebody, whoever's they are.
_ABOUT = _counting(about_ids())


class By(Enum):
    """How words are asked for."""

    ROW = "row"  # of each memory, in the order of time
    INDEX = "index"


class Place(NamedTuple):
    """Where a memory stands in the order of time."""

    created_at: int
    id: str


@dataclass(frozen=True, slots=True)
class _Through:
    """What is looked through: with a shape, what the predicate lets its requester manage; without,
    a space. `of_owner`: one owner's of it."""

    shape: RequestShape | None
    has_owner: bool
    names: tuple[str, ...]  # of the filters
    dialect: Dialect
    prefix_count: int  # how many beginnings of words are asked for
    is_about_rare: bool  # few memories are about the one it names

    @property
    def condition(self) -> ColumnElement[bool]:
        if self.shape is None:
            # As the index of a whole space spells it.
            lead = and_(_IN_SPACE, _M.is_turn.is_(False), _M.version > literal_column("0"))
        else:
            (branch,) = build_branches(self.shape, ROWS)
            lead = branch.condition
        mine = [_M.owner == bindparam("b_owner")] if self.has_owner else []
        return and_(lead, *mine, *map(self._term, self.names))

    def _term(self, name: str) -> ColumnElement[bool]:
        """Few are looked up once for all; of many, each that is walked past is asked."""
        found = term(name)
        return found.is_(True) if name == "about" and self.is_about_rare else found


class _Part(NamedTuple):
    """One owner's part of it, with the parameters of its statements."""

    connection: Connection
    through: _Through
    params: dict[str, Any]


class Owned(NamedTuple):
    """That there is a memory, and whose it is."""

    id: str
    owner: str | None


class _Met(NamedTuple):
    """What the newest memories come to."""

    places: list[Place]
    is_complete: bool  # there are no others
    is_frequent: bool  # of those that were asked


def own_page(
    connection: Connection,
    audiences: Audiences,
    dialect: Dialect,
    request: Request,
    wanted: Filter,
    limit: int,
) -> list[Found]:
    """The requester's own, who manages them."""
    parts = _own(connection, dialect, request, wanted)
    ids = _newest(parts, limit)
    if not ids:
        return []
    params = {**parts[0].params, "ids": ids}
    found = fetch(connection, audiences, request, _some(parts[0].through.shape), params)
    return sorted(found, key=lambda one: _place(one[0]), reverse=True)


def own_count(connection: Connection, dialect: Dialect, request: Request, wanted: Filter) -> int:
    return _counted(_own(connection, dialect, request, wanted))


def page(w: Writing, wanted: Filter, owners: Iterable[str] | None, limit: int) -> list[Memory]:
    """Of everybody's memories, or of some owners'. For an operator, in a transaction that notes
    whose they were."""
    ids = _newest(_space(w, wanted, owners), limit)
    if not ids:
        return []
    rows = rendered.rows(w.connection, _SOME, {"p_space": w.space, "ids": ids})
    heard = w.audiences.get_people(w.connection, w.space, [row[_HEARD] for row in rows])
    found = [lapsed(to_memory(row, heard[row[_HEARD]]), w.at) for row in rows]
    return sorted(found, key=_place, reverse=True)


def count(w: Writing, wanted: Filter, owners: Iterable[str] | None) -> int:
    return _counted(_space(w, wanted, owners))


def owned(w: Writing, wanted: Filter, owners: Iterable[str] | None) -> list[Owned]:
    """As many as are counted, where an operator counts what somebody may have."""
    ids = _newest(_space(w, wanted, owners), limits.BROWSE_COUNT_MAX_COUNT)
    if not ids:
        return []
    found = rendered.rows(w.connection, _OWNED, {"p_space": w.space, "ids": ids})
    return list(map(Owned._make, found))


def wordings(w: Writing, memory: Memory) -> dict[int, str]:
    """Of every version; for an operator too."""
    rows = w.connection.execute(VERSIONS, {"space": memory.space, "id": memory.id})
    return {row.version: row.content for row in rows}


def _own(connection: Connection, dialect: Dialect, request: Request, wanted: Filter) -> list[_Part]:
    shape = shape_of_request(request)
    if shape is None:
        return []
    params = predicate_parameters(request)
    through = _through(connection, dialect, shape, True, wanted, params)
    return _parts(connection, through, wanted, params, sorted(request.own_identities))


def _space(w: Writing, wanted: Filter, owners: Iterable[str] | None) -> list[_Part]:
    params = {"p_space": w.space, "p_at": to_micros(w.at)}
    through = _through(w.connection, w.dialect, None, owners is not None, wanted, params)
    return _parts(
        w.connection, through, wanted, params, [None] if owners is None else sorted(owners)
    )


def _through(
    connection: Connection,
    dialect: Dialect,
    shape: RequestShape | None,
    of_owner: bool,
    wanted: Filter,
    params: Mapping[str, Any],
) -> _Through:
    rarely = wanted.about is not None and _few(connection, _ABOUT, {**params, **wanted.params})
    return _Through(shape, of_owner, wanted.names, dialect, len(wanted.prefixes), rarely)


def _few(connection: Connection, counting: Select[Any], params: Mapping[str, Any]) -> bool:
    few = limits.BROWSE_LOOKUP_MAX_COUNT
    ((found,),) = rendered.rows(connection, counting, {**params, "p_limit": few + 1})
    return bool(found <= few)


def _parts(
    connection: Connection,
    through: _Through,
    wanted: Filter,
    params: Mapping[str, Any],
    owners: Iterable[str | None],
) -> list[_Part]:
    if wanted.prefixes:
        words.require(connection, through.dialect)
    found = []
    for owner in owners:
        asked = {**params, **wanted.params, "b_owner": owner}
        if wanted.prefixes:
            token = None if owner is None else spelling.of_owner(params["p_space"], owner)
            asked |= through.dialect.prefix_match_params(wanted.prefixes, token)
        found.append(_Part(connection, through, asked))
    return found


def _newest(parts: Iterable[_Part], limit: int) -> list[str]:
    places = [place for part in parts for place in _places(part, limit)]
    return [place.id for place in sorted(places, reverse=True)[:limit]]


def _places(part: _Part, limit: int) -> list[Place]:
    if not part.through.prefix_count:
        return _walked(part, None, limit)
    met = _met(part)
    if met.is_complete or len(met.places) >= limit:
        return met.places[:limit]
    few = _few(part.connection, _begun_count(part.through.dialect), part.params)
    return _walked(part, By.INDEX if few else By.ROW, limit)


def _counted(parts: Iterable[_Part]) -> int:
    most, found = limits.BROWSE_COUNT_MAX_COUNT, 0
    for part in parts:
        by = None
        if part.through.prefix_count:
            met = _met(part)
            if met.is_complete:
                found += len(met.places)
                continue
            by = By.ROW if met.is_frequent else By.INDEX
        params = {**part.params, "p_limit": most}
        ((number,),) = rendered.rows(part.connection, _count(part.through, by), params)
        found += number
    return min(found, most)


def _met(part: _Part) -> _Met:
    first = limits.BROWSE_FIRST_COUNT
    params = {**part.params, "p_limit": first}
    rows = rendered.rows(part.connection, _asked(part.through), params)
    meant = [Place(at, id) for at, id, says in rows if says]
    return _Met(meant, is_complete=len(rows) < first, is_frequent=2 * len(meant) >= first)


def _walked(part: _Part, by: By | None, limit: int) -> list[Place]:
    params = {**part.params, "p_limit": limit, "p_few": limits.BROWSE_LOOKUP_MAX_COUNT}
    return list(map(Place._make, rendered.rows(part.connection, _walk(part.through, by), params)))


def _place(memory: Memory) -> Place:
    return Place(to_micros(memory.created_at), memory.id)


@lru_cache(maxsize=512)
def _walk(through: _Through, by: By | None) -> Select[Any]:
    if by is By.INDEX:
        return _looked_up(through)
    found = select(_M.created_at, _M.id).where(through.condition)
    if by is By.ROW:
        found = found.where(through.dialect.prefix_match_condition(through.prefix_count))
    return _in_order(found)


def _looked_up(through: _Through) -> Select[Any]:
    """Each of the few by its id, whatever else a planner thinks of: that is what the inner limit
    is for, which they are below."""
    begun = _begun(through.dialect)
    memory = select(_M.created_at).where(_IN_SPACE, _M.id == begun.c.id, through.condition)
    at = memory.correlate(begun).scalar_subquery().label("created_at")
    few = select(at, begun.c.id).limit(bindparam("p_few")).subquery("few")
    found = select(few.c.created_at, few.c.id).where(few.c.created_at.is_not(None))
    newest = (few.c.created_at.desc(), few.c.id.desc())
    return found.order_by(*newest).limit(bindparam("p_limit"))


@lru_cache(maxsize=512)
def _asked(through: _Through) -> Select[Any]:
    """The newest, and of each whether it is meant."""
    says = through.dialect.prefix_match_condition(through.prefix_count)
    return _in_order(select(_M.created_at, _M.id, says).where(through.condition))


@lru_cache(maxsize=512)
def _count(through: _Through, by: By | None) -> Select[Any]:
    """No further than is counted: by the index, from the words to their memories."""
    if by is not By.INDEX:
        return _counting(_walk(through, by).limit(None))
    begun = _begun(through.dialect)
    memory = select(_M.id).where(_IN_SPACE, _M.id == begun.c.id, _hidden(through.condition))
    return _counting(select(begun.c.id).where(memory.correlate(begun).exists()))


@lru_cache(maxsize=8)
def _begun_count(dialect: Dialect) -> Select[Any]:
    return _counting(select(_begun(dialect).c.id))


def _begun(dialect: Dialect) -> Subquery:
    return dialect.prefix_match_ids().columns(column("id", Text)).subquery("begun")


@lru_cache(maxsize=32)
def _some(shape: RequestShape) -> Select[Any]:
    """By their ids."""
    (branch,) = build_branches(shape, ROWS)
    return _SOME.where(_hidden(branch.condition))


def _hidden(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """The same, but no index is thought to lead there: for an owner who has many memories, each of
    theirs is a longer way than by ids, and planners go by averages."""
    yes: ColumnElement[int] = literal_column("1")
    no: ColumnElement[int] = literal_column("0")
    return case((condition, yes), else_=no) == yes


def _in_order(found: Select[Any]) -> Select[Any]:
    return found.order_by(_M.created_at.desc(), _M.id.desc()).limit(bindparam("p_limit"))
