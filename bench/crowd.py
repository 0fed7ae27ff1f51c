"""Who has written what in a big store: one person, one group, and everybody else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from typing import Any

OTHERS = 100_000  # the number of the first of the others
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]

# How a memory was written: where, and with which fields.
WRITTEN: dict[str, tuple[str, dict[str, Any]]] = {
    "private": ("private", {}),
    "lent": ("private", {"visibility": "public_ok", "sensitivity": "public"}),
    "room": ("group", {"visibility": "room", "sensitivity": "public", "kind": "knowledge"}),
    "personal": ("group", {"visibility": "room"}),
    "aside": ("group", {}),  # written in a group, for the writer alone
}


@dataclass(frozen=True, slots=True)
class Group:
    chat: str
    members: tuple[int, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return tuple(f"ext:telegram:{n}" for n in self.members)


@dataclass(frozen=True, slots=True)
class Memo:
    """One memory to be: how it was written, by whom, in which group if in any."""

    pattern: str
    person: int
    group: Group | None = None


def sentence(n: int) -> str:
    """Words of which some are everybody's and some are rare."""
    rare = "".join(_SYLLABLES[(n * k) % 70] for k in (1, 7, 31))
    common = "".join(_SYLLABLES[(n // k) % 70] for k in (3, 11))
    return f"The {common} from {rare} takes the train to Lisbon at {n % 24} in the {n % 7}th week"


def mixed(*parts: tuple[int, Iterable[Memo]]) -> Iterator[Memo]:
    """Parts of these sizes, spread evenly through one another, as time would have written them."""
    due = [(0.5 / size, n) for n, (size, _) in enumerate(parts)]
    turns = [iter(memos) for _, memos in parts]
    heapify(due)
    while due:
        when, n = due[0]
        memo = next(turns[n], None)
        if memo is None:
            heappop(due)
            continue
        heapreplace(due, (when + 1 / parts[n][0], n))
        yield memo


def one_person(person: int, count: int) -> Iterator[Memo]:
    """Somebody's private memories, some of them lent."""
    for n in range(count):
        yield Memo("lent" if n % 10 == 0 else "private", person)


def one_group(group: Group, each: int) -> Iterator[Memo]:
    """A group's: of each member some said to the room, some lent to it, some private."""
    kinds = ("room", "private", "personal", "lent", "aside", "private")
    for n in range(each):
        for person in group.members:
            kind = kinds[n % len(kinds)]
            yield Memo(kind, person, group if WRITTEN[kind][0] == "group" else None)


def others(count: int, people: int) -> Iterator[Memo]:
    """Everybody else: in private, and in groups of ten."""
    groups = [
        Group(f"telegram:-{900_000 + g}", tuple(range(OTHERS + g * 10, OTHERS + g * 10 + 10)))
        for g in range(people // 10)
    ]
    kinds = ("private", "room", "private", "lent", "private", "personal", "aside")
    for n in range(count):
        who = n % people
        kind = kinds[(n // people) % len(kinds)]
        yield Memo(kind, OTHERS + who, groups[who // 10] if WRITTEN[kind][0] == "group" else None)
