"""Activity by day as lines and bar charts, and the graph of memories as a drawing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import groupby

from tacit.clock import system_clock
from tacit.console import labels
from tacit.records.memory import HistoryEvent
from tacit.records.results import COUNT_NAMES, ActivityEntry, DayCounts, Graph, Node

# Activity by day: lines and bar charts.

# The library's list of changed fields; any other reason is a phrase.
_FIELD_LIST = re.compile(r"[a-z_]+(, [a-z_]+)*|(visibility|sensitivity) [a-z_]+")
_ALWAYS_CHARTED = ("learned", "updated", "merged", "forgotten")
CHART_WIDTH, CHART_HEIGHT = 300, 48
_BAR_GAP = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityLine:
    happened: ActivityEntry
    says: str
    because: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityDay:
    title: str
    lines: list[ActivityLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    says: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Counts of one event: a bar for each day, scaled to the highest."""

    title: str
    total: int
    says: str  # for screen readers
    bars: list[Bar]


def group_by_day(
    found: Iterable[ActivityEntry], now: datetime | None = None, *, waiting: Collection[str] = ()
) -> list[ActivityDay]:
    """Group entries by day, keeping their order (newest first).

    `waiting`: ids of memories that are not approved yet.
    """
    today = (now or system_clock()).astimezone(UTC).date()
    return [
        ActivityDay(title=_day_title(day, today), lines=[_activity_line(one, one.memory_id in waiting) for one in some])
        for day, some in groupby(found, lambda one: one.at.astimezone(UTC).date())
    ]


def _day_title(day: date, today: date) -> str:
    if day == today:
        return "Today"
    return "Yesterday" if day == today - timedelta(days=1) else format_day(day)


def format_day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _activity_line(one: ActivityEntry, waits: bool) -> ActivityLine:
    if waits and one.event is HistoryEvent.ADD:
        return ActivityLine(happened=one, says="Proposed", because=one.reason)
    if one.reason is None:
        edited = one.event is HistoryEvent.UPDATE
        return ActivityLine(happened=one, says="Edited" if edited else labels.EVENT[one.event], because=None)
    if one.event is HistoryEvent.LINK:
        says = f"{labels.EVENT[one.event]}: {one.reason.replace('_', ' ')}"
        return ActivityLine(happened=one, says=says, because=None)
    if one.event in (HistoryEvent.UPDATE, HistoryEvent.CONSENT) and _FIELD_LIST.fullmatch(one.reason):
        return ActivityLine(happened=one, says=labels.describe_changed_fields(one.reason), because=None)
    return ActivityLine(happened=one, says=labels.EVENT[one.event], because=one.reason)


def list_charted_events(found: Sequence[DayCounts]) -> list[str]:
    """Return the events to chart: the four usual ones, and any other that happened."""
    present = {name for day in found for name in day.counts}
    names = dict.fromkeys(COUNT_NAMES.values())
    return [name for name in names if name in _ALWAYS_CHARTED or name in present]


def build_charts(found: Sequence[DayCounts]) -> list[Chart]:
    return [_build_chart(name, found) for name in list_charted_events(found)]


def _build_chart(name: str, found: Sequence[DayCounts]) -> Chart:
    counts: Mapping[date, int] = {one.day: one.counts.get(name, 0) for one in found}
    total, most = sum(counts.values()), max(counts.values(), default=0)
    title = name.capitalize()
    says = f"{title}: {total:,} in {len(counts)} days"
    if most:
        busiest = max(counts, key=lambda day: counts[day])
        says += f", most on {format_day(busiest)}: {most:,}"
    return Chart(title=title, total=total, says=says, bars=_build_bars(counts, most))


def _build_bars(counts: Mapping[date, int], most: int) -> list[Bar]:
    step = CHART_WIDTH / max(1, len(counts))
    return [
        Bar(
            says=f"{format_day(day)}: {count:,}",
            x=round(at * step, 2),
            y=round(CHART_HEIGHT - CHART_HEIGHT * count / most, 2),
            width=round(step - _BAR_GAP, 2),
            height=round(CHART_HEIGHT * count / most, 2),
        )
        for at, (day, count) in enumerate(counts.items())
        if count
    ]


# The graph as rows of a table, from which the script draws the picture.

LineEnd = tuple[Node, float]  # the node and the strength of the edge
COLORS_COUNT = 8
# Distinguishable without colors. Each fits into a square of 16 around 0.
SHAPES = (
    "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0Z",  # a disc
    "M-5 -5H5V5H-5Z",  # a square
    "M0 -7L6.5 5H-6.5Z",  # a triangle
    "M0 -7L7 0L0 7L-7 0Z",  # a diamond
    "M-2 -6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",  # a cross
    "M-3 -6H3L6 0L3 6H-3L-6 0Z",  # a hexagon
    "M0 7L6.5 -5H-6.5Z",  # an inverted triangle
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryStyle:
    """Shape and color of a category. Their cycles differ in length, so 56 pairs are distinct."""

    category: str
    count: int
    number: int

    @property
    def shape(self) -> str:
        return SHAPES[self.number % len(SHAPES)]

    @property
    def color(self) -> int:
        return self.number % COLORS_COUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRow:
    """One memory and its edges."""

    node: Node
    about: list[LineEnd] = field(default_factory=list)
    said_by: list[LineEnd] = field(default_factory=list)
    related: list[LineEnd] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDrawing:
    people: list[tuple[Node, int]]  # with the number of edges, most first
    rows: list[GraphRow]
    styles: Mapping[str, CategoryStyle]  # by category, most frequent first
    left_out: int


def draw_graph(graph: Graph) -> GraphDrawing:
    nodes = {one.id: one for one in graph.nodes}
    rows = {one.id: GraphRow(node=one) for one in graph.nodes if one.kind == "memory"}
    degrees: Counter[str] = Counter()
    for edge in graph.edges:
        lines: list[LineEnd] = getattr(rows[edge.source], edge.kind)
        lines.append((nodes[edge.target], edge.strength))
        degrees[edge.target] += 1
    people = [(one, degrees[one.id]) for one in graph.nodes if one.kind == "person"]
    people.sort(key=lambda found: (-found[1], found[0].label.casefold(), found[0].id))
    return GraphDrawing(
        people=people, rows=list(rows.values()), styles=_category_styles(graph), left_out=graph.left_out
    )


def _category_styles(graph: Graph) -> dict[str, CategoryStyle]:
    counts = Counter(one.category for one in graph.nodes if one.category is not None)
    by_count = sorted(counts.items(), key=lambda found: (-found[1], found[0]))
    return {
        name: CategoryStyle(category=name, count=count, number=number) for number, (name, count) in enumerate(by_count)
    }
