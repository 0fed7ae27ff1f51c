"""The simulated year, in small: it holds the store to its own books on either database."""

from pathlib import Path

import pytest

from bench.year import simulate


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_a_small_year_goes_by_the_book(database: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = f"sqlite:///{tmp_path / 'year.db'}"
    if database == "postgres":
        url = request.getfixturevalue("migrated_postgres_url")
    rows, wrong = simulate(url, people=2, each=60, days=70)
    assert wrong == []
    done = dict(rows)
    assert int(done["  expired"].replace(",", "")) > 100
    assert int(done["  purged"].replace(",", "")) > 100
    assert done["  waits for the clock"] == "4"
