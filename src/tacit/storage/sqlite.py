"""SQLite: WAL, one writer at a time, full text in FTS5."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, ColumnElement, Connection, Engine, TextClause, create_engine, event, literal_column, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool, StaticPool

from tacit import limits
from tacit.errors import StoreUnavailable
from tacit.policy.rules import AccessPath
from tacit.records.memory import Memory
from tacit.storage.dialect import Dialect, Statement, fts_document
from tacit.storage.engine import insert_statement
from tacit.storage.schema import memories_table

if TYPE_CHECKING:
    from tacit.storage.backend import DatabaseOptions

_WAL_PAGES = 4_000  # of 4 KiB; fewer checkpoints copy fewer pages twice
# CROSS JOIN fixes the join order in SQLite: first the index, then the rows.
_SELECT_MATCHING_IDS = (
    "SELECT r.memory_id FROM fts_index CROSS JOIN fts_rows AS r "
    "WHERE fts_index MATCH :p_words AND r.number = fts_index.rowid "
    "AND +r.space_id = :p_space"
)
_PREFIX_MATCH_IDS = text(
    _SELECT_MATCHING_IDS.replace(":p_words", ":b_begun").replace("r.memory_id", "r.memory_id AS id")
)
# Reads the indexed text of a row that another condition has found.
_HAS_PREFIXES = (
    "EXISTS (SELECT 1 FROM fts_rows AS r CROSS JOIN fts_index_content AS c "
    "WHERE r.space_id = memories.space_id AND r.memory_id = memories.id AND c.id = r.number AND "
)
_SELECT_NUMBER = text("SELECT number FROM fts_rows WHERE space_id = :space AND memory_id = :id")
_INSERT_MEMORY = insert_statement(memories_table)
_INSERT_SEARCH_ROW = text("INSERT INTO fts_rows (space_id, memory_id) VALUES (:space, :id)")
_SET_WORDS = text(
    "UPDATE fts_index SET content = :content, acl_tokens = :acl_tokens, owner_words = :owner_words"
    " WHERE rowid = :number"
)
_DELETE_SEARCH_ROW = text("DELETE FROM fts_rows WHERE number = :number")
_DELETE_SPACE_ROWS = text("DELETE FROM fts_rows WHERE space_id = :space")
_DELETE_SPACE_WORDS = text("DELETE FROM fts_index WHERE rowid IN (SELECT number FROM fts_rows WHERE space_id = :space)")
_DELETE_WORDS = text("DELETE FROM fts_index WHERE rowid = :number")


def is_in_memory(url: URL) -> bool:
    return url.database in (None, "", ":memory:")


def create_sqlite_engine(url: URL, options: DatabaseOptions, *, single: bool) -> Engine:
    """Create the engine; with `single`, it has one connection that its users share in turn."""
    if single:
        pool: dict[str, Any] = {"poolclass": StaticPool}
    else:
        pool = {
            "poolclass": QueuePool,
            "pool_size": options.max_connections,
            "max_overflow": 0,
            "pool_timeout": limits.POOL_WAIT_MAX_SECONDS,
            "pool_use_lifo": True,  # the last connection has a warm page cache
        }
    engine = create_engine(
        url,
        connect_args={"check_same_thread": False, "timeout": options.busy_timeout_ms / 1000},
        hide_parameters=True,
        **pool,
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
        # Begin transactions explicitly: the driver begins them too late for a stable snapshot.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        if options.wal and not is_in_memory(url):
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
        connection.execute(f"PRAGMA cache_size = -{options.cache_mib * 1_024}")
        connection.execute(f"PRAGMA synchronous = {options.synchronous.upper()}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if not options.get("tacit_bare"):
            connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("tacit_writes") else "BEGIN")

    return engine


def create_file(url: URL) -> None:
    """Create the database file, if any. Only its owner can read it: it holds personal data."""
    if is_in_memory(url):
        return
    path = Path(url.database or "")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"cannot create the database file ({error.strerror}); choose another path") from None


def _match_any_word(words: Sequence[str]) -> str:
    """Quote user input as an FTS5 expression without operators."""
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)


class SQLite(Dialect):
    name = "sqlite"
    read_options: Mapping[str, Any] = {}
    write_options: Mapping[str, Any] = {"tacit_writes": True}
    bare_options: Mapping[str, Any] = {"tacit_bare": True}
    vector_in, vector_out = ":vector", "vector"  # a BLOB of float32, little-endian

    def is_busy(self, error: DBAPIError) -> bool:
        return isinstance(error.orig, sqlite3.OperationalError) and any(
            sign in str(error.orig) for sign in ("database is locked", "table is locked", "busy")
        )

    def notify_workers(self, connection: Connection) -> None:
        """Do nothing: other processes look into the file again and again."""

    def insert_memory_statements(self, row: Mapping[str, Any], content: str) -> list[Statement]:  # noqa: ARG002
        return [(_INSERT_MEMORY, row), (_INSERT_SEARCH_ROW, {"space": row["space_id"], "id": row["id"]})]

    def reindex_words(self, connection: Connection, memory: Memory, paths: str) -> None:
        of = {"space": memory.space, "id": memory.id}
        number = connection.execute(_SELECT_NUMBER, of).scalar_one()
        said, own = map(" ".join, fts_document(memory))
        words = {"number": number, "content": said, "acl_tokens": paths, "owner_words": own}
        connection.execute(_SET_WORDS, words)  # no-op for words that are not indexed yet

    def unindex_words(self, connection: Connection, space: str, ids: Sequence[str]) -> None:
        for id in ids:
            number = connection.execute(_SELECT_NUMBER, {"space": space, "id": id}).scalar()
            if number is not None:
                connection.execute(_DELETE_WORDS, {"number": number})
                connection.execute(_DELETE_SEARCH_ROW, {"number": number})

    def unindex_space(self, connection: Connection, space: str) -> None:
        connection.execute(_DELETE_SPACE_WORDS, {"space": space})
        connection.execute(_DELETE_SPACE_ROWS, {"space": space})

    def word_match_condition(self, path: AccessPath) -> ColumnElement[bool]:
        matching = _SELECT_MATCHING_IDS.replace(":p_words", f":p_words_{path}")
        return literal_column("memories.id").in_(text(matching))

    def word_match_params(
        self, words: Sequence[str], paths: Mapping[AccessPath, Callable[[], Sequence[str] | None]]
    ) -> dict[str, str]:
        wanted = f"content : ({_match_any_word(words)})"
        params = {}
        for path, tokens in paths.items():
            behind = tokens()
            through = "" if behind is None else f" AND acl_tokens : ({_match_any_word(behind)})"
            params[f"p_words_{path}"] = wanted + through
        return params

    def prefix_match_ids(self) -> TextClause:
        return _PREFIX_MATCH_IDS

    def prefix_match_condition(self, count: int) -> TextClause:
        tests = (f"instr(' ' || c.c0, ' ' || :b_begun_{n}) > 0" for n in range(count))
        return text(f"{_HAS_PREFIXES}{' AND '.join(tests)})")

    def prefix_match_params(self, begun: Sequence[str], owner: str | None) -> dict[str, str]:
        wanted = " AND ".join(f'"{owner or ""}{word}"*' for word in begun)
        column = "content" if owner is None else "owner_words"
        words = {f"b_begun_{n}": word for n, word in enumerate(begun)}
        return {"b_begun": f"{column} : ({wanted})", **words}

    def encode_vector(self, vector: bytes) -> bytes:
        return vector

    def decode_vector(self, sent: bytes) -> bytes:
        return sent

    def scrub(self, connection: Connection) -> bool:
        """Rebuild the full-text index, rewrite the file and truncate the WAL: each keeps old bytes.

        Not 'optimize': each merge raises the level of an FTS5 index, and it becomes unreadable
        after 2,000 levels.
        """
        connection.exec_driver_sql("INSERT INTO fts_index (fts_index) VALUES ('rebuild')")
        connection.exec_driver_sql("DROP TABLE IF EXISTS sqlite_stat4")  # samples of indexed text
        connection.exec_driver_sql("VACUUM")
        return self._empty_log(connection)

    def rewrite(self, connection: Connection) -> str | None:
        return self.remains_after_scrub if self.scrub(connection) else None

    def _empty_log(self, connection: Connection) -> bool:
        deadline = time.monotonic() + limits.ERASE_WAIT_MAX_SECONDS
        while True:
            busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0]
            if not busy:
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.05)

    def check(self, connection: Connection) -> list[str]:
        found = [row[0] for row in connection.exec_driver_sql("PRAGMA integrity_check(20)")]
        found = [f"file: {line}" for line in found if line != "ok"]
        orphans = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        found += [f"rows of {row[0]} refer to nothing" for row in orphans[:20]]
        try:
            connection.exec_driver_sql("INSERT INTO fts_index (fts_index) VALUES ('integrity-check')")
        except DBAPIError:
            found.append("full text: the index does not match its text")
        missing = connection.execute(
            text(
                "SELECT count(*) FROM memories AS m WHERE NOT EXISTS (SELECT 1 FROM fts_rows r "
                "WHERE r.space_id = m.space_id AND r.memory_id = m.id)"
            )
        ).scalar_one()
        return found + ([f"full text: {missing} memories are not indexed"] if missing else [])

    def analyze(self, connection: Connection) -> None:
        connection.exec_driver_sql("ANALYZE")

    def compact(self, connection: Connection) -> None:
        self.scrub(connection)


DIALECT = SQLite()
