"""Run transactions and statements on a database, and convert rows to records and back.

A write is a function: it may run again after a conflict with another writer, and its transaction
includes all its effects. A read sees one snapshot. Both are the same on SQLite and PostgreSQL.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import date, datetime
from enum import Enum
from functools import lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from sqlalchemy import URL, Connection, Engine, Executable, Select, Table, TextClause, delete, insert, text, update
from sqlalchemy.engine.interfaces import Dialect as Grammar
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import PoolProxiedConnection

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import StoreBusy, StoreError, StoreUnavailable
from tacit.storage.dialect import Dialect, Statement

R = TypeVar("R")
T = TypeVar("T")
_ANALYZED_AFTER_WRITES = frozenset({100, 1_000, 10_000})


class Database:
    """Own one engine and its dialect, and run work by `read` and `write`."""

    def __init__(self, engine: Engine, dialect: Dialect, *, single: bool) -> None:
        self.engine = engine
        self.dialect = dialect
        # SQLite has one writer: waiting for this lock is fair and cheap, waiting for the file lock
        # is not. If the database has one connection (in memory, or by its settings), readers wait
        # here, too.
        self._turn = threading.RLock() if dialect.one_writer else None
        self._single = single
        self._reader = engine.execution_options(**dialect.read_options)
        self._writer = engine.execution_options(**dialect.write_options)
        self._bare = engine.execution_options(**dialect.bare_options)
        self._kept: PoolProxiedConnection | None = None
        self._writes = itertools.count(1)
        self._analysis: threading.Thread | None = None
        self._closed = False

    @property
    def file(self) -> Path | None:
        """Return the database file, None if there is none."""
        return file_of_url(self.engine.url)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._acquire_turn(reading=True), _translate_errors(self.dialect), self._reader.connect() as connection:
            connection.begin()
            yield connection
            # Commit, not rollback: after a rollback psycopg drops every prepared statement.
            connection.commit()

    # The most frequent reads, and steps of graphs, run on the driver: through a SQLAlchemy
    # connection a step takes 1.8 (SQLite) and 5 times (PostgreSQL) as long to save and twice as long
    # to find. On an error the caller takes the normal path, which raises it.

    def fetch_directly(
        self, statement: Executable, params: Mapping[str, Any], *, binary: bool = False
    ) -> Sequence[Any] | None:
        """Fetch the rows of one statement, which is its own snapshot; None on an error."""
        sql, values = render(self.engine.dialect, statement, params)
        return self._run_on_driver(lambda driver: execute_on_driver(driver, sql, values, binary=binary).fetchall())

    def write_if(self, guard: Statement, steps: Sequence[Statement]) -> bool:
        """Insert rows if a guard query finds a row; return whether it did, False on an error."""
        grammar = self.engine.dialect
        if self._turn is None:
            if len(steps) >= JOINED_MAX_COUNT:
                return False
            sql, values = render_guarded(grammar, guard, steps)
            rows = self._run_on_driver(lambda driver: driver_cursor(driver).execute(sql, values).fetchall())
            done = bool(rows and rows[0][0])
        else:
            rendered = [render(grammar, *one) for one in (guard, *steps)]
            with self._acquire_turn(reading=False):
                done = bool(self._run_on_driver(lambda driver: _write_if(driver, rendered)))
        if done:
            self._count_write()
        return done

    def _run_on_driver(self, work: Callable[[Any], T]) -> T | None:
        """Run `work` outside any transaction of SQLAlchemy. Return None on an error."""
        try:
            if self._turn is not None and not self._closed and self._turn.acquire(blocking=False):
                try:  # no writer is at work: use the connection that is kept for this
                    kept = self._kept = self._kept or self.engine.raw_connection()
                    return work(kept.driver_connection)
                finally:
                    self._turn.release()
            with self._acquire_turn(reading=True), _translate_errors(self.dialect):
                connection = self.engine.raw_connection()
                try:
                    driver: Any = connection.driver_connection
                    with nullcontext() if self.dialect.one_writer else _autocommit(driver):
                        return work(driver)
                finally:
                    connection.close()
        except self.engine.dialect.loaded_dbapi.Error:
            return None

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction; run it again after a conflict with another writer."""
        deadline = time.monotonic() + limits.WRITE_WAIT_MAX_SECONDS
        attempt = 0
        while True:
            try:
                with (
                    self._acquire_turn(reading=False),
                    _translate_errors(self.dialect),
                    self._writer.connect() as connection,
                    connection.begin(),
                ):
                    done = work(connection)
                self._count_write()
                return done
            except (StoreBusy, IntegrityError) as error:
                if isinstance(error, IntegrityError) and attempt >= limits.WRITE_CONFLICTS_MAX_COUNT:
                    raise StoreBusy("other writers kept getting in the way; try again") from error
                if time.monotonic() >= deadline:
                    raise StoreBusy(
                        f"the database was held by other writers for {limits.WRITE_WAIT_MAX_SECONDS:.0f} s; try again"
                    ) from error
            attempt += 1
            # The exponent is capped: after a thousand attempts the number would overflow.
            time.sleep(random.uniform(0, min(0.1, 0.002 * 2 ** min(attempt, 9))))

    def _count_write(self) -> None:
        """Count writes, and run ANALYZE after the first ones.

        The plans of a new database assume empty tables. They stay slow until autovacuum analyzes
        the tables, which takes about a minute.
        """
        if self.dialect.plans_go_stale and next(self._writes) in _ANALYZED_AFTER_WRITES:
            self._analysis = threading.Thread(target=self._analyze, name="tacit-analyse", daemon=True)
            self._analysis.start()

    def _analyze(self) -> None:
        with suppress(StoreError), self.autocommit_connection() as connection:
            self.dialect.analyze(connection)

    @contextmanager
    def autocommit_connection(self) -> Iterator[Connection]:
        """Open a connection outside any transaction, for maintenance."""
        with self._acquire_turn(reading=False), _translate_errors(self.dialect), self._bare.connect() as connection:
            yield connection

    def close(self) -> None:
        if self._closed:
            return  # another database may use the engine by now
        if self._analysis is not None:
            self._analysis.join()
        if self._kept is not None:
            self._kept.close()
        self._closed = True
        self.engine.dispose()

    @contextmanager
    def _acquire_turn(self, *, reading: bool) -> Iterator[None]:
        if self._closed:  # a disposed engine would open new connections that are never closed
            raise StoreUnavailable("this memory was closed; open it again, with tacit.open(…)")
        if self._turn is None or (reading and not self._single):
            yield
            return
        if not self._turn.acquire(timeout=limits.WRITE_WAIT_MAX_SECONDS):
            raise StoreBusy("other writers in this process held the database; try again")
        try:
            yield
        finally:
            self._turn.release()


def _write_if(driver: Any, rendered: Sequence[tuple[str, Sequence[Any]]]) -> bool:
    """Run the first statement on SQLite, and the others if it finds a row."""
    guard, *steps = rendered
    try:
        driver.execute("BEGIN IMMEDIATE")
        found = execute_on_driver(driver, *guard).fetchone() is not None
        for one in steps if found else ():
            execute_on_driver(driver, *one)
        driver.commit()
    finally:  # on an interrupt, too: the next writer uses this connection
        if driver.in_transaction:
            driver.rollback()
    return found


def file_of_url(url: URL) -> Path | None:
    """Return the file that a URL names, whether or not it exists."""
    named = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    return Path(url.database or "") if named else None


@contextmanager
def _autocommit(driver: Any) -> Iterator[None]:
    """Spare a PostgreSQL connection the round trips of BEGIN and COMMIT around one statement."""
    driver.autocommit = True
    try:
        yield
    finally:
        driver.autocommit = False


@contextmanager
def _translate_errors(dialect: Dialect) -> Iterator[None]:
    """Translate driver errors. Constraint violations pass: the write path retries them."""
    try:
        yield
    except IntegrityError:
        raise
    except DBAPIError as error:
        if dialect.is_busy(error):
            raise StoreBusy("the database is held by another writer") from error
        # The statement and its parameters hold personal data: report only the type of the error.
        raise StoreUnavailable(f"the database failed with {type(error.orig).__name__}: run `tacit maintain`") from None
    except PoolTimeout as error:
        raise StoreBusy("all database connections are in use; try again") from error


# Statements, rendered once and run on the driver itself.
#
# SQLAlchemy takes longer to execute a statement than SQLite takes to run it. So statements with
# parameters of plain types are compiled once for each shape of their parameters and sent by the
# driver, in the transaction of the SQLAlchemy connection. Rows come back as the driver returns them.
#
# PostgreSQL gets the inserts of a write as one statement, `WITH s0 AS (INSERT …), … SELECT 1`: in a
# pipeline of psycopg, `remember` takes 1.2 to 1.8 times as long.

_NAMED_PARAMETER = re.compile(r"%\((\w+)\)s|%%")  # psycopg's parameter syntax
_NUMBERED_PARAMETER = re.compile(r"\$(\d+)")
_VALUES_CLAUSE = re.compile(r"VALUES \(([^()]*)\)")
JOINED_MAX_COUNT = 16
_PIPELINED_MIN_COUNT = 4  # for fewer, a pipeline costs more than it saves
# A sharded PostgreSQL refuses to join upserts and INSERT … SELECT.
_KEPT_APART = re.compile(r"\bON CONFLICT\b|\bSELECT\b")
ListLengths = tuple[tuple[str, int], ...]


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


# Rows and records, and the small statements that most tables need.

AT_ONCE_COUNT = 500
_ENUM_OR_BOOL = (Enum, bool)


def encode(value: Any) -> Any:
    """Convert a field to its column value: times to microseconds, collections to JSON."""
    match value:
        case datetime():
            return to_micros(value)
        case date():
            return value.isoformat()
        case Enum():
            return value.value
        case frozenset():
            return json.dumps(sorted(value), ensure_ascii=False)
        case tuple() | Mapping():
            return json.dumps(value, ensure_ascii=False)
    return value


def to_record(record: Callable[..., R], row: Any, **fields: Any) -> R:
    """Build a record from a row or mapping whose columns are named like its fields.

    The columns are decoded by the types of the fields.

    `fields` are given as they are, in place of columns or in addition to them.
    """
    columns = row if isinstance(row, dict) else row._mapping
    for name, decode in _decoders(record).items():
        if name not in fields and name in columns:
            value = columns[name]
            fields[name] = value if value is None or decode is None else decode(value)
    return record(**fields)


@lru_cache(maxsize=256)
def _decoders(record: type) -> dict[str, Callable[[Any], Any] | None]:
    return {name: _decoder(hint) for name, hint in get_type_hints(record).items()}


def _decoder(hint: Any) -> Callable[[Any], Any] | None:
    if get_origin(hint) is UnionType:
        (hint, *_) = (one for one in get_args(hint) if one is not NoneType)
    kind = get_origin(hint) or hint
    if kind in (tuple, frozenset):
        return lambda column: kind(json.loads(column))
    if kind in (datetime, date):
        return from_micros if kind is datetime else date.fromisoformat
    if kind in (Mapping, dict):
        return json.loads
    return kind if isinstance(kind, type) and issubclass(kind, _ENUM_OR_BOOL) else None


def fetch_mappings(connection: Connection, statement: Select[Any], params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Fetch rows by column name on the driver, for a prepared statement that runs often."""
    names = _column_names(statement)
    found = fetch_rows(connection, statement, params)
    return [dict(zip(names, row, strict=True)) for row in found]


@lru_cache(maxsize=256)
def _column_names(statement: Select[Any]) -> tuple[str, ...]:
    return tuple(statement.selected_columns.keys())


def chunks(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield the items, sorted, in lists that fit into one statement."""
    todo: list[T] = sorted(items)  # type: ignore[type-var]
    for start in range(0, len(todo), AT_ONCE_COUNT):
        yield todo[start : start + AT_ONCE_COUNT]


def lock_rows(statement: Select[Any]) -> Select[Any]:
    """Lock the selected rows until the transaction ends.

    FOR NO KEY UPDATE: a concurrent transaction, which this one may wait for, can insert rows that
    refer to them. On SQLite, where BEGIN IMMEDIATE serializes all writers, nothing is rendered.
    """
    return statement.with_for_update(key_share=True)


def select_set(connection: Connection, statement: Executable) -> set[Any]:
    """Return the distinct values of the first column."""
    return set(connection.execute(statement).scalars())


def has_row(connection: Connection, statement: Any) -> bool:
    return connection.execute(statement.limit(1)).first() is not None


def delete_rows(connection: Connection, table: Table, space: str, *which: Any) -> int:
    """Delete rows of a space; return how many there were."""
    return connection.execute(delete(table).where(table.c.space_id == space, *which)).rowcount


def update_rows(connection: Connection, table: Table, space: str, *which: Any, **values: Any) -> int:
    """Update rows of a space, with encoded values; return how many there were."""
    rows = update(table).where(table.c.space_id == space, *which)
    changes = {name: encode(value) for name, value in values.items()}
    return connection.execute(rows.values(**changes)).rowcount


def insert_row(connection: Connection, table: Table, space: str, **values: Any) -> None:
    """Insert a row of a space, with encoded values."""
    row = {name: encode(value) for name, value in values.items()}
    connection.execute(insert(table).values(space_id=space, **row))


def insert_missing(connection: Connection, table: Table, space: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert those rows of a space whose primary key is new, with encoded values."""
    new = [{"space_id": space} | {name: encode(value) for name, value in row.items()} for row in rows]
    if new:
        connection.execute(insert_for(connection, table).on_conflict_do_nothing(), new)


def to_columns(record: Any, table: Table) -> dict[str, Any]:
    """Return the encoded fields of a record that have a column of their name."""
    kind: Any = type(record)
    names = [name for name in _decoders(kind) if name in table.c]
    return {name: encode(getattr(record, name)) for name in names}


def insert_for(connection: Connection, table: Table) -> Any:
    """Return an INSERT of this database, which has `on_conflict_do_update`."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # takes long to import

    return postgresql.insert(table)


def upsert(connection: Connection, table: Table, row: Mapping[str, Any], **changes: Any) -> None:
    """Insert a row, or update the row with the same primary key.

    The update sets `changes`; without any, all columns outside the key, as in the new row.
    """
    new = insert_for(connection, table).values(row)
    key = list(table.primary_key)
    others = {name: new.excluded[name] for name in row if table.c[name] not in set(key)}
    connection.execute(new.on_conflict_do_update(index_elements=key, set_=changes or others))
