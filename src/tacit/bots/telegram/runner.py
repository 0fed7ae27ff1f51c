"""Run the Telegram bot: receive updates by polling or webhook until it is stopped."""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit import Update, limits
from tacit.bots import texts
from tacit.bots.bot import Bot
from tacit.bots.dispatcher import BotLog, ChannelRetry, Dispatcher, StopSignal, compute_backoff
from tacit.bots.messages import (
    ButtonPressed,
    InboundMessage,
    MembersJoined,
    MembersLeft,
    TextMessage,
)
from tacit.bots.telegram.client import (
    BotCall,
    TelegramCallFailed,
    TelegramClient,
    TelegramSender,
    telegram_number,
)
from tacit.bots.telegram.updates import (
    CHANNEL,
    UPDATE_KINDS,
    JsonObject,
    TelegramIdentity,
    TelegramParser,
    get_integer,
    get_object,
    get_text,
)
from tacit.errors import InvalidInput, SettingsError, StoreError
from tacit.memory import Memory
from tacit.settings import Settings, TelegramSettings
from tacit.settings.parsers import describe_variable

if TYPE_CHECKING:
    from tacit.server.logs import ServerLog as ServingLog


# Polling. Telegram deletes updates when later ones are requested, so the offset advances only
# after all of them are in the inbox.

_INBOX_PROBLEM = "updates cannot be stored: the database rejects them"
_EARLY_FRACTION = 0.5  # of the poll time: an empty response before that is early
_EARLY_PAUSE_MAX_SECONDS = 5.0  # a message sent meanwhile should not wait long


def poll_updates(
    line: TelegramClient,
    take_in: Callable[[Sequence[JsonObject]], None],
    patience: ChannelRetry,
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
            updates = line.get_updates(offset, seconds)
        except TelegramCallFailed as problem:
            patience.record_failure(str(problem), problem.wait_seconds)
            continue
        try:
            take_in(updates)
        except StoreError:
            patience.record_failure(_INBOX_PROBLEM)
            continue
        numbers = [id for one in updates if (id := get_integer(one, "update_id")) is not None]
        if updates and not numbers:
            patience.record_failure(str(TelegramCallFailed("unlike")))
            continue
        patience.record_success()
        # Send an offset once: Telegram remembers it. After a week without updates Telegram may
        # restart its numbers below an offset that we would keep sending.
        offset = max(numbers) + 1 if numbers else None
        early = early + 1 if not updates and now() - asked < seconds * _EARLY_FRACTION else 0
        if early:
            # Behind a proxy that does not allow long polls we would poll without pause.
            stop.wait(min(compute_backoff(early), _EARLY_PAUSE_MAX_SECONDS))


_ID_COMMAND = "/id"


class UpdateReceiver:
    """Store updates that can be parsed and come from allowed chats."""

    def __init__(
        self,
        reading: TelegramParser,
        take_in: Callable[[Sequence[Update]], int],
        line: TelegramClient,
        log: BotLog,
    ) -> None:
        self._parser = reading
        self._take_in = take_in
        self._client = line
        self._log = log

    def __call__(self, raw: Sequence[JsonObject]) -> None:
        """Store updates durably: when this returns, Telegram may delete them."""
        updates: list[Update] = []
        answers: list[BotCall[object]] = []
        for one in raw:
            heard = self._parse(one)
            if heard is None:
                continue
            if not self._parser.allows(heard.chat):
                answers += [_send_chat_id(heard)] if _asks_for_id(heard) else []
                continue
            update = _make_update(heard, one)
            if len(update.payload.encode()) > limits.UPDATE_MAX_BYTES:
                self._log.tell("update left out", problem="it is too large")
                continue
            updates.append(update)
            if isinstance(heard, ButtonPressed):
                answers.append(
                    _acknowledge_button(get_text(get_object(one, "callback_query"), "id"))
                )
        self._keep(updates)
        self._client.call_in_background(answers)

    def _parse(self, raw: JsonObject) -> InboundMessage | None:
        try:
            return self._parser.parse(raw)
        except Exception as error:  # noqa: BLE001 - one odd update must not block all others
            self._log.failed("update left out", error)
            return None

    def _keep(self, updates: Sequence[Update]) -> None:
        """Store all at once; if one of them is invalid, store the others."""
        if not updates:
            return
        try:
            self._take_in(updates)
        except InvalidInput as error:
            if len(updates) == 1:
                self._log.failed("update left out", error)
                return
            for update in updates:
                self._keep([update])


def _make_update(heard: InboundMessage, raw: JsonObject) -> Update:
    people = heard.people if isinstance(heard, MembersJoined | MembersLeft) else ()
    who = heard.who or next(iter(people), None)
    return Update(
        id=heard.update,
        chat=heard.chat.id,
        payload=json.dumps(raw, ensure_ascii=True, separators=(",", ":")),
        person=None if who is None else who.key,
    )


def _acknowledge_button(query: str) -> BotCall[object]:
    """Acknowledge a button, which Telegram shows as busy until then."""
    return lambda bot: bot.answer_callback_query(query)


def _asks_for_id(heard: InboundMessage) -> bool:
    return isinstance(heard, TextMessage) and not heard.edited and heard.text.strip() == _ID_COMMAND


def _send_chat_id(heard: InboundMessage) -> BotCall[object]:
    """Answer /id in a chat that is not allowed, without storing anything."""
    text = f"{texts.CHAT_NOT_ALLOWED}\nchat {heard.chat.id}"
    topic = None if heard.thread is None else int(heard.thread)
    return lambda bot: bot.send_message(
        telegram_number(heard.chat.id), text, message_thread_id=topic
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
    token = environ.get(how.token_env, "").strip()
    variable = describe_variable("telegram.token_env", how.token_env)
    if not token:
        fix = "set it to the token that @BotFather gave you"
        raise SettingsError(f"{variable} is not set: {fix}")
    if not _TOKEN_FORMAT.fullmatch(token):
        fix = "set it to what @BotFather gave you, which looks like 123456:ABC-DEF"
        raise SettingsError(f"{variable} is not a token: {fix}")
    if how.mode == "polling":
        return TelegramSecrets(token=token)
    secret = environ.get(how.secret_env, "").strip()
    if not _SECRET_FORMAT.fullmatch(secret):
        fix = (
            f"choose 1 to {limits.TELEGRAM_SECRET_MAX_CHARS} letters, digits, _ and -, which "
            "Telegram then sends with every update"
        )
        variable = describe_variable("telegram.secret_env", how.secret_env)
        problem = "is not a secret that Telegram accepts" if secret else "is not set"
        raise SettingsError(f"{variable} {problem}: {fix}")
    return TelegramSecrets(token=token, webhook=secret)


class TelegramRunner:
    """Connect the Bot API, the bot and the memory."""

    def __init__(
        self,
        memory: Memory,
        settings: Settings,
        line: TelegramClient,
        me: TelegramIdentity,
        log: BotLog,
        stop: StopSignal,
    ) -> None:
        reading = TelegramParser(me, settings.telegram.allowed_chats)
        self.bot = Bot(memory, settings.chat, console=settings.console)
        outlet = TelegramSender(line, stop.wait)
        threads = settings.chat.threads
        self.dispatcher = Dispatcher(
            memory, self.bot, CHANNEL, reading, outlet, log, threads=threads
        )
        self.receive = UpdateReceiver(reading, self.dispatcher.add_updates, line, log)
        self._log = log

    def stop(self) -> None:
        self.dispatcher.stop()
        self.bot.log_counts(self._log, CHANNEL)


def run_telegram(
    memory: Memory, settings: Settings, known: TelegramSecrets, log: ServingLog
) -> None:
    """Run until SIGTERM or SIGINT."""
    stop = threading.Event()
    line = TelegramClient(known.token, settings.telegram.api_url)

    def end() -> None:
        stop.set()
        line.stop_polling()

    try:
        with handle_signals(end):
            if settings.telegram.mode == "polling":
                run_polling(memory, settings, line, log, stop)
            else:
                run_webhook(memory, settings, line, known.webhook, log, stop)
    finally:
        line.close()


def run_polling(
    memory: Memory, settings: Settings, line: TelegramClient, log: BotLog, stop: StopSignal
) -> None:
    patience = ChannelRetry(CHANNEL, log, stop)
    me = patience.call_until_done(line.get_identity)
    # Telegram refuses polls while a webhook is set.
    if me is None or not patience.call_until_done(
        lambda: line.call(lambda bot: bot.delete_webhook())
    ):
        return
    telegram = TelegramRunner(memory, settings, line, me, log, stop)
    telegram.dispatcher.start()
    log.tell("answering", channel=CHANNEL, mode="polling")
    try:
        poll_updates(line, telegram.receive, patience, stop)
    finally:
        telegram.stop()


def run_webhook(
    memory: Memory,
    settings: Settings,
    line: TelegramClient,
    secret: str,
    log: ServingLog,
    stop: StopSignal,
) -> None:
    from tacit.bootstrap import request_spans
    from tacit.bots.telegram.webhook import create_webhook_app
    from tacit.server.logs import RequestLogMiddleware
    from tacit.server.process import bind_socket, socket_url
    from tacit.server.process import run_server as serve

    how, patience = settings.telegram, ChannelRetry(CHANNEL, log, stop)
    with bind_socket(how.host, how.port, "telegram") as listening:
        log.tell("listening", address=socket_url(listening))
        me = patience.call_until_done(line.get_identity)
        if me is None or not patience.call_until_done(
            lambda: register_webhook(line, how.webhook_url, secret)
        ):
            return
        telegram = TelegramRunner(memory, settings, line, me, log, stop)
        telegram.dispatcher.start()
        log.tell("answering", channel=CHANNEL, mode="webhook")
        served = create_webhook_app(telegram.receive, how.webhook_url, secret)
        try:
            watched = RequestLogMiddleware(served, log, request_spans(settings))
            serve(served, watched, listening, settings.server, log)
        finally:
            telegram.stop()


def register_webhook(line: TelegramClient, url: str, secret: str) -> bool:
    """Make Telegram send updates to the URL, with the secret."""
    return line.call(
        lambda bot: bot.set_webhook(url, secret_token=secret, allowed_updates=list(UPDATE_KINDS))
    )


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
