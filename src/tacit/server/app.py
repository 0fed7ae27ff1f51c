"""Build the ASGI application of one open memory: routes, MCP endpoints and console."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match

import tacit
from tacit.console.app import mount_console, wants_html_page
from tacit.memory import Memory
from tacit.server import openapi
from tacit.server.authentication import RateLimiter, local_person
from tacit.server.docs import mount_docs
from tacit.server.mcp import mount_mcp
from tacit.server.middleware import HostMiddleware, RequestIdMiddleware, SizeLimitMiddleware
from tacit.server.responses import HttpProblem, error_response, input_error
from tacit.server.routes import audience, files, learning, memories, operations, people, recall, transfer
from tacit.server.routing import Authenticator, Router
from tacit.settings import Settings

# In the order of the OpenAPI document.
ROUTERS: tuple[Router, ...] = (
    memories.memory_router,
    memories.memory_change_router,
    audience.audience_router,
    memories.remember_router,
    memories.item_router,
    transfer.export_router,
    transfer.import_router,
    recall.recall_router,
    learning.learning_router,
    people.people_router,
    memories.browse_router,
    memories.activity_router,
    people.account_router,
    files.checkpoint_router,
    files.file_router,
    audience.chat_router,
    operations.operator_router,
    operations.health_router,
)


def create_app(memory: Memory, settings: Settings, *, local: bool) -> FastAPI:
    """Return the app of an open memory, which it neither opens nor closes.

    `local`: a caller without a key is the one local person. Set `state.draining` to refuse new
    requests. `state.while_open` holds context managers to enter while the app runs.
    """
    made = FastAPI(
        title="Tacit",
        version=tacit.__version__,
        description=openapi.API_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        # FastAPI's own telemetry records paths and messages; `tacit.telemetry` does not.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        middleware=[
            Middleware(RequestIdMiddleware),
            Middleware(HostMiddleware, settings=settings),
            Middleware(SizeLimitMiddleware, settings=settings),
        ],
    )
    made.state.memory = memory
    made.state.settings = settings
    made.state.draining = False
    made.state.while_open = []
    made.state.lost = None  # the handler of unknown pages, where there is a console
    made.state.running_imports = 0
    made.state.authenticator = Authenticator(
        memory=memory,
        local=local_person(settings) if local else None,
        limiter=RateLimiter(settings.server.rate_per_minute),
    )
    made.add_exception_handler(HTTPException, _handle_http_exception)
    made.add_exception_handler(RequestValidationError, _handle_validation_error)
    for router in ROUTERS:
        made.router.routes.extend(router.routes)
    mount_docs(made)
    if settings.server.mcp:
        mount_mcp(made)
    if settings.console.enabled:
        mount_console(made)
    openapi.install_openapi(made, settings, local=local)
    return made


@asynccontextmanager
async def _lifespan(made: FastAPI) -> AsyncIterator[None]:
    # Endpoints, MCP and the console share the worker threads of AnyIO.
    current_default_thread_limiter().total_tokens = made.state.settings.server.threads
    async with AsyncExitStack() as stack:
        for held in made.state.while_open:
            await stack.enter_async_context(held())
        yield


async def _handle_validation_error(request: Request, error: Exception) -> Response:
    """Answer as the library does: what Pydantic says quotes the value."""
    assert isinstance(error, RequestValidationError)
    return error_response(input_error(error.errors()), request.state.request_id)


async def _handle_http_exception(request: Request, error: Exception) -> Response:
    """Answer an unknown path, a method that it does not have, or a body that cannot be read."""
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, Exception):  # FastAPI wraps what is raised while it reads a body
        if isinstance(error.__cause__, ClientDisconnect):
            raise error.__cause__
        return error_response(error.__cause__, request.state.request_id)
    lost: Callable[[Request], Awaitable[Response]] | None = request.app.state.lost
    if lost is not None and wants_html_page(request):
        return await lost(request)
    if error.status_code == 405:
        refused = HttpProblem("method-not-allowed", headers={"Allow": ", ".join(_allowed_methods(request))})
    else:
        refused = HttpProblem("no-such-route")
    return error_response(refused, request.state.request_id)


def _allowed_methods(request: Request) -> list[str]:
    """Return the methods of every route with this path: each route knows its own alone."""
    found: set[str] = set()
    for route in request.app.router.routes:
        match, _ = route.matches(request.scope)
        if match is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return sorted(found)
