"""The caller's own memories as a picture, and what happened to them lately."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import ActivityEntry, DayCounts, Graph, Page, limits
from tacit.records.accounts import Scope
from tacit.surfaces.rest.answers import answer
from tacit.surfaces.rest.asking import Asking
from tacit.surfaces.rest.parameters import WHOLE, Paged
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import Given, Moment, whole
from tacit.surfaces.wire.taking import moments

routes = Routes("activity")


class GraphQuery(Given):
    limit: Annotated[Any, WHOLE, WithJsonSchema(whole(1, limits.GRAPH_NODES_MAX_COUNT))] = (
        limits.GRAPH_NODES_MAX_COUNT
    )


class ActivityQuery(Paged):
    since: Moment = None


class DaysQuery(Given):
    days: Annotated[Any, WHOLE, WithJsonSchema(whole(1, limits.ACTIVITY_MAX_DAYS))] = (
        limits.ACTIVITY_DEFAULT_DAYS
    )


@routes.get("/api/graph", scope=Scope.READ, gives=Graph)
def show_graph(asked: Asking, query: Annotated[GraphQuery, Query()]) -> Response:
    """The caller's own active memories, the people whom they are about, and what belongs together.
    In a private chat; elsewhere nothing."""
    return answer(asked.view.graph(**query.sent_fields()))


@routes.get("/api/activity", scope=Scope.READ, gives=Page[ActivityEntry])
def list_activity(asked: Asking, query: Annotated[ActivityQuery, Query()]) -> Response:
    """What happened to the caller's own memories, newest first. In a private chat; elsewhere
    nothing."""
    return answer(asked.view.activity(**moments(query.sent_fields(), "since")))


@routes.get("/api/activity/days", scope=Scope.READ, gives=list[DayCounts])
def list_activity_days(asked: Asking, query: Annotated[DaysQuery, Query()]) -> Response:
    """How often what happened to them on each of the last days, in UTC, today last."""
    return answer(asked.view.activity_days(**query.sent_fields()))
