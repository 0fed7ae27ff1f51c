"""The story through the library's own view; and, having the same words, through the client's."""

from collections.abc import Callable, Sequence
from typing import Any

import tacit
from tacit.memory import Memory
from tests.server.story import At, Refused

Asked = Callable[[At], Any]


def suggested(id: str, content: str) -> Refused:
    return Refused(f"update {id}: {content}")


class Views:
    """Whatever has views: a memory, or a connection to one."""

    def __init__(self, view: Asked, memory: Memory) -> None:
        self._view = view
        self._memory = memory  # for what an operator does

    def add(self, at: At, content: str, category: str, subject: str) -> str:
        view = self._view(at)
        found = view.suggest_update(content, category=category, about=[subject])
        if found is not None:
            raise suggested(found.id, found.content)
        return str(view.remember(content, category=category, about=[subject]).id)

    def update(self, at: At, id: str, content: str) -> int:
        try:
            return int(self._view(at).update(id, content).version)
        except tacit.NotFound as error:
            raise Refused(str(error)) from None

    def put(self, at: At, category: str, key: str, value: str) -> str:
        try:
            return str(self._view(at).put(category, key, value).id)
        except tacit.SecretRefused as error:
            raise Refused(str(error)) from None

    def get(self, at: At, category: str, key: str) -> str | None:
        found = self._view(at).get(category, key)
        return None if found is None else found.content

    def listed(self, at: At, category: str) -> Sequence[str]:
        return [one.content for one in self._view(at).list(category)]

    def forget_key(self, at: At, category: str, key: str) -> int:
        return int(self._view(at).forget_key(category, key))

    def recalled(self, at: At, question: str) -> Sequence[str]:
        return [one.memory.content for one in self._view(at).recall(question)]

    def block(self, at: At) -> str:
        return str(self._view(at).block())

    def share(self, at: At, category: str, key: str) -> None:
        view = self._view(at)
        view.set_visibility(view.get(category, key).id, "public_ok")

    def said(self, at: At, words: str) -> None:
        self._view(at).learn([tacit.Message("user", words)])
        self._memory.jobs.wait_for_learning()

    def link(self, key: str, account: str) -> None:
        self._memory.admin.link(key, account)


def through_the_library(memory: Memory) -> Views:
    return Views(lambda at: memory.view(at.who, at.chat), memory)
