"""The words by which memories are searched, compared with what the memories say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, false, func, literal_column, select, text
from sqlalchemy.sql.expression import ColumnElement, FromClause

from tacit.records.memory import Memory
from tacit.store import doors, partitions, rendered
from tacit.store.ailments import pages
from tacit.store.dialect import Dialect
from tacit.store.rows import COLUMNS, to_memory, to_row
from tacit.store.spelling import lexemes, spelt
from tacit.store.tables import memories
from tacit.store.words import INDEXED, ROWS, WORDS
from tacit.store.writes import Writing

_M = memories.c
_HEARD = COLUMNS.index(_M.heard)
_ID_FIRST = (_M.id, *COLUMNS)
_NOBODY: frozenset[str] = frozenset()
# Words of what is gone, and words without a row to find them by.
_STRAY = (
    text(
        "SELECT r.number FROM search_rows r WHERE r.space_id = :space AND NOT EXISTS "
        "(SELECT 1 FROM memories m WHERE m.space_id = r.space_id AND m.id = r.memory_id)"
    ),
    text(
        "SELECT w.id FROM search_words_content w WHERE :space IS NOT NULL AND NOT EXISTS "
        "(SELECT 1 FROM search_rows r WHERE r.number = w.id)"
    ),
)
_IS_HELD = text(
    "SELECT 1 FROM search_rows r JOIN memories m "
    "ON m.space_id = r.space_id AND m.id = r.memory_id WHERE r.number = :number"
)
_DROP = (
    text("DELETE FROM search_words WHERE rowid = :number"),
    text("DELETE FROM search_rows WHERE number = :number"),
)


def _beside(dialect: Dialect) -> tuple[FromClause, Sequence[ColumnElement[Any]]]:
    """Where each database keeps the words: tables of their own, or a column of the memory."""
    if dialect.name == "sqlite":
        of = (ROWS.c.space_id == _M.space_id) & (ROWS.c.memory_id == _M.id)
        joined = memories.outerjoin(ROWS, of).outerjoin(WORDS, WORDS.c.rowid == ROWS.c.number)
        waits = func.coalesce(ROWS.c.number > INDEXED, false())
        return joined, (WORDS.c.content, WORDS.c.doors, WORDS.c.own, waits)
    return memories, (literal_column("tsvector_to_array(memories.words)"),)


def stale(connection: Connection, dialect: Dialect, space: str) -> Iterator[str]:
    """Ids of memories that are not found by their words, or by others than theirs."""
    source, kept = _beside(dialect)
    statement = select(*_ID_FIRST, *kept).select_from(source)
    width = len(_ID_FIRST)
    for page in pages(connection, statement, space):
        for row in page:
            memory = to_memory(row[1:width], _NOBODY)
            if not _matches(memory, row[1 + _HEARD], row[width:]):
                yield memory.id


def _matches(memory: Memory, heard: str | None, indexed: Sequence[Any]) -> bool:
    words = spelt(memory)
    if len(indexed) == 1:
        return set(indexed[0] or ()) == set(lexemes(words))
    *found, waits = indexed
    said, own = map(" ".join, words)
    return bool(waits) or found == [said, doors.of_memory(memory, heard), own]


def stray(connection: Connection, dialect: Dialect, space: str) -> list[int]:
    """Numbers of words that belong to no memory. Only SQLite keeps them apart from the memory."""
    if dialect.name != "sqlite":
        return []
    found = (connection.execute(one, {"space": space}).scalars() for one in _STRAY)
    return sorted({int(number) for some in found for number in some})


def drop(connection: Connection, number: int) -> bool:
    """Unless a memory has them by now."""
    if connection.execute(_IS_HELD, {"number": number}).first() is not None:
        return False
    for statement in _DROP:
        connection.execute(statement, {"number": number})
    return True


def index(w: Writing, memory: Memory, heard: str | None) -> None:
    """Anew, whatever there was."""
    through = doors.of_memory(memory, heard)
    w.dialect.unindex_words(w.connection, w.space, [memory.id])
    # The first step adds the memory itself, which is there.
    _, *words = w.dialect.insert_memory_statements(to_row(memory, heard), memory.content)
    rendered.run(w.connection, words)
    w.dialect.reindex_words(w.connection, memory, through)
    partitions.restamp(w.connection, w.space, [memory.id])
