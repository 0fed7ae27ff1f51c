"""PostgreSQL databases for tests.

A migrated one is lent: each test process has one, and empties it before every use, which costs a
hundredth of making another. A test that needs an empty database asks for `create`.
"""

from functools import cached_property
from uuid import uuid4

from sqlalchemy import Engine, create_engine, make_url, text


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

    def copy(self, url: str) -> str:
        """Makes a copy of a database that nobody has open, and returns its URL."""
        name = self._new_name()
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{make_url(url).database}" STRATEGY wal_log')
        return self._url(name)

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
        return create_engine(self._migrated, isolation_level="AUTOCOMMIT", pool_size=1, pool_pre_ping=True)

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
