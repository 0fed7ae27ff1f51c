"""Run the Slack bot: verify and store requests, and answer them until it is stopped."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from slack_bolt import App, BoltRequest, BoltResponse
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tacit import Update, limits
from tacit.bootstrap import request_spans
from tacit.bots import texts
from tacit.bots.bot import Bot
from tacit.bots.dispatcher import BotLog, ChannelRetry, Dispatcher, MessageHandler
from tacit.bots.slack.client import BoundedClient, SlackSender, SlackWebApi, silent_logger
from tacit.bots.slack.updates import (
    CHANNEL,
    SlackEvent,
    SlackParser,
    UserCache,
    encode_event,
    parse_request,
)
from tacit.errors import SettingsError
from tacit.memory import Memory
from tacit.server.logs import RequestLogMiddleware, ServerLog
from tacit.server.middleware import read_body
from tacit.server.process import bind_socket, socket_url
from tacit.server.process import run_server as serve
from tacit.settings import Settings, SlackSettings
from tacit.settings.parsers import describe_variable

# The endpoint. Bolt verifies signatures; requests are stored before they are acknowledged, and
# processed after.

AddUpdates = Callable[[Sequence[Update]], int]

EVENTS_PATH = "/slack/events"
_OK, _UNSIGNED, _TOO_LARGE, _BUSY = 200, 401, 413, 503
_TIMESTAMP_FORMAT = re.compile(r"[0-9]{1,12}")
_ID_COMMAND = re.compile(r"\s*/?id\s*", re.IGNORECASE)


def create_bolt_app(
    client: BoundedClient, secret: str, take_in: AddUpdates, allowed: Sequence[str] = ()
) -> App:
    """Make an app that stores requests right after Bolt has checked their signature.

    This happens before Bolt would call Slack to authorize, so that storing does not depend on
    whether Slack answers.
    """
    only = frozenset(allowed)

    def keep(body: dict[str, Any], context: Any, next: Callable[[], Any]) -> Any:  # noqa: A002 (Bolt's name)
        if body.get("type") == "url_verification":
            return next()
        sent = parse_request(body, context.get("team_id"))
        if sent is not None and not _is_allowed(sent, only):
            return BoltResponse(status=_OK, body=_ids_answer(sent))
        if sent is not None:
            take_in([Update(sent.id, sent.chat, encode_event(sent), sent.person)])
        return BoltResponse(status=_OK, body="")

    return App(
        client=client,
        # Bolt silences the logger of this name like `silent_logger`: "tacit" would silence us.
        name="tacit.slack.app",
        signing_secret=secret,
        token_verification_enabled=False,
        before_authorize=keep,
        logger=silent_logger(),
    )


def _is_allowed(sent: SlackEvent, only: frozenset[str]) -> bool:
    """Whether a chat is allowed; a private chat also by the person's key."""
    own = sent.place == "private" and sent.person in only
    return not only or sent.chat in only or own


def _ids_answer(sent: SlackEvent) -> str | dict[str, str]:
    """Answer the id command in a chat that is not allowed, without storing anything."""
    if sent.act != "command" or not _ID_COMMAND.fullmatch(sent.text):
        return ""
    lines = (
        texts.CHAT_NOT_ALLOWED,
        f"This chat: {sent.chat}",
        f"You: {sent.person or 'unknown'}",
    )
    return {"response_type": "ephemeral", "text": "\n".join(lines)}


def create_web_app(app: App) -> Starlette:
    """Serve one URL for events, commands and buttons."""

    async def receive(request: Request) -> Response:
        if request.app.state.draining:
            return Response(status_code=_BUSY)  # Slack retries
        body = await read_body(request, limits.CHAT_BODY_MAX_BYTES)
        if body is None:
            return Response(status_code=_TOO_LARGE)
        return await run_in_threadpool(_dispatch_request, app, body, request)

    served = Starlette(routes=[Route(EVENTS_PATH, receive, methods=["POST"])])
    served.state.draining = False
    return served


def _dispatch_request(app: App, body: bytes, request: Request) -> Response:
    """Pass a request to Bolt; answer 401 without details if it is not signed."""
    signature = request.headers.get("x-slack-signature", "")
    stamp = request.headers.get("x-slack-request-timestamp", "0")
    if not _TIMESTAMP_FORMAT.fullmatch(stamp) or not signature.isascii():
        return Response(status_code=_UNSIGNED)
    headers = {
        "content-type": request.headers.get("content-type", ""),
        "x-slack-signature": signature,
        "x-slack-request-timestamp": stamp,
    }
    try:
        bolt_request = BoltRequest(body=body.decode("utf-8"), headers=dict(headers))
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return Response(status_code=_UNSIGNED)  # Bolt cannot parse it
    answer = app.dispatch(bolt_request)
    kind = answer.first_headers().get("content-type", "text/plain")
    return Response(answer.body, status_code=answer.status, headers={"content-type": kind})


_JOIN_SECONDS = 5.0


class SlackRunner:
    """Store requests from the start, and process them once Slack has told the bot's identity."""

    def __init__(
        self,
        memory: Memory,
        bot: MessageHandler,
        calls: SlackWebApi,
        log: BotLog,
        *,
        threads: int = limits.CHAT_THREADS_DEFAULT_COUNT,
        drain_seconds: float = limits.CHAT_DRAIN_SECONDS,
        backoff_seconds: float = limits.CHAT_BACKOFF_SECONDS,
    ) -> None:
        self._memory = memory
        self._bot = bot
        self._api = calls
        self._log = log
        self._thread_count = threads
        self._drain_seconds = drain_seconds
        self._backoff_seconds = backoff_seconds
        self._stop = threading.Event()
        self._connecting = threading.Thread(target=self._connect, name="tacit-slack", daemon=True)
        self._dispatcher: Dispatcher | None = None
        self.connected = threading.Event()

    def add_updates(self, updates: Sequence[Update]) -> int:
        """Store updates durably."""
        dispatcher = self._dispatcher
        if dispatcher is None:
            return self._memory.inbox.add(CHANNEL, updates)
        return dispatcher.add_updates(updates)

    def wait_until_idle(self, seconds: float) -> bool:
        return self._dispatcher is not None and self._dispatcher.wait_until_idle(seconds)

    def __enter__(self) -> SlackRunner:
        self._connecting.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._connecting.join(_JOIN_SECONDS)
        if self._dispatcher is not None:
            self._dispatcher.stop(self._drain_seconds)

    def _connect(self) -> None:
        patience = ChannelRetry(CHANNEL, self._log, self._stop, self._backoff_seconds)
        me = patience.call_until_done(self._api.get_identity)
        if me is None or self._stop.is_set():
            return
        known = UserCache(self._api.get_user)
        dispatcher = Dispatcher(
            self._memory,
            self._bot,
            CHANNEL,
            SlackParser(me, known),
            SlackSender(self._api, me, known),
            self._log,
            threads=self._thread_count,
        )
        dispatcher.start()
        self._dispatcher = dispatcher
        self._log.tell("answering", channel=CHANNEL)
        self.connected.set()


# Secrets and the process.

_TOKEN_FORMAT = re.compile(r"xoxb-[A-Za-z0-9-]{1,200}")
_SECRET_FORMAT = re.compile(r"[!-~]{8,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSecrets:
    token: str = field(repr=False)
    signing: str = field(repr=False)  # what Slack signs its requests with


def read_slack_secrets(how: SlackSettings, environ: Mapping[str, str]) -> SlackSecrets:
    """Read the environment variables that the settings name; report all problems at once."""
    token = environ.get(how.token_env, "").strip()
    signing = environ.get(how.secret_env, "").strip()
    wrong: list[str] = []
    if not _TOKEN_FORMAT.fullmatch(token):
        variable = describe_variable("slack.token_env", how.token_env)
        fix = "set it to the bot token of the app, which begins with xoxb-"
        wrong.append(f"{variable} {'is not a bot token' if token else 'is not set'}: {fix}")
    if not _SECRET_FORMAT.fullmatch(signing):
        variable = describe_variable("slack.secret_env", how.secret_env)
        fix = "set it to the signing secret, which Slack shows under Basic Information"
        wrong.append(f"{variable} {'is not such a secret' if signing else 'is not set'}: {fix}")
    if wrong:
        raise SettingsError("; ".join(wrong))
    return SlackSecrets(token=token, signing=signing)


def run_slack(memory: Memory, settings: Settings, known: SlackSecrets, log: ServerLog) -> None:
    """Run until SIGTERM or SIGINT. Stored updates that are not done wait for the next start."""
    how = settings.slack
    client = BoundedClient(known.token, how.api_url)
    bot = Bot(memory, settings.chat, console=settings.console)
    running = SlackRunner(memory, bot, SlackWebApi(client), log, threads=settings.chat.threads)
    app = create_web_app(
        create_bolt_app(client, known.signing, running.add_updates, how.allowed_chats)
    )
    with bind_socket(how.host, how.port, "slack") as listening:
        log.tell("listening", address=socket_url(listening))
        with running:
            watched = RequestLogMiddleware(app, log, request_spans(settings))
            serve(app, watched, listening, settings.server, log)
    bot.log_counts(log, CHANNEL)
