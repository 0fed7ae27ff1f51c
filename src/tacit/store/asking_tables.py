"""The schema of being asked over a wire: keys, what was done already, where agents had got to."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
)

from tacit.store.columns import metadata, of_memory, time, words

# Who may ask from outside. The secret itself is nowhere: only what it hashes to.
api_keys = Table(
    "api_keys",
    metadata,
    words("space_id"),
    words("key_id"),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the secret
    words("name"),
    words("agent", null=True),
    words("requester", null=True),  # for whom alone it asks, as they are named outside
    words("scopes"),  # JSON list
    words("categories", null=True),  # JSON list; without one, all of them
    Column("rate_per_minute", Integer, nullable=True),
    time("created_at"),
    time("expires_at", null=True),
    time("revoked_at", null=True),
    PrimaryKeyConstraint("space_id", "key_id"),
    Index("ix_api_keys_key_id", "key_id"),  # whoever asks names no space
)

# What somebody wanted done once, and was: as hashes of their word for it and of what they asked.
# What came of it is told without any content; the memories are rows of their own, which go with
# these, so that a repeat finds something missing and says so.
done_once = Table(
    "done_once",
    metadata,
    words("space_id"),
    words("person"),
    words("token"),  # a hash of the key
    # A hash of what was asked, keyed with the key, which is nowhere here; empty where what came of
    # it was erased.
    words("fingerprint"),
    words("result"),  # JSON: counts, versions and plain words
    time("at"),
    PrimaryKeyConstraint("space_id", "person", "token"),
    Index("ix_done_once_at", "at"),  # for the sweep; no look-up by space is led astray by it
    sqlite_with_rowid=False,
)

done_memories = Table(
    "done_memories",
    metadata,
    words("space_id"),
    words("person"),
    words("token"),
    Column("position", Integer, nullable=False),
    words("memory_id"),
    PrimaryKeyConstraint("space_id", "person", "token", "position"),
    ForeignKeyConstraint(
        ["space_id", "person", "token"],
        ["done_once.space_id", "done_once.person", "done_once.token"],
        ondelete="CASCADE",
    ),
    of_memory(),
    Index("ix_done_memories_memory", "space_id", "memory_id"),
    sqlite_with_rowid=False,
)

# Where an agent had got to in a thread with somebody: its own state, which nobody else reads.
checkpoints = Table(
    "checkpoints",
    metadata,
    words("space_id"),
    words("person"),
    words("thread"),
    Column("version", BigInteger, nullable=False),
    time("updated_at"),
    # JSON list: what its agent may use, if that is not everything. One that may use less than that
    # does not read it.
    words("categories", null=True),
    words("data"),  # JSON; last, for it is long
    PrimaryKeyConstraint("space_id", "person", "thread"),
)
