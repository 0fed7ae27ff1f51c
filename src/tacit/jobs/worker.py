"""Learn from queued turns in the background, with a lease for each turn and retries."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import LanguageOverBudget, LanguageUnavailable, StoreError
from tacit.learning.pipeline import LearningPipeline, LearningTrace
from tacit.learning.turns import unpack_turn
from tacit.storage import queue
from tacit.storage.queue import Job

_log = logging.getLogger(__name__)
_BATCH_COUNT = 16
_POLL_AGAIN_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Retry:
    wait: timedelta
    counts_as_attempt: bool


def plan_retry(failed: Exception, attempts: int) -> Retry:
    """Choose when to try again: twice as long each time, or when the model asked to be.

    An exhausted daily budget is no failure of the job, so it does not count as an attempt.
    """
    over_budget = isinstance(failed, LanguageOverBudget)
    wait = limits.LEARN_RETRY_MAX_SECONDS
    if not over_budget:
        # Bound the exponent: scheduled tasks are retried without end.
        doublings = min(attempts, limits.LEARN_ATTEMPTS_MAX_COUNT)
        wait = min(wait, limits.LEARN_RETRY_FIRST_SECONDS * 2**doublings)
    if isinstance(failed, LanguageUnavailable) and failed.retry_after_seconds is not None:
        wait = max(wait, min(failed.retry_after_seconds, limits.LEARN_RETRY_MAX_SECONDS))
    return Retry(timedelta(seconds=wait), counts_as_attempt=not over_budget)


@dataclass(frozen=True, slots=True)
class JobRunner:
    """Run one job at a time. Any number of runners, in any number of processes, share a queue."""

    pipeline: LearningPipeline
    is_alone: bool = False  # no other runner shares this queue
    name: str = field(default_factory=lambda: secrets.token_hex(8))

    def drain(self, *, early: bool = False, stop: Callable[[], bool] = lambda: False) -> int:
        """Run every job that can run now and return how many were completed.

        `early` includes jobs that wait for their thread to be quiet.
        """
        count = 0
        # Rules finish a batch before another worker could want a share of it; a language model
        # does not, and other runners should get their part.
        batched = self.is_alone and self.pipeline.learning.model is None
        size = _BATCH_COUNT if batched else 1
        while not stop():
            done = 0
            due = self._list_due(early=early)
            for start in range(0, len(due), size):
                if stop():
                    break
                done += self._run_jobs(due[start : start + size])
            count += done
            if not done:
                break
        return count

    def wait_for_all(self, timeout: float) -> int:
        """Run all jobs, and wait for those that other runners hold."""
        deadline = time.monotonic() + timeout
        count = self.drain(early=True)
        while self._has_pending() and time.monotonic() < deadline:
            time.sleep(_POLL_AGAIN_SECONDS)
            count += self.drain(early=True)
        return count

    def wait_for_thread(self, space: str, thread: str, timeout: float) -> int:
        """Run the jobs of one thread, and wait for those that other runners hold."""
        deadline = time.monotonic() + timeout
        count = 0
        while True:
            now = self.pipeline.store.clock()
            with self.pipeline.store.database.read() as connection:
                due = queue.list_due_jobs(connection, now, 1, thread=(space, thread))
                job = due[0] if due else None
                busy = job is None and queue.has_leased_jobs(connection, now, (space, thread))
            if job is not None and self.run_job(job):
                count += 1
            elif (job is None and not busy) or time.monotonic() >= deadline:
                return count
            else:
                time.sleep(_POLL_AGAIN_SECONDS)

    def _has_pending(self) -> bool:
        """Report whether a job is leased or due.

        Ask both in one snapshot: a job that is claimed between two of them would be neither.
        """
        now = self.pipeline.store.clock()
        with self.pipeline.store.database.read() as connection:
            return queue.has_leased_jobs(connection, now) or bool(
                queue.list_due_jobs(connection, now, 1, early=self._debounce(early=True))
            )

    def run_job(self, job: Job) -> bool:
        """Report whether this runner got the job and completed it."""
        return self._run_jobs([job]) == 1

    def _run_jobs(self, some: Sequence[Job]) -> int:
        """Claim these jobs, run those that this runner got, and return how many it completed."""
        now = self.pipeline.store.clock()
        claimed = self.pipeline.store.database.write(
            lambda c: [queue.claim_job(c, job, self.name, now) for job in some]
        )
        ours = [job for job in claimed if job is not None]
        with self.pipeline.store.leases.hold(partial(self._renew, ours)):
            return sum(map(self._learn, ours))

    def _renew(self, ours: Sequence[Job], connection: Connection, now: datetime) -> None:
        for job in ours:
            queue.renew_lease(connection, job, now)

    def _learn(self, job: Job) -> bool:
        try:
            self.pipeline.learn(
                job.space,
                job.thread,
                unpack_turn(job.payload),
                LearningTrace(),
                done=lambda connection: queue.finish_job(connection, job),
            )
        except queue.LeaseLost:
            return False  # another runner completed it, or it was erased
        except StoreError:
            raise  # the lease expires, and the job is claimed again
        except Exception as failed:  # noqa: BLE001 - one bad turn must not block its thread
            _log.warning("Could not learn a turn: %s", type(failed).__name__)
            self._postpone(job, failed)
            return False
        return True

    def _list_due(self, *, early: bool) -> list[Job]:
        now, lead = self.pipeline.store.clock(), self._debounce(early=early)
        with self.pipeline.store.database.read() as connection:
            return queue.list_due_jobs(connection, now, _BATCH_COUNT, early=lead)

    def _debounce(self, *, early: bool) -> timedelta:
        return timedelta(seconds=self.pipeline.learning.debounce_seconds if early else 0)

    def _postpone(self, job: Job, failed: Exception) -> None:
        retry = plan_retry(failed, job.attempts)
        due = self.pipeline.store.clock() + retry.wait
        given_up = retry.counts_as_attempt and job.attempts + 1 >= limits.LEARN_ATTEMPTS_MAX_COUNT
        self.pipeline.store.database.write(
            lambda connection: queue.postpone_job(
                connection, job, due, type(failed).__name__, parked=given_up, counted=retry.counts_as_attempt
            )
        )


class LearningWorkers:
    """Threads that learn queued turns: when woken, and every poll interval."""

    def __init__(self, pipeline: LearningPipeline, count: int) -> None:
        database = pipeline.store.database
        self._stopping = threading.Event()
        self._woken = threading.Condition()
        self._pending = True  # an earlier process may have left jobs
        runners = [JobRunner(pipeline, is_alone=count == 1 and not database.dialect.has_notify) for _ in range(count)]
        self._threads = [
            threading.Thread(target=self._run, args=(runner,), name=f"tacit-learn-{number}", daemon=True)
            for number, runner in enumerate(runners)
        ]
        for thread in self._threads:
            thread.start()
        self._listener = None
        if database.dialect.has_notify:
            from tacit.jobs.notifications import JobListener  # it needs psycopg

            self._listener = JobListener(database.engine, self.wake)

    def wake(self) -> None:
        """Start on a job that was just queued."""
        with self._woken:
            self._pending = True
            self._woken.notify()

    def close(self) -> None:
        """Finish the jobs that are running; the others stay in the queue."""
        self._stopping.set()
        with self._woken:
            self._woken.notify_all()
        if self._listener is not None:
            self._listener.close()
        for thread in self._threads:
            thread.join()

    def _run(self, runner: JobRunner) -> None:
        while not self._stopping.is_set():
            try:
                runner.drain(stop=self._stopping.is_set)
            except StoreError as error:
                _log.warning("Learning waits for the database: %s", type(error).__name__)
            except Exception as error:  # noqa: BLE001 - the thread must outlive any failure
                _log.warning("Learning was interrupted: %s", type(error).__name__)
            with self._woken:
                if not self._pending and not self._stopping.is_set():
                    self._woken.wait(limits.LEARN_POLL_SECONDS)
                self._pending = False
