"""List, browse and count memories; keep the full-text index up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import lru_cache, partial
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
    false,
    func,
    insert,
    literal_column,
    select,
    table,
    tuple_,
    union,
)

from tacit import limits
from tacit.clock import to_micros
from tacit.policy.rules import (
    ROLE_MENTIONED,
    ROLE_SUBJECT,
    RequestShape,
    build_branches,
    predicate_parameters,
    shape_of_request,
    sql_literal,
)
from tacit.records.memory import Memory, Purpose, State
from tacit.records.request import Request
from tacit.records.results import Stats
from tacit.storage.dialect import Dialect, fts_document, fts_owner_token
from tacit.storage.engine import Database, fetch_rows
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import (
    AUDIENCE_INDEX,
    MEMORY_COLUMNS,
    SELECT_VERSIONS,
    AudienceCache,
    MemoryDecision,
    any_branch_condition,
    apply_expiry,
    fetch_permitted,
    fetch_visible,
    policy_branches,
    sees_all_condition,
    to_memory,
)
from tacit.storage.schema import POLICY_TABLES, memories_table, memory_people
from tacit.storage.spaces import acl_tokens_of_memory, acl_tokens_of_request

# The full-text index of SQLite is updated lazily: a write inserts a number for each document to
# index, and a search by words indexes them first. Such searches are rare: they happen only when
# more memories are permitted than the process caches.

_M = memories_table.c
_AT_ONCE_COUNT = 500
_NOBODY: frozenset[str] = frozenset()
FTS_ROWS = table("fts_rows", column("number"), column("space_id"), column("memory_id"))
FTS_INDEX = table("fts_index", column("rowid"), column("content"), column("acl_tokens"), column("owner_words"))
_CONTENT = table("fts_index_content", column("id"))
# Numbers only grow, and documents are indexed in their order: all up to this one are indexed.
LAST_INDEXED = select(func.coalesce(func.max(_CONTENT.c.id), 0)).scalar_subquery()
_SELECT_UNINDEXED = (
    select(FTS_ROWS.c.number, *MEMORY_COLUMNS)
    .select_from(FTS_ROWS.join(memories_table, (_M.space_id == FTS_ROWS.c.space_id) & (_M.id == FTS_ROWS.c.memory_id)))
    .where(FTS_ROWS.c.number > LAST_INDEXED)
    .order_by(FTS_ROWS.c.number)
    .limit(bindparam("most"))
)


class IndexStale(Exception):
    """Signal that documents are not indexed yet: call `update_fts_index` and search again."""


def require_fresh_index(connection: Connection, dialect: Dialect) -> None:
    if dialect.defers_fts_index and connection.execute(_SELECT_UNINDEXED, {"most": 1}).first() is not None:
        raise IndexStale


def update_fts_index(database: Database) -> int:
    """Index the remaining documents in batches, and return how many were indexed."""
    count = 0
    while done := database.write(_index_batch):
        count += done
    return count


def _index_batch(connection: Connection) -> int:
    found = connection.execute(_SELECT_UNINDEXED, {"most": _AT_ONCE_COUNT}).all()
    rows = []
    for number, *row in found:
        memory = to_memory(tuple(row), _NOBODY)
        through = acl_tokens_of_memory(memory, row[AUDIENCE_INDEX])
        said, own = map(" ".join, fts_document(memory))
        rows.append({"rowid": number, "content": said, "acl_tokens": through, "owner_words": own})
    if rows:
        connection.execute(insert(FTS_INDEX), rows)
    return len(found)


# Listings: newest first, filtered, in pages, with the predicate in each query.


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """Filter a listing. None means no restriction."""

    category: str | None = None
    categories: tuple[str, ...] | None = None  # any of these
    kind: str | None = None
    state: str | None = None  # only the owner in private sees states other than active
    key: str | None = None
    prefix: str | None = None  # of the key; % and _ are literal
    pinned: bool | None = None
    owners: tuple[str, ...] | None = None
    about: tuple[str, ...] | None = None  # identities of the subjects
    words: tuple[str, ...] | None = None
    chats: tuple[str, ...] | None = None  # ids of the chat it was learned in
    visibility: str | None = None
    sensitivity: str | None = None
    since: int | None = None  # created at or after
    until: int | None = None  # created before
    prefixes: tuple[str, ...] = ()  # of words, for `browse_own` and `browse_space`
    after: tuple[int, str] | None = None  # created_at and id of the last memory shown

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in FILTERS if getattr(self, name) is not None)

    @property
    def params(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in self.names if name != "after"}
        values: dict[str, Any] = {
            f"f_{name}": list(value) if isinstance(value, tuple) else value for name, value in given.items()
        }
        values["f_prefix_length"] = len(self.prefix or "")
        values["f_after"], values["f_after_id"] = self.after or (None, None)
        return values


def list_memories(
    connection: Connection, audiences: AudienceCache, dialect: Dialect, request: Request, wanted: ListFilter, limit: int
) -> list[MemoryDecision]:
    """List memories, newest first: read the newest of each branch and merge them."""
    params: dict[str, Any] = wanted.params
    if wanted.words:
        require_fresh_index(connection, dialect)
        behind = {
            branch.access_path: partial(acl_tokens_of_request, connection, request, branch.access_path)
            for branch in policy_branches(request)
        }
        params |= dialect.word_match_params(wanted.words, behind)
    which = (wanted.names, dialect, bool(wanted.words))
    return fetch_visible(connection, audiences, request, _select_page, *which, **params, p_limit=limit)


@lru_cache(maxsize=512)
def _select_page(shape: RequestShape, names: tuple[str, ...], dialect: Dialect, by_words: bool) -> Select[Any]:
    terms = [FILTERS[name](shape) for name in names]
    newest = (_M.created_at.desc(), _M.id.desc())
    parts = []
    for branch in build_branches(shape, POLICY_TABLES):
        part = select(_M.created_at, _M.id).where(branch.condition, *terms)
        if by_words:
            part = part.where(dialect.word_match_condition(branch.access_path))
        part = part.order_by(*newest).limit(bindparam("p_limit"))
        parts.append(select(part.subquery()))
    chosen = union(*parts).subquery() if len(parts) > 1 else parts[0].subquery()
    return (
        select(*MEMORY_COLUMNS)
        .where(_M.space_id == bindparam("p_space"), _M.id.in_(select(chosen.c.id)))
        .order_by(*newest)
        .limit(bindparam("p_limit"))
    )


def count_memories(connection: Connection, request: Request, wanted: ListFilter) -> int:
    """Count the memories on all pages."""
    rows = fetch_permitted(connection, request, _select_count, wanted.names, **wanted.params)
    return sum(count for (count,) in rows)


@lru_cache(maxsize=512)
def _select_count(shape: RequestShape, names: tuple[str, ...]) -> Select[Any]:
    terms = [FILTERS[name](shape) for name in names]
    parts = [select(_M.id).where(branch.condition, *terms) for branch in build_branches(shape, POLICY_TABLES)]
    chosen = union(*parts).subquery() if len(parts) > 1 else parts[0].subquery()
    return select(func.count()).select_from(chosen)


def current_state() -> ColumnElement[str]:
    """Return the state; a memory past its time is expired even before the sweep marks it."""
    lapsed = and_(_M.state == sql_literal(State.ACTIVE), _M.expires_at <= bindparam("p_at"))
    return case((lapsed, sql_literal(State.EXPIRED)), else_=_M.state)


def select_about() -> Select[Any]:
    p = memory_people.alias().c
    return select(p.memory_id).where(
        p.space_id == bindparam("p_space"),
        p.person.in_(bindparam("f_about", expanding=True)),
        p.role.in_([sql_literal(ROLE_SUBJECT), sql_literal(ROLE_MENTIONED)]),
    )


def _visible_pin(shape: RequestShape | None) -> ColumnElement[bool]:
    """Return the pin for the owner; other requesters see no pin (`redact_memory`)."""
    if shape is None or shape.purpose is Purpose.MANAGE:
        return _M.pinned
    # CASE, not AND: PostgreSQL would take `owner IS NULL` out of an AND and scan the space by it.
    return case((sees_all_condition(shape), _M.pinned), else_=false())


def _equals(name: str) -> ColumnElement[bool]:
    return _M[name] == bindparam(f"f_{name}")


def _is_any_of(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return column.in_(bindparam(f"f_{name}", expanding=True))


# The condition of each filter. Without the shape of a request, an operator asks, who sees every
# field.
FILTERS: dict[str, Callable[[RequestShape | None], ColumnElement[bool]]] = {
    "category": lambda _: _equals("category"),
    "categories": lambda _: _is_any_of(_M.category, "categories"),
    "kind": lambda _: _equals("kind"),
    "state": lambda _: current_state() == bindparam("f_state"),
    "key": lambda _: _equals("key"),
    # Not LIKE: % and _ would have to be escaped, and LIKE ignores case in SQLite.
    "prefix": lambda _: func.substr(_M.key, 1, bindparam("f_prefix_length")) == bindparam("f_prefix"),
    "pinned": lambda shape: _visible_pin(shape) == bindparam("f_pinned"),
    "owners": lambda _: _is_any_of(_M.owner, "owners"),
    "about": lambda _: _M.id.in_(select_about()),
    "chats": lambda _: _is_any_of(_M.learned_in, "chats"),
    "visibility": lambda _: _equals("visibility"),
    "sensitivity": lambda _: _equals("sensitivity"),
    "since": lambda _: _M.created_at >= bindparam("f_since"),
    "until": lambda _: _M.created_at < bindparam("f_until"),
    # A row value, not an OR: the index of the branch can then seek to the position.
    "after": lambda _: tuple_(_M.created_at, _M.id) < tuple_(bindparam("f_after"), bindparam("f_after_id")),
}


# Browse memories, newest first: a person their own, an operator those of a space.
#
# The memories of each identity are read separately, in the order of an index that covers every
# filter, and merged here. For typed words, the newest memories are first tested for a word with
# that prefix: frequent prefixes match soon. If that yields too few, the index counts the matches.
# Few matches are fetched by id and sorted; many are found by scanning further in time order.

_IN_SPACE = _M.space_id == bindparam("p_space")
_HAS_ID = and_(_IN_SPACE, _M.is_turn.is_(False), _M.id.in_(bindparam("ids", expanding=True)))
_SELECT_BY_ID = select(*MEMORY_COLUMNS).where(_HAS_ID)
_SELECT_OWNED = select(_M.id, _M.owner).where(_HAS_ID)


def _limited_count(found: Select[Any]) -> Select[Any]:
    return select(func.count()).select_from(found.limit(bindparam("p_limit")).subquery())


# The number of memories about a person, of all owners.
_COUNT_ABOUT = _limited_count(select_about())


class PrefixLookup(Enum):
    """Select how word prefixes are matched."""

    ROW = "row"  # test each memory, in time order
    INDEX = "index"


class TimePosition(NamedTuple):
    """Identify the position of a memory in time order."""

    created_at: int
    id: str


@dataclass(frozen=True, slots=True)
class _BrowseQuery:
    """Describe what is browsed.

    With a shape, the memories that the predicate lets the requester manage; without one, a space.
    With `has_owner`, only those of one owner.
    """

    shape: RequestShape | None
    has_owner: bool
    names: tuple[str, ...]  # names of the filters
    dialect: Dialect
    prefix_count: int  # number of word prefixes in the query
    is_about_rare: bool  # few memories are about the person in the filter

    @property
    def condition(self) -> ColumnElement[bool]:
        if self.shape is None:
            # As in the definition of the index on a whole space.
            lead = and_(_IN_SPACE, _M.is_turn.is_(False), _M.version > literal_column("0"))
        else:
            (branch,) = build_branches(self.shape, POLICY_TABLES)
            lead = branch.condition
        mine = [_M.owner == bindparam("b_owner")] if self.has_owner else []
        return and_(lead, *mine, *map(self._term, self.names))

    def _term(self, name: str) -> ColumnElement[bool]:
        """Build one filter. A rare `about` is looked up once, a frequent one per row."""
        found = FILTERS[name](None)
        return found.is_(True) if name == "about" and self.is_about_rare else found


class OwnedMemory(NamedTuple):
    """Name a memory and its owner."""

    id: str
    owner: str | None


class _FirstMatches(NamedTuple):
    """Hold the matches among the newest memories."""

    places: list[TimePosition]
    is_complete: bool  # no further memories exist
    is_frequent: bool  # at least half of the tested memories match


class _OwnerQuery(NamedTuple):
    """Hold the query of one owner with the parameters of its statements."""

    connection: Connection
    through: _BrowseQuery
    params: dict[str, Any]

    def fetch(self, statement: Select[Any], **further: int) -> Sequence[tuple[Any, ...]]:
        return fetch_rows(self.connection, statement, {**self.params, **further})

    def newest(self, limit: int) -> list[TimePosition]:
        by = None
        if self.through.prefix_count:
            met = self._read_first_matches()
            if met.is_complete or len(met.places) >= limit:
                return met.places[:limit]
            matches = _count_prefix_matches(self.through.dialect)
            few = _is_few(self.connection, matches, self.params)
            by = PrefixLookup.INDEX if few else PrefixLookup.ROW
        few_count = limits.BROWSE_LOOKUP_MAX_COUNT
        rows = self.fetch(_select_positions(self.through, by), p_limit=limit, p_few=few_count)
        return [TimePosition(*row) for row in rows]

    def count(self, most: int) -> int:
        by = None
        if self.through.prefix_count:
            met = self._read_first_matches()
            if met.is_complete:
                return len(met.places)
            by = PrefixLookup.ROW if met.is_frequent else PrefixLookup.INDEX
        ((count,),) = self.fetch(_select_match_count(self.through, by), p_limit=most)
        return int(count)

    def _read_first_matches(self) -> _FirstMatches:
        first = limits.BROWSE_FIRST_COUNT
        rows = self.fetch(_select_newest(self.through), p_limit=first)
        meant = [TimePosition(at, id) for at, id, says in rows if says]
        return _FirstMatches(meant, is_complete=len(rows) < first, is_frequent=2 * len(meant) >= first)


def browse_own(
    connection: Connection, audiences: AudienceCache, dialect: Dialect, request: Request, wanted: ListFilter, limit: int
) -> list[MemoryDecision]:
    """List the requester's own memories, which the requester manages."""
    parts = _own_queries(connection, dialect, request, wanted)
    ids = _newest_ids(parts, limit)
    if not ids:
        return []
    found = fetch_visible(connection, audiences, request, _select_by_ids, ids=ids)
    return sorted(found, key=lambda one: _position_of(one[0]), reverse=True)


def count_own(connection: Connection, dialect: Dialect, request: Request, wanted: ListFilter) -> int:
    return _count_matches(_own_queries(connection, dialect, request, wanted))


def browse_space(tx: Transaction, wanted: ListFilter, owners: Iterable[str] | None, limit: int) -> list[Memory]:
    """List memories of all owners, or of these, for an operator.

    The transaction of the caller records the owners in the access log.
    """
    ids = _newest_ids(_space_queries(tx, wanted, owners), limit)
    if not ids:
        return []
    rows = fetch_rows(tx.connection, _SELECT_BY_ID, {"p_space": tx.space, "ids": ids})
    found = tx.audiences.to_memories(tx.connection, tx.space, rows)
    return sorted((apply_expiry(one, tx.at) for one in found), key=_position_of, reverse=True)


def count_in_space(tx: Transaction, wanted: ListFilter, owners: Iterable[str] | None) -> int:
    return _count_matches(_space_queries(tx, wanted, owners))


def list_owned(tx: Transaction, wanted: ListFilter, owners: Iterable[str] | None) -> list[OwnedMemory]:
    """List matching memories with their owners, up to the count limit, for an operator's count."""
    ids = _newest_ids(_space_queries(tx, wanted, owners), limits.BROWSE_COUNT_MAX_COUNT)
    if not ids:
        return []
    found = fetch_rows(tx.connection, _SELECT_OWNED, {"p_space": tx.space, "ids": ids})
    return list(map(OwnedMemory._make, found))


def list_wordings(tx: Transaction, memory: Memory) -> dict[int, str]:
    """Return the content of every version, for an operator."""
    rows = tx.connection.execute(SELECT_VERSIONS, {"space": memory.space, "id": memory.id})
    return {row.version: row.content for row in rows}


def _own_queries(connection: Connection, dialect: Dialect, request: Request, wanted: ListFilter) -> list[_OwnerQuery]:
    shape = shape_of_request(request)
    if shape is None:
        return []
    params, owners = predicate_parameters(request), sorted(request.own_identities)
    return _split_by_owner(connection, dialect, shape, wanted, params, owners)


def _space_queries(tx: Transaction, wanted: ListFilter, owners: Iterable[str] | None) -> list[_OwnerQuery]:
    params = {"p_space": tx.space, "p_at": to_micros(tx.at)}
    some = None if owners is None else sorted(owners)
    return _split_by_owner(tx.connection, tx.dialect, None, wanted, params, some)


def _split_by_owner(
    connection: Connection,
    dialect: Dialect,
    shape: RequestShape | None,
    wanted: ListFilter,
    params: Mapping[str, Any],
    owners: Iterable[str] | None,
) -> list[_OwnerQuery]:
    asked = {**params, **wanted.params}
    rarely = wanted.about is not None and _is_few(connection, _COUNT_ABOUT, asked)
    through = _BrowseQuery(shape, owners is not None, wanted.names, dialect, len(wanted.prefixes), rarely)
    if wanted.prefixes:
        require_fresh_index(connection, dialect)
    found = []
    for owner in (None,) if owners is None else owners:
        of_owner = {**asked, "b_owner": owner}
        if wanted.prefixes:
            token = None if owner is None else fts_owner_token(params["p_space"], owner)
            of_owner |= dialect.prefix_match_params(wanted.prefixes, token)
        found.append(_OwnerQuery(connection, through, of_owner))
    return found


def _is_few(connection: Connection, counting: Select[Any], params: Mapping[str, Any]) -> bool:
    few = limits.BROWSE_LOOKUP_MAX_COUNT
    ((found,),) = fetch_rows(connection, counting, {**params, "p_limit": few + 1})
    return bool(found <= few)


def _newest_ids(parts: Iterable[_OwnerQuery], limit: int) -> list[str]:
    places = [place for part in parts for place in part.newest(limit)]
    return [place.id for place in sorted(places, reverse=True)[:limit]]


def _count_matches(parts: Iterable[_OwnerQuery]) -> int:
    most = limits.BROWSE_COUNT_MAX_COUNT
    return min(sum(part.count(most) for part in parts), most)


def _position_of(memory: Memory) -> TimePosition:
    return TimePosition(to_micros(memory.created_at), memory.id)


@lru_cache(maxsize=512)
def _select_positions(through: _BrowseQuery, by: PrefixLookup | None) -> Select[Any]:
    if by is PrefixLookup.INDEX:
        return _select_by_index(through)
    found = select(_M.created_at, _M.id).where(through.condition)
    if by is PrefixLookup.ROW:
        found = found.where(through.dialect.prefix_match_condition(through.prefix_count))
    return _newest_first(found)


def _select_by_index(through: _BrowseQuery) -> Select[Any]:
    """Select the few matches by id.

    The inner LIMIT, which they never reach, keeps the planner from choosing another plan.
    """
    begun = _select_prefix_matches(through.dialect)
    memory = select(_M.created_at).where(_IN_SPACE, _M.id == begun.c.id, through.condition)
    at = memory.correlate(begun).scalar_subquery().label("created_at")
    few = select(at, begun.c.id).limit(bindparam("p_few")).subquery("few")
    found = select(few.c.created_at, few.c.id).where(few.c.created_at.is_not(None))
    newest = (few.c.created_at.desc(), few.c.id.desc())
    return found.order_by(*newest).limit(bindparam("p_limit"))


@lru_cache(maxsize=512)
def _select_newest(through: _BrowseQuery) -> Select[Any]:
    """Select the newest memories, each with whether it matches."""
    says = through.dialect.prefix_match_condition(through.prefix_count)
    return _newest_first(select(_M.created_at, _M.id, says).where(through.condition))


@lru_cache(maxsize=512)
def _select_match_count(through: _BrowseQuery, by: PrefixLookup | None) -> Select[Any]:
    """Count matches up to the limit; by the index, from the words to their memories."""
    if by is not PrefixLookup.INDEX:
        return _limited_count(_select_positions(through, by).limit(None))
    begun = _select_prefix_matches(through.dialect)
    memory = select(_M.id).where(_IN_SPACE, _M.id == begun.c.id, _without_index(through.condition))
    return _limited_count(select(begun.c.id).where(memory.correlate(begun).exists()))


@lru_cache(maxsize=8)
def _count_prefix_matches(dialect: Dialect) -> Select[Any]:
    return _limited_count(select(_select_prefix_matches(dialect).c.id))


def _select_prefix_matches(dialect: Dialect) -> Subquery:
    return dialect.prefix_match_ids().columns(column("id", Text)).subquery("begun")


@lru_cache(maxsize=32)
def _select_by_ids(shape: RequestShape) -> Select[Any]:
    """Select memories by id."""
    (branch,) = build_branches(shape, POLICY_TABLES)
    return _SELECT_BY_ID.where(_without_index(branch.condition))


def _without_index(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Wrap a condition so that the planner uses no index for it.

    For an owner with many memories, the owner's index is slower than ids, but planners use
    averages.
    """
    yes: ColumnElement[int] = literal_column("1")
    no: ColumnElement[int] = literal_column("0")
    return case((condition, yes), else_=no) == yes


def _newest_first(found: Select[Any]) -> Select[Any]:
    return found.order_by(_M.created_at.desc(), _M.id.desc()).limit(bindparam("p_limit"))


# Counts: of one person's memories for that person, and of a space for its operator.


def read_owner_stats(connection: Connection, request: Request, categories: Sequence[str] | None = None) -> Stats:
    managing = request.for_management()
    shape = shape_of_request(managing)
    if shape is None:
        return Stats()
    which = any_branch_condition(shape)
    if categories is not None:
        which = and_(which, _M.category.in_(categories))
    return _read_stats(connection, which, predicate_parameters(managing))


def read_space_stats(connection: Connection, space: str, at: datetime) -> Stats:
    memories_only = and_(_M.space_id == space, _M.is_turn.is_(False))
    return _read_stats(connection, memories_only, {"p_at": to_micros(at)})


def _read_stats(connection: Connection, which: ColumnElement[bool], params: dict[str, Any]) -> Stats:
    def by(column: ColumnElement[str]) -> dict[str, int]:
        rows = connection.execute(select(column, func.count()).where(which).group_by(column).order_by(column), params)
        return {row[0]: row[1] for row in rows}

    states = by(current_state())
    return Stats(memories=sum(states.values()), by_state=states, by_kind=by(_M.kind), by_category=by(_M.category))
