"""Open a database by its URL, migrate its schema, and detect changes of its files."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cachetools import LRUCache
from sqlalchemy import URL, Connection, Engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from tacit import limits
from tacit.errors import SchemaMismatch, StoreBusy, StoreUnavailable
from tacit.storage import postgres, sqlite
from tacit.storage.engine import Database, file_of_url


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
    return file_of_url(parse_url(url))


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
