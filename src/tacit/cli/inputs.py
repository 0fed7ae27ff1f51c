"""Input: requester and chat from options; JSON lines, turns and drafts from files or stdin."""

from __future__ import annotations

import json
import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from tacit import Chat, Message, Requester, SessionDraft, limits, wire
from tacit.errors import InvalidInput
from tacit.records import conversation
from tacit.records.memory import ChatKind

# Requester and chat. The command line trusts what its user says about both.

PRIVATE_CHAT = "private"
_TELEGRAM_GROUP = re.compile(r"telegram:-")
_SLACK_DIRECT = re.compile(r"slack:[^:]+:D")
_SLACK_CHANNEL = re.compile(r"slack:[^:]+:[CG]")


def parse_requester(args: Namespace, local_person: str | None) -> Requester | None:
    """Return the requester: `--as`, else the local person of the settings, else None."""
    key = args.requester if args.requester is not None else local_person
    if key is None:
        return None
    return Requester(key, name=args.name, username=args.username)


def parse_chat(args: Namespace, asking: Requester, *, also: Requester | None = None) -> Chat:
    """Return the chat that `--chat` names, with `asking` and `also` as members of a group."""
    named = PRIVATE_CHAT if args.chat is None else args.chat
    present = tuple(_parse_participant(each) for each in args.participants)
    kind = _find_chat_kind(args, named, asking)
    if named == PRIVATE_CHAT and kind is not ChatKind.PRIVATE:
        raise InvalidInput("--chat", "specify the chat, for example --chat telegram:-5")
    if kind is ChatKind.GROUP:
        there = (asking, *((also,) if also else ()), *present)
        return Chat.group(named, there, complete=args.everybody)
    if present or args.everybody:
        raise InvalidInput(
            "--with", "and --everybody are for groups; a private chat has one member"
        )
    if kind is ChatKind.PRIVATE:
        return Chat.private(asking.key if named == PRIVATE_CHAT else named)
    return Chat.unknown(named)


def _find_chat_kind(args: Namespace, named: str, asking: Requester) -> ChatKind:
    if args.chat_kind is not None:
        return ChatKind(args.chat_kind)
    if args.participants or args.everybody:
        return ChatKind.GROUP
    if named in (PRIVATE_CHAT, asking.key) or _SLACK_DIRECT.match(named):
        return ChatKind.PRIVATE
    if _TELEGRAM_GROUP.match(named) or _SLACK_CHANNEL.match(named):
        return ChatKind.GROUP
    return ChatKind.UNKNOWN


def _parse_participant(written: str) -> Requester:
    """Parse `telegram:2`, or `telegram:2,Bob` with a name."""
    key, comma, name = written.partition(",")
    return Requester(key, name=name if comma else None)


# JSON lines from a file or from standard input.

STDIN_NAME = "-"
_BOM = b"\xef\xbb\xbf"


@contextmanager
def open_input(name: str) -> Iterator[BinaryIO]:
    if name == STDIN_NAME:
        if sys.stdin is None:
            raise InvalidInput("file", "there is no standard input to read")
        yield sys.stdin.buffer
        return
    if "\0" in name:
        raise InvalidInput("file", "is not a file name")
    with Path(name).open("rb") as file:
        yield file


def read_lines(source: BinaryIO) -> Iterator[str]:
    """Yield lines, cut to the maximum length. Invalid UTF-8 is rejected later, as text."""
    most = limits.IMPORT_LINE_MAX_BYTES + 1
    first = True
    while raw := source.readline(most + 1):
        rest = raw
        while len(rest) > most and not rest.endswith(b"\n"):
            rest = source.readline(most + 1)
        yield (raw.removeprefix(_BOM) if first else raw).decode("utf-8", "surrogateescape")
        first = False


# Turns of a conversation as JSON lines: all are valid, or none is stored.

_TURN_FIELDS = ("role", "content", "name", "at", "id")


def parse_turns(lines: Iterable[str]) -> list[Message]:
    found: list[Message] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(found) == limits.MESSAGES_MAX_COUNT:
            raise InvalidInput(
                "file", f"has more than {limits.MESSAGES_MAX_COUNT} turns; split the file"
            )
        try:
            found.append(_parse_turn(line))
        except InvalidInput as error:
            raise InvalidInput(f"line {number}", str(error)) from None
    return found


def _parse_turn(line: str) -> Message:
    if len(line) > limits.IMPORT_LINE_MAX_BYTES:
        raise InvalidInput("turn", "is too long")
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidInput("turn", "is not a JSON object") from None
    if not isinstance(said, dict):
        raise InvalidInput("turn", "is not a JSON object")
    for name in said:
        if name not in _TURN_FIELDS:
            raise InvalidInput("turn", f"has an unknown field; use {', '.join(_TURN_FIELDS)}")
    for name in ("role", "content"):
        if said.get(name) is None:
            raise InvalidInput(name, "is missing")
    made = Message(
        said["role"],
        said["content"],
        name=said.get("name"),
        at=parse_zoned_time("at", said.get("at")),
        id=said.get("id"),
    )
    conversation.parse_messages([made])  # checked again when stored; here for the line number
    return made


def parse_zoned_time(name: str, written: object) -> datetime | None:
    """Parse a time that has a time zone."""
    if written is None:
        return None
    try:
        found = datetime.fromisoformat(written) if isinstance(written, str) else None
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise InvalidInput(
            name, "expected a time with a time zone, such as 2026-03-01T12:00:00+00:00"
        )
    return found


def read_draft(name: str) -> SessionDraft:
    """Read the draft of a session note, as JSON."""
    with open_input(name) as source:
        raw = source.read(limits.IMPORT_LINE_MAX_BYTES + 1)
    if len(raw) > limits.IMPORT_LINE_MAX_BYTES:
        raise InvalidInput("draft", "is too long; shorten it")
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidInput("draft", "is not JSON") from None
    return wire.parse_session_draft(found)
