"""The whole matrix of disclosure: `make disclosure-matrix`.

First `decide` against the rules as written down a second time, over every cell of three small
worlds. Then what real queries return, on SQLite and on PostgreSQL, against `decide`. One mismatch,
or one rule that no cell reached, is a failure.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tacit.storage.backend import DatabaseOptions, migrate_schema, open_database
from tacit.storage.store import Store
from tests.databases import PostgresDatabases
from tests.policy.cells import NOW
from tests.policy.matrix import WORLDS, Tally, sample, walk
from tests.policy.oracle import RULES
from tests.policy.stored import Asked, Dice, ask, fill

STORED_COUNT, REQUEST_COUNT = 3_000, 200
QUICK_CELLS = 500_000
QUICK_STORED_COUNT, QUICK_REQUEST_COUNT = 600, 100
MEMORIES_AT_ONCE_COUNT = 2_000
SHOWN_COUNT = 5

Share = tuple[int, Sequence[int]]  # which world, and the numbers of its memories


def main() -> int:
    options = arguments()
    size = (STORED_COUNT, REQUEST_COUNT)
    if options.quick:
        size = (QUICK_STORED_COUNT, QUICK_REQUEST_COUNT)
    good = [timed("decide", lambda: decided(options.cells, options.processes))]
    good.append(timed("SQLite", lambda: on_sqlite(*size)))
    server = os.environ.get("TACIT_TEST_POSTGRES")
    if server:
        good.append(timed("PostgreSQL", lambda: on_postgres(server, *size)))
    else:
        print("PostgreSQL: NOT TRIED, run this by `make disclosure-matrix`, which starts one\n")
        good.append(False)
    print("every cell agrees" if all(good) else "FAILED")
    return 0 if all(good) else 1


def arguments() -> argparse.Namespace:
    every = sum(world.cells for world in WORLDS)
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cells", type=int, default=every, help=f"how many cells of decide; all are {every:,}")
    parser.add_argument("--quick", action="store_true", help="a small share of everything")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.quick:
        options.cells = min(options.cells, QUICK_CELLS)
    return options


def timed(name: str, work: Callable[[], Tally]) -> bool:
    start = time.perf_counter()
    tally = work()
    took = time.perf_counter() - start
    print(f"{name}: {tally.cells:,} cells in {took:.1f} s, {len(tally.mismatches):,} mismatches")
    if isinstance(tally, Asked):
        print(
            f"  {tally.requests:,} requests got {tally.returned:,} memories listed; "
            f"{tally.by_id:,} were asked for by id and {tally.glances:,} at a glance"
        )
    print(f"  {len(RULES) - len(tally.unreached)} of {len(RULES)} rules reached")
    for start_of_line in range(0, len(RULES), 6):
        line = list(RULES)[start_of_line : start_of_line + 6]
        print("  " + "".join(f"{rule:>4} {tally.rules[rule]:<10,}" for rule in line))
    for mismatch in tally.mismatches[:SHOWN_COUNT]:
        print(f"  MISMATCH {mismatch}")
    if tally.unreached:
        print(f"  UNREACHED {', '.join(tally.unreached)}")
    print()
    return not tally.mismatches and not tally.unreached


def decided(cells: int, processes: int) -> Tally:
    together = Tally()
    every = sum(world.cells for world in WORLDS)
    for world in WORLDS:
        part = min(world.cells, -(-world.cells * cells // every))
        print(f"  {part:,} of {world.cells:,} cells: {world.name}, {len(world.requests)} requests")
    with get_context("spawn").Pool(processes) as pool:
        for tally in pool.imap_unordered(walked, shares(cells / every)):
            together += tally
    return together


def shares(part: float) -> Iterator[Share]:
    for which, world in enumerate(WORLDS):
        numbers = sample(world, int(world.cells * part))
        for start in range(0, len(numbers), MEMORIES_AT_ONCE_COUNT):
            yield which, numbers[start : start + MEMORIES_AT_ONCE_COUNT]


def walked(share: Share) -> Tally:
    which, numbers = share
    return walk(WORLDS[which], numbers)


def on_sqlite(stored: int, requests: int) -> Tally:
    with tempfile.TemporaryDirectory() as folder:
        return asked_on(f"sqlite:///{folder}/matrix.db", stored, requests)


def on_postgres(server: str, stored: int, requests: int) -> Tally:
    with closing(PostgresDatabases(server)) as databases:
        url = databases.create()
        try:
            return asked_on(url, stored, requests)
        finally:
            databases.drop(url)


def asked_on(url: str, stored: int, requests: int) -> Tally:
    database = open_database(url, DatabaseOptions())
    with closing(Store(database, lambda: NOW)) as store:
        migrate_schema(database)
        dice = Dice(1)
        kept = [dice.kept(number) for number in range(stored)]
        fill(store, kept)
        return ask(store, kept, [dice.request() for _ in range(requests)], seed=1)


if __name__ == "__main__":
    sys.exit(main())
