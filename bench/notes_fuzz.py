"""Throws odd files, frontmatter, edits and merges at the notes for some minutes: only typed errors,
no hang, bounded memory. Usage: python bench/notes_fuzz.py [--minutes 10] [--seed 0]"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench import notes_cases as cases
from tacit.errors import NoteUnreadable
from tacit.notes import frontmatter
from tacit.notes.document import parse_note, render_note
from tacit.notes.edits import AddItem, DropItem, Edit, SetHead, SetItem, apply_edits
from tacit.notes.markdown import strip_ids
from tacit.notes.merge import match_items, merge_item, merge_links
from tacit.records.notes import SECTIONS_BY_KIND, Note, NoteItem, NoteKind, Section

ROUND = 200  # cases between two looks at the clock
SLOW_SECONDS = 2.0  # of one case: it would be a hang in the making
kinds = st.sampled_from(NoteKind)
scraps = st.lists(
    st.sampled_from((*"{}[]:,&*!|>'\"%@`#?-~ \n\t", "a", "b: ", "- ", "? ", "<<: ", "---\n", "...\n", "\\x41"))
    | st.text(max_size=4),
    max_size=40,
).map("".join)

mostly_plain = st.lists(
    st.builds("{}: {}\n".format, st.sampled_from("abcd"), scraps.map(lambda s: s[:6]))
    | st.sampled_from(("summary: |\n  x\n\n", "tags:\n- x\n", "# own\n", "own: {x: [y]}  # z\n")),
    max_size=5,
).map("".join)


@dataclass(slots=True)
class Tally:
    cases: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)


def check_file(data: bytes, kind: NoteKind) -> None:
    document = parse_note(data, kind)
    assert apply_edits(document, []) == data
    strip_ids("\n".join(document.lines))


def check_note(note: Note) -> None:
    assert parse_note(render_note(note), note.place.kind).note(note.place) == note


def check_head(text: str, value: str) -> None:
    before = frontmatter.parse_frontmatter(text)
    after = frontmatter.parse_frontmatter(
        frontmatter.update_frontmatter(text, {"summary": value, "tags": ("a", value)})
    )
    assert after == {**before, "summary": value, "tags": ["a", value]}


def check_edit(data: bytes, kind: NoteKind, new: list[NoteItem], at: int) -> None:
    document = parse_note(data, kind)
    edits: list[Edit] = [SetHead(changes={"summary": "x", "tasks": "1/2"})]
    wanted = Counter(document.items)
    for offset, item in enumerate(new):
        entry = document.entries[(at + offset) % len(document.entries)] if document.entries else None
        same = any(isinstance(e, SetItem | DropItem) and e.entry is entry for e in edits)
        if entry is None or same:
            edits.append(AddItem(item=item, after=entry))
        else:
            wanted[entry.item] -= 1
            if offset % 2:
                edits.append(DropItem(entry=entry))
                continue
            edits.append(SetItem(entry=entry, item=item))
        wanted[item] += 1
    assert Counter(parse_note(apply_edits(document, edits), kind).items) == +wanted


def check_merge(old: Note, new: Note) -> None:
    pairs = match_items(old.items, new.items)
    assert [pair[0] for pair in pairs] == list(new.items)
    for item, same in pairs:
        if same is not None:
            assert merge_item(same, item).done or not (same.done or item.done)
    merge_links(old.links, new.links)


def items_of(kind: NoteKind) -> st.SearchStrategy[list[NoteItem]]:
    sections = [section for section in SECTIONS_BY_KIND[kind] if section is not Section.LINKS]
    return st.lists(st.one_of([cases.items(kind, section) for section in sections]), max_size=4)


edits = kinds.flatmap(
    lambda kind: st.tuples(cases.files(), st.just(kind), items_of(kind), st.integers(min_value=0, max_value=20))
)
anything = cases.files() | st.binary(max_size=300) | scraps.map(str.encode)
CHECKS: dict[str, tuple[Callable[..., None], st.SearchStrategy[tuple[object, ...]]]] = {
    "files": (check_file, st.tuples(anything, kinds)),
    "notes": (check_note, st.tuples(cases.notes())),
    "frontmatter": (check_head, st.tuples(scraps | mostly_plain, cases.plain)),
    "edits": (check_edit, edits),
    "merges": (check_merge, st.tuples(cases.notes(), cases.notes())),
}


def one_round(name: str, number: int, tally: Tally, count: int = ROUND) -> None:
    """Some cases of one kind. Whatever is not refused in a typed way is raised."""
    check, strategy = CHECKS[name]

    @seed(number)
    @settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def run(case: tuple[object, ...]) -> None:
        began = time.perf_counter()
        try:
            check(*case)
        except NoteUnreadable:
            tally.refused[name] += 1
        took = time.perf_counter() - began
        tally.cases[name] += 1
        tally.slowest[name] = max(tally.slowest.get(name, 0.0), took)

    run()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    numbers, tally = random.Random(chosen.seed), Tally()
    until = time.monotonic() + chosen.minutes * 60
    for name in CHECKS:
        one_round(name, 0, Tally(), count=50)  # what is loaded once is no part of a case
    errors = 0
    while time.monotonic() < until:
        for name in CHECKS:
            number = numbers.randrange(2**32)
            try:
                one_round(name, number, tally)
            except Exception as error:  # noqa: BLE001 - any at all is looked for
                errors += 1
                print(f"{name}, seed {number}: {type(error).__name__}: {error}", file=sys.stderr)
    for name in CHECKS:
        print(
            f"{name:12} {tally.cases[name]:>9,} cases {tally.refused[name]:>8,} refused"
            f"   slowest {tally.slowest.get(name, 0.0) * 1000:7.1f} ms"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"errors {errors}, cases {tally.cases.total():,}, peak memory {peak:.0f} MB")
    return 1 if errors or max(tally.slowest.values()) > SLOW_SECONDS else 0


if __name__ == "__main__":
    sys.exit(main())
