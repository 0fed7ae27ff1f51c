"""The schema of what happened: to each memory, and to what a thread was told of."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, PrimaryKeyConstraint, Table, text

from tacit.store.columns import metadata, of_memory, time, words

history = Table(
    "history",
    metadata,
    words("space_id"),
    words("memory_id"),
    Column("seq", Integer, nullable=False),
    words("event"),
    Column("version", Integer, nullable=False),
    words("actor"),
    words("detail"),  # JSON object of plain words; never the memory's text
    time("at"),
    words("owner", null=True),  # the memory's, which it keeps for life
    PrimaryKeyConstraint("space_id", "memory_id", "seq"),
    of_memory(),
    # What happened lately, to one person's memories or in the whole space. With the event, so that
    # days are counted from the index alone. That there is one is said by operators' reads alone, so
    # that no other one is led through a whole space.
    Index("ix_history_owner", "space_id", "owner", "at", "memory_id", "seq", "event"),
    Index(
        "ix_history_at",
        "space_id",
        "at",
        "memory_id",
        "seq",
        "event",
        sqlite_where=text("event <> ''"),
        postgresql_where=text("event <> ''"),
    ),
    sqlite_with_rowid=False,
)

thread_revisions = Table(
    "thread_revisions",
    metadata,
    words("space_id"),
    words("thread"),
    Column("rev", BigInteger, nullable=False),
    PrimaryKeyConstraint("space_id", "thread"),
    sqlite_with_rowid=False,
)

change_log = Table(
    "change_log",
    metadata,
    words("space_id"),
    words("thread"),
    Column("rev", BigInteger, nullable=False),
    words("memory_id"),
    words("event"),
    time("at"),
    PrimaryKeyConstraint("space_id", "thread", "rev"),
    of_memory(),
    Index("ix_change_log_memory", "space_id", "memory_id"),
    sqlite_with_rowid=False,
)
