"""PostgreSQL databases for tests, and engines that tests use one after another.

A migrated database is lent: each test process has one, and empties it before every use, which costs
a hundredth of making another. A test that needs an empty database asks for `create`.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from unittest.mock import patch
from uuid import uuid4

from sqlalchemy import Engine, create_engine, event, make_url, text

_IDLE_MAX_COUNT = 8  # engines: most SQLite files are of one test, and never opened again


def migrate(url: str) -> None:
    """Brings an empty database to the state that tests start from."""
    import tacit

    tacit.open(url).close()


class PostgresDatabases:
    """Makes and removes databases on one server, given the URL of its maintenance database."""

    def __init__(self, maintenance_url: str) -> None:
        self._server = make_url(maintenance_url)
        self._engine = create_engine(self._server, isolation_level="AUTOCOMMIT", pool_size=1)

    def create(self) -> str:
        """Makes an empty database, without any extension, and returns its URL."""
        name = self._new_name()
        # Copying through the log is the fast way for a template as small as template0.
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE template0 STRATEGY wal_log')
        return self._url(name)

    def create_migrated(self) -> str:
        """Makes a database with today's schema, for whoever keeps it longer than a test."""
        url = self.create()
        try:
            migrate(url)
        except BaseException:
            self.drop(url)
            raise
        return url

    def lend(self) -> str:
        """The one migrated database of this process, with no rows and nobody at work in it."""
        with self._lent.connect() as connection:
            connection.exec_driver_sql(self._emptying)
        return self._migrated

    def drop(self, url: str) -> None:
        """Removes a database, also when a test left connections to it open."""
        self._execute(f'DROP DATABASE IF EXISTS "{make_url(url).database}" WITH (FORCE)')

    def close(self) -> None:
        if "_migrated" in self.__dict__:
            self._lent.dispose()
            self.drop(self._migrated)
        self._engine.dispose()

    @cached_property
    def _migrated(self) -> str:
        return self.create_migrated()

    @cached_property
    def _lent(self) -> Engine:
        """Its one connection stays, because the server takes longer to let somebody in than to
        empty the tables."""
        return create_engine(
            self._migrated, isolation_level="AUTOCOMMIT", pool_size=1, pool_pre_ping=True
        )

    @cached_property
    def _emptying(self) -> str:
        from tacit.storage.schema import metadata

        others = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        tables = [f'DELETE FROM "{table.name}"' for table in reversed(metadata.sorted_tables)]
        return "; ".join(("BEGIN", others, *tables, "COMMIT"))

    def _new_name(self) -> str:
        return f"tacit_test_{uuid4().hex}"

    def _url(self, name: str) -> str:
        return self._server.set(database=name).render_as_string(hide_password=False)

    def _execute(self, statement: str) -> None:
        with self._engine.connect() as connection:
            connection.execute(text(statement))


class Engines:
    """Lend engines to one opened memory after another.

    A process compiles each statement once per engine. Tests open thousands of memories: with a new
    engine for each, they would spend a third of their time on that. Closing a memory closes its
    connections, as ever, and gives its engine back.
    """

    def __init__(self) -> None:
        self._idle: OrderedDict[Hashable, Engine] = OrderedDict()

    @contextmanager
    def lend(self) -> Iterator[None]:
        from tacit.storage import postgres, sqlite

        on_sqlite = partial(self._take, sqlite.create_sqlite_engine)
        on_postgres = partial(self._take, postgres.create_postgres_engine)
        with (
            patch.object(sqlite, "create_sqlite_engine", on_sqlite),
            patch.object(postgres, "create_postgres_engine", on_postgres),
        ):
            yield

    def _take(self, create: Callable[..., Engine], *args: Hashable, **options: Hashable) -> Engine:
        key = (create, args, *options.items())
        engine = self._idle.pop(key, None)
        if engine is None:
            engine = create(*args, **options)
            event.listen(engine, "engine_disposed", partial(self._take_back, key))
        return engine

    def _take_back(self, key: Hashable, engine: Engine) -> None:
        self._idle[key] = engine
        self._idle.move_to_end(key)
        while len(self._idle) > _IDLE_MAX_COUNT:
            self._idle.popitem(last=False)
