"""One message of a conversation, as a channel hands it over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeGuard

from tacit import limits
from tacit.errors import InvalidInput
from tacit.model import text


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Message:
    role: Role | str
    content: str
    name: str | None = None  # who says it, where that is not the requester: a name, not an identity
    at: datetime | None = None  # when it was said; without it, now
    id: str | None = None  # the channel's own id of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message, checked."""

    role: Role
    content: str
    name: str | None
    at: datetime | None
    id: str | None


def parse(messages: object) -> list[Said]:
    return [checked(one) for one in listed(messages)]


def listed(messages: object) -> list[object]:
    if isinstance(messages, str | bytes | Message) or not isinstance(messages, Iterable):
        raise InvalidInput("messages", "expected a list of tacit.Message")
    found = list(messages)
    if len(found) > limits.MESSAGES_MAX_COUNT:
        raise InvalidInput("messages", f"takes at most {limits.MESSAGES_MAX_COUNT} at a time")
    size = sum(len(one.content) for one in found if _has_text(one))
    if size > limits.MESSAGES_MAX_CHARS:
        most = limits.MESSAGES_MAX_CHARS
        raise InvalidInput(
            "messages",
            f"are {size:,} characters in all; at most {most:,} are taken at a time: send fewer",
        )
    return found


def _has_text(message: object) -> TypeGuard[Message]:
    return isinstance(message, Message) and isinstance(message.content, str)


def checked(message: object) -> Said:
    if not isinstance(message, Message):
        raise InvalidInput("messages", "expected a list of tacit.Message")
    return Said(
        role=text.choice("role", message.role, Role),
        content=text.content(message.content),
        name=None
        if message.name is None
        else text.said_identifier("name", message.name, limits.NAME_MAX_CHARS),
        at=None if message.at is None else text.moment("at", message.at),
        id=text.optional_identifier("id", message.id, limits.LABEL_MAX_CHARS),
    )


def read_of(messages: Sequence[Said]) -> Sequence[Said]:
    """Those that are read at the end of a session: the last, and one at least."""
    left = limits.DRAFT_MESSAGES_MAX_CHARS
    for count, said in enumerate(reversed(messages)):
        left -= len(said.content)
        if count and (left < 0 or count == limits.DRAFT_MESSAGES_MAX_COUNT):
            return messages[-count:]
    return messages
