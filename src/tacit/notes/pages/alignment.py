"""Which line of an edited text is which line of the text before. Pure.

Whoever edits a text sees no ids: a line is known by its words, or by where it stood and how much of
its words is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from tacit.model.notes import Item

_ALIKE_MIN = 0.4  # of the words; with less in common it is another thing that took the place
_COMPARED_MAX_COUNT = 10_000  # pairs of lines, each with each; beyond, in their order alone


def aligned(old: Sequence[Item], new: Sequence[Item]) -> list[Item | None]:
    """For each of the new ones the old one that it is, if it is one. None is given twice."""
    found: list[Item | None] = [None] * len(new)
    before, after = [_words(item) for item in old], [_words(item) for item in new]
    blocks: list[tuple[range, range]] = []
    for what, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            found[c:d] = old[a:b]
        else:
            blocks.append((range(a, b), range(c, d)))
    left: dict[tuple[str, str], list[int]] = {}
    for gone, _ in reversed(blocks):
        for one in reversed(gone):
            left.setdefault(before[one], []).append(one)
    for _, come in blocks:  # the same words elsewhere: it was moved
        for one in come:
            if left.get(after[one]):
                found[one] = old[left[after[one]].pop()]
    waiting = {one for some in left.values() for one in some}
    for gone, come in blocks:
        _edited(
            [one for one in gone if one in waiting],
            [one for one in come if found[one] is None],
            old,
            new,
            found,
        )
    return found


def _edited(
    gone: list[int],
    come: list[int],
    old: Sequence[Item],
    new: Sequence[Item],
    found: list[Item | None],
) -> None:
    """Of what was replaced at one place, the most alike first."""
    if len(gone) * len(come) <= _COMPARED_MAX_COUNT:
        pairs = [(a, c) for a in gone for c in come]
    else:
        pairs = list(zip(gone, come, strict=False))
    rated = sorted(
        ((_likeness(old[a], new[c]), a, c) for a, c in pairs),
        key=lambda one: (-one[0], one[1], one[2]),
    )
    used: set[int] = set()
    for likeness, a, c in rated:
        if likeness >= _ALIKE_MIN and a not in used and found[c] is None:
            found[c] = old[a]
            used.add(a)


def _likeness(one: Item, other: Item) -> float:
    if (one.done is None) != (other.done is None):
        return 0.0  # a fact is no task
    words = (one.content[:2_000].casefold().split(), other.content[:2_000].casefold().split())
    return SequenceMatcher(None, *words, autojunk=False).ratio()


def _words(item: Item) -> tuple[str, str]:
    """Ticked or not, it is the same task."""
    return item.section.value, " ".join(item.content.split())
