"""A process that is killed while it writes notes: the short form of `make crash-notes`."""

import random
from pathlib import Path

import pytest

from bench.notes_crash import kills
from bench.notes_crash_child import content, version_of


def test_every_note_is_whole_and_nothing_is_left_when_writers_are_killed(tmp_path: Path) -> None:
    outcome = kills(tmp_path / "notes", count=3, seed=7)
    assert outcome.wrong == []
    assert outcome.kills == 3
    assert outcome.writes  # or nothing was put to the test


# The check itself.


def test_a_whole_note_says_which_it_is() -> None:
    assert version_of("a/1.md", content("a/1.md", 7, random.Random(1))) == 7


@pytest.mark.parametrize("cut", [0, 1, 10, 1_000, -2])
def test_a_torn_note_is_told(cut: int) -> None:
    assert version_of("a/1.md", content("a/1.md", 7, random.Random(1))[:cut]) is None


def test_a_note_in_the_place_of_another_is_told() -> None:
    assert version_of("a/2.md", content("a/1.md", 7, random.Random(1))) is None
