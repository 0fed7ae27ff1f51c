"""How many requests one server answers, how quickly, and how much of that is the library.

    python bench/serve_load.py [--count 2000] [--soak] [--soak-count 50000]

The server is `tacit serve`, a process of its own with the settings as they are (its rate limit
apart); this process asks. On a SQLite file, and on PostgreSQL if TACIT_TEST_POSTGRES names one.
Recall goes by words: a model would be the larger part of a request, and hide the server.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tacit
from bench.serve_client import Ask, Measured, load
from bench.tables import table
from tests.databases import PostgresDatabases
from tests.server.processes import Serving, serving

PEOPLE = 10
MEMORIES = 50  # of each, before anything is measured
CONNECTIONS = (1, 8, 32)
RATIO_MIN = 0.9  # of the throughput at 32 connections to that at 8
FLAT_MAX = 1.1  # of the memory of the process at the end to that after the first fifth
SOAK_STEPS = 10
_LIBRARY_CALLS = 400
_ENVIRONMENT = {
    "TACIT_EMBEDDING_PROVIDER": "none",
    "TACIT_SERVER_RATE_PER_MINUTE": "10000000",
    "TACIT_SERVER_LOG": "json",
}
_THINGS = ("train", "garden", "kitchen", "bicycle", "library", "harbour", "violin", "market")
_PLACES = ("Lisbon", "Porto", "Hamburg", "Utrecht", "Turin", "Bergen", "Ghent", "Graz")

_numbers = itertools.count()


def sentence(number: int) -> str:
    thing, place = _THINGS[number % 8], _PLACES[number // 8 % 8]
    return f"The {thing} in {place} has the number {number} and a green door"


def person(number: int) -> str:
    return f"bench:{number % PEOPLE}"


class Asks:
    """Requests of an adapter that speaks for many people, each in private."""

    def __init__(self, token: str) -> None:
        self._token = token

    def _headers(self, number: int) -> dict[str, str]:
        return {"authorization": f"Bearer {self._token}", "x-tacit-requester": person(number)}

    def query(self) -> Ask:
        n = next(_numbers)
        body = {"query": f"the {_THINGS[n % 8]} in {_PLACES[n % 7]}"}
        return Ask(method="POST", path="/api/query", headers=self._headers(n), body=body)

    def create(self) -> Ask:
        n = next(_numbers)
        body = {"content": sentence(n), "category": "context"}
        return Ask(method="POST", path="/api/memory/?force=true", headers=self._headers(n), body=body)

    def rewrite(self) -> Ask:
        """A write that leaves as many memories as there were."""
        n = next(_numbers)
        body = {"value": sentence(n)}
        path = f"/api/items/profile/k{n // PEOPLE % 5}"
        return Ask(method="PUT", path=path, headers=self._headers(n), body=body)

    def listing(self) -> Ask:
        n = next(_numbers)
        return Ask(method="GET", path="/api/memory/?limit=10", headers=self._headers(n))


def filled(url: str) -> str:
    """People with memories, and the token of a key that speaks for them."""
    with tacit.open(url) as memory:
        for number in range(PEOPLE * MEMORIES):
            _view(memory, number).remember(sentence(next(_numbers)), category="context")
        return memory.keys.create("bench", scopes=["read", "write", "act-as"]).token


def _view(memory: tacit.Memory, number: int) -> tacit.View:
    view = memory.view(tacit.Requester(person(number)), tacit.Chat.private(person(number)))
    assert isinstance(view, tacit.View)
    return view


def library_ms(url: str) -> dict[str, float]:
    """The same calls in this process, one after the other: what a request cannot do without."""
    with tacit.open(url) as memory:
        calls: dict[str, Callable[[int], object]] = {
            "query": lambda n: _view(memory, n).query(f"the {_THINGS[n % 8]} in {_PLACES[n % 7]}"),
            "create": lambda n: _view(memory, n).remember(sentence(n), category="context"),
        }
        return {name: _median_ms(call) for name, call in calls.items()}


def _median_ms(call: Callable[[int], object]) -> float:
    took = []
    for _ in range(_LIBRARY_CALLS):
        number = next(_numbers)
        begun = time.perf_counter()
        call(number)
        took.append(time.perf_counter() - begun)
    return median(took[_LIBRARY_CALLS // 4 :]) * 1_000


def measured(url: str, name: str, count: int) -> bool:
    asks = Asks(filled(url))
    kinds = {"query": asks.query, "create": asks.create}
    found: dict[str, list[Measured]] = {}
    with serving(url, env=_ENVIRONMENT) as served:
        for kind, ask in kinds.items():
            stream = iter(ask, None)
            load(served.url, stream, connections=8, count=count // 5)  # warm
            found[kind] = [
                load(served.url, stream, connections=c, count=count // 4 if c == 1 else count) for c in CONNECTIONS
            ]
    library = library_ms(url)
    print(f"\n{name}: one process, {count} requests at each step")
    headings = ("", "connections", "a second", "p50 ms", "p99 ms", "errors")
    rows = [
        (kind, str(m.connections), f"{m.per_second:,.0f}", f"{m.slowest(0.5):.1f}",
         f"{m.slowest(0.99):.1f}", str(m.errors))
        for kind, steps in found.items()
        for m in steps
    ]  # fmt: skip
    print(table(headings, rows))
    judged = [_judged(kind, steps, library[kind]) for kind, steps in found.items()]
    return all(judged)


def _judged(kind: str, steps: list[Measured], library: float) -> bool:
    one, eight, many = steps
    ratio, share = many.per_second / eight.per_second, library / one.slowest(0.5)
    fine = ratio >= RATIO_MIN and not any(step.errors for step in steps)
    print(
        f"{kind}: 32 connections have {ratio:.2f} of the throughput of 8 (at least {RATIO_MIN}); "
        f"the library takes {library:.1f} of {one.slowest(0.5):.1f} ms, {share:.0%} of a request"
        f"{'' if fine else '  BROKEN'}"
    )
    return fine


def soaked(url: str, name: str, count: int) -> bool:
    """Memory of the process over many requests that leave as much in the database as there was.
    What SQLite keeps of the file at hand is bounded, and with its default fills for longer than
    anybody watches: here it is full at once, so that what grows beside it shows."""
    asks = Asks(filled(url))
    mixed = (make() for make in itertools.cycle((asks.query, asks.rewrite, asks.listing)))
    sizes: list[float] = []
    errors = 0
    with serving(url, env={**_ENVIRONMENT, "TACIT_DB_SQLITE_CACHE_MIB": "1"}) as served:
        for _ in range(SOAK_STEPS):
            step = load(served.url, mixed, connections=8, count=count // SOAK_STEPS)
            errors += step.errors
            sizes.append(resident_mib(served))
    grown = sizes[-1] / sizes[1]
    fine = grown <= FLAT_MAX and not errors
    shown = " ".join(f"{size:.0f}" for size in sizes)
    print(
        f"\n{name}: MiB after each {count // SOAK_STEPS:,} of {count:,} requests: {shown}; the end "
        f"is {grown:.2f} of the first fifth (at most {FLAT_MAX}), {errors} errors"
        f"{'' if fine else '  BROKEN'}"
    )
    return fine


def resident_mib(served: Serving) -> float:
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(served.process.pid)], capture_output=True, check=True)
    return int(told.stdout) / 1_024


def databases() -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory(prefix="tacit-serve-") as folder:
        yield "SQLite", f"sqlite:///{folder}/tacit.db"
    server = os.environ.get("TACIT_TEST_POSTGRES")
    if server is None:
        print("\nPostgreSQL: not tried, TACIT_TEST_POSTGRES is not set: use the target of make")
        return
    made = PostgresDatabases(server)
    try:
        url = made.create_migrated()
        yield "PostgreSQL", url
        made.drop(url)
    finally:
        made.close()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="requests of a server")
    parser.add_argument("--count", type=int, default=2_000, help="requests at each step")
    parser.add_argument("--soak", action="store_true", help="many requests, and its memory")
    parser.add_argument("--soak-count", type=int, default=50_000)
    asked = parser.parse_args(arguments)
    os.environ["TACIT_EMBEDDING_PROVIDER"] = "none"
    fine = [
        soaked(url, name, asked.soak_count) if asked.soak else measured(url, name, asked.count)
        for name, url in databases()
    ]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
