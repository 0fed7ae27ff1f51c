"""Tasks that come round, step by step under a lease. Any number of hands, in any number of
processes, share them: each task of a space is run by one at a time, and gone on with by another
where that one died."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import Conflict, StoreError
from tacit.jobs.again import again
from tacit.lifecycle.progress import Progress, Work
from tacit.storage import queue, spaces
from tacit.storage.queue import LeaseLost, ScheduledTask
from tacit.storage.store import Store
from tacit.telemetry.metrics import TASK_COUNT, TASK_SECONDS

_log = logging.getLogger(__name__)
_ASKED_FOR = timedelta(days=1)  # when it would be due again, if it came round
Stop = Callable[[], bool]
Pause = Callable[[float], object]  # hears how long the step before has taken


@dataclass(frozen=True, slots=True)
class Rounds:
    """One hand: it does one thing at a time."""

    store: Store
    tasks: Mapping[str, Work]
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
        stop: Stop = lambda: False,
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

    def _run_to_end(self, errand: ScheduledTask, stop: Stop, pause: Pause) -> bool:
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

    def _run_steps(self, errand: ScheduledTask, stop: Stop, pause: Pause) -> bool:
        """Step by step. Whether it came to its end, rather than being stopped."""
        step = self.tasks[errand.task]
        done = Progress(cursor=errand.cursor, counts=errand.counts)
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

    def _run_step(self, errand: ScheduledTask, step: Work, before: Progress) -> Progress:
        saved: list[Progress] = []

        def save(connection: Connection, after: Progress) -> None:
            self._save(connection, errand, after)
            saved[:] = [after]

        with self.store.leases.hold(partial(queue.renew_task, errand)):
            after = step(errand.space, before, save)
        if saved != [after]:  # it had nothing to write: then this is all there is to keep
            self.store.database.write(lambda connection: save(connection, after))
        return after

    def _save(self, connection: Connection, errand: ScheduledTask, after: Progress) -> None:
        """The last step ends the run in its own transaction: nobody finds it done and not ended."""
        now = self.store.clock()
        if after.cursor is not None:
            queue.save_task_progress(connection, errand, after.cursor, after.counts, now)
            return
        every = self.intervals.get(errand.task, _ASKED_FOR)
        queue.finish_task(connection, errand, after.counts, now, now + every)

    def _record_failure(self, errand: ScheduledTask, failed: Exception) -> None:
        """Where not even this can be written, the lease stays ours, and then runs out."""
        self.store.meter.count(TASK_COUNT, task=errand.task, outcome="error")
        now, next_time = self.store.clock(), again(failed, errand.attempts)
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
