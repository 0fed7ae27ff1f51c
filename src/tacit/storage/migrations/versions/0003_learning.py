"""Learning: accepted turns, what is compared, what is asked, and what was spent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

# The planner's figures are samples of the rows, and would outlive what is erased.
UNSAMPLED = (
    ("jobs", "payload"),
    ("learned", "value"),
    ("learned", "about"),
    ("proposals", "reason"),
)


def upgrade() -> None:
    _create_jobs()
    _create_learned()
    _create_proposals()
    _create_counts()
    if op.get_bind().dialect.name == "postgresql":
        for table, column in UNSAMPLED:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0")


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("leased_until", sa.BigInteger(), nullable=True),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("parked", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "thread", "seq"),
    )
    op.create_index("ix_jobs_due", "jobs", ["parked", "due_at"], unique=False)
    op.create_index("ix_jobs_owner", "jobs", ["space_id", "owner"], unique=False)


def _create_learned() -> None:
    op.create_table(
        "learned",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("slot", sa.Text(), nullable=True),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("negated", sa.Boolean(), nullable=False),
        sa.Column("about_speaker", sa.Boolean(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        _to_memory(),
        sa.PrimaryKeyConstraint("space_id", "memory_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_learned_said", "learned", ["space_id", "owner", "said"], unique=False)
    op.create_index("ix_learned_slot", "learned", ["space_id", "owner", "slot"], unique=False)


def _create_proposals() -> None:
    op.create_table(
        "proposals",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("concerns", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("replaces", sa.Text(), nullable=True),
        sa.Column("signals", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        _to_memory(),
        sa.PrimaryKeyConstraint("space_id", "memory_id"),
    )
    op.create_index(
        "ix_proposals_concerns", "proposals", ["space_id", "concerns", "created_at"], unique=False
    )
    op.create_table(
        "declined",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("concerns", sa.Text(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "concerns", "said"),
    )


def _create_counts() -> None:
    op.create_table(
        "learning_days",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("writes", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "owner", "day"),
    )
    op.create_table(
        "language_usage",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.BigInteger(), nullable=False),
        sa.Column("tokens_out", sa.BigInteger(), nullable=False),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "day"),
    )


def _to_memory() -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["space_id", "memory_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    )
