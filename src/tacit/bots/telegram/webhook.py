"""Receive updates from Telegram over HTTP, authenticated by a secret."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tacit import limits
from tacit.bots.telegram.updates import JsonObject
from tacit.errors import StoreError
from tacit.server.middleware import read_body

_SECRET_HEADER = "x-telegram-bot-api-secret-token"
# One route for all paths: the log shows the route, and the real path may contain a secret.
_ANY_PATH = "/{path:path}"
_OK, _BAD, _FORBIDDEN, _ABSENT, _TOO_LARGE, _BUSY = 200, 400, 403, 404, 413, 503


def create_webhook_app(
    take_in: Callable[[Sequence[JsonObject]], None], url: str, secret: str
) -> Starlette:
    """Make an app that accepts updates at the path of the public webhook URL."""
    path = unquote(urlsplit(url).path) or "/"

    async def receive(request: Request) -> Response:
        if not hmac.compare_digest(request.scope["path"].encode(), path.encode()):
            return Response(status_code=_ABSENT)
        given = request.headers.get(_SECRET_HEADER, "")
        if not hmac.compare_digest(given.encode(), secret.encode()):
            return Response(status_code=_FORBIDDEN)
        if request.app.state.draining:
            return Response(status_code=_BUSY)
        body = await read_body(request, limits.CHAT_BODY_MAX_BYTES)
        if body is None:
            return Response(status_code=_TOO_LARGE)
        update = _parse_update(body)
        if update is None:
            return Response(status_code=_BAD)
        try:
            await run_in_threadpool(take_in, [update])
        except StoreError:
            return Response(status_code=_BUSY)  # Telegram sends it again
        return Response(status_code=_OK)

    served = Starlette(routes=[Route(_ANY_PATH, receive, methods=["POST"])])
    served.state.draining = False
    return served


def _parse_update(body: bytes) -> JsonObject | None:
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
