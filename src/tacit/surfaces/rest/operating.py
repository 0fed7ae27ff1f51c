"""A space as a whole, for its operator: links, what happened, what comes round. Counts and
identities alone, and never what anybody said."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import limits
from tacit.memory import Link
from tacit.records.accounts import Scope
from tacit.records.results import EventCounts, JobStatus, Page, Stats
from tacit.surfaces.rest import named
from tacit.surfaces.rest.answers import answer
from tacit.surfaces.rest.asking import Asked, Asking
from tacit.surfaces.rest.paging import paged
from tacit.surfaces.rest.parameters import Paged
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import (
    Account,
    ExternalKey,
    Flag,
    Given,
    Identity,
    Moment,
    NodeOrNone,
    OpOrNone,
    one_of,
)
from tacit.surfaces.wire import taking

routes = Routes("operating")
Key = Annotated[str, WithJsonSchema(named.OUTSIDE)]
Task = Annotated[str, WithJsonSchema(one_of(limits.JOBS_EVERY_HOURS))]


class LinksQuery(Paged):
    identity: Identity


class LinkRequest(Given):
    external_key: ExternalKey
    account: Account
    verified: Flag = True


class VerifyRequest(Given):
    external_key: ExternalKey


class EventsQuery(Paged):
    node: NodeOrNone = None
    op: OpOrNone = None
    since: Moment = None


@routes.get("/api/links", scope=Scope.ADMIN, gives=Page[Link])
def list_links(asked: Asking, query: Annotated[LinksQuery, Query()]) -> Response:
    """Every link that an identity has had, oldest first."""
    found = asked.memory.links(query.identity)
    return answer(paged(found, lambda one: one.id, query.limit, query.cursor))


@routes.post("/api/links", scope=Scope.ADMIN, gives=Link, status=201, problems=(409,))
def add_link(asked: Asking, body: LinkRequest) -> Response:
    """Say whose account an external key belongs to. Unverified, it changes nothing yet."""
    return answer(asked.memory.link(**body.sent_fields(), actor=_actor(asked)), 201)


@routes.post("/api/verify-link", scope=Scope.ADMIN, gives=Link, problems=(404,))
def verify_link(asked: Asking, body: VerifyRequest) -> Response:
    """From now on, the key and its account are one person."""
    return answer(asked.memory.verify_link(body.external_key))


@routes.delete("/api/links/{external_key:rest}", scope=Scope.ADMIN, gives=Link, problems=(404,))
def end_link(asked: Asking, external_key: Key) -> Response:
    """The key and its account are two people again. Tells of the link as it was."""
    return answer(asked.memory.unlink(external_key))


@routes.get("/api/events", scope=Scope.ADMIN, gives=Page[EventCounts])
def list_events(asked: Asking, query: Annotated[EventsQuery, Query()]) -> Response:
    """How often what happened in this space, by day, newest first."""
    sent: dict[str, Any] = taking.moments(query.sent_fields(), "since")
    return answer(asked.memory.events(**sent))


@routes.get("/api/jobs", scope=Scope.ADMIN, gives=Page[JobStatus])
def list_jobs(asked: Asking, query: Annotated[Paged, Query()]) -> Response:
    """The tasks of this space: when each is due, how far it is, and how it went last."""
    found = asked.memory.jobs()
    return answer(paged(found, lambda one: one.task, query.limit, query.cursor))


@routes.post("/api/jobs/{task}/run", scope=Scope.ADMIN, gives=JobStatus, problems=(409, 502))
def run_job(asked: Asking, task: Task) -> Response:
    """Run a task now and to its end, whenever it is due. Somebody else at it is a conflict."""
    return answer(asked.memory.run_job(task))


@routes.get("/api/spaces/stats", scope=Scope.ADMIN, gives=Stats)
def show_space_stats(asked: Asking) -> Response:
    """Counts of the whole space."""
    return answer(asked.memory.stats())


def _actor(asked: Asked) -> str:
    """Who stands in the books for it: the key, by what it is called here for good."""
    key = asked.admitted.key
    return "system" if key is None else f"key:{key.id}"
