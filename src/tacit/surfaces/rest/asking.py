"""Who asks, and for what: the way of one request from its headers to a view and back.

Threads of the pool do it: one turn for all of it, or two where a body is read in between.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import re
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from tacit.errors import Conflict, InvalidInput, NotFound, StoreBusy
from tacit.memory import DisabledView, Memory, View
from tacit.records.accounts import Scope
from tacit.records.request import Requester
from tacit.surfaces.access import Admitted, Claims, RateLimiter, admit, claims_of
from tacit.surfaces.rest import bodies
from tacit.surfaces.rest.refusals import told

ONCE = "idempotency-key"
_TOKEN = re.compile(r"[!-~]{1,255}")
SCOPE = "x-tacit-scope"
OR_LOCAL = "x-tacit-or-local"  # of a route: the local person needs no scope
READS = "x-tacit-reads"  # of a route: how its body is written
IMPORTS_MAX_COUNT = 2  # at a time: each is hundreds of writes
_NONE = ""  # an id that no memory has


class Asked:
    """One request, once it is known who asks."""

    __slots__ = ("_door", "_request", "admitted")

    def __init__(self, door: Door, request: Request, admitted: Admitted) -> None:
        self._door = door
        self._request = request
        self.admitted = admitted

    @property
    def view(self) -> View | DisabledView:
        """To read through."""
        return self.admitted.view()

    @property
    def write_view(self) -> View | DisabledView:
        """To write through: with an Idempotency-Key, at most once."""
        return self.with_idempotency(self.view)

    def with_idempotency(self, view: View | DisabledView) -> View | DisabledView:
        token = self.header(ONCE)
        if token is None:
            return view
        if not _TOKEN.fullmatch(token):
            raise InvalidInput("Idempotency-Key", "takes up to 255 letters, digits and marks")
        return view.once(token)

    @property
    def has_idempotency_key(self) -> bool:
        return ONCE in self.headers

    def is_replay(self) -> bool:
        """Whether something came of this Idempotency-Key: any other request under it is a conflict
        then; and without one, there is nothing to forget."""
        if not self.has_idempotency_key:
            return False
        try:
            self.write_view.forget(_NONE)
        except Conflict:
            return True
        except NotFound:
            pass
        return False

    @property
    def may_read(self) -> bool:
        """Whether what was written may be told back: to write is not to read."""
        return self.admitted.has_scope(Scope.READ)

    @property
    def memory(self) -> Memory:
        """The space of the key, for what is nobody's own."""
        return self.admitted.memory

    def with_claims(self, *, thread: str | None = None, agent: str | None = None) -> Asked:
        """The same request, with what its body or path says of itself too."""
        claims = claims_of(self._request.headers.items()).with_body(thread=thread, agent=agent)
        return Asked(self._door, self._request, self._door.authenticate(claims))

    @property
    def headers(self) -> Headers:
        return self._request.headers

    def header(self, name: str) -> str | None:
        """One that may be sent once at most."""
        sent = self.headers.getlist(name)
        if len(sent) > 1:
            raise InvalidInput(name.title(), "is sent more than once; send it once")
        return sent[0] if sent else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What letting somebody in takes; one for each app."""

    memory: Memory
    local: Requester | None  # who asks where there is no key; None: a key is needed
    limiter: RateLimiter

    def authenticate(self, claims: Claims, limiter: RateLimiter | None = None) -> Admitted:
        return admit(self.memory, claims, local=self.local, limiter=limiter)


def _never() -> Asked:
    raise AssertionError("a route of ours makes it itself")


# What the first parameter of every handler is annotated with.
Asking = Annotated[Asked, Depends(_never)]
# And what the lines of a body are, in a parameter of that name.
SentLines = Annotated[Iterator[str], Depends(_never)]


class AskedRoute(APIRoute):
    """FastAPI describes it; we run it. So nobody learns what is wrong with a body before it is
    known who sent it, and no body is read before."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        told_of = self.openapi_extra or {}
        work = _Work(self.endpoint, told_of)
        room = asyncio.Semaphore(IMPORTS_MAX_COUNT) if work.is_import else nullcontext()

        async def handle(request: Request) -> Response:
            state = request.app.state
            try:
                if (
                    work.needs_caller and work.body_type
                ):  # nobody fills our memory before we know them
                    request.state.asked = await run(state.pool, work.authenticate, request)
                if isinstance(room, asyncio.Semaphore) and room.locked():
                    raise StoreBusy("other imports are being taken in; send it again in a while")
                async with room:
                    body = await request.body() if work.body_type else b""
                    answer: Response = await run(state.pool, work.handle, request, body)
                return answer
            except ClientDisconnect:
                raise  # nobody is left to be told
            except Exception as error:  # noqa: BLE001 (told as a problem, and logged by its kind)
                return told(error, request.state.request_id)

        return handle


class _Work:
    """What a route does, with what its handler takes looked up once."""

    def __init__(self, endpoint: Callable[..., Response], told_of: dict[str, Any]) -> None:
        self.endpoint = endpoint
        self.scope = Scope(told_of[SCOPE]) if SCOPE in told_of else None
        self.allows_local = bool(told_of.get(OR_LOCAL))
        self.body_type = told_of.get(READS)
        self.is_import = self.body_type == bodies.LINES
        parameters = inspect.signature(endpoint, eval_str=True).parameters
        hints = {name: _plain(one.annotation) for name, one in parameters.items()}
        self.needs_caller = "asked" in hints
        self.query: type[BaseModel] | None = hints.get("query")
        self.body: type[BaseModel] | None = hints.get("body")

    def authenticate(self, request: Request) -> Asked:
        door: Door = request.app.state.door
        admitted = door.authenticate(claims_of(request.headers.items()), door.limiter)
        if self.scope is not None and not (self.allows_local and admitted.is_local):
            admitted.require_scopes(self.scope)
        return Asked(door, request, admitted)

    def handle(self, request: Request, body: bytes) -> Response:
        values: dict[str, Any] = dict(request.path_params)
        if self.needs_caller:
            values["asked"] = request.state.asked or self.authenticate(request)
        else:
            values["request"] = request
        if self.query is not None:
            values["query"] = bodies.query(self.query, request.scope["query_string"])
        if self.body_type == bodies.LINES:
            values["lines"] = bodies.lines(request.headers, body)
        elif self.body is not None:
            values["body"] = bodies.json_body(self.body, request.headers, body)
        return self.endpoint(**values)


def _plain(annotation: Any) -> Any:
    return getattr(annotation, "__origin__", annotation)


async def run(pool: Executor, work: Callable[..., Any], *given: Any) -> Any:
    # With the context of the request, so that its spans are found.
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(pool, context.run, work, *given)
