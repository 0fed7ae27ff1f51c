"""Run the Telegram bot: receive updates by polling or webhook until it is stopped."""

from __future__ import annotations

import hmac
import json
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from tacit import Update, limits
from tacit.bots import messages, texts
from tacit.bots.bot import Bot
from tacit.bots.channel import ChannelRetry, JsonObject, StopSignal, get_object, read_secret
from tacit.bots.dispatcher import Dispatcher, UpdateHandler
from tacit.bots.telegram.client import TelegramCallFailed, TelegramClient, TelegramSender
from tacit.bots.telegram.updates import CHANNEL, UPDATE_KINDS, TelegramParser, get_integer, get_text
from tacit.errors import InvalidInput, StoreError
from tacit.http import parse_json_object
from tacit.memory import Memory
from tacit.settings import Settings, TelegramSettings

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from tacit.server.logs import ServerLog

TakeUpdates = Callable[[Sequence[JsonObject]], None]

# Polling. Telegram deletes updates when later ones are requested, so the offset advances only
# after all of them are in the inbox.

_INBOX_PROBLEM = "updates cannot be stored: the database rejects them"
_EARLY_FRACTION = 0.5  # of the poll time: an empty response before that is early
_EARLY_PAUSE_MAX_SECONDS = 5.0  # a message sent meanwhile should not wait long


def poll_updates(
    client: TelegramClient,
    take_in: TakeUpdates,
    retry: ChannelRetry,
    stop: StopSignal,
    seconds: int = limits.TELEGRAM_POLL_SECONDS,
    now: Callable[[], float] = time.monotonic,
) -> None:
    """Poll until stopped."""
    offset: int | None = None
    early = 0  # consecutive empty responses before the poll time was over
    while not stop.is_set():
        asked = now()
        try:
            updates = client.get_updates(offset, seconds)
            take_in(updates)
            numbers = [id for one in updates if (id := get_integer(one, "update_id")) is not None]
            if updates and not numbers:
                raise TelegramCallFailed("unlike")
        except messages.NotSent as problem:
            retry.record_failure(str(problem), problem.wait_seconds)
            continue
        except StoreError:
            retry.record_failure(_INBOX_PROBLEM)
            continue
        retry.record_success()
        # Send an offset once: Telegram remembers it. After a week without updates Telegram may
        # restart its numbers below an offset that we would keep sending.
        offset = max(numbers) + 1 if numbers else None
        early = early + 1 if not updates and now() - asked < seconds * _EARLY_FRACTION else 0
        if early:
            # Behind a proxy that does not allow long polls we would poll without pause.
            stop.wait(min(messages.compute_backoff(early), _EARLY_PAUSE_MAX_SECONDS))


# The webhook: Telegram posts each update, authenticated by a secret.

_SECRET_HEADER = "x-telegram-bot-api-secret-token"
# One route for all paths: the log shows the route, and the real path may contain a secret.
_ANY_PATH = "/{path:path}"


def create_webhook_app(take_in: TakeUpdates, url: str, secret: str) -> Starlette:
    """Make an app that accepts updates at the path of the public webhook URL."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import Response
    from starlette.routing import Route

    from tacit.server.middleware import read_body

    path = unquote(urlsplit(url).path) or "/"

    async def receive(request: Request) -> int:
        if not hmac.compare_digest(request.scope["path"].encode(), path.encode()):
            return 404
        given = request.headers.get(_SECRET_HEADER, "")
        if not hmac.compare_digest(given.encode(), secret.encode()):
            return 403
        if request.app.state.draining:
            return 503
        body = await read_body(request, limits.CHAT_BODY_MAX_BYTES)
        if body is None:
            return 413
        update = parse_json_object(body)
        if update is None:
            return 400
        try:
            await run_in_threadpool(take_in, [update])
        except StoreError:
            return 503  # Telegram sends it again
        return 200

    async def answer(request: Request) -> Response:
        return Response(status_code=await receive(request))

    served = Starlette(routes=[Route(_ANY_PATH, answer, methods=["POST"])])
    served.state.draining = False
    return served


@dataclass(frozen=True, slots=True)
class UpdateReceiver:
    """Store updates that can be parsed and come from allowed chats."""

    parser: TelegramParser
    take_in: Callable[[Sequence[Update]], int]
    client: TelegramClient
    log: messages.BotLog

    def __call__(self, raw: Sequence[JsonObject]) -> None:
        """Store updates durably: when this returns, Telegram may delete them."""
        updates: list[Update] = []
        answers: list[Callable[[], object]] = []
        for one in raw:
            try:
                heard = self.parser.parse(one)
            except Exception as error:  # noqa: BLE001 - one odd update must not block all others
                self.log.failed("update left out", error)
                continue
            if heard is None:
                continue
            if not self.parser.allows(heard.chat):
                answers += self._answer_id(heard)
                continue
            update = _make_update(heard, one)
            if len(update.payload) > limits.UPDATE_MAX_BYTES:
                self.log.tell("update left out", problem="it is too large")
                continue
            updates.append(update)
            if isinstance(heard, messages.ButtonPressed):  # Telegram shows it as busy until then
                query = get_text(get_object(one, "callback_query"), "id")
                answers.append(partial(self.client.call, "answerCallbackQuery", callback_query_id=query))
        self._keep(updates)
        self.client.call_in_background(answers)

    def _keep(self, updates: Sequence[Update]) -> None:
        """Store all at once; if one of them is invalid, store the others."""
        if not updates:
            return
        try:
            self.take_in(updates)
        except InvalidInput as error:
            if len(updates) == 1:
                self.log.failed("update left out", error)
                return
            for update in updates:
                self._keep([update])

    def _answer_id(self, heard: messages.InboundMessage) -> list[Callable[[], object]]:
        """Answer /id in a chat that is not allowed, without storing anything."""
        if not isinstance(heard, messages.TextMessage) or heard.edited or heard.text.strip() != "/id":
            return []
        return [
            partial(
                self.client.call,
                "sendMessage",
                chat_id=heard.chat.id.removeprefix(f"{CHANNEL}:"),
                text=f"{texts.CHAT_NOT_ALLOWED}\nchat {heard.chat.id}",
                message_thread_id=heard.thread,
            )
        ]


def _make_update(heard: messages.InboundMessage, raw: JsonObject) -> Update:
    people = heard.people if isinstance(heard, messages.MembersJoined | messages.MembersLeft) else ()
    who = heard.who or next(iter(people), None)
    return Update(
        id=heard.update,
        chat=heard.chat.id,
        payload=json.dumps(raw, separators=(",", ":")),
        person=None if who is None else who.key,
    )


# Secrets and the process.

_TOKEN_FORMAT = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,200}")
_SECRET_FORMAT = re.compile(rf"[A-Za-z0-9_-]{{1,{limits.TELEGRAM_SECRET_MAX_CHARS}}}")
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramSecrets:
    token: str = field(repr=False)
    webhook: str = field(default="", repr=False)  # empty when polling


def read_telegram_secrets(how: TelegramSettings, environ: Mapping[str, str]) -> TelegramSecrets:
    """Read the environment variables that the settings name."""
    token = read_secret(
        environ,
        "telegram.token_env",
        how.token_env,
        _TOKEN_FORMAT,
        wrong="is not a token",
        fix="set it to what @BotFather gave you, which looks like 123456:ABC-DEF",
        missing="set it to the token that @BotFather gave you",
    )
    if how.mode == "polling":
        return TelegramSecrets(token=token)
    webhook = read_secret(
        environ,
        "telegram.secret_env",
        how.secret_env,
        _SECRET_FORMAT,
        wrong="is not a secret that Telegram accepts",
        fix=f"choose 1 to {limits.TELEGRAM_SECRET_MAX_CHARS} letters, digits, _ and -, which "
        "Telegram then sends with every update",
    )
    return TelegramSecrets(token=token, webhook=webhook)


@dataclass(frozen=True, slots=True)
class TelegramProcess:
    """What the two modes share: settings, the client, and how to stop."""

    memory: Memory
    settings: Settings
    client: TelegramClient
    log: messages.BotLog
    stop: StopSignal

    @contextmanager
    def answering(
        self, retry: ChannelRetry, prepare: Callable[[], object]
    ) -> Iterator[tuple[Dispatcher, UpdateReceiver] | None]:
        """Run a dispatcher; yield None if stopped before Telegram answers and is prepared."""
        me = retry.call_until_done(self.client.get_identity)
        if me is None or not retry.call_until_done(prepare):
            yield None
            return
        settings = self.settings
        parser = TelegramParser(me, settings.telegram.allowed_chats)
        bot = Bot(self.memory, settings.chat, console=settings.console)
        sender = TelegramSender(self.client, self.stop.wait)
        handler = UpdateHandler(self.memory, bot, CHANNEL, parser, sender, self.log)
        dispatcher = Dispatcher(handler, threads=settings.chat.threads)
        dispatcher.start()
        self.log.tell("answering", channel=CHANNEL, mode=settings.telegram.mode)
        try:
            yield dispatcher, UpdateReceiver(parser, dispatcher.add_updates, self.client, self.log)
        finally:
            dispatcher.stop()
            bot.log_counts(self.log, CHANNEL)

    def run_polling(self, seconds: int = limits.TELEGRAM_POLL_SECONDS) -> None:
        retry = ChannelRetry(CHANNEL, self.log, self.stop)
        # Telegram refuses polls while a webhook is set.
        with self.answering(retry, partial(self.client.call, "deleteWebhook")) as running:
            if running is not None:
                poll_updates(self.client, running[1], retry, self.stop, seconds)

    def run_webhook(self, secret: str, log: ServerLog) -> None:
        from tacit.server.process import bind_socket, run_server, socket_url

        how = self.settings.telegram
        register = partial(
            self.client.call, "setWebhook", url=how.webhook_url, secret_token=secret, allowed_updates=UPDATE_KINDS
        )
        with bind_socket(how.host, how.port, "telegram") as listening:
            log.tell("listening", address=socket_url(listening))
            retry = ChannelRetry(CHANNEL, log, self.stop)
            with self.answering(retry, register) as running:
                if running is not None:
                    served = create_webhook_app(running[1], how.webhook_url, secret)
                    run_server(served, listening, self.settings, log)


def run_telegram(memory: Memory, settings: Settings, known: TelegramSecrets, log: ServerLog) -> None:
    """Run until SIGTERM or SIGINT."""
    stop = threading.Event()
    client = TelegramClient(known.token, settings.telegram.api_url)
    process = TelegramProcess(memory, settings, client, log, stop)

    def end() -> None:
        stop.set()
        client.stop_polling()

    try:
        with handle_signals(end):
            if settings.telegram.mode == "polling":
                process.run_polling()
            else:
                process.run_webhook(known.webhook, log)
    finally:
        client.close()


@contextmanager
def handle_signals(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` on a signal, in a new thread: the interrupted one may hold a lock it needs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_signal(*_: object) -> None:
        threading.Thread(target=end, name="tacit-telegram-end", daemon=True).start()

    before = {one: signal.signal(one, on_signal) for one in _SIGNALS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
