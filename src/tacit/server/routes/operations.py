"""Operate a space and the server: links, events, jobs, counts, health, metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query
from pydantic import WithJsonSchema
from starlette.requests import Request
from starlette.responses import Response

from tacit import limits, wire
from tacit.errors import InvalidInput, StoreUnavailable
from tacit.memory import Link, Memory
from tacit.records.accounts import Scope
from tacit.records.results import EventCounts, JobStatus, Page, Stats
from tacit.server import schemas
from tacit.server.responses import HttpProblem, paginate, record_response
from tacit.server.routing import Context, RequestContext, Router
from tacit.server.schemas import (
    AccountKey,
    ExternalKey,
    Flag,
    IdentityKey,
    NodeOrNone,
    OpOrNone,
    PageQuery,
    RequestModel,
    Time,
    enum_schema,
)

# A space as a whole, for its operator: links, what happened, what comes round. Counts and
# identities alone, and never what anybody said.

operator_router = Router("operating")
ExternalKeyInPath = Annotated[str, WithJsonSchema(schemas.EXTERNAL_KEY)]
TaskInPath = Annotated[str, WithJsonSchema(enum_schema(limits.JOBS_EVERY_HOURS))]


class LinksQuery(PageQuery):
    identity: IdentityKey


class LinkRequest(RequestModel):
    external_key: ExternalKey
    account: AccountKey
    verified: Flag = True


class VerifyRequest(RequestModel):
    external_key: ExternalKey


class EventsQuery(PageQuery):
    node: NodeOrNone = None
    op: OpOrNone = None
    since: Time = None


@operator_router.get("/api/links", scope=Scope.ADMIN, gives=Page[Link])
def list_links(asked: Context, query: Annotated[LinksQuery, Query()]) -> Response:
    """Every link that an identity has had, oldest first."""
    found = asked.memory.links(query.identity)
    return record_response(paginate(found, lambda one: one.id, query.limit, query.cursor))


@operator_router.post("/api/links", scope=Scope.ADMIN, gives=Link, status=201, problems=(409,))
def add_link(asked: Context, body: LinkRequest) -> Response:
    """Say whose account an external key belongs to. Unverified, it changes nothing yet."""
    return record_response(asked.memory.link(**body.sent_fields(), actor=_name_actor(asked)), 201)


@operator_router.post("/api/verify-link", scope=Scope.ADMIN, gives=Link, problems=(404,))
def verify_link(asked: Context, body: VerifyRequest) -> Response:
    """From now on, the key and its account are one person."""
    return record_response(asked.memory.verify_link(body.external_key))


@operator_router.delete(
    "/api/links/{external_key:rest}", scope=Scope.ADMIN, gives=Link, problems=(404,)
)
def end_link(asked: Context, external_key: ExternalKeyInPath) -> Response:
    """The key and its account are two people again. Tells of the link as it was."""
    return record_response(asked.memory.unlink(external_key))


@operator_router.get("/api/events", scope=Scope.ADMIN, gives=Page[EventCounts])
def list_events(asked: Context, query: Annotated[EventsQuery, Query()]) -> Response:
    """How often what happened in this space, by day, newest first."""
    sent: dict[str, Any] = wire.parse_times(query.sent_fields(), "since")
    return record_response(asked.memory.events(**sent))


@operator_router.get("/api/jobs", scope=Scope.ADMIN, gives=Page[JobStatus])
def list_jobs(asked: Context, query: Annotated[PageQuery, Query()]) -> Response:
    """The tasks of this space: when each is due, how far it is, and how it went last."""
    found = asked.memory.jobs()
    return record_response(paginate(found, lambda one: one.task, query.limit, query.cursor))


@operator_router.post(
    "/api/jobs/{task}/run", scope=Scope.ADMIN, gives=JobStatus, problems=(409, 502)
)
def run_job(asked: Context, task: TaskInPath) -> Response:
    """Run a task now and to its end, whenever it is due. Somebody else at it is a conflict."""
    return record_response(asked.memory.run_job(task))


@operator_router.get("/api/spaces/stats", scope=Scope.ADMIN, gives=Stats)
def show_space_stats(asked: Context) -> Response:
    """Counts of the whole space."""
    return record_response(asked.memory.stats())


def _name_actor(asked: RequestContext) -> str:
    """Who stands in the books for it: the key, by what it is called here for good."""
    key = asked.admitted.key
    return "system" if key is None else f"key:{key.id}"


# How the server itself is: alive, ready, and its measures. Nobody is asked who they are, but for
# the measures.

METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    status: Literal["alive", "ready"]


class _HealthRouter(Router):
    """One of them must not wait for a thread that is busy with somebody's question."""

    def register(self, app: FastAPI) -> None:
        app.router.add_api_route(
            "/health/live",
            live,
            methods=["GET"],
            response_model=Health,
            tags=[self.tag],
            operation_id=live.__name__,
            summary="Whether the process answers at all",
        )
        super().register(app)


health_router = _HealthRouter("health")


async def live() -> Response:
    return record_response(Health(status="alive"))


@health_router.get("/health/ready", scope=None, gives=Health, problems=(503,))
def ready(request: Request) -> Response:
    """Whether to send requests here: the database answers, and the server is not about to stop."""
    state = request.app.state
    if state.draining:
        raise HttpProblem("draining")
    memory: Memory = state.memory
    if not memory.answers():
        raise StoreUnavailable
    return record_response(Health(status="ready"))


@health_router.get(
    "/metrics",
    scope=Scope.ADMIN,
    or_local=True,
    gives=str,
    media=("text/plain",),
    problems=(404,),
)
def show_metrics(asked: Context) -> Response:
    """The measures of this process as Prometheus reads them. For a key with the scope `admin`, or
    for the local person; there are none unless `metrics.exporter` is `prometheus`."""
    try:
        told = asked.memory.metrics()
    except InvalidInput as not_so:
        raise HttpProblem("no-such-route", str(not_so)) from None
    return Response(told, headers={"Content-Type": METRICS_MEDIA_TYPE})
