"""Operate a space and the server: links, events, jobs, counts, health, metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from tacit import limits
from tacit.errors import InvalidInput, StoreUnavailable
from tacit.memory import Link, Memory
from tacit.records.accounts import Scope
from tacit.records.results import EventCounts, EventNode, EventOperation, JobStatus, Page, Stats
from tacit.server import schemas
from tacit.server.responses import HttpProblem, paginate, record_response
from tacit.server.routing import Context, RequestContext, Router

# A space as a whole, for its operator: counts and identities, and never content.

operator_router = Router("operating")
TaskName = Annotated[str, schemas.Described(enum=list(limits.JOBS_EVERY_HOURS))]


class LinksQuery(schemas.PageQuery):
    identity: schemas.IdentityKey


class LinkRequest(schemas.RequestModel):
    external_key: schemas.ExternalKey
    account: schemas.AccountKey
    verified: schemas.Flag = True


class VerifyRequest(schemas.RequestModel):
    external_key: schemas.ExternalKey


class EventsQuery(schemas.PageQuery):
    node: EventNode = schemas.not_sent()
    op: EventOperation = schemas.not_sent()
    since: schemas.Time = schemas.not_sent()


@operator_router.add("GET", "/api/links", scope=Scope.ADMIN, gives=Page[Link])
def list_links(context: Context, query: Annotated[LinksQuery, Query()]) -> Response:
    """List every link that an identity has had, oldest first."""
    found = context.memory.admin.links(query.identity)
    return record_response(paginate(found, lambda one: one.id, query.limit, query.cursor))


@operator_router.add("POST", "/api/links", scope=Scope.ADMIN, gives=Link, status=201, problems=(409,))
def add_link(context: Context, body: LinkRequest) -> Response:
    """Link an external key to an account. Unverified, the link changes nothing yet."""
    return record_response(context.memory.admin.link(**body.sent_fields(), actor=_name_actor(context)), 201)


@operator_router.add("POST", "/api/verify-link", scope=Scope.ADMIN, gives=Link, problems=(404,))
def verify_link(context: Context, body: VerifyRequest) -> Response:
    """Verify a link: from now on, the key and its account are one person."""
    return record_response(context.memory.admin.verify_link(body.external_key))


@operator_router.add("DELETE", "/api/links/{external_key:rest}", scope=Scope.ADMIN, gives=Link, problems=(404,))
def end_link(context: Context, external_key: schemas.ExternalKey) -> Response:
    """End a link: the key and its account are two people again. Returns the link as it was."""
    return record_response(context.memory.admin.unlink(external_key))


@operator_router.add("GET", "/api/events", scope=Scope.ADMIN, gives=Page[EventCounts])
def list_events(context: Context, query: Annotated[EventsQuery, Query()]) -> Response:
    """Count events of this space by day, newest first."""
    return record_response(context.memory.admin.events(**query.sent_fields()))


@operator_router.add("GET", "/api/jobs", scope=Scope.ADMIN, gives=Page[JobStatus])
def list_jobs(context: Context, query: Annotated[schemas.PageQuery, Query()]) -> Response:
    """List the jobs of this space: due time, progress and last result."""
    found = context.memory.jobs.list()
    return record_response(paginate(found, lambda one: one.task, query.limit, query.cursor))


@operator_router.add("POST", "/api/jobs/{task}/run", scope=Scope.ADMIN, gives=JobStatus, problems=(409, 502))
def run_job(context: Context, task: TaskName) -> Response:
    """Run a job now and to its end. A job that runs already is a conflict."""
    return record_response(context.memory.jobs.run(task))


@operator_router.add("GET", "/api/spaces/stats", scope=Scope.ADMIN, gives=Stats)
def show_space_stats(context: Context) -> Response:
    """Count the rows of the whole space."""
    return record_response(context.memory.admin.stats())


def _name_actor(context: RequestContext) -> str:
    """Return the actor to record: the key by its id."""
    key = context.caller.key
    return "system" if key is None else f"key:{key.id}"


# Health and metrics of the server. Only metrics need a key.

METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    status: Literal["alive", "ready"]


health_router = Router("health")


@health_router.add("GET", "/health/live", scope=None, gives=Health)
async def live() -> Response:  # on the event loop: it must not wait for a free thread
    """Check that the process answers."""
    return record_response(Health(status="alive"))


@health_router.add("GET", "/health/ready", scope=None, gives=Health, problems=(503,))
def ready(request: Request) -> Response:
    """Check that requests may be sent: the database answers, and the server is not stopping."""
    state = request.app.state
    if state.draining:
        raise HttpProblem("draining")
    memory: Memory = state.memory
    if not memory.admin.is_ready():
        raise StoreUnavailable
    return record_response(Health(status="ready"))


@health_router.add(
    "GET", "/metrics", scope=Scope.ADMIN, or_local=True, gives=str, media=("text/plain",), problems=(404,)
)
def show_metrics(context: Context) -> Response:
    """Show the metrics of this process for Prometheus. Needs a key with the scope `admin`, or the
    local person; 404 unless `metrics.exporter` is `prometheus`."""
    try:
        told = context.memory.admin.metrics()
    except InvalidInput as not_so:
        raise HttpProblem("no-such-route", str(not_so)) from None
    return Response(told, headers={"Content-Type": METRICS_MEDIA_TYPE})
