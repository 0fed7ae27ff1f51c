"""What it costs to hand over a turn, and to learn from it by rules, beside a bare `remember`.

    python bench/learn_speed.py

Everybody takes turns in small rounds on the same database, so that a busy machine slows all alike.
A ratio is the median of the rounds' own. There is no embedder: what a vector takes is a model's own
affair, and the same for all. PostgreSQL is the server in TACIT_TEST_POSTGRES, without fsync.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tacit
from bench.learn_data import messages
from bench.tables import milliseconds, table
from tacit.jobs.worker import JobRunner
from tacit.learning.extraction.sentences import read_holds
from tacit.learning.facts import Hold
from tacit.screening.secrets import find_secret
from tacit.settings import Settings
from tacit.settings.sections import LearnSettings
from tests.databases import PostgresDatabases

ROUNDS = 20
PER_ROUND = 25
HANDED_OVER_MAX = 2.0  # times a bare remember
LEARNED_MAX = 10.0
_BY_HAND = Settings(learn=LearnSettings(workers=0, daily_max_count=1_000_000))
_USERS = 20


@dataclass(slots=True)
class Measured:
    """Seconds of each act, by round."""

    remember: list[float] = field(default_factory=list)
    hand_over: list[float] = field(default_factory=list)
    learn: list[float] = field(default_factory=list)
    turns_per_second: float = 0.0  # over all of them, the long ones too


def measure(url: str) -> Measured:
    """The labelled messages over and over, each time by somebody else."""
    found = Measured()
    texts, spent = _texts(), 0.0
    with tacit.open(url, settings=_BY_HAND, embedder=None) as memory:
        _round(memory, texts, 0)  # everybody is known, and every statement was built once
        for number in range(1, ROUNDS + 1):
            *times, whole = _round(memory, texts, number)
            spent += whole
            for name, seconds in zip(("remember", "hand_over", "learn"), times, strict=True):
                getattr(found, name).append(seconds)
    found.turns_per_second = ROUNDS * PER_ROUND / spent
    return found


def _round(memory: tacit.Memory, texts: Iterator[str], number: int) -> tuple[float, float, float, float]:
    """The median of a remember and of a hand-over, the mean of what learning a turn takes, and how
    long all of the learning took."""
    said = [next(texts) for _ in range(PER_ROUND)]
    remember, hand_over = [], []
    for n, text in enumerate(said):
        view, noted = _view(memory, n), f"{text} ({number}.{n})"
        remember.append(_timed(partial(view.remember, noted)))
    for n, text in enumerate(said):
        view, turn = _view(memory, n), tacit.Message("user", text)
        hand_over.append(_timed(partial(view.learn, [turn])))
    learned = _worked_off(memory)
    return statistics.median(remember), statistics.median(hand_over), learned / PER_ROUND, learned


def _worked_off(memory: tacit.Memory) -> float:
    """What all turns of a round take the one worker that a process has, from the queue on."""
    path = memory._runtime.pipeline  # a worker is no part of the public interface
    assert path is not None
    runner = JobRunner(path, is_alone=True)
    begun = time.perf_counter()
    count = runner.drain()
    spent = time.perf_counter() - begun
    left = memory.jobs.pending()
    if left.turns or left.parked or count != PER_ROUND:
        raise SystemExit(f"not everything was learned: {left}")
    return spent


def _view(memory: tacit.Memory, n: int) -> tacit.View:
    key = f"telegram:{7_000 + n % _USERS}"
    return memory.view(tacit.Requester(key, name=f"User {n % _USERS}"), tacit.Chat.private(key))


def _texts() -> Iterator[str]:
    english = [one.text for one in messages() if one.lang == "en" and find_secret(one.text) is None]
    # "Off the record …" is not even queued.
    said = [text for text in english if read_holds(text).hold is not Hold.UNKEPT]
    while True:
        yield from said


def _timed(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def shown(name: str, found: Measured) -> tuple[list[str], list[str]]:
    """A row of the table, and what was promised and missed."""
    handed = _ratio(found.hand_over, found.remember)
    learned = _ratio(found.learn, found.remember)
    row = [
        name,
        milliseconds(statistics.median(found.remember)),
        milliseconds(statistics.median(found.hand_over)),
        f"{handed:.2f}x",
        milliseconds(statistics.median(found.learn)),
        f"{learned:.2f}x",
        f"{found.turns_per_second:,.0f}",
    ]
    missed = []
    if handed > HANDED_OVER_MAX:
        missed.append(f"{name}: handing over {handed:.2f}x, target {HANDED_OVER_MAX}x")
    if learned > LEARNED_MAX:
        missed.append(f"{name}: learning {learned:.2f}x, target {LEARNED_MAX}x")
    return row, missed


def _ratio(one: list[float], other: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


def main() -> int:
    rows, missed = [], []
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        urls = {"SQLite": f"sqlite:///{folder}/learn.db"}
        server = os.environ.get("TACIT_TEST_POSTGRES")
        if server:
            databases = PostgresDatabases(server)
            stack.callback(databases.close)
            urls["PostgreSQL"] = databases.create()
            stack.callback(databases.drop, urls["PostgreSQL"])
        for name, url in urls.items():
            row, late = shown(name, measure(url))
            rows.append(row)
            missed += late
    headings = ["p50", "remember", "learn()", "/remember", "worker, a turn", "/remember", "turns/s"]
    print(table(headings, rows))
    for line in missed:
        print("MISSED", line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
