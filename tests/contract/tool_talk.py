"""A model behind a real HTTP endpoint that uses the memory tool as a test tells it to."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import anthropic

from tacit.tools.anthropic_memory import AsyncMemoryTool, MemoryTool
from tacit.view.view import View
from tests.llm.endpoint import Endpoint, Reply, Seen, Step
from tests.llm.replies import talks

Command = dict[str, Any]
QUESTION: list[Any] = [{"role": "user", "content": "Where was I?"}]
ASKED: dict[str, Any] = {"model": "tiny", "max_tokens": 500, "messages": QUESTION}


class Heard(NamedTuple):
    """What the model was told."""

    text: str
    failed: bool


def uses(command: Command, number: int) -> Step:
    """The model calls the tool, in the words of the API."""

    def step(seen: Seen) -> Reply:
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": command}
        message = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": seen.body["model"],
            "content": [call],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 40, "output_tokens": 8},
        }
        return Reply(body=json.dumps(message).encode())

    return step


def told(endpoint: Endpoint, view: View, *commands: Command) -> list[Heard]:
    """The SDK's own runner drives the tool; this is what it sent back for each command."""
    _script(endpoint, commands)
    with anthropic.Anthropic(api_key="none", base_url=endpoint.url, max_retries=0) as client:
        runner = client.beta.messages.tool_runner(**ASKED, tools=[MemoryTool(view)])
        last = runner.until_done()
    assert last.stop_reason == "end_turn"
    return _results(endpoint, len(commands))


async def told_later(endpoint: Endpoint, view: View, *commands: Command) -> list[Heard]:
    """The same with the SDK's asynchronous runner."""
    _script(endpoint, commands)
    async with anthropic.AsyncAnthropic(api_key="none", base_url=endpoint.url, max_retries=0) as client:
        runner = client.beta.messages.tool_runner(**ASKED, tools=[AsyncMemoryTool(view)])
        last = await runner.until_done()
    assert last.stop_reason == "end_turn"
    return _results(endpoint, len(commands))


def _script(endpoint: Endpoint, commands: Sequence[Command]) -> None:
    endpoint.seen.clear()
    endpoint.script = [uses(command, n) for n, command in enumerate(commands)]
    endpoint.script.append(talks("Done."))


def _results(endpoint: Endpoint, count: int) -> list[Heard]:
    first, *others = endpoint.seen
    assert first.body["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert len(others) == count
    found = []
    for number, seen in enumerate(others):
        (result,) = seen.body["messages"][-1]["content"]
        assert (result["type"], result["tool_use_id"]) == ("tool_result", f"toolu_{number}")
        found.append(Heard(result["content"], result.get("is_error", False)))
    return found
