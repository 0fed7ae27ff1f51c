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

Argument = Callable[[argparse._ActionsContainer], object]  # adds itself to a parser


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    run: CommandFunction
    arguments: tuple[Argument, ...]
    epilog: str

    @property
    def summary(self) -> str:
        return (self.run.__doc__ or "").partition("\n")[0]


def arg(names: str, metavar: str | None = None, does: str | None = None, **how: Any) -> Argument:
    """Declare an argument. `names` are separated by spaces; `how` is for `add_argument`."""
    if metavar is not None:
        how["metavar"] = metavar
    return lambda parser: parser.add_argument(*names.split(), help=does, **how)


def flag(name: str, does: str, **how: Any) -> Argument:
    return arg(name, None, does, **{"action": "store_true", **how})


def yes_or_no(name: str, does: str | None = None) -> Argument:
    """Declare `--name` and `--no-name`."""
    return arg(name, None, does, action=BooleanOptionalAction)


def many(name: str, metavar: str, does: str, **how: Any) -> Argument:
    """Declare an option that may be repeated."""
    return arg(name, metavar, does, action="append", **how)


def one_of(*arguments: Argument) -> Argument:
    """Declare arguments of which at most one may be given."""

    def add(parser: argparse._ActionsContainer) -> None:
        group = parser.add_mutually_exclusive_group()
        for one in arguments:
            one(group)

    return add


def command(name: str, *arguments: Argument, epilog: str = _EPILOG) -> Callable[[CommandFunction], Command]:
    return lambda run: Command(name, run, arguments, epilog)


# Arguments that several commands share. Their destinations are the parameters of the operations.

TIME_EXAMPLE = "such as 2026-03-01T12:00:00+00:00"
PERSON_HELP = "a name, telegram:123 or person:..."
_ID_HELP = "ID of the memory (8 characters)"
_DEFAULT = "(default %(default)s)"

ID = arg("id", "ID", _ID_HELP)
OPTIONAL_ID = arg("id", "ID", _ID_HELP, nargs="?")
PERSON = arg("person", "PERSON", PERSON_HELP)
EXTERNAL_KEY = arg("external_key", "KEY", "external key, such as telegram:123")
YES = flag("--yes", "do not ask for confirmation; required without a terminal")
BY = arg("--by", "AGENT", "agent that sends the request; its allowlist applies")
PAGE = (
    arg("--limit", "N", f"maximum number of results {_DEFAULT}", type=int, default=limits.PAGE_DEFAULT_COUNT),
    arg("--cursor", "CURSOR", "cursor of the previous page"),
)
CATEGORY = arg("--category --namespace", "CATEGORY", "category of the memory")
CERTIFICATE = arg("--certificate", "FILE", "write a signed erasure certificate to this new file")
OPERATOR = arg("--as-operator", "NAME", f"name to record in the history {_DEFAULT}", default="cli")
SUBJECT = arg("--subject", "KEY", "as an operator: all memories of this person")

FIELD_ARGUMENTS = (
    arg("--kind", "KIND", ", ".join(Kind)),
    many("--about", "PERSON", "subject of the memory; repeatable"),
    many("--withhold-from", "PERSON", "person who must never see it; repeatable", dest="withheld_from"),
    arg("--sensitivity", "SENSITIVITY", ", ".join(Sensitivity)),
    yes_or_no("--portable", "whether it may leave this chat"),
    arg("--importance", "N", "1 to 5", type=int),
    arg("--confidence", "X", "0 to 1", type=float),
    yes_or_no("--pinned", "whether it never fades"),
    many("--tag", "WORD", "repeatable", dest="tags"),
    arg("--data", "JSON", "JSON object stored with it; {} clears it"),
    arg("--observed-at", "TIME", TIME_EXAMPLE),
    arg("--expires-at", "TIME", TIME_EXAMPLE),
    arg("--message", "TEXT", "ID of the message in its channel"),
    *(arg(name, "TEXT") for name in ("--agent", "--run", "--role")),
)
WRITE_ARGUMENTS = (
    arg("--visibility", "VISIBILITY", ", ".join(Visibility)),
    flag("--for-room", "store it as a fact of the group", default=None),
    many("--turn", "ID", "recorded turn that it was learned from; repeatable", dest="turns"),
    *FIELD_ARGUMENTS,
)


def question(count: int, tokens: int | None = None) -> tuple[Argument, ...]:
    """Declare a question, the number of its answers and their size."""
    shown = "" if tokens is None else f" {_DEFAULT}"
    return (
        arg("query", "QUESTION", "question in plain words"),
        arg("--top-k", "N", f"maximum number of results {_DEFAULT}", type=int, default=count),
        arg("--budget-tokens", "N", f"maximum tokens in a prompt{shown}", type=int, default=tokens),
    )
