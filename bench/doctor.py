"""Whether the doctor's round costs by the memory, however many there are: `make bench-doctor`.

    python bench/doctor.py [--sizes 10000 100000]

Two stores on each database, alike but for their size, are looked through in turns. The ratio is
that of the times per memory; a missed one makes the exit code 1. PostgreSQL is the server in
TACIT_TEST_POSTGRES.
"""

from __future__ import annotations

import argparse
import os
import string
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

import tacit
from bench import filling
from bench import recall_stores as stores
from bench.measure import Figure
from bench.vectors import Precomputed
from tacit.lifecycle.doctor.examination import CHECKS
from tacit.memory import Memory
from tests.databases import PostgresDatabases

SIZES = (10_000, 100_000)
AT_MOST = 1.3

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_ROUNDS = 5
_DIMENSION = 16  # the doctor looks at where vectors are, and not at what they are

MakeUrl = Callable[[str], str]


def _in_order(n: int) -> str:
    """Ids of one time are neighbours, as `tacit.storage.spaces` makes them; elsewhere in the benchmarks
    they are spread, which no real store is, and a round in their order would read at random."""
    letters = []
    for _ in range(8):
        n, rest = divmod(n, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return "".join(reversed(letters))


def measured(name: str, url_of: MakeUrl, sizes: tuple[int, int]) -> Figure:
    embedder = Precomputed([], np.empty((0, _DIMENSION), np.float32))
    opened: list[tuple[Memory, int]] = []
    for size in sizes:
        url = url_of(f"doctor{size}")
        stores.build(url, stores.everybody(size, group=False), embedder, embedded=None)
        memory = tacit.open(url, embedder=embedder)
        memory.admin.doctor(repair=True)  # rows were copied from a memory that is not indexed yet itself
        found = memory.admin.doctor()
        assert not found.findings, found
        opened.append((memory, size))
    times: dict[int, list[float]] = {size: [] for size in sizes}
    for turn in range(_ROUNDS):
        for memory, size in opened if turn % 2 else reversed(opened):
            started = time.perf_counter()
            memory.admin.doctor()
            times[size].append((time.perf_counter() - started) / size)
    _tell_slowest(opened[-1][0])
    for memory, _ in opened:
        memory.close()
    small, large = sizes
    what = f"doctor per memory, {large:,} against {small:,} ({name})"
    return Figure(what=what, ours=times[large], theirs=times[small], at_most=AT_MOST)


def _tell_slowest(memory: Memory) -> None:
    took: list[tuple[float, str]] = []
    for check in CHECKS:
        started = time.perf_counter()
        memory.admin.doctor(checks=[check.name])
        took.append((time.perf_counter() - started, check.name))
    slowest = sorted(took, reverse=True)[:5]
    print("  slowest:", ", ".join(f"{name} {seconds:.2f} s" for seconds, name in slowest))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs=2, default=SIZES)
    small, large = parser.parse_args().sizes
    sizes = (small, large)
    os.environ["TACIT_EMBEDDING_PROVIDER"] = "none"  # stores are filled past any model
    filling._id = _in_order
    server = os.environ.get("TACIT_TEST_POSTGRES")
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        figures.append(measured("SQLite", lambda file: f"sqlite:///{folder}/{file}.db", sizes))
        print(figures[-1], flush=True)
    if server:
        databases = PostgresDatabases(server)
        made: list[str] = []

        def url_of(_: str) -> str:
            made.append(databases.create())
            return made[-1]

        figures.append(measured("PostgreSQL", url_of, sizes))
        print(figures[-1], flush=True)
        for url in made:
            databases.drop(url)
        databases.close()
    return 1 if any(one.missed for one in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
