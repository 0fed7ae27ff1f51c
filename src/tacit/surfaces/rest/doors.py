"""What every request passes on its way in: its id, its host and origin, the size of its body."""

from __future__ import annotations

import re
import secrets
from typing import Literal

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tacit import limits
from tacit.errors import NotAllowed
from tacit.settings import Settings
from tacit.surfaces.access import allowed_hosts, allowed_origins, host_allowed, origin_allowed
from tacit.surfaces.rest.refusals import RETRY_AFTER_SECONDS, Refused, told

REQUEST_ID = "x-request-id"
_GOOD_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEALTH = "/health/"
_HEADERS_MAX_BYTES = limits.SERVER_HEADERS_MAX_BYTES
_TOO_MANY_HEADERS = (
    f"headers have at most {_HEADERS_MAX_BYTES:,} bytes in all; leave out the names of participants"
)


class Identified:
    """Gives a request its id, and an answer to whatever went wrong further in."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope).getlist(REQUEST_ID)
        good = len(sent) == 1 and _GOOD_ID.fullmatch(sent[0])
        request_id = sent[0] if good else secrets.token_hex(8)
        scope.setdefault("state", {}).update(request_id=request_id, asked=None)
        began = False

        async def answer(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = request_id
                # Somebody's memories are nobody's to keep on the way.
                headers.setdefault("cache-control", "no-store")
                headers["x-content-type-options"] = "nosniff"
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except ClientDisconnect:
            return  # nobody is left to be told
        except Exception as error:
            if began:
                raise  # the server cuts the answer short
            await told(error, request_id)(scope, receive, answer)


class Guarded:
    """Lets in what names one of our hosts and comes from no strange web page."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._hosts = allowed_hosts(settings)
        self._origins = allowed_origins(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            hosts, origins = headers.getlist("host"), headers.getlist("origin")
            host = hosts[0] if len(hosts) == 1 else None
            if not host_allowed(host, self._hosts):
                raise Refused("misdirected", "this server does not answer to that host")
            scheme: Literal["http", "https"] = "https" if scope["scheme"] == "https" else "http"
            if not all(
                origin_allowed(one, host, scheme=scheme, allowed=self._origins) for one in origins
            ):
                raise NotAllowed
            if scope["app"].state.draining and not scope["path"].startswith(_HEALTH):
                later = {"Retry-After": str(RETRY_AFTER_SECONDS), "Connection": "close"}
                raise Refused("draining", "the server is about to stop; ask again", later)
        await self._app(scope, receive, send)


class Bounded:
    """Counts headers, and a body while it is read, whatever its headers say."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._most = settings.server.body_max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if sum(len(one) for pair in scope["headers"] for one in pair) > _HEADERS_MAX_BYTES:
            raise Refused("headers-too-large", _TOO_MANY_HEADERS)
        most = self._most
        said = Headers(scope=scope).get("content-length", "")
        if said.isdigit() and (len(said) > 18 or int(said) > most):
            raise _too_large(most)
        left = most

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            if message["type"] == "http.request":
                left -= len(message.get("body", b""))
                if left < 0:
                    raise _too_large(most)
            return message

        await self._app(scope, counted, send)


def _too_large(most: int) -> Refused:
    # Closed: what is still on its way would be read as the next request.
    close = {"Connection": "close"}
    return Refused("too-large", f"a body has at most {most:,} bytes; send less at once", close)
