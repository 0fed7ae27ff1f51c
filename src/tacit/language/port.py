"""What learning needs from a language model: a question and a schema in, a typed answer out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tacit.language.budget import Budget, Usage

T = TypeVar("T")
CLOSED = "the language model is closed: open a memory again to use it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T]):
    value: T
    usage: Usage  # of every request that it took
    model: str  # as the operator names it; what the endpoint calls itself is not repeated
    attempts: int  # requests sent: the first, retries, repairs


class LanguageModel(Protocol):
    """Safe to call from several threads, also from one in which an event loop runs.
    Every failure is a `LanguageFailed`; none holds a key, a prompt or an answer."""

    name: str

    def ask(
        self, instructions: str, text: str, schema: type[T], *, budget: Budget | None
    ) -> Answer[T]:
        """`text` is material and stands apart from `instructions`, which say what to do with it.

        `schema` is a dataclass or a Pydantic model: something whose JSON is an object.
        The answer has that type and met all of its constraints. Without a budget nothing is
        counted. Blocks for as long as the operator allows a question to take, and no longer.
        """
        ...

    def close(self) -> None:
        """Let go of connections; who waits for an answer gets `LanguageUnavailable`.
        Calling it twice is harmless."""
        ...
