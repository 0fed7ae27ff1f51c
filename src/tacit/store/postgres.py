"""PostgreSQL: psycopg 3, row locks, words in a tsvector column."""

from __future__ import annotations

import hashlib
import struct
import sys
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Insert,
    Select,
    Table,
    TextClause,
    bindparam,
    cast,
    create_engine,
    event,
    literal_column,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import TSQUERY, insert
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from tacit import limits
from tacit.errors import MissingExtra
from tacit.policy.predicate import AccessPath
from tacit.records.memory import Memory
from tacit.store import erasures, pokes
from tacit.store import postgres_remnants as remnants
from tacit.store.dialect import OPTION, Alike
from tacit.store.rendered import Step, inserting
from tacit.store.spelling import lexemes, spell, spelt
from tacit.store.tables import memories, metadata, spaces

if TYPE_CHECKING:
    from tacit.store.engine import Options

_IDLE_SECONDS = 1.0
_PREPARED_MAX_COUNT = 1_000  # a statement for each shape and length; the default is 100
_MIGRATION_LOCK = 0x7A_C1_7A_C1  # any fixed number of ours
_RETRYABLE = frozenset({"40001", "40P01", "55P03"})  # serialization, deadlock, lock timeout


def create(url: URL, options: Options) -> Engine:
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
        pool_use_lifo=True,  # the one that was used last knows the statements
        pool_recycle=options.connection_lifetime_seconds or -1,
        hide_parameters=True,
        connect_args={
            "connect_timeout": 10,
            # The statements are few and large: to plan one costs more than to run it. Each is
            # planned once, for whatever parameters may come, and tests look at those plans.
            "prepare_threshold": 1,
            "options": "-c plan_cache_mode=force_generic_plan",
        },
    )

    class Dumped(psycopg.adapt.Dumper):
        """In the type's own binary form: to spell its numbers takes as long as the statement."""

        format = psycopg.pq.Format.BINARY

        def dump(self, obj: SentVector) -> bytes:
            return obj

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: ConnectionPoolEntry) -> None:
        connection.prepared_max = _PREPARED_MAX_COUNT
        connection.adapters.register_dumper(SentVector, Dumped)

    @event.listens_for(engine, "checkin")
    def _left(_: Any, entry: ConnectionPoolEntry) -> None:
        entry.info["left"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _ask(connection: Any, entry: ConnectionPoolEntry, _: Any) -> None:
        # One that was in use a moment ago need not be asked whether the server is still there.
        if time.monotonic() - entry.info.get("left", 0.0) > _IDLE_SECONDS:
            try:
                engine.dialect.do_ping(connection)
            except psycopg.Error as error:
                raise InvalidatePoolError from error

    return engine


# The words are ours: neither the index nor the question goes through the database's own parser.
_ADD_MEMORY = inserting(memories, words="array_to_tsvector(CAST(:words AS text[]))")
_SET_WORDS = text(
    "UPDATE memories SET words = array_to_tsvector(CAST(:words AS text[])) "
    "WHERE space_id = :space AND id = :id"
)
_MODELS = text(
    "SELECT model, vector_dims(vector), count(*) FROM vectors "
    "WHERE vector IS NOT NULL GROUP BY 1, 2"
)
_IS_INDEXED = text("SELECT 1 FROM pg_class WHERE relname = :name")
_HNSW_MAX_DIMENSION = 2_000  # of pgvector's own
_WANTED = cast(bindparam("p_words"), TSQUERY)
_BY_INDEX: ColumnElement[bool] = literal_column("memories.words").op("@@")(_WANTED)
_BEGUN_IDS = text(
    "SELECT f.id FROM memories AS f "
    "WHERE f.space_id = :p_space AND f.words @@ CAST(:b_begun AS tsquery)"
)
# By its key, once the rest has been asked of the index that leads there.
_SAYS_BEGUN = text(
    "(SELECT f.words @@ CAST(:b_begun AS tsquery) FROM memories AS f "
    "WHERE f.space_id = memories.space_id AND f.id = memories.id)"
)
# Spelt so that the words' index, which lists everybody's rows, cannot answer it.
_BY_ROW: ColumnElement[bool] = literal_column("(memories.words || '')").op("@@")(_WANTED)


def _array(words: Sequence[str]) -> str:
    """As text: a list among a statement's parameters would be spelt out."""
    quoted = (word.replace("\\", r"\\").replace('"', r"\"") for word in words)
    return "{" + ",".join(f'"{word}"' for word in quoted) + "}"


class SentVector(bytes):
    """A vector as the server takes and gives it: how many numbers, a zero, and the numbers in the
    network's order of bytes."""


def _sent(vector: bytes) -> SentVector:
    return SentVector(struct.pack("!HH", len(vector) // 4, 0) + _swapped(vector))


def _swapped(numbers: bytes) -> bytes:
    """float32 in the network's order of bytes and in ours, one from the other."""
    found = array("f", numbers)
    if sys.byteorder == "little":
        found.byteswap()
    return found.tobytes()


class PostgreSQL(Alike):
    name = "postgresql"
    one_writer = False
    has_notify = True
    plans_go_stale = True
    combines_statements = True
    defers_fts_index = False
    remains_after_scrub = erasures.PAGES
    # Both ways in the type's binary form, which is read many times faster than its text.
    vector_in, vector_out = "CAST(:vector AS vector)", "vector_send(vector)"
    # A read may take several statements: they see one moment.
    read_options: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ"}
    bare_options: Mapping[str, Any] = {"isolation_level": "AUTOCOMMIT"}

    def __init__(self) -> None:
        self.write_options: Mapping[str, Any] = {"isolation_level": "READ COMMITTED", OPTION: self}
        self._can_notify: bool | None = None  # not looked yet

    def is_busy(self, error: DBAPIError) -> bool:
        return getattr(error.orig, "sqlstate", None) in _RETRYABLE

    def lock_for_migration(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": _MIGRATION_LOCK})

    def insert_missing(
        self, connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
    ) -> None:
        if rows:
            connection.execute(insert(table).on_conflict_do_nothing(), list(rows))

    def insert_missing_statement(self, table: Table) -> Insert:
        return insert(table).on_conflict_do_nothing()

    def lock_space(self, connection: Connection, space: str) -> None:
        row = select(spaces.c.space_id).where(spaces.c.space_id == space)
        connection.execute(row.with_for_update())

    def lock_space_shared(self, statement: Select[Any]) -> Select[Any]:
        return statement.with_for_update(read=True)

    def acquire_lock(self, connection: Connection, what: str) -> None:
        connection.execute(
            text("SELECT pg_advisory_xact_lock(hashtextextended(:what, 0))"), {"what": what}
        )

    def lock_memory(self, statement: Select[Any]) -> Select[Any]:
        # Not its key: an edge to it may be written meanwhile, by somebody whom this one waits for.
        return statement.with_for_update(key_share=True)

    def notify(
        self, connection: Connection, space: str, thread: str, due_at: datetime | None
    ) -> None:
        if self._can_notify is None:
            self._can_notify = pokes.is_ready(connection)
        if self._can_notify:
            pokes.add(connection, space, thread, due_at)

    def install_notify(self, connection: Connection) -> bool:
        self.lock_for_migration(connection)
        self._can_notify = pokes.create(connection) and pokes.is_ready(connection)
        return self._can_notify

    def insert_memory_statements(self, row: Mapping[str, Any], content: str) -> list[Step]:
        owner = None if row["is_turn"] else row["owner"]
        words = lexemes(spell(row["space_id"], owner, content, row["key"]))
        return [(_ADD_MEMORY, {**row, "words": _array(words)})]

    def reindex_words(self, connection: Connection, memory: Memory, doors: str) -> None:  # noqa: ARG002
        words = lexemes(spelt(memory))
        connection.execute(_SET_WORDS, {"space": memory.space, "id": memory.id, "words": words})

    def unindex_words(self, connection: Connection, space: str, ids: Sequence[str]) -> None:
        """The words went with their row."""

    def unindex_space(self, connection: Connection, space: str) -> None:
        """The words went with their rows."""

    def word_match_condition(self, door: AccessPath) -> ColumnElement[bool]:
        """Where a branch's own index is narrow, its rows are looked at one by one."""
        heard = door in (AccessPath.HEARD_BY_ME, AccessPath.HEARD_BY_ALL)
        return _BY_INDEX if heard else _BY_ROW

    def word_match_params(
        self,
        words: Sequence[str],
        doors: Mapping[AccessPath, Callable[[], Sequence[str] | None]],  # noqa: ARG002
    ) -> dict[str, str]:
        quoted = ("'" + word.replace("\\", "").replace("'", "''") + "'" for word in words)
        return {"p_words": " | ".join(quoted)}

    def prefix_match_ids(self) -> TextClause:
        return _BEGUN_IDS

    def prefix_match_condition(self, count: int) -> TextClause:  # noqa: ARG002
        return _SAYS_BEGUN

    def prefix_match_params(self, begun: Sequence[str], owner: str | None) -> dict[str, str]:
        door = "" if owner is None else f"_{owner}"
        return {"b_begun": " & ".join(f"'{door}{word}':*" for word in begun)}

    def encode_vector(self, vector: bytes) -> bytes:
        return _sent(vector)

    def decode_vector(self, sent: bytes) -> bytes:
        return _swapped(sent[4:])

    def index_vectors(self, connection: Connection) -> list[str]:
        did = []
        for model, dimension, count in connection.execute(_MODELS).all():
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
        # Spelt as in the index that `maintain` makes where there are many.
        sized = f"vector({dimension})"
        return text(f"CAST(vectors.vector AS {sized}) <=> CAST(:n_vector AS {sized})")

    def prepare_vector_search(self, connection: Connection) -> None:
        # Whoever may hear little of what is near goes on looking until there is enough.
        connection.execute(text("SET LOCAL hnsw.iterative_scan = strict_order"))
        connection.execute(text("SET LOCAL hnsw.max_scan_tuples = 2147483647"))

    def vector_distance_params(self, vector: bytes) -> dict[str, bytes]:
        return {"n_vector": _sent(vector)}

    def scrub(self, connection: Connection) -> bool:
        """VACUUM keeps rows that an older snapshot may still read: wait for those to end."""
        alone = remnants.outlast_readers(connection, remnants.current_transaction(connection))
        self._on_tables(connection, "VACUUM (ANALYZE)")
        return alone

    def rewrite(self, connection: Connection) -> str | None:
        return remnants.rewrite(connection, sorted(metadata.tables))

    def track_wal(self, connection: Connection, remains: str) -> str:
        return remnants.follow_log(connection, remains)

    def logs_parameters(self, connection: Connection) -> bool:
        return remnants.logs_values(connection)

    def check(self, connection: Connection) -> list[str]:
        """Indexes the server itself marks as unusable; checksums are its own daily work."""
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
