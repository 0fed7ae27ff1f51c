"""PostgreSQL: a commit wakes the workers of other processes, and nothing depends on it."""

import logging
import threading
import time
from typing import Any

import pytest
from sqlalchemy import make_url, text

from tacit import limits
from tacit.memory import Memory
from tests.contract.conftest import Open
from tests.contract.processes import elsewhere
from tests.contract.rooms import ALICE, BOB, CAROL, SetClock, private
from tests.contract.test_durable_learning import IDLE, PAIR, contents, fact, learned, spoil, tell, until

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
