"""Around the whole application: one log line and one span for each request, and how many are being
worked on."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from tacit.surfaces.serving.logs import Log

if TYPE_CHECKING:
    from starlette.applications import Starlette

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

NO_ROUTE = "none"  # nothing is there; a path that somebody made up is not repeated
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_TRACE_HEADERS = (b"traceparent", b"tracestate")
_REQUEST_ID = b"x-request-id"


class Span(Protocol):
    def ended(self, route: str, status: int | None) -> None: ...


class Spans(Protocol):
    def request(self, method: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]: ...


class Watched:
    def __init__(self, app: Starlette, log: Log, spans: Spans) -> None:
        self._app = app
        # These say nothing but themselves. Whoever is turned away early has no route yet.
        paths = (getattr(route, "path", "{}") for route in app.routes)
        self._fixed = frozenset(path for path in paths if "{" not in path)
        self._log = log
        self._spans = spans
        self.in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self.in_flight += 1
        try:
            await self._answer(scope, receive, send)
        finally:
            self.in_flight -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = time.perf_counter()
        method = scope["method"] if scope["method"] in _METHODS else "other"
        seen = _Seen(send)
        with self._spans.request(method, _trace_headers(scope)) as span:
            try:
                await self._app(scope, receive, seen)
            except Exception as error:
                self._log.failed("failed", error, request_id=seen.request_id)
                if seen.status is None:
                    raise  # whoever runs this says that something went wrong
            finally:
                route = self._route(scope)
                span.ended(route, seen.status)
                self._log.tell(
                    "request",
                    method=method,
                    route=route,
                    status=seen.status,  # None: whoever asked was gone before there was an answer
                    ms=round((time.perf_counter() - begun) * 1_000, 1),
                    request_id=seen.request_id,
                )

    def _route(self, scope: Scope) -> str:
        """The template, as in /api/memory/{id}: never the path, which holds ids and names."""
        path = getattr(scope.get("route"), "path", None)
        if isinstance(path, str) and path:
            return path
        return scope["path"] if scope["path"] in self._fixed else NO_ROUTE


class _Seen:
    """Lets an answer through, and remembers its status and request id."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None
        self.request_id: str | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            for name, value in message.get("headers", ()):
                if name.lower() == _REQUEST_ID:
                    self.request_id = value.decode("latin-1")
        await self._send(message)


def _trace_headers(scope: Scope) -> dict[str, str]:
    return {
        name.decode("latin-1"): value.decode("latin-1")
        for name, value in scope["headers"]
        if name in _TRACE_HEADERS
    }
