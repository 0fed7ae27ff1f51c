"""The command that makes a link to sign in to the console, for a person or for an operator."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.errors import SettingsError
from tacit.surfaces.cli import documents, rooms
from tacit.surfaces.cli.answers import Answer
from tacit.surfaces.cli.exits import BadUsage, MemoryDisabled
from tacit.surfaces.cli.session import Session, count

if TYPE_CHECKING:
    from tacit.settings import ServerSettings, Settings

HOW_TO = "tacit console --for KEY"


def how_to(settings: Settings, served: ServerSettings) -> str:
    """The command that makes a link to what is served like this, whatever the settings say."""
    from tacit.surfaces.access import console_at

    there = console_at(replace(settings, server=served))
    return HOW_TO if there == console_at(settings) else f"{HOW_TO} --url {there}"


def options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--for", dest="person", metavar="KEY", help="the person who signs in: telegram:123")
    add("--operator", metavar="NAME", help="an operator, who sees the whole space under this name")
    add("--url", metavar="URL", help="where the console is; without it, console.url")


def console(session: Session) -> Answer:
    from tacit.surfaces.access import link_to, local_person

    person, operator = session.args.person, session.args.operator
    if person is not None and operator is not None:
        raise BadUsage("console: name a person with --for, or an operator, and not both")
    there = _there(session)
    if person is None and operator is None:
        settings = session.settings
        named = rooms.requester(session.args, settings.memory.local_person)
        person = (named or local_person(settings)).key
    offered = session.memory.offer_sign_in(person=person, operator=operator)
    url = link_to(there, offered.token)
    return Answer(
        document={"url": url, "expires_at": documents.plain(offered.expires_at)},
        lines=[url],
        notes=(f"it {lasting(session.settings)}, for whoever has it: give it to nobody else",),
    )


def lasting(settings: Settings) -> str:
    return f"works once, within {count(settings.console.link_minutes, 'minute')}"


def _there(session: Session) -> str:
    """Where the console is; refuses where there is none."""
    from tacit.settings.sections import parse_console_url
    from tacit.surfaces.access import console_at

    settings = session.settings
    if not settings.memory.enabled:
        from tacit.memory import SWITCHED_OFF

        raise MemoryDisabled(SWITCHED_OFF)
    if not settings.console.enabled:
        raise SettingsError("console.enabled: is false, so there is nothing to sign in to")
    if session.args.url:
        return parse_console_url("--url", session.args.url)
    found = console_at(settings)
    if found is None:
        raise BadUsage("console: server.port is 0, so say where it is, with --url")
    return found
