"""What the commands of learning take, beside the global options."""

from __future__ import annotations

from argparse import ArgumentParser

from tacit.records.conversation import Role

ACTS = ("release", "discard")


def learn(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("text", metavar="TEXT", nargs="+", help="a message each; - reads lines from stdin")
    add("--queue", action="store_true", help="only accept it; it is learned by whoever works")
    add("--trace", action="store_true", help="print each message's way through the stages")
    add("--dry-run", action="store_true", help="as --trace, and keep nothing of it")
    add("--role", metavar="ROLE", default=Role.USER.value, help=f"who said it: {', '.join(Role)}")
    add("--message", metavar="TEXT", help="the channel's id of the message; for one message")
    add("--at", metavar="TIME", help="when it was said: 2026-03-01T12:00:00+00:00")
    add("--by", metavar="AGENT", help="the agent that hands it over")


def waiting(parser: ArgumentParser) -> None:
    parser.add_argument("--retry", action="store_true", help="try again what was given up")


def work(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--once", action="store_true", help="learn what waits, run what is due, and end"
    )


def quarantine(parser: ArgumentParser) -> None:
    parser.add_argument(
        "act", metavar="ACT", nargs="?", choices=ACTS, help=f"{', '.join(ACTS)}; else list it"
    )
    parser.add_argument("id", metavar="ID", nargs="?", help="the memory's 8 characters")
    _operator(parser)


def revert(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--source",
        metavar="SOURCE",
        required=True,
        help="telegram:-100, telegram:-100/42 (a message), agent:NAME or role:tool",
    )
    parser.add_argument("--dry-run", action="store_true", help="count, and change nothing")
    _operator(parser)


def _operator(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--as-operator",
        metavar="NAME",
        default="cli",
        help="who stands in the history of what changes (default %(default)s)",
    )
