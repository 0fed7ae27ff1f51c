"""One memory and what is done to it: its past, its reach, and its end."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import Erased, Remembered, limits
from tacit.records.accounts import Scope
from tacit.records.memory import HistoryEntry, Visibility
from tacit.surfaces.rest.answers import answer, nothing
from tacit.surfaces.rest.asking import Asking
from tacit.surfaces.rest.fields import MOMENTS, UpdateFields
from tacit.surfaces.rest.parameters import Flag
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import FLAG, Given, one_of, several, words
from tacit.surfaces.wire.taking import moments

routes = Routes("memory")
ONE = "/api/memory/{id}"


class PinBody(Given):
    on: Annotated[Any, WithJsonSchema(FLAG)] = True


class VisibilityBody(Given):
    visibility: Annotated[Any, WithJsonSchema(one_of(Visibility))]


class WithholdBody(Given):
    who: Annotated[
        Any,
        WithJsonSchema(
            several(words(limits.NAME_MAX_CHARS, 1), most=limits.PEOPLE_PER_MEMORY_MAX_COUNT)
        ),
    ]


class EraseQuery(Given):
    turns: Flag = False


@routes.post(f"{ONE}/update", scope=Scope.WRITE, gives=Remembered, once=True, problems=(404, 409))
def update(asked: Asking, id: str, body: UpdateFields) -> Response:
    """Change a memory in any of its fields. With `if_version`, only if it is still at that one."""
    return answer(asked.write_view.update(id, **moments(body.sent_fields(), *MOMENTS)))


@routes.put(f"{ONE}/pinned", scope=Scope.WRITE, status=204, once=True, problems=(404,))
def pin(asked: Asking, id: str, body: PinBody) -> Response:
    """Keep a memory in mind: it does not fade. Or let it fade again."""
    asked.write_view.pin(id, body.on)
    return nothing()


@routes.put(f"{ONE}/visibility", scope=Scope.WRITE, status=204, once=True, problems=(404,))
def set_visibility(asked: Asking, id: str, body: VisibilityBody) -> Response:
    """Say how far a memory may travel."""
    asked.write_view.set_visibility(id, body.visibility)
    return nothing()


@routes.post(f"{ONE}/withhold", scope=Scope.WRITE, status=204, once=True, problems=(404,))
def withhold_from(asked: Asking, id: str, body: WithholdBody) -> Response:
    """Name people whom a memory must never reach."""
    asked.write_view.withhold_from(id, body.who)
    return nothing()


@routes.get(f"{ONE}/history", scope=Scope.READ, gives=list[HistoryEntry], problems=(404,))
def history(asked: Asking, id: str) -> Response:
    """What happened to a memory, oldest first, in the wordings that the caller may hear."""
    return answer(asked.view.history(id))


@routes.post(f"{ONE}/restore", scope=Scope.WRITE, status=204, once=True, problems=(404, 409))
def restore(asked: Asking, id: str) -> Response:
    """Bring back what was forgotten."""
    asked.write_view.restore(id)
    return nothing()


@routes.post(f"{ONE}/erase", scope=Scope.ERASE, gives=Erased, once=True, problems=(404,))
def erase(asked: Asking, id: str, query: Annotated[EraseQuery, Query()]) -> Response:
    """Remove a memory for good; with `turns`, also what it was learned from."""
    return answer(asked.write_view.erase(id, turns=query.turns))
