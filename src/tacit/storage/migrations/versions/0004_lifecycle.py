"""Lifecycle: runs of tasks, the clock of sweeps, compared pairs, reflections, erasures, events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    _create_runs()
    _index_ageing()
    _create_pair_checks()
    _create_erasures()
    _create_events()


def _create_runs() -> None:
    # Turns and tasks share the queue, and neither walks through the other's rows.
    op.drop_index("ix_jobs_due", table_name="jobs")
    op.create_index("ix_jobs_due", "jobs", ["kind", "parked", "due_at"], unique=False)
    op.create_table(
        "job_runs",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=False),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("space_id", "task", "seq"),
    )
    op.create_table(
        "sweeps",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("leapt_from", sa.BigInteger(), nullable=True),
        sa.Column("leapt_to", sa.BigInteger(), nullable=True),
        sa.Column("purged_until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("space_id"),
    )
    op.create_table(
        "reflections",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("spent", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "owner", "task"),
    )


def _index_ageing() -> None:
    lapsing = sa.text("expires_at IS NOT NULL AND state = 'active'")
    op.create_index(
        "ix_memories_expires_at",
        "memories",
        ["space_id", "is_turn", "expires_at", "id"],
        unique=False,
        sqlite_where=lapsing,
        postgresql_where=lapsing,
    )
    fading = sa.text("importance < 3 AND state = 'active'")
    op.create_index(
        "ix_memories_fading",
        "memories",
        ["space_id", "updated_at", "id"],
        unique=False,
        sqlite_where=fading,
        postgresql_where=fading,
    )


def _create_pair_checks() -> None:
    op.create_table(
        "pair_checks",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("first_id", sa.Text(), nullable=False),
        sa.Column("second_id", sa.Text(), nullable=False),
        sa.Column("likeness", sa.Integer(), nullable=False),
        sa.Column("same", sa.Boolean(), nullable=False),
        sa.Column("checked_at", sa.BigInteger(), nullable=False),
        _to_memory("first_id"),
        _to_memory("second_id"),
        sa.PrimaryKeyConstraint("space_id", "first_id", "second_id"),
    )
    op.create_index("ix_pair_checks_second", "pair_checks", ["space_id", "second_id"], unique=False)
    op.create_index(
        "ix_pair_checks_checked_at", "pair_checks", ["space_id", "checked_at"], unique=False
    )


def _create_erasures() -> None:
    op.create_table(
        "erasures",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("digests", sa.Text(), nullable=False),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.Column("erased_at", sa.BigInteger(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "id"),
    )
    op.create_index("ix_erasures_erased_at", "erasures", ["space_id", "erased_at"], unique=False)


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("op", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=True),
        sa.Column("category", sa.Text(), nullable=True),
        sa.Column("likeness", sa.Float(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "id"),
        _to_memory("memory_id"),
    )
    op.create_index("ix_events_owner", "events", ["space_id", "owner", "at"], unique=False)
    op.create_index("ix_events_node", "events", ["space_id", "node", "at"], unique=False)
    op.create_index("ix_events_memory", "events", ["space_id", "memory_id"], unique=False)


def _to_memory(column: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["space_id", column], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    )
