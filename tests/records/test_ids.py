"""Ids: short, of letters and digits, and in the order of the clock."""

import string
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from tacit.storage.spaces import new_id, new_memory_id

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize("make", [new_id, lambda: new_memory_id(NOON)])
def test_an_id_is_eight_letters_or_digits(make: Callable[[], str]) -> None:
    for _ in range(200):
        id = make()
        assert len(id) == 8
        assert set(id) <= set(string.ascii_letters + string.digits)


def test_what_was_made_later_sorts_behind() -> None:
    moments = [NOON + timedelta(seconds=step) for step in (0, 1, 60, 61, 62, 3_843, 3_844, 10**8)]
    ids = [new_memory_id(moment) for moment in moments]
    assert ids == sorted(ids)


def test_two_of_one_second_differ_by_chance_alone() -> None:
    ids = {new_memory_id(NOON) for _ in range(50)}
    assert len({id[:5] for id in ids}) == 1
    assert len(ids) > 40


def test_a_clock_that_is_off_by_decades_still_makes_ids() -> None:
    for year in (1970, 2025, 2060, 2999):
        assert len(new_memory_id(datetime(year, 1, 1, tzinfo=UTC))) == 8
