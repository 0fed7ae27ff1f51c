"""Render statements once and run them on the database driver itself.

SQLAlchemy takes longer to execute a statement than SQLite takes to run it. So statements with
parameters of plain types are compiled once for each shape of their parameters and sent by the
driver, in the transaction of the SQLAlchemy connection. Rows come back as the driver returns them.

PostgreSQL gets the inserts of a write as one statement, `WITH s0 AS (INSERT …), … SELECT 1`: in a
pipeline of psycopg, `remember` takes 1.2 to 1.8 times as long.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Executable, Table, TextClause, text
from sqlalchemy.engine.interfaces import Dialect as Grammar
from sqlalchemy.exc import DBAPIError

_NAMED_PARAMETER = re.compile(r"%\((\w+)\)s|%%")  # psycopg's parameter syntax
_NUMBERED_PARAMETER = re.compile(r"\$(\d+)")
_VALUES_CLAUSE = re.compile(r"VALUES \(([^()]*)\)")
JOINED_MAX_COUNT = 16
_PIPELINED_MIN_COUNT = 4  # for fewer, a pipeline costs more than it saves
# A sharded PostgreSQL refuses to join upserts and INSERT … SELECT.
_KEPT_APART = re.compile(r"\bON CONFLICT\b|\bSELECT\b")
ListLengths = tuple[tuple[str, int], ...]
Statement = tuple[Executable, Mapping[str, Any]]  # a statement and its parameters


def fetch_rows(
    connection: Connection, statement: Executable, params: Mapping[str, Any], *, binary: bool = False
) -> Sequence[tuple[Any, ...]]:
    """Fetch all rows of a statement with parameters of plain types, in a transaction.

    Set `binary` if rows hold long bytes values: PostgreSQL sends them twice as long as text.
    """
    sql, values = render(connection.dialect, statement, params)
    with _translate_driver_errors(connection) as driver:
        found: list[tuple[Any, ...]] = execute_on_driver(driver, sql, values, binary=binary).fetchall()
    return found


def run_statements(connection: Connection, steps: Sequence[Statement]) -> None:
    """Run statements without results in the caller's transaction.

    SQLite runs them in this order. PostgreSQL first gets the plain ones, joined into one statement
    in which none sees the effect of another, and then each of the others.
    """
    rendered = [render(connection.dialect, *step) for step in steps]
    with _translate_driver_errors(connection) as driver:
        is_remote = connection.dialect.name != "sqlite"
        if is_remote and len(steps) <= JOINED_MAX_COUNT:
            joined = [one for one in rendered if not _KEPT_APART.search(one[0])]
            if len(joined) > 1:
                sql = _join_statements(tuple([(sql, len(values)) for sql, values in joined]))
                execute_on_driver(driver, sql, [value for _, some in joined for value in some])
                rendered = [one for one in rendered if _KEPT_APART.search(one[0])]
        is_pipelined = is_remote and len(rendered) >= _PIPELINED_MIN_COUNT
        with driver.pipeline() if is_pipelined else nullcontext():
            for sql, values in rendered:
                execute_on_driver(driver, sql, values)


@lru_cache(maxsize=256)
def _join_statements(rendered: tuple[tuple[str, int], ...]) -> str:
    """Join PostgreSQL statements, each given with the number of its parameters."""
    parts: list[str] = []
    before = 0
    for sql, count in rendered:
        parts.append(f"s{len(parts)} AS ({_shift_parameters(sql, before)})")
        before += count
    return f"WITH {', '.join(parts)} SELECT 1"


def render_guarded(grammar: Grammar, guard: Statement, steps: Sequence[Statement]) -> tuple[str, Sequence[Any]]:
    """Render inserts that run only if a guard query finds a row, as one PostgreSQL statement.

    The statement returns the number of rows that the guard found.
    """
    rendered = [render(grammar, *one) for one in (guard, *steps)]
    sql = _guard_inserts(tuple([(sql, len(values)) for sql, values in rendered]))
    return sql, [value for _, some in rendered for value in some]


@lru_cache(maxsize=256)
def _guard_inserts(rendered: tuple[tuple[str, int], ...]) -> str:
    found, _, inserts = _join_statements(rendered).partition("), s1 AS (")
    inserts = _VALUES_CLAUSE.sub(r"SELECT \1 FROM s0", inserts).removesuffix("SELECT 1")
    return f"{found}), s1 AS ({inserts}SELECT count(*) FROM s0"  # noqa: S608


def _shift_parameters(sql: str, by: int) -> str:
    return _NUMBERED_PARAMETER.sub(lambda found: f"${int(found[1]) + by}", sql)


def insert_rows(connection: Connection, steps: Sequence[Statement]) -> None:
    """Insert many rows, grouped by statement in the order of first occurrence."""
    together: dict[str, list[Sequence[Any]]] = {}
    for statement, params in steps:
        sql, values = render(connection.dialect, statement, params)
        together.setdefault(sql, []).append(values)
    with _translate_driver_errors(connection) as driver:
        for sql, rows in together.items():
            driver_cursor(driver).executemany(sql, rows)


def execute_on_driver(driver: Any, sql: str, values: Sequence[Any], *, binary: bool = False) -> Any:
    """Execute a rendered statement on the driver."""
    if isinstance(driver, sqlite3.Connection):
        return driver.execute(sql, values)
    return driver_cursor(driver).execute(sql, values, binary=binary)


def driver_cursor(driver: Any) -> Any:
    """Return a cursor for rendered SQL: psycopg's default one would convert the text each time."""
    if isinstance(driver, sqlite3.Connection):
        return driver.cursor()
    import psycopg

    return psycopg.RawCursor(driver)


@contextmanager
def _translate_driver_errors(connection: Connection) -> Iterator[Any]:
    """Yield the driver's connection; raise the errors that SQLAlchemy would.

    They come without the parameters, which hold personal data.
    """
    driver: Any = connection.connection.driver_connection
    grammar = connection.dialect
    try:
        yield driver
    except grammar.loaded_dbapi.Error as error:
        wrapped = DBAPIError.instance(
            None, None, error, grammar.loaded_dbapi.Error, hide_parameters=True, dialect=grammar
        )
        if grammar.is_disconnect(error, driver, None):
            connection.invalidate(error)
        raise wrapped from error


def insert_statement(table: Table, **further: str) -> TextClause:
    """Build an INSERT by column names; `further` columns are given as SQL expressions."""
    given = {column.name: f":{column.name}" for column in table.columns} | further
    columns = ", ".join(f'"{name}"' for name in given)
    values = ", ".join(given.values())
    return text(f"INSERT INTO {table.name} ({columns}) VALUES ({values})")  # noqa: S608


def render(grammar: Grammar, statement: Executable, params: Mapping[str, Any]) -> tuple[str, Sequence[Any]]:
    """Return driver SQL with positional parameters, and their values."""
    lengths = tuple([(name, len(one)) for name, one in params.items() if isinstance(one, list)])
    sql, order, literals = _compile(grammar, statement, lengths)
    values = {**literals, **params}
    for name, _ in lengths:
        values |= {f"{name}_{number}": one for number, one in enumerate(params[name], start=1)}
    return sql, [values[name] for name in order]


@lru_cache(maxsize=2048)
def _compile(
    grammar: Grammar, statement: Executable, lengths: ListLengths
) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    """Return the SQL, the order of its parameters, and those bound in the statement itself."""
    clause: Any = statement
    bound = clause.compile(dialect=grammar).params
    literals = {name: value for name, value in bound.items() if value is not None}
    samples: dict[str, Any] = {name: "" for name in bound if name not in literals}
    samples |= {name: [""] * length for name, length in lengths if name in bound}
    compiled = clause.params(samples).compile(dialect=grammar, compile_kwargs={"render_postcompile": True})
    if compiled.positiontup is not None:
        return str(compiled), tuple(compiled.positiontup), literals
    numbers: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        return f"${numbers.setdefault(found[1], len(numbers) + 1)}"

    return _NAMED_PARAMETER.sub(number, str(compiled)), tuple(numbers), literals
