"""Commands that run until stopped: serve, mcp, chat and bots; links to the console."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from tacit import Chat, Requester, limits
from tacit.cli import inputs
from tacit.cli.arguments import BY, arg, command
from tacit.cli.output import BadUsage, CommandResult, StreamedResult, TerminalWriter, format_count
from tacit.cli.session import CommandSession
from tacit.errors import InvalidInput, MissingExtra, SettingsError
from tacit.records import validation

if TYPE_CHECKING:
    from tacit.memory import Memory
    from tacit.server.logs import ServerLog
    from tacit.settings import ServerSettings, Settings

T = TypeVar("T")

# Sign-in links to the console.

SIGN_IN_COMMAND = "tacit console --for KEY"


def format_sign_in_command(settings: Settings, served: ServerSettings) -> str:
    """Return the command that creates a sign-in link to a server with these settings."""
    from tacit.server.authentication import console_url

    there = console_url(replace(settings, server=served))
    return SIGN_IN_COMMAND if there == console_url(settings) else f"{SIGN_IN_COMMAND} --url {there}"


@command(
    "console",
    arg("--for", "KEY", "person who signs in: telegram:123", dest="person"),
    arg("--operator", "NAME", "operator who signs in, with access to the space"),
    arg("--url", "URL", "URL of the console (default: console.url)"),
)
def console(session: CommandSession) -> CommandResult:
    """Print a one-time link to sign in to the console."""
    from tacit.server.authentication import local_person, sign_in_url

    person, operator = session.args.person, session.args.operator
    if person is not None and operator is not None:
        raise BadUsage("console: specify --for or --operator, not both")
    there = _find_console_url(session)
    if person is None and operator is None:
        settings = session.settings
        named = inputs.parse_requester(session.args, settings.memory.local_person)
        person = (named or local_person(settings)).key
    offered = session.memory.console.create_link(person=person, operator=operator)
    url = sign_in_url(there, offered.token)
    return CommandResult(
        {"url": url, "expires_at": offered.expires_at.isoformat()},
        [url],
        (f"The link {describe_link_lifetime(session.settings)}. Keep it secret.",),
    )


def describe_link_lifetime(settings: Settings) -> str:
    return f"works once, within {format_count(settings.console.link_minutes, 'minute')}"


def _find_console_url(session: CommandSession) -> str:
    from tacit.server.authentication import console_url
    from tacit.settings.parsers import console_url as parse_console_url

    settings = session.settings
    session.require_enabled()
    if not settings.console.enabled:
        raise SettingsError("console.enabled: is false; set it to true to use the console")
    if session.args.url:
        return parse_console_url("--url", session.args.url)
    found = console_url(settings)
    if found is None:
        raise BadUsage("console: server.port is 0; specify --url")
    return found


# The server.

_SERVED_RESULT = CommandResult({"served": True}, ())


@command(
    "serve",
    arg("--host", "HOST", "host to listen on (default: server.host)"),
    arg("--port", "N", "port to listen on (default: server.port)", type=int),
    arg("--workers", "N", "number of processes; PostgreSQL only", type=int),
)
def serve(session: CommandSession) -> CommandResult:
    """Serve REST, MCP and the console, until stopped."""
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
    """Return the socket that a worker process inherited; None: this is the only process."""
    from tacit.server.process import SOCKET_VARIABLE

    number = os.environ.get(SOCKET_VARIABLE, "")
    return int(number) if number.isdecimal() else None


def _server_settings(session: CommandSession) -> ServerSettings:
    """Return the settings, with the options of the command line."""
    from tacit.settings.parsers import host as parse_host

    given, how = session.given, session.settings.server
    session.require_enabled()
    if "host" in given:
        given["host"] = parse_host("--host", given["host"])
    ranges = {"port": (0, limits.PORT_MAX), "workers": (1, limits.SERVER_WORKERS_MAX_COUNT)}
    for name, bounds in ranges.items():
        if name in given:
            validation.parse_int(f"--{name}", given[name], *bounds)
    return replace(how, **given)


def _open_socket(session: CommandSession, how: ServerSettings) -> socket.socket:
    """Check everything that could fail later, then listen. Opening the memory migrates the schema
    once for all workers."""
    from tacit.server.process import bind_socket, require_keys

    number = _inherited_socket()
    if number is not None:
        return socket.socket(fileno=number)
    if how.workers > 1 and not _uses_postgres(session):
        problem = "more than one process needs PostgreSQL, because SQLite has one writer"
        raise SettingsError(f"server.workers: {problem}; use one process with server.threads")
    require_keys(session.memory, how.host, local=_is_local(how))
    return bind_socket(how.host, how.port)


def _uses_postgres(session: CommandSession) -> bool:
    named = session.args.db
    return session.settings.db.driver == "postgres" if named is None else named.startswith("postgres")


def _is_local(how: ServerSettings) -> bool:
    from tacit.server.authentication import is_loopback

    return how.local and is_loopback(how.host)


def _announce_server(session: CommandSession, listening: socket.socket, how: ServerSettings, log: ServerLog) -> None:
    """Log the address and how to sign in. A sign-in link is never logged: only the local person
    gets one, at the terminal that started the server."""
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
    offered = session.memory.console.create_link(person=person)
    terminal = TerminalWriter(as_json=session.args.json)
    terminal.note(f"Sign in to the console as {person}; the link {describe_link_lifetime(settings)}:")
    terminal.note(sign_in_url(console, offered.token))
    terminal.note(f"As another person: {how_to}")


def _serve_one_process(
    session: CommandSession, how: ServerSettings, listening: socket.socket, log: ServerLog
) -> CommandResult:
    from tacit.server.app import create_app
    from tacit.server.process import run_server

    memory, settings = session.memory, replace(session.settings, server=how)
    if settings.learn.workers:
        memory.jobs.start()
    run_server(create_app(memory, settings, local=_is_local(how)), listening, settings, log)
    session.close()  # stops learning; the queue keeps the rest
    log.tell("stopped")
    return _SERVED_RESULT


def _serve_workers(
    session: CommandSession, how: ServerSettings, listening: socket.socket, log: ServerLog
) -> CommandResult:
    from tacit.server.process import WorkerProcesses

    session.close()  # each worker opens its own
    args = session.args
    given = (("--db", args.db), ("--config", args.config), ("--space", args.space))
    passed_on = [part for option, value in given if value is not None for part in (option, value)]
    where = ["--host", how.host, "--port", str(how.port)]
    WorkerProcesses(["serve", *passed_on, *where], listening, how.workers, log).run(how.drain_seconds)
    log.tell("stopped")
    return _SERVED_RESULT


# MCP over standard input and output.

MCP_PROFILES = ("standard", "reference")


@command(
    "mcp",
    arg(
        "--profile",
        does="tools of Tacit, or of the reference memory server",
        choices=MCP_PROFILES,
        default=MCP_PROFILES[0],
    ),
    BY,
)
def mcp(session: CommandSession) -> StreamedResult:
    """Serve one MCP client over standard input and output."""
    from tacit.tools.mcp import ProfileName, serve_stdio

    view = session.view
    if sys.stdin is None or sys.stdout is None:
        raise InvalidInput("mcp", "needs standard input and output")
    serve_stdio(view, ProfileName(session.args.profile))
    return StreamedResult(())


# Bots and the chat in the terminal.

_BOT_LIBRARIES = ("starlette", "structlog", "uvicorn")
_BOT_RESULT = CommandResult({"answered": True}, ())
_BOT_EPILOG = "--db, --config, --space and --json work here too: see `tacit --help`."


@command(
    "telegram",
    epilog=f"""\
The variable TELEGRAM_BOT_TOKEN must hold the bot token, which @BotFather creates.
Setup, groups and webhooks: docs/telegram.md.
{_BOT_EPILOG}""",
)
def telegram(session: CommandSession) -> CommandResult:
    """Run a Telegram bot, until stopped."""
    _require_libraries("telegram", "a Telegram bot", "httpx2")
    from tacit.bots.telegram.runner import read_telegram_secrets, run_telegram

    secrets = read_telegram_secrets(session.settings.telegram, os.environ)
    return _run_bot(session, secrets, run_telegram)


@command(
    "slack",
    epilog=f"""\
The variables SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET must hold the secrets of the app.
How to create the app: docs/slack.md.
{_BOT_EPILOG}""",
)
def slack(session: CommandSession) -> CommandResult:
    """Run a Slack bot, until stopped."""
    _require_libraries("slack", "a Slack bot", "slack_bolt")
    from tacit.bots.slack.runner import read_slack_secrets, run_slack

    secrets = read_slack_secrets(session.settings.slack, os.environ)
    return _run_bot(session, secrets, run_slack)


@command(
    "chat",
    epilog="""\
Start with `tacit chat --as local:me --name Me`. To press a button, type its number. /help lists
the commands, Ctrl-D exits. More: docs/chat.md and docs/commands.md.
Global options such as --as, --chat and --json work here too: see `tacit --help`.""",
)
def chat(session: CommandSession) -> StreamedResult:
    """Chat with the agent in the terminal."""
    from tacit.bots.bot import Bot
    from tacit.bots.terminal import TerminalConversation, TerminalScreen

    who, where = _find_requester_and_chat(session)
    memory, settings = session.memory, session.settings
    view = memory.view(who, where)
    console = TerminalWriter(as_json=session.args.json)
    if view.enabled:
        console.note("Type /help for the commands, Ctrl-D to exit.")
    else:
        console.note(f"Memory is disabled: {view.why_disabled}")
    prompt = "you> " if view.enabled else "you (memory is disabled)> "
    screen = TerminalScreen(console, prompt, enabled=view.enabled)
    bot = Bot(memory, settings.chat, console=settings.console)
    has_model = memory.llm.available or not view.enabled
    TerminalConversation(bot, who, where, screen, has_model=has_model).run()
    if view.enabled and settings.learn.enabled:
        memory.jobs.wait_for_learning()  # so that the next conversation knows this one
    return StreamedResult(())


def _find_requester_and_chat(session: CommandSession) -> tuple[Requester | None, Chat]:
    """Return requester and chat; without a requester, the chat has no memory."""
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


def _run_bot(
    session: CommandSession, secrets: T, run: Callable[[Memory, Settings, T, ServerLog], None]
) -> CommandResult:
    """Run a bot until it is stopped; it also learns, unless learn.workers is 0."""
    from tacit.server.logs import ServerLog, capture_logging

    settings = session.settings
    session.require_enabled()
    log = ServerLog(settings.server.log)
    capture_logging(log)
    memory = session.memory
    if settings.learn.workers:
        memory.jobs.start()
    run(memory, settings, secrets, log)
    session.close()  # stops learning; the queue keeps the rest
    log.tell("stopped")
    return _BOT_RESULT
