"""Input: requester and chat from options; JSON lines, turns and drafts from files or stdin."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from tacit import Chat, Message, Requester, SessionDraft, limits, wire
from tacit.cli.output import BadUsage
from tacit.errors import InvalidInput
from tacit.http import parse_json_object
from tacit.records import conversation, validation
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
        raise InvalidInput("--with", "and --everybody are for groups; a private chat has one member")
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
_UTF8_MAX_BYTES = 4


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


@contextmanager
def create_file(option: str, name: str) -> Iterator[TextIO]:
    """Create a file that only its owner can read, and remove it if the command fails."""
    path = Path(name)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InvalidInput(option, "the file exists; choose another name, or remove it") from None
    except ValueError:
        raise InvalidInput(option, "is not a file name") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


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


def read_text(_: str, written: str) -> str:
    """Return a text argument; `-` reads standard input."""
    if written != STDIN_NAME:
        return written
    if sys.stdin is None:
        raise InvalidInput("content", "there is no standard input to read it from")
    most = limits.CONTENT_MAX_CHARS * _UTF8_MAX_BYTES
    raw = sys.stdin.buffer.read(most + 2)
    if len(raw) > most + 1:
        raise InvalidInput("content", f"is longer than {limits.CONTENT_MAX_CHARS:,} characters; shorten it")
    try:
        # The shell adds the last newline.
        return raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise InvalidInput("content", "is not UTF-8 text; convert it first") from None


# Turns of a conversation as JSON lines: all are valid, or none is stored.

_TURN_FIELDS = ("role", "content", "name", "at", "id")


def read_turns(name: str) -> list[Message]:
    found: list[Message] = []
    with open_input(name) as source:
        for number, line in enumerate(read_lines(source), start=1):
            if not line.strip():
                continue
            if len(found) == limits.MESSAGES_MAX_COUNT:
                raise InvalidInput("file", f"has more than {limits.MESSAGES_MAX_COUNT} turns; split the file")
            try:
                found.append(_parse_turn(line))
            except InvalidInput as error:
                raise InvalidInput(f"line {number}", str(error)) from None
    return found


def _parse_turn(line: str) -> Message:
    if len(line) > limits.IMPORT_LINE_MAX_BYTES:
        raise InvalidInput("turn", "is too long")
    said = parse_json_object(line)
    if said is None:
        raise InvalidInput("turn", "is not a JSON object")
    if not said.keys() <= set(_TURN_FIELDS):
        raise InvalidInput("turn", f"has an unknown field; use {', '.join(_TURN_FIELDS)}")
    for name in ("role", "content"):
        if said.get(name) is None:
            raise InvalidInput(name, "is missing")
    made = Message(**{**said, "at": parse_zoned_time("at", said.get("at"))})
    conversation.parse_messages([made])  # checked again when stored; here for the line number
    return made


def parse_data(name: str, text: str) -> dict[str, Any]:
    found = parse_json_object(text)
    if found is None:
        raise InvalidInput(name, 'is not a JSON object; write for example {"unit": "kg"}')
    return found


def parse_zoned_time(name: str, written: object) -> datetime | None:
    """Parse a time that has a time zone."""
    if written is None:
        return None
    try:
        found = datetime.fromisoformat(written) if isinstance(written, str) else None
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise InvalidInput(name, "expected a time with a time zone, such as 2026-03-01T12:00:00+00:00")
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


# Arguments of commands that are not passed on as they were written, by the name of the parameter.
PARSERS: dict[str, Callable[[str, str], object]] = {
    **dict.fromkeys(("content", "value"), read_text),
    **dict.fromkeys(("observed_at", "expires_at"), parse_zoned_time),
    **dict.fromkeys(("updated_after", "updated_before", "as_of"), validation.parse_iso_datetime),
    "data": parse_data,
}


def require_one_of(args: Namespace, *ways: str) -> None:
    """Require exactly one of these arguments."""
    if sum(getattr(args, way) not in (None, False) for way in ways) != 1:
        spelled = ("ID" if way == "id" else "--" + way.replace("_", "-") for way in ways)
        raise BadUsage(f"{args.command}: specify exactly one of {', '.join(spelled)}")
