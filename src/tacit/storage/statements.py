"""Render statements once and run them on the database driver itself."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from operator import itemgetter
from typing import Any, NoReturn

from sqlalchemy import Connection, Executable, Table, TextClause, text
from sqlalchemy.engine.interfaces import Dialect as Grammar
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import PoolProxiedConnection

_NAMED_PARAMETER = re.compile(r"%\((\w+)\)s|%%")  # psycopg's parameter syntax
_VALUES_CLAUSE = re.compile(r"VALUES \(([^()]*)\)")
_CURSOR_KEY = "tacit-sender"
_NUMBERED_PARAMETER = re.compile(r"\$(\d+)")
_INSERT_PARTS = re.compile(r"(INSERT INTO .*? VALUES )(\(.*?\))((?: ON CONFLICT .*)?)", re.DOTALL)
COMBINED_MAX_COUNT = 16
_PIPELINED_MIN_COUNT = 4
_KEPT_APART = re.compile(r"\bON CONFLICT\b|\bSELECT\b")
_VALUES_MAX_COUNT = 30_000  # per statement; PostgreSQL allows twice as many
ListLengths = tuple[tuple[str, int], ...]
Statement = tuple[Executable, Mapping[str, Any]]  # a statement and its parameters


def fetch_rows(
    connection: Connection,
    statement: Executable,
    params: Mapping[str, Any],
    *,
    binary: bool = False,
) -> Sequence[tuple[Any, ...]]:
    """Fetch all rows of a statement with parameters of plain types, in a transaction.

    Set `binary` if rows hold long bytes values: PostgreSQL sends them twice as long as text.
    """
    lengths = list_lengths(params)
    if not lengths:
        sql, taken = _render_plain(connection.dialect, statement)
        values = taken(params)
    elif all(length for _, length in lengths):
        sql, order, constants = render_with_lists(
            connection.dialect, statement, tuple(params), lengths
        )
        values = fill_values(params, order, constants)
    else:  # an empty list renders differently
        return [tuple(row) for row in connection.execute(statement, params)]
    driver: Any = connection.connection.driver_connection
    try:
        found: list[tuple[Any, ...]] = execute_on_driver(
            driver, sql, values, binary=binary
        ).fetchall()
    except connection.dialect.loaded_dbapi.Error as error:
        _raise_driver_error(connection, driver, error)
    return found


def run_statements(connection: Connection, steps: Sequence[Statement]) -> None:
    """Run statements without lists or results in the caller's transaction.

    SQLite runs them in this order. PostgreSQL first gets the plain ones, joined into one statement
    in which none sees the effect of another, and then each of the others. A sharded PostgreSQL
    refuses to join upserts and INSERT … SELECT.
    """
    driver: Any = connection.connection.driver_connection
    grammar = connection.dialect
    rendered = [(*_render_plain(grammar, statement), params) for statement, params in steps]
    try:
        if not isinstance(driver, sqlite3.Connection) and 1 < len(steps) <= COMBINED_MAX_COUNT:
            joined = [n for n, (sql, _, _) in enumerate(rendered) if not _KEPT_APART.search(sql)]
            if len(joined) > 1:
                sql, takes = _combine_statements(grammar, tuple([steps[n][0] for n in joined]))
                pairs = zip(takes, [steps[n][1] for n in joined], strict=True)
                execute_on_driver(
                    driver, sql, [v for taken, params in pairs for v in taken(params)]
                )
                rendered = [one for n, one in enumerate(rendered) if n not in joined]
        with _pipeline(driver, len(rendered)):
            for sql, taken, params in rendered:
                execute_on_driver(driver, sql, taken(params))
    except grammar.loaded_dbapi.Error as error:
        _raise_driver_error(connection, driver, error)


def _pipeline(driver: Any, count: int) -> AbstractContextManager[Any]:
    """Send many statements to PostgreSQL in one round trip; for a few it costs more than it saves."""
    if isinstance(driver, sqlite3.Connection) or count < _PIPELINED_MIN_COUNT:
        return nullcontext()
    found: AbstractContextManager[Any] = driver.pipeline()
    return found


def insert_rows(connection: Connection, steps: Sequence[Statement]) -> None:
    """Insert many rows, grouped by statement in the order of first occurrence.

    PostgreSQL gets each group as one statement.
    """
    driver: Any = connection.connection.driver_connection
    grammar = connection.dialect
    together: dict[str, list[Sequence[Any]]] = {}
    for statement, params in steps:
        sql, taken = _render_plain(grammar, statement)
        together.setdefault(sql, []).append(tuple(taken(params)))
    try:
        for sql, found in together.items():
            if isinstance(driver, sqlite3.Connection):
                driver.executemany(sql, found)
                continue
            most = max(1, _VALUES_MAX_COUNT // max(1, len(found[0])))
            for start in range(0, len(found), most):
                some = found[start : start + most]
                execute_on_driver(
                    driver, _multi_row_insert(sql, len(some)), [one for row in some for one in row]
                )
    except grammar.loaded_dbapi.Error as error:
        _raise_driver_error(connection, driver, error)


@lru_cache(maxsize=256)
def _multi_row_insert(sql: str, count: int) -> str:
    """Expand a single-row PostgreSQL INSERT to `count` rows."""
    found = _INSERT_PARTS.fullmatch(sql)
    assert found is not None, "rows are added by INSERT … VALUES"
    by = max(int(one[1]) for one in _NUMBERED_PARAMETER.finditer(found[2]))
    rows = (_shift_parameters(found[2], number * by) for number in range(count))
    return f"{found[1]}{', '.join(rows)}{found[3]}"


def _shift_parameters(row: str, by: int) -> str:
    return _NUMBERED_PARAMETER.sub(lambda one: f"${int(one[1]) + by}", row)


def execute_on_driver(driver: Any, sql: str, values: Sequence[Any], *, binary: bool = False) -> Any:
    """Execute a rendered statement on the driver.

    psycopg's default cursor would convert the whole text on every call.
    """
    if isinstance(driver, sqlite3.Connection):
        return driver.execute(sql, values)
    import psycopg

    return psycopg.RawCursor(driver).execute(sql, values, binary=binary)


def reusable_cursor(connection: PoolProxiedConnection) -> Any:
    """Return a psycopg cursor that is kept with its connection.

    It caches the adapters of the parameters. A new cursor looks them up again, which takes a tenth
    of the time of the statement or more.
    """
    import psycopg

    driver: Any = connection.driver_connection
    found = connection.info.get(_CURSOR_KEY)
    if found is None:
        found = connection.info[_CURSOR_KEY] = psycopg.RawCursor(driver)
    return found


def render_plain(
    grammar: Grammar, statement: Executable, params: Mapping[str, Any]
) -> tuple[str, Sequence[Any]]:
    """Render a statement without lists to driver SQL and values."""
    sql, taken = _render_plain(grammar, statement)
    return sql, taken(params)


def run_command(connection: Connection, sql: str) -> None:
    """Run a command without parameters, such as BEGIN."""
    driver: Any = connection.connection.driver_connection
    try:
        driver.execute(sql)
    except connection.dialect.loaded_dbapi.Error as error:
        _raise_driver_error(connection, driver, error)


def commit_on_driver(connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    try:
        driver.commit()
    except connection.dialect.loaded_dbapi.Error as error:
        _raise_driver_error(connection, driver, error)


def _raise_driver_error(connection: Connection, driver: Any, error: Any) -> NoReturn:
    """Raise the error that SQLAlchemy would, without the parameters: they hold personal data."""
    grammar = connection.dialect
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


def list_lengths(params: Mapping[str, Any]) -> ListLengths:
    return tuple([(n, len(v)) for n, v in params.items() if isinstance(v, list)])


def fill_values(
    params: Mapping[str, Any], order: tuple[str, ...], constants: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Return the values in the order of the rendered statement."""
    flat: dict[str, Any] = dict(constants)
    for name, value in params.items():
        if isinstance(value, list):
            for number, one in enumerate(value, start=1):
                flat[f"{name}_{number}"] = one
        else:
            flat[name] = value
    return tuple([flat[name] for name in order])


@lru_cache(maxsize=256)
def _render_plain(grammar: Grammar, statement: Executable) -> tuple[str, Callable[[Any], Any]]:
    """Render a statement without lists; return the SQL and a function that orders its values."""
    clause: Any = statement
    compiled = clause.compile(dialect=grammar)
    sql, order = _number_parameters(compiled)
    # Literals bound in the statement itself.
    own = {name: value for name, value in compiled.params.items() if value is not None}
    if own:
        return sql, lambda named: [(own | named)[name] for name in order]
    return sql, itemgetter(*order) if len(order) > 1 else lambda named: [named[order[0]]]


def _number_parameters(compiled: Any) -> tuple[str, tuple[str, ...]]:
    """Return SQL with positional parameters, and their names in that order."""
    if compiled.positiontup is not None:
        return str(compiled), tuple(compiled.positiontup)
    numbers: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        return f"${numbers.setdefault(found[1], len(numbers) + 1)}"

    return _NAMED_PARAMETER.sub(number, str(compiled)), tuple(numbers)


@lru_cache(maxsize=256)
def _combine_statements(
    grammar: Grammar, statements: tuple[Executable, ...]
) -> tuple[str, list[Callable[[Any], Any]]]:
    """Combine several statements into one PostgreSQL statement."""
    parts, takes, count = [], [], 0
    for statement in statements:
        sql, taken = _render_plain(grammar, statement)
        numbers = [int(one[1]) for one in _NUMBERED_PARAMETER.finditer(sql)]
        parts.append(_shift_parameters(sql, count))
        takes.append(taken)
        count += max(numbers)
    named = ", ".join(f"s{number} AS ({part})" for number, part in enumerate(parts))
    return f"WITH {named} SELECT 1", takes


def render_guarded(
    grammar: Grammar, guard: Statement, steps: Sequence[Statement]
) -> tuple[str, Sequence[Any]]:
    """Render inserts that run only if a guard query finds a row, as one PostgreSQL statement.

    The statement returns the number of rows the guard found, and locks them until it ends. A single
    row that exists already counts as not found.
    """
    sql, takes = _combine_guarded(grammar, guard[0], tuple([statement for statement, _ in steps]))
    all_steps = (guard, *steps)
    return sql, [
        value
        for taken, (_, params) in zip(takes, all_steps, strict=True)
        for value in taken(params)
    ]


@lru_cache(maxsize=256)
def _combine_guarded(
    grammar: Grammar, guard: Executable, statements: tuple[Executable, ...]
) -> tuple[str, list[Callable[[Any], Any]]]:
    sql, takes = _combine_statements(grammar, (guard, *statements))
    first, _, rest = sql.removesuffix("SELECT 1").partition("), s1 AS (")
    if len(statements) == 1:  # a tenth faster than a list of one
        found = first.removeprefix("WITH s0 AS (")
        if_found = rf"SELECT \1 WHERE EXISTS ({found} FOR SHARE)"
        return f"{_VALUES_CLAUSE.sub(if_found, rest.rstrip().removesuffix(')'))} RETURNING 1", takes
    rest = _VALUES_CLAUSE.sub(r"SELECT \1 FROM s0", rest)
    return f"{first} FOR SHARE), s1 AS ({rest}SELECT count(*) FROM s0", takes  # noqa: S608


@lru_cache(maxsize=2048)
def render_with_lists(
    grammar: Grammar, statement: Executable, names: tuple[str, ...], lengths: ListLengths
) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    """Return the SQL, the order of its parameters, and those bound in the statement itself."""
    samples: dict[str, Any] = dict.fromkeys(names, "")
    samples |= {name: [""] * length for name, length in lengths}
    clause: Any = statement
    known = clause.compile(dialect=grammar).params
    compiled = clause.params({n: v for n, v in samples.items() if n in known}).compile(
        dialect=grammar, compile_kwargs={"render_postcompile": True}
    )
    constants = {name: value for name, value in known.items() if name not in samples}
    return *_number_parameters(compiled), constants
