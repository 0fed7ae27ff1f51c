"""Looking in: which operator looked at whose memories, and who is signed in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    _create_looks()
    _create_sign_ins()
    _create_sittings()


def _create_looks() -> None:
    op.create_table(
        "looks",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=True),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "id"),
    )
    op.create_index("ix_looks_at", "looks", ["space_id", "at", "id"])
    op.create_index(
        "ix_looks_memory",
        "looks",
        ["space_id", "memory_id"],
        sqlite_where=sa.text("memory_id IS NOT NULL"),
        postgresql_where=sa.text("memory_id IS NOT NULL"),
    )
    op.create_table(
        "look_people",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("look_id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "look_id", "person"),
        sa.ForeignKeyConstraint(
            ["space_id", "look_id"], ["looks.space_id", "looks.id"], ondelete="CASCADE"
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_look_people_person", "look_people", ["space_id", "person", "at", "look_id"])


def _create_sign_ins() -> None:
    op.create_table(
        "sign_ins",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("person", sa.Text(), nullable=True),
        sa.Column("operator", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "id"),
    )
    op.create_index("ix_sign_ins_id", "sign_ins", ["id"])
    op.create_index(
        "ix_sign_ins_person", "sign_ins", ["space_id", "person", "operator", "created_at"]
    )
    op.create_index("ix_sign_ins_expires_at", "sign_ins", ["expires_at"])


def _create_sittings() -> None:
    op.create_table(
        "sittings",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("person", sa.Text(), nullable=True),
        sa.Column("operator", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "id"),
    )
    op.create_index("ix_sittings_id", "sittings", ["id"])
    op.create_index("ix_sittings_person", "sittings", ["space_id", "person", "operator"])
    op.create_index("ix_sittings_expires_at", "sittings", ["expires_at"])
