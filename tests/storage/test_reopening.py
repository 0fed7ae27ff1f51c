"""Engines of closed databases are used again, and never by two databases at a time."""

from pathlib import Path

from tacit.storage.engine import Database, DatabaseOptions, open_database


def opened(path: Path, max_connections: int = 4) -> Database:
    return open_database(f"sqlite:///{path}", DatabaseOptions(max_connections=max_connections))


def test_a_closed_database_lends_its_engine_to_the_next(tmp_path: Path) -> None:
    first = opened(tmp_path / "a.db")
    beside = opened(tmp_path / "a.db")
    assert beside.engine is not first.engine
    first.close()
    again = opened(tmp_path / "a.db")
    other = opened(tmp_path / "a.db", max_connections=1)
    assert again.engine is first.engine is not other.engine
    first.close()  # a second time, which must not take the engine from its user
    assert opened(tmp_path / "a.db").engine not in (again.engine, beside.engine)


def test_a_file_that_was_deleted_is_created_for_its_owner_alone(tmp_path: Path) -> None:
    opened(tmp_path / "a.db").close()
    (tmp_path / "a.db").unlink(missing_ok=True)
    opened(tmp_path / "a.db").close()
    assert (tmp_path / "a.db").stat().st_mode & 0o777 == 0o600
