"""From `--as`, `--chat` and `--with` to a requester and a chat. The command line is the adapter
here: it vouches for what its user says, as a bot vouches for what its channel says."""

from __future__ import annotations

import re
from argparse import Namespace

from tacit import Chat, Requester
from tacit.errors import InvalidInput
from tacit.records.memory import ChatKind

PRIVATE = "private"
_TELEGRAM_GROUP = re.compile(r"telegram:-")
_SLACK_DIRECT = re.compile(r"slack:[^:]+:D")
_SLACK_CHANNEL = re.compile(r"slack:[^:]+:[CG]")


def requester(args: Namespace, local_person: str | None) -> Requester | None:
    """Whom the command acts for: `--as`, else the local person of the settings, else nobody."""
    key = args.requester if args.requester is not None else local_person
    if key is None:
        return None
    return Requester(key, name=args.name, username=args.username)


def chat(args: Namespace, asking: Requester, *, also: Requester | None = None) -> Chat:
    """The chat that `--chat` names, as `asking` stands in it; `also` is somebody else who does."""
    named = PRIVATE if args.chat is None else args.chat
    present = tuple(_participant(each) for each in args.participants)
    kind = _kind(args, named, asking)
    if named == PRIVATE and kind is not ChatKind.PRIVATE:
        raise InvalidInput("--chat", "name the chat, for example --chat telegram:-5")
    if kind is ChatKind.GROUP:
        there = (asking, *((also,) if also else ()), *present)
        return Chat.group(named, there, complete=args.everybody)
    if present or args.everybody:
        raise InvalidInput(
            "--with", "and --everybody are for groups; a private chat has one person"
        )
    if kind is ChatKind.PRIVATE:
        return Chat.private(asking.key if named == PRIVATE else named)
    return Chat.unknown(named)


def _kind(args: Namespace, named: str, asking: Requester) -> ChatKind:
    if args.chat_kind is not None:
        return ChatKind(args.chat_kind)
    if args.participants or args.everybody:
        return ChatKind.GROUP
    if named in (PRIVATE, asking.key) or _SLACK_DIRECT.match(named):
        return ChatKind.PRIVATE
    if _TELEGRAM_GROUP.match(named) or _SLACK_CHANNEL.match(named):
        return ChatKind.GROUP
    return ChatKind.UNKNOWN


def _participant(written: str) -> Requester:
    """`telegram:2`, or `telegram:2,Bob` for somebody with a name."""
    key, comma, name = written.partition(",")
    return Requester(key, name=name if comma else None)
