"""A language model that is measured: how often it is asked, what that takes, what comes of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeVar

from tacit.errors import (
    LanguageBadAnswer,
    LanguageFailed,
    LanguageOverBudget,
    LanguageRefused,
    LanguageUnavailable,
)
from tacit.language.budget import Budget, Ledger, Usage
from tacit.language.port import Answer, LanguageModel, Talked
from tacit.model.talk import Offered, TalkTurn
from tacit.telemetry import measures
from tacit.telemetry.port import Meter

T = TypeVar("T")
_KINDS: dict[type[LanguageFailed], str] = {
    LanguageUnavailable: "unavailable",
    LanguageRefused: "refused",
    LanguageBadAnswer: "bad_answer",
    LanguageOverBudget: "over_budget",
}


class MeasuredModel(LanguageModel):
    """Asks the model that it stands for."""

    def __init__(self, model: LanguageModel, meter: Meter) -> None:
        self.name = model.name
        self._model = model
        self._meter = meter

    def ask(
        self, instructions: str, text: str, schema: type[T], *, budget: Budget | None
    ) -> Answer[T]:
        with self._measure_call():
            answer = self._model.ask(
                instructions, text, schema, budget=self._measured_budget(budget)
            )
        if budget is None:
            _spent(self._meter, answer.usage, answer.attempts)
        return answer

    def talk(
        self,
        instructions: str,
        turns: Sequence[TalkTurn],
        tools: Sequence[Offered],
        *,
        budget: Budget | None,
    ) -> Talked:
        with self._measure_call():
            talked = self._model.talk(
                instructions, turns, tools, budget=self._measured_budget(budget)
            )
        if budget is None:
            _spent(self._meter, talked.usage, talked.attempts)
        return talked

    def close(self) -> None:
        self._model.close()

    @contextmanager
    def _measure_call(self) -> Iterator[None]:
        outcome, begun = measures.OTHER, time.monotonic()
        try:
            yield
            outcome = "ok"
        except LanguageFailed as failed:
            outcome = _KINDS.get(type(failed), measures.OTHER)
            raise
        finally:
            self._meter.count(measures.LANGUAGE_COUNT, outcome=outcome)
            self._meter.observe(measures.LANGUAGE_SECONDS, time.monotonic() - begun)

    def _measured_budget(self, budget: Budget | None) -> Budget | None:
        """Also what a question cost that was not answered in the end."""
        if budget is None:
            return None
        return replace(budget, ledger=_Counted(budget.ledger, self._meter))


@dataclass(frozen=True, slots=True)
class _Counted:
    """A ledger that is written to once for each request."""

    ledger: Ledger
    meter: Meter

    def spent(self, space: str, day: date) -> Usage:
        return self.ledger.spent(space, day)

    def add(self, space: str, day: date, usage: Usage) -> None:
        _spent(self.meter, usage, 1)
        self.ledger.add(space, day, usage)


def _spent(meter: Meter, usage: Usage, requests: int) -> None:
    meter.count(measures.LANGUAGE_REQUESTS, requests)
    meter.count(measures.LANGUAGE_TOKENS, usage.tokens_in, direction="in")
    meter.count(measures.LANGUAGE_TOKENS, usage.tokens_out, direction="out")
    meter.count(measures.LANGUAGE_COST, usage.cost_micros / 1e6)
