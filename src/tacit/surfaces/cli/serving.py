"""The command that serves memory to others: REST and MCP, until it is told to stop."""

from __future__ import annotations

import os
import socket
import sys
from argparse import ArgumentParser
from dataclasses import replace
from typing import TYPE_CHECKING

from tacit import limits
from tacit.errors import MissingExtra, SettingsError
from tacit.records import validation
from tacit.surfaces.cli import signing
from tacit.surfaces.cli.answers import Answer
from tacit.surfaces.cli.console import Console
from tacit.surfaces.cli.exits import MemoryDisabled
from tacit.surfaces.cli.session import Session

if TYPE_CHECKING:
    from tacit.settings import ServerSettings
    from tacit.surfaces.serving.logs import Log

_STOPPED = Answer(document={"served": True}, lines=())


def options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--host", metavar="HOST", help="where to listen; without it, server.host")
    add("--port", type=int, metavar="N", help="and at which port; without it, server.port")
    add("--workers", type=int, metavar="N", help="processes that serve; PostgreSQL only")


def serve(session: Session) -> Answer:
    try:
        import structlog  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra("server", "a server") from error
    from tacit.surfaces.serving.logs import Log, take_over
    from tacit.surfaces.serving.workers import stop_with_parent

    how = _asked(session)
    log = Log(how.log)
    with _listening(session, how) as listening:
        take_over(log)
        if _inherited():
            stop_with_parent()
            return _one(session, how, listening, log)
        _told(session, listening, how, log)
        act = _several if how.workers > 1 else _one
        return act(session, how, listening, log)


def _inherited() -> int | None:
    """The number of the socket that a worker was handed; None: this process is on its own."""
    from tacit.surfaces.serving.workers import VARIABLE

    number = os.environ.get(VARIABLE, "")
    return int(number) if number.isdecimal() else None


def _asked(session: Session) -> ServerSettings:
    """The settings, with what the command line says instead."""
    from tacit.settings.sections import parse_host

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


def _listening(session: Session, how: ServerSettings) -> socket.socket:
    """Refuses whatever would fail later, before anybody is let in. Opening the memory brings its
    schema up to date, once for all workers."""
    from tacit.surfaces.serving.places import bound, require_keys

    number = _inherited()
    if number is not None:
        return socket.socket(fileno=number)
    if how.workers > 1 and not _on_postgres(session):
        problem = "more than one process needs PostgreSQL: SQLite has one writer at a time"
        raise SettingsError(f"server.workers: {problem}; serve with one, which has server.threads")
    require_keys(session.memory, how.host, local=_local(how))
    return bound(how.host, how.port)


def _on_postgres(session: Session) -> bool:
    named = session.args.db
    return (
        session.settings.db.driver == "postgres" if named is None else named.startswith("postgres")
    )


def _local(how: ServerSettings) -> bool:
    from tacit.surfaces.access import is_loopback

    return how.local and is_loopback(how.host)


def _told(session: Session, listening: socket.socket, how: ServerSettings, log: Log) -> None:
    """Where, and how to get into the console. A log never holds what signs somebody in: that is for
    the one local person, at the terminal where they started it."""
    from tacit.surfaces.serving.places import address

    where, local, console = address(listening), _local(how), session.settings.console
    served = replace(how, port=listening.getsockname()[1])
    how_to = signing.how_to(session.settings, served)
    more = {"sign_in": how_to} if console.enabled else {}
    log.tell("serving", address=where, local=local, workers=how.workers, **more)
    if console.enabled and local and sys.stderr is not None and sys.stderr.isatty():
        _tell_link(session, console.url or where, how_to)


def _tell_link(session: Session, console: str, how_to: str) -> None:
    from tacit.surfaces.access import link_to, local_person

    settings = session.settings
    person = local_person(settings).key
    offered = session.memory.offer_sign_in(person=person)
    terminal = Console(as_json=session.args.json)
    terminal.note(f"this link leads into the console, as {person}; it {signing.lasting(settings)}:")
    terminal.note(link_to(console, offered.token))
    terminal.note(f"and as somebody else: {how_to}")


def _one(session: Session, how: ServerSettings, listening: socket.socket, log: Log) -> Answer:
    from tacit.bootstrap import request_spans
    from tacit.surfaces.rest.app import app as application
    from tacit.surfaces.serving.server import run
    from tacit.surfaces.serving.watched import Watched

    memory, settings = session.memory, replace(session.settings, server=how)
    if settings.learn.workers:
        memory.keep_working()
    app = application(memory, settings, local=_local(how))
    run(app, Watched(app, log, request_spans(settings)), listening, how, log)
    session.close()  # what is being learned is left to whoever comes next
    log.tell("stopped")
    return _STOPPED


def _several(session: Session, how: ServerSettings, listening: socket.socket, log: Log) -> Answer:
    from tacit.surfaces.serving.workers import Workers

    session.close()  # the workers have their own
    args = session.args
    given = (("--db", args.db), ("--config", args.config), ("--space", args.space))
    passed_on = [part for option, value in given if value is not None for part in (option, value)]
    where = ["--host", how.host, "--port", str(how.port)]
    Workers(["serve", *passed_on, *where], listening, how.workers, log).run(how.drain_seconds)
    log.tell("stopped")
    return _STOPPED
