"""Moving in: data that goes with a memory, the steps of graphs, and what came out of other
memories."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    _add_data()
    _create_imports()


def _add_data() -> None:
    op.add_column("memories", sa.Column("data", sa.Text(), nullable=True))


def _create_imports() -> None:
    op.create_table(
        "imports",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.Integer(), nullable=False),
        sa.Column("already", sa.Integer(), nullable=False),
        sa.Column("refused", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("reverting", sa.Boolean(), nullable=False),
        sa.Column("reverted_at", sa.BigInteger(), nullable=True),
        sa.Column("forgotten", sa.Integer(), nullable=False),
        sa.Column("changed", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "person", "run"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "imported",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "person", "token"),
        sa.ForeignKeyConstraint(
            ["space_id", "memory_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_imported_memory", "imported", ["space_id", "memory_id"], unique=False)
    op.create_index(
        "ix_imported_run", "imported", ["space_id", "person", "run", "token"], unique=False
    )
