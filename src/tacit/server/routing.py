"""Routes: authenticate before a body is read, then let FastAPI parse, validate and run."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from operator import attrgetter
from types import NoneType
from typing import Annotated, Any, NoReturn, TypeVar, get_args
from urllib.parse import parse_qsl

from fastapi import Depends, Query
from fastapi.routing import APIRoute
from pydantic import create_model
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.datastructures import Headers, State
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from tacit.errors import Conflict, InvalidInput, NotFound, StoreBusy
from tacit.memory import (
    REQUIRED,
    VIEW_OPERATIONS,
    Endpoint,
    Memory,
    Operation,
    Repeat,
    View,
    parameters_of,
    type_hints_of,
)
from tacit.records.accounts import Scope
from tacit.records.request import Requester
from tacit.records.results import Page
from tacit.server.authentication import Caller, Claims, RateLimiter, authenticate, parse_claims
from tacit.server.openapi import JSON_BODY, NDJSON_BODY, Access, describe_operation
from tacit.server.responses import (
    NDJSON_MEDIA_TYPE,
    HttpProblem,
    no_content,
    paginate,
    record_response,
    safe_field_name,
)
from tacit.server.schemas import BODY_TYPES, PATH_TYPES, QUERY_TYPES, PageQuery, RequestModel, not_sent
from tacit.server.streaming import LineResponse

H = TypeVar("H", bound=Callable[..., Any])
QUERY_FIELDS_MAX_COUNT = 64
CONCURRENT_IMPORTS_MAX_COUNT = 2  # each is hundreds of writes
IDEMPOTENCY_HEADER = "idempotency-key"
_IDEMPOTENCY_KEY_PATTERN = re.compile(r"[!-~]{1,255}")
_NO_MEMORY_ID = ""  # an id that no memory has
_PAGE_FIELDS = frozenset(PageQuery.model_fields)


class RequestContext:
    """One authenticated request: the caller, their view and their headers."""

    __slots__ = ("_authenticator", "_request", "caller")

    def __init__(self, authenticator: Authenticator, request: Request, caller: Caller) -> None:
        self._authenticator = authenticator
        self._request = request
        self.caller = caller

    @property
    def view(self) -> View:
        """The view to read through."""
        return self.caller.view()

    @property
    def write_view(self) -> View:
        """The view to write through: with an Idempotency-Key, at most once."""
        token = self.header(IDEMPOTENCY_HEADER)
        if token is None:
            return self.view
        if not _IDEMPOTENCY_KEY_PATTERN.fullmatch(token):
            raise InvalidInput("Idempotency-Key", "takes up to 255 letters, digits and marks")
        return self.view.once(token)

    @property
    def has_idempotency_key(self) -> bool:
        return IDEMPOTENCY_HEADER in self.headers

    def is_replay(self) -> bool:
        """Return whether this Idempotency-Key was used: any other request under it is a conflict
        then. Without a key there is nothing to forget, and so no conflict."""
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
        """Whether the response may hold what was written: a key that only writes reads nothing."""
        return self.caller.has_scope(Scope.READ)

    @property
    def memory(self) -> Memory:
        """The space of the key, for what belongs to no single person."""
        return self.caller.memory

    def with_agent(self, agent: str) -> RequestContext:
        """Return the same request of an agent that its body names."""
        claims = parse_claims(self._request.headers.items()).with_agent(agent)
        caller = self._authenticator.authenticate(claims)
        return RequestContext(self._authenticator, self._request, caller)

    @property
    def headers(self) -> Headers:
        return self._request.headers

    def header(self, name: str) -> str | None:
        """Return a header that may be sent once at most."""
        sent = self.headers.getlist(name)
        if len(sent) > 1:
            raise InvalidInput(name.title(), "is sent more than once; send it once")
        return sent[0] if sent else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Authenticator:
    """What authenticating a request takes; one for each app."""

    memory: Memory
    local: Requester | None  # the caller where there is no key; None: a key is needed
    limiter: RateLimiter

    def authenticate(self, claims: Claims, limiter: RateLimiter | None = None) -> Caller:
        return authenticate(self.memory, claims, local=self.local, limiter=limiter)


async def get_context(request: Request) -> RequestContext:
    context: RequestContext = request.state.context
    return context


async def read_lines(request: Request) -> Iterator[str]:
    """Return the lines of the body as text. Bytes that are not UTF-8 become surrogates, which the
    import refuses by line."""
    body = await request.body()
    # One line at a time: a list of them is larger than the body.
    return (line.rstrip(b"\r\n").decode("utf-8", errors="surrogateescape") for line in io.BytesIO(body))


Context = Annotated[RequestContext, Depends(get_context)]
BodyLines = Annotated[Iterator[str], Depends(read_lines)]


class AuthenticationMiddleware:
    """Authenticate the caller before a byte of the body is read, and before anything is said of it.

    Authentication takes a worker thread; then come the scope, the query string and the content
    type. The endpoint finds the result through `get_context`.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        request.state.context = await run_in_threadpool(self._authenticate, request)
        _check_query_string(scope["query_string"])
        body_type = self._access.body_type
        if body_type is not None:
            _require_content_type(request.headers, body_type)
        if body_type == NDJSON_BODY:
            with _count_import(request.app.state):
                await self._app(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _authenticate(self, request: Request) -> RequestContext:
        authenticator: Authenticator = request.app.state.authenticator
        claims = parse_claims(request.headers.items())
        caller = authenticator.authenticate(claims, authenticator.limiter)
        scope = self._access.scope
        if scope is not None and not (self._access.or_local and caller.is_local):
            caller.require_scopes(scope)
        return RequestContext(authenticator, request, caller)


@contextmanager
def _count_import(state: State) -> Iterator[None]:
    if state.running_imports >= CONCURRENT_IMPORTS_MAX_COUNT:
        raise StoreBusy("other imports are running; send it again in a while")
    state.running_imports += 1
    try:
        yield
    finally:
        state.running_imports -= 1


def _check_query_string(query: bytes) -> None:
    """Refuse what FastAPI would pass over: a parameter given twice, bytes that are not UTF-8."""
    if not query:
        return
    try:
        found = parse_qsl(
            query.decode("latin-1"),
            keep_blank_values=True,
            errors="surrogateescape",
            max_num_fields=QUERY_FIELDS_MAX_COUNT,
        )
    except ValueError:
        raise InvalidInput("query", "has too many parts") from None
    names: set[str] = set()
    for name, value in found:
        if name in names:
            raise InvalidInput(safe_field_name(name), "is given more than once; give it once")
        names.add(name)
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInput(safe_field_name(name), "is not percent-encoded UTF-8") from None


def _require_content_type(headers: Headers, wanted: str) -> None:
    sent = headers.getlist("content-type")
    kind, _, rest = sent[0].partition(";") if len(sent) == 1 else ("", "", "")
    name, _, value = rest.partition("=")
    charset = value.strip().strip('"').lower() if name.strip().lower() == "charset" else "utf-8"
    if kind.strip().lower() != wanted or charset not in ("utf-8", "utf8"):
        raise HttpProblem("unsupported-media-type", f"send it as {wanted}", {"Accept": wanted})


class JsonRequest(Request):
    """A request whose JSON is parsed strictly, and away from the event loop where it is long."""

    _LONG_BYTES = 65_536

    async def json(self) -> Any:
        body = await self.body()
        if len(body) < self._LONG_BYTES:
            return _parse_json(body)
        return await run_in_threadpool(_parse_json, body)


def _parse_json(body: bytes) -> Any:
    try:
        return json.loads(body.decode(), parse_constant=_refuse_constant)
    except RecursionError:
        raise InvalidInput("body", "is nested too deeply") from None
    except ValueError:  # also a number that is too long, and bytes that are not UTF-8
        # `from None`: FastAPI must not take it for a JSON error of its own.
        raise InvalidInput("body", "is no JSON; send one object") from None


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError


class OperationRoute(APIRoute):
    """A route that FastAPI runs, behind `AuthenticationMiddleware` where it has a scope."""

    def __init__(self, path: str, endpoint: Callable[..., Any], *, access: Access, **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        if access.scope is not None:
            self.app = AuthenticationMiddleware(self.app, access)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return handle_json


class PathRemainder(Convertor[str]):
    """The rest of a path with any characters: Starlette's own `path` stops at line ends."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("rest", PathRemainder())


class Router:
    """The operations of one topic, in the order they are declared.

    An operation is named after its function and described by its docstring.
    """

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.routes: list[OperationRoute] = []

    def add(
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
        """Declare an operation.

        `scope` is None without authentication; with `or_local`, the local person needs no
        scope. `gives` is the type of the response. `problems` come beside those that every
        operation has; a mapping describes them. With `once` it takes an Idempotency-Key. `headers`
        are other headers it reads, `sends` those of the response, `media` its content types, and
        `reads` the content type of the body where that is not JSON.
        """

        def add(endpoint: H) -> H:
            json_body = JSON_BODY if "body" in signature(endpoint).parameters else None
            access = Access(scope=scope, or_local=or_local, body_type=reads or json_body)
            described = describe_operation(
                path, access, status, problems, once, headers=headers, sends=sends, media=media
            )
            self.routes.append(
                OperationRoute(
                    path,
                    endpoint,
                    access=access,
                    methods=[method],
                    response_model=gives if JSON_BODY in media else None,
                    response_class=JSONResponse if JSON_BODY in media else Response,
                    status_code=status,
                    tags=[self.tag],
                    operation_id=endpoint.__name__,
                    summary=_summarize(endpoint),
                    **described,
                )
            )
            return endpoint

        return add

    def serve(
        self,
        name: str,
        *,
        body: str = "",
        query: type[RequestModel] | None = None,
        types: Mapping[str, Any] | None = None,
        scope: Scope | None = None,
        also_read: bool = False,
        hide: Callable[[Any], Any] | None = None,
        absent: str = "memory",
        status: int = 200,
        problems: tuple[int, ...] = (),
    ) -> Callable[[H], H]:
        """Serve an operation of a view as it is declared.

        The decorated function gives the route its name and description. `body` is the name of the
        model of the body, and `query` a model in place of the derived one. `types` are those of
        arguments whose type is not that of their name, and of other keyword arguments that the
        operation takes. With `also_read`, a key needs the scope `read` too. `hide` removes from the
        response what a key that only writes may not read. `absent` is what is not found where the
        operation returns None.
        """
        operation = VIEW_OPERATIONS[name]
        endpoint, gives = operation.endpoint, type_hints_of(operation.method)["return"]
        assert endpoint is not None, f"{name} has no endpoint"
        models = _derive_models(operation, endpoint, body, query, types or {})
        is_optional = endpoint.method == "GET" and NoneType in get_args(gives)
        may_be_absent = is_optional or "id" in endpoint.path_names
        takes_key = operation.repeat in (Repeat.REPLAYED, Repeat.HARMLESS)

        def answer(context: RequestContext, **sent: Any) -> Response:
            if also_read:
                context.caller.require_scopes(Scope.READ)
            view = context.write_view if takes_key else context.view
            found = attrgetter(name)(view)(**_arguments(sent, endpoint, models))
            if hide is not None and not context.may_read:
                found = hide(found)
            if gives is NoneType:
                return no_content()
            if operation.lines:
                return LineResponse(found, NDJSON_MEDIA_TYPE)
            if found is None and is_optional:
                raise NotFound(absent)
            if gives is int:
                found = Count(count=found)
            if endpoint.paged:
                page = sent["query"]
                found = paginate(found, lambda one: one.id, page.limit, page.cursor)
            return record_response(found, status)

        path_types = {one: PATH_TYPES[one] for one in endpoint.path_names}
        answer.__signature__ = Signature(  # type: ignore[attr-defined]
            [
                Parameter(one, Parameter.KEYWORD_ONLY, annotation=kind)
                for one, kind in {"context": Context, **path_types, **models}.items()
            ]
        )

        def add(described: H) -> H:
            answer.__name__, answer.__doc__ = described.__name__, described.__doc__
            self.add(
                endpoint.method,
                endpoint.path,
                scope=scope or (Scope.WRITE if operation.writes else Scope.READ),
                gives=_response_type(gives, endpoint),
                status=204 if gives is NoneType else status,
                once=takes_key,
                media=(NDJSON_MEDIA_TYPE,) if operation.lines else (JSON_BODY,),
                problems=(404, *problems) if may_be_absent else problems,
            )(answer)
            return described

        return add


def _summarize(endpoint: Callable[..., Any]) -> str:
    first_line = (endpoint.__doc__ or endpoint.__name__).strip().split("\n", 1)[0]
    return first_line.split(". ", 1)[0].rstrip(".")


# Requests and responses of operations, derived from their declarations.


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    count: int


def _derive_models(
    operation: Operation, endpoint: Endpoint, body: str, query: type[RequestModel] | None, types: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the models of the body and of the query string, where there are such."""
    known = parameters_of(operation.method)
    defaults = {**known, **{name: None for name in types if name not in known}}
    given = {name: defaults[name] for name in defaults if name not in endpoint.path_names}
    in_body = endpoint.method in ("POST", "PUT")
    in_query = {name: given.pop(name) for name in (endpoint.query if in_body else tuple(given))}
    models: dict[str, Any] = {}
    if given:
        models["body"] = _create_body(body, given, types)
    if query is not None or in_query or endpoint.paged:
        derived = query or _create_query(in_query, types, paged=endpoint.paged)
        models["query"] = Annotated[derived, Query()]
    return models


def _create_body(name: str, defaults: Mapping[str, Any], types: Mapping[str, Any]) -> Any:
    fields: dict[str, Any] = {}
    for one, default in defaults.items():
        kind = types.get(one, BODY_TYPES.get(one))
        assert kind is not None, f"{name}: {one} has no type"
        if isinstance(kind, tuple):
            fields[one] = kind
        elif default is None:
            fields[one] = (kind | None, None)
        else:
            fields[one] = (kind, ... if default is REQUIRED else default)
    return create_model(name, __base__=RequestModel, **fields)


def _create_query(defaults: Mapping[str, Any], types: Mapping[str, Any], *, paged: bool) -> Any:
    paged = paged or defaults.keys() >= _PAGE_FIELDS
    fields: dict[str, Any] = {}
    for one, default in defaults.items():
        if not (paged and one in _PAGE_FIELDS):
            kind = types.get(one, QUERY_TYPES.get(one))
            assert kind is not None, f"{one} has no type"
            value = ... if default is REQUIRED else not_sent() if default is None else default
            fields[one] = (kind, value)
    base = PageQuery if paged else RequestModel
    return create_model("Query", __base__=base, **fields)


def _arguments(sent: Mapping[str, Any], endpoint: Endpoint, models: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that were sent: null stands for what was not."""
    found = {one: sent[one] for one in endpoint.path_names}
    for model in models:
        fields = sent[model].sent_fields()
        if endpoint.paged:
            fields = {one: value for one, value in fields.items() if one not in _PAGE_FIELDS}
        found |= {one: value for one, value in fields.items() if value is not None}
    return found


def _response_type(gives: Any, endpoint: Endpoint) -> Any:
    if gives is NoneType:
        return None
    if gives is int:
        return Count
    if endpoint.paged:
        return Page[get_args(gives)[0]]  # type: ignore[misc]
    if endpoint.method == "GET" and NoneType in get_args(gives):
        return get_args(gives)[0]
    return gives
