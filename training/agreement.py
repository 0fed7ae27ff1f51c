"""Print how far the labels of a second reader agree with those of the writers, on the same messages.

python3 training/agreement.py training/agreement training/data
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from check_data import Row, read_rows
from labels import SPAN_HEADS

HALF = 0.5  # two spans are of one fact if they share at least this part of the shorter one


def match_facts(first: Row, second: Row) -> list[tuple[Row, Row]]:
    """Pair the facts of two labelings whose spans overlap."""
    taken: set[int] = set()
    pairs = []
    for fact in first.get("facts", ()):
        for place, other in enumerate(second.get("facts", ())):
            if place not in taken and share_span(first["text"], fact["span"], other["span"]) >= HALF:
                taken.add(place)
                pairs.append((fact, other))
                break
    return pairs


def share_span(text: str, one: str, other: str) -> float:
    start, other_start = text.index(one), text.index(other)
    shared = min(start + len(one), other_start + len(other)) - max(start, other_start)
    return shared / min(len(one), len(other))


def kappa(pairs: list[tuple[str, str]]) -> float:
    """Return Cohen's kappa: agreement beyond what the shares of the labels give by chance."""
    count = len(pairs)
    same = sum(one == other for one, other in pairs) / count
    left, right = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    chance = sum(left[label] * right[label] for label in left) / count**2
    return (same - chance) / (1 - chance)


def about_of(fact: Row) -> str:
    whom = fact["about"][0] if fact["about"] else "thing"
    return whom if whom in ("me", "us", "group", "thing") else "other"


def report(second: Path, data: Path) -> None:
    written = {
        (row["me"], row["text"], row.get("before")): row
        for folder in sorted(data.iterdir())
        for _, row in read_rows(folder / "messages.jsonl")
    }
    labelings = [
        (written[key], row)
        for _, row in read_rows(second / "messages.jsonl")
        if (key := (row["me"], row["text"], row.get("before"))) in written
    ]
    keeps = [(str("facts" in one), str("facts" in other)) for one, other in labelings]
    print(f"messages {len(labelings)}: worth keeping, same {sum(a == b for a, b in keeps)}, kappa {kappa(keeps):.2f}")
    matched = [pair for one, other in labelings for pair in match_facts(one, other)]
    totals = [sum(len(row.get("facts", ())) for row in side) for side in zip(*labelings, strict=True)]
    print(f"facts {totals[0]} and {totals[1]}, the same {len(matched)}: {2 * len(matched) / sum(totals):.2f} of both")
    for name in SPAN_HEADS:
        pairs = [
            (about_of(a), about_of(b)) if name == "about" else (a.get(name, "none"), b.get(name, "none"))
            for a, b in matched
        ]
        same = sum(a == b for a, b in pairs) / len(pairs)
        print(f"{name:8} same {same:.2f}, kappa {kappa(pairs):.2f}")
    for name in ("ask", "hold"):
        print(f"{name:8} same {sum(bool(a.get(name)) == bool(b.get(name)) for a, b in labelings)} of {len(labelings)}")


if __name__ == "__main__":
    report(Path(sys.argv[1]), Path(sys.argv[2]))
