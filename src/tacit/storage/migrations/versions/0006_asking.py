"""Being asked over a wire: who may ask, what was done already, and where an agent had got to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    _create_keys()
    _create_done()
    _create_checkpoints()


def _create_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("requester", sa.Text(), nullable=True),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("categories", sa.Text(), nullable=True),
        sa.Column("rate_per_minute", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("space_id", "key_id"),
    )
    op.create_index("ix_api_keys_key_id", "api_keys", ["key_id"], unique=False)


def _create_done() -> None:
    op.create_table(
        "done_once",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "person", "token"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_done_once_at", "done_once", ["at"], unique=False)
    op.create_table(
        "done_memories",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "person", "token", "position"),
        sa.ForeignKeyConstraint(
            ["space_id", "person", "token"],
            ["done_once.space_id", "done_once.person", "done_once.token"],
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["space_id", "memory_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_done_memories_memory", "done_memories", ["space_id", "memory_id"], unique=False
    )


def _create_checkpoints() -> None:
    op.create_table(
        "checkpoints",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("categories", sa.Text(), nullable=True),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "person", "thread"),
    )
