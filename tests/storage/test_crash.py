"""A process that is killed while it writes: the short form of `make crash`."""

from pathlib import Path

import pytest
from sqlalchemy import text

import tacit
from bench.crash import hammer
from bench.crash_ledger import Ledger, Line
from bench.crash_worker import digest
from tacit.memory import Memory

WORDS = "Something to lose"


@pytest.fixture(params=["sqlite-file", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Databases that outlive the process that writes to them."""
    if request.param == "sqlite-file":
        return f"sqlite:///{tmp_path / 'tacit.db'}"
    found: str = request.getfixturevalue("fresh_postgres_url")
    return found


def test_nothing_acknowledged_is_lost_when_the_writer_is_killed(url: str) -> None:
    outcome = hammer(url, kills=4, seed=20)
    assert outcome.wrong == ()
    assert outcome.kills == 4
    assert outcome.acknowledged > 0  # or nothing was put to the test


# The check itself: each kind of damage is told.


def _written(memory: Memory) -> tuple[Ledger, str]:
    view = memory.view(tacit.Requester("telegram:1"), tacit.Chat.private("telegram:1"))
    done = view.remember(WORDS)
    ledger = Ledger()
    assert ledger.check(memory, {"intent": "write", "content": digest(WORDS)}) == []
    assert set(ledger.memories) == {done.id}
    return ledger, done.id


def _damage(memory: Memory, statement: str) -> None:
    with memory._storage.database.autocommit_connection() as connection:
        connection.execute(text(statement))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM memories",
        "DELETE FROM memory_versions",
        "DELETE FROM history",
        "DELETE FROM change_log",
        "DELETE FROM memory_people",
        "UPDATE memories SET content = 'Something else'",
        "UPDATE memories SET state = 'forgotten'",
    ],
)
def test_damage_is_found(migrated_sqlite_url: str, statement: str) -> None:
    with tacit.open(migrated_sqlite_url) as memory:
        ledger, _ = _written(memory)
        assert ledger.check(memory, None) == []
        _damage(memory, statement)
        assert ledger.check(memory, None)


def test_a_write_in_flight_may_come_through_or_not_but_only_that_one(migrated_sqlite_url: str) -> None:
    with tacit.open(migrated_sqlite_url) as memory:
        ledger, id = _written(memory)
        other: Line = {"intent": "write", "content": "another digest"}
        assert ledger.check(memory, other) == []  # it did not come through
        view = memory.view(tacit.Requester("telegram:1"), tacit.Chat.private("telegram:1"))
        view.update(id, "What nobody had announced")
        assert ledger.check(memory, other)
