"""Schemathesis over the whole API, on both databases: `make fuzz-api`.

Every operation of the OpenAPI document gets at least as many cases as asked for, with all checks,
and what is found is printed with the request that shows it. Nothing found is the only good result.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tacit
from tests.databases import PostgresDatabases
from tests.server.fuzzing import Fuzzed, fuzz, one_who_may_all, settings
from tests.server.http_server import served
from tests.server.worlds import UNHURRIED

PHASES = ("examples", "coverage", "fuzzing", "stateful")


def databases(folder: Path, server: str | None) -> Iterator[tuple[str, str]]:
    yield "SQLite", f"sqlite:///{folder / 'fuzz.db'}"
    if server is None:
        sys.exit("TACIT_TEST_POSTGRES is not set: run `make fuzz-api`, which brings one up")
    lent = PostgresDatabases(server)
    try:
        yield "PostgreSQL", lent.create_migrated()
    finally:
        lent.close()


def told(name: str, done: Fuzzed, least: int, seconds: float) -> bool:
    fewest = min((n for name, n in done.cases.items() if name not in done.bare), default=0)
    print(
        f"{name}: {done.operations} operations, {sum(done.cases.values()):,} cases "
        f"(at least {fewest:,} of each), {done.checks:,} checks, {len(done.findings)} findings, "
        f"{len(done.errors)} errors; {done.meant:,} refusals that no schema tells, {done.unmade:,} "
        f"requests that the tool could not make; {seconds:,.0f} s"
    )
    for finding, how in done.findings.items():
        print(f"\n  {finding}\n    {how}")
    for error in done.errors:
        print(f"\n  {error}")
    enough = len(done.cases) == done.operations and fewest >= least
    if not enough:
        print(f"  some operation had fewer than {least} cases")
    return done.clean and enough


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=100, help="cases of each operation")
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(prefix="tacit-fuzz-") as folder:
        for name, url in databases(Path(folder), os.environ.get("TACIT_TEST_POSTGRES")):
            began = time.monotonic()
            with tacit.open(url, settings=UNHURRIED, embedder=None) as memory:
                key = one_who_may_all(memory)
                with served(memory, UNHURRIED) as address:
                    config = settings(key, given.examples, PHASES, seed=given.seed)
                    done = fuzz(address, config)
            good &= told(name, done, given.examples, time.monotonic() - began)
    sys.exit(not good)


if __name__ == "__main__":
    main()
