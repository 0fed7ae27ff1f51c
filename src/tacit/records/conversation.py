"""Messages of a chat, raw channel updates, and turns with a language model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a chat, as a channel adapter passes it."""

    role: Role | str
    content: str
    name: str | None = None  # display name of a speaker who is not the requester
    at: datetime | None = None  # None: now
    id: str | None = None  # the channel's message id


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedMessage:
    """A checked message."""

    role: Role
    content: str
    name: str | None
    at: datetime | None
    id: str | None


def parse_messages(messages: object) -> list[ParsedMessage]:
    return [parse_message(one) for one in check_message_list(messages)]


def check_message_list(messages: object) -> list[object]:
    if isinstance(messages, str | bytes | Message) or not isinstance(messages, Iterable):
        raise InvalidInput("messages", "expected a list of tacit.Message")
    found = list(messages)
    if len(found) > limits.MESSAGES_MAX_COUNT:
        raise InvalidInput("messages", f"takes at most {limits.MESSAGES_MAX_COUNT} at a time")
    size = sum(len(one.content) for one in found if isinstance(one, Message) and isinstance(one.content, str))
    if size > limits.MESSAGES_MAX_CHARS:
        most = limits.MESSAGES_MAX_CHARS
        raise InvalidInput(
            "messages", f"are {size:,} characters in all; at most {most:,} are taken at a time: send fewer"
        )
    return found


def parse_message(message: object) -> ParsedMessage:
    if not isinstance(message, Message):
        raise InvalidInput("messages", "expected a list of tacit.Message")
    return ParsedMessage(
        role=validation.parse_enum("role", message.role, Role),
        content=validation.parse_content(message.content),
        name=None
        if message.name is None
        else validation.parse_screened_identifier("name", message.name, limits.NAME_MAX_CHARS),
        at=None if message.at is None else validation.parse_datetime("at", message.at),
        id=validation.parse_optional_label("id", message.id),
    )


def select_last_messages(messages: Sequence[ParsedMessage]) -> Sequence[ParsedMessage]:
    """Return the last messages that fit the limits of a session draft, at least one."""
    left = limits.DRAFT_MESSAGES_MAX_CHARS
    for count, message in enumerate(reversed(messages)):
        left -= len(message.content)
        if count and (left < 0 or count == limits.DRAFT_MESSAGES_MAX_COUNT):
            return messages[-count:]
    return messages


# Updates of a channel, stored before they are acknowledged until they are handled.


@dataclass(frozen=True, slots=True)
class Update:
    """One raw update of a channel."""

    id: str  # the same for each delivery
    chat: str  # updates of one chat are handled in order
    payload: str  # raw, for example JSON
    person: str | None = None  # external key of the sender, with whose data it is erased


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingUpdate:
    """A stored update that is not handled yet."""

    seq: int  # order of arrival
    id: str
    chat: str
    payload: str
    attempts: int  # failed ones


# Conversations with a language model that may call tools.

# The names of tools and ids of calls that both APIs accept.
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TURNS_EXPECTED = "expected a list of UserTurn, ModelTurn and ToolTurn"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of a model. Its arguments are a JSON object and otherwise unchecked."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    broken: bool = False  # unknown tool or incomplete JSON: refuse it, never run it


@dataclass(frozen=True, slots=True)
class UserTurn:
    text: str


@dataclass(frozen=True, slots=True)
class ModelTurn:
    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """The result of a tool call. Every call needs one, also a refused one."""

    call: str  # id of the call
    name: str
    text: str
    failed: bool = False


TalkTurn: TypeAlias = UserTurn | ModelTurn | ToolTurn


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that the model may call. `parameters` is the JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TalkReply:
    """The answer of a model. The text may be empty; call ids are unique in the conversation."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    cut: bool = False  # truncated at the token limit


def parse_turns(turns: object) -> tuple[TalkTurn, ...]:
    """Check the turns and their order.

    The first is a UserTurn, every call is answered before the next turn, and the last is not a
    ModelTurn.
    """
    found = _parse_list("turns", turns, _TURNS_EXPECTED, limits.TALK_TURNS_MAX_COUNT)
    open_calls: dict[str, str] = {}
    checked: list[TalkTurn] = []
    for turn in found:
        if not isinstance(turn, UserTurn | ModelTurn | ToolTurn):
            raise InvalidInput("turns", _TURNS_EXPECTED)
        if isinstance(turn, ToolTurn):
            if open_calls.pop(str(turn.call), None) != turn.name:
                raise InvalidInput("turns", "hold a ToolTurn that answers no call of the turn before it")
        elif open_calls:
            raise InvalidInput("turns", "leave a call of a tool unanswered: add a ToolTurn for it")
        one = _check_turn(turn)
        if isinstance(one, ModelTurn):
            open_calls = {call.id: call.name for call in one.calls}
        checked.append(one)
    if not checked or not isinstance(checked[0], UserTurn):
        raise InvalidInput("turns", "must begin with a UserTurn")
    if isinstance(checked[-1], ModelTurn) or open_calls:
        raise InvalidInput("turns", "must end with a UserTurn, or the ToolTurn of every call")
    return tuple(checked)


def parse_tools(tools: object) -> tuple[ToolSpec, ...]:
    expected = "expected a list of ToolSpec"
    found = _parse_list("tools", tools, expected, limits.TALK_TOOLS_MAX_COUNT)
    names: set[str] = set()
    checked: list[ToolSpec] = []
    for one in found:
        if not isinstance(one, ToolSpec):
            raise InvalidInput("tools", expected)
        if not _is_tool_name(one.name) or one.name in names:
            raise InvalidInput("tools", "each needs a name of its own: up to 64 letters, digits, dashes")
        names.add(one.name)
        dump_json_object("tools", one.parameters)
        checked.append(ToolSpec(one.name, make_encodable("tools", one.description), one.parameters))
    return tuple(checked)


def make_encodable(what: str, value: object) -> str:
    """Return the text as valid UTF-8: replace lone surrogates instead of refusing a message."""
    if not isinstance(value, str):
        raise InvalidInput(what, f"expected text, got {type(value).__name__}")
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def dump_json_object(what: str, value: object) -> str:
    if not isinstance(value, Mapping):
        raise InvalidInput(what, "expected a JSON object")
    try:
        text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(what, "cannot be represented as JSON") from None
    return text


def _parse_list(what: str, value: object, expected: str, most: int) -> list[object]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(what, expected)
    found = list(value)
    if len(found) > most:
        raise InvalidInput(what, f"are {len(found):,}; at most {most:,} are taken: leave some out")
    return found


def _check_turn(turn: TalkTurn) -> TalkTurn:
    text = make_encodable("turns", turn.text)
    if isinstance(turn, ModelTurn):
        return ModelTurn(text, _check_calls(turn))
    if isinstance(turn, ToolTurn):
        return ToolTurn(turn.call, turn.name, text, validation.parse_bool("turns", turn.failed))
    if not text.strip():
        raise InvalidInput("turns", "hold a UserTurn without words: leave it out")
    return UserTurn(text)


def _check_calls(turn: ModelTurn) -> tuple[ToolCall, ...]:
    ids: set[str] = set()
    checked: list[ToolCall] = []
    for call in _parse_list("turns", turn.calls, _TURNS_EXPECTED, limits.TALK_CALLS_MAX_COUNT):
        if not isinstance(call, ToolCall) or not (_is_tool_name(call.id) and _is_tool_name(call.name)):
            raise InvalidInput("turns", "hold a call that no model made: repeat it as it came")
        if call.id in ids:
            raise InvalidInput("turns", "hold two calls of the same id")
        ids.add(call.id)
        dump_json_object("turns", call.arguments)
        checked.append(call)
    return tuple(checked)


def _is_tool_name(value: object) -> bool:
    return isinstance(value, str) and TOOL_NAME.fullmatch(value) is not None
