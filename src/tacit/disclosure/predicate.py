"""What may be heard, as a filter that a database applies before ranking and before LIMIT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import false, or_

from tacit.clock import to_micros
from tacit.disclosure.branches import branches
from tacit.disclosure.shape import Branch, Condition, Rows, shape_of
from tacit.model.request import Request


@dataclass(frozen=True)
class Predicate:
    branches: tuple[Branch, ...]
    params: Mapping[str, Any]

    @property
    def condition(self) -> Condition:
        """All branches at once: for a row that is already pinned down by its id or key."""
        return or_(false(), *(branch.condition for branch in self.branches))


def predicate(request: Request, rows: Rows) -> Predicate:
    shape = shape_of(request)
    if shape is None:
        return Predicate((), {})
    return Predicate(branches(shape, rows), parameters(request))


def parameters(request: Request) -> dict[str, Any]:
    audience = request.audience
    here = audience | {i for i, p in request.person_by_identity.items() if p in audience}
    return {
        "p_space": request.space,
        "p_at": to_micros(request.at),
        "p_me": sorted(request.own_identities),
        "p_here": sorted(here),
        "p_here_count": len(audience),
        "p_ever": sorted(request.audience_identities | audience),
        "p_rooms": sorted(request.chat_ids),
    }
