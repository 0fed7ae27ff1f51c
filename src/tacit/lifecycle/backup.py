"""Back up, restore, check and compact the database."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection, func, select

from tacit.errors import InvalidInput, SchemaMismatch, StoreBusy, StoreUnavailable
from tacit.lifecycle import erasure_records
from tacit.lifecycle.erasure import scrub_files
from tacit.lifecycle.erasure_records import fsync_folder
from tacit.records.results import Backup, Maintained
from tacit.storage import backend, erasures, integrity
from tacit.storage.engine import Database
from tacit.storage.schema import metadata, tombstones

_NOT_REWRITTEN = (
    "the tables could not be shown to be rewritten: end older transactions and run it again, as "
    "the owner of the tables and of the database"
)


def check_invariants(connection: Connection) -> list[str]:
    """Check, in all spaces at once, the invariants that the doctor repairs."""
    return [
        f"{count} {what}"
        for what, one in integrity.INVARIANTS.items()
        if (count := integrity.count_broken_rows(connection, one))
    ]


def maintain_database(database: Database, *, rewrite: bool = False) -> Maintained:
    """Check, analyze and compact a database.

    `rewrite` writes every table's files anew, which blocks other connections.
    """
    with database.autocommit_connection() as connection:
        problems = database.dialect.check(connection) + check_invariants(connection)
        database.dialect.analyze(connection)
        database.dialect.compact(connection)
        scrubbed = tombstones.c.scrubbed.is_(True)
        unfinished = max(
            connection.execute(select(func.count()).where(~scrubbed)).scalar_one(),
            list(erasures.list_unfinished(connection).values()).count(None),
        )
        indexed = database.dialect.index_vectors(connection)
    did = ["checked", "analysed", "compacted", *indexed]
    if unfinished:
        if scrub_files(database):
            did.append(f"finished {unfinished} erasures")
        else:
            problems.append(f"{unfinished} erasures wait for other readers of the file")
    if rewrite and erasure_records.rewrite_files(database):
        did.append("rewrote the tables")
    elif rewrite:
        problems.append(_NOT_REWRITTEN)
    pending = erasure_records.summarize_pending(database)
    return Maintained(problems=tuple(problems), did=tuple(did), pending=tuple(pending))


# Backup and restore of SQLite files, and checks of any copy. No copy is trusted before it was read.

_ASIDE_SUFFIX = ".before-restore"
_BUSY_SECONDS = 5.0


def create_backup(database: Database, path: object, *, overwrite: bool) -> Backup:
    """Copy the database in one snapshot; the file gets its name only after it was checked."""
    target = _check_target(path)
    if not database.dialect.one_writer:
        raise InvalidInput("backup", "use pg_dump or another tool of PostgreSQL: see docs/backup.md")
    if database.file is not None and _is_database_file(target, database.file):
        raise InvalidInput("path", "is the database itself; name another file")
    if target.exists() and not overwrite:
        raise InvalidInput("path", "the file exists; choose another name or allow overwriting")
    with _temporary_file(target) as part:
        with _open_source(database) as source, closing(sqlite3.connect(part)) as copy:
            source.execute("BEGIN")
            before = _count_rows(source)
            source.backup(copy)  # same snapshot as the counts
            source.execute("ROLLBACK")
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, whatever the original has
        schema, counts = check_backup_file(part)
        if counts != before:
            raise StoreUnavailable("the copy differs from the database; try another disk")
        _replace_file(part, target)
    return Backup(path=str(target), schema=schema, counts=counts, size_bytes=target.stat().st_size)


def check_backup_file(path: Path) -> tuple[str, dict[str, int]]:
    """Check a SQLite copy; return its schema revision and row counts."""
    if not path.is_file():
        raise InvalidInput("path", "there is no such backup")
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as copy:
            found = [row[0] for row in copy.execute("PRAGMA integrity_check(1)")]
            orphans = copy.execute("PRAGMA foreign_key_check").fetchone()
            if found != ["ok"] or orphans is not None:
                raise StoreUnavailable("the copy is damaged; use another one")
            schema = copy.execute("SELECT version_num FROM alembic_version").fetchone()
            return str(schema[0]), _count_rows(copy)
    except sqlite3.DatabaseError:
        raise StoreUnavailable("the copy is not a Tacit database; use another one") from None


def check_restored_database(database: Database, name: str) -> Backup:
    """Check a database that was restored with other tools, on any server."""
    backend.require_current_schema(database)
    with database.autocommit_connection() as connection:
        problems = database.dialect.check(connection) + check_invariants(connection)
        counts = {
            name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in metadata.tables.items()
        }
    return Backup(path=name, schema=backend.SCHEMA_HEAD, counts=counts, problems=tuple(problems))


def install_backup(copy: Path, database: Path) -> tuple[Path | None, dict[str, int]]:
    """Replace the database by the copy and keep the old files aside.

    The next process that opens it repeats the erasures of the journal beside it.
    """
    schema, counts = check_backup_file(copy)
    backend.refuse_former_schema(schema)
    if schema > backend.SCHEMA_HEAD:
        raise SchemaMismatch(f"the copy has schema {schema}: upgrade Tacit, or use another copy")
    if _is_database_file(copy, database):
        raise InvalidInput("path", "is the database itself; name a backup")
    database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _temporary_file(database) as part:
        shutil.copyfile(copy, part)
        aside = None
        if database.exists():
            _require_exclusive(database)
            aside = _move_aside(database)
        _replace_file(part, database)
    return aside, counts


def _require_exclusive(database: Path) -> None:
    """Fail if another process has the file open: leaving WAL mode needs exclusive access."""
    try:
        with closing(sqlite3.connect(database, timeout=0.2, isolation_level=None)) as present:
            present.execute("PRAGMA journal_mode = DELETE").fetchone()
            present.execute("BEGIN EXCLUSIVE")
            present.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise StoreBusy("another process has the database open: stop it and restore again") from None
    except sqlite3.DatabaseError:
        pass  # a damaged file is what backups are for


def _move_aside(database: Path) -> Path:
    aside = database.with_name(f"{database.name}{_ASIDE_SUFFIX}-{secrets.token_hex(4)}")
    try:
        os.link(database, aside)  # the name exists at every moment
    except OSError:
        database.rename(aside)
    for ending in ("-wal", "-shm", "-journal"):
        beside = database.with_name(database.name + ending)
        if beside.exists():
            beside.rename(aside.with_name(aside.name + ending))
    return aside


def _check_target(path: object) -> Path:
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InvalidInput("path", "is not a file name")
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise InvalidInput("path", "name a file in an existing folder")
    return target


def _is_database_file(path: Path, database: Path) -> bool:
    names = {database.name + ending for ending in ("", "-wal", "-shm", "-journal")}
    return path.name in names and path.parent.resolve() == database.parent.resolve()


@contextmanager
def _temporary_file(target: Path) -> Iterator[Path]:
    """Yield a file beside the target, readable by its owner only; remove it if it was not renamed."""
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise StoreUnavailable(f"no file can be written there ({error.strerror}); choose another path") from None
    try:
        yield part
    except sqlite3.Error as error:
        raise StoreUnavailable(f"the copy failed with {type(error).__name__}: is there room on the disk?") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _replace_file(part: Path, target: Path) -> None:
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(target)
    fsync_folder(target.parent)


@contextmanager
def _open_source(database: Database) -> Iterator[sqlite3.Connection]:
    """Open a separate connection, so that no other thread of this process waits for the copy."""
    if database.file is not None:
        own = sqlite3.connect(database.file, timeout=_BUSY_SECONDS, isolation_level=None)
        with closing(own):
            yield own
        return
    with database.autocommit_connection() as connection:  # in memory there is only one
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        yield driver


def _count_rows(connection: sqlite3.Connection) -> dict[str, int]:
    """Count the rows of the tables that exist: an older copy has fewer."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    there = {name for (name,) in rows}
    return {
        name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608
        for name in sorted(there & metadata.tables.keys())
    }
