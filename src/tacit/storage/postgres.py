"""PostgreSQL: row locks, tsvector search, worker notification, remains of deleted rows."""

from __future__ import annotations

import hashlib
import re
import struct
import sys
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    TextClause,
    bindparam,
    cast,
    create_engine,
    event,
    literal_column,
    text,
)
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from tacit import limits
from tacit.errors import MissingExtra
from tacit.policy.rules import AccessPath
from tacit.records.memory import Memory
from tacit.storage import erasures
from tacit.storage.dialect import Dialect, Statement, build_fts_document, fts_document, fts_lexemes
from tacit.storage.engine import insert_statement
from tacit.storage.schema import memories_table, metadata

if TYPE_CHECKING:
    from tacit.storage.backend import DatabaseOptions


NOTIFY_CHANNEL = "tacit_jobs"
_NOTIFY_WORKERS = text(f"SELECT pg_notify('{NOTIFY_CHANNEL}', '')")


# What the files of a PostgreSQL server hold of deleted rows, and until when.
#
# VACUUM frees the space of dead rows in pages of tables and indexes, but leaves their bytes there.
# VACUUM FULL writes new files without them. The write-ahead log holds the rows as they were
# written: a segment that is no longer needed is removed, or renamed to become a later one, and
# keeps its old bytes until the server overwrites it.
#
# So after a rewrite `erasures.remains` is one of
# log:SEGMENT     segments up to this one may hold the rows
# reused:SEGMENT  none of those has its old name; up to this one, segments may be renamed ones
# and empty once the server writes to a later segment.

IN_WAL, IN_RECYCLED_WAL = "log:", "reused:"
_WAL_SEGMENT = re.compile(r"[0-9A-F]{24}(\.partial)?")
_OTHER_WAL_FILE = re.compile(r"[0-9A-F]{8}\.history|[0-9A-F]{24}\.[0-9A-F]{8}\.backup")
_TIMELINE_CHARS = 8  # of a segment's name; the rest is its number
_NAME_CHARS = 24
_CURRENT_TRANSACTION = text("SELECT CAST(CAST(pg_current_xact_id() AS xid) AS text)")
# All that holds back the horizon of VACUUM: snapshots and open transactions of this database, those
# of standbys (which belong to no database), prepared transactions, and replication slots.
_OLDER_READERS = text(
    "SELECT (SELECT count(*) FROM pg_stat_activity "
    " WHERE coalesce(datname, current_database()) = current_database() "
    " AND pid <> pg_backend_pid() "
    " AND greatest(age(backend_xmin), age(backend_xid)) > age(CAST(:erased AS xid))) "
    "+ (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database() "
    " AND age(transaction) > age(CAST(:erased AS xid))) "
    "+ (SELECT count(*) FROM pg_replication_slots "
    " WHERE age(xmin) > age(CAST(:erased AS xid)))"
)
# Each table, and the partitions of a partitioned one.
_TABLE_PARTS = (
    "WITH named AS (SELECT to_regclass(name) AS id FROM unnest(CAST(:tables AS text[])) AS n (name)"
    "), parts AS (SELECT CAST(id AS oid) AS id FROM named WHERE id IS NOT NULL "
    "UNION SELECT t.relid FROM named CROSS JOIN LATERAL pg_partition_tree(named.id) AS t) "
)
# VACUUM FULL sets relfrozenxid to its own horizon: rows that were deleted before it are gone.
# Statistics are replaced after the erasure, by a later transaction.
_UNREWRITTEN_FILES = text(
    _TABLE_PARTS + ", files AS ("  # noqa: S608
    " SELECT c.*, CAST(:erased AS xid) AS deleted FROM pg_class AS c "
    " WHERE c.oid IN (SELECT id FROM parts) AND c.relkind <> 'p' "
    " UNION ALL SELECT c.*, CAST(:replaced AS xid) FROM pg_class AS c "
    " WHERE c.oid = 'pg_statistic'::regclass) "
    "SELECT count(*) + (SELECT count(*) FROM named WHERE id IS NULL) "
    "FROM files AS f LEFT JOIN pg_class AS t ON t.oid = f.reltoastrelid WHERE f.relkind <> 'r' "
    "OR greatest(age(f.relfrozenxid), age(t.relfrozenxid)) >= age(f.deleted)"
)
_IS_DISTRIBUTED = text("SELECT count(*) FROM pg_extension WHERE extname = 'citus'")
# ANALYZE of a table without rows keeps the statistics of the previous rows.
_STALE_STATISTICS = text(
    _TABLE_PARTS + "SELECT s.schemaname, s.tablename, s.attname, s.inherited "  # noqa: S608
    "FROM pg_stats AS s "
    "JOIN pg_namespace AS n ON n.nspname = s.schemaname "
    "JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = s.tablename "
    "LEFT JOIN pg_index AS i ON i.indexrelid = c.oid "
    "JOIN pg_class AS r ON r.oid = coalesce(i.indrelid, c.oid) "
    "WHERE r.oid IN (SELECT id FROM parts) AND r.reltuples <= 0"
)
_CLEAR_STATISTICS = text(
    "SELECT pg_clear_attribute_stats(CAST(:schemaname AS text), CAST(:tablename AS text), "
    "CAST(:attname AS text), CAST(:inherited AS boolean))"
)
_CAN_CLEAR_STATISTICS = text("SELECT count(*) FROM pg_proc WHERE proname = 'pg_clear_attribute_stats'")
_WAL_WRITTEN_TO = text("SELECT pg_walfile_name(pg_current_wal_lsn())")
_WAL_INSERTED_TO = text("SELECT pg_walfile_name(pg_current_wal_insert_lsn())")
_MAY_LIST_WAL = text("SELECT has_function_privilege('pg_ls_waldir()', 'EXECUTE')")
_LIST_WAL_SEGMENTS = text("SELECT name FROM pg_ls_waldir() ORDER BY name")
_LOGS_PARAMETERS = text(
    "SELECT (current_setting('log_parameter_max_length') <> '0' "
    "AND (current_setting('log_statement') IN ('mod', 'all') "
    " OR current_setting('log_min_duration_statement') <> '-1' "
    " OR current_setting('log_min_duration_sample') <> '-1' "
    " OR current_setting('log_transaction_sample_rate') <> '0')) "
    "OR current_setting('log_parameter_max_length_on_error') <> '0' "
    "OR (coalesce(current_setting('auto_explain.log_min_duration', true), '-1') <> '-1' "
    " AND coalesce(current_setting('auto_explain.log_parameter_max_length', true), '-1') <> '0')"
)


def current_transaction_id(connection: Connection) -> str:
    return str(connection.execute(_CURRENT_TRANSACTION).scalar_one())


def wait_for_readers(connection: Connection, erased: str) -> bool:
    """Wait for all transactions that may read rows deleted before this one; False on timeout."""
    deadline = time.monotonic() + limits.ERASE_WAIT_MAX_SECONDS
    while connection.execute(_OLDER_READERS, {"erased": erased}).scalar():
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)
    return True


def _segment_numbers(connection: Connection) -> list[str] | None:
    """Return the numbers of all segments, or None if they are uncertain.

    That is so if a file name is not recognized, or while segments are being renamed: the list may
    then lack a segment under both names.
    """
    names = connection.execute(_LIST_WAL_SEGMENTS).scalars().all()
    if names != connection.execute(_LIST_WAL_SEGMENTS).scalars().all():
        return None
    segments = [name for name in names if not _OTHER_WAL_FILE.fullmatch(name)]
    if not segments or not all(_WAL_SEGMENT.fullmatch(name) for name in segments):
        return None
    return [name[_TIMELINE_CHARS:_NAME_CHARS] for name in segments]


# PostgreSQL: psycopg 3, row locks, words in a tsvector column.

_IDLE_SECONDS = 1.0
_PREPARED_MAX_COUNT = 1_000  # one statement per shape and length; the default is 100
_MIGRATION_LOCK = 0x7A_C1_7A_C1  # an arbitrary constant
_RETRYABLE_STATES = frozenset({"40001", "40P01", "55P03"})  # serialization, deadlock, lock timeout


def create_postgres_engine(url: URL, options: DatabaseOptions) -> Engine:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("postgres", "PostgreSQL") from None
    idle = min(options.idle_connections, options.max_connections)
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=idle,
        max_overflow=options.max_connections - idle,
        pool_timeout=limits.POOL_WAIT_MAX_SECONDS,
        pool_use_lifo=True,  # the last connection has its prepared statements
        pool_recycle=options.connection_lifetime_seconds or -1,
        hide_parameters=True,
        connect_args={
            "connect_timeout": 10,
            # The statements are few and large: planning one costs more than running it. Each is
            # planned once, for all parameters, and tests check those plans.
            "prepare_threshold": 1,
            "options": "-c plan_cache_mode=force_generic_plan",
        },
    )

    class Dumped(psycopg.adapt.Dumper):
        """Send a vector in binary: formatting its numbers takes as long as the statement."""

        format = psycopg.pq.Format.BINARY

        def dump(self, obj: EncodedVector) -> bytes:
            return obj

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: ConnectionPoolEntry) -> None:
        connection.prepared_max = _PREPARED_MAX_COUNT
        connection.adapters.register_dumper(EncodedVector, Dumped)

    @event.listens_for(engine, "checkin")
    def _left(_: Any, entry: ConnectionPoolEntry) -> None:
        entry.info["left"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _ask(connection: Any, entry: ConnectionPoolEntry, _: Any) -> None:
        # Skip the liveness check for a connection that was in use a moment ago.
        if time.monotonic() - entry.info.get("left", 0.0) > _IDLE_SECONDS:
            try:
                engine.dialect.do_ping(connection)
            except psycopg.Error as error:
                raise InvalidatePoolError from error

    return engine


# Words are tokenized here: neither documents nor queries go through the database's parser.
_INSERT_MEMORY = insert_statement(memories_table, fts_document="array_to_tsvector(CAST(:words AS text[]))")
_SET_WORDS = text(
    "UPDATE memories SET fts_document = array_to_tsvector(CAST(:words AS text[])) WHERE space_id = :space AND id = :id"
)
_COUNT_VECTORS = text("SELECT model, vector_dims(vector), count(*) FROM vectors WHERE vector IS NOT NULL GROUP BY 1, 2")
_IS_INDEXED = text("SELECT 1 FROM pg_class WHERE relname = :name")
_HNSW_MAX_DIMENSION = 2_000  # limit of pgvector
_WORDS_QUERY = cast(bindparam("p_words"), TSQUERY)
_MATCHES_BY_INDEX: ColumnElement[bool] = literal_column("memories.fts_document").op("@@")(_WORDS_QUERY)
_PREFIX_MATCH_IDS = text(
    "SELECT f.id FROM memories AS f WHERE f.space_id = :p_space AND f.fts_document @@ CAST(:b_begun AS tsquery)"
)
# Reads the document by primary key, after the index has applied the other conditions.
_PREFIX_MATCH_CONDITION = text(
    "(SELECT f.fts_document @@ CAST(:b_begun AS tsquery) FROM memories AS f "
    "WHERE f.space_id = memories.space_id AND f.id = memories.id)"
)
# Written so that the GIN index, which lists the rows of all owners, cannot be used.
_MATCHES_BY_ROW: ColumnElement[bool] = literal_column("(memories.fts_document || '')").op("@@")(_WORDS_QUERY)


def _array_literal(words: Sequence[str]) -> str:
    """Format an array as text: a list parameter would be expanded into the statement."""
    quoted = (word.replace("\\", r"\\").replace('"', r"\"") for word in words)
    return "{" + ",".join(f'"{word}"' for word in quoted) + "}"


class EncodedVector(bytes):
    """Hold a vector in the server's binary format.

    The format is the dimension, a zero, and the numbers in network byte order.
    """


def _swap_bytes(numbers: bytes) -> bytes:
    """Convert float32 values between network and native byte order."""
    found = array("f", numbers)
    if sys.byteorder == "little":
        found.byteswap()
    return found.tobytes()


class PostgreSQL(Dialect):
    name = "postgresql"
    one_writer = False
    has_notify = True
    plans_go_stale = True
    defers_fts_index = False
    remains_after_scrub = erasures.IN_FREE_PAGES
    # Both directions use the binary format, which parses many times faster than text.
    vector_in = "CAST(:vector AS vector)"
    vector_out = "vector_send(vector)"
    # A read may take several statements: they see one snapshot.
    read_options: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ"}
    write_options: Mapping[str, Any] = {"isolation_level": "READ COMMITTED"}
    bare_options: Mapping[str, Any] = {"isolation_level": "AUTOCOMMIT"}

    def is_busy(self, error: DBAPIError) -> bool:
        return getattr(error.orig, "sqlstate", None) in _RETRYABLE_STATES

    def lock_for_migration(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": _MIGRATION_LOCK})

    def acquire_lock(self, connection: Connection, what: str) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:what, 0))"), {"what": what})

    def notify_workers(self, connection: Connection) -> None:
        # Without a payload: the server merges equal notifications of one transaction.
        connection.execute(_NOTIFY_WORKERS)

    def insert_memory_statements(self, row: Mapping[str, Any], content: str) -> list[Statement]:
        owner = None if row["is_turn"] else row["owner"]
        words = fts_lexemes(build_fts_document(row["space_id"], owner, content, row["key"]))
        return [(_INSERT_MEMORY, {**row, "words": _array_literal(words)})]

    def reindex_words(self, connection: Connection, memory: Memory, paths: str) -> None:  # noqa: ARG002
        words = fts_lexemes(fts_document(memory))
        connection.execute(_SET_WORDS, {"space": memory.space, "id": memory.id, "words": words})

    def word_match_condition(self, path: AccessPath) -> ColumnElement[bool]:
        """Match words by the GIN index for audiences; otherwise test the rows of the branch."""
        heard = path in (AccessPath.HEARD_BY_ME, AccessPath.HEARD_BY_ALL)
        return _MATCHES_BY_INDEX if heard else _MATCHES_BY_ROW

    def word_match_params(
        self,
        words: Sequence[str],
        paths: Mapping[AccessPath, Callable[[], Sequence[str] | None]],  # noqa: ARG002
    ) -> dict[str, str]:
        quoted = ("'" + word.replace("\\", "").replace("'", "''") + "'" for word in words)
        return {"p_words": " | ".join(quoted)}

    def prefix_match_ids(self) -> TextClause:
        return _PREFIX_MATCH_IDS

    def prefix_match_condition(self, count: int) -> TextClause:  # noqa: ARG002
        return _PREFIX_MATCH_CONDITION

    def prefix_match_params(self, begun: Sequence[str], owner: str | None) -> dict[str, str]:
        path = "" if owner is None else f"_{owner}"
        return {"b_begun": " & ".join(f"'{path}{word}':*" for word in begun)}

    def encode_vector(self, vector: bytes) -> EncodedVector:
        return EncodedVector(struct.pack("!HH", len(vector) // 4, 0) + _swap_bytes(vector))

    def decode_vector(self, sent: bytes) -> bytes:
        return _swap_bytes(sent[4:])

    def index_vectors(self, connection: Connection) -> list[str]:
        did = []
        for model, dimension, count in connection.execute(_COUNT_VECTORS).all():
            indexed = dimension <= _HNSW_MAX_DIMENSION
            if count < limits.VECTORS_INDEXED_FROM_COUNT or not indexed:
                continue
            name = "ix_vectors_near_" + hashlib.sha256(model.encode()).hexdigest()[:12]
            known = connection.execute(_IS_INDEXED, {"name": name}).first()
            if known is None:
                literal = model.replace("'", "''")
                connection.exec_driver_sql(
                    f"CREATE INDEX CONCURRENTLY {name} ON vectors USING hnsw "
                    f"((CAST(vector AS vector({dimension}))) vector_cosine_ops) "
                    f"WHERE model = '{literal}'"
                )
                did.append(f"indexed {count} vectors")
        return did

    def vector_distance(self, dimension: int) -> TextClause | None:
        # As in the index that `maintain` creates for a large table.
        sized = f"vector({dimension})"
        return text(f"CAST(vectors.vector AS {sized}) <=> CAST(:n_vector AS {sized})")

    def prepare_vector_search(self, connection: Connection) -> None:
        # If few of the nearest rows are permitted, the scan continues until there are enough.
        connection.execute(text("SET LOCAL hnsw.iterative_scan = strict_order"))
        connection.execute(text("SET LOCAL hnsw.max_scan_tuples = 2147483647"))

    def scrub(self, connection: Connection) -> bool:
        """Vacuum, after waiting for older snapshots: VACUUM keeps rows that they may read."""
        alone = wait_for_readers(connection, current_transaction_id(connection))
        self._on_tables(connection, "VACUUM (ANALYZE)")
        return alone

    def rewrite(self, connection: Connection) -> str | None:
        erased = current_transaction_id(connection)
        if not wait_for_readers(connection, erased):
            return None
        tables = sorted(metadata.tables)
        names, ours = ", ".join(tables), {"tables": "{" + ",".join(tables) + "}"}
        connection.exec_driver_sql(f"ANALYZE {names}")
        connection.exec_driver_sql(f"VACUUM (FULL) {names}")
        if connection.execute(_CAN_CLEAR_STATISTICS).scalar():  # PostgreSQL 18
            for row in connection.execute(_STALE_STATISTICS, ours).mappings().all():
                connection.execute(_CLEAR_STATISTICS, dict(row))
        replaced = current_transaction_id(connection)
        if not wait_for_readers(connection, replaced):
            return None
        connection.exec_driver_sql("VACUUM (FULL) pg_statistic")
        transactions = {"erased": erased, "replaced": replaced}
        kept = connection.execute(_UNREWRITTEN_FILES, {**ours, **transactions}).scalar()
        figures = connection.execute(_STALE_STATISTICS, ours).all()
        if kept or figures or connection.execute(_IS_DISTRIBUTED).scalar():
            return None
        return IN_WAL + str(connection.execute(_WAL_INSERTED_TO).scalar_one())

    def track_wal(self, connection: Connection, remains: str) -> str:
        """Return the current remains, as described at the head of this file.

        If this role may not list the segments, they are unknown.
        """
        if not remains.startswith((IN_WAL, IN_RECYCLED_WAL)) or not connection.execute(_MAY_LIST_WAL).scalar():
            return remains
        last = remains.partition(":")[2]
        current = str(connection.execute(_WAL_WRITTEN_TO).scalar_one())
        timeline, number = current[:_TIMELINE_CHARS], current[_TIMELINE_CHARS:]
        if remains.startswith(IN_RECYCLED_WAL) and last.startswith(timeline):
            return "" if number > last[_TIMELINE_CHARS:] else remains
        numbers = _segment_numbers(connection)
        if numbers is None:
            return remains
        if remains.startswith(IN_WAL) and min(numbers) <= last[_TIMELINE_CHARS:]:
            return remains
        return IN_RECYCLED_WAL + timeline + max(numbers)

    def logs_parameters(self, connection: Connection) -> bool:
        return bool(connection.execute(_LOGS_PARAMETERS).scalar())

    def check(self, connection: Connection) -> list[str]:
        """List indexes that the server marks as invalid. The server verifies checksums itself."""
        rows = connection.execute(
            text(
                "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
                "JOIN pg_class t ON t.oid = i.indrelid "
                "WHERE NOT i.indisvalid AND t.relname = ANY(:tables)"
            ),
            {"tables": sorted(metadata.tables)},
        )
        return [f"index {name} is not valid" for (name,) in rows]

    def analyze(self, connection: Connection) -> None:
        self._on_tables(connection, "ANALYZE")

    def compact(self, connection: Connection) -> None:
        self._on_tables(connection, "VACUUM")

    def _on_tables(self, connection: Connection, command: str) -> None:
        names = ", ".join(sorted(metadata.tables))
        connection.exec_driver_sql(f"{command} {names}")


DIALECT = PostgreSQL()
