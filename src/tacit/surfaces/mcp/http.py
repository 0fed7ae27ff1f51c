"""MCP over streamable HTTP, in the REST app: the same keys, the same headers, the same answers.

Stateless: each request stands for itself, so any process may answer it, and none has to be kept
waiting for. Nobody gets as far as the protocol who was not let in.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tacit.errors import TacitError
from tacit.surfaces.access import claims_of
from tacit.surfaces.mcp.profiles import Name
from tacit.surfaces.mcp.server import Bound, Run, server
from tacit.surfaces.rest.asking import Door
from tacit.surfaces.rest.refusals import Refused, told

T = TypeVar("T")
PATHS = {Name.STANDARD: "/mcp", Name.REFERENCE: "/mcp/reference"}
_BOUND = "tacit.bound"  # in the scope of a request that was let in


def mount(app: FastAPI) -> None:
    """Into the app of `surfaces.rest`, before it starts."""
    for profile, path in PATHS.items():
        endpoint = _Endpoint(app, profile)
        app.state.while_open.append(endpoint.open)
        # No GET: there is nothing to push, and a stream would only hold a connection.
        app.router.routes.append(Route(path, endpoint, methods=["POST"], include_in_schema=False))


class _Endpoint:
    def __init__(self, app: FastAPI, profile: Name) -> None:
        self._door: Door = app.state.door
        self._most: int = app.state.settings.server.body_max_bytes
        self._run = _on(app.state.pool)
        self._server = server(lambda request: request.scope[_BOUND], self._run, profile)
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        # Hosts and origins are looked at before anything is routed.
        manager = StreamableHTTPSessionManager(
            self._server,
            json_response=True,
            stateless=True,
            security_settings=None,
            max_request_body_size=self._most,
        )
        async with manager.run():
            self._manager = manager
            try:
                yield
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            scope[_BOUND] = await self._run(lambda: self._bound(request))
        except TacitError as error:
            await told(error, request.state.request_id)(scope, receive, send)
            return
        if self._manager is None:
            refused = Refused("draining", "the server is starting or stopping; try again")
            await told(refused, request.state.request_id)(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)

    def _bound(self, request: Request) -> Bound:
        admitted = self._door.authenticate(claims_of(request.headers.items()), self._door.limiter)
        return Bound(view=admitted.view(), scopes=frozenset(map(str, admitted.scopes)))


def _on(pool: Executor) -> Run:
    """The pool that the rest of the app works on, so that its size bounds all of it."""

    async def run(work: Callable[[], T], /) -> T:
        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        done: Any = await loop.run_in_executor(pool, context.run, work)
        return done  # type: ignore[no-any-return]

    return run
