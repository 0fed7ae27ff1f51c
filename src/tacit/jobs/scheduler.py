"""Run the scheduled tasks of every space, step by step under a lease."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection

from tacit import limits
from tacit.embeddings.embedder import Embedder
from tacit.errors import Conflict, StoreError
from tacit.jobs.worker import plan_retry
from tacit.learning.pipeline import LearningOptions
from tacit.lifecycle.consolidation import build_consolidate_task
from tacit.lifecycle.expiry import build_expire_task
from tacit.lifecycle.purge import build_purge_task
from tacit.lifecycle.reflection import build_reflect_task, build_summarize_task
from tacit.lifecycle.tasks import LifecycleOptions, SaveProgress, StepProgress, TaskStep
from tacit.llm.budget import Allowance
from tacit.retrieval.retriever import Retriever
from tacit.storage import queue, spaces
from tacit.storage.queue import LeaseLost, ScheduledTask
from tacit.storage.store import Store
from tacit.storage.vectors import (
    begin_embedding_check,
    finish_embedding_check,
    has_all_vectors,
    list_unembedded,
    save_vectors,
)
from tacit.telemetry.metrics import TASK_COUNT, TASK_SECONDS

# Making the vectors that are missing in a space, some at a time.


def build_reembed_task(store: Store, embedder: Embedder) -> TaskStep:
    """The same as `recall/indexing.py` does by itself when a memory is opened or something was
    written without a vector: for spaces that nobody opens, and models that did not answer."""
    database = store.database

    def step(space: str, before: StepProgress, save: SaveProgress) -> StepProgress:
        model = embedder.name
        if before.cursor is None:
            with database.read() as connection:
                if has_all_vectors(connection, space, model):
                    return before.advance(None, embedded=0)
            database.write(lambda c: begin_embedding_check(c, database.dialect, space, model))
        with database.read() as connection:
            after = before.cursor or ""
            some = list_unembedded(connection, space, model, after, limits.EMBEDDING_BATCH_COUNT)
        vectors = embedder.embed([one.text for one in some]) if some else ()
        made = [(one, row.tobytes()) for one, row in zip(some, vectors, strict=True)]

        def work(connection: Connection) -> StepProgress:
            if made:
                count = save_vectors(connection, database.dialect, space, model, made)
                done = before.advance(some[-1].id, embedded=count)
            else:
                # Whoever wrote without a vector meanwhile has woken the indexing.
                finish_embedding_check(connection, space, model, store.clock())
                done = before.advance(None, embedded=0)
            save(connection, done)
            return done

        return database.write(work)

    return step


# Which tasks come round, by name: what each is made of, from the parts of an open memory.


def build_tasks(
    store: Store,
    recollection: Retriever,
    embedder: Embedder | None,
    learning: LearningOptions | None,
    upkeep: LifecycleOptions,
) -> dict[str, TaskStep]:
    """One line for each. A task that is not wanted, or has nothing to work with, is left out."""
    model = learning.model if learning is not None else None
    allowance = learning.allowance if learning is not None else Allowance()
    found = {"expire": build_expire_task(store, upkeep), "purge": build_purge_task(store, upkeep)}
    if upkeep.consolidate_enabled:
        found["consolidate"] = build_consolidate_task(store, recollection, upkeep, model, allowance)
    if upkeep.reflect_enabled and model is not None:
        found["reflect"] = build_reflect_task(store, upkeep, model, allowance)
    if embedder is not None:
        found["reembed"] = build_reembed_task(store, embedder)
    if upkeep.reflect_summaries and model is not None:
        found["summarise"] = build_summarize_task(store, upkeep, model, allowance)
    return found


# Tasks that come round, step by step under a lease. Any number of hands, in any number of
# processes, share them: each task of a space is run by one at a time, and gone on with by another
# where that one died.

_log = logging.getLogger(__name__)
_MANUAL_INTERVAL = timedelta(days=1)  # when it would be due again, if it came round
ShouldStop = Callable[[], bool]
Pause = Callable[[float], object]  # hears how long the step before has taken


@dataclass(frozen=True, slots=True)
class PeriodicRunner:
    """One hand: it does one thing at a time."""

    store: Store
    tasks: Mapping[str, TaskStep]
    intervals: Mapping[str, timedelta]  # a task that is not here does not come round by itself
    name: str = field(default_factory=lambda: secrets.token_hex(8))

    def plan(self) -> None:
        """Every space has its tasks, each at a time of its own."""
        database = self.store.database
        for task in self._scheduled_tasks():
            when: dict[str, Any] = {
                "task": task,
                "every": self.intervals[task],
                "now": self.store.clock(),
            }
            database.write(partial(queue.reschedule_late_tasks, **when))
            while names := self._unplanned(task):
                database.write(partial(queue.schedule_task, names=names, **when))

    def drain(
        self,
        only: Collection[str] | None = None,
        *,
        stop: ShouldStop = lambda: False,
        pause: Pause = lambda _: None,
    ) -> int:
        """Everything that is due; says how much came to its end."""
        ended = 0
        while not stop():
            todo = self._due(only)
            claimed = 0
            for space, task in todo:
                errand = None if stop() else self._claim(space, task, early=False)
                if errand is not None:
                    claimed += 1
                    ended += self._run_to_end(errand, stop, pause)
            if not claimed:
                break
        return ended

    def run(self, space: str, task: str) -> None:
        """Now and here, to its end. What goes wrong is noted, and raised."""
        self._prepare(space, task)
        errand = self._claim(space, task, early=True)
        if errand is None:
            raise Conflict(f"{task} is being run by somebody else; `jobs` tells how far it is")
        try:
            self._run_steps(errand, lambda: False, lambda _: None)
        except LeaseLost:
            raise Conflict(f"{task} was taken over by somebody else, who goes on with it") from None
        except Exception as failed:
            self._record_failure(errand, failed)
            raise

    def _prepare(self, space: str, task: str) -> None:
        """Asked for, a task runs where nobody has written, and though it is switched off."""
        now, database = self.store.clock(), self.store.database
        every = self.intervals.get(task, timedelta(0))

        def work(connection: Connection) -> None:
            spaces.ensure_space(connection, database.dialect, space, now)
            queue.schedule_task(connection, [space], task, every, now)

        database.write(work)

    def _scheduled_tasks(self) -> list[str]:
        return [task for task in self.tasks if task in self.intervals]

    def _unplanned(self, task: str) -> list[str]:
        with self.store.database.read() as connection:
            return queue.list_unscheduled_spaces(connection, task)

    def _due(self, only: Collection[str] | None) -> list[tuple[str, str]]:
        tasks = [task for task in self._scheduled_tasks() if only is None or task in only]
        most = limits.JOBS_DUE_BATCH_COUNT
        with self.store.database.read() as connection:
            now = self.store.clock()
            return queue.list_due_tasks(connection, tasks, now, worker=self.name, most=most)

    def _claim(self, space: str, task: str, *, early: bool) -> ScheduledTask | None:
        now = self.store.clock()
        return self.store.database.write(
            lambda c: queue.claim_task(c, space, task, self.name, now, early=early)
        )

    def _run_to_end(self, errand: ScheduledTask, stop: ShouldStop, pause: Pause) -> bool:
        try:
            return self._run_steps(errand, stop, pause)
        except LeaseLost:
            return False  # somebody else goes on with it, or the space was erased
        except Exception as failed:  # noqa: BLE001 - one bad task must not hold up the others
            if stop():  # what it asked was taken away from it
                self._release(errand)
                return False
            _log.warning("a task failed: %s: %s", errand.task, type(failed).__name__)
            self._record_failure(errand, failed)
            return False

    def _run_steps(self, errand: ScheduledTask, stop: ShouldStop, pause: Pause) -> bool:
        """Step by step. Whether it came to its end, rather than being stopped."""
        step = self.tasks[errand.task]
        done = StepProgress(cursor=errand.cursor, counts=errand.counts)
        while True:
            begun = time.monotonic()
            done = self._run_step(errand, step, done)
            self.store.meter.observe(TASK_SECONDS, time.monotonic() - begun, task=errand.task)
            if done.cursor is None:
                self.store.meter.count(TASK_COUNT, task=errand.task, outcome="ok")
                return True
            if not stop():
                pause(time.monotonic() - begun)
            if stop():
                self._release(errand)
                return False

    def _run_step(
        self, errand: ScheduledTask, step: TaskStep, before: StepProgress
    ) -> StepProgress:
        saved: list[StepProgress] = []

        def save(connection: Connection, after: StepProgress) -> None:
            self._save(connection, errand, after)
            saved[:] = [after]

        with self.store.leases.hold(partial(queue.renew_task, errand)):
            after = step(errand.space, before, save)
        if saved != [after]:  # it had nothing to write: then this is all there is to keep
            self.store.database.write(lambda connection: save(connection, after))
        return after

    def _save(self, connection: Connection, errand: ScheduledTask, after: StepProgress) -> None:
        """The last step ends the run in its own transaction: nobody finds it done and not ended."""
        now = self.store.clock()
        if after.cursor is not None:
            queue.save_task_progress(connection, errand, after.cursor, after.counts, now)
            return
        every = self.intervals.get(errand.task, _MANUAL_INTERVAL)
        queue.finish_task(connection, errand, after.counts, now, now + every)

    def _record_failure(self, errand: ScheduledTask, failed: Exception) -> None:
        """Where not even this can be written, the lease stays ours, and then runs out."""
        self.store.meter.count(TASK_COUNT, task=errand.task, outcome="error")
        now, next_time = self.store.clock(), plan_retry(failed, errand.attempts)
        wait = min(next_time.wait, self.intervals.get(errand.task, next_time.wait))

        def work(connection: Connection) -> None:
            queue.fail_task(
                connection,
                errand,
                now,
                now + wait,
                type(failed).__name__,
                counted=next_time.counts_as_attempt,
            )

        try:
            self.store.database.write(work)
        except LeaseLost:
            return
        except StoreError as error:
            raise error from failed

    def _release(self, errand: ScheduledTask) -> None:
        self.store.database.write(lambda connection: queue.release_task(connection, errand))


# Threads that do what comes round: until they are closed, or once when a memory is opened.

TASKS_AT_OPENING = ("expire", "purge")


class SchedulerThreads:
    """Apart from those who learn: a task may take minutes, and a turn must not wait for it."""

    def __init__(self, hand: Callable[[], PeriodicRunner]) -> None:
        self._make_runner = hand
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._starting = threading.Lock()
        self._started = False

    def start(self, count: int) -> None:
        """From now on. Asked again, nothing changes."""
        with self._starting:
            if self._started:
                return
            self._started = True
        for number in range(count):
            self._start_thread(f"tacit-jobs-{number}", self._run_periodically)

    def run_overdue(self, space: str) -> None:
        """Once, what is overdue in any space, and what never ran in this one."""
        self._start_thread("tacit-jobs-opening", lambda hand: self._run_overdue_once(hand, space))

    def close(self) -> None:
        """The steps that are being done are finished; somebody else goes on from there."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _start_thread(self, name: str, work: Callable[[PeriodicRunner], None]) -> None:
        hand = self._make_runner()
        thread = threading.Thread(target=work, args=(hand,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run_periodically(self, hand: PeriodicRunner) -> None:
        planned = -limits.JOBS_PLAN_SECONDS
        while not self._stopping.is_set():
            if time.monotonic() - planned >= limits.JOBS_PLAN_SECONDS and self._run_safely(
                hand.plan
            ):
                planned = time.monotonic()
            self._run_safely(lambda: hand.drain(stop=self._stopping.is_set, pause=self._pause))
            self._stopping.wait(limits.LEARN_POLL_SECONDS)

    def _run_overdue_once(self, hand: PeriodicRunner, space: str) -> None:
        def work() -> None:
            hand.plan()
            now = hand.store.clock()
            hand.store.database.write(lambda c: queue.schedule_now(c, space, TASKS_AT_OPENING, now))
            hand.drain(TASKS_AT_OPENING, stop=self._stopping.is_set, pause=self._pause)

        self._run_safely(work)

    def _pause(self, took: float) -> None:
        """Half of the time is left to whoever is waiting for an answer."""
        self._stopping.wait(min(took, limits.JOBS_PAUSE_MAX_SECONDS))

    def _run_safely(self, work: Callable[[], object]) -> bool:
        """The next look may go better."""
        try:
            work()
        except StoreError as error:
            if not self._stopping.is_set():
                _log.warning("tasks wait for the database: %s", type(error).__name__)
            return False
        except Exception as error:  # noqa: BLE001 - nobody else would look any more
            _log.warning("tasks were interrupted: %s", type(error).__name__)
            return False
        return True
