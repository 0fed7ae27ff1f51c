"""Bringing a database to this version's schema: one transaction, one process at a time."""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from tacit import limits
from tacit.errors import SchemaMismatch, StoreBusy
from tacit.store.engine import Database

HEAD = "0014"
_SCRIPTS = Path(__file__).parent / "migrations"
_LOOK_AGAIN_SECONDS = 0.05


def current(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def migrate(database: Database) -> None:
    """Does nothing, and imports nothing, when the schema is already there."""
    if not _is_current(database):
        database.write(lambda connection: upgrade(database, connection))


def _is_current(database: Database) -> bool:
    """A file whose first writer is at it just now lets nobody else connect: it is waited for."""
    deadline = time.monotonic() + limits.WRITE_WAIT_MAX_SECONDS
    while True:
        try:
            with database.read() as connection:
                return current(connection) == HEAD
        except StoreBusy:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_LOOK_AGAIN_SECONDS)


def upgrade(database: Database, connection: Connection, to: str = HEAD) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    database.dialect.lock_for_migration(connection)
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = current(connection)
    if found is not None and found not in known:
        raise SchemaMismatch(
            f"the database has schema {found}, which this version of Tacit does not know: "
            "upgrade Tacit, or open another database"
        )
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def require_current(database: Database) -> None:
    with database.read() as connection:
        found = current(connection)
    if found != HEAD:
        raise SchemaMismatch(
            f"the database has schema {found or 'none'} and this version needs {HEAD}: "
            "set db.automigrate to true, or run `tacit maintain --migrate`"
        )
