"""The console in the app of `surfaces.rest`: its routes, which the document of the API does not
tell of, and the page for whatever is not there."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tacit.errors import NotFound
from tacit.surfaces.console import assets
from tacit.surfaces.console.answering import Answer
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.pages.topics import TOPICS
from tacit.surfaces.console.routes import Declared, Who
from tacit.surfaces.console.site import Site

_OTHERS = ("/api/", "/mcp", "/health/", "/metrics", "/openapi.json", "/assets/")


def mount(app: FastAPI) -> None:
    """Before it starts."""
    site = Site(app.state.memory, app.state.settings, TOPICS)
    routes = app.router.routes
    for topic in TOPICS:
        for one in topic.routes:
            routes.append(
                Route(
                    one.path,
                    Answer(site, one).respond,
                    methods=[one.method],
                    include_in_schema=False,
                )
            )
    routes.append(Route(assets.PATH, site.assets.respond, methods=["GET"], include_in_schema=False))
    app.state.while_open.append(site.tasks.lifespan)
    app.state.lost = Answer(site, _LOST).respond


def looks_for_a_page(request: Request) -> bool:
    """Whether it is a person with a browser who found nothing there."""
    path = request.url.path
    return "text/html" in request.headers.get("accept", "") and not path.startswith(_OTHERS)


def _lost(_: Asked, **__: str) -> Response:
    """Also where there is a form of that address, and it is not sent but looked for."""
    raise NotFound("page")


_LOST = Declared(method="GET", path="", handler=_lost, who=Who.BOTH, nav=None, again=None)
