"""Declare a command: its name, its arguments, and the function whose docstring is its help."""

from __future__ import annotations

import argparse
from argparse import BooleanOptionalAction
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit import limits
from tacit.records.memory import Kind, Sensitivity, Visibility

if TYPE_CHECKING:
    from tacit.cli.output import CommandResult, StreamedResult
    from tacit.cli.session import CommandSession

    CommandFunction = Callable[[CommandSession], CommandResult | StreamedResult]

_EPILOG = "Global options such as --as, --chat and --json work here too: see `tacit --help`."


@dataclass(frozen=True, slots=True)
class Argument:
    names: tuple[str, ...]
    settings: dict[str, Any]  # for `add_argument`

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(*self.names, **self.settings)


@dataclass(frozen=True, slots=True)
class OneOf:
    """Arguments of which one at most may be given."""

    arguments: tuple[Argument, ...]

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group()
        for one in self.arguments:
            one.add_to(group)


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    run: CommandFunction
    arguments: tuple[Argument | OneOf, ...]
    epilog: str

    @property
    def summary(self) -> str:
        return (self.run.__doc__ or "").partition("\n")[0]


def arg(*names: str, **settings: Any) -> Argument:
    return Argument(names, settings)


def flag(name: str, does: str) -> Argument:
    return arg(name, action="store_true", help=does)


def command(
    name: str, *arguments: Argument | OneOf, epilog: str = _EPILOG
) -> Callable[[CommandFunction], Command]:
    return lambda run: Command(name, run, arguments, epilog)


# Arguments that several commands share.

TIME_EXAMPLE = "such as 2026-03-01T12:00:00+00:00"
PERSON_HELP = "a name, telegram:123 or person:..."

ID = arg("id", metavar="ID", help="ID of the memory (8 characters)")
OPTIONAL_ID = arg("id", metavar="ID", nargs="?", help="ID of the memory (8 characters)")
PERSON = arg("person", metavar="PERSON", help=PERSON_HELP)
EXTERNAL_KEY = arg("external_key", metavar="KEY", help="external key, such as telegram:123")
YES = flag("--yes", "do not ask for confirmation; required without a terminal")
BY = arg("--by", metavar="AGENT", help="agent that sends the request; its allowlist applies")
LIMIT = arg(
    "--limit",
    type=int,
    metavar="N",
    default=limits.PAGE_DEFAULT_COUNT,
    help="maximum number of results (default %(default)s)",
)
CURSOR = arg("--cursor", metavar="CURSOR", help="cursor of the previous page")
CATEGORY = arg("--category", "--namespace", metavar="CATEGORY", help="category of the memory")
CERTIFICATE = arg(
    "--certificate", metavar="FILE", help="write a signed erasure certificate to this new file"
)
OPERATOR = arg(
    "--as-operator",
    metavar="NAME",
    default="cli",
    help="name to record in the history (default %(default)s)",
)
SUBJECT = arg("--subject", metavar="KEY", help="as an operator: all memories of this person")

# As `View.remember` takes them.
WRITE_ARGUMENTS = (
    arg("--visibility", metavar="VISIBILITY", help=", ".join(Visibility)),
    arg("--for-room", action="store_const", const=True, help="store it as a fact of the group"),
    arg(
        "--turn",
        dest="turns",
        action="append",
        metavar="ID",
        help="recorded turn that it was learned from; repeatable",
    ),
)
FIELD_ARGUMENTS = (
    arg("--kind", metavar="KIND", help=", ".join(Kind)),
    arg("--about", action="append", metavar="PERSON", help="subject of the memory; repeatable"),
    arg(
        "--withhold-from",
        dest="withheld_from",
        action="append",
        metavar="PERSON",
        help="person who must never see it; repeatable",
    ),
    arg("--sensitivity", metavar="SENSITIVITY", help=", ".join(Sensitivity)),
    arg("--portable", action=BooleanOptionalAction, help="whether it may leave this chat"),
    arg("--importance", type=int, metavar="N", help="1 to 5"),
    arg("--confidence", type=float, metavar="X", help="0 to 1"),
    arg("--pinned", action=BooleanOptionalAction, help="whether it never fades"),
    arg("--tag", dest="tags", action="append", metavar="WORD", help="repeatable"),
    arg("--data", metavar="JSON", help="JSON object stored with it; {} clears it"),
    arg("--observed-at", metavar="TIME", help=TIME_EXAMPLE),
    arg("--expires-at", metavar="TIME", help=TIME_EXAMPLE),
    arg("--message", metavar="TEXT", help="ID of the message in its channel"),
    arg("--agent", metavar="TEXT"),
    arg("--run", metavar="TEXT"),
    arg("--role", metavar="TEXT"),
)
