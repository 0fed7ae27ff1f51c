"""The language model interface, and a wrapper that measures its use."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import Generic, Protocol, TypeVar

from tacit.errors import LanguageBadAnswer, LanguageFailed, LanguageOverBudget, LanguageRefused, LanguageUnavailable
from tacit.llm.budget import Budget, Ledger, Usage
from tacit.records.conversation import TalkReply, TalkTurn, ToolSpec
from tacit.telemetry import metrics
from tacit.telemetry.metrics import Meter

T = TypeVar("T")
CLOSED_MESSAGE = "the language model is closed: open a memory again to use it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer(Generic[T]):
    value: T
    usage: Usage  # of all requests
    model: str  # the configured name, not the endpoint's
    attempts: int  # requests sent: the first, retries, repairs


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkResult:
    reply: TalkReply
    usage: Usage  # of all requests
    attempts: int


class LanguageModel(Protocol):
    """Safe to call from several threads, also from one with a running event loop.

    Every failure is a `LanguageFailed`; none holds a key, a prompt or an answer.
    """

    name: str

    def ask(self, instructions: str, text: str, schema: type[T], *, budget: Budget | None) -> ModelAnswer[T]:
        """Return a typed answer about `text`, which is data and separate from `instructions`.

        `schema` is a dataclass or a Pydantic model whose JSON is an object; the answer is valid
        against it. Without a budget nothing is counted. Blocks at most for the configured timeout.
        """
        ...

    def talk(
        self, instructions: str, turns: Sequence[TalkTurn], tools: Sequence[ToolSpec], *, budget: Budget | None
    ) -> TalkResult:
        """Return the next turn of the model: text, tool calls, or both.

        The caller runs the tools. Limits, usage and errors are those of `ask`. The number and size
        of calls is limited; a call of an unknown tool or with incomplete arguments is `broken`.
        """
        ...

    def close(self) -> None:
        """Close connections; waiting callers get `LanguageUnavailable`. Idempotent."""
        ...


_FAILURE_LABELS: dict[type[LanguageFailed], str] = {
    LanguageUnavailable: "unavailable",
    LanguageRefused: "refused",
    LanguageBadAnswer: "bad_answer",
    LanguageOverBudget: "over_budget",
}


class MeasuredLanguageModel(LanguageModel):
    """Forward to a model and record metrics."""

    def __init__(self, model: LanguageModel, meter: Meter) -> None:
        self.name = model.name
        self._model = model
        self._meter = meter

    def ask(self, instructions: str, text: str, schema: type[T], *, budget: Budget | None) -> ModelAnswer[T]:
        with self._measure_call(budget) as measured:
            answer = self._model.ask(instructions, text, schema, budget=measured)
        if budget is None:
            _count_usage(self._meter, answer.usage, answer.attempts)
        return answer

    def talk(
        self, instructions: str, turns: Sequence[TalkTurn], tools: Sequence[ToolSpec], *, budget: Budget | None
    ) -> TalkResult:
        with self._measure_call(budget) as measured:
            talked = self._model.talk(instructions, turns, tools, budget=measured)
        if budget is None:
            _count_usage(self._meter, talked.usage, talked.attempts)
        return talked

    def close(self) -> None:
        self._model.close()

    @contextmanager
    def _measure_call(self, budget: Budget | None) -> Iterator[Budget | None]:
        """Measure a call. Yield the budget with a ledger that measures also the cost of failed calls."""
        outcome, begun = metrics.OTHER_LABEL, time.monotonic()
        try:
            yield None if budget is None else replace(budget, ledger=_MeasuredLedger(budget.ledger, self._meter))
            outcome = "ok"
        except LanguageFailed as failed:
            outcome = _FAILURE_LABELS.get(type(failed), metrics.OTHER_LABEL)
            raise
        finally:
            self._meter.count(metrics.LANGUAGE_COUNT, outcome=outcome)
            self._meter.observe(metrics.LANGUAGE_SECONDS, time.monotonic() - begun)


@dataclass(frozen=True, slots=True)
class _MeasuredLedger:
    """Count usage whenever the ledger gets it, once per request."""

    ledger: Ledger
    meter: Meter

    def spent(self, space: str, day: date) -> Usage:
        return self.ledger.spent(space, day)

    def add(self, space: str, day: date, usage: Usage) -> None:
        _count_usage(self.meter, usage, 1)
        self.ledger.add(space, day, usage)


def _count_usage(meter: Meter, usage: Usage, requests: int) -> None:
    meter.count(metrics.LANGUAGE_REQUESTS, requests)
    meter.count(metrics.LANGUAGE_TOKENS, usage.tokens_in, direction="in")
    meter.count(metrics.LANGUAGE_TOKENS, usage.tokens_out, direction="out")
    meter.count(metrics.LANGUAGE_COST, usage.cost_micros / 1e6)
