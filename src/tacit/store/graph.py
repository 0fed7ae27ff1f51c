"""Which memories a picture shows first: pinned, important, newest; and what belongs together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    func,
    or_,
    select,
    union_all,
)

from tacit.policy.predicate import (
    RequestShape,
    build_branches,
    predicate_parameters,
    shape_of_request,
    sql_literal,
)
from tacit.records.memory import Memory, State
from tacit.records.request import Request
from tacit.store import candidates, rendered
from tacit.store.audiences import Audiences
from tacit.store.reads import fetch
from tacit.store.rows import COLUMNS
from tacit.store.tables import ROWS, memories

_M = memories.c
_FOREMOST = (_M.pinned.desc(), _M.importance.desc(), _M.created_at.desc(), _M.id.desc())
_STANDS: ColumnElement[bool] = and_(
    _M.state == sql_literal(State.ACTIVE),
    or_(_M.expires_at.is_(None), _M.expires_at > bindparam("p_at")),
)


def of_owner(
    connection: Connection,
    audiences: Audiences,
    request: Request,
    categories: tuple[str, ...] | None,
    most: int,
) -> tuple[list[Memory], int]:
    """The foremost of the requester's own active memories, and how many there are of these."""
    asked = request.for_management()
    shape = shape_of_request(asked)
    if shape is None:
        return [], 0
    mine = sorted(asked.own_identities)
    owners = {f"g_owner{n}": one for n, one in enumerate(mine)}
    params = predicate_parameters(asked) | owners | {"g_most": most}
    if categories is not None:
        params["g_categories"] = list(categories)
    statement = _of_owner(shape, len(mine), categories is not None)
    found = [memory for memory, _ in fetch(connection, audiences, asked, statement, params)]
    if len(found) < most:
        return found, len(found)
    ((count,),) = rendered.rows(connection, _count(shape, categories is not None), params)
    return found, count


@lru_cache(maxsize=32)
def _of_owner(shape: RequestShape, count: int, narrowed: bool) -> Select[Any]:
    """A part for each identity: the index of each is in order, that of several together is not."""
    parts = []
    for n in range(count):
        part = select(_M.id).where(_M.owner == bindparam(f"g_owner{n}"), *_terms(shape, narrowed))
        part = part.order_by(*_FOREMOST).limit(bindparam("g_most"))
        parts.append(select(part.subquery()))
    chosen = (union_all(*parts) if count > 1 else parts[0]).subquery()
    return (
        select(*COLUMNS)
        .where(_M.space_id == bindparam("p_space"), _M.id.in_(select(chosen.c.id)))
        .order_by(*_FOREMOST)
        .limit(bindparam("g_most"))
    )


@lru_cache(maxsize=8)
def _count(shape: RequestShape, narrowed: bool) -> Select[Any]:
    return select(func.count()).select_from(memories).where(*_terms(shape, narrowed))


def _terms(shape: RequestShape, narrowed: bool) -> list[ColumnElement[bool]]:
    terms = [build_branches(shape, ROWS)[0].condition, _STANDS]
    if narrowed:
        terms.append(_M.category.in_(bindparam("g_categories", expanding=True)))
    return terms


def relations(
    connection: Connection, space: str, ids: Sequence[str], most: int
) -> list[tuple[str, str, float]]:
    """Between these memories and no others, the strongest first; once for each two."""
    shown = set(ids)
    found: dict[tuple[str, str], float] = {}
    for one in candidates.edges(connection, space, ids):
        if one.from_id in shown and one.to_id in shown:
            ends = (min(one.from_id, one.to_id), max(one.from_id, one.to_id))
            found[ends] = max(one.strength, found.get(ends, 0.0))
    strongest = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [(source, target, strength) for (source, target), strength in strongest[:most]]
