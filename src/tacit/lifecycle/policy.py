"""What the settings say about how memories age, merge and go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from tacit import limits


def _every() -> Mapping[str, timedelta]:
    return {task: timedelta(hours=hours) for task, hours in limits.JOBS_EVERY_HOURS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """Made by the composition root; each part of the lifecycle has its fields here."""

    # Ageing.
    fade_after_days: int = limits.FADE_AFTER_DEFAULT_DAYS
    fade_below_importance: int = limits.FADE_BELOW_DEFAULT_IMPORTANCE
    max_entries: int | None = None  # of one owner; None: no cap
    restorable_days: int = limits.RESTORABLE_DAYS
    # Jobs.
    intervals: Mapping[str, timedelta] = field(default_factory=_every)  # without those that are off
    runs_on_open: bool = True  # what is overdue is caught up on when a memory is opened
    # Consolidation, reflection, summaries.
    consolidate_enabled: bool = True
    consolidate_pairs_per_day: int = limits.CONSOLIDATE_PAIRS_PER_DAY
    reflect_enabled: bool = False
    reflect_insight_days: int = limits.INSIGHT_DAYS
    reflect_summaries: bool = False
    summary_days: int = limits.KIND_TTL_DAYS["event"]
