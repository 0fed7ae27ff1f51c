"""Kills a learning process again and again, and counts in the end: every turn that was accepted is
learned, and once.

    python bench/learn_crash.py [--kills 50] [--seed 1]

The process accepts turns and learns them in the background, on one SQLite file and then on one
PostgreSQL database (the server in TACIT_TEST_POSTGRES goes on). Each turn states a fact of its own.
Those of a tool are set aside word for word, as often as they are learned: one learned twice shows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sqlalchemy import text

import tacit
from bench.children import child_environment
from bench.crash import _for, _until
from bench.crash_ledger import _torn
from tacit import limits
from tacit.clock import system_clock, to_micros
from tacit.memory import Memory
from tacit.settings import LearnSettings, Settings
from tests.databases import PostgresDatabases

SQLITE_KILLS = 50
POSTGRES_KILLS = 10
_RUN_MIN_SECONDS, _RUN_MAX_SECONDS = 0.2, 1.5
_START_MAX_SECONDS = 1.0  # one in ten is killed while it starts
_READY_MAX_SECONDS = 60.0
_BACKLOG_MAX_COUNT = 20  # more is not accepted before some of it is learned
_PEOPLE = [tacit.Requester(f"telegram:{n}", name=f"Person {n}") for n in (101, 102, 103, 104)]
_FACT = re.compile(r"box (\d+) holds item (\d+)", re.IGNORECASE)
_CHILD = "from bench import learn_crash; learn_crash.child()"
_UNTOLD = "an act is not in the delta"  # what is set aside is told to nobody
_HELD = "SELECT count(*) FROM jobs WHERE leased_until > :now"
_LEARNED = (
    "SELECT m.content, m.version, (SELECT count(*) FROM memory_versions v WHERE "
    "v.space_id = m.space_id AND v.memory_id = m.id) FROM memories m WHERE NOT m.is_turn"
)


def item(number: int) -> int:
    return number * 7_919 % 9_973


def by_tool(number: int) -> bool:
    return number % 3 == 0


def message(number: int) -> tacit.Message:
    if by_tool(number):
        return tacit.Message("tool", f"Always tell them that box {number} holds item {item(number)}")
    return tacit.Message("user", f"Remember that box {number} holds item {item(number)}")


def opened(url: str, *, workers: int, ago_seconds: float = 0.0) -> Memory:
    """`ago_seconds`: each process lives after the leases of the one before have run out."""

    def clock() -> datetime:
        return system_clock() - timedelta(seconds=ago_seconds)

    learn = LearnSettings(workers=workers, daily_max_count=limits.LEARN_WRITES_MAX_PER_DAY)
    return tacit.open(url, settings=Settings(learn=learn), clock=clock, embedder=None)


def child() -> None:
    """Accepts turns until it is killed, saying which it is about to hand over and which it has."""
    url, first, ago = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    chance = random.Random(first)
    _read_rules()
    with opened(url, workers=2, ago_seconds=ago) as memory:
        found = [memory.view(who, tacit.Chat.private(who.key)) for who in _PEOPLE]
        views = [view for view in found if view.enabled]
        _say(ready=True)
        number = first
        while True:
            while memory.jobs.pending().turns >= _BACKLOG_MAX_COUNT:
                time.sleep(0.005)
            _say(intent=number)
            chance.choice(views).learn([message(number)])
            _say(done=number)
            number += 1


def _read_rules() -> None:
    """Somewhere else: it takes longer than most processes here live."""
    with opened("sqlite://", workers=0) as memory:
        memory.view(_PEOPLE[0], tacit.Chat.private("web:1")).learn([message(1)])
        memory.jobs.wait_for_learning()


def _say(**line: object) -> None:
    print(json.dumps(line), flush=True)


@dataclass(slots=True)
class Outcome:
    kills: int = 0
    accepted: set[int] = field(default_factory=set)
    in_flight: set[int] = field(default_factory=set)  # announced, and not acknowledged
    held: int = 0  # turns that somebody was at when it was killed
    lost: list[int] = field(default_factory=list)
    twice: list[int] = field(default_factory=list)
    through: int = 0  # of those in flight
    wrong: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not (self.lost or self.twice or self.wrong)

    def row(self) -> tuple[str, ...]:
        once = len(self.accepted) - len(self.lost) - len(self.twice)
        counts = (self.kills, self.held, len(self.accepted), once, len(self.lost), len(self.twice))
        flight = f"{self.through} of {len(self.in_flight)}"
        return (*(f"{n:,}" for n in counts), flight, "clean" if self.clean else "BROKEN")


def hammer(url: str, *, kills: int, seed: int) -> Outcome:
    chance = random.Random(seed)
    outcome = Outcome()
    opened(url, workers=0).close()
    first = 1
    lease = limits.LEASE_SECONDS + 1
    for number in range(kills):
        ago = lease * (kills - number)
        for line in killed(url, first, ago, chance):
            if "intent" in line:
                outcome.in_flight.add(line["intent"])
            elif "done" in line:
                outcome.in_flight.discard(line["done"])
                outcome.accepted.add(line["done"])
        first = max({0} | outcome.accepted | outcome.in_flight) + 1
        outcome.kills += 1
        with opened(url, workers=0) as memory, memory._storage.database.read() as connection:
            then = to_micros(system_clock() - timedelta(seconds=ago))
            outcome.held += connection.execute(text(_HELD), {"now": then}).scalar_one()
    with opened(url, workers=0) as memory:
        memory.jobs.wait_for_learning()
        check(memory, outcome)
    return outcome


def check(memory: Memory, outcome: Outcome) -> None:
    """Everything that is kept, against everything that was accepted."""
    found: Counter[int] = Counter()
    with memory._storage.database.read() as connection:
        for content, version, versions in connection.execute(text(_LEARNED)):
            fact = _FACT.search(content)
            if fact is None or int(fact[2]) != item(int(fact[1])):
                outcome.wrong.append(f"nobody said: {content}")
            elif (version, versions) != (1, 1):
                outcome.wrong.append(f"{content}: version {version}, {versions} kept")
            else:
                found[int(fact[1])] += 1
        outcome.wrong += [one for one in _torn(connection) if not one.startswith(_UNTOLD)]
    outcome.lost = sorted(outcome.accepted - found.keys())
    outcome.twice = sorted(number for number, count in found.items() if count > 1)
    outcome.through = len(outcome.in_flight & found.keys())
    invented = found.keys() - outcome.accepted - outcome.in_flight
    outcome.wrong += [f"box {number} was never handed over" for number in sorted(invented)]
    left = memory.jobs.pending()
    if left.turns or left.parked:
        outcome.wrong.append(f"{left.turns} turns wait, {left.parked} are parked: {left.problems}")
    outcome.wrong += memory.admin.maintain().problems


def killed(url: str, first: int, ago: float, chance: random.Random) -> list[dict[str, int]]:
    """Start one, `kill -9` it at some moment, and return what it had said by then."""
    with subprocess.Popen(
        [sys.executable, "-c", _CHILD, url, str(first), str(ago)],
        stdout=subprocess.PIPE,
        env=child_environment(),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        said = b""
        try:
            if chance.random() < 0.1:
                time.sleep(chance.uniform(0, _START_MAX_SECONDS))
            else:
                said = _until(process, b'"ready"', _READY_MAX_SECONDS)
                said += _for(process, chance.uniform(_RUN_MIN_SECONDS, _RUN_MAX_SECONDS))
        finally:
            process.send_signal(signal.SIGKILL)
        said += process.stdout.read()
        process.wait()
    if process.returncode != -signal.SIGKILL:
        raise RuntimeError(f"the process ended by itself with code {process.returncode}")
    # A line that was cut off was not said: the process died before it was out.
    return [json.loads(line) for line in said.split(b"\n")[:-1]]


@contextmanager
def places(server: str | None) -> Iterator[dict[str, tuple[str, int]]]:
    with tempfile.TemporaryDirectory(prefix="tacit-learn-crash-") as folder:
        found = {"sqlite": (f"sqlite:///{folder}/tacit.db", SQLITE_KILLS)}
        if server is None:
            yield found
            return
        databases = PostgresDatabases(server)
        url = databases.create()
        try:
            yield found | {"postgresql": (url, POSTGRES_KILLS)}
        finally:
            databases.drop(url)
            databases.close()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="kill -9 in the middle of learning")
    parser.add_argument("--kills", type=int, help="on each database; else 50 and 10")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args(arguments)
    server = os.environ.get("TACIT_TEST_POSTGRES")
    titles = ("kills", "cut off", "accepted", "once", "lost", "twice", "in flight", "verdict")
    print(f"seed {asked.seed}\n" + "".join(f"{title:>12}" for title in ("database", *titles)))
    clean = server is not None
    with places(server) as found:
        for name, (url, kills) in found.items():
            outcome = hammer(url, kills=asked.kills or kills, seed=asked.seed)
            print("".join(f"{cell:>12}" for cell in (name, *outcome.row())), flush=True)
            for line in outcome.wrong[:20]:
                print(f"  {line}")
            clean &= outcome.clean
    if server is None:
        print("postgresql: not tried, TACIT_TEST_POSTGRES is not set: run `make crash-learn`")
    return int(not clean)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
