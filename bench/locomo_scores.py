"""From found turns to figures: any and fraction at k, and how sure a difference is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.locomo_data import ADVERSARIAL, Question

KS = (5, 10, 20)
RESAMPLES = 10_000
_SEED = 7
_CHUNK_COUNT = 500  # resamples that are drawn at once
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One method on all questions: a row for each question, a column for each k, in percent."""

    any: Values  # whether at least one gold turn was among the first k
    fraction: Values  # the share of the gold turns that was

    def at(self, k: int, chosen: NDArray[np.bool_]) -> str:
        column = KS.index(k)
        means = (float(each[chosen, column].mean()) for each in (self.any, self.fraction))
        return "/".join(f"{mean:.1f}" for mean in means)


@dataclass(frozen=True, slots=True)
class Interval:
    """A difference of means, and where it lies in 95 of 100 draws of as many questions."""

    difference: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.difference:+.1f} [{self.low:+.1f}, {self.high:+.1f}]"


def outcome(found: Sequence[Sequence[str]], questions: Sequence[Question]) -> Outcome:
    shares = np.array(
        [
            [len(question.gold & set(ids[:k])) / len(question.gold) for k in KS]
            for ids, question in zip(found, questions, strict=True)
        ]
    )
    return Outcome((shares > 0).astype(np.float64) * 100, shares * 100)


def answerable(questions: Iterable[Question]) -> NDArray[np.bool_]:
    return np.array([question.category != ADVERSARIAL for question in questions])


def paired_bootstrap(ours: Values, theirs: Values, resamples: int = RESAMPLES) -> Interval:
    """Both methods on the same drawn questions, so that hard questions are hard for both."""
    if ours.shape != theirs.shape or ours.ndim != 1 or not len(ours):
        raise ValueError(f"one value a question for both: not {ours.shape} and {theirs.shape}")
    differences = ours - theirs
    chance = np.random.default_rng(_SEED)
    means: list[float] = []
    while len(means) < resamples:
        draws = min(_CHUNK_COUNT, resamples - len(means))
        drawn = chance.integers(0, len(differences), (draws, len(differences)))
        means += differences[drawn].mean(axis=1).tolist()
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(differences.mean()), float(low), float(high))
