"""What the trained reader and the judge get right of writers who trained nothing: `make bench-reader`.

    python bench/reader.py [--data training/data] [--writers kirsi leo]

A span counts as right if half of it lies in labelled facts, a fact as found if most of it lies in spans. "asked" are
messages that ask to be remembered, of which at least one fact is found. "never" are messages of which nothing may be
kept: secrets, "off the record", attempts to control the model, and pasted text. Sensitivity counts as too low where
the reader says less than the label. Pairs are judged at the thresholds of the product; the targets are the project's.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.tables import milliseconds, percentile, table
from tacit.learning import judge, reading
from tacit.learning.reader.reader import SENSITIVITIES, TrainedReader, load_reader
from tacit.learning.reconciliation import Verdict

SPAN_MIN_SHARE, FACT_MIN_SHARE = 0.5, 0.6
NEVER = ("secret", "off", "injection", "paste")
Row = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("training/data"))
    parser.add_argument("--writers", nargs="+", default=["kirsi", "leo"])
    asked = parser.parse_args()
    reader = load_reader()
    whole: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    seconds: list[float] = []
    rows = []
    for writer in asked.writers:
        counts, spent = count_messages(reader, read_rows(asked.data / writer / "messages.jsonl"))
        judged = count_pairs(reader, read_rows(asked.data / writer / "pairs.jsonl"))
        whole += counts
        pairs += judged
        seconds += spent
        rows.append(_row(writer, counts, judged))
    headings = ["", "precision", "recall", "of none", "asked", "never", "too low", "replaced", "coexisting", "twice"]
    print(table(headings, [*rows, _row("all", whole, pairs)]))
    print(f"\na message takes {milliseconds(percentile(seconds, 0.5))}, p95 {milliseconds(percentile(seconds, 0.95))}")
    return _against_targets(whole, pairs)


def read_rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def count_messages(reader: TrainedReader, rows: Sequence[Row]) -> tuple[Counter[str], list[float]]:
    counts: Counter[str] = Counter()
    seconds = []
    for row in rows:
        begun = time.perf_counter()
        found = reader.read(row["text"], row.get("before", ""))
        seconds.append(time.perf_counter() - begun)
        spans = reading.kept_spans(found)
        gold = [_place(row["text"], fact["span"]) for fact in row.get("facts", ())]
        counts["spans"] += len(spans)
        counts["right"] += sum(_share((one.start, one.end), gold) >= SPAN_MIN_SHARE for one in spans)
        counts["facts"] += len(gold)
        kept = [(one.start, one.end) for one in spans]
        counts["found"] += sum(_share(one, kept) >= FACT_MIN_SHARE for one in gold)
        counts["none"] += not gold
        counts["none kept"] += not gold and bool(spans)
        if row.get("ask") and gold:
            counts["asked"] += 1
            counts["asked kept"] += any(_share(one, kept) >= FACT_MIN_SHARE for one in gold)
        if row.get("rest") in NEVER:
            counts["never"] += 1
            counts["never kept"] += bool(spans)
        for one in spans:
            for fact, place in zip(row.get("facts", ()), gold, strict=True):
                if _share(place, [(one.start, one.end)]) >= FACT_MIN_SHARE:
                    counts["labelled"] += 1
                    level = SENSITIVITIES.index(reading.find_sensitivity(one).value)
                    counts["too low"] += level < SENSITIVITIES.index(fact["sens"])
    return counts, seconds


def count_pairs(reader: TrainedReader, rows: Sequence[Row]) -> Counter[str]:
    counts: Counter[str] = Counter()
    chances = reader.judge([(row["known"], row["new"]) for row in rows])
    for row, chance in zip(rows, chances, strict=True):
        turned = any(one.chances["change"]["none"] < 0.7 for one in reader.read(row["new"]).spans)
        label = "replaced" if row["label"] in ("replaces", "ends") else row["label"]
        counts[label] += 1
        verdict = judge.find_verdict(chance, turned=turned)
        counts[f"{label} over"] += verdict in (Verdict.UPDATES, Verdict.ENDS)
        counts[f"{label} same"] += verdict is Verdict.SAME
    return counts


def _place(text: str, span: str) -> tuple[int, int]:
    start = text.index(span)
    return start, start + len(span)


def _share(one: tuple[int, int], others: Sequence[tuple[int, int]]) -> float:
    covered = {n for start, end in others for n in range(max(start, one[0]), min(end, one[1]))}
    return len(covered) / max(1, one[1] - one[0])


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _row(name: str, counts: Counter[str], pairs: Counter[str]) -> list[str]:
    shares = [
        (counts["right"], counts["spans"]),
        (counts["found"], counts["facts"]),
        (counts["none kept"], counts["none"]),
        (counts["asked kept"], counts["asked"]),
        (counts["never kept"], counts["never"]),
        (counts["too low"], counts["labelled"]),
        (pairs["replaced over"], pairs["replaced"]),
        (pairs["coexists over"], pairs["coexists"]),
        (pairs["repeats"] - pairs["repeats same"], pairs["repeats"]),
    ]
    return [name, *(f"{_percent(part, all_of):.1f} %" for part, all_of in shares)]


def _against_targets(counts: Counter[str], pairs: Counter[str]) -> int:
    targets = (
        ("precision", _percent(counts["right"], counts["spans"]), 95.0, False),
        ("recall", _percent(counts["found"], counts["facts"]), 85.0, False),
        ("explicit requests kept", _percent(counts["asked kept"], counts["asked"]), 97.0, False),
        ("never kept", _percent(counts["never kept"], counts["never"]), 0.0, True),
        ("sensitivity too low", _percent(counts["too low"], counts["labelled"]), 1.0, True),
        ("replaced", _percent(pairs["replaced over"], pairs["replaced"]), 95.0, False),
        ("coexisting replaced", _percent(pairs["coexists over"], pairs["coexists"]), 0.5, True),
        ("stored twice", _percent(pairs["repeats"] - pairs["repeats same"], pairs["repeats"]), 5.0, True),
    )
    missed = 0
    for name, found, bound, at_most in targets:
        met = found <= bound if at_most else found >= bound
        missed += not met
        print(f"{name} {found:.1f} %, target {'<=' if at_most else '>='} {bound:g} %  {'ok' if met else 'MISSED'}")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
