"""What a model says in a conversation, made safe to pass on: all of it is written by a stranger."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tacit import limits
from tacit.model.talk import WORD, ModelTurn, Offered, TalkReply, TalkTurn, ToolCall, written

if TYPE_CHECKING:
    from tacit.language.engine import Called, Reply

_NO_SUCH_TOOL = "unknown_tool"  # stands for a name that could not even be sent back
_KEPT_CONTROLS = frozenset("\n\t")


def spelled(
    instructions: str, turns: Iterable[TalkTurn], tools: Iterable[Offered]
) -> tuple[str, ...]:
    """Every text that a conversation sends, to be counted."""
    return (instructions, *_turns_spelled(turns), *_tools_spelled(tools))


def spoken(reply: Reply, turns: Iterable[TalkTurn], tools: Iterable[Offered]) -> TalkReply:
    text = _readable(reply.text)
    most = limits.TALK_ANSWER_MAX_CHARS
    used = {call.id for turn in turns if isinstance(turn, ModelTurn) for call in turn.calls}
    names = {one.name for one in tools}
    calls: list[ToolCall] = []
    for number, call in enumerate(reply.calls[: limits.TALK_CALLS_MAX_COUNT], 1):
        # What was being written when there was no more room is not what was meant.
        half = reply.cut and number == len(reply.calls)
        calls.append(_call(call, names, used, half=half))
    return TalkReply(text=text[:most], calls=tuple(calls), cut=reply.cut or len(text) > most)


def _call(call: Called, names: set[str], used: set[str], *, half: bool) -> ToolCall:
    id = call.id if WORD.fullmatch(call.id) and call.id not in used else _new_id(used)
    used.add(id)
    if call.name not in names:
        shown = call.name if WORD.fullmatch(call.name) else _NO_SUCH_TOOL
        return ToolCall(id=id, name=shown, broken=True)
    arguments = None if half else _object(call.arguments)
    if arguments is None:
        return ToolCall(id=id, name=call.name, broken=True)
    return ToolCall(id=id, name=call.name, arguments=arguments)


def _new_id(used: set[str]) -> str:
    number = len(used) + 1
    while f"call_{number}" in used:
        number += 1
    return f"call_{number}"


def _object(arguments: str | dict[str, Any] | None) -> dict[str, Any] | None:
    """The JSON object that it is; None where it is something else, or cannot be sent back."""
    if arguments is None or arguments == "":
        return {}  # how some servers call a tool that needs none
    try:
        plain = arguments if isinstance(arguments, str) else json.dumps(arguments)
        if len(plain) > limits.TALK_CALL_MAX_CHARS:
            return None
        found = json.loads(plain, parse_constant=_refused)
        # Numbers beyond any measure and halves of characters pass the first reading alone.
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and not _too_deep(found) else None


def _too_deep(value: object) -> bool:
    level = [value]
    for _ in range(limits.TALK_CALL_MAX_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _refused(word: str) -> object:
    raise ValueError(word)


def _readable(text: str) -> str:
    """Without what a terminal or a database would take for something else than text."""
    plain = text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n")
    return "".join(c for c in plain if c in _KEPT_CONTROLS or unicodedata.category(c) != "Cc")


def _turns_spelled(turns: Iterable[TalkTurn]) -> Iterator[str]:
    for turn in turns:
        yield turn.text
        if isinstance(turn, ModelTurn):
            yield from (written("turns", call.arguments) for call in turn.calls)


def _tools_spelled(tools: Iterable[Offered]) -> Iterator[str]:
    for tool in tools:
        yield from (tool.name, tool.description, written("tools", tool.parameters))
