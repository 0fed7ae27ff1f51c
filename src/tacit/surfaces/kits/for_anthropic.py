"""For Anthropic's SDK: the messages API."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    from anthropic.types import Message, ToolParam, ToolResultBlockParam


@dataclass(frozen=True, slots=True)
class AnthropicKit:
    """Bound to a view: its tools can reach what the view can, and nothing else."""

    _offering: Offering

    @property
    def tools(self) -> list[ToolParam]:
        """For `messages.create(tools=…)`."""
        return [
            {"name": tool.name, "description": tool.description, "input_schema": schema(tool)}
            for tool in self._offering.tools
        ]

    def answer(
        self, said: Message | Mapping[str, Any], *, leave: Collection[str] = ()
    ) -> list[ToolResultBlockParam]:
        """Runs the calls that the model made, one after the other, and gives the content of the
        user's message that goes back after it; none if it called nothing.

        `leave` names tools of your own: their calls are for you to answer, in the same message. Any
        other name is answered, too, as no tool, because a call without an answer is refused by the
        API.
        """
        return [
            {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": answer.text,
                "is_error": answer.failed,
            }
            for call, answer in self._offering.answers(_calls(said), leave)
        ]


def anthropic_kit(
    view: AnyView, *, only: Collection[str] | None = None, message: str | None = None
) -> AnthropicKit:
    """None are offered where memory is disabled. `only` names those that are; `message` is the
    channel's id of what they are called for, with which what they keep can be taken back."""
    return AnthropicKit(offering(view, only, message))


def _calls(said: object) -> Iterator[Call]:
    if field(said, "role") != "assistant":
        raise InvalidInput("said", "expected what the model said: a message of the assistant's")
    if has(said, "tool_calls"):
        # Without a word the loop would end, and what was called would never be done.
        raise InvalidInput("said", "is a message in OpenAI's form: answer it with openai_kit")
    for block in listed(said, "content"):
        if field(block, "type") == "tool_use":
            name, arguments = field(block, "name"), field(block, "input")
            yield Call(id=field(block, "id"), name=name, arguments=arguments)
