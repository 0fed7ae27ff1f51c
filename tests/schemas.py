"""A SQLite database for each of thousands of tests: its migrations run once in a process.

What they leave is written down, and put in place as it is the next time, which takes a tenth.
Tests of migrations themselves ask for `step_by_step`.
"""

from collections.abc import Callable
from functools import wraps

import pytest
from sqlalchemy import Connection

from tacit.store import migrate
from tacit.store.engine import Database

# What a table for searching keeps its words in comes with the table itself.
_OWN = ("_config", "_content", "_data", "_docsize", "_idx")
_STATEMENTS = """
SELECT name, sql FROM sqlite_master
WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid
"""


def remember_schemas() -> None:
    """From here on, in this process."""
    migrate.upgrade = once(migrate.upgrade)


def step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Migrations as they are, in one test."""
    monkeypatch.setattr(migrate, "upgrade", migrate.upgrade.__wrapped__)  # type: ignore[attr-defined]


def once(upgrade: Callable[..., None]) -> Callable[..., None]:
    made: list[str] = []

    @wraps(upgrade)
    def quickly(database: Database, connection: Connection, to: str = migrate.HEAD) -> None:
        fresh = database.dialect.name == "sqlite" and migrate.current(connection) is None
        if not fresh or to != migrate.HEAD or not made:
            upgrade(database, connection, to)
            if fresh and to == migrate.HEAD:
                made[:] = _statements(connection)
            return
        for statement in made:
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{migrate.HEAD}')")

    return quickly


def _statements(connection: Connection) -> list[str]:
    rows = connection.exec_driver_sql(_STATEMENTS).all()
    searched = {name for name, sql in rows if sql.startswith("CREATE VIRTUAL TABLE")}
    own = {f"{name}{ending}" for name in searched for ending in _OWN}
    return [sql for name, sql in rows if name not in own]
