"""A graph as rows that can be read, from which the picture is drawn: who and what there is, what
belongs together, and how each category looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tacit.records.results import Graph, Node

End = tuple[Node, float]  # and how strong the line is
COLOURS_COUNT = 8
# Told apart without colours, too. Each fits into a square of 16 around 0.
SHAPES = (
    "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0Z",  # a disc
    "M-5 -5H5V5H-5Z",  # a square
    "M0 -7L6.5 5H-6.5Z",  # a triangle
    "M0 -7L7 0L0 7L-7 0Z",  # a diamond
    "M-2 -6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",  # a cross
    "M-3 -6H3L6 0L3 6H-3L-6 0Z",  # six corners
    "M0 7L6.5 -5H-6.5Z",  # a triangle on its head
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How memories of one category are drawn. Shapes and colours come round at different times, so
    that many categories have one of their own."""

    category: str
    count: int
    number: int

    @property
    def shape(self) -> str:
        return SHAPES[self.number % len(SHAPES)]

    @property
    def colour(self) -> int:
        return self.number % COLOURS_COUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One memory, and where its lines lead."""

    node: Node
    about: list[End] = field(default_factory=list)
    said_by: list[End] = field(default_factory=list)
    related: list[End] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictured:
    people: list[tuple[Node, int]]  # with how many lines lead to them, most first
    rows: list[Row]
    looks: Mapping[str, Look]  # by category, most frequent first
    left_out: int


def pictured(graph: Graph) -> Pictured:
    nodes = {one.id: one for one in graph.nodes}
    rows = {one.id: Row(node=one) for one in graph.nodes if one.kind == "memory"}
    met: Counter[str] = Counter()
    for edge in graph.edges:
        lines: list[End] = getattr(rows[edge.source], edge.kind)
        lines.append((nodes[edge.target], edge.strength))
        met[edge.target] += 1
    people = [(one, met[one.id]) for one in graph.nodes if one.kind == "person"]
    people.sort(key=lambda found: (-found[1], found[0].label.casefold(), found[0].id))
    return Pictured(
        people=people, rows=list(rows.values()), looks=_looks(graph), left_out=graph.left_out
    )


def _looks(graph: Graph) -> dict[str, Look]:
    counts = Counter(one.category for one in graph.nodes if one.category is not None)
    often = sorted(counts.items(), key=lambda found: (-found[1], found[0]))
    return {
        name: Look(category=name, count=count, number=number)
        for number, (name, count) in enumerate(often)
    }
