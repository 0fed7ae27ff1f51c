"""Tacit beside other memory systems, doing the same in the same minutes: `make bench-peers`.

    python bench/peers.py [--sizes 1000 10000 100000]

The same sentences, users, questions and vectors for all, and nobody computes a vector while it is
timed. The others live in an environment of their own that is made for the run. Everybody takes
turns in small rounds, in another order each time, so that a busy machine slows all alike. A ratio
is the median of the rounds' own. PostgreSQL is the server in TACIT_TEST_POSTGRES; it runs
without fsync, for ours and theirs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sqlalchemy import make_url

from bench import peers_env
from bench.peers_parties import TOP, Corpus, Ours, OursInFull, Party, PeerStopped, Theirs
from bench.tables import milliseconds, table
from tests.databases import PostgresDatabases

SIZES = (1_000, 10_000, 100_000)
USERS = 20
QUESTIONS = 200
WRITES_PER_ROUND = 10
AHEAD_FROM = 10_000  # items; below, the ratios are for information
SQLITE, POSTGRES, IN_FULL = "Tacit, SQLite", "Tacit, PostgreSQL", "Tacit, SQLite, synchronous=full"
MEMORY = "LangGraph InMemoryStore"
SQLITE_VEC = "LangGraph SqliteStore (sqlite-vec)"
PGVECTOR = "LangGraph PostgresStore (pgvector)"
# As it comes, it filters what an index nominates, and finds two of the ten that were asked for. So
# its searches are compared where they find all ten, and its writes as it comes; the other two
# ratios are printed and promise nothing.
EXACT = "LangGraph PostgresStore, without index"
CHROMA = "chromadb (persistent)"
# Each of theirs beside ours on the same kind of database.
BESIDE = {MEMORY: SQLITE, SQLITE_VEC: SQLITE, CHROMA: SQLITE, PGVECTOR: POSTGRES, EXACT: POSTGRES}

_UNPROMISED = {(PGVECTOR, "search"), (EXACT, "write")}
_ROUNDS = 10
_NO_EXTENSIONS = (
    "no Python was found that loads SQLite extensions (`sqlite3.Connection.enable_load_extension`);"
    " install the system's python3, or set PATH so that such a one is on it"
)


@dataclass(slots=True)
class Measured:
    """One system at one size: seconds, by round."""

    fill: float = 0.0
    searches: list[list[float]] = field(default_factory=list)
    writes: list[list[float]] = field(default_factory=list)
    after: list[list[float]] = field(default_factory=list)  # a search right after a write
    found: list[int] = field(default_factory=list)


def ratio(theirs: Sequence[Sequence[float]], ours: Sequence[Sequence[float]]) -> float | None:
    """How many times as long theirs takes; None where one of them was not measured."""
    pairs = [(a, b) for a, b in zip(theirs, ours, strict=False) if a and b]
    if not pairs:
        return None
    return statistics.median(statistics.median(a) / statistics.median(b) for a, b in pairs)


class Comparison:
    """All systems side by side. One that stops is left out from there on, and named."""

    def __init__(self, corpus: Corpus, parties: Sequence[Party], spare: int) -> None:
        self._corpus = corpus
        self._parties = list(parties)
        self._spare = spare  # the number of the first item that is kept for single writes
        self.stopped: dict[str, str] = {}

    def measure(self, start: int, stop: int, settle: Callable[[], None]) -> dict[str, Measured]:
        found = {party.name: Measured() for party in self._parties}

        def fill(party: Party) -> None:
            found[party.name].fill = party.fill(start, stop)

        self._each(0, fill)
        settle()
        self._each(0, lambda party: party.search(range(USERS)))
        for turn in range(_ROUNDS):
            asked = range(turn * USERS, turn * USERS + USERS)
            self._each(turn, partial(_search, asked=asked, into=found))
        for turn in range(_ROUNDS):
            pairs = list(self._pairs())
            self._each(turn, partial(_write, pairs=pairs, into=found))
        return {party.name: found[party.name] for party in self._parties}

    def _each(self, turn: int, act: Callable[[Party], object]) -> None:
        first = turn % len(self._parties)
        for party in self._parties[first:] + self._parties[:first]:
            try:
                act(party)
            except PeerStopped as stopped:
                self.stopped[party.name] = str(stopped)
        self._parties = [party for party in self._parties if party.name not in self.stopped]

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Items that nobody has yet, each with a question of the same user."""
        for number in range(self._spare, self._spare + WRITES_PER_ROUND):
            yield number, number % USERS
        self._spare += WRITES_PER_ROUND


def _search(party: Party, asked: Sequence[int], into: dict[str, Measured]) -> None:
    times, found = party.search(asked)
    into[party.name].searches.append(times)
    into[party.name].found += found


def _write(party: Party, pairs: Sequence[tuple[int, int]], into: dict[str, Measured]) -> None:
    writes, after = party.write(pairs)
    into[party.name].writes.append(writes)
    into[party.name].after.append(after)


def shown(size: int, found: dict[str, Measured]) -> tuple[str, list[str]]:
    """The table of one size, and what was promised and missed."""
    rows, missed = [], []
    for name, one in found.items():
        ours = found.get(BESIDE.get(name, ""), Measured())
        ratios = [ratio(one.searches, ours.searches), ratio(one.writes, ours.writes)]
        in_full = None
        if BESIDE.get(name) == SQLITE and IN_FULL in found:
            in_full = ratio(one.writes, found[IN_FULL].writes)
        if size >= AHEAD_FROM:
            missed += [
                f"{name}, {act}, {size:,} items: {found_ratio:.2f}x, target > 1x"
                for act, found_ratio in zip(("search", "write"), ratios, strict=True)
                if found_ratio is not None and found_ratio <= 1 and (name, act) not in _UNPROMISED
            ]
        mean = f"{statistics.mean(one.found):.1f}" if one.found else "-"
        cells = [_p50(one.searches), _times(ratios[0]), mean, _p50(one.after)]
        cells += [_p50(one.writes), _times(ratios[1]), _times(in_full), f"{one.fill:.1f} s"]
        rows.append([name, *cells])
    headings = [f"{size:,} items, {USERS} users, p50", f"search top {TOP}", "theirs/ours", "found"]
    headings += ["after a write", "one write", "theirs/ours", "/full", "filled in"]
    return table(headings, rows), missed


def _p50(rounds: Sequence[Sequence[float]]) -> str:
    flat = [seconds for times in rounds for seconds in times]
    return milliseconds(statistics.median(flat)) if flat else "-"


def _times(found: float | None) -> str:
    return "-" if found is None else f"{found:.2f}x"


def compare(folder: Path, server: str | None, sizes: Sequence[int]) -> list[str]:
    """Prints the tables; returns what was missed."""
    spare = _ROUNDS * WRITES_PER_ROUND * len(sizes)
    corpus = Corpus.made(max(sizes) + spare, QUESTIONS, USERS)
    corpus.save(folder)
    environment = peers_env.build(folder / "environment")
    missed: list[str] = []
    with ExitStack() as stack:
        urls = _databases(server, stack)
        parties, absent = _parties(folder, urls, corpus, environment, stack)
        comparison = Comparison(corpus, parties, max(sizes))
        for start, stop in zip((0, *sizes), sizes, strict=False):
            found = comparison.measure(start, stop, lambda: _settle(urls))
            text, late = shown(stop, found)
            print(text, end="\n\n", flush=True)
            missed += late
    for name, why in {**absent, **comparison.stopped}.items():
        print(f"{name} could not run here: {why}")
    return missed


def _databases(server: str | None, stack: ExitStack) -> list[str]:
    """One for ours and one for each of theirs."""
    if server is None:
        return []
    databases = PostgresDatabases(server)
    stack.callback(databases.close)
    urls = [databases.create() for _ in range(3)]
    for url in urls:
        stack.callback(databases.drop, url)
    return urls


def _parties(
    folder: Path, urls: Sequence[str], corpus: Corpus, environment: peers_env.Environment, stack: ExitStack
) -> tuple[list[Party], dict[str, str]]:
    file = folder / "tacit.db"
    found: list[Party] = [
        Ours(SQLITE, f"sqlite:///{file}", corpus),
        OursInFull(IN_FULL, file, folder / "full.db", corpus),
    ]
    absent: dict[str, str] = {}
    wanted = [(MEMORY, "memory", ""), (SQLITE_VEC, "sqlite", ""), (CHROMA, "chromadb", "")]
    if urls:
        found.insert(1, Ours(POSTGRES, urls[0], corpus))
        wanted.append((PGVECTOR, "postgres", _plain(urls[1])))
        wanted.append((EXACT, "postgres-exact", _plain(urls[2])))
    else:
        absent[PGVECTOR] = "TACIT_TEST_POSTGRES is not set: run `make bench-peers`"
    for name, system, url in wanted:
        if system == "sqlite" and not environment.loads_extensions:
            absent[name] = _NO_EXTENSIONS
            continue
        try:
            found.append(Theirs(name, system, environment.python, folder, url, durable=system != "memory"))
        except PeerStopped as stopped:
            absent[name] = str(stopped)
    for party in found:
        stack.callback(party.close)
    return found, absent


def _settle(urls: Sequence[str]) -> None:
    """What a server would do by itself in its own time, done before anything is timed."""
    import psycopg

    for url in urls:
        with psycopg.connect(_plain(url), autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")
    os.sync()  # or whoever writes next waits for what the disk still has to do


def _plain(url: str) -> str:
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Tacit beside other memory systems")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="items in all")
    asked = parser.parse_args(arguments)
    server = os.environ.get("TACIT_TEST_POSTGRES")
    with tempfile.TemporaryDirectory(prefix="tacit-bench-peers-") as folder:
        try:
            missed = compare(Path(folder), server, sorted(asked.sizes))
        except peers_env.CannotInstall as failed:
            print(f"The other systems could not be installed: {failed}", file=sys.stderr)
            return 2
    for line in missed:
        print(f"MISSED {line}")
    if max(asked.sizes) < AHEAD_FROM:
        print(f"No targets were checked: they begin at {AHEAD_FROM:,} items")
    else:
        print(f"{len(missed)} targets missed: ahead of each from {AHEAD_FROM:,} items on")
    return int(bool(missed) or server is None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
