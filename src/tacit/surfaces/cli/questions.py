"""Questions on the command line: what the commands that bring things to mind take, and what a
question is narrowed to."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from tacit import limits
from tacit.records import validation
from tacit.records.memory import Kind
from tacit.records.queries import INCLUDE_MEMORIES, INCLUDE_TURNS

# As they are called on the command line and by `View.recall`, alike.
_PLAIN = (
    "categories", "kinds", "user", "agent", "run", "actor", "role", "pinned", "importance_min",
    "importance_max", "threshold", "include",
)  # fmt: skip
_TIMES = ("updated_after", "updated_before", "as_of")


def recall(parser: ArgumentParser) -> None:
    _question(parser, limits.RECALL_DEFAULT_COUNT)
    _budget(parser)
    parser.add_argument("--why", action="store_true", help="say what raised each of them")
    _narrowing(parser)
    _by(parser)


def query(parser: ArgumentParser) -> None:
    _question(parser, limits.QUERY_DEFAULT_COUNT)
    _budget(parser)
    parser.add_argument("--full", action="store_true", help="with the records behind the bullets")
    _narrowing(parser)
    _by(parser)


def block(parser: ArgumentParser) -> None:
    parser.add_argument("--style", metavar="STYLE", help="memory, filtered or summary")
    _by(parser)


def fresh(parser: ArgumentParser) -> None:
    _question(parser, limits.RECALL_DEFAULT_COUNT)
    _budget(parser, limits.FRESH_BUDGET_TOKENS)
    parser.add_argument(
        "--since", type=int, metavar="REVISION", help="changes after this one; else after the block"
    )
    _by(parser)


def _question(parser: ArgumentParser, count: int) -> None:
    parser.add_argument("query", metavar="QUESTION", help="in plain words")
    parser.add_argument(
        "--top-k",
        type=int,
        metavar="N",
        default=count,
        help="at most this many (default %(default)s)",
    )


def _budget(parser: ArgumentParser, tokens: int | None = None) -> None:
    parser.add_argument(
        "--budget-tokens",
        type=int,
        metavar="N",
        default=tokens,
        help="never more than this in a prompt" + " (default %(default)s)" * (tokens is not None),
    )


def _by(parser: ArgumentParser) -> None:
    parser.add_argument("--by", metavar="AGENT", help="the agent that asks, kept to its allow-list")


def _narrowing(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--category",
        "--namespace",
        dest="categories",
        action="append",
        metavar="CATEGORY",
        help="only what is filed here; may be repeated",
    )
    add(
        "--kind",
        dest="kinds",
        action="append",
        metavar="KIND",
        help=f"only this kind; may be repeated: {', '.join(Kind)}",
    )
    add("--user", metavar="PERSON", help="only what belongs to this person")
    add("--actor", metavar="PERSON", help="only what this person said")
    add("--agent", metavar="TEXT", help="only what this agent wrote down")
    add("--run", metavar="TEXT", help="only what was written down in this run")
    add("--role", metavar="TEXT", help="only what was said in this role")
    add("--pinned", action="store_const", const=True, help="only what is pinned")
    add(
        "--no-pinned",
        "--not-pinned",
        dest="pinned",
        action="store_const",
        const=False,
        help="only what is not",
    )
    add("--importance-min", type=int, metavar="N", help="1 to 5")
    add("--importance-max", type=int, metavar="N", help="1 to 5")
    add("--updated-after", metavar="DATE", help="2026-03-01 or 2026-03-01T12:00Z")
    add("--updated-before", metavar="DATE", help="2026-03-01 or 2026-03-01T12:00Z")
    add("--as-of", metavar="DATE", help="answer with what was known then")
    add("--threshold", type=float, metavar="X", help="0 to 1: only what is this similar")
    _turns(parser)


def _turns(parser: ArgumentParser) -> None:
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--turns",
        dest="include",
        action="store_const",
        const=(INCLUDE_MEMORIES, INCLUDE_TURNS),
        help="also what was said, word for word",
    )
    either.add_argument(
        "--only-turns",
        dest="include",
        action="store_const",
        const=(INCLUDE_TURNS,),
        help="only what was said, word for word",
    )


def narrowed(args: Namespace) -> dict[str, Any]:
    """What was asked for; the rest is left to the memory."""
    named = {name: getattr(args, name) for name in _PLAIN}
    named |= {name: _moment(name, getattr(args, name)) for name in _TIMES}
    return {name: value for name, value in named.items() if value is not None}


def _moment(name: str, written: str | None) -> object:
    return None if written is None else validation.parse_iso_datetime(name, written)
