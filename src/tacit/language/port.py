"""What is asked of a language model: a typed answer to a question, or the next turn of a talk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tacit.language.budget import Budget, Usage
from tacit.model.talk import Offered, TalkReply, TalkTurn

T = TypeVar("T")
CLOSED = "the language model is closed: open a memory again to use it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T]):
    value: T
    usage: Usage  # of every request that it took
    model: str  # as the operator names it; what the endpoint calls itself is not repeated
    attempts: int  # requests sent: the first, retries, repairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Talked:
    reply: TalkReply
    usage: Usage  # of every request that it took
    attempts: int


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

    def talk(
        self,
        instructions: str,
        turns: Sequence[TalkTurn],
        tools: Sequence[Offered],
        *,
        budget: Budget | None,
    ) -> Talked:
        """What the model says next, or which tools it calls: it is asked once, and its calls are
        the caller's to carry out. Bounded, counted and failing as `ask` is. Calls are bounded in
        number and size; one of a tool that was not offered, or without whole arguments, is marked
        as broken."""
        ...

    def close(self) -> None:
        """Let go of connections; who waits for an answer gets `LanguageUnavailable`.
        Calling it twice is harmless."""
        ...
