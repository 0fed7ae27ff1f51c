"""The command line parser: global options and the list of commands."""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any, NoReturn

from tacit import __version__
from tacit.cli import erasure, learning, memories, notes, operations, servers, transfer
from tacit.cli.output import EXIT_CODE_MEANINGS, BadUsage
from tacit.records.memory import ChatKind

_DESCRIPTION = """\
Long-term memory for AI agents that knows what to leave unsaid.

Every command acts for one person, --as telegram:123, in one chat: that person's
private chat unless --chat names another. Start with `tacit demo`."""

# In the order of `tacit --help` and docs/cli.md.
COMMANDS = (
    memories.remember, memories.put, memories.get, memories.recall, memories.query, memories.block,
    memories.fresh, memories.list_, memories.about, memories.show, memories.update,
    memories.forget, transfer.restore, erasure.erase, memories.history, memories.explain,
    memories.visibility, memories.withhold, memories.pin, memories.relate, memories.record,
    learning.learn, learning.proposals, learning.approve, learning.decline, notes.session,
    memories.people, memories.name, operations.link, operations.unlink, operations.links,
    operations.merge, operations.unmerge, transfer.export, transfer.import_, transfer.imports,
    erasure.wipe, erasure.certificate, transfer.backup, memories.stats, memories.delta,
    operations.spaces, erasure.expire, erasure.purge, operations.consolidate, operations.reflect,
    operations.summarise, notes.notes, operations.maintain, operations.doctor, operations.events,
    operations.metrics, operations.embedding, operations.reembed, learning.waiting,
    operations.jobs, learning.work, learning.quarantine, learning.revert, operations.keys,
    servers.console, servers.serve, servers.mcp, servers.chat, servers.telegram, servers.slack,
    operations.demo,
)  # fmt: skip

_MESSAGE_MAX_CHARS = 1_000  # of an invalid command line
_LATER_SUFFIX = "_later"  # destination of a global option that follows the command


class CommandParser(argparse.ArgumentParser):
    """Raise BadUsage instead of exiting, and accept no abbreviated options."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def error(self, message: str) -> NoReturn:
        shown = message[:_MESSAGE_MAX_CHARS] + "..." * (len(message) > _MESSAGE_MAX_CHARS)
        raise BadUsage(f"{shown}\n(see `{self.prog} --help`)")


@cache
def build_parser() -> CommandParser:
    codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODE_MEANINGS.items())
    parser = CommandParser(prog="tacit", description=_DESCRIPTION, epilog=f"exit codes:\n{codes}")
    parser.add_argument("--version", action="version", version=f"tacit {__version__}")
    _add_global_options(parser.add_argument_group("global options, before or after the command"))
    names = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", parser_class=CommandParser)
    for one in COMMANDS:
        command = names.add_parser(one.name, help=one.summary, description=one.summary, epilog=one.epilog)
        for argument in one.arguments:
            argument(command)
        _add_global_options(command, _LATER_SUFFIX)
        command.set_defaults(perform=one.run)
    return parser


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    """Merge global options before and after the command: lists are joined, else the last wins.

    `not_own` names what is no argument of the command itself.
    """
    args = build_parser().parse_args(argv)
    not_own = {"command", "perform", "by", "not_own"}
    for name in [name for name in vars(args) if name.endswith(_LATER_SUFFIX)]:
        later = getattr(args, name)
        delattr(args, name)
        first = name.removesuffix(_LATER_SUFFIX)
        not_own.add(first)
        if isinstance(later, list):
            setattr(args, first, [*getattr(args, first), *later])
        elif later not in (None, False):
            setattr(args, first, later)
    args.not_own = not_own
    return args


def _add_global_options(parser: argparse._ActionsContainer, suffix: str = "") -> None:
    def add(option: str, dest: str, does: str, metavar: str | None = None, **how: Any) -> None:
        shown = argparse.SUPPRESS if suffix else does
        if metavar is not None:
            how["metavar"] = metavar
        parser.add_argument(option, dest=dest + suffix, help=shown, **how)

    add("--db", "db", "the database: a path, sqlite:///path or postgresql://...", "URL")
    add("--config", "config", "the settings file", "FILE")
    add("--space", "space", "the tenant", "NAME")
    add("--as", "requester", "the requester, such as telegram:123", "KEY")
    add("--name", "name", "name of the requester", "TEXT")
    add("--username", "username", "user name of the requester", "TEXT")
    add("--chat", "chat", "ID of the chat, or private (the default)", "CHAT")
    kinds = [kind.value for kind in ChatKind]
    add("--chat-kind", "chat_kind", "kind of the chat, if its ID does not tell", choices=kinds)
    several = "another member of the group; repeatable"
    add("--with", "participants", several, "KEY[,NAME]", action="append", default=[])
    add("--everybody", "everybody", "the group has no other members", action="store_true")
    add("--thread", "thread", "the thread, for deltas and sessions", "NAME")
    add("--json", "json", "print one JSON document", action="store_true")
