"""Declare routes; authenticate the caller, parse the request and run the handler of each."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import io
import json
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, NoReturn, TypeVar
from urllib.parse import parse_qsl

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.convertors import Convertor, register_url_convertor
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from tacit.errors import Conflict, InvalidInput, NotFound, StoreBusy
from tacit.memory import Memory, View
from tacit.records.accounts import Scope
from tacit.records.request import Requester
from tacit.server.authentication import Caller, Claims, RateLimiter, authenticate, parse_claims
from tacit.server.responses import HttpProblem, error_response

# Reading what was sent: JSON, lines of it, and query strings, each once and never guessed at.
#
# The library says what is wrong with a value. Here only the form is looked at.

M = TypeVar("M", bound=BaseModel)
JSON_BODY = "application/json"
NDJSON_BODY = "application/x-ndjson"
QUERY_FIELDS_MAX_COUNT = 64
_VALIDATION_MESSAGES = {
    "missing": "is missing",
    "extra_forbidden": "is not known here; leave it out",
    "model_type": "expected an object",
}


def parse_json_body(model: type[M], headers: Headers, body: bytes) -> M:
    _require_content_type(headers, JSON_BODY)
    try:
        found = json.loads(body.decode(), parse_constant=_refuse_constant)
    except RecursionError:
        raise InvalidInput("body", "is nested too deeply") from None
    except ValueError:  # also a number too long to be read, and what is not UTF-8
        raise InvalidInput("body", "is no JSON; send one object") from None
    return validate_model(model, _accept_integral_floats(model, found))


def validate_model(model: type[M], found: object) -> M:
    try:
        return model.model_validate(found)
    except ValidationError as wrong:
        raise _first_error(wrong) from None


def parse_query_string(model: type[M], written: bytes) -> M:
    try:
        found = parse_qsl(
            written.decode("latin-1"),
            keep_blank_values=True,
            errors="surrogateescape",
            max_num_fields=QUERY_FIELDS_MAX_COUNT,
        )
    except ValueError:
        raise InvalidInput("query", "has too many parts") from None
    values: dict[str, Any] = {}
    for name, value in found:
        if name in values:
            raise InvalidInput(_safe_field_name(name), "is given more than once; give it once")
        values[name] = value
    return validate_model(model, values)


def parse_lines(headers: Headers, body: bytes) -> Iterator[str]:
    """Each line as text; bytes that are none become marks, which the import refuses by line."""
    _require_content_type(headers, NDJSON_BODY)
    for line in io.BytesIO(body):  # one at a time: a list of them is larger than the body
        yield line.rstrip(b"\r\n").decode("utf-8", errors="surrogateescape")


def _require_content_type(headers: Headers, wanted: str) -> None:
    sent = headers.getlist("content-type")
    kind, _, rest = sent[0].partition(";") if len(sent) == 1 else ("", "", "")
    name, _, value = rest.partition("=")
    charset = value.strip().strip('"').lower() if name.strip().lower() == "charset" else "utf-8"
    if kind.strip().lower() != wanted or charset not in ("utf-8", "utf8"):
        raise HttpProblem("unsupported-media-type", f"send it as {wanted}", {"Accept": wanted})


def _accept_integral_floats(model: type[BaseModel], found: Any) -> Any:
    """3.0 is a whole number to whoever reads the document; the library takes 3 alone."""
    shapes = _integer_fields(model)
    if not shapes or not isinstance(found, dict):
        return found
    return {n: _to_integer(shapes[n], one) if n in shapes else one for n, one in found.items()}


@cache
def _integer_fields(model: type[BaseModel]) -> Mapping[str, Any]:
    """The fields that hold whole numbers, by how they are sent."""
    shapes = model.model_json_schema().get("properties", {})
    return {name: one for name, one in shapes.items() if '"integer"' in json.dumps(one)}


def _to_integer(shape: Mapping[str, Any], value: Any) -> Any:
    for one in shape.get("anyOf", ()):
        value = _to_integer(one, value)
    if isinstance(value, float) and shape.get("type") == "integer":
        return int(value) if value.is_integer() else value
    if isinstance(value, dict) and "properties" in shape:
        inside = shape["properties"]
        return {n: _to_integer(inside[n], one) if n in inside else one for n, one in value.items()}
    return value


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError


def _first_error(wrong: ValidationError) -> InvalidInput:
    one = wrong.errors(include_url=False, include_context=False, include_input=False)[0]
    names = [part for part in one["loc"] if isinstance(part, str)]
    field = _safe_field_name(names[-1]) if names else "body"
    return InvalidInput(
        field, _VALIDATION_MESSAGES.get(one["type"], one["msg"][:1].lower() + one["msg"][1:])
    )


def _safe_field_name(name: str) -> str:
    """A name as it was sent, where it can be one."""
    return name if name.isidentifier() and name.isascii() and len(name) <= 64 else "field"


# Who asks, and for what: the way of one request from its headers to a view and back.
#
# Threads of the pool do it: one turn for all of it, or two where a body is read in between.

IDEMPOTENCY_HEADER = "idempotency-key"
_IDEMPOTENCY_KEY_PATTERN = re.compile(r"[!-~]{1,255}")
SCOPE_EXTENSION = "x-tacit-scope"
LOCAL_EXTENSION = "x-tacit-or-local"  # of a route: the local person needs no scope
BODY_EXTENSION = "x-tacit-reads"  # of a route: how its body is written
CONCURRENT_IMPORTS_MAX_COUNT = 2  # at a time: each is hundreds of writes
_NO_MEMORY_ID = ""  # an id that no memory has


class RequestContext:
    """One request, once it is known who asks."""

    __slots__ = ("_door", "_request", "admitted")

    def __init__(self, door: Authenticator, request: Request, admitted: Caller) -> None:
        self._door = door
        self._request = request
        self.admitted = admitted

    @property
    def view(self) -> View:
        """To read through."""
        return self.admitted.view()

    @property
    def write_view(self) -> View:
        """To write through: with an Idempotency-Key, at most once."""
        return self.with_idempotency(self.view)

    def with_idempotency(self, view: View) -> View:
        token = self.header(IDEMPOTENCY_HEADER)
        if token is None:
            return view
        if not _IDEMPOTENCY_KEY_PATTERN.fullmatch(token):
            raise InvalidInput("Idempotency-Key", "takes up to 255 letters, digits and marks")
        return view.once(token)

    @property
    def has_idempotency_key(self) -> bool:
        return IDEMPOTENCY_HEADER in self.headers

    def is_replay(self) -> bool:
        """Whether something came of this Idempotency-Key: any other request under it is a conflict
        then; and without one, there is nothing to forget."""
        if not self.has_idempotency_key:
            return False
        try:
            self.write_view.forget(_NO_MEMORY_ID)
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

    def with_claims(self, *, thread: str | None = None, agent: str | None = None) -> RequestContext:
        """The same request, with what its body or path says of itself too."""
        claims = parse_claims(self._request.headers.items()).with_body(thread=thread, agent=agent)
        return RequestContext(self._door, self._request, self._door.authenticate(claims))

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
class Authenticator:
    """What letting somebody in takes; one for each app."""

    memory: Memory
    local: Requester | None  # who asks where there is no key; None: a key is needed
    limiter: RateLimiter

    def authenticate(self, claims: Claims, limiter: RateLimiter | None = None) -> Caller:
        return authenticate(self.memory, claims, local=self.local, limiter=limiter)


def _unused_dependency() -> RequestContext:
    raise AssertionError("a route of ours makes it itself")


# What the first parameter of every handler is annotated with.
Context = Annotated[RequestContext, Depends(_unused_dependency)]
# And what the lines of a body are, in a parameter of that name.
BodyLines = Annotated[Iterator[str], Depends(_unused_dependency)]


class AuthenticatedRoute(APIRoute):
    """FastAPI describes it; we run it. So nobody learns what is wrong with a body before it is
    known who sent it, and no body is read before."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        told_of = self.openapi_extra or {}
        work = _RouteHandler(self.endpoint, told_of)
        room = asyncio.Semaphore(CONCURRENT_IMPORTS_MAX_COUNT) if work.is_import else nullcontext()

        async def handle(request: Request) -> Response:
            state = request.app.state
            try:
                if (
                    work.needs_caller and work.body_type
                ):  # nobody fills our memory before we know them
                    request.state.asked = await run_in_pool(state.pool, work.authenticate, request)
                if isinstance(room, asyncio.Semaphore) and room.locked():
                    raise StoreBusy("other imports are being taken in; send it again in a while")
                async with room:
                    body = await request.body() if work.body_type else b""
                    answer: Response = await run_in_pool(state.pool, work.handle, request, body)
                return answer
            except ClientDisconnect:
                raise  # nobody is left to be told
            except Exception as error:  # noqa: BLE001 (told as a problem, and logged by its kind)
                return error_response(error, request.state.request_id)

        return handle


class _RouteHandler:
    """What a route does, with what its handler takes looked up once."""

    def __init__(self, endpoint: Callable[..., Response], told_of: dict[str, Any]) -> None:
        self.endpoint = endpoint
        self.scope = Scope(told_of[SCOPE_EXTENSION]) if SCOPE_EXTENSION in told_of else None
        self.allows_local = bool(told_of.get(LOCAL_EXTENSION))
        self.body_type = told_of.get(BODY_EXTENSION)
        self.is_import = self.body_type == NDJSON_BODY
        parameters = inspect.signature(endpoint, eval_str=True).parameters
        hints = {name: _unwrap_annotation(one.annotation) for name, one in parameters.items()}
        self.needs_caller = "asked" in hints
        self.query: type[BaseModel] | None = hints.get("query")
        self.body: type[BaseModel] | None = hints.get("body")

    def authenticate(self, request: Request) -> RequestContext:
        door: Authenticator = request.app.state.door
        admitted = door.authenticate(parse_claims(request.headers.items()), door.limiter)
        if self.scope is not None and not (self.allows_local and admitted.is_local):
            admitted.require_scopes(self.scope)
        return RequestContext(door, request, admitted)

    def handle(self, request: Request, body: bytes) -> Response:
        values: dict[str, Any] = dict(request.path_params)
        if self.needs_caller:
            values["asked"] = request.state.asked or self.authenticate(request)
        else:
            values["request"] = request
        if self.query is not None:
            values["query"] = parse_query_string(self.query, request.scope["query_string"])
        if self.body_type == NDJSON_BODY:
            values["lines"] = parse_lines(request.headers, body)
        elif self.body is not None:
            values["body"] = parse_json_body(self.body, request.headers, body)
        return self.endpoint(**values)


def _unwrap_annotation(annotation: Any) -> Any:
    return getattr(annotation, "__origin__", annotation)


async def run_in_pool(pool: Executor, work: Callable[..., Any], *given: Any) -> Any:
    # With the context of the request, so that its spans are found.
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(pool, context.run, work, *given)


# How a file of routes is written: each says its scope, what it gives and what can go wrong.

H = TypeVar("H", bound=Callable[..., Any])
# What every route that asks who is there may answer, and what comes with a body.
COMMON_ERRORS = (401, 403, 422, 429, 503)
BODY_ERRORS = (413, 415)
IDEMPOTENT_EXTENSION = "x-tacit-writes"
REQUEST_HEADERS_EXTENSION = "x-tacit-headers"
RESPONSE_HEADERS_EXTENSION = "x-tacit-sends"
MEDIA_TYPES_EXTENSION = "x-tacit-media"


class PathRemainder(Convertor[str]):
    """The rest of a path, whatever it holds: `path` knows no ends of lines."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("rest", PathRemainder())


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteDeclaration:
    method: str
    path: str
    handler: Callable[..., Any]
    response_type: Any
    status: int
    tag: str
    problems: Mapping[int, Any]
    extensions: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Router:
    """The routes of one topic; `register` adds them to an app, in the order they were written."""

    tag: str
    declarations: list[RouteDeclaration] = field(default_factory=list)

    def get(self, path: str, **told: Any) -> Callable[[H], H]:
        return self._add("GET", path, **told)

    def post(self, path: str, **told: Any) -> Callable[[H], H]:
        return self._add("POST", path, **told)

    def put(self, path: str, **told: Any) -> Callable[[H], H]:
        return self._add("PUT", path, **told)

    def patch(self, path: str, **told: Any) -> Callable[[H], H]:
        return self._add("PATCH", path, **told)

    def delete(self, path: str, **told: Any) -> Callable[[H], H]:
        return self._add("DELETE", path, **told)

    def _add(
        self,
        method: str,
        path: str,
        *,
        scope: Scope | None,
        gives: Any = None,
        status: int = 200,
        problems: Sequence[int] | Mapping[int, Any] = (),
        once: bool = False,
        or_local: bool = False,
        headers: Sequence[str] = (),
        sends: Sequence[str] = (),
        media: Sequence[str] = (JSON_BODY,),
        reads: str | None = None,
    ) -> Callable[[H], H]:
        """`scope`: None for what nobody is asked for; with `or_local`, the local person needs none.
        `gives`: the type of the answer, for the document. `problems`: beside those that every route
        has; a mapping says more of each. `once`: takes an Idempotency-Key. `headers`: what else is
        taken; `sends`: what comes with the answer. `media`: what the answer is written in; `reads`:
        what the body is, where it is not JSON."""

        def add(handler: H) -> H:
            takes = handler.__annotations__
            body = reads or (JSON_BODY if "body" in takes else None)
            told_of: dict[str, Any] = {
                REQUEST_HEADERS_EXTENSION: [*headers],
                RESPONSE_HEADERS_EXTENSION: [*sends],
                MEDIA_TYPES_EXTENSION: [*media],
            }
            if scope is not None:
                told_of[SCOPE_EXTENSION] = scope.value
            if body is not None:
                told_of[BODY_EXTENSION] = body
            if once:
                told_of[IDEMPOTENT_EXTENSION] = True
            if or_local:
                told_of[LOCAL_EXTENSION] = True
            found = problems if isinstance(problems, Mapping) else dict.fromkeys(problems)
            all_of = () if scope is None else COMMON_ERRORS
            every = dict.fromkeys((*all_of, *(BODY_ERRORS if body else ())))
            self.declarations.append(
                RouteDeclaration(
                    method=method,
                    path=path,
                    handler=handler,
                    response_type=gives,
                    status=status,
                    tag=self.tag,
                    problems={**every, **(dict.fromkeys((404, 409)) if once else {}), **found},
                    extensions=told_of,
                )
            )
            return handler

        return add

    def register(self, app: FastAPI) -> None:
        for one in self.declarations:
            app.router.add_api_route(
                one.path,
                one.handler,
                methods=[one.method],
                response_model=one.response_type,
                status_code=one.status,
                tags=[one.tag],
                name=one.handler.__name__,
                operation_id=one.handler.__name__,
                summary=_summarize_handler(one.handler),
                responses={code: dict(more or {}) for code, more in one.problems.items()},
                route_class_override=AuthenticatedRoute,
                openapi_extra=dict(one.extensions),
            )


def _summarize_handler(handler: Callable[..., Any]) -> str:
    words = (handler.__doc__ or handler.__name__).strip().split("\n", 1)[0]
    return words.split(". ", 1)[0].rstrip(".")
