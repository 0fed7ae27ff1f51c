"""For OpenAI's SDK, and whatever speaks its formats: chat completions and responses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from tacit.errors import InvalidInput
from tacit.surfaces.kits.offering import (
    AnyView,
    Call,
    Offering,
    field,
    has,
    listed,
    offering,
    schema,
)

if TYPE_CHECKING:
    from openai.types.chat import (
        ChatCompletion,
        ChatCompletionFunctionToolParam,
        ChatCompletionMessage,
        ChatCompletionToolMessageParam,
    )
    from openai.types.responses import FunctionToolParam, Response
    from openai.types.responses.response_input_item_param import FunctionCallOutput


@dataclass(frozen=True, slots=True)
class OpenAIKit:
    """Bound to a view: its tools can reach what the view can, and nothing else."""

    _offering: Offering

    @property
    def tools(self) -> list[ChatCompletionFunctionToolParam]:
        """For `chat.completions.create(tools=…)`."""
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": schema(tool),
                },
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
                "parameters": schema(tool),
                "strict": False,  # what may be left out is left out, and not written as null
            }
            for tool in self._offering.tools
        ]

    @overload
    def answer(
        self, said: ChatCompletion | ChatCompletionMessage, *, leave: Collection[str] = ()
    ) -> list[ChatCompletionToolMessageParam]: ...
    @overload
    def answer(
        self, said: Response, *, leave: Collection[str] = ()
    ) -> list[FunctionCallOutput]: ...
    @overload
    def answer(
        self, said: Mapping[str, Any], *, leave: Collection[str] = ()
    ) -> list[dict[str, Any]]: ...

    def answer(self, said: object, *, leave: Collection[str] = ()) -> Any:
        """Runs the calls that the model made, one after the other, and gives the messages (for a
        response: the items) that go back after it; none if it called nothing.

        `leave` names tools of your own: their calls are for you to answer. Any other name is
        answered, too, as no tool, because a call without an answer is refused by the API.
        """
        if isinstance(field(said, "output"), list):
            answers = self._offering.answers(_response_calls(said), leave)
            return [
                {"type": "function_call_output", "call_id": call.id, "output": answer.text}
                for call, answer in answers
            ]
        answers = self._offering.answers(_message_calls(_message(said)), leave)
        return [
            {"role": "tool", "tool_call_id": call.id, "content": answer.text}
            for call, answer in answers
        ]


def openai_kit(
    view: AnyView, *, only: Collection[str] | None = None, message: str | None = None
) -> OpenAIKit:
    """None are offered where memory is disabled. `only` names those that are; `message` is the
    channel's id of what they are called for, with which what they keep can be taken back."""
    return OpenAIKit(offering(view, only, message))


def _message(said: object) -> object:
    choices = listed(said, "choices")
    if choices:
        return field(choices[0], "message")
    if _is_anthropics(said):
        raise InvalidInput("said", "is a message in Anthropic's form: answer it with anthropic_kit")
    if field(said, "role") == "assistant":
        return said
    raise InvalidInput("said", "expected what the model said: a message, a completion, a response")


def _is_anthropics(said: object) -> bool:
    blocks = listed(said, "content")
    return has(said, "stop_reason") or any(field(one, "type") == "tool_use" for one in blocks)


def _message_calls(message: object) -> Iterator[Call]:
    """Custom tools are never ours, and so their calls are not, either."""
    for one in listed(message, "tool_calls"):
        function = field(one, "function")
        if function is not None:
            name, arguments = field(function, "name"), field(function, "arguments")
            yield Call(id=field(one, "id"), name=name, arguments=arguments)


def _response_calls(response: object) -> Iterator[Call]:
    for one in listed(response, "output"):
        if field(one, "type") == "function_call":
            name, arguments = field(one, "name"), field(one, "arguments")
            yield Call(id=field(one, "call_id"), name=name, arguments=arguments)
