"""Compare two wordings word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from tacit.limits import DIFF_EDITS_MAX_COUNT

PieceKind = Literal["same", "added", "removed"]
# A word, one mark, or one sign of a script that sets no blanks between words.
_IDEOGRAPH = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_MARK = r".,;:!?()\[\]{}\"“”„«»…"
_WORD = re.compile(rf"([{_IDEOGRAPH}]|[{_MARK}]|[^\s{_IDEOGRAPH}{_MARK}]+|^)\s*")


@dataclass(frozen=True, slots=True)
class DiffPiece:
    text: str
    change: PieceKind = "same"


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text as words, each with the blanks that follow it, which are not compared."""

    words: list[str]
    written: list[str]

    @classmethod
    def parse(cls, text: str) -> TokenizedText:
        found = [one for one in _WORD.finditer(text) if one[0]]
        return cls([one[1] for one in found], [one[0] for one in found])

    def slice(self, start: int, end: int) -> TokenizedText:
        return TokenizedText(self.words[start:end], self.written[start:end])


def diff_words(before: str, after: str) -> tuple[DiffPiece, ...]:
    old, new = TokenizedText.parse(before), TokenizedText.parse(after)
    start = _common_prefix_length(old.words, new.words)
    end = _common_prefix_length(old.words[start:][::-1], new.words[start:][::-1])
    old_end, new_end = len(old.words) - end, len(new.words) - end
    found = [
        *_unchanged_pieces(old.written[:start], new.written[:start]),
        *_find_edits(old.slice(start, old_end), new.slice(start, new_end)),
        *_unchanged_pieces(old.written[old_end:], new.written[new_end:]),
    ]
    return tuple(_join_pieces(found))


def _unchanged_pieces(old: Sequence[str], new: Sequence[str]) -> list[DiffPiece]:
    """With the wider blanks of both: what follows is not to stick to it."""
    return [DiffPiece(max(pair, key=len)) for pair in zip(new, old, strict=True)]


def _common_prefix_length(old: Sequence[str], new: Sequence[str]) -> int:
    """How many they have in common from the beginning."""
    for count, (one, other) in enumerate(zip(old, new, strict=False)):
        if one != other:
            return count
    return min(len(old), len(new))


def _find_edits(old: TokenizedText, new: TokenizedText) -> list[DiffPiece]:
    """Myers' greedy search: `reached` holds, for each diagonal, how far into the old wording one
    gets with so many edits."""
    ours, theirs = old.words, new.words
    reached = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(len(ours) + len(theirs), DIFF_EDITS_MAX_COUNT) + 1):
        trail.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            adds = _is_insertion(reached, diagonal, edits)
            at = reached[diagonal + 1] if adds else reached[diagonal - 1] + 1
            while (
                at < len(ours) and at - diagonal < len(theirs) and ours[at] == theirs[at - diagonal]
            ):
                at += 1
            reached[diagonal] = at
            if at >= len(ours) and at - diagonal >= len(theirs):
                return _trace_edits(old, new, trail)
    removed, added = old.written, new.written
    return [
        *(DiffPiece(one, "removed") for one in removed),
        *(DiffPiece(one, "added") for one in added),
    ]


def _is_insertion(reached: dict[int, int], diagonal: int, edits: int) -> bool:
    """Whether one gets further to here by a word that is added than by one that is removed."""
    if diagonal in (-edits, edits):
        return diagonal == -edits
    return reached[diagonal - 1] < reached[diagonal + 1]


def _trace_edits(
    old: TokenizedText, new: TokenizedText, trail: list[dict[int, int]]
) -> list[DiffPiece]:
    """The way that was found, looked for from its end."""
    at, diagonal = len(old.words), len(old.words) - len(new.words)
    found: list[DiffPiece] = []
    for edits in range(len(trail) - 1, 0, -1):
        reached = trail[edits]
        adds = _is_insertion(reached, diagonal, edits)
        stepped = reached[diagonal + 1] if adds else reached[diagonal - 1] + 1
        same = new.written[stepped - diagonal : at - diagonal]
        found += _unchanged_pieces(old.written[stepped:at], same)[::-1]
        if adds:
            at, diagonal = stepped, diagonal + 1
            found.append(DiffPiece(new.written[at - diagonal], "added"))
        else:
            at, diagonal = stepped - 1, diagonal - 1
            found.append(DiffPiece(old.written[at], "removed"))
    found += _unchanged_pieces(old.written[:at], new.written[:at])[::-1]
    return found[::-1]


def _join_pieces(steps: Sequence[DiffPiece]) -> list[DiffPiece]:
    """What follows one another as one piece, what is removed before what is added, and the blanks
    behind it no part of the change."""
    found: list[DiffPiece] = []
    for same, some in groupby(steps, lambda one: one.change == "same"):
        if same:
            found.append(DiffPiece("".join(one.text for one in some)))
            continue
        together = sorted(some, key=lambda one: one.change, reverse=True)  # "added" sorts last
        for change, alike in groupby(together, lambda one: one.change):
            found.append(DiffPiece("".join(one.text for one in alike).rstrip(), change))
        found.append(DiffPiece(_trailing_blanks(together[-1].text)))
    return [one for one in found if one.text]


def _trailing_blanks(text: str) -> str:
    return text[len(text.rstrip()) :]
