"""What happened to memories, newest first and by day: a person's own, or a whole space's. An index
leads to the newest, so that a page costs by the page and not by what is remembered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    func,
    literal_column,
    select,
    tuple_,
    union_all,
)

from tacit.clock import from_micros
from tacit.policy.predicate import (
    RequestShape,
    build_branches,
    predicate_parameters,
    shape_of_request,
)
from tacit.records.memory import HistoryEvent
from tacit.records.request import Request
from tacit.records.results import COUNT_NAMES, ActivityEntry
from tacit.store import rendered
from tacit.store.tables import ROWS, history, memories, memory_versions

DAY_MICROS = 86_400_000_000
Bounds = tuple[bool, bool, bool]  # of a stretch: since, after, categories
_H = history.c
_M = memories.c
_V = memory_versions.c
_ANYBODYS: ColumnElement[bool] = _H.event != literal_column("''")  # as ix_history_at has it
# What an entry says of itself, by what tells most.
_REASONS = ("why", "aged", "fields", "relation")


class Place(NamedTuple):
    """Of one entry among all of them."""

    at: int
    memory_id: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Which of what happened. None means: not bounded by this."""

    since: int | None = None
    after: Place | None = None  # the last one that was shown: what follows is older
    categories: tuple[str, ...] | None = None

    @property
    def params(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.since is not None:
            found["h_since"] = self.since
        if self.after is not None:
            found["h_at"], found["h_memory"], found["h_seq"] = self.after
        if self.categories is not None:
            found["h_categories"] = list(self.categories)
        return found

    @property
    def bounds(self) -> Bounds:
        return self.since is not None, self.after is not None, self.categories is not None


Entry = tuple[Place, ActivityEntry]


def of_owner(connection: Connection, request: Request, wanted: Stretch, most: int) -> list[Entry]:
    """Of the requester's own memories, in any state; elsewhere than in private, of none."""
    asked = request.for_management()
    shape = shape_of_request(asked)
    if shape is None:
        return []
    mine = sorted(asked.own_identities)
    owners = {f"h_owner{n}": one for n, one in enumerate(mine)}
    params = predicate_parameters(asked) | wanted.params | owners | {"h_most": most}
    return _entries(connection, _of_owner(shape, len(mine), wanted.bounds), params)


def of_space(connection: Connection, space: str, wanted: Stretch, most: int) -> list[Entry]:
    """Of everybody's: for an operator."""
    params = {"p_space": space, "h_most": most} | wanted.params
    return _entries(connection, _of_space(wanted.bounds), params)


def days_of_owner(
    connection: Connection, request: Request, since: int, categories: tuple[str, ...] | None
) -> dict[int, dict[str, int]]:
    """By the first microsecond of a day, how often what happened to the requester's own."""
    asked = request.for_management()
    shape = shape_of_request(asked)
    if shape is None:
        return {}
    wanted = Stretch(since=since, categories=categories)
    statement = _days(shape, wanted.bounds)
    return _counted(connection, statement, predicate_parameters(asked) | wanted.params)


def days_of_space(connection: Connection, space: str, since: int) -> dict[int, dict[str, int]]:
    wanted = Stretch(since=since)
    return _counted(connection, _days(None, wanted.bounds), {"p_space": space} | wanted.params)


@lru_cache(maxsize=64)
def _of_owner(shape: RequestShape, count: int, bounds: Bounds) -> Select[Any]:
    """A part for each identity: the index of each is in order, that of several together is not."""
    own = build_branches(shape, ROWS)[0].condition
    parts = []
    for n in range(count):
        owner = _H.owner == bindparam(f"h_owner{n}")
        parts.append(_newest(bounds, owner, _of_memory(own, bounds)))
    return _told(parts)


@lru_cache(maxsize=8)
def _of_space(bounds: Bounds) -> Select[Any]:
    return _told([_newest(bounds, _ANYBODYS)])


def _newest(bounds: Bounds, *which: ColumnElement[bool]) -> Select[Any]:
    since, after, _ = bounds
    found = select(history).where(_H.space_id == bindparam("p_space"), *which)
    if since:
        found = found.where(_H.at >= bindparam("h_since"))
    if after:
        place = tuple_(bindparam("h_at"), bindparam("h_memory"), bindparam("h_seq"))
        found = found.where(tuple_(_H.at, _H.memory_id, _H.seq) < place)
    found = found.order_by(_H.at.desc(), _H.memory_id.desc(), _H.seq.desc())
    return select(found.limit(bindparam("h_most")).subquery())


def _of_memory(own: ColumnElement[bool], bounds: Bounds) -> ColumnElement[bool]:
    """Asked of each entry, by a value and not by EXISTS: of that, a planner that goes by averages
    makes a join that begins with all that somebody has."""
    terms = [_M.id == _H.memory_id, own]
    if bounds[2]:
        terms.append(_M.category.in_(bindparam("h_categories", expanding=True)))
    return select(_M.id).where(*terms).correlate(history).scalar_subquery().is_not(None)


def _told(parts: list[Select[Any]]) -> Select[Any]:
    chosen = (union_all(*parts) if len(parts) > 1 else parts[0]).subquery()
    c = chosen.c
    return (
        select(
            c.at, c.memory_id, c.seq, c.event, c.actor, c.detail, c.owner, _M.category, _V.content
        )
        .select_from(chosen)
        .join(memories, and_(_M.space_id == c.space_id, _M.id == c.memory_id))
        .outerjoin(
            memory_versions,
            and_(_V.space_id == c.space_id, _V.memory_id == c.memory_id, _V.version == c.version),
        )
        .order_by(c.at.desc(), c.memory_id.desc(), c.seq.desc())
        .limit(bindparam("h_most"))
    )


def _entries(connection: Connection, statement: Select[Any], params: dict[str, Any]) -> list[Entry]:
    found = []
    for at, id, seq, event, actor, detail, owner, category, content in rendered.rows(
        connection, statement, params
    ):
        told = json.loads(detail)
        happened = ActivityEntry(
            at=from_micros(at),
            event=HistoryEvent(event),
            memory_id=id,
            category=category,
            content=content,
            actor=actor,
            reason=next((told[name] for name in _REASONS if told.get(name)), None),
            owner=owner,
        )
        found.append((Place(at, id, seq), happened))
    return found


@lru_cache(maxsize=16)
def _days(shape: RequestShape | None, bounds: Bounds) -> Select[Any]:
    day = (_H.at - _H.at % literal_column(str(DAY_MICROS))).label("day")
    found = select(day, _H.event, func.count()).where(
        _H.space_id == bindparam("p_space"), _H.at >= bindparam("h_since")
    )
    if shape is None:
        found = found.where(_ANYBODYS)
    else:
        found = found.where(_H.owner.in_(bindparam("p_me", expanding=True)))
        if bounds[2]:
            found = found.where(_of_memory(build_branches(shape, ROWS)[0].condition, bounds))
    return found.group_by(day, _H.event)


def _counted(
    connection: Connection, statement: Select[Any], params: dict[str, Any]
) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for day, event, times in rendered.rows(connection, statement, params):
        found.setdefault(day, {})[COUNT_NAMES[HistoryEvent(event)]] = times
    return found
