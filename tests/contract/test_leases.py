"""A worker that was killed is followed by another one within 15 seconds; one that is slow keeps
what it works at."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

import tacit
from tacit import limits
from tacit.memory import Memory
from tacit.settings import LearnSettings, Settings
from tests.contract.chores import TASK, ticked, ticking
from tests.contract.conftest import Open
from tests.contract.embedders import Table
from tests.contract.processes import another
from tests.contract.rooms import ALICE, SetClock, kept, private
from tests.contract.rows import rows

IDLE = Settings(learn=LearnSettings(workers=0))
TAKEN_OVER_SECONDS = 15.0 - limits.LEARN_POLL_SECONDS  # whoever looks for work does so every 2 s
PATIENCE_SECONDS = 60.0
STEP_SECONDS = 4
TURN = "Remember that box 1 holds item 11"
_BEGIN = """
from tacit.settings import LearnSettings, Settings
from tests.contract.chores import TASK, ticking
from tests.contract.embedders import Table

def hang(*_):
    print("begun", flush=True)
    time.sleep(600)

class Hanging(Table):
    embed = hang

"""
_RUN = """
memory = tacit.open(url, clock=clock, embedder=None)
memory._runtime.tasks[TASK] = ticking(memory, 1, hang)
memory.jobs.run(TASK)
"""
_LEARN = """
settings = Settings(learn=LearnSettings(workers=0))
memory = tacit.open(url, clock=clock, embedder=Hanging({}), settings=settings)
memory.jobs.wait_for_learning()
"""


class Waiting(Table):
    """An embedder that says when it is asked, and answers when it is let go."""

    def __init__(self) -> None:
        super().__init__({})
        self.begun, self.answering = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.begun.set()
        assert self.answering.wait(PATIENCE_SECONDS)
        return super().embed(texts)


def kill_in_the_middle(url: str, clock: SetClock, act: str) -> None:
    """Another process begins to work, and is killed."""
    with another(url, clock, _BEGIN + act) as worker:
        assert worker.printed.readline() == "begun\n"
        worker.kill()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < deadline, "nobody renewed it"
        time.sleep(0.002)


def end_of_lease(memory: Memory) -> int:
    sql = "SELECT coalesce(max(leased_until), 0) FROM jobs"
    return int(rows(memory, sql)[0][0])


def pass_time(memory: Memory, clock: SetClock, *, minutes: int) -> Iterator[None]:
    """In steps that are shorter than a lease, each of which the holder sees."""
    for _ in range(minutes * 60 // STEP_SECONDS):
        before = end_of_lease(memory)
        clock.forward(seconds=STEP_SECONDS)
        until(partial(_ends_later, memory, before))
        yield


def _ends_later(memory: Memory, than: int) -> bool:
    return end_of_lease(memory) > than


@contextmanager
def in_background(work: Callable[[], object]) -> Iterator[None]:
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def test_a_killed_workers_task_is_taken_over_within_15_seconds(shared_url: str, opened: Open, clock: SetClock) -> None:
    memory = opened(shared_url, settings=IDLE)
    memory._runtime.tasks[TASK] = ticking(memory, 1)
    kept(private(memory, ALICE), "Sarah likes tea")
    kill_in_the_middle(shared_url, clock, _RUN)
    with pytest.raises(tacit.Conflict):
        memory.jobs.run(TASK)
    clock.forward(seconds=TAKEN_OVER_SECONDS)
    assert memory.jobs.run(TASK).state == "idle"
    assert ticked(memory) == [1]


def test_a_killed_workers_turn_is_taken_over_within_15_seconds(shared_url: str, opened: Open, clock: SetClock) -> None:
    memory = opened(shared_url, settings=IDLE)
    view = private(memory, ALICE)
    view.learn([tacit.Message("user", TURN)])
    kill_in_the_middle(shared_url, clock, _LEARN)
    assert memory.jobs.wait_for_learning(0) == 0
    clock.forward(seconds=TAKEN_OVER_SECONDS)
    assert memory.jobs.wait_for_learning(0) == 1
    assert [one.content for one in view.list().items] == ["Box 1 holds item 11"]


def test_a_task_that_runs_for_minutes_is_not_taken_over(
    database_url: str, opened: Open, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LEASE_RENEWAL_SECONDS", 0.01)
    memory = opened(database_url, settings=IDLE)
    kept(private(memory, ALICE), "Sarah likes tea")
    begun, go_on = threading.Event(), threading.Event()

    def hear(_: str, __: int) -> None:
        begun.set()
        assert go_on.wait(PATIENCE_SECONDS)

    memory._runtime.tasks[TASK] = ticking(memory, 1, hear)
    with in_background(lambda: memory.jobs.run(TASK)):
        try:
            assert begun.wait(PATIENCE_SECONDS)
            for _ in pass_time(memory, clock, minutes=3):
                with pytest.raises(tacit.Conflict, match="another worker"):
                    memory.jobs.run(TASK)
        finally:
            go_on.set()
    assert ticked(memory) == [1]


def test_a_turn_that_takes_minutes_is_not_taken_over(
    shared_url: str, opened: Open, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LEASE_RENEWAL_SECONDS", 0.01)
    slow = Waiting()
    memory, other = opened(shared_url, settings=IDLE, embedder=slow), opened(shared_url)
    view = private(memory, ALICE)
    view.learn([tacit.Message("user", TURN)])
    with in_background(memory.jobs.wait_for_learning):
        try:
            assert slow.begun.wait(PATIENCE_SECONDS)
            for _ in pass_time(other, clock, minutes=3):
                assert other.jobs.wait_for_learning(0) == 0
        finally:
            slow.answering.set()
    assert [one.content for one in view.list().items] == ["Box 1 holds item 11"]
    assert memory.jobs.pending().turns == 0


def test_a_worker_that_hangs_does_not_keep_a_task_for_ever(
    database_url: str, opened: Open, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LEASE_RENEWAL_SECONDS", 0.01)
    monkeypatch.setattr(limits, "LEASE_HELD_MAX_SECONDS", 0.0)
    memory = opened(database_url, settings=IDLE)
    kept(private(memory, ALICE), "Sarah likes tea")
    begun, go_on = threading.Event(), threading.Event()

    def hear(_: str, __: int) -> None:
        if not begun.is_set():
            begun.set()
            assert go_on.wait(PATIENCE_SECONDS)

    memory._runtime.tasks[TASK] = ticking(memory, 1, hear)
    lost: list[BaseException] = []

    def hang() -> None:
        try:
            memory.jobs.run(TASK)
        except tacit.Conflict as error:
            lost.append(error)

    with in_background(hang):
        try:
            assert begun.wait(PATIENCE_SECONDS)
            clock.forward(seconds=TAKEN_OVER_SECONDS)
            assert memory.jobs.run(TASK).state == "idle"
        finally:
            go_on.set()
    assert len(lost) == 1
    assert ticked(memory) == [1]
