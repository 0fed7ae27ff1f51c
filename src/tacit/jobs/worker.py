"""Learning from what was accepted, in the background: a lease for each turn, one at a time in each
thread, and again later where a model did not answer.

`poked.py` does the same where processes can tell each other that something is due.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import StoreError
from tacit.jobs.again import again
from tacit.learn.keep import Kept
from tacit.learn.path import Path, Trace
from tacit.learn.turn import unpacked
from tacit.store import jobs, pokes
from tacit.store.jobs import Job

_log = logging.getLogger(__name__)
_AT_ONCE_COUNT = 16
_LOOK_AGAIN_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Runner:
    """Does one job at a time. Any number of them, in any number of processes, share a queue."""

    path: Path
    alone: bool = False  # nobody else in this process works
    name: str = field(default_factory=lambda: secrets.token_hex(8))

    def drain(self, *, early: bool = False, stop: Callable[[], bool] = lambda: False) -> int:
        """Everything that can be done now; says how much was. `early`: also what would wait for a
        thread to be still."""
        count = 0
        while not stop():
            done = 0
            for some in _in_bundles(self._due(early=early), self._bundle):
                if stop():
                    break
                done += self._work_all(some)
            count += done
            if not done:
                break
        return count

    @property
    def _bundle(self) -> int:
        """How many are claimed at once: rules are done with them before anybody could miss them,
        but whoever shares the work with others, or asks a model, takes one at a time."""
        return _AT_ONCE_COUNT if self.alone and self.path.learning.model is None else 1

    def catch_up(self, timeout: float) -> int:
        """Everything that can be done, also by others who are at it."""
        deadline = time.monotonic() + timeout
        count = self.drain(early=True)
        while self._anything_left() and time.monotonic() < deadline:
            time.sleep(_LOOK_AGAIN_SECONDS)
            count += self.drain(early=True)
        return count

    def catch_up_with(self, space: str, thread: str, timeout: float) -> int:
        """What can be done of one thread, also by others who are at it."""
        deadline = time.monotonic() + timeout
        count = 0
        while True:
            now = self.path.store.clock()
            with self.path.store.database.read() as connection:
                job = jobs.first_of(connection, space, thread, now)
                busy = job is None and jobs.leased_of(connection, space, thread, now)
            if job is not None and self.work(job):
                count += 1
            elif (job is None and not busy) or time.monotonic() >= deadline:
                return count
            else:
                time.sleep(_LOOK_AGAIN_SECONDS)

    def _anything_left(self) -> bool:
        """Somebody is at something, or it is anybody's turn: between two turns of a thread nobody
        holds either. Both in one snapshot, or a turn that is taken meanwhile is neither."""
        now = self.path.store.clock()
        with self.path.store.database.read() as connection:
            return jobs.leased(connection, now) or bool(
                jobs.due(connection, now, 1, early=self._early(early=True))
            )

    def work(self, job: Job) -> bool:
        """Whether it was done, by us, to its end."""
        return self._work_all([job]) == 1

    def _work_all(self, some: Sequence[Job]) -> int:
        now = self.path.store.clock()
        until = now + timedelta(seconds=limits.LEASE_SECONDS)
        claimed = self.path.store.database.write(
            lambda c: [jobs.claim(c, job, self.name, now, until) for job in some]
        )
        ours = [job for job in claimed if job is not None]
        with self.path.store.leases.hold(partial(self._renew, ours)):
            return sum(map(self._learned, ours))

    def _renew(self, ours: Sequence[Job], connection: Connection, now: datetime) -> None:
        until = now + timedelta(seconds=limits.LEASE_SECONDS)
        for job in ours:
            jobs.renew(connection, job, self.name, until)

    def _learned(self, job: Job) -> bool:
        try:
            self._learn(job)
        except jobs.Lost:
            return False  # somebody else has done it, or it was erased
        except StoreError:
            raise  # the lease runs out, and somebody tries again
        except Exception as failed:  # noqa: BLE001 - one bad turn must not hold up its thread
            _log.warning("a turn could not be learned: %s", type(failed).__name__)
            self._later(job, failed)
            return False
        return True

    def _learn(self, job: Job) -> list[Kept]:
        turn = unpacked(job.payload)
        return self.path.learn(
            job.space,
            job.thread,
            turn,
            Trace(),
            done=lambda connection: jobs.finish(connection, job, self.name),
        )

    def _due(self, *, early: bool) -> list[Job]:
        now = self.path.store.clock()
        with self.path.store.database.read() as connection:
            return jobs.due(connection, now, _AT_ONCE_COUNT, early=self._early(early=early))

    def _early(self, *, early: bool) -> timedelta:
        return timedelta(seconds=self.path.learning.debounce_seconds if early else 0)

    def _later(self, job: Job, failed: Exception) -> None:
        next_time = again(failed, job.attempts)
        due = self.path.store.clock() + next_time.wait
        given_up = next_time.counted and job.attempts + 1 >= limits.LEARN_ATTEMPTS_MAX_COUNT
        self.path.store.database.write(
            lambda connection: jobs.put_off(
                connection,
                job,
                self.name,
                due,
                type(failed).__name__,
                parked=given_up,
                counted=next_time.counted,
            )
        )


def _in_bundles(todo: Sequence[Job], size: int) -> Iterator[Sequence[Job]]:
    for start in range(0, len(todo), size):
        yield todo[start : start + size]


class Crew(Protocol):
    def wake(self) -> None:
        """This process has accepted something."""

    def close(self) -> None:
        """What is being learned is finished; what waits stays in the queue."""


class Workers:
    """Those in this process who learn, until they are closed."""

    def __init__(self, path: Path, count: int) -> None:
        self._crew = _crew(path, count)

    def wake(self) -> None:
        self._crew.wake()

    def close(self) -> None:
        self._crew.close()


def _crew(path: Path, count: int) -> Crew:
    if path.store.database.dialect.has_pokes:
        if pokes.installed() is not None:
            from tacit.jobs.poked import Poked

            return Poked(path, count)
        _log.info("procrastinate is not installed: workers look for work every now and then")
    return Leased(path, count)


class Leased:
    """Threads that look for what is due when they are woken, and every now and then."""

    def __init__(self, path: Path, count: int) -> None:
        self._stopping = threading.Event()
        self._woken = threading.Condition()
        self._pending = True  # what an earlier process left
        self._threads = [
            threading.Thread(
                target=self._run,
                args=(Runner(path, count == 1),),
                name=f"tacit-learn-{n}",
                daemon=True,
            )
            for n in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        with self._woken:
            self._pending = True
            self._woken.notify()

    def close(self) -> None:
        self._stopping.set()
        with self._woken:
            self._woken.notify_all()
        for thread in self._threads:
            thread.join()

    def _run(self, runner: Runner) -> None:
        while not self._stopping.is_set():
            try:
                runner.drain(stop=self._stopping.is_set)
            except StoreError as error:
                _log.warning("learning waits for the database: %s", type(error).__name__)
            with self._woken:
                if not self._pending and not self._stopping.is_set():
                    self._woken.wait(limits.LEARN_POLL_SECONDS)
                self._pending = False
