"""Plain tables for a terminal, and the few figures that are worked out of many times."""

from __future__ import annotations

import math
from collections.abc import Sequence


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The first column to the left, all others to the right, each as wide as it needs to be."""
    for row in rows:
        if len(row) != len(headings):
            raise ValueError(f"a row of {len(row)} cells under {len(headings)} headings: {row}")
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    lines = [_line(headings, widths), "  ".join("-" * width for width in widths)]
    return "\n".join([*lines, *(_line(row, widths) for row in rows)])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.rjust(width) if n else cell.ljust(width) for n, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least this share of them does not exceed."""
    if not values:
        raise ValueError("no values: nothing was measured")
    if not 0 < share <= 1:
        raise ValueError(f"a share is above 0 and at most 1, not {share}")
    return sorted(values)[math.ceil(share * len(values)) - 1]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"
