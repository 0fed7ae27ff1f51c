"""Answers in the words of each API: what a model says, how a server refuses, what it cannot do."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.llm.endpoint import Reply, Seen, Step, answered

TOKENS = {"in": 40, "out": 8}


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a tool, as a model makes it. Arguments that are text are sent as they are."""

    name: str
    arguments: object
    id: str = ""  # empty: a number of its own


def says(value: object, *, stop: str = "end", tokens: dict[str, int] | None = TOKENS) -> Callable[[Seen], Reply]:
    """The model's answer, by the tool if there is one. A string is sent as it is, else as JSON."""
    content = value if isinstance(value, str) else json.dumps(value)

    def step(seen: Seen) -> Reply:
        write = _anthropic if seen.api == "anthropic" else _openai
        return Reply(body=json.dumps(write(seen, content, stop, tokens)).encode())

    return step


def talks(text: str, *, stop: str = "end", tokens: dict[str, int] | None = TOKENS) -> Callable[[Seen], Reply]:
    """The model's answer in words, whether there is a tool or not."""

    def step(seen: Seen) -> Reply:
        return Reply(body=json.dumps(_in_words(seen, text, stop, tokens)).encode())

    return step


def calls(*called: Called, text: str = "", stop: str = "end") -> Callable[[Seen], Reply]:
    """The model calls tools, perhaps after some words."""

    def step(seen: Seen) -> Reply:
        body = _in_words(seen, text, stop, TOKENS)
        write = _anthropic_calls if seen.api == "anthropic" else _openai_calls
        write(body, called)
        return Reply(body=json.dumps(body).encode())

    return step


def refuses(status: int, code: str = "", message: str = "no", headers: dict[str, str] | None = None) -> Step:
    def step(seen: Seen) -> Reply:
        error: dict[str, Any] = {"message": message, "type": code or "some_error"}
        body: dict[str, Any] = {"error": error}
        if seen.api == "anthropic":
            body["type"] = "error"
        else:
            error |= {"code": code or None, "param": None}
        return Reply(body=json.dumps(body).encode(), status=status, headers=headers or {})

    return step


def only(*forms: str, answer: Step, refusal: Step) -> Callable[[Seen], Reply]:
    """A server that knows some forms of output and refuses the others."""

    def step(seen: Seen) -> Reply:
        return answered(answer if seen.form in forms else refusal, seen)

    return step


def half(step: Step) -> Callable[[Seen], Reply]:
    """The first half of what would have been sent, as a whole."""

    def cut(seen: Seen) -> Reply:
        whole = answered(step, seen)
        return Reply(body=whole.body[: len(whole.body) // 2], status=whole.status)

    return cut


def _in_words(seen: Seen, text: str, stop: str, tokens: dict[str, int] | None) -> dict[str, Any]:
    write = _anthropic if seen.api == "anthropic" else _openai
    plain = Seen(api=seen.api, path=seen.path, headers=seen.headers, body={"model": "m"})
    return write(plain, text, stop, tokens)


def _openai_calls(body: dict[str, Any], called: tuple[Called, ...]) -> None:
    choice = body["choices"][0]
    choice["message"]["content"] = choice["message"]["content"] or None
    if choice["finish_reason"] == "stop":
        choice["finish_reason"] = "tool_calls"
    choice["message"]["tool_calls"] = [
        {
            "id": one.id or f"call_{number}",
            "type": "function",
            "function": {"name": one.name, "arguments": _written(one.arguments)},
        }
        for number, one in enumerate(called, 1)
    ]


def _anthropic_calls(body: dict[str, Any], called: tuple[Called, ...]) -> None:
    if body["stop_reason"] == "end_turn":
        body["stop_reason"] = "tool_use"
    words = [block for block in body["content"] if block["text"]]
    body["content"] = words + [
        {"type": "tool_use", "id": one.id or f"toolu_{n}", "name": one.name, "input": one.arguments}
        for n, one in enumerate(called, 1)
    ]


def _written(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _openai(seen: Seen, content: str, stop: str, tokens: dict[str, int] | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    finish = {"end": "stop", "length": "length", "filter": "content_filter"}[stop]
    if seen.body.get("tools"):
        name = seen.body["tools"][0]["function"]["name"]
        call = {"id": "call_1", "type": "function"}
        message["content"] = None
        message["tool_calls"] = [{**call, "function": {"name": name, "arguments": content}}]
        finish = "tool_calls" if finish == "stop" else finish
    answer: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": seen.body["model"],
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
    }
    if tokens is not None:
        spent = {"prompt_tokens": tokens["in"], "completion_tokens": tokens["out"]}
        answer["usage"] = {**spent, "total_tokens": sum(tokens.values())}
    return answer


def _anthropic(seen: Seen, content: str, stop: str, tokens: dict[str, int] | None) -> dict[str, Any]:
    reason = {"end": "end_turn", "length": "max_tokens", "filter": "refusal"}[stop]
    block: dict[str, Any] = {"type": "text", "text": content}
    if seen.body.get("tools"):
        # This API parses what the model wrote; a half of an object comes as what could be read.
        name = seen.body["tools"][0]["name"]
        try:
            given = json.loads(content)
        except ValueError:
            given = {}
        block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": given}
        reason = "tool_use" if reason == "end_turn" else reason
    spent = tokens or {"in": 0, "out": 0}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": seen.body["model"],
        "content": [block],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": spent["in"], "output_tokens": spent["out"]},
    }
