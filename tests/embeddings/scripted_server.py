"""A real HTTP server that answers as a test tells it to, and remembers what it was asked."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.llm.endpoint import Endpoint, Reply, running

Question = dict[str, Any]
Step = Reply | Callable[[Question], Reply]


class Server(Endpoint):
    def __init__(self) -> None:
        super().__init__()
        self.script: list[Step] = []  # type: ignore[assignment]
        self.always: Step = good  # type: ignore[assignment]
        self.questions: list[Question] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []

    @property
    def count(self) -> int:
        return len(self.paths) + len(self.strangers)

    def reply_to(self, path: str, headers: dict[str, str], raw: bytes) -> Reply:
        question = json.loads(raw)
        self.questions.append(question)
        self.paths.append(path)
        self.keys.append(headers.get("authorization"))
        step = self.script.pop(0) if self.script else self.always
        return step if isinstance(step, Reply) else step(question)


def vector(text: str, dimension: int = 4) -> list[float]:
    """Not of length 1, and different for different texts."""
    return [float(sum(text.encode()) % (7 + place)) + 1 for place in range(dimension)]


def items(question: Question) -> list[dict[str, Any]]:
    dimension = question.get("dimensions", 4)
    return [
        {"object": "embedding", "index": index, "embedding": vector(text, dimension)}
        for index, text in enumerate(question["input"])
    ]


def answer(data: object) -> Reply:
    usage = {"prompt_tokens": 8, "total_tokens": 8}
    body = {"object": "list", "data": data, "model": "tiny", "usage": usage}
    return Reply(body=json.dumps(body).encode())


def good(question: Question) -> Reply:
    return answer(items(question))


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    with running(server):
        yield server
