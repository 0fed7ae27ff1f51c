"""The schema of looking in: which operator looked at whose memories, and who is signed in."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    text,
)

from tacit.store.columns import metadata, time, words

# Each look of an operator at what people have, noted in the transaction that reads it.
looks = Table(
    "looks",
    metadata,
    words("space_id"),
    words("id"),
    time("at"),
    words("actor"),
    words("word"),  # what was asked for: browse, show, history, …
    words("memory_id", null=True),  # where it was exactly one, until that is gone
    Column("count", Integer, nullable=False),  # of the memories that were shown
    PrimaryKeyConstraint("space_id", "id"),
    Index("ix_looks_at", "space_id", "at", "id"),
    Index(
        "ix_looks_memory",
        "space_id",
        "memory_id",
        sqlite_where=text("memory_id IS NOT NULL"),
        postgresql_where=text("memory_id IS NOT NULL"),
    ),
)

# Whose memories were among them. The time is told again, so that a person's are read in order.
look_people = Table(
    "look_people",
    metadata,
    words("space_id"),
    words("look_id"),
    words("person"),
    time("at"),
    Column("count", Integer, nullable=False),  # of theirs; how many others' there were is not told
    PrimaryKeyConstraint("space_id", "look_id", "person"),
    ForeignKeyConstraint(
        ["space_id", "look_id"], ["looks.space_id", "looks.id"], ondelete="CASCADE"
    ),
    Index("ix_look_people_person", "space_id", "person", "at", "look_id"),
    sqlite_with_rowid=False,
)

# A link that signs somebody in, once. The secret itself is nowhere: only what it hashes to.
sign_ins = Table(
    "sign_ins",
    metadata,
    words("space_id"),
    words("id"),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the secret
    words("person", null=True),  # one of both
    words("operator", null=True),
    time("created_at"),
    time("expires_at"),
    PrimaryKeyConstraint("space_id", "id"),
    Index("ix_sign_ins_id", "id"),  # whoever comes names no space
    Index("ix_sign_ins_person", "space_id", "person", "operator", "created_at"),
    Index("ix_sign_ins_expires_at", "expires_at"),  # for the sweep
)

# Who is signed in, from a link until they sign out or are away for too long.
sittings = Table(
    "sittings",
    metadata,
    words("space_id"),
    words("id"),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the cookie's secret
    words("person", null=True),
    words("operator", null=True),
    time("created_at"),
    time("seen_at"),
    time("expires_at"),
    PrimaryKeyConstraint("space_id", "id"),
    Index("ix_sittings_id", "id"),
    Index("ix_sittings_person", "space_id", "person", "operator"),
    Index("ix_sittings_expires_at", "expires_at"),  # for the sweep
)
