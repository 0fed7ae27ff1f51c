"""What happened, day by day, in plain words; and how often, as charts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby

from tacit.clock import system_clock
from tacit.records.memory import HistoryEvent
from tacit.records.results import COUNT_NAMES, ActivityEntry, DayCounts
from tacit.surfaces.console import plain, wording

# As the library names fields that were changed; any other reason is a phrase of its own.
_FIELDS = re.compile(r"[a-z_]+(, [a-z_]+)*|(visibility|sensitivity) [a-z_]+")
_ALWAYS = ("learned", "updated", "merged", "forgotten")
WIDTH, HEIGHT = 300, 48
_GAP = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    happened: ActivityEntry
    says: str
    because: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    title: str
    lines: list[Line]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    says: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """How often one thing happened: a bar for each day, as high as the highest of its own."""

    title: str
    total: int
    says: str  # for who does not see the bars
    bars: list[Bar]


def days(
    found: Iterable[ActivityEntry], now: datetime | None = None, *, waiting: Collection[str] = ()
) -> list[Day]:
    """In the order in which they come, which is newest first. `waiting`: what nobody said yes to so
    far, and so is not remembered."""
    today = (now or system_clock()).astimezone(UTC).date()
    return [
        Day(title=_title(day, today), lines=[_line(one, one.memory_id in waiting) for one in some])
        for day, some in groupby(found, lambda one: one.at.astimezone(UTC).date())
    ]


def _title(day: date, today: date) -> str:
    if day == today:
        return "Today"
    return "Yesterday" if day == today - timedelta(days=1) else spoken(day)


def spoken(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _line(one: ActivityEntry, waits: bool) -> Line:
    if waits and one.event is HistoryEvent.ADD:
        return Line(happened=one, says="Asked about", because=one.reason)
    if one.reason is None:
        reworded = one.event is HistoryEvent.UPDATE
        return Line(
            happened=one, says="Reworded" if reworded else wording.EVENT[one.event], because=None
        )
    if one.event is HistoryEvent.LINK:
        says = f"{wording.EVENT[one.event]}: {one.reason.replace('_', ' ')}"
        return Line(happened=one, says=says, because=None)
    if one.event in (HistoryEvent.UPDATE, HistoryEvent.CONSENT) and _FIELDS.fullmatch(one.reason):
        return Line(happened=one, says=plain.changed(one.reason), because=None)
    return Line(happened=one, says=wording.EVENT[one.event], because=one.reason)


def counted(found: Sequence[DayCounts]) -> list[str]:
    """What is worth a chart: the four that people ask for, and whatever else happened."""
    there = {word for day in found for word in day.counts}
    words = list(dict.fromkeys(COUNT_NAMES.values()))
    return [word for word in words if word in _ALWAYS or word in there]


def charts(found: Sequence[DayCounts]) -> list[Chart]:
    return [_chart(word, found) for word in counted(found)]


def _chart(word: str, found: Sequence[DayCounts]) -> Chart:
    counts: Mapping[date, int] = {one.day: one.counts.get(word, 0) for one in found}
    total, most = sum(counts.values()), max(counts.values(), default=0)
    title = word.capitalize()
    says = f"{title}: {total:,} in {len(counts)} days"
    if most:
        busiest = max(counts, key=lambda day: counts[day])
        says += f", most on {spoken(busiest)}: {most:,}"
    return Chart(title=title, total=total, says=says, bars=_bars(counts, most))


def _bars(counts: Mapping[date, int], most: int) -> list[Bar]:
    step = WIDTH / max(1, len(counts))
    return [
        Bar(
            says=f"{spoken(day)}: {count:,}",
            x=round(at * step, 2),
            y=round(HEIGHT - HEIGHT * count / most, 2),
            width=round(step - _GAP, 2),
            height=round(HEIGHT * count / most, 2),
        )
        for at, (day, count) in enumerate(counts.items())
        if count
    ]
