"""The schema of upkeep: what ran and when, what the clock said, pairs that were compared, when
somebody was thought about, what was erased, and what happened."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
)

from tacit.store.columns import flag, metadata, of_memory, time, words

# The last runs of each task in a space. What is to be done, and who is at it, stands in `jobs`.
job_runs = Table(
    "job_runs",
    metadata,
    words("space_id"),
    words("task"),
    Column("seq", BigInteger, nullable=False),
    time("started_at"),
    time("finished_at"),
    words("counts"),  # JSON: what was done, by plain words; never ids or content
    words("problem", null=True),  # the kind of failure, or why it waits
    PrimaryKeyConstraint("space_id", "task", "seq"),
)

# What the clock said at the last sweep; and if it leapt since the one before, from where to where:
# then nothing is purged until somebody vouches for it. What was to be purged by `purged_until` is
# gone; a memory that turns up behind it was dated by a clock that was wrong.
sweeps = Table(
    "sweeps",
    metadata,
    words("space_id"),
    time("seen_at"),
    time("leapt_from", null=True),
    time("leapt_to", null=True),
    time("purged_until", null=True),
    PrimaryKeyConstraint("space_id"),
)

# Pairs of memories that were compared, and need not be again for a while.
pair_checks = Table(
    "pair_checks",
    metadata,
    words("space_id"),
    words("first_id"),  # the smaller id
    words("second_id"),
    Column("likeness", Integer, nullable=False),  # in hundredths
    flag("same"),
    time("checked_at"),
    PrimaryKeyConstraint("space_id", "first_id", "second_id"),
    ForeignKeyConstraint(
        ["space_id", "first_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    ),
    ForeignKeyConstraint(
        ["space_id", "second_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    ),
    Index("ix_pair_checks_second", "space_id", "second_id"),
    Index("ix_pair_checks_checked_at", "space_id", "checked_at"),
)

# When a person was last thought about, and compared: both at most once in a while.
reflections = Table(
    "reflections",
    metadata,
    words("space_id"),
    words("owner"),
    words("task"),  # reflect | consolidate | summarise
    time("at"),
    Column("spent", Integer, nullable=False),  # pairs compared on that day, say
    PrimaryKeyConstraint("space_id", "owner", "task"),
)

# Erasures in the order they happened, as keyed hashes and counts: enough to do them again to an
# older copy, and nothing more.
erasures = Table(
    "erasures",
    metadata,
    words("space_id"),
    words("id"),
    words("scope"),  # memory | person | subject | source | space
    words("digests"),  # JSON: keyed hashes of ids or identities
    words("counts"),  # JSON: rows removed, by table
    time("erased_at"),
    words("signature"),
    # What files may still hold of it (remnants.py): NULL before they were cleaned, '' for nothing.
    words("remains", null=True),
    PrimaryKeyConstraint("space_id", "id"),
    Index("ix_erasures_erased_at", "space_id", "erased_at"),
)

# What happened, for counts over time: never content.
events = Table(
    "events",
    metadata,
    words("space_id"),
    words("id"),
    words("owner", null=True),
    words("thread", null=True),
    words("node"),  # hotpath | context | episodic | worker
    words("op"),  # classify | search | create | update | merge | link | ttl | delete …
    words("status"),  # ok | error | skipped
    words("memory_id", null=True),
    words("category", null=True),
    Column("likeness", Float, nullable=True),
    time("at"),
    PrimaryKeyConstraint("space_id", "id"),
    of_memory(),  # what names a memory goes with it
    Index("ix_events_owner", "space_id", "owner", "at"),
    Index("ix_events_node", "space_id", "node", "at"),
    Index("ix_events_memory", "space_id", "memory_id"),
)
