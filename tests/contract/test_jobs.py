"""What comes round: in every space at its time, by one at a time, to its end, whoever dies."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import select, update

import tacit
from tacit import limits
from tacit.errors import EmbeddingFailed, LanguageOverBudget
from tacit.jobs.scheduler import PeriodicRunner
from tacit.lifecycle.tasks import TaskStep
from tacit.memory import Memory
from tacit.records.results import JobStatus
from tacit.settings import EverySettings, JobsSettings, LearnSettings, Settings
from tacit.storage.queue import claim_task, has_overdue_tasks, task_phase
from tacit.storage.schema import job_runs
from tacit.storage.schema import jobs as queue
from tests.contract.chores import TASK, ticked, ticking
from tests.contract.conftest import Open
from tests.contract.embedders import Table
from tests.contract.processes import another, elsewhere
from tests.contract.rooms import ALICE, BOB, SetClock, kept, private
from tests.contract.rows import rows
from tests.contract.threads import PATIENCE_SECONDS, until

ALONE = EverySettings(expire=None, purge=None, consolidate=None, reflect=None, reembed=None)
DAY = timedelta(days=1)
Begin = Callable[..., Memory]


def settings(*, workers: int = 0, on_open: bool = False, every: EverySettings = ALONE) -> Settings:
    """Nothing comes round but the task of the tests."""
    return Settings(learn=LearnSettings(workers=workers), jobs=JobsSettings(every=every, on_open=on_open))


def working(opened: Open, url: str, task: Callable[[Memory], TaskStep], **options: object) -> Memory:
    memory = opened(url, settings=settings(**options))  # type: ignore[arg-type]
    memory._runtime.tasks[TASK] = task(memory)
    return memory


def inhabited(memory: Memory, *names: str) -> Memory:
    for name in names or ("default",):
        kept(private(memory.space(name), ALICE), "Sarah likes tea")
    return memory


@pytest.fixture
def begin(database_url: str, opened: Open) -> Begin:
    """Opens a memory with somebody in it, whose task ticks off so many things."""

    def begun(length: int, hear: Callable[[str, int], None] = lambda _, __: None, **options: object) -> Memory:
        return inhabited(working(opened, database_url, partial(ticking, length=length, hear=hear), **options))

    return begun


def status(memory: Memory, task: str = TASK) -> JobStatus:
    return next(one for one in memory.jobs.list() if one.task == task)


def problems(memory: Memory) -> list[str | None]:
    with memory._storage.database.read() as connection:
        runs = select(job_runs.c.problem).order_by(job_runs.c.task, job_runs.c.seq)
        return list(connection.execute(runs).scalars())


def cursor(memory: Memory) -> str:
    with memory._storage.database.read() as connection:
        found: str = connection.execute(select(queue.c.payload)).scalar_one()
    return found


class Stumbling:
    """Fails when it comes to a thing, as often as it is told to."""

    def __init__(self, at: int, times: int, error: Exception) -> None:
        self._at, self._left, self._error = at, times, error

    def __call__(self, _: str, number: int) -> None:
        if number == self._at and self._left:
            self._left -= 1
            raise self._error


# When


def test_each_space_has_its_own_part_of_the_period(database_url: str, opened: Open, clock: SetClock) -> None:
    names = [f"space-{number}" for number in range(12)]
    memory = inhabited(working(opened, database_url, partial(ticking, length=1)), *names)
    assert memory.jobs.run_due() == 0
    due = [status(memory.space(name)).due_at for name in names]
    waits = sorted((at - clock.now) / DAY for at in due if at is not None)
    assert len(set(waits)) == 12
    assert waits[0] >= 0
    assert waits[-1] < 1
    assert waits[-1] - waits[0] > 0.5
    assert due[3] == clock.now + task_phase("space-3", TASK) * DAY


def test_a_task_runs_when_it_is_due_and_comes_round_again(begin: Begin, clock: SetClock) -> None:
    memory = begin(3)
    assert status(memory) == JobStatus(task=TASK, state="idle")
    assert memory.jobs.run_due() == 0
    planned = status(memory).due_at
    assert planned is not None
    clock.now = planned
    assert status(memory).state == "waiting"
    assert memory.jobs.run_due() == 1
    ran = tacit.JobRun(started_at=planned, finished_at=planned, counts={"ticked": 3}, problem=None)
    assert status(memory) == JobStatus(task=TASK, state="idle", due_at=planned + DAY, last=ran)
    clock.forward(seconds=DAY.total_seconds() - 1)
    assert memory.jobs.run_due() == 0
    clock.forward(seconds=1)
    assert memory.jobs.run_due() == 1
    assert ticked(memory) == [2, 2, 2]


@pytest.mark.parametrize("how", ["a shorter period", "a clock set back"])
def test_what_is_due_too_far_away_is_brought_in(how: str, shared_url: str, opened: Open, clock: SetClock) -> None:
    memory = inhabited(working(opened, shared_url, partial(ticking, length=1)))
    memory.jobs.run(TASK)
    every, hour = ALONE, timedelta(hours=1)
    if how == "a shorter period":
        every = EverySettings(expire=None, purge=None, consolidate=None, reflect=None,
                              reembed=None, summarise=hour)  # fmt: skip
    else:
        clock.forward(days=-365)
    later = working(opened, shared_url, partial(ticking, length=1), every=every)
    clock.forward(seconds=1)
    later.jobs.run_due()
    due = status(later).due_at
    assert due is not None
    assert due <= clock.now + (hour if every is not ALONE else DAY)


def test_a_lease_from_before_the_clock_was_set_back_holds_nobody_up(begin: Begin, clock: SetClock) -> None:
    memory = begin(1)
    memory.jobs.run_due()
    hold(memory, clock)
    clock.forward(days=-365)
    assert memory.jobs.run(TASK).last is not None


def test_a_task_that_is_off_comes_round_only_when_it_is_asked_for(begin: Begin, clock: SetClock) -> None:
    off = EverySettings(expire=None, purge=None, consolidate=None, reflect=None, reembed=None,
                        summarise=None)  # fmt: skip
    memory = begin(2, every=off)
    clock.forward(days=400)
    assert memory.jobs.run_due() == 0
    assert status(memory).state == "off"
    done = memory.jobs.run(TASK)
    assert (done.state, done.due_at) == ("off", None)
    assert done.last is not None
    assert ticked(memory) == [1, 1]
    clock.forward(days=400)
    assert memory.jobs.run_due() == 0


def test_only_what_exists_and_has_something_to_work_with_runs(memory: Memory) -> None:
    for bad in ("", "sweep", "expire; purge", "\x1fexpire", None, 3):
        with pytest.raises(tacit.InvalidInput) as refused:
            memory.jobs.run(bad)  # type: ignore[arg-type]
        assert refused.value.field == "task"
    with pytest.raises(tacit.InvalidInput, match=r"nothing to work with; docs/jobs\.md"):
        memory.jobs.run("reembed")  # there is no embedder
    assert status(memory, "reembed").state == "off"


# One at a time


def hold(memory: Memory, clock: SetClock, *, early: bool = True) -> None:
    """Somebody takes the task of the default space, and dies."""
    taken = memory._storage.database.write(lambda c: claim_task(c, "default", TASK, "dead", clock.now, early=early))
    assert taken is not None


def test_however_many_hands_there_are_a_task_is_run_by_one(shared_url: str, opened: Open, clock: SetClock) -> None:
    names = [f"space-{number}" for number in range(3)]
    at_it: list[str] = []
    together: list[str] = []

    def hear(space: str, _: int) -> None:
        if space in at_it:
            together.append(space)
        at_it.append(space)
        time.sleep(0.002)  # so that others have a chance to get in between
        at_it.remove(space)

    both = [working(opened, shared_url, partial(ticking, length=10, hear=hear)) for _ in range(2)]
    inhabited(both[0], *names).jobs.run_due()
    clock.forward(days=1)
    ended: list[int] = []
    hands = [
        threading.Thread(target=lambda m=memory: ended.append(m._runtime.periodic_runner().drain()))
        for memory in both * 3
    ]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
    assert sum(ended) == len(names)
    assert together == []
    assert [ticked(both[0], name) for name in names] == [[1] * 10] * len(names)


_DRAIN = """
from tests.contract.chores import TASK, ticking
memory._runtime.tasks[TASK] = ticking(memory, 20)
print(memory.jobs.run_due())
"""


def test_processes_share_the_work(shared_url: str, opened: Open, clock: SetClock) -> None:
    names = [f"space-{number}" for number in range(4)]
    memory = inhabited(working(opened, shared_url, partial(ticking, length=20)), *names)
    memory.jobs.run_due()
    clock.forward(days=1)
    printed: list[str] = []
    there = [threading.Thread(target=lambda: printed.append(elsewhere(shared_url, clock, _DRAIN))) for _ in range(3)]
    for one in there:
        one.start()
    for one in there:
        one.join()
    assert [ticked(memory, name) for name in names] == [[1] * 20] * 4
    runs = [status(memory.space(name)).last for name in names]
    assert [run.counts for run in runs if run is not None] == [{"ticked": 20}] * 4
    assert sum(map(int, printed)) >= 4  # other tasks come round there, too


def test_who_is_at_it_is_left_alone(begin: Begin, clock: SetClock) -> None:
    memory = begin(2)
    memory.jobs.run_due()
    hold(memory, clock)
    assert status(memory).state == "running"
    with pytest.raises(tacit.Conflict, match="another worker"):
        memory.jobs.run(TASK)
    clock.forward(seconds=limits.LEASE_SECONDS)
    assert memory.jobs.run(TASK).state == "idle"
    assert ticked(memory) == [1, 1]


def test_what_somebody_else_has_just_done_is_not_done_again(begin: Begin, clock: SetClock) -> None:
    memory = begin(1)
    memory.jobs.run_due()
    clock.forward(days=1)
    hand = memory._runtime.periodic_runner()
    assert hand._list_due(None) == [("default", TASK)]
    memory.jobs.run_due()
    assert hand._claim("default", TASK, early=False) is None


# Whoever dies


def test_whose_lease_is_lost_writes_nothing(begin: Begin, clock: SetClock) -> None:
    memory = begin(4)
    other = PeriodicRunner(memory._storage, {TASK: ticking(memory, 4)}, memory._runtime.upkeep.intervals)

    def hear(_: str, number: int) -> None:
        if number == 2:  # it took too long: somebody else takes over, and comes to the end
            clock.forward(seconds=limits.LEASE_SECONDS + 1)
            other.run("default", TASK)

    memory._runtime.tasks[TASK] = ticking(memory, 4, hear)
    with pytest.raises(tacit.Conflict, match="taken over"):
        memory.jobs.run(TASK)
    assert ticked(memory) == [1, 1, 1, 1]
    assert problems(memory) == [None]


def test_what_was_interrupted_goes_on_from_where_it_was(begin: Begin, clock: SetClock) -> None:
    memory = begin(5)
    stopping = iter([False, False, False, True, True, True])
    memory.jobs.run_due()
    clock.forward(days=1)
    assert memory._runtime.periodic_runner().drain(stop=lambda: next(stopping, True)) == 0
    found = status(memory)
    assert (found.state, found.last) == ("waiting", None)
    assert 0 < found.counts["ticked"] < 5
    began = clock.now
    clock.forward(seconds=5)
    assert memory.jobs.run_due() == 1  # at once: it was let go of
    assert ticked(memory) == [1] * 5
    last = status(memory).last
    assert last is not None
    assert (last.counts, last.started_at) == ({"ticked": 5}, began)


_TICK_AND_WAIT = """
from tests.contract.chores import TASK, ticking

def hear(_, number):
    print(number, flush=True)
    if number == {stop}:
        time.sleep(600)

memory = tacit.open(url, clock=clock, embedder=None)
memory._runtime.tasks[TASK] = ticking(memory, 6, hear)
memory.jobs.run(TASK)
"""


@pytest.mark.parametrize("stop", [0, 1, 5])
def test_after_a_kill_somebody_else_goes_on(stop: int, shared_url: str, opened: Open, clock: SetClock) -> None:
    memory = inhabited(working(opened, shared_url, partial(ticking, length=6)))
    with another(shared_url, clock, _TICK_AND_WAIT.format(stop=stop)) as worker:
        heard = [int(worker.printed.readline()) for _ in range(stop + 1)]
        worker.kill()
    assert heard == list(range(stop + 1))
    assert status(memory).state == "running"
    assert ticked(memory) == [1] * stop
    clock.forward(days=1)
    assert memory.jobs.run_due() == 1
    assert ticked(memory) == [1] * 6
    assert problems(memory) == [None]


# What goes wrong


def test_a_failure_is_told_by_its_kind_and_tried_again(begin: Begin, clock: SetClock) -> None:
    stumbling = Stumbling(2, 1, ValueError("what Alice said"))
    memory = begin(4, stumbling)
    with pytest.raises(ValueError, match="Alice"):
        memory.jobs.run(TASK)
    found = status(memory)
    wait = timedelta(seconds=limits.LEARN_RETRY_FIRST_SECONDS)
    assert (found.state, found.due_at, found.attempts) == ("failed", clock.now + wait, 1)
    assert found.last is not None
    assert (found.last.problem, found.last.counts) == ("ValueError", {"ticked": 2})
    assert memory.jobs.run_due() == 0
    clock.now += wait
    assert memory.jobs.run_due() == 1
    assert ticked(memory) == [1] * 4
    found = status(memory)
    assert (found.state, found.attempts) == ("idle", 0)
    assert found.last is not None
    assert (found.last.problem, found.last.counts) == (None, {"ticked": 4})
    assert problems(memory) == ["ValueError", None]


def test_it_is_never_given_up_and_begins_anew_where_it_stays_stuck(begin: Begin, clock: SetClock) -> None:
    stumbling = Stumbling(1, 30, ValueError())
    memory = begin(2, stumbling)
    memory.jobs.run_due()
    clock.forward(days=1)
    for attempt in range(30):
        assert memory.jobs.run_due() == 0, attempt
        assert status(memory).attempts == attempt + 1
        clock.forward(seconds=limits.LEARN_RETRY_MAX_SECONDS)
    assert memory.jobs.run_due() == 1
    assert ticked(memory) == [1 + 30 // limits.JOBS_RESUMES_MAX_COUNT, 1]
    assert problems(memory) == ["ValueError"] * (limits.JOBS_RUNS_KEEP_COUNT - 1) + [None]


def test_a_day_without_budget_is_nobodys_failure_and_a_refusal_of_the_database_is_one(
    begin: Begin, clock: SetClock
) -> None:
    memory = begin(1, Stumbling(0, 1, LanguageOverBudget("spent")))
    with pytest.raises(LanguageOverBudget):
        memory.jobs.run(TASK)
    found = status(memory)
    assert (found.state, found.attempts) == ("failed", 0)
    assert found.due_at == clock.now + timedelta(seconds=limits.LEARN_RETRY_MAX_SECONDS)
    memory._runtime.tasks[TASK] = ticking(memory, 1, Stumbling(0, 1, tacit.StoreUnavailable("no such column")))
    clock.forward(days=1)
    assert memory.jobs.run_due() == 0
    assert status(memory).attempts == 1
    assert "StoreUnavailable" in problems(memory)


def test_one_bad_task_holds_up_no_other(database_url: str, opened: Open, clock: SetClock) -> None:
    def hear(space: str, _: int) -> None:
        if space == "bad":
            raise ZeroDivisionError

    memory = working(opened, database_url, partial(ticking, length=2, hear=hear))
    inhabited(memory, "bad", "good", "other").jobs.run_due()
    clock.forward(days=1)
    assert memory.jobs.run_due() == 2
    assert [status(memory.space(name)).state for name in ("bad", "good", "other")] == [
        "failed", "idle", "idle",
    ]  # fmt: skip


def test_how_far_it_is_can_be_seen_meanwhile(database_url: str, opened: Open) -> None:
    seen: list[JobStatus] = []
    memory = inhabited(opened(database_url, settings=settings()))
    memory._runtime.tasks[TASK] = ticking(memory, 3, lambda _, __: seen.append(status(memory)))
    memory.jobs.run(TASK)
    assert [one.state for one in seen] == ["running"] * 3
    assert [dict(one.counts) for one in seen] == [{}, {"ticked": 1}, {"ticked": 2}]


# Beside everything else


def test_what_comes_round_is_nothing_that_waits_to_be_learned(shared_url: str, opened: Open, clock: SetClock) -> None:
    first = inhabited(working(opened, shared_url, partial(ticking, length=1)))
    first.jobs.run_due()
    clock.forward(days=2)
    waiting = first.jobs.pending()
    assert (waiting.turns, waiting.parked, waiting.oldest) == (0, 0, None)
    assert (first.jobs.wait_for_learning(), first.jobs.retry_learning()) == (0, 0)
    before = {one.name for one in threading.enumerate()}
    opened(shared_url, settings=settings(workers=2))
    assert {one.name for one in threading.enumerate()} - before == set()
    private(first, ALICE).wipe()
    first.admin.erase_person(ALICE.key)
    assert status(first).state == "waiting"
    private(first, ALICE).learn([tacit.Message("user", "Remember that box 7 holds item 77")])
    hold(first, clock)
    assert first.jobs.wait_for_learning() == 1
    assert first.jobs.pending().turns == 0


def test_a_space_that_is_erased_takes_its_tasks_along(database_url: str, opened: Open, clock: SetClock) -> None:
    memory = inhabited(opened(database_url, settings=settings()))

    def hear(_: str, number: int) -> None:
        if number == 1:
            memory.admin.erase_space()

    memory._runtime.tasks[TASK] = ticking(memory, 3, hear)
    memory.jobs.run_due()
    clock.forward(days=1)
    assert memory.jobs.run_due() == 0
    assert (memory.spaces(), ticked(memory), memory.jobs.run_due()) == ([], [], 0)
    assert status(memory) == JobStatus(task=TASK, state="idle")


def test_a_task_that_stopped_at_somebody_who_is_erased_begins_anew(begin: Begin) -> None:
    memory = begin(1)
    kept(private(memory, BOB), "Bob likes tea")
    for who, left in ((BOB, True), (ALICE, False)):
        memory.jobs.run_due()
        stopped = '{"started_at": 1, "cursor": "ext:telegram:1001", "counts": {}}'
        stop = update(queue).values(payload=stopped)
        memory._storage.database.write(lambda c: c.execute(stop))  # noqa: B023 - at once
        memory.admin.erase_person(who.key)
        assert ("1001" in cursor(memory)) is left


# In the background


def test_whoever_keeps_working_runs_what_is_due(begin: Begin, clock: SetClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LEARN_POLL_SECONDS", 0.02)
    memory = begin(3, workers=1)
    memory.jobs.start()
    memory.jobs.start()
    until(lambda: status(memory).due_at is not None)
    assert ticked(memory) == []
    clock.forward(days=1)
    until(lambda: status(memory).last is not None)
    assert ticked(memory) == [1] * 3
    private(memory, BOB).learn([tacit.Message("user", "Remember that box 7 holds item 77")])
    until(lambda: memory.jobs.pending().turns == 0)


def test_whoever_closes_lets_others_go_on(
    shared_url: str, opened: Open, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LEARN_POLL_SECONDS", 0.02)
    begun, closing = threading.Event(), threading.Event()

    def hear(_: str, number: int) -> None:
        if number == 1:
            begun.set()
            closing.wait(PATIENCE_SECONDS)

    other = inhabited(working(opened, shared_url, partial(ticking, length=3)))
    other.jobs.run_due()
    clock.forward(days=1)
    memory = working(opened, shared_url, partial(ticking, length=3, hear=hear), workers=1)
    memory.jobs.start()
    assert begun.wait(PATIENCE_SECONDS)
    memory._runtime._scheduler._stopping.set()
    closing.set()
    memory.close()
    assert [one.name for one in threading.enumerate() if one.name.startswith("tacit-jobs")] == []
    assert (status(other).state, ticked(other)) == ("waiting", [1, 1])
    assert other.jobs.run_due() == 1
    assert ticked(other) == [1] * 3


def _threads() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("tacit-jobs")]


def test_opening_a_memory_catches_up_on_what_is_overdue(shared_url: str, opened: Open, clock: SetClock) -> None:
    idle = opened(shared_url, settings=settings())
    view = private(idle, ALICE)
    id = kept(view, "The parcel comes", expires_at=clock.now + timedelta(hours=1))
    kept(private(idle.space("other"), ALICE), "Sarah likes tea")
    clock.forward(seconds=7_200)
    for quiet in (settings(on_open=True), settings(workers=1, every=EverySettings())):
        opened(shared_url, settings=quiet)  # no thread for it, or told not to
        assert _threads() == []
    eager = settings(workers=1, on_open=True, every=EverySettings())
    memory = opened(shared_url, settings=eager)
    until(lambda: all(status(memory, task).last is not None for task in ("expire", "purge")))
    assert view.show(id).state == "expired"
    assert status(memory.space("other"), "expire").last is None  # it has its own time
    assert status(memory, "consolidate").last is None
    memory.close()
    opened(shared_url, settings=eager)  # nothing is overdue
    assert _threads() == []
    clock.forward(seconds=3_600)
    memory = opened(shared_url, settings=eager)
    until(lambda: status(memory.space("other"), "expire").last is not None)


def test_opening_never_waits_for_what_is_overdue(shared_url: str, opened: Open, clock: SetClock) -> None:
    idle = inhabited(opened(shared_url, settings=settings()))
    clock.forward(days=1)
    with idle._storage.database.read() as connection:  # the first is asked for before any thread is
        assert has_overdue_tasks(connection, "default", ["expire", "purge"], clock.now)
        assert not has_overdue_tasks(connection, "nowhere", ["expire", "purge"], clock.now)
    eager = settings(workers=1, on_open=True, every=EverySettings())
    opened(shared_url, settings=eager).close()  # at once: what was begun is gone on with
    assert _threads() == []
    memory = opened(shared_url, settings=eager)
    until(lambda: status(memory, "expire").last is not None)


# Vectors


def test_missing_vectors_are_made_some_at_a_time(
    shared_url: str, opened: Open, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "EMBEDDING_BATCH_COUNT", 2)
    without = opened(shared_url, settings=settings())
    view = private(without, ALICE)
    for number in range(5):
        kept(view, f"Box {number} is blue")
    without.close()
    embedder = Table({})
    embedder.down = True
    memory = opened(shared_url, settings=settings(), embedder=embedder)
    until(lambda: memory._runtime.has_missing_vectors)  # it tried by itself, in vain
    with pytest.raises(EmbeddingFailed):
        memory.jobs.run("reembed")
    assert status(memory, "reembed").state == "off"  # by the settings of this test
    embedder.down = False
    clock.forward(days=1)
    done = memory.jobs.run("reembed")
    assert done.last is not None
    assert (done.last.problem, done.last.counts) == (None, {"embedded": 5})
    assert memory.admin.embedding().complete
    again = memory.jobs.run("reembed").last
    assert again is not None
    assert again.counts == {"embedded": 0}


IDLE = Settings(learn=LearnSettings(workers=0))


TAKEN_OVER_SECONDS = 15.0 - limits.LEARN_POLL_SECONDS  # whoever looks for work does so every 2 s


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
