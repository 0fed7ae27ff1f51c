"""The grammar of the command line: global options, and one subcommand for each word."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

from tacit import __version__
from tacit.records.memory import ChatKind
from tacit.surfaces.cli import (
    ageing,
    chatting,
    doctor,
    erasing,
    jobs,
    keys,
    learning,
    lessons,
    mcp,
    moving,
    notes,
    options,
    questions,
    reading,
    recalling,
    saving,
    serving,
    signing,
    telling,
    tidying,
    whole,
    writing,
)
from tacit.surfaces.cli.answers import Answer, Stream
from tacit.surfaces.cli.exits import MEANINGS, BadUsage
from tacit.surfaces.cli.session import Session

Run = Callable[[Session], Answer | Stream]
Options = Callable[[argparse.ArgumentParser], None]

_DESCRIPTION = """\
Long-term memory for AI agents that knows what to leave unsaid.

Every command acts for one person, --as telegram:123, in one chat: that person's
own private chat unless --chat names another. `tacit demo` tells a story about it."""

# word, what it runs, its options, what it does
COMMANDS: tuple[tuple[str, Run, Options, str], ...] = (
    ("remember", writing.remember, options.remember, "keep a fact"),
    ("put", writing.put, options.put, "set the one value of a key"),
    ("get", reading.get, options.get, "print the value of a key"),
    ("recall", recalling.recall, questions.recall, "find what comes to mind for a question"),
    ("query", recalling.query, questions.query, "answer with bullets, for an agent's prompt"),
    ("block", recalling.block, questions.block, "print what is known, for the start of a prompt"),
    ("fresh", recalling.fresh, questions.fresh, "print what is new, for the end of a prompt"),
    ("list", reading.list_, options.list_, "list what may be said here, newest first"),
    ("about", reading.about, options.about, "list what may be said here about a person"),
    ("show", reading.show, options.one, "show one memory"),
    ("update", writing.update, options.update, "change a memory"),
    ("forget", writing.forget, options.forget, "put out of mind; restorable for 30 days"),
    ("restore", saving.restore, saving.restore_options, "bring back the forgotten, or a backup"),
    ("erase", erasing.erase, erasing.erase_options, "remove for good, everywhere"),
    ("history", telling.history, telling.history_options, "tell what happened to a memory"),
    ("explain", reading.explain, options.explain, "tell which rule lets a memory be said, or not"),
    ("visibility", writing.visibility, options.visibility, "set how far a memory may travel"),
    ("withhold", writing.withhold, options.withhold, "name people whom a memory must never reach"),
    ("pin", writing.pin, options.pin, "keep a memory from fading"),
    ("relate", writing.relate, options.relate, "say that two memories belong together"),
    ("record", writing.record, options.record, "keep turns of a conversation, word for word"),
    ("learn", learning.learn, lessons.learn, "learn from what was said"),
    ("proposals", learning.proposals, options.none, "list what waits for your yes"),
    ("approve", learning.approve, options.one, "say yes to a proposal"),
    ("decline", learning.decline, options.one, "say no to a proposal"),
    ("session", notes.session, notes.session_options, "start a session, or write it down"),
    ("people", reading.people, options.none, "list the people known to you here"),
    ("name", writing.name, options.name, "say what you call somebody"),
    ("link", whole.link, options.link, "say whose account an external key belongs to"),
    ("unlink", whole.unlink, options.external_key, "end a link"),
    ("links", whole.links, options.links, "list the links an identity has had"),
    ("merge", whole.merge, options.merge, "say that two people are one"),
    ("unmerge", whole.unmerge, options.unmerge, "undo a merge"),
    ("export", saving.export, saving.export_options, "write your memories as lines, to take along"),
    ("import", moving.import_, options.import_, "take in what export or another memory wrote"),
    ("imports", moving.imports, options.imports, "list what came from other memories, or revert"),
    ("wipe", erasing.wipe, erasing.wipe_options, "erase everything of yours"),
    (
        "certificate",
        erasing.certificate,
        erasing.certificate_options,
        "tell whether a certificate of erasure is genuine, or renew it",
    ),
    ("backup", saving.backup, saving.backup_options, "copy the database while it is in use"),
    ("stats", reading.stats, options.stats, "count your memories"),
    ("delta", reading.delta, options.delta, "tell what changed in a thread since a revision"),
    ("spaces", whole.spaces, options.none, "list the spaces of the database"),
    ("expire", ageing.expire, options.none, "put out of mind what time has come for"),
    ("purge", ageing.purge, ageing.purge_options, "remove for good what was forgotten long ago"),
    (
        "consolidate",
        tidying.consolidate,
        tidying.consolidate_options,
        "merge what is there twice, or take that back",
    ),
    ("reflect", tidying.reflect, options.none, "think about people, where the settings allow it"),
    ("summarise", tidying.summarise, options.none, "sum up conversations that have ended"),
    ("notes", notes.notes, notes.options, "bring files of notes and the store together"),
    ("maintain", whole.maintain, options.maintain, "check, analyse and compact the database"),
    ("doctor", doctor.doctor, doctor.options, "find what is wrong, and mend it if asked"),
    ("events", telling.events, telling.events_options, "count what happened, by day"),
    ("metrics", telling.metrics, telling.metrics_options, "serve measures for Prometheus"),
    ("embedding", whole.embedding, options.none, "tell which model makes vectors, and how far"),
    ("reembed", whole.reembed, options.none, "make every vector that is missing, now"),
    ("waiting", learning.waiting, lessons.waiting, "tell what waits to be learned"),
    ("jobs", jobs.jobs, jobs.options, "tell what comes round, or run it now"),
    ("work", learning.work, lessons.work, "learn what waits and run what is due, on and on"),
    ("quarantine", learning.quarantine, lessons.quarantine, "tell what was set aside, and why"),
    ("revert", learning.revert, lessons.revert, "undo what was learned from one source"),
    ("keys", keys.keys, keys.options, "make keys for callers from outside, or revoke them"),
    ("console", signing.console, signing.options, "print a link to sign in to the console, once"),
    (
        "serve",
        serving.serve,
        serving.options,
        "answer REST and MCP requests, and serve the console, on and on",
    ),
    ("mcp", mcp.mcp, mcp.options, "answer an MCP client over standard input and output"),
    ("chat", chatting.chat, chatting.chat_options, "talk with the agent here, to try things out"),
    (
        "telegram",
        chatting.telegram,
        chatting.telegram_options,
        "be a Telegram bot that remembers, on and on",
    ),
    ("slack", chatting.slack, chatting.slack_options, "be a Slack bot that remembers, on and on"),
    ("demo", whole.demo, options.none, "tell the story of the three rooms"),
)

_TOLD_MAX_CHARS = 1_000  # of a command line that cannot be understood
_LATER = "_later"  # where an option of the same name, given after the command, is kept


class Parser(argparse.ArgumentParser):
    """Raises instead of exiting, and takes options by their whole name only."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **settings,
        )

    def error(self, message: str) -> NoReturn:
        told = message[:_TOLD_MAX_CHARS] + "..." * (len(message) > _TOLD_MAX_CHARS)
        raise BadUsage(f"{told}\n(see `{self.prog} --help`)")


@cache
def build() -> Parser:
    """Once in a process: there are some thousand options, and nobody changes them."""
    codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in MEANINGS.items())
    parser = Parser(prog="tacit", description=_DESCRIPTION, epilog=f"exit codes:\n{codes}")
    parser.add_argument("--version", action="version", version=f"tacit {__version__}")
    _add_globals(parser.add_argument_group("everywhere, before or after the command"), "")
    words = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", parser_class=Parser
    )
    for word, run, add_options, does in COMMANDS:
        command = words.add_parser(
            word,
            help=does,
            description=f"{does[0].upper()}{does[1:]}.",
            epilog="--as, --chat, --json and the like work here too: see `tacit --help`.",
        )
        add_options(command)
        _add_globals(command, _LATER)
        command.set_defaults(perform=run)
    return parser


def parse(argv: list[str]) -> argparse.Namespace:
    """Options stand before or after the command: lists are joined, else the later one counts."""
    args = build().parse_args(argv)
    for name in [name for name in vars(args) if name.endswith(_LATER)]:
        later = getattr(args, name)
        delattr(args, name)
        first = name.removesuffix(_LATER)
        if isinstance(later, list):
            setattr(args, first, [*getattr(args, first), *later])
        elif later not in (None, False):
            setattr(args, first, later)
    return args


def _add_globals(parser: argparse._ActionsContainer, suffix: str) -> None:
    def add(option: str, dest: str, does: str, **settings: Any) -> None:
        shown = argparse.SUPPRESS if suffix else does
        parser.add_argument(option, dest=dest + suffix, help=shown, **settings)

    add("--db", "db", "the database: a path, sqlite:///path or postgresql://...", metavar="URL")
    add("--config", "config", "the settings file", metavar="FILE")
    add("--space", "space", "the tenant", metavar="NAME")
    add("--as", "requester", "the person who asks: telegram:123", metavar="KEY")
    add("--name", "name", "that person's name", metavar="TEXT")
    add("--username", "username", "that person's user name", metavar="TEXT")
    add("--chat", "chat", "where: private (the default), or a chat's id", metavar="CHAT")
    add(
        "--chat-kind",
        "chat_kind",
        "what kind of chat that is, where its id does not tell",
        choices=[kind.value for kind in ChatKind],
    )
    add(
        "--with",
        "participants",
        "somebody else in the group; may be repeated",
        metavar="KEY[,NAME]",
        action="append",
        default=[],
    )
    add(
        "--everybody",
        "everybody",
        "the people named are all who listen",
        action="store_true",
    )
    add("--thread", "thread", "the conversation that deltas are counted for", metavar="NAME")
    add("--json", "json", "answer with one JSON document", action="store_true")
