"""What an example asked a model, whichever wire format it came in, and what the model says back."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.llm.endpoint import Reply, Seen
from tests.llm.replies import Called, calls, talks

__all__ = ["Asked", "Called", "Model", "Spoken", "Wire", "reply"]

Wire = Literal["chat completions", "responses", "messages"]
Spoken = str | Called | Sequence[Called]

_RESULTS = ("tool", "tool_result", "function_call_output")


@dataclass(frozen=True)
class Asked:
    """One request."""

    body: dict[str, Any]
    path: str

    @property
    def wire(self) -> Wire:
        if self.path.startswith("/v1/messages"):
            return "messages"
        return "responses" if self.path.startswith("/v1/responses") else "chat completions"

    @property
    def results(self) -> list[str]:
        """What tools answered since the person last said something."""
        parts = self._parts()
        since = max((n for n, (kind, _) in enumerate(parts) if kind == "user"), default=0)
        return [text for kind, text in parts[since:] if kind in _RESULTS]

    @property
    def said(self) -> str:
        """The last thing that the person said, with whatever the example put around it."""
        return [text for kind, text in self._parts() if kind == "user"][-1]

    @property
    def tools(self) -> list[str]:
        listed = self.body.get("tools", [])
        return [(one.get("function") or one).get("name", "") for one in listed]

    @property
    def text(self) -> str:
        """Everything in it, as characters and not as escapes."""
        return json.dumps(self.body, ensure_ascii=False)

    def _parts(self) -> list[tuple[str, str]]:
        """Each piece of the conversation with its kind: a role, or that it answers a call."""
        found: list[tuple[str, str]] = []
        given = self.body.get("input") if self.wire == "responses" else self.body["messages"]
        if isinstance(given, str):
            return [("user", given)]
        for one in given or ():
            content = one.get("content", one.get("output", ""))
            pieces = [content] if isinstance(content, str) or content is None else content
            for piece in pieces:
                kind = one.get("role") or one.get("type", "")
                if isinstance(piece, dict):
                    kind = piece["type"] if piece["type"] in _RESULTS else kind
                    piece = piece.get("text") or piece.get("content") or ""
                found.append((kind, piece if isinstance(piece, str) else json.dumps(piece)))
        return found


Model = Callable[[Asked], Spoken]


def reply(model: Model, seen: Seen) -> Reply:
    """What the model says, in the words of the API that was asked."""
    if seen.form == "schema" and seen.api == "openai" and "response_format" in seen.body:
        return talks(json.dumps(_nothing(seen.body)))(seen)  # learning asks: there is nothing new
    asked = Asked(seen.body, seen.path)
    spoken = model(asked)
    called = [spoken] if isinstance(spoken, Called) else spoken
    if asked.wire == "responses":
        return Reply(body=json.dumps(_response(asked, called)).encode())
    return talks(called)(seen) if isinstance(called, str) else calls(*called)(seen)


def _nothing(question: dict[str, Any]) -> dict[str, Any]:
    schema = question["response_format"]["json_schema"]["schema"]
    empty = {"array": [], "string": "", "boolean": False, "integer": 0}
    return {name: empty.get(one.get("type"), {}) for name, one in schema["properties"].items()}


def _response(asked: Asked, spoken: str | Sequence[Called]) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_767_225_600,
        "model": asked.body["model"],
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "output": [_words(spoken)] if isinstance(spoken, str) else _calls(spoken),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": asked.body.get("tools", []),
        "top_p": 1.0,
        "usage": {
            "input_tokens": 40,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 8,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 48,
        },
    }


def _words(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    made = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    return {**made, "content": content}


def _calls(called: Sequence[Called]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": one.id or f"call_{number}",
            "name": one.name,
            "arguments": one.arguments if isinstance(one.arguments, str) else json.dumps(one.arguments),
            "status": "completed",
        }
        for number, one in enumerate(called, 1)
    ]
