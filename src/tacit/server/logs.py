"""Operator logs: events and one line per request, without anything people wrote."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Awaitable, Callable, MutableMapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from tacit.telemetry.spans import RequestTracer


# Lines for operators, on stderr. They hold nothing that people wrote, nothing that names them, and
# no text of an exception, which may hold both.

_OWN_LOGGER = "tacit"
_FRAMES_MAX_COUNT = 8  # the innermost


class ServerLog:
    """Write events as lines: for people on a terminal, as JSON elsewhere or where asked.

    `form` is `json`, `plain` or `auto`, as in the settings.
    """

    def __init__(self, form: str) -> None:
        on_terminal = sys.stderr is not None and sys.stderr.isatty()
        plain = on_terminal if form == "auto" else form == "plain"
        self._lines = structlog.wrap_logger(
            structlog.PrintLogger(sys.stderr),
            processors=_plain_processors(on_terminal) if plain else _json_processors(),
            wrapper_class=structlog.BoundLogger,
            cache_logger_on_first_use=True,
        )

    def tell(self, event: str, **details: str | int | float | bool | list[str] | None) -> None:
        # A closed pipe or a full disk must not stop the work.
        with contextlib.suppress(OSError, ValueError):
            self._lines.info(event, **details)

    def failed(self, event: str, error: BaseException, **details: str | None) -> None:
        """Write an unexpected error: its class and its place in the code."""
        frames = format_frames(error.__traceback__)
        self.tell(event, kind=type(error).__name__, at_lines=frames, **details)


def _json_processors() -> list[Any]:
    return [
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        _order_keys,
        structlog.processors.JSONRenderer(),
    ]


def _plain_processors(colors: bool) -> list[Any]:
    return [
        structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False, key="at"),
        structlog.dev.ConsoleRenderer(colors=colors, sort_keys=False, timestamp_key="at", pad_event_to=10),
    ]


def _order_keys(_logger: Any, _name: str, details: Any) -> Any:
    """Put the time and the event first."""
    return {"at": details.pop("at"), "event": details.pop("event"), **details}


def format_frames(trace: TracebackType | None) -> list[str]:
    """Return the places in the code, innermost last, without values."""
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        module = trace.tb_frame.f_globals.get("__name__", "?")
        found.append(f"{module}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return found[-_FRAMES_MAX_COUNT:]


class _LogForwarder(logging.Handler):
    """Forward what libraries log: our own messages, and of all others only the place."""

    def __init__(self, log: ServerLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        ours = record.name.split(".")[0] == _OWN_LOGGER
        error = record.exc_info[1] if record.exc_info else None
        self._log.tell(
            "remark",
            level=record.levelname.lower(),
            by=record.name,
            line=record.lineno,
            **({"says": record.getMessage()} if ours else {}),
            **({} if error is None else {"kind": type(error).__name__}),
            **({} if error is None else {"at_lines": format_frames(error.__traceback__)}),
        )


def capture_logging(log: ServerLog) -> None:
    """Make `log` the only writer to stderr in this process."""
    root = logging.getLogger()
    for handler in root.handlers[:]:
        root.removeHandler(handler)
    root.addHandler(_LogForwarder(log))
    root.setLevel(logging.WARNING)
    for name in (_OWN_LOGGER, "uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.WARNING)

    def in_a_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            log.failed("failed", args.exc_value)

    threading.excepthook = in_a_thread


# One log line and one span for each request, around the whole application.

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

NO_ROUTE = "none"  # an unknown path is not repeated: it may hold anything
_KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_TRACE_HEADERS = (b"traceparent", b"tracestate")
_REQUEST_ID_HEADER = b"x-request-id"


class RequestLogMiddleware:
    """Log each request and count those in flight."""

    def __init__(self, app: Starlette, log: ServerLog, spans: RequestTracer) -> None:
        self._app = app
        # A request that is refused early has no route yet; a path without parameters may be logged.
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
        method = scope["method"] if scope["method"] in _KNOWN_METHODS else "other"
        seen = _ResponseRecorder(send)
        with self._spans.request(method, _trace_headers(scope)) as span:
            try:
                await self._app(scope, receive, seen)
            except Exception as error:
                self._log.failed("failed", error, request_id=seen.request_id)
                if seen.status is None:
                    raise  # the server that runs this answers
            finally:
                route = self._route(scope)
                span.ended(route, seen.status)
                self._log.tell(
                    "request",
                    method=method,
                    route=route,
                    status=seen.status,  # None: the client hung up before the response
                    ms=round((time.perf_counter() - begun) * 1_000, 1),
                    request_id=seen.request_id,
                )

    def _route(self, scope: Scope) -> str:
        """Return the template, as in /api/memory/{id}: a path holds ids and names."""
        path = getattr(scope.get("route"), "path", None)
        if isinstance(path, str) and path:
            return path
        return scope["path"] if scope["path"] in self._fixed else NO_ROUTE


class _ResponseRecorder:
    """Pass a response on, and keep its status and request id."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None
        self.request_id: str | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            for name, value in message.get("headers", ()):
                if name.lower() == _REQUEST_ID_HEADER:
                    self.request_id = value.decode("latin-1")
        await self._send(message)


def _trace_headers(scope: Scope) -> dict[str, str]:
    return {
        name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name in _TRACE_HEADERS
    }
