"""The schema of what came from another memory: the runs that brought it, and what each brought."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, Table

from tacit.store.columns import flag, metadata, of_memory, time, words

imports = Table(
    "imports",
    metadata,
    words("space_id"),
    words("person"),
    words("run"),  # what whoever imports calls it
    words("id"),  # by which a page of them goes on
    words("source"),
    time("started_at"),
    time("updated_at"),
    Column("created", Integer, nullable=False),
    Column("already", Integer, nullable=False),
    Column("refused", Integer, nullable=False),
    Column("done", Integer, nullable=False),  # items from the beginning, where the calls said so
    Column("total", Integer, nullable=True),
    flag("reverting"),
    time("reverted_at", null=True),
    Column("forgotten", Integer, nullable=False),  # when it was reverted, as far as that has got
    Column("changed", Integer, nullable=False),  # and left alone
    PrimaryKeyConstraint("space_id", "person", "run"),
    sqlite_with_rowid=False,
)

# What was imported, as a keyed hash of its id there, or of its words: a repeat is known as one,
# though the memory was reworded or forgotten since. It goes with the memory.
imported = Table(
    "imported",
    metadata,
    words("space_id"),
    words("person"),
    words("token"),
    words("run", null=True),  # that made the memory; None: nothing undoes it any more, or ever did
    words("memory_id"),
    time("at"),
    PrimaryKeyConstraint("space_id", "person", "token"),
    of_memory(),
    Index("ix_imported_memory", "space_id", "memory_id"),
    Index("ix_imported_run", "space_id", "person", "run", "token"),
    sqlite_with_rowid=False,
)
