"""A server that is killed under load, and the one that comes after it. `make crash-serve` does it
many times, on both databases."""

from pathlib import Path

from bench.serve_crash import hammer


def test_what_was_acknowledged_is_there_once(file: Path) -> None:
    assert hammer(f"sqlite:///{file}", "SQLite", kills=1, seed=7)
