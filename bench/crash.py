"""Kills a writing process again and again, and looks each time whether a promise was broken.

    python bench/crash.py [--kills 50] [--seed 1]

The process that is killed is the application: it writes through the public API to one SQLite file,
and then to one PostgreSQL database (the server in TACIT_TEST_POSTGRES goes on).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tacit
from bench.children import child_environment
from bench.crash_ledger import Ledger, Line
from tests.databases import PostgresDatabases

SQLITE_KILLS = 50
POSTGRES_KILLS = 20
_RUN_MAX_SECONDS = 0.6  # how long a process may write before it is killed
_START_MAX_SECONDS = 1.0  # one in ten is killed while it starts
_READY_MAX_SECONDS = 60.0
_WORKER = "from bench import crash_worker; crash_worker.main()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    kills: int
    acknowledged: int
    whole: int  # writes in flight that came through
    absent: int  # writes in flight that did not
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        verdict = "nothing lost, nothing torn, integrity clean" if not self.wrong else "BROKEN"
        return (
            f"{self.kills} kills, {self.acknowledged:,} acknowledged writes; in flight "
            f"{self.whole} came through whole, {self.absent} not at all: {verdict}"
        )


def hammer(url: str, *, kills: int, seed: int) -> Outcome:
    """Stops at the first broken promise: what follows from it would only confuse."""
    chance = random.Random(seed)
    ledger = Ledger()
    wrong: list[str] = []
    tacit.open(url).close()
    done = 0
    for number in range(kills):
        lines = killed(url, seed * 1_000 + number, chance)
        intent = ledger.read(lines)
        done += 1
        with tacit.open(url) as memory:
            wrong = ledger.check(memory, intent)
        if wrong:
            break
    return Outcome(
        kills=done,
        acknowledged=ledger.acknowledged,
        whole=ledger.in_flight["whole"],
        absent=ledger.in_flight["absent"],
        wrong=tuple(wrong),
    )


def killed(url: str, seed: int, chance: random.Random) -> list[Line]:
    """Start a writer, `kill -9` it at some moment, and return what it had said by then."""
    environment = child_environment()
    with subprocess.Popen(
        [sys.executable, "-c", _WORKER, url, str(seed)], stdout=subprocess.PIPE, env=environment, start_new_session=True
    ) as process:
        assert process.stdout is not None
        said = b""
        try:
            if chance.random() < 0.1:
                time.sleep(chance.uniform(0, _START_MAX_SECONDS))
            else:
                # Every second one is killed only after a write was acknowledged, however slow.
                awaited = b'"done"' if chance.random() < 0.5 else b'"ready"'
                said = _until(process, awaited, _READY_MAX_SECONDS)
                said += _for(process, chance.uniform(0, _RUN_MAX_SECONDS))
        finally:
            process.send_signal(signal.SIGKILL)
        said += process.stdout.read()
        process.wait()
    if process.returncode != -signal.SIGKILL:
        raise RuntimeError(f"the writer ended by itself with code {process.returncode}")
    # A line that was cut off was not said: the process died before it was out.
    return [json.loads(line) for line in said.split(b"\n")[:-1]]


def _until(process: subprocess.Popen[bytes], word: bytes, most_seconds: float) -> bytes:
    said = b""
    deadline = time.monotonic() + most_seconds
    while word not in said:
        if time.monotonic() > deadline or process.poll() is not None:
            raise RuntimeError("the writer did not start")
        said += _for(process, 0.05)
    return said


def _for(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """Read along, so that a full pipe never makes the writer wait."""
    assert process.stdout is not None
    said = b""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([process.stdout], [], [], left)
        if ready:
            chunk = os.read(process.stdout.fileno(), 65_536)
            if not chunk:
                break
            said += chunk
    return said


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="kill -9 in the middle of writes")
    parser.add_argument("--kills", type=int, help="on each database; else 50 and 20")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args(arguments)
    outcomes: list[Outcome] = []

    def report(name: str, url: str, kills: int) -> None:
        outcome = hammer(url, kills=asked.kills or kills, seed=asked.seed)
        print(f"{name}: {outcome} (seed {asked.seed})", flush=True)
        for line in outcome.wrong[:20]:
            print(f"  {line}")
        outcomes.append(outcome)

    with tempfile.TemporaryDirectory(prefix="tacit-crash-") as folder:
        report("sqlite", f"sqlite:///{folder}/tacit.db", SQLITE_KILLS)
    server = os.environ.get("TACIT_TEST_POSTGRES")
    if server is None:
        print("postgresql: not tried, TACIT_TEST_POSTGRES is not set: run `make crash`")
        return 1
    databases = PostgresDatabases(server)
    url = databases.create()
    try:
        report("postgresql", url, POSTGRES_KILLS)
    finally:
        databases.drop(url)
        databases.close()
    return int(any(outcome.wrong for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
