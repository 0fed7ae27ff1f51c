"""A year of fifty people with two thousand memories each, on a clock that is set, on each database:
daily sweeps and purges while people recall, remember, pin, forget and restore.

    python bench/year.py [--people 50] [--each 2000] [--days 365]

The simulation keeps its own books and holds the store to them: nothing expired is ever recalled,
nothing pinned is lost, what was forgotten comes back until it is purged and not after, a clock that
leaps a year ages nothing, and the store stays within bounds. PostgreSQL is the server in
TACIT_TEST_POSTGRES, without fsync.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sqlalchemy import text

import tacit
from bench.crowd import sentence
from bench.tables import table
from bench.year_store import Known, fill, view_of
from tacit import limits
from tacit.clock import from_micros
from tacit.lifecycle.clock_guard import WAITS_FOR_CLOCK
from tacit.lifecycle.expiry import build_expire_task
from tacit.lifecycle.purge import build_purge_task
from tacit.lifecycle.tasks import StepProgress, TaskStep
from tacit.settings import JobsSettings, LearnSettings, LifecycleSettings, Settings
from tests.databases import PostgresDatabases

_STEP_PARTS = 8  # steps of a sweep that has nothing to do, at most
_WRITES, _RECALLS, _PINS, _FORGETS = 20, 10, 1, 4  # a day
_RECALLS_EACH = 5  # of one person, one after the other
_TTL_KINDS = tuple(limits.KIND_TTL_DAYS)


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 4, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class Tally:
    recalled: int = 0
    restored: int = 0
    refused: int = 0  # restores of what is purged
    written: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    steps: int = 0
    longest_run: int = 0  # steps
    slowest_step: float = 0.0  # seconds
    upkeep: float = 0.0  # seconds of sweeps and purges
    wrong: list[str] = field(default_factory=list)

    def check(self, good: bool, what: str) -> None:
        if not good:
            self.wrong.append(what)


class Year:
    def __init__(self, url: str, people: int, each: int) -> None:
        self.clock, self.chance, self.tally = Clock(), random.Random(7), Tally()
        self.people, self.each = people, each
        settings = Settings(
            lifecycle=LifecycleSettings(max_entries=each),
            learn=LearnSettings(workers=0),
            jobs=JobsSettings(on_open=False),
        )
        self.memory = tacit.open(url, clock=self.clock, settings=settings, embedder=None)
        self.known = fill(url, self.memory, self.clock.now, people, each, self.chance)
        self.filled = len(self.known)
        self.ids = list(self.known)
        self.forgotten: dict[str, datetime] = {}  # by people, and when
        self.purged: set[str] = set()

    def close(self) -> None:
        self.memory.close()

    def day(self, number: int) -> None:
        self.clock.now += timedelta(days=1)
        self._live(number)
        self._upkeep()
        self._ask()

    def _live(self, number: int) -> None:
        chance = self.chance
        for n in range(_WRITES):
            person = chance.randrange(self.people)
            kind = chance.choice((*_TTL_KINDS, "knowledge", "preference"))
            lasts = limits.KIND_TTL_DAYS.get(kind)
            importance = chance.choice((1, 2, 3, 4))
            words = sentence(10_000_000 + number * _WRITES + n)
            done = view_of(self.memory, person).remember(words, kind=kind, importance=importance)
            expires = None if lasts is None else self.clock.now + timedelta(days=lasts)
            self.known[done.id] = Known(person, expires, False)
            self.ids.append(done.id)
            self.tally.written += 1
        for _ in range(_PINS):
            if (id := self._some_active()) is not None:
                view_of(self.memory, self.known[id].person).pin(id)
                self.known[id].pinned = True
        for _ in range(_FORGETS):
            id = self._some_active()
            if id is not None and not self.known[id].pinned:
                view_of(self.memory, self.known[id].person).forget(id)
                self.forgotten[id] = self.clock.now
        self._restore()

    def _some_active(self) -> str | None:
        for _ in range(20):
            id = self.chance.choice(self.ids)
            if id in self._active({id}):
                return id
        return None

    def _active(self, ids: set[str]) -> set[str]:
        """As the store has them, and not lapsed by our own books."""
        found = self._rows("id", "state = 'active'", ids)
        return {id for id in found if not self._lapsed(id)}

    def _lapsed(self, id: str) -> bool:
        expires = self.known[id].expires_at
        return expires is not None and expires <= self.clock.now

    def _rows(self, what: str, where: str, ids: set[str]) -> list[Any]:
        names = {f"i{n}": id for n, id in enumerate(sorted(ids))}
        listed = ", ".join(f":{name}" for name in names)
        query = f"SELECT {what} FROM memories WHERE space_id = 'default' AND {where}"
        with self.memory._storage.database.read() as connection:
            return list(connection.execute(text(f"{query} AND id IN ({listed})"), names).scalars())

    def _restore(self) -> None:
        """One that may come back, and one that is long gone."""
        now, tally = self.clock.now, self.tally
        young = [id for id, at in self.forgotten.items() if now - at < timedelta(days=30)]
        old = [id for id, at in self.forgotten.items() if now - at > timedelta(days=31)]
        if young:
            id = self.chance.choice(young)
            view_of(self.memory, self.known[id].person).restore(id)
            tally.check(id in self._rows("id", "state = 'active'", {id}), "a restore did nothing")
            if self._lapsed(id):  # it has its time again, by its kind
                until = self._rows("expires_at", "1 = 1", {id})[0]
                self.known[id].expires_at = None if until is None else from_micros(until)
            del self.forgotten[id]
            tally.restored += 1
        if old:
            id = self.chance.choice(old)
            try:
                view_of(self.memory, self.known[id].person).restore(id)
                tally.check(False, "a restore after the purge")
            except tacit.NotFound:
                tally.refused += 1
            del self.forgotten[id]

    def _upkeep(self) -> dict[str, int]:
        store, policy = self.memory._storage, self.memory._runtime.upkeep
        done: dict[str, int] = {}
        for work in (build_expire_task(store, policy), build_purge_task(store, policy)):
            for what, count in self._run(work).items():
                done[what] = done.get(what, 0) + count
                self.tally.counts[what] = self.tally.counts.get(what, 0) + count
        return done

    def _run(self, work: TaskStep) -> dict[str, int]:
        """As the engine would run it, step by step."""
        after, steps, tally = StepProgress(), 0, self.tally
        while True:
            begun = time.perf_counter()
            after = work("default", after, lambda _c, _p: None)
            took = time.perf_counter() - begun
            tally.slowest_step = max(tally.slowest_step, took)
            tally.upkeep += took
            steps += 1
            if after.cursor is None:
                break
        rows = sum(after.counts.values())
        cap = _STEP_PARTS + rows // limits.SWEEP_BATCH_COUNT + self.people // 50
        tally.check(steps <= cap, f"{steps} steps for {rows} rows")
        tally.steps += steps
        tally.longest_run = max(tally.longest_run, steps)
        return dict(after.counts)

    def _ask(self) -> None:
        for n in range(_RECALLS):
            if n % _RECALLS_EACH == 0:
                person = self.chance.randrange(self.people)
            words = sentence(self.chance.randrange(10_000_000))
            for one in view_of(self.memory, person).recall(words, top_k=10):
                self.tally.recalled += 1
                fact = self.known[one.memory.id]
                self.tally.check(fact.person == person, "recalled by somebody else")
                self.tally.check(one.memory.id not in self.forgotten, "recalled though forgotten")
                lapsed = self._lapsed(one.memory.id)
                self.tally.check(not lapsed, "recalled though expired")

    def leap(self) -> None:
        """A year ahead, a year back, and home again. After a clock that went back, whatever was
        forgotten lately has its whole time once more."""
        right = self.clock.now
        for days, waits in ((365, 2), (-365, 2), (0, 0)):
            self.clock.now = right + timedelta(days=days)
            done = self._upkeep().get(WAITS_FOR_CLOCK, 0)
            self.tally.check(done == waits, f"{done} of 2 wait after a leap of {days} days")
        for id, at in self.forgotten.items():
            if right - at < timedelta(days=limits.RESTORABLE_DAYS):
                self.forgotten[id] = right

    def run(self, days: int) -> None:
        self._upkeep()  # the first one, in a new space
        for number in range(days):
            self.day(number)
            if number == days // 2:
                self.leap()

    def finish(self) -> list[list[str]]:
        """The books against the store."""
        tally, one = self.tally, self._number
        pinned = {id for id, fact in self.known.items() if fact.pinned and fact.expires_at is None}
        held: set[str] = set()
        ordered = sorted(pinned)
        for start in range(0, len(ordered), 500):
            some = set(ordered[start : start + 500])
            held |= set(self._rows("id", "state = 'active'", some))
        tally.check(held == pinned, f"{len(pinned - held)} pinned are lost")
        rows, active = one("1 = 1"), one("state = 'active'")
        purged = tally.counts.get("purged", 0)
        tally.check(rows == self.filled + tally.written - purged, "rows do not add up")
        overdue = one(f"purge_at <= {int(self.clock.now.timestamp() * 1e6)}")
        tally.check(overdue == 0, f"{overdue} should be purged")
        # Active ones up to the cap, those too young to give way, pins, and a month of the rest.
        retired = one("state IN ('forgotten', 'expired')")
        young = limits.EVICTION_MIN_AGE_DAYS * (_WRITES + 2)
        bound = self.people * self.each + young + len(pinned)
        tally.check(active <= bound, f"{active} active, at most {bound}")
        problems = self.memory.admin.maintain().problems
        tally.check(not problems, f"maintain: {', '.join(problems)}")
        told = {what: f"{count:,}" for what, count in sorted(tally.counts.items())}
        return [
            ["filled, and written through the API", f"{self.filled:,} + {tally.written:,}"],
            *[[f"  {what}", count] for what, count in told.items()],
            ["recalled, none of them expired", f"{tally.recalled:,}"],
            ["restored; refused because purged", f"{tally.restored:,}; {tally.refused:,}"],
            ["pinned, all there", f"{len(pinned):,}"],
            ["rows at the end: active of at most, and retired", f"{active:,} of {bound:,}, {retired:,}"],
            ["steps of upkeep, most in one run", f"{tally.steps:,}, {tally.longest_run}"],
            ["slowest step", f"{tally.slowest_step:.2f} s"],
            ["all sweeps and purges", f"{tally.upkeep:.1f} s"],
        ]

    def _number(self, where: str) -> int:
        query = f"SELECT count(*) FROM memories WHERE space_id = 'default' AND {where}"
        with self.memory._storage.database.read() as connection:
            return int(connection.execute(text(query)).scalar_one())


def simulate(url: str, people: int, each: int, days: int) -> tuple[list[list[str]], list[str]]:
    """What happened, and what went wrong."""
    begun, worked = time.perf_counter(), time.process_time()
    year = Year(url, people, each)
    try:
        filled = time.perf_counter() - begun
        year.run(days)
        rows = year.finish()
    finally:
        year.close()
    whole = time.perf_counter() - begun
    rows.append(["filling, and the whole", f"{filled:.0f} s, {whole / 60:.1f} min"])
    rows.append(["of it this process worked", f"{(time.process_time() - worked) / 60:.1f} min"])
    return rows, year.tally.wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--each", type=int, default=2_000)
    parser.add_argument("--days", type=int, default=365)
    args = parser.parse_args()
    failed = False
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        urls = {"SQLite": f"sqlite:///{folder}/year.db"}
        server = os.environ.get("TACIT_TEST_POSTGRES")
        if server:
            databases = PostgresDatabases(server)
            stack.callback(databases.close)
            urls["PostgreSQL"] = databases.create_migrated()
            stack.callback(databases.drop, urls["PostgreSQL"])
        for name, url in urls.items():
            rows, wrong = simulate(url, args.people, args.each, args.days)
            print(table([name, ""], rows), "\n", flush=True)
            for line in sorted(set(wrong)):
                print(f"WRONG {line} ({wrong.count(line)} times)")
            failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
