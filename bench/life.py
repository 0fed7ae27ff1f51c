"""What memory knows after months of a life: `make bench-life`.

    python bench/life.py [marta tevita ...] [--data FOLDER] [--misses FILE]

Each invented life in `life_data/` is typed into a private chat through the public API, on SQLite, on
a clock that follows the messages; the daily jobs run on each day between them. Turns of the
conversation are kept without an end. Whatever waits for consent is approved after each message. No
language model takes part. At the end:

known     facts that an active memory states
wrong     active memories that state a false claim; "believed" is the share of the claims
outdated  outdated facts that an active memory still states as current
answers   questions whose answer is in one of the first five that recall finds: among memories alone,
          turns alone, both, and by default (`recall` without `include`)
learn     seconds from handing over a message until everything that follows from it is stored

A judge by words decides what a text states (`life_score.py`). The row "the facts themselves" shows
what a memory would score that holds exactly the facts: by how much that judge is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.life_data import FOLDER, BadData, Life, lives
from bench.life_play import Clock, Person, open_memory
from bench.life_score import Tally, judged_facts
from bench.tables import milliseconds, percentile, table
from bench.vectors import Once, default_embedder

TOP = 5
KNOWN_MIN = 75.0  # percent
WRONG_MAX = 2.0
CURRENT_MAX = 5.0
ANSWERED_MIN = 92.0


class Include(TypedDict, total=False):
    include: Sequence[str]


BY_DEFAULT = "default"
SEARCHES: Mapping[str, Include] = {
    "memories": {"include": ["memories"]},
    "turns": {"include": ["turns"]},
    "both": {"include": ["memories", "turns"]},
    BY_DEFAULT: {},
}


def replay(life: Life, url: str, embedder: Once) -> Tally:
    """Type a life into a memory, then count what it knows."""
    tally, clock = Tally(), Clock(life.messages[0].at)
    with open_memory(url, clock, embedder, every_turn=True) as memory:
        person = Person(memory, clock, f"local:{life.name}", life.me)
        once_active: set[str] = set()
        for message in life.messages:
            person.wait_until(message.at)
            tally.seconds.append(person.say(message.text, message.before))
            approved = person.approve()
            active = set(person.memories())
            tally.approved += len(active & approved)
            once_active |= active
        tally.learned = len(once_active)
        memory.admin.reembed()  # many at a time are embedded later
        tally.judge(life, [one.content for one in person.memories().values()])
        tally.questions = len(life.questions)
        for where, include in SEARCHES.items():
            found = [person.view.recall(one.text, top_k=TOP, **include) for one in life.questions]
            tally.judge_answers(life, where, [[one.memory.content for one in some] for some in found])
    return tally


def show(tallies: Mapping[str, Tally], ideal: Tally) -> int:
    """Print the figures of each life and of all; return how many targets were missed."""
    whole = Tally()
    for tally in tallies.values():
        whole.add(tally)
    headings = ["", "memories", "approved", "known", "wrong", "believed", "outdated", "learn p50", "p95"]
    rows = [_row(name, tally) for name, tally in {**tallies, "all": whole}.items()]
    print(table(headings, [*rows, _row("the facts themselves", ideal)]), end="\n\n")
    headings = [f"Answered by the first {TOP} of", *SEARCHES, "questions"]
    rows = [
        [name, *(_percent(tally.answered[where], tally.questions) for where in SEARCHES), str(tally.questions)]
        for name, tally in {**tallies, "all": whole}.items()
    ]
    print(table(headings, rows), end="\n\n")
    print(
        f"Everything that waited for the person's consent was approved: {whole.approved} of "
        f"{whole.learned} memories learned ({_percent(whole.approved, whole.learned)})"
    )
    return _against_targets(whole)


def _row(name: str, tally: Tally) -> list[str]:
    return [
        name,
        str(tally.memories),
        _percent(tally.approved, tally.learned),
        _percent(tally.known, tally.facts),
        _percent(tally.wrong, tally.memories),
        _percent(tally.believed, tally.claims),
        _percent(tally.current, tally.outdated),
        milliseconds(percentile(tally.seconds, 0.5)) if tally.seconds else "",
        milliseconds(percentile(tally.seconds, 0.95)) if tally.seconds else "",
    ]


def _against_targets(whole: Tally) -> int:
    answered = _share(whole.answered[BY_DEFAULT], whole.questions)
    known, wrong = _share(whole.known, whole.facts), _share(whole.wrong, whole.memories)
    current = _share(whole.current, whole.outdated)
    missed = 0
    for what, found, bound, met in (
        ("facts known", known, f">= {KNOWN_MIN:g}", known >= KNOWN_MIN),
        ("wrong memories", wrong, f"<= {WRONG_MAX:g}", wrong <= WRONG_MAX),
        ("outdated still active", current, f"<= {CURRENT_MAX:g}", current <= CURRENT_MAX),
        (f"answers in the first {TOP} by default", answered, f">= {ANSWERED_MIN:g}", answered >= ANSWERED_MIN),
    ):
        missed += not met
        print(f"{what} {found:.1f} %, target {bound} %  {'ok' if met else 'MISSED'}")
    return missed


def _share(part: int, whole: int) -> float:
    """In percent; of nothing 0."""
    return 100 * part / whole if whole else 0.0


def _percent(part: int, whole: int) -> str:
    return f"{_share(part, whole):.1f} %" if whole else "-"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="what memory knows after months of invented lives")
    parser.add_argument("lives", nargs="*", help="names of lives; all without any")
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--misses", type=Path, help="write what was missed to this file, for a reader to judge")
    asked = parser.parse_args(arguments)
    try:
        chosen = lives(asked.data, asked.lives)
    except (BadData, FileNotFoundError) as bad:
        print(bad, file=sys.stderr)
        return 2
    start, ideal = time.monotonic(), Tally()
    embedder, tallies = Once(default_embedder()), dict[str, Tally]()
    for life in chosen:
        with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
            tallies[life.name] = replay(life, f"sqlite:///{folder}/tacit.db", embedder)
        ideal.add(judged_facts(life))
    missed = show(tallies, ideal)
    embedder.close()
    if asked.misses is not None:
        asked.misses.write_text("".join(f"{line}\n" for one in tallies.values() for line in one.misses))
    print(f"{time.monotonic() - start:.0f} s, {missed} targets missed")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
