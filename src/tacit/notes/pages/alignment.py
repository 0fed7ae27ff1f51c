"""Which line of an edited text is which line of the text before. Pure.

Whoever edits a text sees no ids: a line is known by its words, or by where it stood and how much of
its words is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import product

from tacit.records.notes import NoteItem

_ALIKE_MIN = 0.4  # of the words; with less in common it is another thing that took the place
_COMPARED_MAX_COUNT = 10_000  # pairs of lines, each with each; beyond, in their order alone
_COMPARED_WORDS_MAX_COUNT = 2_000_000  # pairs of their words, which are as many steps
_WORDS_COUNT = 60  # of a line that are compared


def changed_at_least(old: Sequence[NoteItem], new: Sequence[NoteItem]) -> int:
    """How many lines are new, or gone, by their words alone: quickly, before they are aligned."""
    before, after = Counter(map(_words, old)), Counter(map(_words, new))
    return max((after - before).total(), (before - after).total())


def aligned(old: Sequence[NoteItem], new: Sequence[NoteItem]) -> list[NoteItem | None]:
    """For each of the new ones the old one that it is, if it is one. None is given twice."""
    found: list[NoteItem | None] = [None] * len(new)
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
    old: Sequence[NoteItem],
    new: Sequence[NoteItem],
    found: list[NoteItem | None],
) -> None:
    """Of what was replaced at one place, the most alike first."""
    before = {one: _first_words(old[one]) for one in gone}
    after = {one: _first_words(new[one]) for one in come}
    words = sum(map(len, before.values())) * sum(map(len, after.values()))
    few = len(gone) * len(come) <= _COMPARED_MAX_COUNT and words <= _COMPARED_WORDS_MAX_COUNT
    pairs = product(gone, come) if few else zip(gone, come, strict=False)
    rated = sorted(
        # A fact is no task.
        (
            (_likeness(before[a], after[c]), a, c)
            for a, c in pairs
            if (old[a].done is None) == (new[c].done is None)
        ),
        key=lambda one: (-one[0], one[1], one[2]),
    )
    used: set[int] = set()
    for likeness, a, c in rated:
        if likeness >= _ALIKE_MIN and a not in used and found[c] is None:
            found[c] = old[a]
            used.add(a)


def _first_words(item: NoteItem) -> list[str]:
    return item.content[:2_000].casefold().split()[:_WORDS_COUNT]


def _likeness(one: list[str], other: list[str]) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _words(item: NoteItem) -> tuple[str, str]:
    """Ticked or not, it is the same task."""
    return item.section.value, " ".join(item.content.split())
