"""The grammar of the command line: global options and the table of commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

from tacit import __version__
from tacit.cli import erasure, learning, memories, notes, operations, options, servers, transfer
from tacit.cli.output import EXIT_CODE_MEANINGS, BadUsage, CommandResult, StreamedResult
from tacit.cli.session import CommandSession
from tacit.records.memory import ChatKind

CommandFunction = Callable[[CommandSession], CommandResult | StreamedResult]
OptionsFunction = Callable[[argparse.ArgumentParser], None]

_DESCRIPTION = """\
Long-term memory for AI agents that knows what to leave unsaid.

Every command acts for one person, --as telegram:123, in one chat: that person's
own private chat unless --chat names another. `tacit demo` tells a story about it."""

# word, what it runs, its options, what it does
COMMANDS: tuple[tuple[str, CommandFunction, OptionsFunction, str], ...] = (
    ("remember", memories.remember, options.add_remember_options, "keep a fact"),
    ("put", memories.put_value, options.add_put_options, "set the one value of a key"),
    ("get", memories.get_value, options.add_get_options, "print the value of a key"),
    (
        "recall",
        memories.recall_memories,
        memories.add_recall_options,
        "find what comes to mind for a question",
    ),
    (
        "query",
        memories.query_memories,
        memories.add_query_options,
        "answer with bullets, for an agent's prompt",
    ),
    (
        "block",
        memories.show_block,
        memories.add_block_options,
        "print what is known, for the start of a prompt",
    ),
    (
        "fresh",
        memories.show_fresh,
        memories.add_fresh_options,
        "print what is new, for the end of a prompt",
    ),
    (
        "list",
        memories.list_memories,
        options.add_list_options,
        "list what may be said here, newest first",
    ),
    (
        "about",
        memories.list_about,
        options.add_about_options,
        "list what may be said here about a person",
    ),
    ("show", memories.show_memory, options.add_id_argument, "show one memory"),
    ("update", memories.update_memory, options.add_update_options, "change a memory"),
    (
        "forget",
        memories.forget_memories,
        options.add_forget_options,
        "put out of mind; restorable for 30 days",
    ),
    (
        "restore",
        transfer.restore_memory_or_backup,
        transfer.add_restore_options,
        "bring back the forgotten, or a backup",
    ),
    ("erase", erasure.erase_memories, erasure.add_erase_options, "remove for good, everywhere"),
    (
        "history",
        operations.show_or_export_history,
        operations.add_history_options,
        "tell what happened to a memory",
    ),
    (
        "explain",
        memories.explain_memory,
        options.add_explain_options,
        "tell which rule lets a memory be said, or not",
    ),
    (
        "visibility",
        memories.set_visibility,
        options.add_visibility_options,
        "set how far a memory may travel",
    ),
    (
        "withhold",
        memories.withhold_memory,
        options.add_withhold_options,
        "name people whom a memory must never reach",
    ),
    ("pin", memories.pin_memory, options.add_pin_options, "keep a memory from fading"),
    (
        "relate",
        memories.relate_memories,
        options.add_relate_options,
        "say that two memories belong together",
    ),
    (
        "record",
        memories.record_turns,
        options.add_record_options,
        "keep turns of a conversation, word for word",
    ),
    ("learn", learning.learn_messages, learning.add_learn_options, "learn from what was said"),
    ("proposals", learning.list_proposals, options.add_no_options, "list what waits for your yes"),
    ("approve", learning.approve_proposal, options.add_id_argument, "say yes to a proposal"),
    ("decline", learning.decline_proposal, options.add_id_argument, "say no to a proposal"),
    (
        "session",
        notes.manage_session,
        notes.add_session_options,
        "start a session, or write it down",
    ),
    ("people", memories.list_people, options.add_no_options, "list the people known to you here"),
    ("name", memories.name_person, options.add_name_options, "say what you call somebody"),
    (
        "link",
        operations.add_link,
        options.add_link_options,
        "say whose account an external key belongs to",
    ),
    ("unlink", operations.end_link, options.add_external_key_argument, "end a link"),
    (
        "links",
        operations.list_links,
        options.add_links_options,
        "list the links an identity has had",
    ),
    ("merge", operations.merge_people, options.add_merge_options, "say that two people are one"),
    ("unmerge", operations.unmerge_people, options.add_unmerge_options, "undo a merge"),
    (
        "export",
        transfer.export_memories,
        transfer.add_export_options,
        "write your memories as lines, to take along",
    ),
    (
        "import",
        transfer.import_memories,
        options.add_import_options,
        "take in what export or another memory wrote",
    ),
    (
        "imports",
        transfer.manage_imports,
        options.add_imports_options,
        "list what came from other memories, or revert",
    ),
    ("wipe", erasure.wipe_memories, erasure.add_wipe_options, "erase everything of yours"),
    (
        "certificate",
        erasure.check_certificate,
        erasure.add_certificate_options,
        "tell whether a certificate of erasure is genuine, or renew it",
    ),
    (
        "backup",
        transfer.back_up_database,
        transfer.add_backup_options,
        "copy the database while it is in use",
    ),
    ("stats", memories.show_stats, options.add_stats_options, "count your memories"),
    (
        "delta",
        memories.show_delta,
        options.add_delta_options,
        "tell what changed in a thread since a revision",
    ),
    ("spaces", operations.list_spaces, options.add_no_options, "list the spaces of the database"),
    (
        "expire",
        erasure.expire_memories,
        options.add_no_options,
        "put out of mind what time has come for",
    ),
    (
        "purge",
        erasure.purge_memories,
        erasure.add_purge_options,
        "remove for good what was forgotten long ago",
    ),
    (
        "consolidate",
        operations.consolidate_memories,
        operations.add_consolidate_options,
        "merge what is there twice, or take that back",
    ),
    (
        "reflect",
        operations.reflect_on_people,
        options.add_no_options,
        "think about people, where the settings allow it",
    ),
    (
        "summarise",
        operations.summarize_conversations,
        options.add_no_options,
        "sum up conversations that have ended",
    ),
    (
        "notes",
        notes.manage_notes,
        notes.add_notes_options,
        "bring files of notes and the store together",
    ),
    (
        "maintain",
        operations.maintain_database,
        options.add_maintain_options,
        "check, analyse and compact the database",
    ),
    (
        "doctor",
        operations.run_doctor,
        operations.add_doctor_options,
        "find what is wrong, and mend it if asked",
    ),
    (
        "events",
        operations.list_events,
        operations.add_events_options,
        "count what happened, by day",
    ),
    (
        "metrics",
        operations.show_metrics,
        operations.add_metrics_options,
        "serve measures for Prometheus",
    ),
    (
        "embedding",
        operations.show_embedding,
        options.add_no_options,
        "tell which model makes vectors, and how far",
    ),
    (
        "reembed",
        operations.reembed_memories,
        options.add_no_options,
        "make every vector that is missing, now",
    ),
    (
        "waiting",
        learning.show_waiting,
        learning.add_waiting_options,
        "tell what waits to be learned",
    ),
    (
        "jobs",
        operations.manage_jobs,
        operations.add_jobs_options,
        "tell what comes round, or run it now",
    ),
    (
        "work",
        learning.run_worker,
        learning.add_work_options,
        "learn what waits and run what is due, on and on",
    ),
    (
        "quarantine",
        learning.manage_quarantine,
        learning.add_quarantine_options,
        "tell what was set aside, and why",
    ),
    (
        "revert",
        learning.revert_source,
        learning.add_revert_options,
        "undo what was learned from one source",
    ),
    (
        "keys",
        operations.manage_keys,
        operations.add_keys_options,
        "make keys for callers from outside, or revoke them",
    ),
    (
        "console",
        servers.print_console_link,
        servers.add_console_options,
        "print a link to sign in to the console, once",
    ),
    (
        "serve",
        servers.serve,
        servers.add_serve_options,
        "answer REST and MCP requests, and serve the console, on and on",
    ),
    (
        "mcp",
        servers.serve_mcp,
        servers.add_mcp_options,
        "answer an MCP client over standard input and output",
    ),
    (
        "chat",
        servers.run_chat,
        servers.add_chat_options,
        "talk with the agent here, to try things out",
    ),
    (
        "telegram",
        servers.run_telegram,
        servers.add_telegram_options,
        "be a Telegram bot that remembers, on and on",
    ),
    (
        "slack",
        servers.run_slack,
        servers.add_slack_options,
        "be a Slack bot that remembers, on and on",
    ),
    ("demo", operations.play_demo, options.add_no_options, "tell the story of the three rooms"),
)

_MESSAGE_MAX_CHARS = 1_000  # of a command line that cannot be understood
_LATER_SUFFIX = "_later"  # where an option of the same name, given after the command, is kept


class CommandParser(argparse.ArgumentParser):
    """Raises instead of exiting, and takes options by their whole name only."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **settings,
        )

    def error(self, message: str) -> NoReturn:
        told = message[:_MESSAGE_MAX_CHARS] + "..." * (len(message) > _MESSAGE_MAX_CHARS)
        raise BadUsage(f"{told}\n(see `{self.prog} --help`)")


@cache
def build_parser() -> CommandParser:
    """Once in a process: there are some thousand options, and nobody changes them."""
    codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODE_MEANINGS.items())
    parser = CommandParser(prog="tacit", description=_DESCRIPTION, epilog=f"exit codes:\n{codes}")
    parser.add_argument("--version", action="version", version=f"tacit {__version__}")
    _add_global_options(parser.add_argument_group("everywhere, before or after the command"), "")
    words = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", parser_class=CommandParser
    )
    for word, run, add_options, does in COMMANDS:
        command = words.add_parser(
            word,
            help=does,
            description=f"{does[0].upper()}{does[1:]}.",
            epilog="--as, --chat, --json and the like work here too: see `tacit --help`.",
        )
        add_options(command)
        _add_global_options(command, _LATER_SUFFIX)
        command.set_defaults(perform=run)
    return parser


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    """Options stand before or after the command: lists are joined, else the later one counts."""
    args = build_parser().parse_args(argv)
    for name in [name for name in vars(args) if name.endswith(_LATER_SUFFIX)]:
        later = getattr(args, name)
        delattr(args, name)
        first = name.removesuffix(_LATER_SUFFIX)
        if isinstance(later, list):
            setattr(args, first, [*getattr(args, first), *later])
        elif later not in (None, False):
            setattr(args, first, later)
    return args


def _add_global_options(parser: argparse._ActionsContainer, suffix: str) -> None:
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
