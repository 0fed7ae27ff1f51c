"""Diff two texts by words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from tacit.limits import DIFF_EDITS_MAX_COUNT

PieceKind = Literal["same", "added", "removed"]
# A word, a punctuation mark, or one character of a script without spaces between words.
_IDEOGRAPH = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_MARK = r".,;:!?()\[\]{}\"“”„«»…"
_WORD = re.compile(rf"([{_IDEOGRAPH}]|[{_MARK}]|[^\s{_IDEOGRAPH}{_MARK}]+|^)\s*")


@dataclass(frozen=True, slots=True)
class DiffPiece:
    text: str
    change: PieceKind = "same"


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text as words, and the same words with their trailing blanks, which are not compared."""

    words: list[str]
    with_blanks: list[str]

    @classmethod
    def parse(cls, text: str) -> TokenizedText:
        found = [one for one in _WORD.finditer(text) if one[0]]
        return cls([one[1] for one in found], [one[0] for one in found])

    def slice(self, start: int, end: int) -> TokenizedText:
        return TokenizedText(self.words[start:end], self.with_blanks[start:end])


def diff_words(before: str, after: str) -> tuple[DiffPiece, ...]:
    old, new = TokenizedText.parse(before), TokenizedText.parse(after)
    start = _common_prefix_length(old.words, new.words)
    end = _common_prefix_length(old.words[start:][::-1], new.words[start:][::-1])
    old_end, new_end = len(old.words) - end, len(new.words) - end
    found = [
        *_unchanged_pieces(old.with_blanks[:start], new.with_blanks[:start]),
        *_find_edits(old.slice(start, old_end), new.slice(start, new_end)),
        *_unchanged_pieces(old.with_blanks[old_end:], new.with_blanks[new_end:]),
    ]
    return tuple(_join_pieces(found))


def _unchanged_pieces(old: Sequence[str], new: Sequence[str]) -> list[DiffPiece]:
    """Keep the wider blanks of both texts, so that the next word does not stick to it."""
    return [DiffPiece(max(pair, key=len)) for pair in zip(new, old, strict=True)]


def _common_prefix_length(old: Sequence[str], new: Sequence[str]) -> int:

    for count, (one, other) in enumerate(zip(old, new, strict=False)):
        if one != other:
            return count
    return min(len(old), len(new))


def _find_edits(old: TokenizedText, new: TokenizedText) -> list[DiffPiece]:
    """Find the shortest edits with Myers' greedy algorithm.

    `reached` maps each diagonal to the furthest position in the old text for this many edits.
    """
    ours, theirs = old.words, new.words
    reached = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(len(ours) + len(theirs), DIFF_EDITS_MAX_COUNT) + 1):
        trail.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            adds = _is_insertion(reached, diagonal, edits)
            at = reached[diagonal + 1] if adds else reached[diagonal - 1] + 1
            while at < len(ours) and at - diagonal < len(theirs) and ours[at] == theirs[at - diagonal]:
                at += 1
            reached[diagonal] = at
            if at >= len(ours) and at - diagonal >= len(theirs):
                return _trace_edits(old, new, trail)
    return [
        *(DiffPiece(one, "removed") for one in old.with_blanks),
        *(DiffPiece(one, "added") for one in new.with_blanks),
    ]


def _is_insertion(reached: dict[int, int], diagonal: int, edits: int) -> bool:
    """Whether an insertion reaches this diagonal further than a deletion."""
    if diagonal in (-edits, edits):
        return diagonal == -edits
    return reached[diagonal - 1] < reached[diagonal + 1]


def _trace_edits(old: TokenizedText, new: TokenizedText, trail: list[dict[int, int]]) -> list[DiffPiece]:
    """Follow the edits back from the end of both texts."""
    at, diagonal = len(old.words), len(old.words) - len(new.words)
    found: list[DiffPiece] = []
    for edits in range(len(trail) - 1, 0, -1):
        reached = trail[edits]
        adds = _is_insertion(reached, diagonal, edits)
        stepped = reached[diagonal + 1] if adds else reached[diagonal - 1] + 1
        same = new.with_blanks[stepped - diagonal : at - diagonal]
        found += _unchanged_pieces(old.with_blanks[stepped:at], same)[::-1]
        if adds:
            at, diagonal = stepped, diagonal + 1
            found.append(DiffPiece(new.with_blanks[at - diagonal], "added"))
        else:
            at, diagonal = stepped - 1, diagonal - 1
            found.append(DiffPiece(old.with_blanks[at], "removed"))
    found += _unchanged_pieces(old.with_blanks[:at], new.with_blanks[:at])[::-1]
    return found[::-1]


def _join_pieces(steps: Sequence[DiffPiece]) -> list[DiffPiece]:
    """Join neighbors of one kind, removed before added, and leave trailing blanks unchanged."""
    found: list[DiffPiece] = []
    for same, group in groupby(steps, lambda one: one.change == "same"):
        if same:
            found.append(DiffPiece("".join(one.text for one in group)))
            continue
        changed = sorted(group, key=lambda one: one.change, reverse=True)  # "added" sorts last
        for change, pieces in groupby(changed, lambda one: one.change):
            found.append(DiffPiece("".join(one.text for one in pieces).rstrip(), change))
        last = changed[-1].text
        found.append(DiffPiece(last[len(last.rstrip()) :]))
    return [one for one in found if one.text]
