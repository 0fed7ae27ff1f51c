"""Describe tasks that run in steps: their options, their progress and how it is saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import Connection

from tacit import limits

# What the settings say about how memories age, merge and go.


def _default_intervals() -> Mapping[str, timedelta]:
    return {task: timedelta(hours=hours) for task, hours in limits.JOBS_EVERY_HOURS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleOptions:
    """Made by the composition root; each part of the lifecycle has its fields here."""

    # Ageing.
    fade_after_days: int = limits.FADE_AFTER_DEFAULT_DAYS
    fade_below_importance: int = limits.FADE_BELOW_DEFAULT_IMPORTANCE
    max_entries: int | None = None  # of one owner; None: no cap
    restorable_days: int = limits.RESTORABLE_DAYS
    # Jobs.
    intervals: Mapping[str, timedelta] = field(
        default_factory=_default_intervals
    )  # without those that are off
    runs_on_open: bool = True  # what is overdue is caught up on when a memory is opened
    # Consolidation, reflection, summaries.
    consolidate_enabled: bool = True
    consolidate_pairs_per_day: int = limits.CONSOLIDATE_PAIRS_PER_DAY
    reflect_enabled: bool = False
    reflect_insight_days: int = limits.INSIGHT_DAYS
    reflect_summaries: bool = False
    summary_days: int = limits.KIND_TTL_DAYS["event"]


# Work that is done in steps: each is one transaction, and says where to go on.


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """How far a piece of work has come, since it began."""

    cursor: str | None = None  # where to go on; None: it is done, or has not begun
    counts: Mapping[str, int] = field(default_factory=dict)  # by plain words; no ids, no content

    def advance(self, cursor: str | None, **counts: int) -> StepProgress:
        """After one more step."""
        total = dict(self.counts)
        for what, count in counts.items():
            total[what] = total.get(what, 0) + count
        return StepProgress(cursor=cursor, counts=total)


# To be called in the transaction of a step, last: fails where somebody else has taken over.
SaveProgress = Callable[[Connection, StepProgress], None]
TaskStep = Callable[
    [str, StepProgress, SaveProgress], StepProgress
]  # a space, how far it is, and how to say so


def run_task(work: TaskStep, space: str) -> StepProgress:
    """All of it, here and now."""
    done = work(space, StepProgress(), _discard_progress)
    while done.cursor is not None:
        done = work(space, done, _discard_progress)
    return done


def _discard_progress(_: Connection, __: StepProgress) -> None:
    """Whoever waits for the end needs no note of how far it is."""
