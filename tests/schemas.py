"""A SQLite database for each of thousands of tests: its migrations run once in a process.

What they leave is kept as the bytes of a file, and put in place as it is. Tests of migrations
themselves ask for `step_by_step`.
"""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from functools import cache, wraps
from typing import Any

import pytest

from tacit.storage import engine
from tacit.storage.engine import Database, DatabaseOptions, open_database


def remember_schemas() -> None:
    """From here on, in this process."""
    engine._is_schema_current = put_in_place(engine._is_schema_current)  # type: ignore[assignment]


def step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Migrations as they are, in one test."""
    monkeypatch.setattr(engine, "_is_schema_current", engine._is_schema_current.__wrapped__)  # type: ignore[attr-defined]


def put_in_place(is_current: Callable[[Database], bool]) -> Callable[[Database], bool]:
    """Nobody looks whether a database is up to date before a new one has everything in it."""
    turn = threading.Lock()

    @wraps(is_current)
    def looked_at(database: Database) -> bool:
        if database.dialect.name == "sqlite":
            with turn:
                _fill(database, is_current)
        return is_current(database)

    return looked_at


def _fill(database: Database, is_current: Callable[[Database], bool]) -> None:
    file = database.file
    if file is not None:
        if not file.stat().st_size:
            file.write_bytes(_migrated(is_current))
        return
    with database.autocommit_connection() as connection:
        driver: Any = connection.connection.driver_connection
        if not driver.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            with closing(sqlite3.connect(":memory:")) as whole:
                whole.deserialize(_migrated(is_current))
                whole.backup(driver)


@cache
def _migrated(is_current: Callable[[Database], bool]) -> bytes:
    """All that migrations leave, without the room that they needed on the way."""
    database = open_database("sqlite://", DatabaseOptions())
    try:
        assert not is_current(database)
        database.write(lambda connection: engine.upgrade_schema(database, connection))
        with database.autocommit_connection() as connection:
            connection.exec_driver_sql("VACUUM")
            driver: Any = connection.connection.driver_connection
            found: bytes = driver.serialize()
            return found
    finally:
        database.close()
