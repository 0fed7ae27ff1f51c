"""Open a database, migrate its schema, and run work in transactions.

A write is a function: it may run again after a conflict with another writer, and its transaction
includes all its effects. A read sees one snapshot. Both are the same on SQLite and PostgreSQL.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cachetools import LRUCache
from sqlalchemy import URL, Connection, Engine, Executable, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import PoolProxiedConnection

from tacit import limits
from tacit.errors import SchemaMismatch, StoreBusy, StoreError, StoreUnavailable
from tacit.storage import postgres, sqlite, statements
from tacit.storage.dialect import Dialect
from tacit.storage.statements import Statement

T = TypeVar("T")
_ANALYZED_AFTER_WRITES = frozenset({100, 1_000, 10_000})


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseOptions:
    """How to open a database; the composition root fills it from the settings."""

    synchronous: str = "normal"  # SQLite: normal | full | extra
    wal: bool = True
    busy_timeout_ms: int = limits.SQLITE_BUSY_TIMEOUT_MS
    cache_mib: int = limits.SQLITE_CACHE_MIB  # SQLite: per connection
    max_connections: int = limits.POOL_MAX_CONNECTIONS
    idle_connections: int = limits.POOL_MAX_CONNECTIONS
    connection_lifetime_seconds: int = 0  # 0: unlimited


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
        return _file_of_url(self.engine.url)

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
        sql, values = statements.render(self.engine.dialect, statement, params)
        return self._run_on_driver(
            lambda driver: statements.execute_on_driver(driver, sql, values, binary=binary).fetchall()
        )

    def write_if(self, guard: Statement, steps: Sequence[Statement]) -> bool:
        """Insert rows if a guard query finds a row; return whether it did, False on an error."""
        grammar = self.engine.dialect
        if self._turn is None:
            if len(steps) >= statements.JOINED_MAX_COUNT:
                return False
            sql, values = statements.render_guarded(grammar, guard, steps)
            rows = self._run_on_driver(lambda driver: statements.driver_cursor(driver).execute(sql, values).fetchall())
            done = bool(rows and rows[0][0])
        else:
            rendered = [statements.render(grammar, *one) for one in (guard, *steps)]
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
        found = statements.execute_on_driver(driver, *guard).fetchone() is not None
        for one in steps if found else ():
            statements.execute_on_driver(driver, *one)
        driver.commit()
    finally:  # on an interrupt, too: the next writer uses this connection
        if driver.in_transaction:
            driver.rollback()
    return found


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


def parse_url(url: str) -> URL:
    if "://" not in url:
        url = f"sqlite:///{Path(url).expanduser()}"
    try:
        return make_url(url)
    except ArgumentError:
        raise StoreUnavailable(
            "the database URL cannot be read; use sqlite:///path or postgresql://user@host/name"
        ) from None


def database_file(url: str) -> Path | None:
    """Return the file that a URL names, whether or not it exists."""
    return _file_of_url(parse_url(url))


def _file_of_url(url: URL) -> Path | None:
    named = url.get_backend_name() == "sqlite" and not sqlite.is_in_memory(url)
    return Path(url.database or "") if named else None


def open_database(url: str, options: DatabaseOptions) -> Database:
    """Open `sqlite://` (in memory), `sqlite:///path`, a plain path, or `postgresql://…`."""
    parsed = parse_url(url)
    backend = parsed.get_backend_name()
    try:
        if backend == "sqlite":
            if parsed.query:
                raise StoreUnavailable("a SQLite URL takes no parameters; write sqlite:///path")
            single = sqlite.is_in_memory(parsed) or options.max_connections == 1
            sqlite.create_file(parsed)
            create = partial(sqlite.create_sqlite_engine, single=single)
            return Database(_take_engine(create, parsed, options), sqlite.DIALECT, single=single)
        if backend == "postgresql":
            engine = _take_engine(postgres.create_postgres_engine, parsed, options)
            return Database(engine, postgres.DIALECT, single=False)
    except NoSuchModuleError:
        pass
    raise StoreUnavailable(f"no driver for {backend!r}; use sqlite:///path or postgresql://…")


# An engine keeps the statements that it has compiled, which takes longer than running them. So a
# process that opens a database again takes the engine of the one it closed.

_IDLE_ENGINES_MAX_COUNT = 8
_idle_engines: LRUCache[Hashable, Engine] = LRUCache(_IDLE_ENGINES_MAX_COUNT)
_idle_lock = threading.Lock()


def _take_engine(create: Callable[[URL, DatabaseOptions], Engine], url: URL, options: DatabaseOptions) -> Engine:
    """Return an engine that no open database uses. Disposing of it gives it back."""
    key = (url, options)
    with _idle_lock:
        idle = _idle_engines.pop(key, None)
    if idle is not None:
        return idle
    engine = create(url, options)

    @event.listens_for(engine, "engine_disposed")
    def _give_back(engine: Engine) -> None:
        with _idle_lock:
            _idle_engines[key] = engine

    return engine


# Detect writes to a database by the state of its files: in an idle process, polling the database
# twice a second costs CPU time.

# File times advance in system ticks: two writes within one tick have the same time.
_TICK_NS = 100_000_000
_FileStamp = tuple[tuple[int, int], ...]


class FileChanges:
    """Detect whether any process wrote to the database file since the last check."""

    def __init__(self, engine: Engine) -> None:
        url = engine.url
        path = url.database if url.get_backend_name() == "sqlite" else None
        self._paths = (Path(path), Path(f"{path}-wal")) if path and path != ":memory:" else ()
        self._looked_at: _FileStamp = ()
        self._now: _FileStamp = ()

    def is_unchanged(self) -> bool:
        """Return whether nothing was written since the state that `mark_seen` recorded.

        Always False for a database without a file.
        """
        self._now = tuple(map(_file_stamp, self._paths))
        return bool(self._now) and self._now == self._looked_at

    def mark_seen(self) -> None:
        """Record that the caller processed everything written before the last `is_unchanged`."""
        still = time.time_ns() - _TICK_NS
        settled = all(modified < still for modified, _ in self._now)
        self._looked_at = self._now if settled else ()

    def reset(self) -> None:
        """Make the next `is_unchanged` return False."""
        self._looked_at = ()


def _file_stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


# Schema migrations: one transaction, one process at a time.

SCHEMA_HEAD = "0100"
# Schema versions with other table and column names, which no migration upgrades.
_FORMER_SCHEMAS = frozenset(f"{number:04}" for number in range(1, 15))
_MIGRATIONS = Path(__file__).parent / "migrations"
_RECHECK_SECONDS = 0.05


def schema_version(connection: Connection) -> str | None:
    """Return the Alembic revision of a database, None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def migrate_schema(database: Database) -> None:
    """Upgrade the schema. Alembic is imported only if the schema is not current."""
    if not _is_schema_current(database):
        database.write(lambda connection: upgrade_schema(database, connection))


def _is_schema_current(database: Database) -> bool:
    # While another process creates a SQLite file, connections fail with StoreBusy: wait for it.
    deadline = time.monotonic() + limits.WRITE_WAIT_MAX_SECONDS
    while True:
        try:
            with database.read() as connection:
                return schema_version(connection) == SCHEMA_HEAD
        except StoreBusy:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_RECHECK_SECONDS)


def refuse_former_schema(found: str | None) -> None:
    """Raise SchemaMismatch for a schema that no migration upgrades."""
    if found in _FORMER_SCHEMAS:
        raise SchemaMismatch(
            f"the database has schema {found}, written by a former version of Tacit: run "
            "`tacit export` with that version and `tacit import` into a new database "
            '(docs/backup.md, "Move from a former schema")'
        )


def upgrade_schema(database: Database, connection: Connection, to: str = SCHEMA_HEAD) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    database.dialect.lock_for_migration(connection)
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = schema_version(connection)
    refuse_former_schema(found)
    if found is not None and found not in known:
        raise SchemaMismatch(
            f"the database has schema {found}, which this version of Tacit does not know: "
            "upgrade Tacit, or open another database"
        )
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def require_current_schema(database: Database) -> None:
    """Raise SchemaMismatch unless the database has the schema of this version."""
    with database.read() as connection:
        found = schema_version(connection)
    refuse_former_schema(found)
    if found != SCHEMA_HEAD:
        raise SchemaMismatch(
            f"the database has schema {found or 'none'} and this version needs {SCHEMA_HEAD}: "
            "set db.automigrate to true, or run `tacit maintain --migrate`"
        )
