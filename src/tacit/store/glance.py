"""One row and the identity revision it is judged by, in one statement on the driver itself.

The hottest reads are of a single memory, by its owner, in private. SQLAlchemy's connection costs
several times what such a read does, so here its statements are rendered once and run bare. What is
kept of the request is used only if the revision that comes back with the row is the one it was read
at; otherwise, and whenever anything else is not at hand, the answer is MISS and the caller reads
the usual way.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import Select, and_, bindparam, select, true

from tacit.errors import DisclosureBreach
from tacit.policy.predicate import RequestShape, predicate_parameters, shape_of_request
from tacit.policy.rules import decide
from tacit.records.request import Request
from tacit.store.audiences import Audiences
from tacit.store.engine import Database
from tacit.store.reads import Found, any_branch, own_key
from tacit.store.rendered import filled, lengths_of, render
from tacit.store.rows import COLUMNS, to_memory
from tacit.store.tables import memories, spaces

_M = memories.c
_HEARD = COLUMNS.index(_M.heard)


class Miss(Enum):
    MISS = "miss"


MISS = Miss.MISS


def glance(
    database: Database,
    audiences: Audiences,
    kept: tuple[int, Request],
    which: Literal["id", "key"],
    named: Mapping[str, str],
) -> Found | Miss | None:
    """The memory with this `id`, or the requester's value of this `category` and `key`."""
    rev, request = kept
    shape = shape_of_request(request)
    if shape is None or not shape.private:
        return MISS
    values = predicate_parameters(request)
    values.update(named)
    lengths = lengths_of(values)
    if not all(length for _, length in lengths):
        return MISS
    statement = _statement(shape, which)
    sql, order, constants = render(database.engine.dialect, statement, tuple(values), lengths)
    row = database.fetch_row(sql, filled(values, order, constants))
    if row is None or row[0] != rev:
        return MISS
    if row[1] is None:
        return None
    heard = audiences.get_cached(request.space, row[1 + _HEARD])
    if heard is None:
        return MISS
    memory = to_memory(row[1:], heard)
    decision = decide(request, memory)
    if not decision.allowed or memory.space != request.space:
        raise DisclosureBreach(f"a row came back that rule {decision.rule} forbids")
    return memory, decision


@lru_cache(maxsize=256)
def _statement(shape: RequestShape, which: Literal["id", "key"]) -> Select[Any]:
    pinned = own_key() if which == "key" else _M.id == bindparam("id")
    allowed = and_(true(), _M.space_id == spaces.c.space_id, pinned, any_branch(shape))
    return (
        select(spaces.c.identity_rev, *COLUMNS)
        .select_from(spaces.outerjoin(memories, allowed))
        .where(spaces.c.space_id == bindparam("p_space"))
    )
