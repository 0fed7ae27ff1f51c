"""A process that is killed while it learns: the short form of `make crash-learn`."""

from pathlib import Path

import pytest
from sqlalchemy import text

import tacit
from bench.learn_crash import Outcome, check, hammer, message, opened
from tacit.memory import Memory


@pytest.fixture(params=["sqlite-file", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Databases that outlive the process that learns."""
    if request.param == "sqlite-file":
        return f"sqlite:///{tmp_path / 'tacit.db'}"
    found: str = request.getfixturevalue("fresh_postgres_url")
    return found


def test_every_accepted_turn_is_learned_once_when_learners_are_killed(url: str) -> None:
    outcome = hammer(url, kills=3, seed=20)
    assert outcome.wrong == []
    assert (outcome.lost, outcome.twice) == ([], [])
    assert outcome.kills == 3
    assert outcome.accepted  # or nothing was put to the test


# The check itself: each kind of damage is told.


def _learned(memory: Memory) -> Outcome:
    view = memory.view(tacit.Requester("telegram:1"), tacit.Chat.private("telegram:1"))
    for number in (1, 2, 3):
        view.learn([message(number)])
    memory.jobs.wait_for_learning()
    return Outcome(accepted={1, 2, 3})


def _damage(memory: Memory, statement: str) -> None:
    with memory._storage.database.autocommit_connection() as connection:
        connection.execute(text(statement))


def test_what_is_whole_is_found_to_be_clean(migrated_sqlite_url: str) -> None:
    with opened(migrated_sqlite_url, workers=0) as memory:
        outcome = _learned(memory)
        check(memory, outcome)
        assert outcome.clean, outcome


def test_what_was_lost_is_told(migrated_sqlite_url: str) -> None:
    with opened(migrated_sqlite_url, workers=0) as memory:
        outcome = _learned(memory)
        _damage(memory, "DELETE FROM memories WHERE content LIKE 'Box 1 %'")
        check(memory, outcome)
        assert outcome.lost == [1]


def test_what_was_learned_twice_is_told(migrated_sqlite_url: str) -> None:
    with opened(migrated_sqlite_url, workers=0) as memory:
        outcome = _learned(memory)
        _learned(memory)  # a user's words are known by now; a tool's are set aside once more
        check(memory, outcome)
        assert outcome.twice == [3]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM memory_versions",
        "DELETE FROM history",
        "UPDATE memories SET content = 'Box 1 holds item 2'",
        "UPDATE memories SET content = 'Box 9 holds item ' || (9 * 7919 % 9973)",
    ],
)
def test_other_damage_is_told(migrated_sqlite_url: str, statement: str) -> None:
    with opened(migrated_sqlite_url, workers=0) as memory:
        outcome = _learned(memory)
        _damage(memory, statement)
        check(memory, outcome)
        assert outcome.wrong


def test_what_still_waits_is_told(migrated_sqlite_url: str) -> None:
    with opened(migrated_sqlite_url, workers=0) as memory:
        view = memory.view(tacit.Requester("telegram:1"), tacit.Chat.private("telegram:1"))
        view.learn([message(1)])
        outcome = Outcome(accepted={1})
        check(memory, outcome)
        assert outcome.lost == [1]
        assert outcome.wrong
