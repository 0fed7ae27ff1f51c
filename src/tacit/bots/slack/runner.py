"""Run the Slack bot: verify and store requests, and answer them until it is stopped."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from slack_bolt import BoltRequest
from slack_sdk.signature import SignatureVerifier
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tacit import Update, limits
from tacit.bots import texts
from tacit.bots.bot import Bot
from tacit.bots.channel import ChannelRetry, read_secret
from tacit.bots.dispatcher import Dispatcher, MessageHandler, UpdateHandler
from tacit.bots.messages import BotLog
from tacit.bots.slack.client import SlackClient, SlackSender
from tacit.bots.slack.updates import CHANNEL, SlackParser, UserCache, encode_event, parse_request
from tacit.errors import InvalidInput, SettingsError, StoreError
from tacit.memory import Memory
from tacit.server.logs import ServerLog
from tacit.server.middleware import read_body
from tacit.server.process import bind_socket, run_server, socket_url
from tacit.settings import Settings, SlackSettings

# The endpoint: requests are verified, stored and then acknowledged, and processed after that.

AddUpdates = Callable[[Sequence[Update]], int]

EVENTS_PATH = "/slack/events"
_TIMESTAMP_FORMAT = re.compile(r"[0-9]{1,12}")
_ID_COMMAND = re.compile(r"\s*/?id\s*", re.IGNORECASE)


def create_web_app(secret: str, take_in: AddUpdates, allowed: Sequence[str] = ()) -> Starlette:
    """Serve one URL for events, commands and buttons, which Slack signs with the secret."""
    verifier, only = SignatureVerifier(secret), frozenset(allowed)

    def handle(body: bytes, headers: Mapping[str, str]) -> Response:
        stamp = headers.get("x-slack-request-timestamp", "")
        signature = headers.get("x-slack-signature", "")
        try:
            signed = _TIMESTAMP_FORMAT.fullmatch(stamp) and signature.isascii()
            if not signed or not verifier.is_valid(body, stamp, signature):
                return Response(status_code=401)
            request = BoltRequest(body=body.decode(), headers={"content-type": headers.get("content-type", "")})
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
            return Response(status_code=401)  # it cannot be parsed
        return _answer_request(request.body, request.context.team_id, take_in, only)

    async def receive(request: Request) -> Response:
        if request.app.state.draining:
            return Response(status_code=503)  # Slack retries
        body = await read_body(request, limits.CHAT_BODY_MAX_BYTES)
        if body is None:
            return Response(status_code=413)
        return await run_in_threadpool(handle, body, request.headers)

    served = Starlette(routes=[Route(EVENTS_PATH, receive, methods=["POST"])])
    served.state.draining = False
    return served


def _answer_request(body: dict[str, Any], team: str | None, take_in: AddUpdates, only: frozenset[str]) -> Response:
    """Store a request. In a chat that is not allowed only the id command is answered."""
    if body.get("type") == "url_verification":
        return JSONResponse({"challenge": body.get("challenge")})
    sent = parse_request(body, team)
    if sent is None:
        return Response()
    # A private chat is also allowed by the person's key.
    own = sent.place == "private" and sent.person in only
    if not only or sent.chat in only or own:
        try:
            take_in([Update(sent.id, sent.chat, encode_event(sent), sent.person)])
        except StoreError:
            return Response(status_code=503)  # Slack retries
        except InvalidInput:
            pass  # such as one that is too large: it would fail again
        return Response()
    if sent.act != "command" or not _ID_COMMAND.fullmatch(sent.text):
        return Response()
    lines = (texts.CHAT_NOT_ALLOWED, f"This chat: {sent.chat}", f"You: {sent.person or 'unknown'}")
    return JSONResponse({"response_type": "ephemeral", "text": "\n".join(lines)})


_JOIN_SECONDS = 5.0


class SlackRunner:
    """Store requests from the start, and process them once Slack has told the bot's identity."""

    def __init__(
        self,
        memory: Memory,
        bot: MessageHandler,
        client: SlackClient,
        log: BotLog,
        *,
        threads: int = limits.CHAT_THREADS_DEFAULT_COUNT,
        drain_seconds: float = limits.CHAT_DRAIN_SECONDS,
        backoff_seconds: float = limits.CHAT_BACKOFF_SECONDS,
    ) -> None:
        self._memory, self._bot, self._client, self._log = memory, bot, client, log
        self._threads, self._drain_seconds = threads, drain_seconds
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

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._connecting.join(_JOIN_SECONDS)
        if self._dispatcher is not None:
            self._dispatcher.stop(self._drain_seconds)

    def _connect(self) -> None:
        patience = ChannelRetry(CHANNEL, self._log, self._stop, self._backoff_seconds)
        me = patience.call_until_done(self._client.get_identity)
        if me is None or self._stop.is_set():
            return
        known = UserCache(self._client.get_user)
        parser, sender = SlackParser(me, known), SlackSender(self._client, me, known)
        handler = UpdateHandler(self._memory, self._bot, CHANNEL, parser, sender, self._log)
        dispatcher = Dispatcher(handler, threads=self._threads)
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
    forms = (
        (
            "slack.token_env",
            how.token_env,
            _TOKEN_FORMAT,
            "is not a bot token",
            "set it to the bot token of the app, which begins with xoxb-",
        ),
        (
            "slack.secret_env",
            how.secret_env,
            _SECRET_FORMAT,
            "is not such a secret",
            "set it to the signing secret, which Slack shows under Basic Information",
        ),
    )
    found, problems = [], []
    for setting, name, form, wrong, fix in forms:
        try:
            found.append(read_secret(environ, setting, name, form, wrong=wrong, fix=fix))
        except SettingsError as problem:
            problems.append(str(problem))
    if problems:
        raise SettingsError("; ".join(problems))
    return SlackSecrets(token=found[0], signing=found[1])


def run_slack(memory: Memory, settings: Settings, known: SlackSecrets, log: ServerLog) -> None:
    """Run until SIGTERM or SIGINT. Stored updates that are not done wait for the next start."""
    how = settings.slack
    bot = Bot(memory, settings.chat, console=settings.console)
    with closing(SlackClient(known.token, how.api_url)) as client:
        running = SlackRunner(memory, bot, client, log, threads=settings.chat.threads)
        app = create_web_app(known.signing, running.add_updates, how.allowed_chats)
        with bind_socket(how.host, how.port, "slack") as listening:
            log.tell("listening", address=socket_url(listening))
            with running:
                run_server(app, listening, settings, log)
    bot.log_counts(log, CHANNEL)
