"""Serve /docs: a page that renders the OpenAPI document and loads nothing from other hosts."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

DOCS_PATH = "/docs"
_ASSETS = {
    DOCS_PATH: ("docs.html", "text/html"),
    f"{DOCS_PATH}/docs.js": ("docs.js", "text/javascript"),
    f"{DOCS_PATH}/docs.css": ("docs.css", "text/css"),
}
_CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {"Content-Security-Policy": _CONTENT_POLICY, "Referrer-Policy": "no-referrer"}


def mount_docs(app: FastAPI) -> None:
    for path in _ASSETS:
        app.router.routes.append(Route(path, _respond, methods=["GET"], include_in_schema=False))


async def _respond(request: Request) -> Response:
    name, media_type = _ASSETS[request.url.path]
    return Response(_read_asset(name), headers=_HEADERS, media_type=media_type)


@cache
def _read_asset(name: str) -> bytes:
    return (files("tacit.server") / "assets" / name).read_bytes()
