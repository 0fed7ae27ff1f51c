"""Turns of a conversation as JSON lines: all of them good, or none is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from tacit import Message, limits
from tacit.errors import InvalidInput
from tacit.records import conversation

_FIELDS = ("role", "content", "name", "at", "id")


def parse(lines: Iterable[str]) -> list[Message]:
    found: list[Message] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(found) == limits.MESSAGES_MAX_COUNT:
            raise InvalidInput(
                "file", f"has more than {limits.MESSAGES_MAX_COUNT} turns: hand them over in parts"
            )
        try:
            found.append(_turn(line))
        except InvalidInput as error:
            raise InvalidInput(f"line {number}", str(error)) from None
    return found


def _turn(line: str) -> Message:
    if len(line) > limits.IMPORT_LINE_MAX_BYTES:
        raise InvalidInput("turn", "is too long for one line")
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidInput("turn", "is no JSON object") from None
    if not isinstance(said, dict):
        raise InvalidInput("turn", "is no JSON object")
    for name in said:
        if name not in _FIELDS:
            raise InvalidInput("turn", f"has an unknown field; use {', '.join(_FIELDS)}")
    for name in ("role", "content"):
        if said.get(name) is None:
            raise InvalidInput(name, "is missing")
    made = Message(
        said["role"],
        said["content"],
        name=said.get("name"),
        at=moment("at", said.get("at")),
        id=said.get("id"),
    )
    conversation.parse_messages([made])  # again when it is kept; here for the number of its line
    return made


def moment(name: str, written: object) -> datetime | None:
    """A time with its zone: which hour a bare one means is nobody's to guess."""
    if written is None:
        return None
    try:
        found = datetime.fromisoformat(written) if isinstance(written, str) else None
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise InvalidInput(name, "expected a time with its zone, such as 2026-03-01T12:00:00+00:00")
    return found
