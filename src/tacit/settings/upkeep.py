"""The settings of upkeep."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from tacit import limits
from tacit.errors import InvalidInput
from tacit.settings import values
from tacit.settings.values import Parse


def key(default: Any, parse: Parse) -> Any:
    return field(default=default, metadata={"parse": parse})


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsSettings:
    # Days for which counts of what happened can be asked for. Zero: none are kept.
    keep_days: int = key(
        limits.EVENTS_KEEP_DEFAULT_DAYS, values.whole(0, limits.EVENTS_KEEP_MAX_DAYS)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings:
    # Who is told how much is done, how long it takes and what fails.
    exporter: Literal["off", "prometheus", "opentelemetry"] = key(
        "off", values.one_of("off", "prometheus", "opentelemetry")
    )
    # prometheus: where `tacit metrics` and `tacit work` can be scraped, on this machine alone.
    # Zero: `tacit work` cannot.
    port: int = key(limits.METRICS_DEFAULT_PORT, values.whole(0, limits.PORT_MAX))


def _period(key: str, value: str) -> timedelta | None:
    """How often, or not at all."""
    if value == "off":
        return None
    low, high = limits.JOBS_EVERY_MIN_SECONDS, limits.JOBS_EVERY_MAX_SECONDS
    found = values.duration(key, value)
    if not low <= found.total_seconds() <= high:
        problem = f"must be {low // 60}m to {high // 3_600}h, or off; write for example 30m or 24h"
        raise InvalidInput(key, problem)
    return found


def _every(task: str) -> Any:
    return key(timedelta(hours=limits.JOBS_EVERY_HOURS[task]), _period)


@dataclass(frozen=True, slots=True, kw_only=True)
class EverySettings:
    """How often each task comes round in a space. None: not by itself."""

    expire: timedelta | None = _every("expire")  # noqa: RUF009 (a field)
    purge: timedelta | None = _every("purge")  # noqa: RUF009 (a field)
    consolidate: timedelta | None = _every("consolidate")  # noqa: RUF009 (a field)
    reflect: timedelta | None = _every("reflect")  # noqa: RUF009 (a field)
    reembed: timedelta | None = _every("reembed")  # noqa: RUF009 (a field)
    summarise: timedelta | None = _every("summarise")  # noqa: RUF009 (a field)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsSettings:
    every: EverySettings = field(default_factory=EverySettings)
    # Whether a process that opens a memory catches up on what is overdue of expire and purge.
    on_open: bool = key(True, values.flag)


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleSettings:
    """How memories age. Days of fading kinds are in memory.ttl_days."""

    # What nobody used for so long fades, if its importance is below the threshold.
    fade_after_days: int = key(limits.FADE_AFTER_DEFAULT_DAYS, values.whole(1, limits.TTL_MAX_DAYS))
    fade_below_importance: int = key(
        limits.FADE_BELOW_DEFAULT_IMPORTANCE,
        values.whole(limits.IMPORTANCE_MIN, limits.IMPORTANCE_MAX + 1),
    )
    # Active memories of one owner; the least used beyond are forgotten. None: no cap.
    max_entries: int | None = key(
        None, values.or_nothing(values.whole(1, limits.MEMORIES_PER_OWNER_MAX_COUNT))
    )
    # For so long what was forgotten, or has expired, can be restored.
    restorable_days: int = key(limits.RESTORABLE_DAYS, values.whole(1, limits.TTL_MAX_DAYS))


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseSettings:
    # The journal of erasures, which a restored backup is put right with. Empty: beside a SQLite
    # file, and none for PostgreSQL.
    journal: str = key("", values.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateSettings:
    """How memories that say the same become one."""

    # False: nothing is merged.
    enabled: bool = key(True, values.flag)
    # Pairs that a language model is asked about, of one person in one day. Zero: none.
    pairs_per_day: int = key(
        limits.CONSOLIDATE_PAIRS_PER_DAY, values.whole(0, limits.CONSOLIDATE_PAIRS_MAX_PER_DAY)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesSettings:
    """Memories as Markdown files that people read and edit."""

    # False: no files are written or read. Sessions are kept in the store all the same.
    enabled: bool = key(False, values.flag)
    # Where the files are. Empty: `notes` beside a SQLite file; PostgreSQL needs a path.
    dir: str = key("", values.path)
    # Whether a process that has a memory open mirrors what changes within a second.
    watch: bool = key(True, values.flag)
    # Days of sessions that a new one starts with, today among them.
    short_term_days: int = key(limits.NOTE_DAYS_DEFAULT, values.whole(1, limits.NOTE_DAYS_MAX))
    # Lines of a block in the style of summaries.
    items_max: int = key(
        limits.NOTE_ITEMS_SHOWN_DEFAULT_COUNT, values.whole(1, limits.NOTE_ITEMS_SHOWN_MAX_COUNT)
    )
    # Lines that may be gone from the files at once before they are asked about.
    forget_at_once_max: int = key(
        limits.NOTE_FORGET_AT_ONCE_DEFAULT_COUNT,
        values.whole(0, limits.NOTE_FORGET_AT_ONCE_MAX_COUNT),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectSettings:
    """What a language model concludes from what people say in private."""

    # Insights about a person, from their own words.
    enabled: bool = key(False, values.flag)
    # Days until an insight goes.
    insight_days: int = key(limits.INSIGHT_DAYS, values.whole(1, limits.TTL_MAX_DAYS))
    # Summaries of private conversations that have ended, where turns are kept.
    summaries: bool = key(False, values.flag)
