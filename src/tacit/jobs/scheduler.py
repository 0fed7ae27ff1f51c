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
from tacit.retrieval.indexer import embed_page
from tacit.retrieval.retriever import Retriever
from tacit.storage import queue, spaces
from tacit.storage.queue import LeaseLost, ScheduledTask
from tacit.storage.store import Store
from tacit.storage.vectors import begin_embedding_check, finish_embedding_check, has_all_vectors, save_vectors
from tacit.telemetry.metrics import TASK_COUNT, TASK_SECONDS

_log = logging.getLogger(__name__)
_MANUAL_INTERVAL = timedelta(days=1)  # of a task that has no schedule
TASKS_AT_OPENING = ("expire", "purge")
ShouldStop = Callable[[], bool]
Pause = Callable[[float], object]  # called with the seconds that the step before took


def build_reembed_task(store: Store, embedder: Embedder) -> TaskStep:
    """Build the task that embeds memories without a vector, one batch per step.

    `retrieval/indexer.py` does the same for spaces that are open; this one reaches spaces that no
    process opens, and memories for which the model did not answer.
    """
    database = store.database

    def step(space: str, before: StepProgress, save: SaveProgress) -> StepProgress:
        model = embedder.name
        if before.cursor is None:
            with database.read() as connection:
                if has_all_vectors(connection, space, model):
                    return before.advance(None, embedded=0)
            database.write(lambda c: begin_embedding_check(c, space, model))
        made = embed_page(store, embedder, space, before.cursor or "")

        def work(connection: Connection) -> StepProgress:
            if made:
                count = save_vectors(connection, database.dialect, space, model, made)
                done = before.advance(made[-1][0].id, embedded=count)
            else:
                # A write without a vector has woken the indexer itself.
                finish_embedding_check(connection, space, model, store.clock())
                done = before.advance(None, embedded=0)
            save(connection, done)
            return done

        return database.write(work)

    return step


def build_tasks(
    store: Store,
    retriever: Retriever,
    embedder: Embedder | None,
    learning: LearningOptions | None,
    options: LifecycleOptions,
) -> dict[str, TaskStep]:
    """Build the scheduled tasks by name; leave out those that are disabled or lack a model."""
    model = learning.model if learning is not None else None
    allowance = learning.allowance if learning is not None else Allowance()
    tasks = {"expire": build_expire_task(store, options), "purge": build_purge_task(store, options)}
    if options.consolidate_enabled:
        tasks["consolidate"] = build_consolidate_task(store, retriever, options, model, allowance)
    if options.reflect_enabled and model is not None:
        tasks["reflect"] = build_reflect_task(store, options, model, allowance)
    if embedder is not None:
        tasks["reembed"] = build_reembed_task(store, embedder)
    if options.reflect_summaries and model is not None:
        tasks["summarise"] = build_summarize_task(store, options, model, allowance)
    return tasks


@dataclass(frozen=True, slots=True)
class PeriodicRunner:
    """Run scheduled tasks, one at a time.

    Any number of runners, in any number of processes, share the tasks: a lease gives each task of
    a space to one runner, and another one resumes it where the holder died.
    """

    store: Store
    tasks: Mapping[str, TaskStep]
    intervals: Mapping[str, timedelta]  # a task without one is manual
    name: str = field(default_factory=lambda: secrets.token_hex(8))

    def plan(self) -> None:
        """Schedule every task in every space that lacks it."""
        database = self.store.database
        for task in self._scheduled_tasks():
            when: dict[str, Any] = {"task": task, "every": self.intervals[task]}
            when["now"] = self.store.clock()
            database.write(partial(queue.reschedule_late_tasks, **when))
            while names := self._unplanned(task):
                database.write(partial(queue.schedule_task, names=names, **when))

    def drain(
        self, only: Collection[str] | None = None, *, stop: ShouldStop = lambda: False, pause: Pause = lambda _: None
    ) -> int:
        """Run every task that is due and return how many were completed."""
        completed = 0
        while not stop():
            claimed = 0
            for space, name in self._list_due(only):
                task = None if stop() else self._claim(space, name, early=False)
                if task is not None:
                    claimed += 1
                    completed += self._run_to_end(task, stop, pause)
            if not claimed:
                break
        return completed

    def run(self, space: str, name: str) -> None:
        """Run a task to its end now. A failure is recorded and raised."""
        now, database = self.store.clock(), self.store.database
        every = self.intervals.get(name, timedelta(0))

        def prepare(connection: Connection) -> None:
            """Create what a manual run needs: the space may be empty and the task unscheduled."""
            spaces.ensure_space(connection, space, now)
            queue.schedule_task(connection, [space], name, every, now)

        database.write(prepare)
        task = self._claim(space, name, early=True)
        if task is None:
            raise Conflict(f"another worker runs {name}; `tacit jobs` shows its progress")
        try:
            self._run_steps(task, lambda: False, lambda _: None)
        except LeaseLost:
            raise Conflict(f"another worker has taken over {name}") from None
        except Exception as failed:
            self._record_failure(task, failed)
            raise

    def _scheduled_tasks(self) -> list[str]:
        return [task for task in self.tasks if task in self.intervals]

    def _unplanned(self, task: str) -> list[str]:
        with self.store.database.read() as connection:
            return queue.list_unscheduled_spaces(connection, task)

    def _list_due(self, only: Collection[str] | None) -> list[tuple[str, str]]:
        names = [name for name in self._scheduled_tasks() if only is None or name in only]
        now, most = self.store.clock(), limits.JOBS_DUE_BATCH_COUNT
        with self.store.database.read() as connection:
            return queue.list_due_tasks(connection, names, now, worker=self.name, most=most)

    def _claim(self, space: str, name: str, *, early: bool) -> ScheduledTask | None:
        now = self.store.clock()
        return self.store.database.write(lambda c: queue.claim_task(c, space, name, self.name, now, early=early))

    def _run_to_end(self, task: ScheduledTask, stop: ShouldStop, pause: Pause) -> bool:
        try:
            return self._run_steps(task, stop, pause)
        except LeaseLost:
            return False  # another runner resumes it, or the space was erased
        except Exception as failed:  # noqa: BLE001 - one bad task must not hold up the others
            if stop():  # closing also closes the model that the task asked
                self._release(task)
                return False
            _log.warning("Task %s failed: %s", task.task, type(failed).__name__)
            self._record_failure(task, failed)
            return False

    def _run_steps(self, task: ScheduledTask, stop: ShouldStop, pause: Pause) -> bool:
        """Run the remaining steps; return False where `stop` ended them early."""
        step = self.tasks[task.task]
        done = StepProgress(cursor=task.cursor, counts=task.counts)
        while True:
            begun = time.monotonic()
            done = self._run_step(task, step, done)
            self.store.meter.observe(TASK_SECONDS, time.monotonic() - begun, task=task.task)
            if done.cursor is None:
                self.store.meter.count(TASK_COUNT, task=task.task, outcome="ok")
                return True
            if not stop():
                pause(time.monotonic() - begun)
            if stop():
                self._release(task)
                return False

    def _run_step(self, task: ScheduledTask, step: TaskStep, before: StepProgress) -> StepProgress:
        saved: list[StepProgress] = []

        def save(connection: Connection, after: StepProgress) -> None:
            self._save(connection, task, after)
            saved[:] = [after]

        with self.store.leases.hold(lambda connection, now: queue.renew_lease(connection, task, now)):
            after = step(task.space, before, save)
        if saved != [after]:  # the step wrote nothing, so its progress is not saved yet
            self.store.database.write(lambda connection: save(connection, after))
        return after

    def _save(self, connection: Connection, task: ScheduledTask, after: StepProgress) -> None:
        """Save progress in the step's own transaction; the last step also ends the run there."""
        now = self.store.clock()
        if after.cursor is not None:
            queue.save_task_progress(connection, task, after.cursor, after.counts, now)
            return
        every = self.intervals.get(task.task, _MANUAL_INTERVAL)
        queue.finish_task(connection, task, after.counts, now, now + every)

    def _record_failure(self, task: ScheduledTask, failed: Exception) -> None:
        """Postpone a failed task. If the database fails too, the lease expires by itself."""
        self.store.meter.count(TASK_COUNT, task=task.task, outcome="error")
        now, retry = self.store.clock(), plan_retry(failed, task.attempts)
        wait = min(retry.wait, self.intervals.get(task.task, retry.wait))

        reason, counted = type(failed).__name__, retry.counts_as_attempt
        try:
            self.store.database.write(lambda c: queue.fail_task(c, task, now, now + wait, reason, counted=counted))
        except LeaseLost:
            return
        except StoreError as error:
            raise error from failed

    def _release(self, task: ScheduledTask) -> None:
        self.store.database.write(lambda connection: queue.release_task(connection, task))


class SchedulerThreads:
    """Threads for scheduled tasks, apart from those that learn: a task may take minutes."""

    def __init__(self, make_runner: Callable[[], PeriodicRunner]) -> None:
        self._make_runner = make_runner
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._starting = threading.Lock()
        self._started = False

    def start(self, count: int) -> None:
        """Run tasks whenever they are due, until closed. A second call does nothing."""
        with self._starting:
            if self._started:
                return
            self._started = True
        for number in range(count):
            self._start_thread(f"tacit-jobs-{number}", self._run_periodically)

    def run_overdue(self, space: str) -> None:
        """Run once, in the background, what is overdue in any space or never ran in this one."""

        def work(runner: PeriodicRunner) -> None:
            runner.plan()
            now = runner.store.clock()
            runner.store.database.write(lambda c: queue.schedule_now(c, space, TASKS_AT_OPENING, now))
            runner.drain(TASKS_AT_OPENING, stop=self._stopping.is_set, pause=self._pause)

        self._start_thread("tacit-jobs-opening", lambda runner: self._run_safely(partial(work, runner)))

    def close(self) -> None:
        """Finish the steps that are running; another process resumes from there."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _start_thread(self, name: str, work: Callable[[PeriodicRunner], object]) -> None:
        thread = threading.Thread(target=work, args=(self._make_runner(),), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run_periodically(self, runner: PeriodicRunner) -> None:
        planned = -limits.JOBS_PLAN_SECONDS
        while not self._stopping.is_set():
            if time.monotonic() - planned >= limits.JOBS_PLAN_SECONDS and self._run_safely(runner.plan):
                planned = time.monotonic()
            self._run_safely(lambda: runner.drain(stop=self._stopping.is_set, pause=self._pause))
            self._stopping.wait(limits.LEARN_POLL_SECONDS)

    def _pause(self, took: float) -> None:
        """Leave half of the time to requests."""
        self._stopping.wait(min(took, limits.JOBS_PAUSE_MAX_SECONDS))

    def _run_safely(self, work: Callable[[], object]) -> bool:
        """Log a failure instead of raising: the next poll tries again."""
        try:
            work()
        except StoreError as error:
            if not self._stopping.is_set():
                _log.warning("Tasks wait for the database: %s", type(error).__name__)
            return False
        except Exception as error:  # noqa: BLE001 - the thread must outlive any failure
            _log.warning("Tasks were interrupted: %s", type(error).__name__)
            return False
        return True
