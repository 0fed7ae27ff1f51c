"""Counts: of one person's memories for that person, and of a whole space for its operator."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, select

from tacit.clock import to_micros
from tacit.policy.predicate import build_predicate
from tacit.records.request import Request
from tacit.records.results import Stats
from tacit.store.listing import state_at
from tacit.store.tables import ROWS, memories

_M = memories.c


def of_owner(
    connection: Connection, request: Request, categories: Sequence[str] | None = None
) -> Stats:
    own = build_predicate(request.for_management(), ROWS)
    if not own.branches:
        return Stats()
    which = own.condition
    if categories is not None:
        which = and_(which, _M.category.in_(categories))
    return _stats(connection, which, dict(own.params))


def of_space(connection: Connection, space: str, at: datetime) -> Stats:
    memories_only = and_(_M.space_id == space, _M.is_turn.is_(False))
    return _stats(connection, memories_only, {"p_at": to_micros(at)})


def _stats(connection: Connection, which: ColumnElement[bool], params: dict[str, Any]) -> Stats:
    def by(column: ColumnElement[str]) -> dict[str, int]:
        rows = connection.execute(
            select(column, func.count()).where(which).group_by(column).order_by(column), params
        )
        return {row[0]: row[1] for row in rows}

    states = by(state_at())
    return Stats(
        memories=sum(states.values()),
        by_state=states,
        by_kind=by(_M.kind),
        by_category=by(_M.category),
    )
