"""What changed between two wordings, word by word.

By the shortest way from one to the other, as far as that is short: wordings that have little in
common are shown one after the other, and no pair of texts takes long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from tacit.limits import DIFF_EDITS_MAX_COUNT

Change = Literal["same", "added", "removed"]
# A word, one mark, or one sign of a script that sets no blanks between words.
_IDEOGRAPH = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_MARK = r".,;:!?()\[\]{}\"“”„«»…"
_WORD = re.compile(rf"([{_IDEOGRAPH}]|[{_MARK}]|[^\s{_IDEOGRAPH}{_MARK}]+|^)\s*")


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    change: Change = "same"


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as words, each with the blanks that follow it, which are not compared."""

    words: list[str]
    written: list[str]

    @classmethod
    def parse(cls, text: str) -> Wording:
        found = [one for one in _WORD.finditer(text) if one[0]]
        return cls([one[1] for one in found], [one[0] for one in found])

    def slice(self, start: int, end: int) -> Wording:
        return Wording(self.words[start:end], self.written[start:end])


def between(before: str, after: str) -> tuple[Piece, ...]:
    old, new = Wording.parse(before), Wording.parse(after)
    start = _alike(old.words, new.words)
    end = _alike(old.words[start:][::-1], new.words[start:][::-1])
    old_end, new_end = len(old.words) - end, len(new.words) - end
    found = [
        *_same(old.written[:start], new.written[:start]),
        *_steps(old.slice(start, old_end), new.slice(start, new_end)),
        *_same(old.written[old_end:], new.written[new_end:]),
    ]
    return tuple(_joined(found))


def _same(old: Sequence[str], new: Sequence[str]) -> list[Piece]:
    """With the wider blanks of both: what follows is not to stick to it."""
    return [Piece(max(pair, key=len)) for pair in zip(new, old, strict=True)]


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """How many they have in common from the beginning."""
    for count, (one, other) in enumerate(zip(old, new, strict=False)):
        if one != other:
            return count
    return min(len(old), len(new))


def _steps(old: Wording, new: Wording) -> list[Piece]:
    """Myers' greedy search: `reached` holds, for each diagonal, how far into the old wording one
    gets with so many edits."""
    ours, theirs = old.words, new.words
    reached = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(len(ours) + len(theirs), DIFF_EDITS_MAX_COUNT) + 1):
        trail.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            adds = _adds(reached, diagonal, edits)
            at = reached[diagonal + 1] if adds else reached[diagonal - 1] + 1
            while (
                at < len(ours) and at - diagonal < len(theirs) and ours[at] == theirs[at - diagonal]
            ):
                at += 1
            reached[diagonal] = at
            if at >= len(ours) and at - diagonal >= len(theirs):
                return _way(old, new, trail)
    removed, added = old.written, new.written
    return [*(Piece(one, "removed") for one in removed), *(Piece(one, "added") for one in added)]


def _adds(reached: dict[int, int], diagonal: int, edits: int) -> bool:
    """Whether one gets further to here by a word that is added than by one that is removed."""
    if diagonal in (-edits, edits):
        return diagonal == -edits
    return reached[diagonal - 1] < reached[diagonal + 1]


def _way(old: Wording, new: Wording, trail: list[dict[int, int]]) -> list[Piece]:
    """The way that was found, looked for from its end."""
    at, diagonal = len(old.words), len(old.words) - len(new.words)
    found: list[Piece] = []
    for edits in range(len(trail) - 1, 0, -1):
        reached = trail[edits]
        adds = _adds(reached, diagonal, edits)
        stepped = reached[diagonal + 1] if adds else reached[diagonal - 1] + 1
        same = new.written[stepped - diagonal : at - diagonal]
        found += _same(old.written[stepped:at], same)[::-1]
        if adds:
            at, diagonal = stepped, diagonal + 1
            found.append(Piece(new.written[at - diagonal], "added"))
        else:
            at, diagonal = stepped - 1, diagonal - 1
            found.append(Piece(old.written[at], "removed"))
    found += _same(old.written[:at], new.written[:at])[::-1]
    return found[::-1]


def _joined(steps: Sequence[Piece]) -> list[Piece]:
    """What follows one another as one piece, what is removed before what is added, and the blanks
    behind it no part of the change."""
    found: list[Piece] = []
    for same, some in groupby(steps, lambda one: one.change == "same"):
        if same:
            found.append(Piece("".join(one.text for one in some)))
            continue
        together = sorted(some, key=lambda one: one.change, reverse=True)  # "added" sorts last
        for change, alike in groupby(together, lambda one: one.change):
            found.append(Piece("".join(one.text for one in alike).rstrip(), change))
        found.append(Piece(_blanks(together[-1].text)))
    return [one for one in found if one.text]


def _blanks(text: str) -> str:
    return text[len(text.rstrip()) :]
