"""Cost of model calls and the daily budget of a space. Amounts are integer millionths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Protocol

from tacit import limits
from tacit.errors import InvalidInput, LanguageOverBudget


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    tokens_in: int = 0
    tokens_out: int = 0
    cost_micros: int = 0  # millionths of the currency that the prices are in

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            cost_micros=self.cost_micros + other.cost_micros,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices per million tokens, in the operator's currency. Costs are rounded up."""

    in_per_million: float = 0.0
    out_per_million: float = 0.0

    def __post_init__(self) -> None:
        most = limits.LANGUAGE_PRICE_MAX_PER_MILLION
        for name in ("in_per_million", "out_per_million"):
            if not 0 <= getattr(self, name) <= most:  # also refuses NaN
                raise InvalidInput(f"language.price_{name}", f"choose 0 to {most:,}")

    def usage(self, tokens_in: int, tokens_out: int) -> Usage:
        # A price per million tokens is the price of one token in millionths. Decimal, because the
        # float 0.15 × 20 is slightly above 3 and would be rounded up to 4.
        cost = tokens_in * Decimal(str(self.in_per_million))
        cost += tokens_out * Decimal(str(self.out_per_million))
        return Usage(tokens_in=tokens_in, tokens_out=tokens_out, cost_micros=math.ceil(cost))


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What one space may spend in one day. None: unlimited; 0: nothing."""

    tokens_per_day: int | None = None
    cost_micros_per_day: int | None = None

    def __post_init__(self) -> None:
        for name in ("tokens_per_day", "cost_micros_per_day"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise InvalidInput(f"language.{name}", "must be 0 or more")

    def find_shortfall(self, spent: Usage, estimate: Usage) -> str | None:
        """Return what the estimate would exceed, or None."""
        if self.tokens_per_day is not None:
            rest = max(0, self.tokens_per_day - spent.tokens)
            if estimate.tokens > rest:
                return f"{rest:,} of {self.tokens_per_day:,} tokens are left"
        if self.cost_micros_per_day is not None:
            rest = max(0, self.cost_micros_per_day - spent.cost_micros)
            if estimate.cost_micros > rest:
                return f"{rest / 1e6:.6f} of {self.cost_micros_per_day / 1e6:.6f} are left"
        return None


class Ledger(Protocol):
    """Usage by space and day. Called before and after each request, in the caller's thread.

    `add` must be atomic across processes.
    """

    def spent(self, space: str, day: date) -> Usage: ...

    def add(self, space: str, day: date, usage: Usage) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The budget of one space on one day.

    Concurrent callers may each exceed it by at most one request.
    """

    space: str
    day: date
    allowance: Allowance
    ledger: Ledger

    def check_covers(self, estimate: Usage) -> None:
        """Raise LanguageOverBudget if the rest does not cover the estimate."""
        lacking = self.allowance.find_shortfall(self.ledger.spent(self.space, self.day), estimate)
        if lacking is not None:
            raise LanguageOverBudget(
                f"the language budget of this space is used up for {self.day.isoformat()}: "
                f"{lacking}, and the question may take up to {estimate.tokens:,} tokens; "
                "wait until tomorrow, or raise language.tokens_per_day or language.cost_per_day"
            )

    def record(self, usage: Usage) -> None:
        if usage != Usage():
            self.ledger.add(self.space, self.day, usage)
