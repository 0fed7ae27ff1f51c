"""The bot, put together and kept going until it is told to stop."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit import limits
from tacit.errors import SettingsError
from tacit.memory import Memory
from tacit.settings import Settings, TelegramSettings
from tacit.settings.sections import describe_variable
from tacit.surfaces.chat.bot import Bot
from tacit.surfaces.chat.patience import Patience, Stop
from tacit.surfaces.chat.rooms import Rooms
from tacit.surfaces.chat.working import Log
from tacit.surfaces.telegram.line import Line
from tacit.surfaces.telegram.polling import poll
from tacit.surfaces.telegram.reading import CHANNEL, KINDS, Me, Reading
from tacit.surfaces.telegram.sending import TelegramOutlet
from tacit.surfaces.telegram.taking import Taking

if TYPE_CHECKING:
    from tacit.server.logs import ServerLog as ServingLog

_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,200}")
_SECRET = re.compile(rf"[A-Za-z0-9_-]{{1,{limits.TELEGRAM_SECRET_MAX_CHARS}}}")
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    token: str = field(repr=False)
    webhook: str = field(default="", repr=False)  # empty where nobody tells us anything


def secrets(how: TelegramSettings, environ: Mapping[str, str]) -> Secrets:
    """From the variables that the settings name."""
    token = environ.get(how.token_env, "").strip()
    variable = describe_variable("telegram.token_env", how.token_env)
    if not token:
        fix = "set it to the token that @BotFather gave you"
        raise SettingsError(f"{variable} is not set: {fix}")
    if not _TOKEN.fullmatch(token):
        fix = "set it to what @BotFather gave you, which looks like 123456:ABC-DEF"
        raise SettingsError(f"{variable} holds no token: {fix}")
    if how.mode == "polling":
        return Secrets(token=token)
    secret = environ.get(how.secret_env, "").strip()
    if not _SECRET.fullmatch(secret):
        fix = (
            f"make up 1 to {limits.TELEGRAM_SECRET_MAX_CHARS} letters, digits, _ and -, which "
            "Telegram then shows us with every update"
        )
        variable = describe_variable("telegram.secret_env", how.secret_env)
        problem = "holds no secret that Telegram takes" if secret else "is not set"
        raise SettingsError(f"{variable} {problem}: {fix}")
    return Secrets(token=token, webhook=secret)


class Telegram:
    """What is between the Bot API and a memory."""

    def __init__(
        self, memory: Memory, settings: Settings, line: Line, me: Me, log: Log, stop: Stop
    ) -> None:
        reading = Reading(me, settings.telegram.allowed_chats)
        self.bot = Bot(memory, settings.chat, console=settings.console)
        outlet = TelegramOutlet(line, stop.wait)
        threads = settings.chat.threads
        self.dispatcher = Rooms(memory, self.bot, CHANNEL, reading, outlet, log, threads=threads)
        self.receive = Taking(reading, self.dispatcher.add_updates, line, log)
        self._log = log

    def stop(self) -> None:
        self.dispatcher.stop()
        self.bot.log_counts(self._log, CHANNEL)


def run(memory: Memory, settings: Settings, known: Secrets, log: ServingLog) -> None:
    """Until SIGTERM or SIGINT."""
    stop = threading.Event()
    line = Line(known.token, settings.telegram.api_url)

    def end() -> None:
        stop.set()
        line.stop_polling()

    try:
        with ending(end):
            if settings.telegram.mode == "polling":
                polling(memory, settings, line, log, stop)
            else:
                told(memory, settings, line, known.webhook, log, stop)
    finally:
        line.close()


def polling(memory: Memory, settings: Settings, line: Line, log: Log, stop: Stop) -> None:
    patience = Patience(CHANNEL, log, stop)
    me = patience.call_until_done(line.get_identity)
    # As long as Telegram tells somebody, it does not answer who asks.
    if me is None or not patience.call_until_done(
        lambda: line.call(lambda bot: bot.delete_webhook())
    ):
        return
    telegram = Telegram(memory, settings, line, me, log, stop)
    telegram.dispatcher.start()
    log.tell("answering", channel=CHANNEL, mode="polling")
    try:
        poll(line, telegram.receive, patience, stop)
    finally:
        telegram.stop()


def told(
    memory: Memory, settings: Settings, line: Line, secret: str, log: ServingLog, stop: Stop
) -> None:
    from tacit.bootstrap import request_spans
    from tacit.server.logs import RequestLogMiddleware
    from tacit.server.process import bind_socket, socket_url
    from tacit.server.process import run_server as serve
    from tacit.surfaces.telegram.webhook import app

    how, patience = settings.telegram, Patience(CHANNEL, log, stop)
    with bind_socket(how.host, how.port, "telegram") as listening:
        log.tell("listening", address=socket_url(listening))
        me = patience.call_until_done(line.get_identity)
        if me is None or not patience.call_until_done(
            lambda: announce(line, how.webhook_url, secret)
        ):
            return
        telegram = Telegram(memory, settings, line, me, log, stop)
        telegram.dispatcher.start()
        log.tell("answering", channel=CHANNEL, mode="webhook")
        served = app(telegram.receive, how.webhook_url, secret)
        try:
            watched = RequestLogMiddleware(served, log, request_spans(settings))
            serve(served, watched, listening, settings.server, log)
        finally:
            telegram.stop()


def announce(line: Line, url: str, secret: str) -> bool:
    """From here on Telegram tells us, and shows the secret."""
    return line.call(
        lambda bot: bot.set_webhook(url, secret_token=secret, allowed_updates=list(KINDS))
    )


@contextmanager
def ending(end: Callable[[], None]) -> Iterator[None]:
    """A signal ends it, from a thread of its own: whoever is interrupted may hold what it needs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def told_to_stop(*_: object) -> None:
        threading.Thread(target=end, name="tacit-telegram-end", daemon=True).start()

    before = {one: signal.signal(one, told_to_stop) for one in _SIGNALS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
