"""Maintenance: check, analyse, compact. It reports what it found and what it did."""

from __future__ import annotations

from sqlalchemy import Connection, text

from tacit.lifecycle.erase import scrub
from tacit.model.results import Maintained
from tacit.store.engine import Database

# What must be true of every row, whatever database it is in. Each counts the rows that break it.
_PROMISES = {
    "memories without their current version": (
        "SELECT count(*) FROM memories m WHERE NOT m.is_turn AND NOT EXISTS "
        "(SELECT 1 FROM memory_versions v WHERE v.space_id = m.space_id AND v.memory_id = m.id "
        "AND v.version = m.version AND v.content = m.content)"
    ),
    "memories with a gap in their versions": (
        "SELECT count(*) FROM memories m WHERE NOT m.is_turn AND m.version <> (SELECT count(*) "
        "FROM memory_versions v WHERE v.space_id = m.space_id AND v.memory_id = m.id)"
    ),
    "memories without history": (
        "SELECT count(*) FROM memories m WHERE NOT m.is_turn AND NOT EXISTS "
        "(SELECT 1 FROM history h WHERE h.space_id = m.space_id AND h.memory_id = m.id "
        "AND h.event = 'ADD')"
    ),
    "memories that are about nobody": (
        "SELECT count(*) FROM memories m WHERE (m.owner IS NOT NULL OR m.speaker IS NOT NULL) AND "
        "NOT EXISTS (SELECT 1 FROM memory_people p WHERE p.space_id = m.space_id "
        "AND p.memory_id = m.id AND p.role IN ('subject', 'mentioned'))"
    ),
    "memories whose withheld people are not indexed": (
        "SELECT count(*) FROM memories m WHERE m.has_withheld <> EXISTS (SELECT 1 FROM "
        "memory_people p WHERE p.space_id = m.space_id AND p.memory_id = m.id "
        "AND p.role = 'withheld')"
    ),
    "threads whose revision is behind their changes": (
        "SELECT count(*) FROM thread_revisions t WHERE t.rev < (SELECT max(c.rev) "
        "FROM change_log c WHERE c.space_id = t.space_id AND c.thread = t.thread)"
    ),
}
_UNSCRUBBED = "SELECT count(*) FROM tombstones WHERE NOT scrubbed"


def check(connection: Connection) -> list[str]:
    counted = ((what, connection.execute(text(sql)).scalar()) for what, sql in _PROMISES.items())
    return [f"{count} {what}" for what, count in counted if count]


def maintain(database: Database) -> Maintained:
    with database.alone() as connection:
        problems = database.dialect.check(connection) + check(connection)
        database.dialect.analyse(connection)
        database.dialect.compact(connection)
        unfinished = connection.execute(text(_UNSCRUBBED)).scalar() or 0
        indexed = database.dialect.index_vectors(connection)
    did = ["checked", "analysed", "compacted", *indexed]
    if unfinished:
        if scrub(database):
            did.append(f"finished {unfinished} erasures")
        else:
            problems.append(f"{unfinished} erasures wait for other readers of the file")
    return Maintained(problems=tuple(problems), did=tuple(did))
