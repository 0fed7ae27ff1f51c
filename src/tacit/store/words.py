"""The full-text index of SQLite, which follows behind: a write leaves a number for what there is to
index, and whoever searches by words catches up first. Few ever do: only where more is within reach
than a process keeps at hand."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, column, func, insert, select, table

from tacit.store import doors
from tacit.store.dialect import Dialect
from tacit.store.engine import Database
from tacit.store.rows import COLUMNS, to_memory
from tacit.store.spelling import spelt
from tacit.store.tables import memories

_M = memories.c
_HEARD = COLUMNS.index(_M.heard)
_AT_ONCE_COUNT = 500
_NOBODY: frozenset[str] = frozenset()
ROWS = table("search_rows", column("number"), column("space_id"), column("memory_id"))
WORDS = table("search_words", column("rowid"), column("content"), column("doors"), column("own"))
_CONTENT = table("search_words_content", column("id"))
# Numbers only grow, and words are indexed in their order: up to this one, all are.
INDEXED = select(func.coalesce(func.max(_CONTENT.c.id), 0)).scalar_subquery()
_LEFT = (
    select(ROWS.c.number, *COLUMNS)
    .select_from(
        ROWS.join(memories, (_M.space_id == ROWS.c.space_id) & (_M.id == ROWS.c.memory_id))
    )
    .where(ROWS.c.number > INDEXED)
    .order_by(ROWS.c.number)
    .limit(bindparam("most"))
)


class Behind(Exception):
    """There is something that a search by words would not find: catch up, and search again."""


def require(connection: Connection, dialect: Dialect) -> None:
    if dialect.defers_fts_index and connection.execute(_LEFT, {"most": 1}).first() is not None:
        raise Behind


def catch_up(database: Database) -> int:
    """Index what is left, some at a time. Says how much that was."""
    count = done = 0
    while done == _AT_ONCE_COUNT or not count:
        done = database.write(_index_some)
        count += done
        if not done:
            break
    return count


def _index_some(connection: Connection) -> int:
    found = connection.execute(_LEFT, {"most": _AT_ONCE_COUNT}).all()
    rows = []
    for number, *row in found:
        memory = to_memory(tuple(row), _NOBODY)
        through = doors.of_memory(memory, row[_HEARD])
        said, own = map(" ".join, spelt(memory))
        rows.append({"rowid": number, "content": said, "doors": through, "own": own})
    if rows:
        connection.execute(insert(WORDS), rows)
    return len(found)
