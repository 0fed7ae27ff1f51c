"""Looking through the caller's own memories, and which operators did."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import AccessLogEntry, Page, limits
from tacit.records.accounts import Scope
from tacit.records.memory import Memory
from tacit.surfaces.rest.answers import answer, plain
from tacit.surfaces.rest.asking import Asking
from tacit.surfaces.rest.items import Count
from tacit.surfaces.rest.parameters import Paged
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.searching import SearchOrNone, search_of
from tacit.surfaces.rest.shapes import Given, or_null, whole

routes = Routes("browsing")


class CountBody(Given):
    search: SearchOrNone = None


class BrowseBody(CountBody):
    limit: Annotated[Any, WithJsonSchema(whole(1, limits.PAGE_MAX_COUNT))] = (
        limits.PAGE_DEFAULT_COUNT
    )
    cursor: Annotated[Any, WithJsonSchema(or_null({"type": "string"}))] = None


@routes.post("/api/browse", scope=Scope.READ, gives=Page[Memory])
def browse(asked: Asking, body: BrowseBody) -> Response:
    """The caller's own memories, newest first, as far as the search goes. In a private chat;
    elsewhere nothing."""
    return answer(asked.view.browse(search_of(body.search), **body.sent_fields("search")))


@routes.post("/api/browse/count", scope=Scope.READ, gives=Count)
def count_browsed(asked: Asking, body: CountBody) -> Response:
    """How many these are; from a thousand on, a thousand."""
    return plain({"count": asked.view.browse_count(search_of(body.search))})


@routes.get("/api/looks", scope=Scope.READ, gives=Page[AccessLogEntry])
def list_looks(asked: Asking, query: Annotated[Paged, Query()]) -> Response:
    """Which operator looked at memories of the caller's, newest first. In a private chat; elsewhere
    nothing."""
    return answer(asked.view.looks(**query.sent_fields()))
