"""The schema of recall: vectors, relations, and what keeps answers in a process honest."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    Table,
)

from tacit.store.columns import flag, metadata, of_memory, time, words

# A memory's place in the space of meanings, beside the others of its home: its owner's, or those of
# the room that owns it. The vector itself is a column that each database has a type of its own for.
vectors = Table(
    "vectors",
    metadata,
    words("space_id"),
    words("home"),
    words("memory_id"),
    words("model"),
    PrimaryKeyConstraint("space_id", "home", "memory_id"),
    of_memory(),
    Index("ix_vectors_memory", "space_id", "memory_id"),
    # With row numbers: without, SQLite would give each vector a page of its own beside the tree.
)

# The spaces in which every memory has a vector of this model.
embedded = Table(
    "embedded",
    metadata,
    words("space_id"),
    words("model"),
    time("done_at"),
    PrimaryKeyConstraint("space_id", "model"),
)

# A revision for everything that leads to memories: a person, a room, a set of listeners. It moves
# with every change of what lies behind it, so that whoever keeps an answer knows when it is stale.
partitions = Table(
    "partitions",
    metadata,
    words("space_id"),
    words("door"),
    Column("rev", BigInteger, nullable=False),
    Column("cleared_at", BigInteger, nullable=False),  # the revision that last removed a row
    PrimaryKeyConstraint("space_id", "door"),
    sqlite_with_rowid=False,
)

# Edges between memories. Those that were found by likeness run from the smaller id to the larger.
relations = Table(
    "relations",
    metadata,
    words("space_id"),
    words("from_id"),
    words("to_id"),
    words("relation_type"),
    Column("strength", Float, nullable=False),
    flag("found"),  # by likeness, as against said by somebody
    time("created_at"),
    PrimaryKeyConstraint("space_id", "from_id", "to_id", "relation_type"),
    ForeignKeyConstraint(
        ["space_id", "from_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    ),
    ForeignKeyConstraint(
        ["space_id", "to_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    ),
    Index("ix_relations_to", "space_id", "to_id"),
)

# Which turns a memory was learned from.
derived_from = Table(
    "derived_from",
    metadata,
    words("space_id"),
    words("memory_id"),
    words("turn_id"),
    PrimaryKeyConstraint("space_id", "memory_id", "turn_id"),
    of_memory(),
    ForeignKeyConstraint(
        ["space_id", "turn_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    ),
    Index("ix_derived_from_turn", "space_id", "turn_id"),
)

# When the block of a thread was put together for an audience: what is newer waits in the delta.
blocks = Table(
    "blocks",
    metadata,
    words("space_id"),
    words("thread"),
    words("audience"),
    time("taken_at"),
    time("used_at"),
    PrimaryKeyConstraint("space_id", "thread", "audience"),
)
