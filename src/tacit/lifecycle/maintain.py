"""Maintenance: check, analyse, compact. It reports what it found and what it did."""

from __future__ import annotations

from sqlalchemy import Connection, text

from tacit.lifecycle import remnants
from tacit.lifecycle.erase import scrub
from tacit.records.results import Maintained
from tacit.storage import erasures, integrity
from tacit.storage.engine import Database

_NOT_REWRITTEN = (
    "the tables could not be shown to be rewritten: end older transactions and run it again, as "
    "the owner of the tables and of the database"
)
_UNSCRUBBED = "SELECT count(*) FROM tombstones WHERE NOT scrubbed"


def check(connection: Connection) -> list[str]:
    """The promises that the doctor mends, in all spaces at once."""
    counted = (
        (what, integrity.count_broken_rows(connection, one))
        for what, one in integrity.INVARIANTS.items()
    )
    return [f"{count} {what}" for what, count in counted if count]


def maintain(database: Database, *, rewrite: bool = False) -> Maintained:
    """`rewrite`: make the files of every table anew, while others wait."""
    with database.autocommit_connection() as connection:
        problems = database.dialect.check(connection) + check(connection)
        database.dialect.analyze(connection)
        database.dialect.compact(connection)
        unfinished = max(
            connection.execute(text(_UNSCRUBBED)).scalar() or 0,
            list(erasures.list_unfinished(connection).values()).count(None),
        )
        indexed = database.dialect.index_vectors(connection)
    did = ["checked", "analysed", "compacted", *indexed]
    if unfinished:
        if scrub(database):
            did.append(f"finished {unfinished} erasures")
        else:
            problems.append(f"{unfinished} erasures wait for other readers of the file")
    if rewrite and remnants.rewrite(database):
        did.append("rewrote the tables")
    elif rewrite:
        problems.append(_NOT_REWRITTEN)
    pending = remnants.summary(database)
    return Maintained(problems=tuple(problems), did=tuple(did), pending=tuple(pending))
