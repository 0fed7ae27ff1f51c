"""MCP over streamable HTTP, with the keys, headers and errors of the REST API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tacit.errors import TacitError
from tacit.server.authentication import parse_claims
from tacit.server.responses import HttpProblem, error_response
from tacit.server.routing import Authenticator
from tacit.tools.mcp import BoundView, ProfileName, create_mcp_server

MCP_PATHS = {ProfileName.STANDARD: "/mcp", ProfileName.REFERENCE: "/mcp/reference"}
_BOUND_VIEW_KEY = "tacit.bound"  # in the scope of an authenticated request


def mount_mcp(app: FastAPI) -> None:
    """Add the MCP endpoints to an app that has not started."""
    for profile, path in MCP_PATHS.items():
        endpoint = _McpEndpoint(app, profile)
        app.state.while_open.append(endpoint.open)
        # No GET: nothing is pushed, and a stream would only hold a connection.
        app.router.routes.append(Route(path, endpoint, methods=["POST"], include_in_schema=False))


class _McpEndpoint:
    def __init__(self, app: FastAPI, profile: ProfileName) -> None:
        self._authenticator: Authenticator = app.state.authenticator
        self._most: int = app.state.settings.server.body_max_bytes
        self._server = create_mcp_server(lambda request: request.scope[_BOUND_VIEW_KEY], profile)
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        # `HostMiddleware` has checked host and origin.
        manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, security_settings=None, max_request_body_size=self._most
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
            scope[_BOUND_VIEW_KEY] = await run_in_threadpool(self._bound, request)
        except TacitError as error:
            await error_response(error, request.state.request_id)(scope, receive, send)
            return
        if self._manager is None:
            refused = HttpProblem("draining", "the server is starting or stopping; try again")
            await error_response(refused, request.state.request_id)(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)

    def _bound(self, request: Request) -> BoundView:
        admitted = self._authenticator.authenticate(parse_claims(request.headers.items()), self._authenticator.limiter)
        return BoundView(view=admitted.view(), scopes=frozenset(map(str, admitted.scopes)))
