"""How long a recall takes, and what that depends on: `make bench-recall`.

    python bench/recall_speed.py [--sizes 1000 10000 100000 1000000]

One person with 1,000 memories asks in stores of different sizes, and a group of 30 people with
2,000 memories each asks in the largest. "Without embedding" means that the question's vector was
worked out before. Each ratio is the median of the rounds' own, with what was promised beside it; a
missed one makes the exit code 1. PostgreSQL is the server in TACIT_TEST_POSTGRES.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tacit
from bench import recall_stores as stores
from bench.crowd import one_person, sentence
from bench.measure import Figure
from bench.tables import milliseconds, percentile, table
from bench.vectors import Precomputed, Vectors, default_embedder
from tacit.embeddings.embedder import Embedder
from tacit.settings import Settings
from tacit.settings.sections import JobsSettings
from tests.databases import PostgresDatabases

SIZES = (1_000, 10_000, 100_000, 1_000_000)
TOP = 10
EDGES_AT = 10_000  # memories of the person whose new memories are related to them
EDGE_MAX_MS = 2.0

_ROUNDS = 60
_COLD_ROUNDS = 3
_WARM_ROUNDS = 3
_LINKED_WRITES = 50
_UNTIDIED = Settings(jobs=JobsSettings(on_open=False))

MakeUrl = Callable[[str], str]
Act = Callable[[str], object]


@dataclass(slots=True)
class Series:
    """One thing that is measured, again and again; `first` apart, as nothing was at hand then."""

    what: str
    act: Act
    first: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def row(self) -> list[str]:
        cold = milliseconds(statistics.median(self.first)) if self.first else "-"
        shares = (milliseconds(percentile(self.times, share)) for share in (0.5, 0.95))
        return [self.what, *shares, cold]


class Asking:
    """Questions that do not repeat, so that nobody answers from a question's cache."""

    def __init__(self, embedder: Embedder, count: int) -> None:
        self._questions = [
            f"When does the {word} from {rare} take the train to Lisbon?"
            for word, rare in ((said[1], said[3]) for said in (sentence(n * 41 + 7).split() for n in range(count)))
        ]
        vectors = embedder.embed(self._questions)
        self.ready = Precomputed(self._questions, vectors, embedder.name)
        self._next = iter(self._questions)

    def question(self) -> str:
        return next(self._next)


@dataclass(slots=True)
class Bench:
    """One database: its stores, and everything that is measured on them in turns."""

    name: str
    url_of: MakeUrl
    embedder: Embedder
    sizes: Sequence[int]
    stack: ExitStack
    asking: Asking = field(init=False)
    series: dict[str, Series] = field(default_factory=dict)

    def __post_init__(self) -> None:
        turns = _ROUNDS + _WARM_ROUNDS + _COLD_ROUNDS
        self.asking = Asking(self.embedder, turns * (2 * len(self.sizes) + 6))

    def run(self) -> tuple[str, list[Figure]]:
        for size in self.sizes:
            self._add_store(size)
        smallest = _alice(self._open(self.sizes[0], self.asking.ready))
        self._add("block() of 1,000", lambda _: smallest.block())
        self._add("embedding a question alone", self.embedder.embed_query)
        self._measure()
        headings = [f"{self.name}, recall(top_k={TOP})", "p50", "p95", "first"]
        return table(headings, [one.row() for one in self.series.values()]), self._figures()

    def _add_store(self, size: int) -> None:
        largest = size == self.sizes[-1]
        begun = time.monotonic()
        stores.build(
            self.url_of(str(size)), stores.everybody(size, group=largest), self.embedder, embedded=stores.ALICE
        )
        print(f"{self.name}: {size:,} in {time.monotonic() - begun:.0f} s", file=sys.stderr)
        for embedder, how in ((self.asking.ready, "without"), (self.embedder, "with")):
            self._add_view(f"{size:,} stored, {how} embedding", size, embedder, _alice)
            if largest:
                what = f"group of 30 x 2,000, {how} embedding"
                self._add_view(what, size, embedder, _in_the_group)

    def _add_view(
        self, what: str, size: int, embedder: Embedder, view_of: Callable[[tacit.Memory], tacit.View]
    ) -> None:
        view = view_of(self._open(size, embedder))
        one = self._add(what, partial(_recalled, view))
        for _ in range(_COLD_ROUNDS):
            with tacit.open(self.url_of(str(size)), embedder=embedder) as fresh:
                act = partial(_recalled, view_of(fresh))
                one.first.append(_timed(act, self.asking.question()))

    def _open(self, size: int, embedder: Embedder) -> tacit.Memory:
        return self.stack.enter_context(tacit.open(self.url_of(str(size)), embedder=embedder))

    def _add(self, what: str, act: Act) -> Series:
        self.series[what] = Series(what, act)
        return self.series[what]

    def _measure(self) -> None:
        """In turns, in another order each time, so that a busy machine slows all alike."""
        every = list(self.series.values())
        for turn in range(-_WARM_ROUNDS, _ROUNDS):
            first = turn % len(every)
            for one in every[first:] + every[:first]:
                seconds = _timed(one.act, self.asking.question())
                if turn >= 0:
                    one.times.append(seconds)

    def _figures(self) -> list[Figure]:
        low, high = f"{self.sizes[0]:,} stored", f"{self.sizes[-1]:,} stored"
        alone, block = "embedding a question alone", "block() of 1,000"
        pairs: list[tuple[str, str, float | None]] = [
            (f"{high}, without embedding", f"{low}, without embedding", 1.5),
            (f"{low}, with embedding", alone, 3),
            (f"{high}, with embedding", alone, 3),
            ("group of 30 x 2,000, with embedding", alone, None),
            (block, f"{low}, with embedding", 2),
            (block, f"{low}, without embedding", 2),
        ]
        return [
            Figure(
                what=f"{self.name}: {ours} / {theirs}",
                ours=self.series[ours].times,
                theirs=self.series[theirs].times,
                at_most=at_most,
            )
            for ours, theirs, at_most in pairs
        ]


def edges(name: str, url: str, embedder: Embedder) -> tuple[str, bool]:
    """What one edge costs at most: whole writes, divided by the edges that they made."""
    stores.build(url, one_person(stores.LINKER, EDGES_AT), embedder, embedded=None)
    texts = [f"The {n}th thing that is much like others: {sentence(n)}" for n in range(90)]
    ready = Precomputed(texts, _near(stores.pool(embedder.dimension)[: len(texts)]), embedder.name)
    key = f"telegram:{stores.LINKER}"
    # Nobody tidies up meanwhile: a store that was just filled has much to catch up on.
    with tacit.open(url, embedder=ready, settings=_UNTIDIED) as memory:
        view = memory.view(tacit.Requester(key), tacit.Chat.private(key))
        for text in texts[_LINKED_WRITES:]:
            view.remember(text)
        before = stores.edge_count(url)
        seconds = sum(_timed(view.remember, text) for text in texts[:_LINKED_WRITES])
        made = stores.edge_count(url) - before
    if not made:
        return f"{name}: no edges were made by {_LINKED_WRITES} writes  MISSED", True
    each = seconds / made * 1e3
    bad = each > EDGE_MAX_MS
    what = f"{name}: {_LINKED_WRITES} writes at {EDGES_AT:,} memories made {made} edges"
    promised = f"target <= {EDGE_MAX_MS:g} ms  {'MISSED' if bad else 'ok'}"
    return f"{what}, {each:.2f} ms per edge  {promised}", bad


def _near(vectors: Vectors) -> Vectors:
    """Not the same, but so alike that they are related."""
    found = vectors + vectors[::-1] * 0.3
    found /= (found**2).sum(axis=1, keepdims=True) ** 0.5
    return found


def _alice(memory: tacit.Memory) -> tacit.View:
    key = f"telegram:{stores.ALICE}"
    return _view(memory, tacit.Requester(key), tacit.Chat.private(key))


def _in_the_group(memory: tacit.Memory) -> tacit.View:
    people = [tacit.Requester(f"telegram:{n}") for n in stores.GROUP.members]
    chat = tacit.Chat.group(stores.GROUP.chat, participants=people, complete=True)
    return _view(memory, people[3], chat)


def _view(memory: tacit.Memory, person: tacit.Requester, chat: tacit.Chat) -> tacit.View:
    view = memory.view(person, chat)
    assert isinstance(view, tacit.View)
    return view


def _recalled(view: tacit.View, asked: str) -> None:
    assert len(view.recall(asked, top_k=TOP)) == TOP


def _timed(act: Act, asked: str) -> float:
    start = time.perf_counter()
    act(asked)
    return time.perf_counter() - start


def urls(folder: Path, server: str | None, stack: ExitStack) -> Iterator[tuple[str, MakeUrl]]:
    """SQLite files in the folder, and databases of the server that go with the stack."""
    yield "SQLite", lambda name: f"sqlite:///{folder / name}.db"
    if server is None:
        return
    databases = PostgresDatabases(server)
    stack.callback(databases.close)
    made: dict[str, str] = {}

    def url_of(name: str) -> str:
        if name not in made:
            made[name] = databases.create()
            stack.callback(databases.drop, made[name])
        return made[name]

    yield "PostgreSQL", url_of


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="how long a recall takes")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="memories stored")
    asked = parser.parse_args(arguments)
    server = os.environ.get("TACIT_TEST_POSTGRES")
    embedder = default_embedder()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder, ExitStack() as outer:
        for name, url_of in urls(Path(folder), server, outer):
            with ExitStack() as stack:
                bench = Bench(name, url_of, embedder, sorted(asked.sizes), stack)
                text, figures = bench.run()
            print(text, end="\n\n")
            for figure in figures:
                print(figure, flush=True)
                missed += figure.missed
            line, bad = edges(name, url_of("edges"), embedder)
            print(line, end="\n\n", flush=True)
            missed += bad
    print(f"{missed} targets missed")
    if server is None:
        print("PostgreSQL was not measured, as TACIT_TEST_POSTGRES is not set: `make bench-recall`")
    return int(bool(missed) or server is None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
