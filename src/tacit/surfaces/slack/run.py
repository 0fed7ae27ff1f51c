"""The bot, put together and kept going until it is told to stop."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tacit.bootstrap import request_spans
from tacit.errors import SettingsError
from tacit.memory import Memory
from tacit.server.logs import RequestLogMiddleware, ServerLog
from tacit.server.process import bind_socket, socket_url
from tacit.server.process import run_server as serve
from tacit.settings import Settings, SlackSettings
from tacit.settings.sections import describe_variable
from tacit.surfaces.chat.bot import Bot
from tacit.surfaces.slack.app import bolt, door
from tacit.surfaces.slack.at_work import AtWork
from tacit.surfaces.slack.bounded import BoundedClient
from tacit.surfaces.slack.calls import Calls
from tacit.surfaces.slack.reading import CHANNEL

_TOKEN = re.compile(r"xoxb-[A-Za-z0-9-]{1,200}")
_SECRET = re.compile(r"[!-~]{8,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    token: str = field(repr=False)
    signing: str = field(repr=False)  # what Slack signs its requests with


def secrets(how: SlackSettings, environ: Mapping[str, str]) -> Secrets:
    """From the variables that the settings name. All that is wrong is told at once."""
    token = environ.get(how.token_env, "").strip()
    signing = environ.get(how.secret_env, "").strip()
    wrong: list[str] = []
    if not _TOKEN.fullmatch(token):
        variable = describe_variable("slack.token_env", how.token_env)
        fix = "set it to the bot token of the app, which begins with xoxb-"
        wrong.append(f"{variable} {'holds no bot token' if token else 'is not set'}: {fix}")
    if not _SECRET.fullmatch(signing):
        variable = describe_variable("slack.secret_env", how.secret_env)
        fix = "set it to the signing secret, which Slack shows under Basic Information"
        wrong.append(f"{variable} {'holds no such secret' if signing else 'is not set'}: {fix}")
    if wrong:
        raise SettingsError("; ".join(wrong))
    return Secrets(token=token, signing=signing)


def run(memory: Memory, settings: Settings, known: Secrets, log: ServerLog) -> None:
    """Until SIGTERM or SIGINT. What was taken in and not done waits for the next start."""
    how = settings.slack
    client = BoundedClient(known.token, how.api_url)
    bot = Bot(memory, settings.chat, console=settings.console)
    running = AtWork(memory, bot, Calls(client), log, threads=settings.chat.threads)
    app = door(bolt(client, known.signing, running.add_updates, how.allowed_chats))
    with bind_socket(how.host, how.port, "slack") as listening:
        log.tell("listening", address=socket_url(listening))
        with running:
            watched = RequestLogMiddleware(app, log, request_spans(settings))
            serve(app, watched, listening, settings.server, log)
    bot.log_counts(log, CHANNEL)
