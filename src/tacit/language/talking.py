"""A conversation as the library has it. Imported only when there is one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from tacit.model.talk import ModelTurn, Offered, TalkTurn, ToolTurn, UserTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    instructions: str
    turns: tuple[TalkTurn, ...]  # checked, in an order that models take
    tools: tuple[Offered, ...]
    max_output_tokens: int
    temperature: float | None


def talk_messages(talk: Conversation) -> list[ModelMessage]:
    """Turns of the same side become one: the templates of many models know nothing else than that
    both sides take turns. One in which the model said nothing is left out, because some servers
    refuse it."""
    spoken = [one for one in talk.turns if not isinstance(one, ModelTurn) or _says(one)]
    return [_message(kind, list(turns), talk.instructions) for kind, turns in groupby(spoken, type)]


def talk_parameters(talk: Conversation) -> ModelRequestParameters:
    tools = [
        ToolDefinition(
            name=one.name,
            description=one.description,
            parameters_json_schema=dict(one.parameters),
            strict=False,  # the schema goes as it is: not every server knows the other kind
        )
        for one in talk.tools
    ]
    return ModelRequestParameters(function_tools=tools)


def _says(turn: ModelTurn) -> bool:
    return bool(turn.text.strip() or turn.calls)


def _message(kind: type[TalkTurn], turns: list[TalkTurn], instructions: str) -> ModelMessage:
    if kind is ModelTurn:
        return _answer([turn for turn in turns if isinstance(turn, ModelTurn)])
    if kind is UserTurn:
        words = "\n\n".join(turn.text for turn in turns)
        return ModelRequest(parts=[UserPromptPart(content=words)], instructions=instructions)
    results = [_result(turn) for turn in turns if isinstance(turn, ToolTurn)]
    return ModelRequest(parts=results, instructions=instructions)


def _answer(turns: list[ModelTurn]) -> ModelResponse:
    words = "\n\n".join(turn.text for turn in turns if turn.text.strip())
    parts: list[TextPart | ToolCallPart] = [TextPart(content=words)] if words else []
    parts.extend(
        ToolCallPart(call.name, dict(call.arguments), tool_call_id=call.id)
        for turn in turns
        for call in turn.calls
    )
    return ModelResponse(parts=parts)


def _result(turn: ToolTurn) -> ToolReturnPart:
    return ToolReturnPart(
        turn.name,
        turn.text or "(nothing)",
        tool_call_id=turn.call,
        outcome="failed" if turn.failed else "success",
    )
