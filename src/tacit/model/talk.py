"""A conversation with a language model that may call tools: its turns, and what it answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tacit import limits
from tacit.errors import InvalidInput
from tacit.model import text as texts

# What both APIs take for the name of a tool and for the id of a call.
WORD = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TURNS = "expected a list of tacit.UserTurn, ModelTurn and ToolTurn"
_JSON = "is nothing that JSON can hold"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a model wants done. Its arguments are its own words: nothing about them is checked but
    that they are a JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    broken: bool = False  # no such tool, or no whole JSON object: to be refused, never carried out


@dataclass(frozen=True, slots=True)
class UserTurn:
    text: str


@dataclass(frozen=True, slots=True)
class ModelTurn:
    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """What became of a call. Each is answered, also one that was refused."""

    call: str  # its id
    name: str
    text: str
    failed: bool = False


TalkTurn: TypeAlias = UserTurn | ModelTurn | ToolTurn


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool that the model may call. `parameters` is the JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TalkReply:
    """The words may be none, with calls or without. Ids of calls are unique in the conversation."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    cut: bool = False  # it ended for its length, and not because it was at its end


def parse_turns(turns: object) -> tuple[TalkTurn, ...]:
    """In an order that models take: a person begins, every call is answered before anything else is
    said, and it is the model's turn at the end."""
    found = _listed("turns", turns, _TURNS, limits.TALK_TURNS_MAX_COUNT)
    open_calls: dict[str, str] = {}
    checked: list[TalkTurn] = []
    for turn in found:
        if not isinstance(turn, UserTurn | ModelTurn | ToolTurn):
            raise InvalidInput("turns", _TURNS)
        if isinstance(turn, ToolTurn):
            _answer(turn, open_calls)
        elif open_calls:
            raise InvalidInput("turns", "leave a call of a tool unanswered: add a ToolTurn for it")
        one = _checked(turn)
        if isinstance(one, ModelTurn):
            open_calls = {call.id: call.name for call in one.calls}
        checked.append(one)
    if not checked or not isinstance(checked[0], UserTurn):
        raise InvalidInput("turns", "must begin with a UserTurn")
    if isinstance(checked[-1], ModelTurn) or open_calls:
        raise InvalidInput("turns", "must end with a UserTurn, or the ToolTurn of every call")
    return tuple(checked)


def parse_tools(tools: object) -> tuple[Offered, ...]:
    expected = "expected a list of tacit.Offered"
    found = _listed("tools", tools, expected, limits.TALK_TOOLS_MAX_COUNT)
    names: set[str] = set()
    checked: list[Offered] = []
    for one in found:
        if not isinstance(one, Offered):
            raise InvalidInput("tools", expected)
        if not _word(one.name) or one.name in names:
            raise InvalidInput(
                "tools", "each needs a name of its own: up to 64 letters, digits, dashes"
            )
        names.add(one.name)
        written("tools", one.parameters)
        checked.append(Offered(one.name, said("tools", one.description), one.parameters))
    return tuple(checked)


def said(what: str, value: object) -> str:
    """Text as it can be sent. What people write may hold halves of characters, and must not be
    refused for it."""
    if not isinstance(value, str):
        raise InvalidInput(what, f"expected text, got {type(value).__name__}")
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def written(what: str, value: object) -> str:
    """A JSON object as text."""
    if not isinstance(value, Mapping):
        raise InvalidInput(what, "expected a JSON object")
    try:
        text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(what, _JSON) from None
    return text


def _listed(what: str, value: object, expected: str, most: int) -> list[object]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(what, expected)
    found = list(value)
    if len(found) > most:
        raise InvalidInput(what, f"are {len(found):,}; at most {most:,} are taken: leave some out")
    return found


def _checked(turn: TalkTurn) -> TalkTurn:
    text = said("turns", turn.text)
    if isinstance(turn, ModelTurn):
        return ModelTurn(text, _calls(turn))
    if isinstance(turn, ToolTurn):
        return ToolTurn(turn.call, turn.name, text, texts.flag("turns", turn.failed))
    if not text.strip():
        raise InvalidInput("turns", "hold a UserTurn without words: leave it out")
    return UserTurn(text)


def _calls(turn: ModelTurn) -> tuple[ToolCall, ...]:
    ids: set[str] = set()
    checked: list[ToolCall] = []
    for call in _listed("turns", turn.calls, _TURNS, limits.TALK_CALLS_MAX_COUNT):
        if not isinstance(call, ToolCall) or not (_word(call.id) and _word(call.name)):
            raise InvalidInput("turns", "hold a call that no model made: repeat it as it came")
        if call.id in ids:
            raise InvalidInput("turns", "hold two calls of the same id")
        ids.add(call.id)
        written("turns", call.arguments)
        checked.append(call)
    return tuple(checked)


def _answer(turn: ToolTurn, open_calls: dict[str, str]) -> None:
    if open_calls.pop(str(turn.call), None) != turn.name:
        raise InvalidInput("turns", "hold a ToolTurn that answers no call of the turn before it")


def _word(value: object) -> bool:
    return isinstance(value, str) and WORD.fullmatch(value) is not None
