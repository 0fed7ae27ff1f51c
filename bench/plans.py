"""The statements that a read really runs, and the places where their plans read too much.

Reading too much is a scan of a table, and just as well a search of an index by the space alone: it
visits everything a tenant has. What a word finds in a full-text index is no scan.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import event, make_url

import tacit.memory
from tacit.storage import engine as storage_engine
from tacit.storage.schema import metadata

TABLES = frozenset(metadata.tables) | {"fts_rows", "fts_index"}
_UNPLANNED = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "PRAGMA")
_SQLITE_STEP = re.compile(r"(SCAN|SEARCH) (\w+?)(?:_\d+)?(?: (.*))?")
_SQLITE_MATCH = re.compile(r"VIRTUAL TABLE INDEX \d+:.*[M=]")
_EQUAL_IN_SQLITE = re.compile(r"(\w+)=\?")
_EQUAL_IN_POSTGRES = re.compile(r"\((?:\w+\.)?\(?(\w+)\)?(?:::\w+)? (?:=|@@) ")
_POSTGRES_PARAMETER = re.compile(r"%\((\w+)\)s")


@dataclass(frozen=True, slots=True)
class Statement:
    sql: str
    params: Any


@contextmanager
def recorded(memory: tacit.memory.Memory) -> Iterator[list[Statement]]:
    """Every statement of the block: SQLAlchemy's own, and those that go to the driver bare."""
    database = memory._storage.database
    found: list[Statement] = []

    def note(_c: Any, _cursor: Any, sql: str, params: Any, _context: Any, _many: bool) -> None:
        if not sql.startswith(_UNPLANNED):
            found.append(Statement(sql, params))

    bare = storage_engine.execute_on_driver

    def noted(driver: Any, sql: str, values: Any, **how: Any) -> Any:
        found.append(Statement(sql, values))
        return bare(driver, sql, values, **how)

    event.listen(database.engine, "before_cursor_execute", note)
    storage_engine.execute_on_driver = noted  # what it answers is unchanged
    try:
        yield found
    finally:
        storage_engine.execute_on_driver = bare
        event.remove(database.engine, "before_cursor_execute", note)


@contextmanager
def traced(memory: tacit.memory.Memory) -> Iterator[list[str]]:
    """What a SQLite driver itself says it ran, full text's own statements left out."""
    engine = memory._storage.database.engine
    found: list[str] = []

    def note(sql: str) -> None:
        if not sql.startswith((*_UNPLANNED, "--")) and "'fts_index_" not in sql:
            found.append(sql)

    def watch(connection: sqlite3.Connection, *_: Any) -> None:
        connection.set_trace_callback(note)

    event.listen(engine, "checkout", watch)
    try:
        yield found
    finally:
        event.remove(engine, "checkout", watch)
        engine.dispose()


class SQLitePlans:
    def __init__(self, url: str) -> None:
        self._connection = sqlite3.connect(str(make_url(url).database))

    def too_wide(self, statement: Statement) -> list[str]:
        rows = self._connection.execute("EXPLAIN QUERY PLAN " + statement.sql, statement.params)
        steps = [row[3] for row in rows.fetchall()]
        assert steps, f"no plan for {statement.sql}"
        return [step for step in steps if _too_wide_in_sqlite(step)]

    def close(self) -> None:
        self._connection.close()


def _too_wide_in_sqlite(step: str) -> bool:
    match = _SQLITE_STEP.fullmatch(step)
    if match is None or match[2] not in TABLES:
        return False
    how = match[3] or ""
    if match[2] == "fts_index":
        return _SQLITE_MATCH.match(how) is None
    if match[2] == "fts_rows" and "(rowid>?)" in how:
        return False  # what is left to index, behind all that is
    if match[1] == "SCAN" or "AUTOMATIC" in how:
        return True
    return not _narrow(match[2], set(_EQUAL_IN_SQLITE.findall(how)))


class PostgresPlans:
    def __init__(self, url: str) -> None:
        import psycopg

        plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        self._connection = psycopg.connect(plain, autocommit=True, prepare_threshold=None)
        # A table is then read whole only where there is no other way: stores for tests are small,
        # and to read a small table and hash it costs less than to look things up.
        for way in ("seqscan", "hashjoin", "mergejoin"):
            self._connection.execute(f"SET enable_{way} = off")

    def too_wide(self, statement: Statement) -> list[str]:
        """As planned for these parameters, and as planned once for all that may come."""
        import psycopg

        bare = isinstance(statement.params, list | tuple)  # by number, as we render them
        special: Any = psycopg.RawCursor(self._connection) if bare else self._connection.cursor()
        special.execute("EXPLAIN (FORMAT JSON) " + statement.sql, statement.params)
        found = _too_wide_in_postgres(_plan(special))
        sql = statement.sql if bare else numbered(statement.sql)
        general = psycopg.RawCursor(self._connection).execute(f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {sql}".encode())
        return found + [f"{step} (generic plan)" for step in _too_wide_in_postgres(_plan(general))]

    def close(self) -> None:
        self._connection.close()


def numbered(sql: str) -> str:
    """The statement with the parameters that PostgreSQL itself knows."""
    names = list(dict.fromkeys(_POSTGRES_PARAMETER.findall(sql)))
    return _POSTGRES_PARAMETER.sub(lambda m: f"${names.index(m[1]) + 1}", sql).replace("%%", "%")


def _plan(cursor: Any) -> dict[str, Any]:
    (found,) = cursor.fetchone()
    plans = json.loads(found) if isinstance(found, str) else found
    plan: dict[str, Any] = plans[0]["Plan"]
    return plan


def _too_wide_in_postgres(node: dict[str, Any]) -> list[str]:
    found = [step for part in node.get("Plans", ()) for step in _too_wide_in_postgres(part)]
    kind, table = node["Node Type"], node.get("Relation Name")
    condition = node.get("Index Cond", "")
    if kind == "Seq Scan":
        found.append(f"Seq Scan on {table}")
    elif "Index Name" in node and not _narrow(table, set(_EQUAL_IN_POSTGRES.findall(condition))):
        found.append(f"{kind} of {node['Index Name']} by {condition or 'nothing'}")
    return found


def _narrow(table: str | None, equal: set[str]) -> bool:
    """Led by more than the space: except for the row of the space itself."""
    # Of a space's tombstones one is looked at, to know whether there are any.
    narrow = table in ("spaces", "tombstones", None) and "space_id" in equal
    return bool(equal - {"space_id"}) or narrow


def plans_of(url: str) -> SQLitePlans | PostgresPlans:
    sqlite = make_url(url).get_backend_name() == "sqlite"
    return SQLitePlans(url) if sqlite else PostgresPlans(url)
