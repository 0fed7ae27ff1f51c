"""Describe tasks that run in steps: their options, their progress and how it is saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import Connection

from tacit import limits
from tacit.storage.memories import SYSTEM_ACTOR, Transaction
from tacit.storage.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleOptions:
    """Options of all lifecycle tasks, from the settings."""

    # Aging.
    fade_after_days: int = limits.FADE_AFTER_DEFAULT_DAYS
    fade_below_importance: int = limits.FADE_BELOW_DEFAULT_IMPORTANCE
    max_entries: int | None = None  # of one owner; None: no cap
    restorable_days: int = limits.RESTORABLE_DAYS
    # Jobs.
    intervals: Mapping[str, timedelta] = field(
        default_factory=lambda: {task: timedelta(hours=hours) for task, hours in limits.JOBS_EVERY_HOURS.items()}
    )  # without disabled tasks
    runs_on_open: bool = True  # run overdue tasks when a memory is opened
    # Consolidation, reflection, summaries.
    consolidate_enabled: bool = True
    consolidate_pairs_per_day: int = limits.CONSOLIDATE_PAIRS_PER_DAY
    reflect_enabled: bool = False
    reflect_insight_days: int = limits.INSIGHT_DAYS
    reflect_summaries: bool = False
    summary_days: int = limits.KIND_TTL_DAYS["event"]


# Tasks run in steps; each step is one transaction and tells where to continue.


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """The progress of a task since it began."""

    cursor: str | None = None  # where to continue; None: done or not begun
    counts: Mapping[str, int] = field(default_factory=dict)  # by plain names; no ids, no content

    def advance(self, cursor: str | None, **counts: int) -> StepProgress:
        """Return the progress after one more step."""
        total = dict(self.counts)
        for what, count in counts.items():
            total[what] = total.get(what, 0) + count
        return StepProgress(cursor=cursor, counts=total)


# Called last in the transaction of a step; raises LeaseLost if another worker has taken over.
SaveProgress = Callable[[Connection, StepProgress], None]
TaskStep = Callable[
    [str, StepProgress, SaveProgress], StepProgress
]  # space, progress so far, callback that saves progress


def write_step(
    store: Store, space: str, save: SaveProgress, work: Callable[[Transaction], StepProgress]
) -> StepProgress:
    """Run the transaction of one step, and save in it the progress that it returns."""

    def step(tx: Transaction) -> StepProgress:
        after = work(tx)
        save(tx.connection, after)
        return after

    return store.write_as(space, SYSTEM_ACTOR, step)


def run_task(work: TaskStep, space: str) -> StepProgress:
    """Run all steps of a task now. The caller waits for the end, so no progress is saved."""
    done = work(space, StepProgress(), lambda _, __: None)
    while done.cursor is not None:
        done = work(space, done, lambda _, __: None)
    return done
