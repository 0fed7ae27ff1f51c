"""Tools of a view for OpenAI, Anthropic and pydantic-ai, and the answers to their calls."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

from tacit.errors import InvalidInput, MissingExtra
from tacit.memory import FENCE_CLOSE, View
from tacit.tools import Answer, Tool, tools

if TYPE_CHECKING:
    import pydantic_ai
    from anthropic.types import Message, ToolParam, ToolResultBlockParam
    from openai.types.chat import (
        ChatCompletion,
        ChatCompletionFunctionToolParam,
        ChatCompletionMessage,
        ChatCompletionToolMessageParam,
    )
    from openai.types.responses import FunctionToolParam, Response
    from openai.types.responses.response_input_item_param import FunctionCallOutput

__all__ = ["AnthropicKit", "OpenAIKit", "anthropic_kit", "openai_kit", "pydantic_ai_tools"]


# The selection of tools, and the answers to calls: each call has one, and all together are bounded.

CALLS_MAX_COUNT = 64  # in one message of a model's
ARGUMENTS_MAX_CHARS = 1_000_000  # of one call
ANSWER_MAX_CHARS = 40_000
ANSWERS_MAX_CHARS = 200_000  # of one message's calls, together

_NO_SUCH_TOOL = "there is no such tool here"
_TOO_MANY = "this is more than can be answered at once: call it again, after these answers"
_CUT = "\n… (cut off here: ask for less at once)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call by a model. Arguments that are text may be JSON, or not."""

    id: str
    name: str
    arguments: object


@dataclass(frozen=True, slots=True)
class ToolSet:
    tools: tuple[Tool, ...]

    def answers(self, calls: Iterable[ToolCall], leave: Collection[str] = ()) -> Iterator[tuple[ToolCall, Answer]]:
        """Return answers in the order of the calls, except for the names in `leave`, which the caller
        answers. Calls beyond the limit are not run."""
        _refuse_string("leave", leave)
        room = ANSWERS_MAX_CHARS
        left = tuple(leave)  # a name may be anything, also what no set can be asked for
        ours = (call for call in calls if call.name not in left)
        for number, call in enumerate(ours):
            if number >= CALLS_MAX_COUNT or room <= 0:
                yield call, Answer(_TOO_MANY, failed=True)
                continue
            answer = self.answer(call)
            room -= len(answer.text)
            yield call, answer

    def answer(self, call: ToolCall) -> Answer:
        tool = next((one for one in self.tools if one.name == call.name), None)
        if tool is None:
            return Answer(_NO_SUCH_TOOL, failed=True)
        try:
            arguments = _parse_arguments(call.arguments)
        except InvalidInput as error:
            return Answer(str(error), failed=True)
        return truncate_answer(tool.call(arguments))


def create_tool_set(view: View, only: Collection[str] | None, message: str | None) -> ToolSet:
    _require_view(view)
    offered = tools(view, message)
    if only is None or not offered:
        return ToolSet(offered)
    _refuse_string("only", only)
    known = [one.name for one in offered]
    for name in only:
        if name not in known:
            raise InvalidInput("only", f"there is no tool {name!r}; use some of {', '.join(known)}")
    return ToolSet(tuple(one for one in offered if one.name in only))


def _require_view(given: object) -> None:
    if not isinstance(given, View):
        raise InvalidInput("view", "expected a view: memory.view(requester, chat), or one of tacit.connect(…)")


def copy_schema(tool: Tool) -> dict[str, Any]:
    """Return a deep copy: a caller may change it."""
    return deepcopy(dict(tool.parameters))


def truncate_answer(answer: Answer) -> Answer:
    if len(answer.text) <= ANSWER_MAX_CHARS:
        return answer
    cut = f"{_CUT}\n{FENCE_CLOSE}" if answer.text.endswith(FENCE_CLOSE) else _CUT  # the fence stays closed
    return replace(answer, text=answer.text[: ANSWER_MAX_CHARS - len(cut)] + cut)


def get_field(thing: object, name: str) -> Any:
    """Return a field of an SDK record or of its JSON."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def has_field(thing: object, name: str) -> bool:
    return name in thing if isinstance(thing, Mapping) else hasattr(thing, name)


def get_list(thing: object, name: str) -> list[Any]:
    """Return a field that is a list, or an empty one: not every server keeps to the format."""
    found = get_field(thing, name)
    return found if isinstance(found, list) else []


def _refuse_string(name: str, given: Collection[str]) -> None:
    """Refuse a single string: it is a collection of letters."""
    if isinstance(given, str):
        raise InvalidInput(name, "expected names of tools in a list")


def _parse_arguments(arguments: object) -> object:
    if not isinstance(arguments, str):
        return arguments
    if len(arguments) > ARGUMENTS_MAX_CHARS:
        problem = f"are too long; write at most {ARGUMENTS_MAX_CHARS:,} characters"
        raise InvalidInput("arguments", problem)
    try:
        return json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        raise InvalidInput("arguments", "expected a JSON object") from None


# Anthropic: the messages API.


@dataclass(frozen=True, slots=True)
class AnthropicKit:
    """Tools bound to one view: they reach what the view can, and nothing else."""

    _offering: ToolSet

    @property
    def tools(self) -> list[ToolParam]:
        """For `messages.create(tools=…)`."""
        return [
            {"name": tool.name, "description": tool.description, "input_schema": copy_schema(tool)}
            for tool in self._offering.tools
        ]

    def answer(self, said: Message | Mapping[str, Any], *, leave: Collection[str] = ()) -> list[ToolResultBlockParam]:
        """Run the calls of the model, one after the other, and return the content of the
        user's message that goes back after it; none if it called nothing.

        `leave` names tools of your own: their calls are for you to answer, in the same message. Any
        other name is answered, too, as no tool, because a call without an answer is refused by the
        API.
        """
        return [
            {"type": "tool_result", "tool_use_id": call.id, "content": answer.text, "is_error": answer.failed}
            for call, answer in self._offering.answers(_find_anthropic_calls(said), leave)
        ]


def anthropic_kit(view: View, *, only: Collection[str] | None = None, message: str | None = None) -> AnthropicKit:
    """Return the tools of a view; none where memory is disabled. `only` selects some by name.
    `message` is the channel's id of the message they are called for, by which it is unlearned."""
    return AnthropicKit(create_tool_set(view, only, message))


def _find_anthropic_calls(said: object) -> Iterator[ToolCall]:
    if get_field(said, "role") != "assistant":
        raise InvalidInput("said", "expected what the model said: a message of the assistant's")
    if has_field(said, "tool_calls"):
        # An empty answer would end the loop, and the calls would never run.
        raise InvalidInput("said", "is a message in OpenAI's form: answer it with openai_kit")
    for block in get_list(said, "content"):
        if get_field(block, "type") == "tool_use":
            yield _read_call(get_field(block, "id"), block, "input")


# OpenAI and compatible servers: chat completions and responses.


@dataclass(frozen=True, slots=True)
class OpenAIKit:
    """Tools bound to one view: they reach what the view can, and nothing else."""

    _offering: ToolSet

    @property
    def tools(self) -> list[ChatCompletionFunctionToolParam]:
        """For `chat.completions.create(tools=…)`."""
        return [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": copy_schema(tool)},
            }
            for tool in self._offering.tools
        ]

    @property
    def responses_tools(self) -> list[FunctionToolParam]:
        """For `responses.create(tools=…)`."""
        return [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": copy_schema(tool),
                "strict": False,  # what may be left out is left out, and not written as null
            }
            for tool in self._offering.tools
        ]

    @overload
    def answer(
        self, said: ChatCompletion | ChatCompletionMessage, *, leave: Collection[str] = ()
    ) -> list[ChatCompletionToolMessageParam]: ...
    @overload
    def answer(self, said: Response, *, leave: Collection[str] = ()) -> list[FunctionCallOutput]: ...
    @overload
    def answer(self, said: Mapping[str, Any], *, leave: Collection[str] = ()) -> list[dict[str, Any]]: ...

    def answer(self, said: object, *, leave: Collection[str] = ()) -> Any:
        """Run the calls of the model, one after the other, and return the messages (for a
        response: the items) that go back after it; none if it called nothing.

        `leave` names tools of your own: their calls are for you to answer. Any other name is
        answered, too, as no tool, because a call without an answer is refused by the API.
        """
        if isinstance(get_field(said, "output"), list):
            answers = self._offering.answers(_find_response_calls(said), leave)
            return [
                {"type": "function_call_output", "call_id": call.id, "output": answer.text} for call, answer in answers
            ]
        answers = self._offering.answers(_find_message_calls(_find_message(said)), leave)
        return [{"role": "tool", "tool_call_id": call.id, "content": answer.text} for call, answer in answers]


def openai_kit(view: View, *, only: Collection[str] | None = None, message: str | None = None) -> OpenAIKit:
    """Return the tools of a view; none where memory is disabled. `only` selects some by name.
    `message` is the channel's id of the message they are called for, by which it is unlearned."""
    return OpenAIKit(create_tool_set(view, only, message))


def _find_message(said: object) -> object:
    choices = get_list(said, "choices")
    if choices:
        return get_field(choices[0], "message")
    if _is_anthropic_message(said):
        raise InvalidInput("said", "is a message in Anthropic's form: answer it with anthropic_kit")
    if get_field(said, "role") == "assistant":
        return said
    raise InvalidInput("said", "expected what the model said: a message, a completion, a response")


def _is_anthropic_message(said: object) -> bool:
    blocks = get_list(said, "content")
    return has_field(said, "stop_reason") or any(get_field(one, "type") == "tool_use" for one in blocks)


def _find_message_calls(message: object) -> Iterator[ToolCall]:
    """Yield the function calls: custom tools are never ours."""
    for one in get_list(message, "tool_calls"):
        if (function := get_field(one, "function")) is not None:
            yield _read_call(get_field(one, "id"), function)


def _find_response_calls(response: object) -> Iterator[ToolCall]:
    for one in get_list(response, "output"):
        if get_field(one, "type") == "function_call":
            yield _read_call(get_field(one, "call_id"), one)


def _read_call(id: str, said: object, arguments: str = "arguments") -> ToolCall:
    return ToolCall(id=id, name=get_field(said, "name"), arguments=get_field(said, arguments))


# pydantic-ai: tools of an agent, or of one run.


def pydantic_ai_tools(
    view: View, *, only: Collection[str] | None = None, message: str | None = None
) -> list[pydantic_ai.Tool[Any]]:
    """Return the tools of a view; none where memory is disabled. `only` selects some by name.
    `message` is the channel's id of the message they are called for, by which it is unlearned."""
    return [_build_pydantic_ai_tool(one) for one in create_tool_set(view, only, message).tools]


def _build_pydantic_ai_tool(tool: Tool) -> pydantic_ai.Tool[Any]:
    try:
        import pydantic_ai
        from pydantic_core import SchemaValidator, core_schema
    except ImportError:
        raise MissingExtra("language", "tools for pydantic-ai") from None

    def call(**arguments: Any) -> str:  # not a coroutine: pydantic-ai runs it in a worker thread
        answer = truncate_answer(tool.call(arguments))
        if answer.failed:
            raise pydantic_ai.ToolFailed(answer.text)
        return answer.text

    made = pydantic_ai.Tool[Any].from_schema(call, tool.name, tool.description, copy_schema(tool))
    # Accept any JSON: pydantic-ai would end the run over arguments that are no object.
    keys = core_schema.dict_schema(core_schema.str_schema())
    made.function_schema.validator = SchemaValidator(keys)
    return made
