"""Timing two sides of a comparison in one run: in turns, so that a busy machine slows both."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Side = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the result: what was measured, against what, and the ratio that was promised."""

    what: str
    ours: Sequence[float]  # seconds per act, one for each round
    theirs: Sequence[float]
    at_most: float | None = None  # None: printed for information

    @property
    def ratio(self) -> float:
        """The median of the rounds' own ratios: a slow minute slows both sides of its rounds."""
        return statistics.median(a / b for a, b in zip(self.ours, self.theirs, strict=True))

    @property
    def missed(self) -> bool:
        return self.at_most is not None and self.ratio > self.at_most

    def __str__(self) -> str:
        target = "no target" if self.at_most is None else f"target <= {self.at_most:g}x"
        verdict = "MISSED" if self.missed else "ok" if self.at_most is not None else ""
        measured = f"{_median(self.ours):>9} / {_median(self.theirs):>9}"
        return f"{self.what:<66} {measured} = {self.ratio:5.2f}x  {target:<14} {verdict}".rstrip()


def compared(
    what: str, ours: Side, theirs: Side, *, rounds: int, acts: int = 1, at_most: float | None = None
) -> Figure:
    """Run both sides `rounds` times in turns; each run does `acts` of what is measured."""
    times: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    for turn in range(rounds):
        # Whoever goes first in a pair may pay for the other's leftovers, so that alternates too.
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            side = (ours, theirs)[which]
            start = time.perf_counter()
            side()
            times[which].append((time.perf_counter() - start) / acts)
    return Figure(what=what, ours=times[0], theirs=times[1], at_most=at_most)


def _median(seconds: Sequence[float]) -> str:
    found = statistics.median(seconds)
    return f"{found * 1e6:.1f} us" if found < 1e-3 else f"{found * 1e3:.2f} ms"
