"""Commands that run until stopped: serve, mcp, chat and bots; links to the console."""

from __future__ import annotations

import os
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from tacit import Chat, Requester, limits
from tacit.cli import inputs, output
from tacit.cli.output import BadUsage, CommandResult, MemoryDisabled, StreamedResult, TerminalWriter
from tacit.cli.session import CommandSession, format_count
from tacit.errors import InvalidInput, MissingExtra, SettingsError
from tacit.records import validation

if TYPE_CHECKING:
    from tacit.memory import Memory
    from tacit.server.logs import ServerLog
    from tacit.settings import ServerSettings, Settings


# The command that makes a link to sign in to the console, for a person or for an operator.

SIGN_IN_COMMAND = "tacit console --for KEY"


def format_sign_in_command(settings: Settings, served: ServerSettings) -> str:
    """The command that makes a link to what is served like this, whatever the settings say."""
    from tacit.server.authentication import console_url

    there = console_url(replace(settings, server=served))
    return SIGN_IN_COMMAND if there == console_url(settings) else f"{SIGN_IN_COMMAND} --url {there}"


def add_console_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--for", dest="person", metavar="KEY", help="the person who signs in: telegram:123")
    add("--operator", metavar="NAME", help="an operator, who sees the whole space under this name")
    add("--url", metavar="URL", help="where the console is; without it, console.url")


def print_console_link(session: CommandSession) -> CommandResult:
    from tacit.server.authentication import local_person, sign_in_url

    person, operator = session.args.person, session.args.operator
    if person is not None and operator is not None:
        raise BadUsage("console: name a person with --for, or an operator, and not both")
    there = _find_console_url(session)
    if person is None and operator is None:
        settings = session.settings
        named = inputs.parse_requester(session.args, settings.memory.local_person)
        person = (named or local_person(settings)).key
    offered = session.memory.offer_sign_in(person=person, operator=operator)
    url = sign_in_url(there, offered.token)
    return CommandResult(
        document={"url": url, "expires_at": output.to_json(offered.expires_at)},
        lines=[url],
        notes=(
            f"it {describe_link_lifetime(session.settings)}, for whoever has it: give it to nobody else",
        ),
    )


def describe_link_lifetime(settings: Settings) -> str:
    return f"works once, within {format_count(settings.console.link_minutes, 'minute')}"


def _find_console_url(session: CommandSession) -> str:
    """Where the console is; refuses where there is none."""
    from tacit.server.authentication import console_url
    from tacit.settings.parsers import console_url as parse_console_url

    settings = session.settings
    if not settings.memory.enabled:
        from tacit.memory import SWITCHED_OFF

        raise MemoryDisabled(SWITCHED_OFF)
    if not settings.console.enabled:
        raise SettingsError("console.enabled: is false, so there is nothing to sign in to")
    if session.args.url:
        return parse_console_url("--url", session.args.url)
    found = console_url(settings)
    if found is None:
        raise BadUsage("console: server.port is 0, so say where it is, with --url")
    return found


# The command that serves memory to others: REST and MCP, until it is told to stop.

_SERVED_RESULT = CommandResult(document={"served": True}, lines=())


def add_serve_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--host", metavar="HOST", help="where to listen; without it, server.host")
    add("--port", type=int, metavar="N", help="and at which port; without it, server.port")
    add("--workers", type=int, metavar="N", help="processes that serve; PostgreSQL only")


def serve(session: CommandSession) -> CommandResult:
    try:
        import structlog  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra("server", "a server") from error
    from tacit.server.logs import ServerLog, capture_logging
    from tacit.server.process import stop_with_parent

    how = _server_settings(session)
    log = ServerLog(how.log)
    with _open_socket(session, how) as listening:
        capture_logging(log)
        if _inherited_socket():
            stop_with_parent()
            return _serve_one_process(session, how, listening, log)
        _announce_server(session, listening, how, log)
        act = _serve_workers if how.workers > 1 else _serve_one_process
        return act(session, how, listening, log)


def _inherited_socket() -> int | None:
    """The number of the socket that a worker was handed; None: this process is on its own."""
    from tacit.server.process import SOCKET_VARIABLE

    number = os.environ.get(SOCKET_VARIABLE, "")
    return int(number) if number.isdecimal() else None


def _server_settings(session: CommandSession) -> ServerSettings:
    """The settings, with what the command line says instead."""
    from tacit.settings.parsers import host as parse_host

    args, how = session.args, session.settings.server
    if not session.settings.memory.enabled:
        from tacit.memory import SWITCHED_OFF

        raise MemoryDisabled(SWITCHED_OFF)
    most = limits.SERVER_WORKERS_MAX_COUNT
    return replace(
        how,
        host=how.host if args.host is None else parse_host("--host", args.host),
        port=how.port
        if args.port is None
        else validation.parse_int("--port", args.port, 0, limits.PORT_MAX),
        workers=how.workers
        if args.workers is None
        else validation.parse_int("--workers", args.workers, 1, most),
    )


def _open_socket(session: CommandSession, how: ServerSettings) -> socket.socket:
    """Refuses whatever would fail later, before anybody is let in. Opening the memory brings its
    schema up to date, once for all workers."""
    from tacit.server.process import bind_socket, require_keys

    number = _inherited_socket()
    if number is not None:
        return socket.socket(fileno=number)
    if how.workers > 1 and not _uses_postgres(session):
        problem = "more than one process needs PostgreSQL: SQLite has one writer at a time"
        raise SettingsError(f"server.workers: {problem}; serve with one, which has server.threads")
    require_keys(session.memory, how.host, local=_is_local(how))
    return bind_socket(how.host, how.port)


def _uses_postgres(session: CommandSession) -> bool:
    named = session.args.db
    return (
        session.settings.db.driver == "postgres" if named is None else named.startswith("postgres")
    )


def _is_local(how: ServerSettings) -> bool:
    from tacit.server.authentication import is_loopback

    return how.local and is_loopback(how.host)


def _announce_server(
    session: CommandSession, listening: socket.socket, how: ServerSettings, log: ServerLog
) -> None:
    """Where, and how to get into the console. A log never holds what signs somebody in: that is for
    the one local person, at the terminal where they started it."""
    from tacit.server.process import socket_url

    where, local, console = socket_url(listening), _is_local(how), session.settings.console
    served = replace(how, port=listening.getsockname()[1])
    how_to = format_sign_in_command(session.settings, served)
    more = {"sign_in": how_to} if console.enabled else {}
    log.tell("serving", address=where, local=local, workers=how.workers, **more)
    if console.enabled and local and sys.stderr is not None and sys.stderr.isatty():
        _print_sign_in_link(session, console.url or where, how_to)


def _print_sign_in_link(session: CommandSession, console: str, how_to: str) -> None:
    from tacit.server.authentication import local_person, sign_in_url

    settings = session.settings
    person = local_person(settings).key
    offered = session.memory.offer_sign_in(person=person)
    terminal = TerminalWriter(as_json=session.args.json)
    terminal.note(
        f"this link leads into the console, as {person}; it {describe_link_lifetime(settings)}:"
    )
    terminal.note(sign_in_url(console, offered.token))
    terminal.note(f"and as somebody else: {how_to}")


def _serve_one_process(
    session: CommandSession, how: ServerSettings, listening: socket.socket, log: ServerLog
) -> CommandResult:
    from tacit.bootstrap import request_spans
    from tacit.server.app import create_app as application
    from tacit.server.logs import RequestLogMiddleware
    from tacit.server.process import run_server

    memory, settings = session.memory, replace(session.settings, server=how)
    if settings.learn.workers:
        memory.keep_working()
    app = application(memory, settings, local=_is_local(how))
    run_server(app, RequestLogMiddleware(app, log, request_spans(settings)), listening, how, log)
    session.close()  # what is being learned is left to whoever comes next
    log.tell("stopped")
    return _SERVED_RESULT


def _serve_workers(
    session: CommandSession, how: ServerSettings, listening: socket.socket, log: ServerLog
) -> CommandResult:
    from tacit.server.process import WorkerProcesses

    session.close()  # the workers have their own
    args = session.args
    given = (("--db", args.db), ("--config", args.config), ("--space", args.space))
    passed_on = [part for option, value in given if value is not None for part in (option, value)]
    where = ["--host", how.host, "--port", str(how.port)]
    WorkerProcesses(["serve", *passed_on, *where], listening, how.workers, log).run(
        how.drain_seconds
    )
    log.tell("stopped")
    return _SERVED_RESULT


# `tacit mcp`: memory for an MCP client that starts the server itself.

MCP_PROFILES = ("standard", "reference")


def add_mcp_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        choices=MCP_PROFILES,
        default=MCP_PROFILES[0],
        help="which tools: Tacit's own, or those of the reference memory server",
    )
    parser.add_argument("--by", metavar="AGENT", help="the agent that uses it")


def serve_mcp(session: CommandSession) -> StreamedResult:
    """Standard output is the protocol's: nothing else is printed there."""
    import sys

    from tacit.tools.mcp import ProfileName, serve_stdio

    view = session.view
    if sys.stdin is None or sys.stdout is None:
        raise InvalidInput("mcp", "speaks over standard input and output, and there are none")
    serve_stdio(view, ProfileName(session.args.profile))
    return StreamedResult(lines=())


# The commands that hold conversations: bots that answer in a channel, and a terminal.

_BOT_LIBRARIES = ("starlette", "structlog", "uvicorn")  # what every bot that listens needs
_BOT_RESULT = CommandResult(document={"answered": True}, lines=())
_BOT_EPILOG = "--db, --config, --space and --json work here too: see `tacit --help`."


def add_telegram_options(parser: ArgumentParser) -> None:
    parser.epilog = f"""\
The bot's token, from @BotFather, is read from the variable TELEGRAM_BOT_TOKEN.
How to set it up, for groups and webhooks too: docs/telegram.md.
{_BOT_EPILOG}"""


def add_slack_options(parser: ArgumentParser) -> None:
    parser.epilog = f"""\
The app's secrets are read from the variables SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET.
How to make the app in Slack: docs/slack.md.
{_BOT_EPILOG}"""


def add_chat_options(parser: ArgumentParser) -> None:
    parser.epilog = f"""\
Begin with `tacit chat --as local:me --name Me`. To press a button, type its number; /help tells
the commands, Ctrl-D ends it. More: docs/chat.md and docs/commands.md.
{parser.epilog}"""


def run_telegram(session: CommandSession) -> CommandResult:
    _require_libraries("telegram", "a Telegram bot", "telegram")
    from tacit.bots.telegram.runner import read_telegram_secrets, run_telegram

    settings = session.settings
    known = read_telegram_secrets(settings.telegram, os.environ)
    return _run_bot(session, lambda memory, log: run_telegram(memory, settings, known, log))


def run_slack(session: CommandSession) -> CommandResult:
    _require_libraries("slack", "a Slack bot", "slack_bolt")
    from tacit.bots.slack.runner import read_slack_secrets, run_slack

    settings = session.settings
    known = read_slack_secrets(settings.slack, os.environ)
    return _run_bot(session, lambda memory, log: run_slack(memory, settings, known, log))


def run_chat(session: CommandSession) -> StreamedResult:
    """Answers are printed as they come: there is no end before the person makes one."""
    from tacit.bots.bot import Bot
    from tacit.bots.terminal import TerminalConversation, TerminalScreen

    who, where = _find_requester_and_chat(session)
    memory, settings = session.memory, session.settings
    view = memory.view(who, where)
    console = TerminalWriter(as_json=session.args.json)
    if view.enabled:
        console.note("type /help for what there is, and Ctrl-D to leave")
    else:
        console.note(f"memory is disabled: {view.why_disabled}")
    prompt = "you> " if view.enabled else "you (memory is disabled)> "
    screen = TerminalScreen(console, prompt, enabled=view.enabled)
    bot = Bot(memory, settings.chat, console=settings.console)
    has_model = memory.has_model() or not view.enabled
    TerminalConversation(bot, who, where, screen, has_model=has_model).run()
    if view.enabled and settings.learn.enabled:
        memory.catch_up()  # the next conversation knows of this one
    return StreamedResult(lines=())


def _find_requester_and_chat(session: CommandSession) -> tuple[Requester | None, Chat]:
    """Who talks, and where. Without anybody there is a conversation too, which nobody remembers."""
    from tacit.bots.terminal import ANONYMOUS_CHAT

    person = inputs.parse_requester(session.args, session.settings.memory.local_person)
    if person is None:
        return None, ANONYMOUS_CHAT
    if session.settings.memory.enabled:
        person = session.requester
    return person, inputs.parse_chat(session.args, person)


def _require_libraries(extra: str, what: str, library: str) -> None:
    try:
        for one in (library, *_BOT_LIBRARIES):
            import_module(one)
    except ImportError as error:
        raise MissingExtra(extra, what) from error


def _run_bot(session: CommandSession, run: Callable[[Memory, ServerLog], None]) -> CommandResult:
    """A bot, until it is told to stop. It learns meanwhile, unless that is left to others."""
    from tacit.server.logs import ServerLog, capture_logging

    settings = session.settings
    if not settings.memory.enabled:
        from tacit.memory import SWITCHED_OFF

        raise MemoryDisabled(SWITCHED_OFF)
    log = ServerLog(settings.server.log)
    capture_logging(log)
    memory = session.memory
    if settings.learn.workers:
        memory.keep_working()
    run(memory, log)
    session.close()  # what is being learned is left to whoever comes next
    log.tell("stopped")
    return _BOT_RESULT
