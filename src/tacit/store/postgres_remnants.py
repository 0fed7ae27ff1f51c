"""What the files of a PostgreSQL server hold of rows that were deleted, and when they no longer do.

VACUUM frees the space of dead rows in pages of tables and indexes, and leaves their bytes in it.
VACUUM FULL writes new files, without them. The write-ahead log holds the rows as they were written:
a segment that is no longer needed is removed, or renamed to become a later one, with its old bytes
until the server writes over it.

So after a rewrite `erasures.remains` is one of
    log:SEGMENT     segments up to this one may hold the rows
    reused:SEGMENT  none of those has its old name; up to this one, segments may be renamed ones
and empty once the server writes to a later segment.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from sqlalchemy import Connection, text

from tacit import limits

LOG, REUSED = "log:", "reused:"
_SEGMENT = re.compile(r"[0-9A-F]{24}(\.partial)?")
_NO_SEGMENT = re.compile(r"[0-9A-F]{8}\.history|[0-9A-F]{24}\.[0-9A-F]{8}\.backup")
_TIMELINE_CHARS = 8  # of the name of a segment; the rest is its number
_NAME_CHARS = 24
_CURRENT_TRANSACTION = text("SELECT CAST(CAST(pg_current_xact_id() AS xid) AS text)")
# All that holds back the horizon of VACUUM: snapshots and open transactions of this database,
# those of standbys (which are in no database), prepared transactions, and replication slots.
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
# Each table, and the parts of one that is divided.
_PARTS = (
    "WITH named AS (SELECT to_regclass(name) AS id FROM unnest(CAST(:tables AS text[])) AS n (name)"
    "), parts AS (SELECT CAST(id AS oid) AS id FROM named WHERE id IS NOT NULL "
    "UNION SELECT t.relid FROM named CROSS JOIN LATERAL pg_partition_tree(named.id) AS t) "
)
# VACUUM FULL sets relfrozenxid to its own horizon: rows that were deleted before it are gone.
_KEPT = text(
    _PARTS + ", files AS ("  # noqa: S608
    " SELECT c.* FROM pg_class AS c WHERE c.oid IN (SELECT id FROM parts) AND c.relkind <> 'p' "
    " UNION ALL SELECT c.* FROM pg_class AS c WHERE c.oid = 'pg_statistic'::regclass) "
    "SELECT count(*) + (SELECT count(*) FROM named WHERE id IS NULL) "
    "FROM files AS f LEFT JOIN pg_class AS t ON t.oid = f.reltoastrelid WHERE f.relkind <> 'r' "
    "OR greatest(age(f.relfrozenxid), age(t.relfrozenxid)) >= age(CAST(:erased AS xid))"
)
_IS_SPREAD = text("SELECT count(*) FROM pg_extension WHERE extname = 'citus'")
# ANALYZE of a table without rows leaves the figures of the rows that were there before.
_STALE_FIGURES = text(
    _PARTS + "SELECT s.schemaname, s.tablename, s.attname, s.inherited "  # noqa: S608
    "FROM pg_stats AS s "
    "JOIN pg_namespace AS n ON n.nspname = s.schemaname "
    "JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = s.tablename "
    "LEFT JOIN pg_index AS i ON i.indexrelid = c.oid "
    "JOIN pg_class AS r ON r.oid = coalesce(i.indrelid, c.oid) "
    "WHERE r.oid IN (SELECT id FROM parts) AND r.reltuples <= 0"
)
_CLEAR_FIGURES = text(
    "SELECT pg_clear_attribute_stats(CAST(:schemaname AS text), CAST(:tablename AS text), "
    "CAST(:attname AS text), CAST(:inherited AS boolean))"
)
_CAN_CLEAR_FIGURES = text("SELECT count(*) FROM pg_proc WHERE proname = 'pg_clear_attribute_stats'")
_WRITTEN_TO = text("SELECT pg_walfile_name(pg_current_wal_lsn())")
_INSERTED_TO = text("SELECT pg_walfile_name(pg_current_wal_insert_lsn())")
_MAY_LIST = text("SELECT has_function_privilege('pg_ls_waldir()', 'EXECUTE')")
_SEGMENTS = text("SELECT name FROM pg_ls_waldir() ORDER BY name")
_LOGS_VALUES = text(
    "SELECT (current_setting('log_parameter_max_length') <> '0' "
    "AND (current_setting('log_statement') IN ('mod', 'all') "
    " OR current_setting('log_min_duration_statement') <> '-1' "
    " OR current_setting('log_min_duration_sample') <> '-1' "
    " OR current_setting('log_transaction_sample_rate') <> '0')) "
    "OR current_setting('log_parameter_max_length_on_error') <> '0' "
    "OR (coalesce(current_setting('auto_explain.log_min_duration', true), '-1') <> '-1' "
    " AND coalesce(current_setting('auto_explain.log_parameter_max_length', true), '-1') <> '0')"
)


def current_transaction(connection: Connection) -> str:
    return str(connection.execute(_CURRENT_TRANSACTION).scalar_one())


def outlast_readers(connection: Connection, erased: str) -> bool:
    """Wait for everything that may still read what was deleted before this transaction. False
    where it does not end in time."""
    deadline = time.monotonic() + limits.ERASE_WAIT_MAX_SECONDS
    while connection.execute(_OLDER_READERS, {"erased": erased}).scalar():
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)
    return True


def rewrite(connection: Connection, tables: Sequence[str]) -> str | None:
    """Write every table and index anew, and the planner's statistics."""
    erased = current_transaction(connection)
    if not outlast_readers(connection, erased):
        return None
    names = ", ".join(tables)
    ours = {"tables": "{" + ",".join(tables) + "}"}
    connection.exec_driver_sql(f"ANALYZE {names}")
    connection.exec_driver_sql(f"VACUUM (FULL) {names}")
    if connection.execute(_CAN_CLEAR_FIGURES).scalar():  # PostgreSQL 18
        for row in connection.execute(_STALE_FIGURES, ours).mappings().all():
            connection.execute(_CLEAR_FIGURES, dict(row))
    connection.exec_driver_sql("VACUUM (FULL) pg_statistic")
    kept = connection.execute(_KEPT, {**ours, "erased": erased}).scalar()
    figures = connection.execute(_STALE_FIGURES, ours).all()
    if kept or figures or connection.execute(_IS_SPREAD).scalar():
        return None
    return LOG + str(connection.execute(_INSERTED_TO).scalar_one())


def follow_log(connection: Connection, remains: str) -> str:
    """See the head of this file. Where this role may not list the segments, nothing is known."""
    if not remains.startswith((LOG, REUSED)) or not connection.execute(_MAY_LIST).scalar():
        return remains
    last = remains.partition(":")[2]
    current = str(connection.execute(_WRITTEN_TO).scalar_one())
    timeline, number = current[:_TIMELINE_CHARS], current[_TIMELINE_CHARS:]
    if remains.startswith(REUSED) and last.startswith(timeline):
        return "" if number > last[_TIMELINE_CHARS:] else remains
    numbers = _numbers(connection)
    if numbers is None:
        return remains
    if remains.startswith(LOG) and min(numbers) <= last[_TIMELINE_CHARS:]:
        return remains
    return REUSED + timeline + max(numbers)


def logs_values(connection: Connection) -> bool:
    return bool(connection.execute(_LOGS_VALUES).scalar())


def _numbers(connection: Connection) -> list[str] | None:
    """Of every segment there is. None where there is a file that is not understood, or where
    segments are being renamed: a list may then lack one under either name."""
    names = connection.execute(_SEGMENTS).scalars().all()
    if names != connection.execute(_SEGMENTS).scalars().all():
        return None
    segments = [name for name in names if not _NO_SEGMENT.fullmatch(name)]
    if not segments or not all(_SEGMENT.fullmatch(name) for name in segments):
        return None
    return [name[_TIMELINE_CHARS:_NAME_CHARS] for name in segments]
