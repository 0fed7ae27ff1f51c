"""Kills workers and restarts the database server again and again, under load, and counts in the
end: what was acknowledged is there, and every task was run to its end, each step of it once.

    python bench/jobs_crash.py [--kills 50] [--restarts 20] [--seed 1]

Processes write memories, hand over turns, learn, and run tasks. On one SQLite file one of two is
killed with SIGKILL, and replaced. On PostgreSQL the server is stopped, now in the orderly way and
now as in a crash, and started again, while both go on.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sqlalchemy import text

import tacit
from bench.children import child_environment
from bench.crash import _for, _until
from bench.jobs_crash_child import ALICE, MOVED_SECONDS, STEPS, keep_count, opened
from bench.jobs_crash_server import Server, started
from tacit.memory import Memory
from tests.contract.chores import TASK, ticked

KILLS, RESTARTS = 50, 20
SPACES = tuple(f"space-{number}" for number in range(6))
_RUN_MIN_SECONDS, _RUN_MAX_SECONDS = 0.2, 1.2
_READY_MAX_SECONDS = 60.0
_SETTLED_MAX_SECONDS, _FOUND_MAX_SECONDS = 60.0, 60.0
_WRITES_BETWEEN_COUNT = 50  # two restarts
_CHILD = "from bench import jobs_crash_child; jobs_crash_child.main()"
_CRATE, _BOX = re.compile(r"Crate (\d+) "), re.compile(r"Box (\d+) ")
_MEMORIES = (
    "SELECT m.content, m.state, (SELECT count(*) FROM history h WHERE h.space_id = m.space_id "
    "AND h.memory_id = m.id AND h.event = 'TTL') FROM memories m"
)
_ENDED = "SELECT count(*) FROM job_runs WHERE space_id = :space AND task = :task AND problem IS NULL"


@dataclass(slots=True)
class Outcome:
    blows: int = 0
    acknowledged: set[int] = field(default_factory=set)
    in_flight: set[int] = field(default_factory=set)  # announced, and not acknowledged
    cut_off: int = 0  # tasks that somebody was at when it was killed, or lost the server
    runs: int = 0
    lost: list[int] = field(default_factory=list)
    twice: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not (self.lost or self.twice or self.wrong)

    def read(self, said: bytes) -> None:
        # A line that was cut off was not said: the process died before it was out.
        for line in map(json.loads, said.split(b"\n")[:-1]):
            if "intent" in line:
                self.in_flight.add(line["intent"])
            elif "done" in line:
                self.in_flight.discard(line["done"])
                self.acknowledged.add(line["done"])

    def row(self) -> tuple[str, ...]:
        counts = (self.blows, self.cut_off, len(self.acknowledged), len(self.lost),
                  len(self.twice), self.runs, self.runs * STEPS)  # fmt: skip
        return (*(f"{n:,}" for n in counts), "clean" if self.clean else "BROKEN")


class Stage:
    """A database, the clock that all share, and the processes at it."""

    def __init__(self, url: str, folder: Path, seed: int) -> None:
        self.url, self.chance, self.outcome = url, random.Random(seed), Outcome()
        self._clock_file, self._ahead, self._first = folder / "clock", 0.0, 0
        self._move(0)
        with self.memory() as memory:
            for name in SPACES:
                view = memory.space(name).view(ALICE, tacit.Chat.private(ALICE.key))
                view.remember("Sarah likes tea")

    def memory(self) -> Memory:
        return opened(self.url, self._clock_file, workers=0)

    def start(self) -> subprocess.Popen[bytes]:
        self._first += 1_000_000
        command = [sys.executable, "-c", _CHILD, self.url, str(self._clock_file), str(self._first)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=child_environment(), start_new_session=True)
        self._heard(process, _until(process, b'"ready"', _READY_MAX_SECONDS))
        return process

    def run_for(self, processes: list[subprocess.Popen[bytes]]) -> None:
        """A while, with everybody at it."""
        seconds = self.chance.uniform(_RUN_MIN_SECONDS, _RUN_MAX_SECONDS) / len(processes)
        for process in processes:
            self._heard(process, _for(process, seconds))

    def run_under_load(self, processes: list[subprocess.Popen[bytes]]) -> None:
        """Until they have found the server again, and written."""
        before, deadline = len(self.outcome.acknowledged), time.monotonic() + _FOUND_MAX_SECONDS
        while len(self.outcome.acknowledged) < before + _WRITES_BETWEEN_COUNT:
            self.run_for(processes)
            if time.monotonic() > deadline:
                self.outcome.wrong.append("the workers did not come back to the server")
                break

    def end(self, process: subprocess.Popen[bytes], number: signal.Signals) -> None:
        process.send_signal(number)
        assert process.stdout is not None
        self._heard(process, process.stdout.read())
        code = process.wait()
        process.stdout.close()
        if code not in (0, -signal.SIGKILL):
            self.outcome.wrong.append(f"a worker ended with code {code}")

    def blown(self) -> None:
        self.outcome.blows += 1
        with self.memory() as memory:
            for name in SPACES:
                standing = {one.task: one.state for one in memory.space(name).jobs.list()}
                self.outcome.cut_off += standing[TASK] == "running"
        self._move(MOVED_SECONDS)

    def settle(self) -> None:
        """What is left is done, and then everything is counted."""
        self._move(MOVED_SECONDS)
        with self.memory() as memory:
            memory.jobs.wait_for_learning()
            deadline = time.monotonic() + _SETTLED_MAX_SECONDS
            while memory.jobs.run_due() and time.monotonic() < deadline:
                pass
            check(memory, self.outcome)

    def _move(self, seconds: float) -> None:
        self._ahead += seconds
        new = self._clock_file.with_suffix(".new")
        new.write_text(str(self._ahead))
        new.replace(self._clock_file)

    def _heard(self, process: subprocess.Popen[bytes], said: bytes) -> None:
        kept = _UNFINISHED.pop(process.pid, b"") + said
        whole, _, rest = kept.rpartition(b"\n")
        _UNFINISHED[process.pid] = rest
        self.outcome.read(whole + b"\n" if whole else b"")


_UNFINISHED: dict[int, bytes] = {}  # of each process the line that is not out yet


def check(memory: Memory, outcome: Outcome) -> None:
    """Everything that is there, against everything that was promised."""
    found: Counter[int] = Counter()
    with memory._storage.database.read() as connection:
        for content, state, expired in connection.execute(text(_MEMORIES)):
            said = _CRATE.match(content) or _BOX.match(content)
            if said is None:
                continue
            found[int(said[1])] += 1
            wanted = ("expired", 1) if _CRATE.match(content) else ("active", 0)
            if (state, expired) != wanted:
                outcome.wrong.append(f"{content}: {state}, expired {expired} times")
    outcome.lost = sorted(outcome.acknowledged - found.keys())
    outcome.twice = sorted(number for number, count in found.items() if count > 1)
    invented = found.keys() - outcome.acknowledged - outcome.in_flight
    outcome.wrong += [f"{number} was never handed over" for number in sorted(invented)]
    left = memory.jobs.pending()
    if left.turns or left.parked:
        outcome.wrong.append(f"{left.turns} turns wait, {left.parked} are parked: {left.problems}")
    for name in SPACES:
        _check_task(memory.space(name), name, outcome)
    outcome.wrong += memory.admin.maintain().problems


def _check_task(memory: Memory, name: str, outcome: Outcome) -> None:
    """Each run ticks off each thing; its last step, and its end, are one transaction."""
    status = {one.task: one for one in memory.jobs.list()}[TASK]
    times = ticked(memory, name)
    with memory._storage.database.read() as connection:
        params = {"space": name, "task": TASK}
        ended = connection.execute(text(_ENDED), params).scalar_one()
    ran = status.last is not None and status.last.problem is None
    if status.state != "idle" or status.due_at is None or not ran:
        outcome.wrong.append(f"{name}: the task is {status.state}: it was lost")
    if times != [ended] * STEPS:
        outcome.wrong.append(f"{name}: {ended} runs, and things were ticked off {times} times")
    outcome.runs += ended


def kills(url: str, folder: Path, *, count: int, seed: int) -> Outcome:
    """One goes on and the other is killed, again and again."""
    stage = Stage(url, folder, seed)
    with _ended(stage) as processes:
        processes.append(stage.start())
        for _ in range(count):
            processes.append(stage.start())
            stage.run_for(processes)
            stage.end(processes.pop(), signal.SIGKILL)
            stage.blown()
    stage.settle()
    return stage.outcome


def restarts(server: Server, folder: Path, *, count: int, seed: int) -> Outcome:
    """Both go on, and the server does not."""
    stage = Stage(server.create(), folder, seed)
    with _ended(stage) as processes:
        processes += [stage.start(), stage.start()]
        for number in range(count):
            stage.run_under_load(processes)
            server.restart(crash=bool(number % 2))
            stage.blown()
    stage.settle()
    return stage.outcome


@contextmanager
def _ended(stage: Stage) -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    try:
        yield processes
    except BaseException:
        for process in processes:
            process.kill()
        raise
    for process in processes:
        stage.end(process, signal.SIGTERM)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="kills and restarts in the middle of jobs")
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--restarts", type=int, default=RESTARTS)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args(arguments)
    keep_count()
    titles = ("blows", "cut off", "acked", "lost", "twice", "runs", "steps", "verdict")
    print(f"seed {asked.seed}\n{'':<24}" + "".join(f"{title:>10}" for title in titles))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tacit-jobs-")))
        url = f"sqlite:///{folder}/tacit.db"
        clean = _told("sqlite, workers killed", kills(url, folder, count=asked.kills, seed=asked.seed))
        server = stack.enter_context(started())
        many = asked.restarts
        clean &= _told("postgresql, restarted", restarts(server, folder, count=many, seed=asked.seed))
    return int(not clean)


def _told(name: str, outcome: Outcome) -> bool:
    print(f"{name:<24}" + "".join(f"{cell:>10}" for cell in outcome.row()), flush=True)
    for line in outcome.wrong[:20]:
        print(f"  {line}")
    return outcome.clean


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
