"""A language model behind real HTTP whose every word a test writes, and which keeps every prompt.

It speaks the wire format of OpenAI's chat completions. What learning asks it is answered apart, so
that a test of a conversation sees the prompts of the conversation alone.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any

from tacit.settings.sections import LanguageSettings
from tests.llm.endpoint import Reply, Seen, serving
from tests.llm.replies import Called, calls, says, talks

__all__ = ["Answering", "Called", "Prompt", "ScriptedModel", "Spoken"]


@dataclass(frozen=True)
class Prompt:
    """What the model was sent in one request."""

    raw: bytes  # to the byte, for what must stay the same from turn to turn

    @cached_property
    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.raw)
        return found

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["messages"]
        return found

    @property
    def instructions(self) -> str:
        return "\n\n".join(one["content"] for one in self.messages if one["role"] == "system")

    @property
    def said(self) -> str:
        """The last turn of the person's, with all that the agent put into it."""
        return [str(one["content"]) for one in self.messages if one["role"] == "user"][-1]

    @property
    def results(self) -> list[str]:
        """What the tools answered since then; empty in the first round of a turn."""
        since = max(place for place, one in enumerate(self.messages) if one["role"] == "user")
        return [one["content"] for one in self.messages[since:] if one["role"] == "tool"]

    @property
    def tools(self) -> list[str]:
        return [one["function"]["name"] for one in self.body.get("tools", [])]

    @property
    def text(self) -> str:
        """Everything in it, with the descriptions of tools, as characters and not as escapes: for
        asserting that something is not there."""
        return json.dumps(self.body, ensure_ascii=False)


# Words, calls of tools, both, or a reply of the HTTP server's own (for a bad day).
Spoken = str | Called | list[Called] | tuple[str, list[Called]] | Reply
Answering = Callable[[Prompt], Spoken]


def _nothing(question: Mapping[str, Any]) -> object:
    """An empty answer of the form that is asked for: nothing is learned, merged or concluded."""
    schema = question["response_format"]["json_schema"]["schema"]
    empty = {"array": [], "string": "", "boolean": False, "integer": 0}
    return {name: empty.get(one.get("type"), {}) for name, one in schema["properties"].items()}


class ScriptedModel(AbstractContextManager["ScriptedModel"]):
    """`with ScriptedModel(lambda prompt: "Hello.") as model:` and then `model.settings`.

    `script` is used up first, a reply for each request; after that `answer` is asked. `learn` gets
    the body of a question with a schema, and gives the object that is the answer.
    """

    def __init__(
        self, answer: Answering | None = None, *, learn: Callable[[Mapping[str, Any]], object] = _nothing
    ) -> None:
        self.answer: Answering = answer or (lambda _: "All right.")
        self.learn = learn
        self.script: list[Spoken] = []
        self.prompts: list[Prompt] = []  # of conversations
        self.asked: list[Prompt] = []  # by learning
        self._serving = serving()

    def __enter__(self) -> "ScriptedModel":
        endpoint = self._serving.__enter__()
        endpoint.always = self._reply
        self.url = endpoint.url
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._serving.__exit__(kind, error, trace)

    @property
    def settings(self) -> LanguageSettings:
        """For `Settings(language=model.settings)`. A failure is not tried again."""
        return LanguageSettings(provider="openai", model="scripted", base_url=self.url, retries=0)

    def _reply(self, seen: Seen) -> Reply:
        prompt = Prompt(raw=seen.raw)
        if seen.form == "schema":
            self.asked.append(prompt)
            return says(self.learn(seen.body))(seen)
        self.prompts.append(prompt)
        spoken = self.script.pop(0) if self.script else self.answer(prompt)
        if isinstance(spoken, Reply):
            return spoken
        if isinstance(spoken, str):
            return talks(spoken)(seen)
        text, listed = spoken if isinstance(spoken, tuple) else ("", spoken)
        return calls(*([listed] if isinstance(listed, Called) else listed), text=text)(seen)
