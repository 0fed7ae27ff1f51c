"""PostgreSQL: processes tell each other what is due, and nothing depends on it."""

import logging
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import make_url, text

from tacit import limits
from tacit.memory import Memory
from tacit.storage import postgres
from tests.contract.conftest import Open
from tests.contract.processes import elsewhere
from tests.contract.rooms import ALICE, BOB, CAROL, SetClock, private
from tests.contract.test_durable_learning import (
    IDLE,
    PAIR,
    contents,
    fact,
    learned,
    spoil,
    tell,
    until,
)

_POKES = "SELECT count(*) FROM procrastinate.procrastinate_jobs"
_TELL = """
private(memory, ALICE).learn([tacit.Message("user", "Remember that box 7 holds item 77")])
"""


@pytest.fixture
def url(migrated_postgres_url: str, opened: Open) -> str:
    memory = opened(migrated_postgres_url, settings=IDLE)
    _ask(memory, "DELETE FROM procrastinate.procrastinate_jobs")
    memory.close()
    return migrated_postgres_url


def _ask(memory: Memory, statement: str, **params: Any) -> Any:
    def work(connection: Any) -> Any:
        found = connection.execute(text(statement), params)
        return found.scalar() if found.returns_rows else None

    return memory._storage.database.write(work)


def _at_work(memory: Memory) -> Memory:
    """Whoever has accepted something works, from then on, on whatever others accept as well."""
    tell(private(memory, CAROL), fact(1))
    until(lambda: memory.waiting().turns == 0)
    return memory


def _listeners(memory: Memory) -> int:
    listening = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%procrastinate%'"
    count: int = _ask(memory, listening)
    return count


def _never_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LEARN_POLL_SECONDS", 3_600.0)


def test_what_one_accepts_another_hears_of_without_looking(
    url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    _never_looks(monkeypatch)
    accepting, working = opened(url, settings=IDLE), _at_work(opened(url, settings=PAIR))
    until(lambda: _listeners(working) > 0)
    for number in range(5):
        tell(private(accepting, BOB), fact(number))
        until(lambda: accepting.waiting().turns == 0)
    assert contents(private(accepting, BOB)) == [learned(number) for number in range(5)]


def test_something_that_is_due_later_holds_up_nothing_that_is_due_now(
    url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    _never_looks(monkeypatch)
    accepting, working = opened(url, settings=IDLE), _at_work(opened(url))
    until(lambda: _listeners(working) > 0)
    later = datetime.now(UTC) + timedelta(hours=1)
    accepting._storage.database.write(
        lambda c: postgres.notify_workers(c, "default", "thread", later)
    )
    tell(private(accepting, ALICE, thread="thread"), fact(1))
    until(lambda: accepting.waiting().turns == 0)
    until(lambda: bool(_ask(accepting, _POKES) == 1))


def test_what_another_process_accepts_is_learned_here(
    url: str, opened: Open, clock: SetClock
) -> None:
    memory = _at_work(opened(url))
    elsewhere(url, clock, _TELL)
    until(lambda: contents(private(memory, ALICE)) == [learned(7)])


def test_a_poke_belongs_to_the_transaction_that_accepts(url: str, opened: Open) -> None:
    memory = opened(url, settings=IDLE)
    tell(private(memory, ALICE), fact(1), fact(2))
    assert _ask(memory, _POKES) == 1
    with pytest.raises(ZeroDivisionError):
        memory._storage.database.write(_add_and_fail)
    assert _ask(memory, _POKES) == 1
    assert memory.waiting().turns == 2


def _add_and_fail(connection: Any) -> None:
    postgres.notify_workers(connection, "default", "thread", None)
    raise ZeroDivisionError


def test_pokes_name_nobody(url: str, opened: Open) -> None:
    memory = opened(url, settings=IDLE).space("acme")
    tell(private(memory, ALICE, thread="telling-thread"), fact(1))
    row = _ask(memory, "SELECT CAST(j AS text) FROM procrastinate.procrastinate_jobs AS j")
    assert "telling-thread" not in row
    assert "acme" not in row
    assert "1001" not in row


def test_what_is_put_off_is_poked_for_when_it_is_due(
    url: str, opened: Open, clock: SetClock
) -> None:
    memory = opened(url, settings=IDLE)
    tell(private(memory, ALICE, thread="bad"), fact(1))
    spoil(memory, "bad", "{")
    memory.catch_up()
    latest = "SELECT max(scheduled_at) FROM procrastinate.procrastinate_jobs"
    waited = _ask(memory, latest) - clock.now
    assert waited.total_seconds() == limits.LEARN_RETRY_FIRST_SECONDS


def test_pokes_that_were_answered_or_whose_worker_died_are_removed(
    url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LEARN_POLL_SECONDS", 0.05)
    idle = opened(url, settings=IDLE)
    view = private(idle, ALICE)
    tell(view, fact(1))
    # Somebody took the poke and was killed: its lock holds up all others for this thread.
    _ask(idle, "UPDATE procrastinate.procrastinate_jobs SET status = 'doing'")
    _ask(
        idle,
        "INSERT INTO procrastinate.procrastinate_jobs (queue_name, task_name, status) "
        "VALUES ('tacit', 'tacit.learning', 'failed')",
    )
    tell(view, fact(2))
    opened(url)
    until(lambda: idle.waiting().turns == 0 and _ask(idle, _POKES) == 0)
    assert contents(view) == [learned(1), learned(2)]


def test_without_procrastinate_workers_look_by_themselves(
    url: str, opened: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "procrastinate", None)
    monkeypatch.setattr(limits, "LEARN_POLL_SECONDS", 0.05)
    # By its own name: whoever served before in this process may have made it more silent.
    with caplog.at_level(logging.INFO, logger="tacit"):
        idle, _ = opened(url, settings=IDLE), _at_work(opened(url))
        until(lambda: bool(_said(caplog)))
    said = _said(caplog)
    assert len(said) == 1
    assert "not installed" in said[0]
    tell(private(idle, ALICE), fact(1))
    until(lambda: idle.waiting().turns == 0)
    assert _ask(idle, _POKES) == 0  # nobody would answer


def _said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.message for one in caplog.records if "procrastinate" in one.message]


def test_a_broken_poke_board_stops_nobody(
    url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LEARN_POLL_SECONDS", 0.05)
    memory = _at_work(opened(url))
    view = private(memory, ALICE)
    until(lambda: _listeners(memory) > 0)
    _ask(
        memory,
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE query LIKE 'LISTEN%procrastinate%' AND pid <> pg_backend_pid()",
    )
    tell(view, fact(2))
    until(lambda: memory.waiting().turns == 0)
    assert contents(view) == [learned(2)]


def test_whoever_closes_at_any_moment_leaves_nobody_behind(url: str, opened: Open) -> None:
    for number in range(40):
        memory = opened(url)
        tell(private(memory, ALICE), fact(number))
        time.sleep(number * 0.003)  # it begins, connects, looks, listens
        memory.close()
        left = [one.name for one in threading.enumerate() if one.name.startswith("tacit-learn")]
        assert left == [], number


def test_logs_tell_no_names_and_no_password(
    url: str, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    secret = make_url(url).set(password="word-that-passes").render_as_string(hide_password=False)
    with caplog.at_level(logging.DEBUG):
        memory = opened(secret).space("acme-space")
        view = private(memory, ALICE, thread="telling-thread")
        tell(view, fact(1))
        until(lambda: _ask(memory, _POKES) == 0 and memory.waiting().turns == 0)
        memory.close()
    heard = "\n".join(f"{one.getMessage()} {one.__dict__}" for one in caplog.records)
    # The whole key: four digits alone may also stand in the time or the thread of a record.
    for word in ("word-that-passes", "telling-thread", "acme-space", "telegram:1001", "Box 1"):
        assert word not in heard
    noisy = [one for one in caplog.records if one.name.split(".")[0] == "procrastinate"]
    assert [one for one in noisy if one.levelno >= logging.INFO] == []
