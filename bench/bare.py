"""What Tacit is measured against: the same rows by plain sqlite3, with the same pragmas."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

# Every table that one `remember` writes to, and how often.
TABLES = ("memories", "memory_versions", "memory_people", "history", "thread_revisions", "change_log", "fts_rows")
_REVISION = (
    "INSERT INTO thread_revisions (space_id, thread, rev) VALUES (?, ?, 1) "
    "ON CONFLICT (space_id, thread) DO UPDATE SET rev = rev + 1 RETURNING rev"
)
_CHANGE = "INSERT INTO change_log (space_id, thread, rev, memory_id, event, at) VALUES (?, ?, ?, ?, ?, ?)"
_SEARCH_ROW = "INSERT INTO fts_rows (space_id, memory_id) VALUES (?, ?)"


def connect(path: Path) -> sqlite3.Connection:
    """Opened as the store opens it."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA cache_size = -16000")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


@dataclass(frozen=True, slots=True)
class Write:
    """One memory's rows, as far as they need no answer from the database."""

    id: str
    content: str
    rows: tuple[tuple[str, tuple[Any, ...]], ...]


class BareWriter:
    """Repeats one remembered memory as plain rows: seven statements in one transaction."""

    def __init__(self, connection: sqlite3.Connection, template_id: str) -> None:
        self._connection = connection
        self._memory = self._one("memories", "id", template_id)
        self._version = self._one("memory_versions", "memory_id", template_id)
        self._person = self._one("memory_people", "memory_id", template_id)
        self._history = self._one("history", "memory_id", template_id)
        self._change = self._one("change_log", "memory_id", template_id)

    def prepare(self, id: str, content: str) -> Write:
        rows = (
            _insert("memories", self._memory | {"id": id, "content": content}),
            _insert("memory_versions", self._version | {"memory_id": id, "content": content}),
            _insert("memory_people", self._person | {"memory_id": id}),
            _insert("history", self._history | {"memory_id": id}),
        )
        return Write(id, content, rows)

    def write(self, one: Write) -> None:
        execute = self._connection.execute
        change = self._change
        space, thread = change["space_id"], change["thread"]
        execute("BEGIN IMMEDIATE")
        for statement, values in one.rows:
            execute(statement, values)
        (rev,) = execute(_REVISION, (space, thread)).fetchone()
        execute(_CHANGE, (space, thread, rev, one.id, change["event"], change["at"]))
        execute(_SEARCH_ROW, (space, one.id))
        execute("COMMIT")

    def _one(self, table: str, column: str, id: str) -> dict[str, Any]:
        cursor = self._connection.execute(f"SELECT * FROM {table} WHERE {column} = ?", (id,))
        (row,) = cursor.fetchall()
        return dict(zip((d[0] for d in cursor.description), row, strict=True))


def counted(path: Path) -> dict[str, int]:
    connection = connect(path)
    try:
        return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}
    finally:
        connection.close()


def by_key(connection: sqlite3.Connection) -> str:
    """The SELECT of one row by its key, with every column."""
    columns = ", ".join(_columns(connection, "memories"))
    return (
        f"SELECT {columns} FROM memories WHERE space_id = ? AND owner = ? AND category = ? "
        "AND key = ? AND key IS NOT NULL AND state = 'active'"
    )


def _columns(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    return (row[1] for row in connection.execute(f"PRAGMA table_info({table})"))


def _insert(table: str, row: Row) -> tuple[str, tuple[Any, ...]]:
    marks = ", ".join("?" * len(row))
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values())
