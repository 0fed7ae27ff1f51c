"""What files of the database may still hold of an erasure, and how that ends.

Only what was shown to be gone counts as gone: whatever is not known is pending.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

from tacit.records.results import PendingErasure
from tacit.storage import erasures
from tacit.storage.engine import Database

ROWS = PendingErasure(
    where="rows",
    what="Other connections may still read the state from before the erasure, so the files of the "
    "database still hold it.",
    ends="`tacit maintain` removes it once those connections have ended their transactions.",
)
PAGES = PendingErasure(
    where="pages",
    what="The rows are deleted and vacuumed, but free space in the files of tables and indexes, "
    "and the planner's statistics, may still hold their bytes. So may the write-ahead log.",
    ends="The operator runs `tacit maintain --rewrite`; then the write-ahead log is waited for.",
)
LOG = PendingErasure(
    where="log",
    what="Every table was written anew, but segments of the write-ahead log may still hold the "
    "bytes.",
    ends="The server writes over these segments in the course of its work; `tacit maintain` looks, "
    "if its role is a member of pg_monitor. CHECKPOINT and pg_switch_wal() make it sooner.",
)
SERVER_LOG = PendingErasure(
    where="server_log",
    what="The database server is set to log the values of statements, so its log files may hold "
    "what was written and erased.",
    ends="The operator sets log_parameter_max_length to 0 and deletes the server's log files from "
    "before.",
)
NOTES = PendingErasure(
    where="notes",
    what="A file of notes beside the database could not be brought up to date, and may still hold "
    "what was erased.",
    ends="The operator makes the folder of notes writable and runs `tacit notes sync`.",
)


def pending(database: Database, id: str) -> tuple[PendingErasure, ...]:
    """Of the erasure with this id, as far as the database knows now."""
    follow(database)
    with database.autocommit_connection() as connection:
        remains = erasures.get_remains(connection, id)
        logged = database.dialect.logs_parameters(connection)
    return (*_told(remains), *([SERVER_LOG] if logged else []))


def follow(database: Database) -> dict[str, str | None]:
    """Look at the write-ahead log, where only that was left. By id: what is left of each erasure
    of which anything is."""
    with database.autocommit_connection() as connection:
        found = erasures.list_unfinished(connection)
        moved = {
            before: database.dialect.track_wal(connection, before)
            for before in {one for one in found.values() if one}
        }
    moved = {before: left for before, left in moved.items() if left != before}
    for before, left in moved.items():
        database.write(partial(erasures.advance_remains, before=before, left=left))
    now = {id: moved.get(one, one) if one else one for id, one in found.items()}
    return {id: one for id, one in now.items() if one != ""}


def rewrite(database: Database) -> bool:
    """Make the files anew. False where it could not be shown that no page holds what was erased
    before."""
    with database.autocommit_connection() as connection:
        before = list(erasures.list_unfinished(connection))
        left = database.dialect.rewrite(connection)
    if left is None:
        return False
    database.write(lambda connection: erasures.mark_cleaned(connection, before, left))
    return True


def summary(database: Database) -> list[str]:
    """Of all spaces: how many erasures are pending, for what, and how that ends."""
    counted = Counter(one for left in follow(database).values() for one in _told(left))
    return [
        f"{count} {'erasure' if count == 1 else 'erasures'}: {one.what} {one.ends}"
        for one, count in counted.items()
    ]


def _told(remains: str | None) -> tuple[PendingErasure, ...]:
    if remains is None:
        return (ROWS,)
    if not remains:
        return ()
    return (PAGES,) if remains == erasures.IN_FREE_PAGES else (LOG,)
