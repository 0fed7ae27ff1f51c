"""The commands that hold conversations: bots that answer in a channel, and a terminal."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from tacit import Chat, Requester
from tacit.errors import MissingExtra
from tacit.surfaces.cli import rooms
from tacit.surfaces.cli.answers import Answer, Stream
from tacit.surfaces.cli.console import Console
from tacit.surfaces.cli.exits import MemoryDisabled
from tacit.surfaces.cli.session import Session

if TYPE_CHECKING:
    from tacit.memory import Memory
    from tacit.surfaces.serving.logs import Log

_LISTENING = ("starlette", "structlog", "uvicorn")  # what every bot that listens needs
_ENDED = Answer(document={"answered": True}, lines=())
_OF_A_BOT = "--db, --config, --space and --json work here too: see `tacit --help`."


def telegram_options(parser: ArgumentParser) -> None:
    parser.epilog = f"""\
The bot's token, from @BotFather, is read from the variable TELEGRAM_BOT_TOKEN.
How to set it up, for groups and webhooks too: docs/telegram.md.
{_OF_A_BOT}"""


def slack_options(parser: ArgumentParser) -> None:
    parser.epilog = f"""\
The app's secrets are read from the variables SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET.
How to make the app in Slack: docs/slack.md.
{_OF_A_BOT}"""


def chat_options(parser: ArgumentParser) -> None:
    parser.epilog = f"""\
Begin with `tacit chat --as local:me --name Me`. To press a button, type its number; /help tells
the commands, Ctrl-D ends it. More: docs/chat.md and docs/commands.md.
{parser.epilog}"""


def telegram(session: Session) -> Answer:
    _require("telegram", "a Telegram bot", "telegram")
    from tacit.surfaces.telegram.run import run, secrets

    settings = session.settings
    known = secrets(settings.telegram, os.environ)
    return _answering(session, lambda memory, log: run(memory, settings, known, log))


def slack(session: Session) -> Answer:
    _require("slack", "a Slack bot", "slack_bolt")
    from tacit.surfaces.slack.run import run, secrets

    settings = session.settings
    known = secrets(settings.slack, os.environ)
    return _answering(session, lambda memory, log: run(memory, settings, known, log))


def chat(session: Session) -> Stream:
    """Answers are printed as they come: there is no end before the person makes one."""
    from tacit.surfaces.chat.bot import Bot
    from tacit.surfaces.terminal.conversation import Conversation
    from tacit.surfaces.terminal.screen import TerminalScreen

    who, where = _present(session)
    memory, settings = session.memory, session.settings
    view = memory.view(who, where)
    console = Console(as_json=session.args.json)
    if view.enabled:
        console.note("type /help for what there is, and Ctrl-D to leave")
    else:
        console.note(f"memory is disabled: {view.why_disabled}")
    prompt = "you> " if view.enabled else "you (memory is disabled)> "
    screen = TerminalScreen(console, prompt, enabled=view.enabled)
    bot = Bot(memory, settings.chat, console=settings.console)
    has_model = memory.has_model() or not view.enabled
    Conversation(bot, who, where, screen, has_model=has_model).run()
    if view.enabled and settings.learn.enabled:
        memory.catch_up()  # the next conversation knows of this one
    return Stream(lines=())


def _present(session: Session) -> tuple[Requester | None, Chat]:
    """Who talks, and where. Without anybody there is a conversation too, which nobody remembers."""
    from tacit.surfaces.terminal.conversation import NOWHERE

    person = rooms.requester(session.args, session.settings.memory.local_person)
    if person is None:
        return None, NOWHERE
    if session.settings.memory.enabled:
        person = session.requester
    return person, rooms.chat(session.args, person)


def _require(extra: str, what: str, library: str) -> None:
    try:
        for one in (library, *_LISTENING):
            import_module(one)
    except ImportError as error:
        raise MissingExtra(extra, what) from error


def _answering(session: Session, run: Callable[[Memory, Log], None]) -> Answer:
    """A bot, until it is told to stop. It learns meanwhile, unless that is left to others."""
    from tacit.surfaces.serving.logs import Log, take_over

    settings = session.settings
    if not settings.memory.enabled:
        from tacit.memory import SWITCHED_OFF

        raise MemoryDisabled(SWITCHED_OFF)
    log = Log(settings.server.log)
    take_over(log)
    memory = session.memory
    if settings.learn.workers:
        memory.keep_working()
    run(memory, log)
    session.close()  # what is being learned is left to whoever comes next
    log.tell("stopped")
    return _ENDED
