"""Middleware: request id, host and origin, limits on headers and bodies."""

from __future__ import annotations

import re
import secrets
from typing import Literal

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tacit import limits
from tacit.errors import NotAllowed
from tacit.server.authentication import allowed_hosts, allowed_origins, is_host_allowed, is_origin_allowed
from tacit.server.responses import RETRY_AFTER_SECONDS, HttpProblem, error_response
from tacit.settings import Settings

REQUEST_ID_HEADER = "x-request-id"
_REQUEST_ID_PATTERN = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEALTH_PREFIX = "/health/"
_HEADERS_MAX_BYTES = limits.SERVER_HEADERS_MAX_BYTES
_HEADERS_TOO_LARGE = f"headers have at most {_HEADERS_MAX_BYTES:,} bytes in all; leave out the names of participants"


class RequestIdMiddleware:
    """Give a request its id, and answer every error raised further in."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope).getlist(REQUEST_ID_HEADER)
        good = len(sent) == 1 and _REQUEST_ID_PATTERN.fullmatch(sent[0])
        request_id = sent[0] if good else secrets.token_hex(8)
        scope.setdefault("state", {}).update(request_id=request_id)
        began = False

        async def answer(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID_HEADER] = request_id
                # Caches between server and client must not keep memories.
                headers.setdefault("cache-control", "no-store")
                headers["x-content-type-options"] = "nosniff"
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except ClientDisconnect:
            return  # there is no client to answer
        except Exception as error:
            if began:
                raise  # the server cuts the answer short
            await error_response(error, request_id)(scope, receive, answer)


class HostMiddleware:
    """Accept requests to one of our hosts, from no foreign web page, while not draining."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._hosts = allowed_hosts(settings)
        self._origins = allowed_origins(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            hosts, origins = headers.getlist("host"), headers.getlist("origin")
            host = hosts[0] if len(hosts) == 1 else None
            if not is_host_allowed(host, self._hosts):
                raise HttpProblem("misdirected", "this server does not answer to that host")
            scheme: Literal["http", "https"] = "https" if scope["scheme"] == "https" else "http"
            if not all(is_origin_allowed(one, host, scheme=scheme, allowed=self._origins) for one in origins):
                raise NotAllowed
            if scope["app"].state.draining and not scope["path"].startswith(_HEALTH_PREFIX):
                later = {"Retry-After": str(RETRY_AFTER_SECONDS), "Connection": "close"}
                raise HttpProblem("draining", "the server is about to stop; ask again", later)
        await self._app(scope, receive, send)


class SizeLimitMiddleware:
    """Limit headers, and a body while it is read, whatever its Content-Length says."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._most = settings.server.body_max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if sum(len(one) for pair in scope["headers"] for one in pair) > _HEADERS_MAX_BYTES:
            raise HttpProblem("headers-too-large", _HEADERS_TOO_LARGE)
        most = self._most
        said = Headers(scope=scope).get("content-length", "")
        if said.isdigit() and (len(said) > 18 or int(said) > most):
            raise _body_too_large(most)
        left = most

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            if message["type"] == "http.request":
                left -= len(message.get("body", b""))
                if left < 0:
                    raise _body_too_large(most)
            return message

        await self._app(scope, counted, send)


def _body_too_large(most: int) -> HttpProblem:
    # Closed: what is still on its way would be read as the next request.
    close = {"Connection": "close"}
    return HttpProblem("too-large", f"a body has at most {most:,} bytes; send less at once", close)


async def read_body(request: Request, most_bytes: int) -> bytes | None:
    """Return the body, or None where it is larger or the client hung up."""
    promised = request.headers.get("content-length", "")
    if promised.isdecimal() and int(promised[:18]) > most_bytes:
        return None
    found = bytearray()
    try:
        async for piece in request.stream():
            found += piece
            if len(found) > most_bytes:
                return None
    except ClientDisconnect:
        return None
    return bytes(found)
