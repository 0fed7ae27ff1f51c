"""The door that Slack knocks at. Bolt tells whether it is Slack; what it brings is kept before it
is told so, and worked on after."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from slack_bolt import App, BoltRequest, BoltResponse
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tacit import Update, limits
from tacit.server.middleware import read_body
from tacit.surfaces.chat import wording
from tacit.surfaces.slack.bounded import BoundedClient, silent
from tacit.surfaces.slack.sent import Sent, written
from tacit.surfaces.slack.taking import taken

TakeIn = Callable[[Sequence[Update]], int]

PATH = "/slack/events"
_OK, _UNSIGNED, _TOO_LARGE, _BUSY = 200, 401, 413, 503
_TIMESTAMP = re.compile(r"[0-9]{1,12}")
_ASKS_FOR_ID = re.compile(r"\s*/?id\s*", re.IGNORECASE)


def bolt(client: BoundedClient, secret: str, take_in: TakeIn, allowed: Sequence[str] = ()) -> App:
    """Bolt checks the signature and its age first. The rest is done before Bolt would ask Slack who
    we are: whether something is kept must not depend on whether Slack answers just now."""
    only = frozenset(allowed)

    def keep(body: dict[str, Any], context: Any, next: Callable[[], Any]) -> Any:  # noqa: A002 (Bolt's name)
        if body.get("type") == "url_verification":
            return next()
        sent = taken(body, context.get("team_id"))
        if sent is not None and not _is_allowed(sent, only):
            return BoltResponse(status=_OK, body=_ids(sent))
        if sent is not None:
            take_in([Update(sent.id, sent.chat, written(sent), sent.person)])
        return BoltResponse(status=_OK, body="")

    return App(
        client=client,
        name="tacit",
        signing_secret=secret,
        token_verification_enabled=False,
        before_authorize=keep,
        logger=silent(),
    )


def _is_allowed(sent: Sent, only: frozenset[str]) -> bool:
    """A private chat is allowed by its own id, or by that of the person."""
    own = sent.place == "private" and sent.person in only
    return not only or sent.chat in only or own


def _ids(sent: Sent) -> str | dict[str, str]:
    """Ids alone, to the one who asks for them: nothing is read or kept for it."""
    if sent.act != "command" or not _ASKS_FOR_ID.fullmatch(sent.text):
        return ""
    lines = (wording.NOT_HERE, f"This chat: {sent.chat}", f"You: {sent.person or 'nobody I know'}")
    return {"response_type": "ephemeral", "text": "\n".join(lines)}


def door(app: App) -> Starlette:
    """One address for events, commands and buttons."""

    async def knock(request: Request) -> Response:
        if request.app.state.draining:
            return Response(status_code=_BUSY)  # Slack comes again
        body = await read_body(request, limits.CHAT_BODY_MAX_BYTES)
        if body is None:
            return Response(status_code=_TOO_LARGE)
        return await run_in_threadpool(_answered, app, body, request)

    served = Starlette(routes=[Route(PATH, knock, methods=["POST"])])
    served.state.draining = False
    return served


def _answered(app: App, body: bytes, request: Request) -> Response:
    """Who did not sign is told nothing more than that."""
    signature = request.headers.get("x-slack-signature", "")
    stamp = request.headers.get("x-slack-request-timestamp", "0")
    if not _TIMESTAMP.fullmatch(stamp) or not signature.isascii():
        return Response(status_code=_UNSIGNED)
    headers = {
        "content-type": request.headers.get("content-type", ""),
        "x-slack-signature": signature,
        "x-slack-request-timestamp": stamp,
    }
    try:
        asked = BoltRequest(body=body.decode("utf-8"), headers=dict(headers))
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return Response(status_code=_UNSIGNED)  # Bolt cannot even read it
    told = app.dispatch(asked)
    kind = told.first_headers().get("content-type", "text/plain")
    return Response(told.body, status_code=told.status, headers={"content-type": kind})
