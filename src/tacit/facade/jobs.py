"""What comes round in a space: how it stands, and running it now."""

from __future__ import annotations

from typing import Literal

from tacit import limits
from tacit.errors import InvalidInput
from tacit.facade.opened import Opened
from tacit.records import validation
from tacit.records.results import JobRun, JobStatus
from tacit.storage import queue
from tacit.storage.queue import TaskRun, TaskStatus

TASKS = tuple(limits.JOBS_EVERY_HOURS)


class MemoryJobs(Opened):
    def jobs(self) -> list[JobStatus]:
        """The tasks of this space: when each is due, how far it is, and how it went last."""
        now = self._storage.clock()
        with self._storage.database.read() as connection:
            standing = queue.read_task_statuses(connection, self._space, TASKS, now)
            last = queue.last_task_runs(connection, self._space)
        return [self._job_status(task, standing.get(task), last.get(task)) for task in TASKS]

    def run_job(self, task: str) -> JobStatus:
        """Run a task of this space here and now, to its end, whenever it is due; one that was
        interrupted goes on from where it was. Conflict: somebody else is at it."""
        name = validation.parse_identifier("task", task, limits.LABEL_MAX_CHARS)
        if name not in TASKS:
            raise InvalidInput("task", f"is not one of {', '.join(TASKS)}")
        if name not in self._runtime.tasks:
            raise InvalidInput("task", f"{name} has nothing to work with; docs/jobs.md says what")
        self._runtime.periodic_runner().run(self._space, name)
        return next(one for one in self.jobs() if one.task == name)

    def run_due_jobs(self) -> int:
        """Run what is due in every space, here and now. Says how many tasks came to their end."""
        hand = self._runtime.periodic_runner()
        hand.plan()
        return hand.drain()

    def keep_working(self) -> None:
        """Learn what other processes hand over, and run what is due in every space, in the
        background, until this is closed."""
        self._runtime.start_background_work()

    def _job_status(
        self, task: str, standing: TaskStatus | None, last: TaskRun | None
    ) -> JobStatus:
        on = task in self._runtime.tasks and task in self._runtime.upkeep.intervals
        if standing is None:
            return JobStatus(task=task, state="idle" if on else "off", last=_run(last))
        return JobStatus(
            task=task,
            state=self._job_state(standing, on=on),
            due_at=standing.due_at if on else None,
            counts=standing.counts,
            attempts=standing.attempts,
            last=_run(last),
        )

    def _job_state(
        self, standing: TaskStatus, *, on: bool
    ) -> Literal["idle", "running", "waiting", "failed", "off"]:
        if standing.is_leased:
            return "running"
        if not on:
            return "off"
        if standing.problem is not None:
            return "failed"
        due = standing.has_begun or standing.due_at <= self._storage.clock()
        return "waiting" if due else "idle"


def _run(last: TaskRun | None) -> JobRun | None:
    return None if last is None else JobRun(**last._asdict())
