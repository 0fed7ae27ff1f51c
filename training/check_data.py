"""Check the files of writers: fields, labels, shares and near-duplicates."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from labels import MESSAGE_HEADS, NEVER_WITH_FACTS, RELATIONS, SPAN_HEADS

Row = dict[str, Any]

NEAR = 0.8  # share of word pairs in common from which two texts count as near-duplicates


def read_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield each line of a file as (where it stands, row)."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            where = f"{path}:{number}"
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise SystemExit(f"{where}: {error}") from error
            yield where, row


def message_faults(row: Row) -> Iterator[str]:
    """Yield what is wrong with a message."""
    unknown = set(row) - {"me", "text", "before", "chat", "facts", "rest", "ask", "hold"}
    if unknown:
        yield f"unknown fields {sorted(unknown)}"
    if not (isinstance(row.get("me"), str) and isinstance(row.get("text"), str) and row["text"].strip()):
        yield "`me` and `text` are required"
        return
    facts = row.get("facts", [])
    if not facts and "rest" not in row:
        yield "a message without facts needs `rest`"
    if row.get("rest", "none") not in MESSAGE_HEADS["rest"]:
        yield f"unknown rest {row['rest']!r}"
    if facts and row.get("rest") in NEVER_WITH_FACTS:
        yield f"a message that is {row['rest']!r} has no facts"
    if row.get("chat", "group") != "group":
        yield "`chat` is `group` or left out"
    hold = row.get("hold")
    if hold is not None and hold not in ("private", "room") and not (isinstance(hold, list) and hold):
        yield "`hold` is a list of names, `private` or `room`"
    for fact in facts:
        yield from fact_faults(fact, row["text"])


def fact_faults(fact: Row, text: str) -> Iterator[str]:
    """Yield what is wrong with a fact of a message."""
    unknown = set(fact) - {"span", "about", "kind", "sens", "lasts", "change", "slot", "fact"}
    if unknown:
        yield f"unknown fields {sorted(unknown)} in a fact"
    if fact.get("span", "\0") not in text or not fact.get("span"):
        yield f"span {fact.get('span')!r} does not stand in the text"
    if not isinstance(fact.get("about"), list):
        yield "`about` is a list"
    for field, allowed in SPAN_HEADS.items():
        if field != "about" and fact.get(field, "none") not in allowed:
            yield f"{field} {fact.get(field)!r} is none of {allowed}"
    if not isinstance(fact.get("fact"), str) or len(fact["fact"]) < 5:
        yield "`fact` is a sentence"


def pair_faults(row: Row) -> Iterator[str]:
    """Yield what is wrong with a pair."""
    unknown = set(row) - {"me", "known", "new", "label", "by"}
    if unknown:
        yield f"unknown fields {sorted(unknown)}"
    if not all(isinstance(row.get(name), str) and row[name].strip() for name in ("me", "known", "new")):
        yield "`me`, `known` and `new` are required"
    if row.get("label") not in RELATIONS:
        yield f"label {row.get('label')!r} is none of {RELATIONS}"


def word_pairs(text: str) -> frozenset[tuple[str, str]]:
    words = ["^", *re.findall(r"\w+", text.lower()), "$"]
    return frozenset(pairwise(words))


def near_duplicates(texts: list[str]) -> list[tuple[int, int]]:
    """Return the places of texts that share most of their word pairs with an earlier one."""
    seen: dict[tuple[str, str], list[int]] = {}
    outlines = [word_pairs(text) for text in texts]
    found = []
    for place, outline in enumerate(outlines):
        shared = Counter(other for pair in outline for other in seen.get(pair, ()))
        for other, count in shared.most_common(3):
            if count >= NEAR * len(outline | outlines[other]):
                found.append((other, place))
                break
        for pair in outline:
            seen.setdefault(pair, []).append(place)
    return found


def frames(texts: list[str]) -> list[tuple[str, int]]:
    """Return the commonest openings of three words: a sign of templates."""
    openings = Counter(" ".join(re.findall(r"\w+'?\w*", text.lower())[:3]) for text in texts)
    return [(opening, count) for opening, count in openings.most_common(5) if count > 3]


def report(folders: list[Path]) -> int:
    """Print faults, shares and near-duplicates of the folders; return the number of faults."""
    faults = 0
    texts: dict[str, list[str]] = {"messages": [], "pairs": []}
    places: dict[str, list[str]] = {"messages": [], "pairs": []}
    counts: Counter[str] = Counter()
    for folder in folders:
        for name, find in (("messages", message_faults), ("pairs", pair_faults)):
            path = folder / f"{name}.jsonl"
            for where, row in read_rows(path) if path.exists() else ():
                for fault in find(row):
                    faults += 1
                    print(f"{where}: {fault}")
                places[name].append(where)
                if name == "messages":
                    texts[name].append(str(row.get("text")))
                    kept = row.get("facts", [])
                    counts.update(["messages", "with facts" if kept else f"no facts: {row.get('rest')}"])
                    counts.update(name for name in ("before", "chat", "ask", "hold") if row.get(name))
                    for fact in kept:
                        counts.update(["facts", *(f"{at} {fact.get(at)}" for at in ("kind", "sens", "lasts"))])
                        counts.update(f"{at} {fact[at]}" for at in ("change", "slot") if at in fact)
                else:
                    texts[name].append(f"{row.get('known')} / {row.get('new')}")
                    counts.update(["pairs", f"pair {row.get('label')}"])
    for label, count in sorted(counts.items()):
        print(f"{label:28} {count:6}")
    for name, written in texts.items():
        near = near_duplicates(written)
        share = 100 * len(near) / max(1, len(written))
        print(f"near-duplicate {name}: {len(near)} of {len(written)} ({share:.1f} %)")
        for one, other in near[:8]:
            print(f"  {places[name][one]} ~ {places[name][other]}: {written[other][:90]}")
        print(f"commonest openings of {name}: {frames(written)}")
    return faults


if __name__ == "__main__":
    sys.exit(1 if report([Path(argument) for argument in sys.argv[1:]]) else 0)
