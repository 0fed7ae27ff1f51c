"""Learn from queued turns in the background, with a lease for each turn and retries."""

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
from tacit.errors import LanguageOverBudget, LanguageUnavailable, StoreError
from tacit.learning.memory_writes import LearnedFact
from tacit.learning.pipeline import LearningPipeline, LearningTrace
from tacit.learning.turns import unpack_turn
from tacit.storage import postgres, queue
from tacit.storage.queue import Job

# After a failure: how long to wait before the next attempt.


@dataclass(frozen=True, slots=True)
class Retry:
    wait: timedelta
    counts_as_attempt: bool  # as an attempt


def plan_retry(failed: Exception, attempts: int) -> Retry:
    """Twice as long each time. A day without budget is nobody's failure: it is not counted as an
    attempt. A model that said when to come back is believed."""
    spent = isinstance(failed, LanguageOverBudget)
    wait = limits.LEARN_RETRY_MAX_SECONDS
    if not spent:
        # Bounded before it is raised: nobody counts the attempts of what is tried for ever.
        doublings = min(attempts, limits.LEARN_ATTEMPTS_MAX_COUNT)
        wait = min(wait, limits.LEARN_RETRY_FIRST_SECONDS * 2**doublings)
    if isinstance(failed, LanguageUnavailable) and failed.retry_after_seconds is not None:
        wait = max(wait, min(failed.retry_after_seconds, limits.LEARN_RETRY_MAX_SECONDS))
    return Retry(timedelta(seconds=wait), counts_as_attempt=not spent)


# Learning from what was accepted, in the background: a lease for each turn, one at a time in each
# thread, and again later where a model did not answer.
#
# `poked.py` does the same where processes can tell each other that something is due.

_log = logging.getLogger(__name__)
_AT_ONCE_COUNT = 16
_POLL_AGAIN_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class JobRunner:
    """Does one job at a time. Any number of them, in any number of processes, share a queue."""

    path: LearningPipeline
    is_alone: bool = False  # nobody else in this process works
    name: str = field(default_factory=lambda: secrets.token_hex(8))

    def drain(self, *, early: bool = False, stop: Callable[[], bool] = lambda: False) -> int:
        """Everything that can be done now; says how much was. `early`: also what would wait for a
        thread to be still."""
        count = 0
        while not stop():
            done = 0
            for some in _in_batches(self._due(early=early), self._batch_count):
                if stop():
                    break
                done += self._run_jobs(some)
            count += done
            if not done:
                break
        return count

    @property
    def _batch_count(self) -> int:
        """How many are claimed at once: rules are done with them before anybody could miss them,
        but whoever shares the work with others, or asks a model, takes one at a time."""
        return _AT_ONCE_COUNT if self.is_alone and self.path.learning.model is None else 1

    def wait_for_all(self, timeout: float) -> int:
        """Everything that can be done, also by others who are at it."""
        deadline = time.monotonic() + timeout
        count = self.drain(early=True)
        while self._has_pending() and time.monotonic() < deadline:
            time.sleep(_POLL_AGAIN_SECONDS)
            count += self.drain(early=True)
        return count

    def wait_for_thread(self, space: str, thread: str, timeout: float) -> int:
        """What can be done of one thread, also by others who are at it."""
        deadline = time.monotonic() + timeout
        count = 0
        while True:
            now = self.path.store.clock()
            with self.path.store.database.read() as connection:
                job = queue.first_job_of_thread(connection, space, thread, now)
                busy = job is None and queue.is_thread_leased(connection, space, thread, now)
            if job is not None and self.run_job(job):
                count += 1
            elif (job is None and not busy) or time.monotonic() >= deadline:
                return count
            else:
                time.sleep(_POLL_AGAIN_SECONDS)

    def _has_pending(self) -> bool:
        """Somebody is at something, or it is anybody's turn: between two turns of a thread nobody
        holds either. Both in one snapshot, or a turn that is taken meanwhile is neither."""
        now = self.path.store.clock()
        with self.path.store.database.read() as connection:
            return queue.has_leased_jobs(connection, now) or bool(
                queue.list_due_jobs(connection, now, 1, early=self._debounce(early=True))
            )

    def run_job(self, job: Job) -> bool:
        """Whether it was done, by us, to its end."""
        return self._run_jobs([job]) == 1

    def _run_jobs(self, some: Sequence[Job]) -> int:
        now = self.path.store.clock()
        until = now + timedelta(seconds=limits.LEASE_SECONDS)
        claimed = self.path.store.database.write(
            lambda c: [queue.claim_job(c, job, self.name, now, until) for job in some]
        )
        ours = [job for job in claimed if job is not None]
        with self.path.store.leases.hold(partial(self._renew, ours)):
            return sum(map(self._try_job, ours))

    def _renew(self, ours: Sequence[Job], connection: Connection, now: datetime) -> None:
        until = now + timedelta(seconds=limits.LEASE_SECONDS)
        for job in ours:
            queue.renew_job(connection, job, self.name, until)

    def _try_job(self, job: Job) -> bool:
        try:
            self._learn_turn(job)
        except queue.LeaseLost:
            return False  # somebody else has done it, or it was erased
        except StoreError:
            raise  # the lease runs out, and somebody tries again
        except Exception as failed:  # noqa: BLE001 - one bad turn must not hold up its thread
            _log.warning("a turn could not be learned: %s", type(failed).__name__)
            self._postpone(job, failed)
            return False
        return True

    def _learn_turn(self, job: Job) -> list[LearnedFact]:
        turn = unpack_turn(job.payload)
        return self.path.learn(
            job.space,
            job.thread,
            turn,
            LearningTrace(),
            done=lambda connection: queue.finish_job(connection, job, self.name),
        )

    def _due(self, *, early: bool) -> list[Job]:
        now = self.path.store.clock()
        with self.path.store.database.read() as connection:
            return queue.list_due_jobs(
                connection, now, _AT_ONCE_COUNT, early=self._debounce(early=early)
            )

    def _debounce(self, *, early: bool) -> timedelta:
        return timedelta(seconds=self.path.learning.debounce_seconds if early else 0)

    def _postpone(self, job: Job, failed: Exception) -> None:
        next_time = plan_retry(failed, job.attempts)
        due = self.path.store.clock() + next_time.wait
        given_up = (
            next_time.counts_as_attempt and job.attempts + 1 >= limits.LEARN_ATTEMPTS_MAX_COUNT
        )
        self.path.store.database.write(
            lambda connection: queue.postpone_job(
                connection,
                job,
                self.name,
                due,
                type(failed).__name__,
                parked=given_up,
                counted=next_time.counts_as_attempt,
            )
        )


def _in_batches(todo: Sequence[Job], size: int) -> Iterator[Sequence[Job]]:
    for start in range(0, len(todo), size):
        yield todo[start : start + size]


class WorkerPool(Protocol):
    def wake(self) -> None:
        """This process has accepted something."""

    def close(self) -> None:
        """What is being learned is finished; what waits stays in the queue."""


class LearningWorkers:
    """Those in this process who learn, until they are closed."""

    def __init__(self, path: LearningPipeline, count: int) -> None:
        self._pool = _make_pool(path, count)

    def wake(self) -> None:
        self._pool.wake()

    def close(self) -> None:
        self._pool.close()


def _make_pool(path: LearningPipeline, count: int) -> WorkerPool:
    if path.store.database.dialect.has_notify:
        if postgres.find_procrastinate() is not None:
            from tacit.jobs.notifications import NotifiedPool

            return NotifiedPool(path, count)
        _log.info("procrastinate is not installed: workers look for work every now and then")
    return PollingPool(path, count)


class PollingPool:
    """Threads that look for what is due when they are woken, and every now and then."""

    def __init__(self, path: LearningPipeline, count: int) -> None:
        self._stopping = threading.Event()
        self._woken = threading.Condition()
        self._pending = True  # what an earlier process left
        self._threads = [
            threading.Thread(
                target=self._run,
                args=(JobRunner(path, count == 1),),
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

    def _run(self, runner: JobRunner) -> None:
        while not self._stopping.is_set():
            try:
                runner.drain(stop=self._stopping.is_set)
            except StoreError as error:
                _log.warning("learning waits for the database: %s", type(error).__name__)
            with self._woken:
                if not self._pending and not self._stopping.is_set():
                    self._woken.wait(limits.LEARN_POLL_SECONDS)
                self._pending = False
