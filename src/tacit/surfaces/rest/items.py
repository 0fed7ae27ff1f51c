"""Values by category and key: get, put, list, forget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from tacit import Page, Remembered
from tacit.errors import NotFound
from tacit.records.accounts import Scope
from tacit.records.memory import Memory
from tacit.surfaces.rest.answers import answer, plain
from tacit.surfaces.rest.asking import Asking
from tacit.surfaces.rest.fields import MOMENTS, PutFields
from tacit.surfaces.rest.parameters import Counted, Filed, Filtered
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.wire.taking import moments

routes = Routes("items")
ALL = "/api/items/{category}"
ONE = "/api/items/{category}/{key:rest}"  # a key may hold slashes


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    count: int


@routes.get("/api/items", scope=Scope.READ, gives=Page[Memory])
def list_all(asked: Asking, query: Annotated[Filtered, Query()]) -> Response:
    """What may be said here, newest first. With `state`, the caller's own in that state, in a
    private chat."""
    return answer(asked.view.list(**query.sent_fields()))


@routes.get("/api/count", scope=Scope.READ, gives=Count)
def count(asked: Asking, query: Annotated[Counted, Query()]) -> Response:
    """How many there are to list."""
    return plain({"count": asked.view.count(**query.sent_fields())})


@routes.get(ALL, scope=Scope.READ, gives=Page[Memory])
def list_items(asked: Asking, category: str, query: Annotated[Filed, Query()]) -> Response:
    """What is filed under a category and may be said here, newest first."""
    return answer(asked.view.list(category, **query.sent_fields()))


@routes.delete(ALL, scope=Scope.WRITE, gives=Count, once=True)
def forget_category(asked: Asking, category: str) -> Response:
    """Forget everything of the caller's that is filed under a category."""
    return plain({"count": asked.write_view.forget_category(category)})


@routes.get(ONE, scope=Scope.READ, gives=Memory, problems=(404,))
def get_item(asked: Asking, category: str, key: str) -> Response:
    """The value of one of the caller's keys."""
    found = asked.view.get(category, key)
    if found is None:
        raise NotFound
    return answer(found)


@routes.put(ONE, scope=Scope.WRITE, gives=Remembered, once=True, problems=(404,))
def put_item(asked: Asking, category: str, key: str, body: PutFields) -> Response:
    """Set the one value of a key. What is not named, such as its visibility, stays as it was."""
    fields = moments(body.sent_fields("value"), *MOMENTS)
    return answer(asked.write_view.put(category, key, body.value, **fields))


@routes.delete(ONE, scope=Scope.WRITE, gives=Count, once=True)
def forget_item(asked: Asking, category: str, key: str) -> Response:
    """Forget the value of a key, under all of the caller's identities."""
    return plain({"count": asked.write_view.forget_key(category, key)})
