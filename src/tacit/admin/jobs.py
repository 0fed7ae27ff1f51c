"""Run background work now: the learning queue, expiry, purge, consolidation, reflection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any, Literal, TypeVar

from tacit import limits
from tacit.errors import InvalidInput
from tacit.jobs.worker import JobRunner
from tacit.learning.episodes import queue_again
from tacit.learning.pipeline import LearningPipeline
from tacit.lifecycle import clock_guard, consolidation
from tacit.lifecycle.consolidation import build_consolidate_task
from tacit.lifecycle.expiry import build_expire_task
from tacit.lifecycle.purge import build_purge_task
from tacit.lifecycle.reflection import build_reflect_task, build_summarize_task
from tacit.lifecycle.tasks import StepProgress, TaskStep, run_task
from tacit.llm.budget import Allowance
from tacit.records import validation
from tacit.records.results import (
    Consolidated,
    Expired,
    JobRun,
    JobStatus,
    LearningQueueStatus,
    Purged,
    Reflected,
    Summarised,
)
from tacit.storage import queue
from tacit.storage.queue import TaskStatus, count_queue, unpark_jobs
from tacit.view.context import SpaceContext

ReportT = TypeVar("ReportT", Consolidated, Reflected, Summarised)

TASKS = tuple(limits.JOBS_EVERY_HOURS)
_CLOCK_WARNING = (
    "the clock leapt since the last sweep, or there was none for long: if it is right now, "
    "say so with purge(confirm_clock=True), or tacit purge --confirm-clock"
)
_NO_MODEL = "no language model is set: choose one with language.provider"
_TASK_DISABLED = "it is switched off: set {} to true"


class Jobs(SpaceContext):
    """Background work: its state, and methods that run it now."""

    def list(self) -> list[JobStatus]:
        """List the tasks of this space: when each is due, its progress and its last result."""
        now = self._storage.clock()
        with self._storage.database.read() as connection:
            standing = queue.read_task_statuses(connection, self._space, TASKS, now)
            last = queue.last_task_runs(connection, self._space)
        return [self._job_status(task, standing.get(task), last.get(task)) for task in TASKS]

    def run(self, task: str) -> JobStatus:
        """Run a task of this space now, to its end, even if it is not due.

        An interrupted task continues where it stopped. Raises Conflict if another process runs it.
        """
        name = validation.parse_label("task", task)
        if name not in TASKS:
            raise InvalidInput("task", f"is not one of {', '.join(TASKS)}")
        if name not in self._runtime.tasks:
            raise InvalidInput("task", f"{name} has nothing to work with; docs/jobs.md says what")
        self._runtime.periodic_runner().run(self._space, name)
        return next(one for one in self.list() if one.task == name)

    def run_due(self) -> int:
        """Run the due tasks of every space now. Return how many tasks finished."""
        hand = self._runtime.periodic_runner()
        hand.plan()
        return hand.drain()

    def start(self) -> None:
        """Start background threads that learn queued turns and run the due tasks of every space.

        They run until this memory is closed.
        """
        self._runtime.start_background_work()

    def _job_status(self, task: str, standing: TaskStatus | None, last: JobRun | None) -> JobStatus:
        on = task in self._runtime.tasks and task in self._runtime.upkeep.intervals
        if standing is None:
            return JobStatus(task=task, state="idle" if on else "off", last=last)
        return JobStatus(
            task=task,
            state=self._job_state(standing, on=on),
            due_at=standing.due_at if on else None,
            counts=standing.counts,
            attempts=standing.attempts,
            last=last,
        )

    def _job_state(self, standing: TaskStatus, *, on: bool) -> Literal["idle", "running", "waiting", "failed", "off"]:
        if standing.is_leased:
            return "running"
        if not on:
            return "off"
        if standing.problem is not None:
            return "failed"
        due = standing.has_begun or standing.due_at <= self._storage.clock()
        return "waiting" if due else "idle"

    # The queue of turns to learn.

    def wait_for_learning(self, wait_seconds: int = limits.CATCH_UP_WAIT_SECONDS, *, thread: str | None = None) -> int:
        """Learn the queued turns now, and wait for turns that other workers hold.

        Otherwise this happens in the background. Return how many turns were learned here. `thread`
        limits it to the due turns of one conversation in this space; for a view without a thread,
        that is the id of its chat.
        """
        most = validation.parse_int("wait_seconds", wait_seconds, 0, limits.CATCH_UP_MAX_SECONDS)
        named = validation.parse_optional_label("thread", thread)
        runner = JobRunner(self._require_pipeline())
        if named is None:
            return runner.wait_for_all(most)
        return runner.wait_for_thread(self._space, named, most)

    def start_learning(self) -> None:
        """Start threads that also learn the turns that other processes queue, until close.

        Otherwise a process starts them when it queues a turn itself, or finds one left in the
        queue.
        """
        self._require_pipeline()
        self._runtime.wake_learners()

    def _require_pipeline(self) -> LearningPipeline:
        if self._runtime.pipeline is None:
            raise InvalidInput("learn", "nothing is learned; set learn.enabled to true")
        return self._runtime.pipeline

    def pending(self) -> LearningQueueStatus:
        """Return what was queued in this space and is not learned yet."""
        with self._storage.database.read() as connection:
            return count_queue(connection, self._space)

    def retry_learning(self) -> int:
        """Queue the turns again that failed; return how many."""
        database, now = self._storage.database, self._storage.clock()
        count = database.write(lambda c: unpark_jobs(c, database.dialect, self._space, now))
        self._runtime.wake_learners()
        return count

    def learn_again(self) -> int:
        """Queue the episodes that are kept once more, for example for a better model; return how many.

        What is known already is not doubled, and what was forgotten, replaced or corrected since
        stays so.
        """
        self._require_pipeline()
        now, audiences = self._storage.clock(), self._storage.audiences
        count, after = 0, None
        while True:
            page = partial(queue_again, audiences=audiences, space=self._space, at=now, after=after)
            queued, after = self._storage.database.write(page)
            count += queued
            if after is None:
                break
        self._runtime.wake_learners()
        return count

    # Expiry and purge.

    def expire(self) -> Expired:
        """Expire memories that are past their time, unused or over the limits of the settings.

        Turns, proposals and notes past their retention are deleted as well. Runs now.
        """
        done = run_task(build_expire_task(self._storage, self._runtime.upkeep), self._space)
        cleared = done.counts.get("stale", 0) + done.counts.get("changes", 0)
        known = _known_counts(Expired, done.counts)
        return Expired(**known, cleared=cleared, waits=_clock_warning(done))

    def purge(self, confirm_clock: bool = False) -> Purged:
        """Delete for good what was forgotten or expired long enough ago.

        If the clock jumped, nothing is deleted unless `confirm_clock` confirms that it is right
        now.
        """
        if validation.parse_bool("confirm_clock", confirm_clock):
            self._storage.write_as(self._space, "system", clock_guard.accept_clock)
        done = run_task(build_purge_task(self._storage, self._runtime.upkeep), self._space)
        return Purged(
            count=done.counts.get("purged", 0), postponed=done.counts.get("postponed", 0), waits=_clock_warning(done)
        )

    # Consolidation, reflection and summaries. These also run as scheduled tasks.

    def consolidate(self) -> Consolidated:
        """Merge duplicate memories of each person.

        Duplicates have the same text or the same slot or, with a language model, the same meaning.
        Only memories with the same audience are merged. No data is lost: `undo_consolidation`
        reverts a run.
        """
        build = partial(build_consolidate_task, self._storage, self._runtime.retriever)
        on = self._runtime.upkeep.consolidate_enabled
        done = self._run(Consolidated, build, "consolidate.enabled", on=on)
        return replace(done, run=str(done.run))  # a number among the counts

    def undo_consolidation(self, run: str) -> int:
        """Restore every memory that a run merged; return how many.

        Skips a memory that was changed since, or whose merge target was forgotten.
        """
        name = validation.parse_label("run", run)
        with self._storage.database.read() as connection:
            merged = consolidation.list_merges(connection, self._space, name)
        return sum(
            self._storage.write_as(
                self._space,
                "system",
                lambda tx, kept=kept: consolidation.undo_merges(tx, name, kept, merged[kept]),  # type: ignore[misc]
            )
            for kept in consolidation.order_outermost_first(merged)
        )

    def reflect(self) -> Reflected:
        """Derive insights from what each person said in private, at most once a day per person."""
        build, on = partial(build_reflect_task, self._storage), self._runtime.upkeep.reflect_enabled
        return self._run(Reflected, build, "reflect.enabled", on=on)

    def summarize(self) -> Summarised:
        """Summarize the private conversations that have ended, if turns are kept."""
        build = partial(build_summarize_task, self._storage)
        on = self._runtime.upkeep.reflect_summaries
        return self._run(Summarised, build, "reflect.summaries", on=on)

    def _run(self, kind: type[ReportT], build: Callable[..., TaskStep], setting: str, *, on: bool) -> ReportT:
        """Run a task that may use the language model; report its counts, and why it was skipped."""
        learning = self._runtime.learning
        model = None if learning is None else learning.model
        allowance = Allowance() if learning is None else learning.allowance
        self._storage.accesses.flush()
        task = build(self._runtime.upkeep, model, allowance)
        counts = run_task(task, self._space).counts
        if counts.get("insights") or counts.get("summaries"):
            self._runtime.wake_indexer()
        reason = "" if model is not None else _NO_MODEL
        skipped = reason if on else _TASK_DISABLED.format(setting)
        return kind(**_known_counts(kind, counts), skipped=skipped)


def _clock_warning(done: StepProgress) -> str | None:
    return _CLOCK_WARNING if clock_guard.WAITS_FOR_CLOCK in done.counts else None


def _known_counts(report: type, counts: Mapping[str, object]) -> dict[str, Any]:
    return {one.name: counts[one.name] for one in fields(report) if one.name in counts}
