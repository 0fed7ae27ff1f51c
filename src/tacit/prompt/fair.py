"""Fair limits: which memories are shown when not all fit, so that no category starves another.

Every category first fills an equal share of items and characters; what is left over then goes,
one memory at a time, to whichever category has used least.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tacit.prompt.lines import Line

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    line: Line
    text: str

    @property
    def chars(self) -> int:
        return len(self.text) + 1  # with the end of its line


@dataclass(slots=True, kw_only=True)
class _Group:
    """One category while it is being filled."""

    opening_chars: int  # of its heading, paid with its first memory
    waiting: deque[Line]  # best first
    write: Callable[[Line], str]
    taken: list[Written] = field(default_factory=list)
    chars: int = 0

    def take_next(self, chars_left: int) -> bool:
        """The best that waits, if it fits; one that does not fit now never will."""
        line = self.waiting.popleft()
        item = Written(line=line, text=self.write(line))
        cost = item.chars + (0 if self.taken else self.opening_chars)
        if cost <= chars_left:
            self.taken.append(item)
            self.chars += cost
        return cost <= chars_left


def rank(line: Line) -> tuple[bool, int, timedelta, str]:
    """The order within a category: pinned, important, newest."""
    return (not line.pinned, -line.importance, _EPOCH - line.created_at, line.id)


def place(line: Line) -> tuple[str, datetime, str]:
    """The order in which memories are shown."""
    return (line.category, line.created_at, line.id)


def choose(
    lines: Iterable[Line],
    *,
    write: Callable[[Line], str],
    opening_chars: Callable[[str], int],
    items_max: int,
    chars_max: int,
) -> list[Written]:
    """What is shown, in the order in which it is; never more than either limit."""
    by_category: dict[str, list[Line]] = {}
    for line in lines:
        by_category.setdefault(line.category, []).append(line)
    if not by_category or items_max < 1:
        return []
    groups = [
        _Group(
            opening_chars=opening_chars(category),
            # No category can show more than the limit.
            waiting=deque(sorted(by_category[category], key=rank)[:items_max]),
            write=write,
        )
        for category in sorted(by_category)
    ]
    for group in groups:
        _fill_share(group, items_max // len(groups), chars_max // len(groups))
    _share_the_rest(groups, items_max, chars_max)
    taken = [item for group in groups for item in group.taken]
    return sorted(taken, key=lambda item: place(item.line))


def _fill_share(group: _Group, items: int, chars: int) -> None:
    """What a category gets whatever the others hold."""
    too_long = []
    while group.waiting and len(group.taken) < items:
        line = group.waiting[0]
        if not group.take_next(chars - group.chars):
            too_long.append(line)
    group.waiting.extendleft(reversed(too_long))


def _share_the_rest(groups: list[_Group], items_max: int, chars_max: int) -> None:
    def next_up(group: _Group) -> tuple[int, tuple[bool, int, timedelta, str]]:
        used = max(len(group.taken) * chars_max, group.chars * items_max)  # the scarcer of the two
        return (used, rank(group.waiting[0]))

    items_left = items_max - sum(len(group.taken) for group in groups)
    chars_left = chars_max - sum(group.chars for group in groups)
    hungry = [group for group in groups if group.waiting]
    while hungry and items_left:
        group = min(hungry, key=next_up)
        before = group.chars
        if group.take_next(chars_left):
            items_left -= 1
            chars_left -= group.chars - before
        if not group.waiting:
            hungry.remove(group)
