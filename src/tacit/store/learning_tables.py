"""The schema of learning: turns that wait for it, what it knows of a memory, and what it asks."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, PrimaryKeyConstraint, Table

from tacit.store.columns import flag, metadata, of_memory, time, words

# What was accepted and is not done. A row goes in the transaction that writes what came of it, so
# that nothing is done twice and nothing is lost. Threads keep their order: `seq` only grows.
# A task that comes round has one row in each space, in a thread of its own, and it stays: the
# transaction that ends a run sets when it is due again.
jobs = Table(
    "jobs",
    metadata,
    words("space_id"),
    words("thread"),
    Column("seq", BigInteger, nullable=False),
    words("kind"),  # learn, or the name of a task
    words("owner"),  # whose it is: gone with whatever of theirs is erased; a task is nobody's
    words("payload"),  # JSON: the turn, or how far a task has come
    Column("attempts", Integer, nullable=False),
    time("due_at"),
    time("leased_until", null=True),  # somebody is at it, unless they died
    words("worker", null=True),
    words("problem", null=True),  # what kind of failure the last one was; never people's words
    flag("parked"),  # tried often enough: waits for an operator, and holds nobody up
    time("created_at"),
    PrimaryKeyConstraint("space_id", "thread", "seq"),
    Index("ix_jobs_due", "kind", "parked", "due_at"),
    Index("ix_jobs_owner", "space_id", "owner"),
)

# What learning compares a memory by.
learned = Table(
    "learned",
    metadata,
    words("space_id"),
    words("memory_id"),
    words("owner"),
    words("said"),  # a hash of the normalised wording
    words("slot", null=True),
    words("value", null=True),
    flag("negated"),
    flag("about_speaker"),
    words("about"),  # JSON: the others whom it is about, as they were mentioned
    PrimaryKeyConstraint("space_id", "memory_id"),
    of_memory(),
    Index("ix_learned_said", "space_id", "owner", "said"),
    Index("ix_learned_slot", "space_id", "owner", "slot"),
    sqlite_with_rowid=False,
)

# Something that waits for somebody's yes. Its words are a memory in the state `pending`.
proposals = Table(
    "proposals",
    metadata,
    words("space_id"),
    words("memory_id"),
    words("concerns"),  # who is asked, and nobody else
    words("reason"),
    words("replaces", null=True),  # the memory that gives way if the answer is yes
    Column("signals", Integer, nullable=False),  # how often it was said
    time("created_at"),
    time("expires_at"),
    PrimaryKeyConstraint("space_id", "memory_id"),
    of_memory(),
    Index("ix_proposals_concerns", "space_id", "concerns", "created_at"),
)

# What somebody said no to, as a hash: not to be asked again for a while.
declined = Table(
    "declined",
    metadata,
    words("space_id"),
    words("concerns"),
    words("said"),
    time("until"),
    PrimaryKeyConstraint("space_id", "concerns", "said"),
)

# How much was learned from somebody on a day, and when the last turn of theirs was read: what they
# stated in it is what a correction without a subject may mean.
learning_days = Table(
    "learning_days",
    metadata,
    words("space_id"),
    words("owner"),
    words("day"),
    Column("writes", Integer, nullable=False),
    time("last_turn_at", null=True),
    PrimaryKeyConstraint("space_id", "owner", "day"),
)

# What a space spent on language models on a day.
language_usage = Table(
    "language_usage",
    metadata,
    words("space_id"),
    words("day"),
    Column("requests", Integer, nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
    PrimaryKeyConstraint("space_id", "day"),
)
