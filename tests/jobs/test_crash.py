"""A worker that is killed in the middle of its tasks: the short form of `make crash-jobs`."""

from pathlib import Path

import pytest
from sqlalchemy import text

from bench.jobs_crash import SPACES, Outcome, Stage, check, kills
from tacit.memory import Memory
from tests.contract.chores import TASK


@pytest.fixture(params=["sqlite-file", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Databases that outlive the process that works."""
    if request.param == "sqlite-file":
        return f"sqlite:///{tmp_path / 'tacit.db'}"
    found: str = request.getfixturevalue("fresh_postgres_url")
    return found


def test_nothing_is_lost_or_done_twice_when_workers_are_killed(url: str, tmp_path: Path) -> None:
    outcome = kills(url, tmp_path, count=2, seed=20)
    assert outcome.wrong == []
    assert (outcome.lost, outcome.twice) == ([], [])
    assert outcome.blows == 2
    assert outcome.acknowledged  # or nothing was put to the test
    assert outcome.runs


# The check itself: each kind of damage is told.


def _ran(memory: Memory) -> Outcome:
    for name in SPACES:
        memory.space(name).jobs.run(TASK)
    return Outcome()


def _damage(memory: Memory, statement: str) -> None:
    with memory._storage.database.autocommit_connection() as connection:
        connection.execute(text(statement))


def test_what_is_whole_is_found_to_be_clean(migrated_sqlite_url: str, tmp_path: Path) -> None:
    with Stage(migrated_sqlite_url, tmp_path, 1).memory() as memory:
        outcome = _ran(memory)
        check(memory, outcome)
        assert outcome.clean, outcome
        assert outcome.runs == len(SPACES)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE learning_days SET writes = 2 WHERE owner = 'thing 7'",
        "DELETE FROM learning_days WHERE owner = 'thing 7'",
        "DELETE FROM job_runs",
        "DELETE FROM jobs",
        "UPDATE jobs SET problem = 'ValueError'",
    ],
)
def test_damage_is_told(migrated_sqlite_url: str, tmp_path: Path, statement: str) -> None:
    with Stage(migrated_sqlite_url, tmp_path, 1).memory() as memory:
        outcome = _ran(memory)
        _damage(memory, statement)
        check(memory, outcome)
        assert outcome.wrong


def test_what_was_lost_or_written_twice_is_told(migrated_sqlite_url: str, tmp_path: Path) -> None:
    with Stage(migrated_sqlite_url, tmp_path, 1).memory() as memory:
        outcome = _ran(memory)
        outcome.acknowledged = {2, 4}
        _damage(memory, "UPDATE memories SET content = 'Box 4 is blue'")
        check(memory, outcome)
        assert (outcome.lost, outcome.twice) == ([2], [4])
