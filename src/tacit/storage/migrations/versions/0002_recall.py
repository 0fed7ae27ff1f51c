"""Recall: vectors, relations, turns, and the revisions that keep answers in a process honest."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

SEARCH = {
    "sqlite": "ALTER TABLE vectors ADD COLUMN vector BLOB",
    # The planner's figures are samples of the rows, and would outlive what is erased.
    "postgresql": """
        CREATE EXTENSION IF NOT EXISTS vector;
        ALTER TABLE vectors ADD COLUMN vector vector;
        ALTER TABLE vectors ALTER COLUMN vector SET STATISTICS 0;
        ALTER TABLE memories ALTER COLUMN name SET STATISTICS 0
    """,
}
WHERE = {"speaker": "owner IS NULL OR owner <> speaker", "heard": "heard IS NOT NULL"}


def upgrade() -> None:
    _widen_memories()
    _create_vectors_and_partitions()
    _create_relations()
    op.create_table(
        "blocks",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("taken_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "thread", "audience"),
    )
    for statement in SEARCH[op.get_bind().dialect.name].split(";"):
        op.execute(statement)


def _widen_memories() -> None:
    op.add_column(
        "memories", sa.Column("is_turn", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("memories", sa.Column("session", sa.Text(), nullable=True))
    op.add_column("memories", sa.Column("seq", sa.BigInteger(), nullable=True))
    op.add_column("memories", sa.Column("name", sa.Text(), nullable=True))
    op.add_column(
        "memories",
        sa.Column("stamp", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
    )
    for lead in ("owner", "speaker", "learned_in", "heard"):
        op.drop_index(f"ix_memories_{lead}", "memories")
        where = sa.text(WHERE[lead]) if lead in WHERE else None
        op.create_index(
            f"ix_memories_{lead}",
            "memories",
            ["space_id", lead, "is_turn", "created_at", "id"],
            unique=False,
            sqlite_where=where,
            postgresql_where=where,
        )
    op.create_index("ix_memories_stamp", "memories", ["space_id", "owner", "stamp"], unique=False)


def _create_vectors_and_partitions() -> None:
    op.create_table(
        "vectors",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("home", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        _to_memory("memory_id"),
        sa.PrimaryKeyConstraint("space_id", "home", "memory_id"),
    )
    op.create_index("ix_vectors_memory", "vectors", ["space_id", "memory_id"], unique=False)
    op.create_table(
        "embedded",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("done_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "model"),
    )
    op.create_table(
        "partitions",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("door", sa.Text(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("cleared_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "door"),
        sqlite_with_rowid=False,
    )


def _create_relations() -> None:
    op.create_table(
        "relations",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("from_id", sa.Text(), nullable=False),
        sa.Column("to_id", sa.Text(), nullable=False),
        sa.Column("relation_type", sa.Text(), nullable=False),
        sa.Column("strength", sa.Float(), nullable=False),
        sa.Column("found", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        _to_memory("from_id"),
        _to_memory("to_id"),
        sa.PrimaryKeyConstraint("space_id", "from_id", "to_id", "relation_type"),
    )
    op.create_index("ix_relations_to", "relations", ["space_id", "to_id"], unique=False)
    op.create_table(
        "derived_from",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("turn_id", sa.Text(), nullable=False),
        _to_memory("memory_id"),
        _to_memory("turn_id"),
        sa.PrimaryKeyConstraint("space_id", "memory_id", "turn_id"),
    )
    op.create_index("ix_derived_from_turn", "derived_from", ["space_id", "turn_id"], unique=False)


def _to_memory(column: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["space_id", column], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    )
