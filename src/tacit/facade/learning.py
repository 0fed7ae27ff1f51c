"""What waits to be learned, and who learns it."""

from __future__ import annotations

from tacit import limits
from tacit.errors import InvalidInput
from tacit.facade.opened import Opened
from tacit.jobs.worker import JobRunner
from tacit.records import validation
from tacit.records.results import LearningQueueStatus
from tacit.storage.queue import count_queue, unpark_jobs


class MemoryLearning(Opened):
    def catch_up(
        self, wait_seconds: int = limits.CATCH_UP_WAIT_SECONDS, *, thread: str | None = None
    ) -> int:
        """Learn what waits, now and here, and wait for what others are at; otherwise it happens in
        the background. Says how many turns were learned here. With `thread` (where a view has none,
        the id of its chat), only what is due of that conversation in this space."""
        most = validation.parse_int("wait_seconds", wait_seconds, 0, limits.CATCH_UP_MAX_SECONDS)
        named = validation.parse_optional_identifier("thread", thread, limits.LABEL_MAX_CHARS)
        if self._runtime.pipeline is None:
            raise InvalidInput("learn", "nothing is learned; set learn.enabled to true")
        runner = JobRunner(self._runtime.pipeline)
        if named is None:
            return runner.wait_for_all(most)
        return runner.wait_for_thread(self._space, named, most)

    def keep_learning(self) -> None:
        """Learn what other processes hand over, too, until this is closed. Otherwise a process
        begins when it hands over something itself, or finds something left."""
        if self._runtime.pipeline is None:
            raise InvalidInput("learn", "nothing is learned; set learn.enabled to true")
        self._runtime.wake_learners()

    def waiting(self) -> LearningQueueStatus:
        """What was accepted in this space and is not learned yet."""
        with self._storage.database.read() as connection:
            queue = count_queue(connection, self._space)
        return LearningQueueStatus(
            turns=queue.waiting,
            parked=queue.parked,
            oldest=queue.oldest,
            problems=queue.problems,
        )

    def retry_learning(self) -> int:
        """Try again what was given up; says how many turns that are."""
        now = self._storage.clock()
        count = self._storage.database.write(lambda c: unpark_jobs(c, self._space, now))
        self._runtime.wake_learners()
        return count
