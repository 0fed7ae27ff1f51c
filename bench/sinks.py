"""Rows into a database as fast as it takes them, past the public API: only to build big stores."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import make_url

Rows = Sequence[Sequence[Any]]


class Sink(Protocol):
    words_in_tables: bool  # or else in a column of the memory itself

    def insert(self, table: str, columns: Sequence[str], rows: Rows) -> None: ...

    def close(self) -> None:
        """Commit, and leave the figures that the query planner works from."""


class SQLiteSink:
    words_in_tables = True

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = OFF")  # a store that lasts for one run
        self._connection.execute("PRAGMA cache_size = -2000000")
        self._connection.execute("BEGIN")

    def insert(self, table: str, columns: Sequence[str], rows: Rows) -> None:
        marks = ", ".join("?" * len(columns))
        self._connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)

    def close(self) -> None:
        self._connection.execute("COMMIT")
        self._connection.execute("ANALYZE")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()


class PostgresSink:
    words_in_tables = False

    def __init__(self, url: str) -> None:
        import psycopg

        plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        self._connection = psycopg.connect(plain)

    def insert(self, table: str, columns: Sequence[str], rows: Rows) -> None:
        lines = "".join("\t".join(map(_field, row)) + "\n" for row in rows)
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy,
        ):
            copy.write(lines)

    def close(self) -> None:
        self._connection.commit()
        self._connection.autocommit = True
        self._connection.execute("VACUUM (ANALYZE)")
        self._connection.close()


def open_sink(url: str) -> Sink:
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        assert parsed.database is not None
        return SQLiteSink(Path(parsed.database))
    return PostgresSink(url)


def _field(value: object) -> str:
    """COPY's text form. Nothing that is filled in here holds a tab, a newline or a backslash."""
    return "\\N" if value is None else str(value)
