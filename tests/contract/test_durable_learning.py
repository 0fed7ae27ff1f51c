"""What was accepted is learned: once, in order, whoever does it and whatever happens meanwhile."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import make_url, text, update

import tacit
from tacit import limits
from tacit.jobs.worker import JobRunner
from tacit.memory import Memory
from tacit.settings import LearnSettings, Settings
from tacit.storage.queue import claim_job, list_due_jobs
from tacit.storage.schema import jobs as queue
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.embedders import Table
from tests.contract.processes import elsewhere
from tests.contract.rooms import ALICE, BOB, CAROL, SetClock, private
from tests.contract.threads import PATIENCE_SECONDS, until
from tests.contract.traces import ERASE_ALL

IDLE = Settings(learn=LearnSettings(workers=0))
PAIR = Settings(learn=LearnSettings(workers=2))


@pytest.fixture
def idle(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=IDLE)


class Listening(Table):
    """An embedder that tells a test what is being learned, and waits if the test does."""

    def __init__(self, hear: Callable[[str], None] = lambda _: None) -> None:
        super().__init__({})
        self._hear = hear

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        for one in texts:
            self._hear(one)
        return super().embed(texts)


def fact(number: int, room: str = "box") -> str:
    return f"Remember that {room} {number} holds item {number}{number}"


def learned(number: int, room: str = "Box") -> str:
    return f"{room} {number} holds item {number}{number}"


def tell(view: View, *texts: str) -> None:
    assert view.learn([tacit.Message("user", text) for text in texts]).turns == len(texts)


def contents(view: View) -> list[str]:
    return sorted(one.content for one in view.list(limit=limits.PAGE_MAX_COUNT).items)


def spoil(memory: Memory, thread: str, payload: str) -> None:
    spoilt = update(queue).where(queue.c.thread == thread).values(payload=payload)
    memory._storage.database.write(lambda connection: connection.execute(spoilt))


def payload_of(memory: Memory, thread: str) -> str:
    with memory._storage.database.read() as connection:
        found = connection.execute(queue.select().where(queue.c.thread == thread)).one()
    payload: str = found.payload
    return payload


def lease(memory: Memory, clock: SetClock) -> None:
    """Somebody takes everything that is due, and dies."""
    database = memory._storage.database
    with database.read() as connection:
        due = list_due_jobs(connection, clock.now, 100)
    assert due
    for job in due:
        assert database.write(partial(claim_job, job=job, worker="dead", now=clock.now))


# Once, and in order


def test_what_was_accepted_survives_closing_and_opening(shared_url: str, opened: Open) -> None:
    first = opened(shared_url, settings=IDLE)
    tell(private(first, ALICE), fact(1), fact(2))
    first.close()
    second = opened(shared_url)
    until(lambda: second.jobs.pending().turns == 0)
    assert contents(private(second, ALICE)) == [learned(1), learned(2)]


def test_a_thread_is_learned_in_the_order_it_was_said(database_url: str, opened: Open) -> None:
    heard: list[str] = []
    memory = opened(database_url, settings=PAIR, embedder=Listening(heard.append))
    views = [private(memory, ALICE, thread="one"), private(memory, ALICE, thread="two")]
    for number in range(1, 9):
        for name, view in zip(("box", "jar"), views, strict=True):
            tell(view, fact(number, name))
    until(lambda: memory.jobs.pending().turns == 0)
    for name in ("Box", "Jar"):
        wanted = [learned(number, name) for number in range(1, 9)]
        assert [text for text in heard if text.startswith(name)] == wanted


def test_two_threads_are_learned_at_the_same_time(database_url: str, opened: Open) -> None:
    together = threading.Barrier(2)

    def meet(_: str) -> None:
        together.wait(PATIENCE_SECONDS)  # or it breaks, and the turn is not learned

    memory = opened(database_url, settings=PAIR, embedder=Listening(meet))
    alice, bob = private(memory, ALICE), private(memory, BOB)
    tell(alice, fact(1))
    tell(bob, fact(2))
    until(lambda: memory.jobs.pending().turns == 0)
    assert not together.broken
    assert (contents(alice), contents(bob)) == ([learned(1)], [learned(2)])


def test_memories_that_share_a_database_share_the_work(shared_url: str, opened: Open) -> None:
    heard: list[str] = []
    both = [opened(shared_url, settings=PAIR, embedder=Listening(heard.append)) for _ in range(2)]
    people = [tacit.Requester(f"telegram:{number}") for number in (11, 12, 13)]
    for number in range(8):
        for who in people:
            tell(private(both[number % 2], who), fact(number))
    until(lambda: both[0].jobs.pending().turns == 0)
    for who in people:
        view = private(both[0], who)
        assert contents(view) == [learned(number) for number in range(8)]
        assert {one.version for one in view.list(limit=100).items} == {1}


def test_work_of_somebody_who_died_is_taken_over_when_the_lease_is_over(idle: Memory, clock: SetClock) -> None:
    view = private(idle, ALICE)
    tell(view, fact(1), fact(2))
    lease(idle, clock)
    assert idle.jobs.wait_for_learning(0) == 0
    assert idle.jobs.pending().turns == 2
    clock.forward(seconds=limits.LEASE_SECONDS + 1)
    assert idle.jobs.wait_for_learning() == 2
    assert contents(view) == [learned(1), learned(2)]


def test_one_conversation_can_be_caught_up_with_alone(idle: Memory, clock: SetClock) -> None:
    alice, bob = private(idle, ALICE), private(idle, BOB)
    tell(bob, fact(1))
    lease(idle, clock)  # somebody is at Bob's, and does not get on
    tell(alice, fact(2), fact(3))
    assert idle.jobs.wait_for_learning(thread=ALICE.key) == 2
    assert contents(alice) == [learned(2), learned(3)]
    assert idle.jobs.wait_for_learning(thread=ALICE.key) == 0
    assert idle.jobs.wait_for_learning(0, thread=BOB.key) == 0
    assert idle.space("other").jobs.wait_for_learning(thread=BOB.key) == 0
    assert idle.jobs.pending().turns == 1
    clock.forward(seconds=limits.LEASE_SECONDS + 1)
    assert idle.jobs.wait_for_learning(thread=BOB.key) == 1


def test_workers_take_over_by_themselves(
    shared_url: str, opened: Open, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LEARN_POLL_SECONDS", 0.05)
    idle = opened(shared_url, settings=IDLE)
    view = private(idle, ALICE)
    tell(view, fact(1))
    lease(idle, clock)
    opened(shared_url)
    clock.forward(seconds=limits.LEASE_SECONDS + 1)
    until(lambda: idle.jobs.pending().turns == 0)
    assert contents(view) == [learned(1)]


# What goes wrong


def test_what_cannot_be_learned_is_parked_and_tried_again_on_request(idle: Memory, clock: SetClock) -> None:
    view = private(idle, ALICE, thread="bad")
    tell(view, fact(1))
    good = payload_of(idle, "bad")
    spoil(idle, "bad", "{")
    for attempt in range(limits.LEARN_ATTEMPTS_MAX_COUNT):
        assert (idle.jobs.pending().turns, idle.jobs.pending().parked) == (1, 0), attempt
        assert idle.jobs.wait_for_learning() == 0
        clock.forward(seconds=limits.LEARN_RETRY_MAX_SECONDS + 1)
    assert (idle.jobs.pending().turns, idle.jobs.pending().parked) == (0, 1)
    assert idle.jobs.pending().problems == ("JSONDecodeError",)
    spoil(idle, "bad", good)
    assert idle.jobs.wait_for_learning() == 0
    assert idle.jobs.retry_learning() == 1
    assert idle.jobs.wait_for_learning() == 1
    assert contents(view) == [learned(1)]


def test_poison_holds_up_nobody_else(idle: Memory) -> None:
    bad, good = private(idle, ALICE, thread="bad"), private(idle, ALICE, thread="good")
    tell(bad, fact(1))
    tell(good, fact(2), fact(3))
    spoil(idle, "bad", '{"text": 4}')
    assert idle.jobs.wait_for_learning() == 2
    assert contents(good) == [learned(2), learned(3)]
    assert idle.jobs.pending().turns == 1


def test_what_was_parked_lets_the_rest_of_its_thread_go_on(idle: Memory, clock: SetClock) -> None:
    view = private(idle, ALICE, thread="bad")
    tell(view, fact(1))
    spoil(idle, "bad", "{")
    tell(view, fact(2))
    for _ in range(limits.LEARN_ATTEMPTS_MAX_COUNT):
        idle.jobs.wait_for_learning()
        clock.forward(seconds=limits.LEARN_RETRY_MAX_SECONDS + 1)
    idle.jobs.wait_for_learning()
    assert contents(view) == [learned(2)]


# Being told


def test_work_begins_when_something_is_accepted_and_not_at_the_next_look(
    database_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LEARN_POLL_SECONDS", 3_600.0)
    memory = opened(database_url)
    view = private(memory, ALICE)
    for number in range(5):
        tell(view, fact(number))
        until(lambda: memory.jobs.pending().turns == 0)
    assert contents(view) == [learned(number) for number in range(5)]


# What is erased is not learned


def test_a_turn_that_is_wiped_while_it_is_read_is_not_learned(shared_url: str, opened: Open) -> None:
    other = opened(shared_url, settings=IDLE)
    wipes: list[tacit.Erased] = []

    def wipe(_: str) -> None:
        wipes.append(private(other, ALICE).wipe())

    memory = opened(shared_url, settings=IDLE, embedder=Listening(wipe))
    view = private(memory, ALICE)
    tell(view, fact(1), fact(2))
    assert memory.jobs.wait_for_learning() == 0
    assert wipes
    assert memory.jobs.pending().turns == 0
    assert contents(view) == []


@pytest.mark.parametrize("how", ERASE_ALL)
def test_what_waits_goes_with_what_is_erased(idle: Memory, how: str) -> None:
    tell(private(idle, ALICE), fact(1))
    tell(private(idle, ALICE, thread="another"), fact(2))
    tell(private(idle, BOB), fact(3))
    ERASE_ALL[how](idle)
    left = 0 if how == "space" else 1
    assert idle.jobs.pending().turns == left
    assert idle.jobs.wait_for_learning() == left
    assert contents(private(idle, ALICE)) == []
    assert contents(private(idle, BOB)) == [learned(3)] * left


def test_a_memory_that_is_erased_with_its_turns_takes_along_what_waits_in_its_thread(idle: Memory) -> None:
    view, another = private(idle, ALICE), private(idle, ALICE, thread="another")
    first, second = view.remember("Box 1 is blue").id, view.remember("Box 2 is red").id
    assert first is not None
    assert second is not None
    tell(view, fact(1))
    tell(another, fact(2))
    tell(private(idle, BOB), fact(3))
    view.erase(second)
    assert idle.jobs.pending().turns == 3
    view.erase(first, turns=True)
    assert idle.jobs.pending().turns == 2
    idle.jobs.wait_for_learning()
    assert contents(view) == [learned(2)]


def test_a_job_that_took_the_number_of_another_is_learned_for_what_it_is(idle: Memory, clock: SetClock) -> None:
    view = private(idle, ALICE)
    tell(view, fact(1))
    with idle._storage.database.read() as connection:
        (stale,) = list_due_jobs(connection, clock(), 10)
    idle.jobs.wait_for_learning()
    tell(view, fact(2))  # the clock stands still: it gets the number of the one that was done
    assert idle._runtime.pipeline is not None
    JobRunner(idle._runtime.pipeline).run_job(stale)
    assert idle.jobs.pending().turns == 0
    assert contents(view) == [learned(1), learned(2)]


def test_catching_up_leaves_nothing_behind_while_somebody_else_is_at_it(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=PAIR)
    view = private(memory, ALICE)
    for number in range(5):
        tell(view, *(fact(5 * number + step) for step in range(5)))
        memory.jobs.wait_for_learning()
        assert memory.jobs.pending().turns == 0


_LISTENING = "FROM pg_stat_activity WHERE query LIKE 'LISTEN tacit_jobs%'"


_TELL = """
private(memory, ALICE).learn([tacit.Message("user", "Remember that box 7 holds item 77")])
"""


@pytest.fixture
def url(migrated_postgres_url: str) -> str:
    return migrated_postgres_url


@pytest.fixture
def no_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LEARN_POLL_SECONDS", 3_600.0)


def _ask(memory: Memory, statement: str) -> Any:
    return memory._storage.database.write(lambda c: c.execute(text(statement)).scalar())


def _at_work(memory: Memory) -> Memory:
    """A process that has accepted a turn works, from then on, for other processes as well."""
    tell(private(memory, CAROL), fact(1))
    until(lambda: memory.jobs.pending().turns == 0)
    until(lambda: bool(_ask(memory, f"SELECT count(*) {_LISTENING}") > 0))
    return memory


@pytest.mark.usefixtures("no_polling")
def test_a_turn_of_one_process_wakes_the_workers_of_another(url: str, opened: Open) -> None:
    accepting, _ = opened(url, settings=IDLE), _at_work(opened(url, settings=PAIR))
    for number in range(5):
        tell(private(accepting, BOB), fact(number))
        until(lambda: accepting.jobs.pending().turns == 0)
    assert contents(private(accepting, BOB)) == [learned(number) for number in range(5)]


@pytest.mark.usefixtures("no_polling")
def test_turns_that_are_tried_again_wake_the_workers(url: str, opened: Open, clock: SetClock) -> None:
    accepting = opened(url, settings=IDLE)
    tell(private(accepting, ALICE, thread="bad"), fact(1))
    spoil(accepting, "bad", "{")
    for _ in range(limits.LEARN_ATTEMPTS_MAX_COUNT):
        accepting.jobs.wait_for_learning()
        clock.forward(seconds=limits.LEARN_RETRY_MAX_SECONDS + 1)
    assert accepting.jobs.pending().parked == 1
    _at_work(opened(url))
    assert accepting.jobs.retry_learning() == 1
    # The turn is still unreadable: that it was tried shows in its being postponed again.
    until(lambda: bool(_ask(accepting, "SELECT max(attempts) FROM jobs") == 1))


def test_what_another_process_accepts_is_learned_here(url: str, opened: Open, clock: SetClock) -> None:
    memory = _at_work(opened(url))
    elsewhere(url, clock, _TELL)
    until(lambda: contents(private(memory, ALICE)) == [learned(7)])


def test_a_lost_notification_costs_one_poll_interval(url: str, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LEARN_POLL_SECONDS", 0.05)
    idle, memory = opened(url, settings=IDLE), _at_work(opened(url))
    ended = f"SELECT count(pg_terminate_backend(pid)) {_LISTENING} AND pid <> pg_backend_pid()"
    assert _ask(memory, ended) > 0
    view = private(idle, ALICE)
    tell(view, fact(2))
    until(lambda: idle.jobs.pending().turns == 0)
    assert contents(view) == [learned(2)]


@pytest.mark.usefixtures("no_polling")
def test_a_listener_that_was_cut_off_connects_again(url: str, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LEARN_RETRY_FIRST_SECONDS", 0.05)
    idle, memory = opened(url, settings=IDLE), _at_work(opened(url))
    ended = f"SELECT count(pg_terminate_backend(pid)) {_LISTENING} AND pid <> pg_backend_pid()"
    assert _ask(memory, ended) > 0
    tell(private(idle, ALICE), fact(2))
    until(lambda: idle.jobs.pending().turns == 0)


def test_closing_at_any_moment_leaves_no_thread_behind(url: str, opened: Open) -> None:
    for number in range(40):
        memory = opened(url)
        tell(private(memory, ALICE), fact(number))
        time.sleep(number * 0.003)  # while it connects, listens, learns
        memory.close()
        left = [one.name for one in threading.enumerate() if one.name.startswith("tacit-learn")]
        assert left == [], number


def test_logs_contain_no_names_and_no_password(url: str, opened: Open, caplog: pytest.LogCaptureFixture) -> None:
    secret = make_url(url).set(password="word-that-passes").render_as_string(hide_password=False)
    with caplog.at_level(logging.DEBUG):
        memory = opened(secret).space("acme-space")
        view = private(memory, ALICE, thread="telling-thread")
        tell(view, fact(1))
        until(lambda: memory.jobs.pending().turns == 0)
        memory.close()
    heard = "\n".join(f"{one.getMessage()} {one.__dict__}" for one in caplog.records)
    # The whole key: four digits alone may also stand in the time or the thread of a record.
    for word in ("word-that-passes", "telling-thread", "acme-space", "telegram:1001", "Box 1"):
        assert word not in heard
