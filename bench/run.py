"""Measures what was promised, as ratios within one run: `make bench`.

    python bench/run.py [--full]

Each line says what was measured, both times, their ratio, and the target. A missed target makes
the exit code 1. PostgreSQL is the server in TACIT_TEST_POSTGRES.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import embedded, listing
from bench.measure import Figure

SQLITE_OTHERS = 1_000_000
POSTGRES_OTHERS = 200_000
POSTGRES_OTHERS_FULL = 1_000_000


def figures(folder: Path, server: str | None, *, full: bool) -> Iterator[Figure]:
    yield embedded.remember_against_bare(folder)
    yield embedded.get_against_bare(folder)
    yield from embedded.import_against_sqlalchemy()
    if server is not None:
        count = POSTGRES_OTHERS_FULL if full else POSTGRES_OTHERS
        yield from listing.on_postgres(server, count)
    yield from listing.on_sqlite(folder, SQLITE_OTHERS)


def shown(found: Iterable[Figure]) -> list[Figure]:
    kept = []
    for figure in found:
        print(figure, flush=True)
        kept.append(figure)
    return kept


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="measure, and print ratios")
    parser.add_argument("--full", action="store_true", help="a million others on PostgreSQL too, not 200,000")
    asked = parser.parse_args(arguments)
    server = os.environ.get("TACIT_TEST_POSTGRES")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
        kept = shown(figures(Path(folder), server, full=asked.full))
    missed = [figure for figure in kept if figure.missed]
    print(f"{len(kept)} figures in {time.monotonic() - start:.0f} s, {len(missed)} targets missed")
    if server is None:
        print("PostgreSQL was not measured, TACIT_TEST_POSTGRES is not set: run `make bench`")
    return int(bool(missed) or server is None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
