"""How the server itself is: alive, ready, and its measures. Nobody is asked who they are, but for
the measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from tacit.errors import InvalidInput, StoreUnavailable
from tacit.memory import Memory
from tacit.records.accounts import Scope
from tacit.surfaces.rest.answers import answer
from tacit.surfaces.rest.asking import Asking
from tacit.surfaces.rest.refusals import Refused
from tacit.surfaces.rest.routes import Routes

METRICS = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    status: Literal["alive", "ready"]


class _Routes(Routes):
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


routes = _Routes("health")


async def live() -> Response:
    return answer(Health(status="alive"))


@routes.get("/health/ready", scope=None, gives=Health, problems=(503,))
def ready(request: Request) -> Response:
    """Whether to send requests here: the database answers, and the server is not about to stop."""
    state = request.app.state
    if state.draining:
        raise Refused("draining")
    memory: Memory = state.memory
    if not memory.answers():
        raise StoreUnavailable
    return answer(Health(status="ready"))


@routes.get(
    "/metrics",
    scope=Scope.ADMIN,
    or_local=True,
    gives=str,
    media=("text/plain",),
    problems=(404,),
)
def show_metrics(asked: Asking) -> Response:
    """The measures of this process as Prometheus reads them. For a key with the scope `admin`, or
    for the local person; there are none unless `metrics.exporter` is `prometheus`."""
    try:
        told = asked.memory.metrics()
    except InvalidInput as not_so:
        raise Refused("no-such-route", str(not_so)) from None
    return Response(told, headers={"Content-Type": METRICS})
