"""Imports 10,000 things from a file of mem0's with `tacit import`, stops it in the middle again and
again, and counts in the end: everything came, and once. Then all of it is reverted as one.

    python bench/import_many.py [--count 10000]

The command is interrupted once as Ctrl-C does (SIGINT) and killed twice (SIGKILL), on a SQLite file
and on a PostgreSQL database (the server in TACIT_TEST_POSTGRES goes on).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.sentences import said
from tests.databases import PostgresDatabases

COUNT = 10_000
STOPS = (signal.SIGINT, signal.SIGKILL, signal.SIGKILL)
_TACIT = (sys.executable, "-m", "tacit.cli")
_WHO = ("--as", "telegram:1001")
_SHARE = re.compile(r"([\d,]+) of ([\d,]+)")
_REFUSED_EVERY_COUNT = 1_000  # one in so many holds a secret


class Wrong(Exception):
    """Something is not as it must be."""


def write(path: Path, count: int) -> int:
    """The file; says how many of it are to be refused."""
    refused = 0
    with path.open("w", encoding="utf-8") as file:
        for number, words in zip(range(count), said(), strict=False):
            if number % _REFUSED_EVERY_COUNT == _REFUSED_EVERY_COUNT // 2:
                words = f"The password is Tr0ub4dor&{number}"
                refused += 1
            record = {
                "id": f"{number:08x}-0000-4000-8000-000000000000",
                "memory": f"{words} ({number})",
                "created_at": f"2025-{number % 12 + 1:02}-{number % 28 + 1:02}T08:00:00Z",
                "user_id": "mara",
                "metadata": {"topic": f"topic {number % 7}"},
            }
            file.write(json.dumps(record) + "\n")
    return refused


class Command:
    """`tacit` on one database."""

    def __init__(self, url: str, file: Path, home: Path) -> None:
        self._argv = ("--db", url, *_WHO)
        self._file = file
        self._environment = {
            **os.environ,
            "HOME": str(home),
            "TACIT_EMBEDDING_PROVIDER": "none",
            "TACIT_JOBS_ON_OPEN": "false",
        }

    def ask(self, *argv: str) -> dict[str, Any]:
        ran = subprocess.run(
            [*_TACIT, *argv, *self._argv, "--json"], env=self._environment, capture_output=True, text=True, check=False
        )
        if not ran.stdout:
            raise Wrong(f"tacit {argv[0]} failed: {ran.stderr.strip()[-400:]}")
        found: dict[str, Any] = json.loads(ran.stdout)
        return found

    def take_over(self) -> dict[str, Any]:
        return self.ask("import", str(self._file), "--from", "mem0", "--yes")

    def stopped(self, how: signal.Signals, from_share: float) -> tuple[int, list[str]]:
        """How far it says it had come when it was stopped, and what it told."""
        process = subprocess.Popen(
            [*_TACIT, "import", str(self._file), "--from", "mem0", "--yes", *self._argv],
            env=self._environment,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        assert process.stderr is not None
        told: list[str] = []
        done = 0
        for line in process.stderr:
            told.append(line.strip())
            share = _SHARE.search(line)
            if share is not None:
                done, total = (int(number.replace(",", "")) for number in share.groups())
                if done >= from_share * total and process.poll() is None:
                    process.send_signal(how)
                    break
        told += [line.strip() for line in process.stderr]
        process.wait()
        if process.returncode == 0:
            raise Wrong("it was done before it could be stopped: take a larger --count")
        return done, told


def expect(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise Wrong(f"{what}: {found!r}, and not {wanted!r}")


def run(name: str, url: str, count: int, folder: Path) -> None:
    file = folder / "memories.jsonl"
    refused = write(file, count)
    good = count - refused
    tacit = Command(url, file, folder)
    started = time.perf_counter()
    for place, how in enumerate(STOPS, start=1):
        done, told = tacit.stopped(how, place / (len(STOPS) + 2))
        (one,) = tacit.ask("imports")["imports"]
        shares = [line for line in told if _SHARE.fullmatch(line)]
        print(f"{name}: it told {', '.join(shares)}", flush=True)
        print(f"{name}: {how.name}; {one['done']:,} are there", flush=True)
        if how is signal.SIGINT and not any("goes on from there" in line for line in told):
            raise Wrong("an interrupted import does not say how to go on")
        expect("what is there is whole steps", one["done"] % 200, 0)
        if not done <= one["done"] < count:
            raise Wrong(f"{one['done']:,} are there, and {done:,} were told")
        memories = tacit.ask("stats")["memories"]
        expect("memories that are there", memories, one["created"])
    rest = tacit.take_over()
    print(f"{name}: resumed: {rest['created']:,} new, {rest['already']:,} already here")
    expect("refused", rest["refused"], refused)
    expect("all of it", rest["created"] + rest["already"], good)
    expect("memories", tacit.ask("stats")["memories"], good)
    (one,) = tacit.ask("imports")["imports"]
    counts = [one[word] for word in ("created", "already", "refused", "done", "total")]
    expect("the run", counts, [good, 0, refused, count, count])
    again = tacit.take_over()
    print(f"{name}: again: {again['created']:,} new, {again['already']:,} already here")
    expect("created again", (again["created"], again["already"]), (0, good))
    print(f"{name}: {time.perf_counter() - started:.1f} s for {len(STOPS)} stops and two more runs")
    began = time.perf_counter()
    gone = tacit.ask("imports", "--revert", one["run"])
    expect("reverted", (gone["forgotten"], gone["changed"]), (good, 0))
    expect("left", tacit.ask("stats")["by_state"].get("active", 0), 0)
    seconds = time.perf_counter() - began
    print(f"{name}: reverted: {gone['forgotten']:,} forgotten as one, in {seconds:.1f} s")
    began = time.perf_counter()
    whole = tacit.take_over()
    expect("imported once more", whole["created"], good)
    seconds = time.perf_counter() - began
    print(f"{name}: in one go: {whole['created']:,} new in {seconds:.1f} s")


@contextmanager
def stores(folder: Path) -> Iterator[dict[str, str]]:
    found = {"sqlite": f"sqlite:///{folder / 'memory.sqlite'}"}
    server = os.environ.get("TACIT_TEST_POSTGRES")
    if server is None:
        print("postgresql: not tried, TACIT_TEST_POSTGRES is not set: run `make bench-import`")
        yield found
        return
    databases = PostgresDatabases(server)
    url = databases.create()
    try:
        yield found | {"postgresql": url}
    finally:
        databases.drop(url)
        databases.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=COUNT)
    count: int = parser.parse_args().count
    with tempfile.TemporaryDirectory() as name, stores(Path(name)) as urls:
        for store, url in urls.items():
            try:
                run(store, url, count, Path(name))
            except Wrong as error:
                print(f"{store}: WRONG: {error}")
                return 1
    print("everything came, and once")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
