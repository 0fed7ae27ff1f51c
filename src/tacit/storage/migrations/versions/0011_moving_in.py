"""Moving in: data that goes with a memory, the steps of graphs, and what came out of other
memories."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    _add_data()
    _create_steps()
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


def _create_steps() -> None:
    _create_graph_table(
        "graph_steps",
        ["id"],
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("parent", sa.Text(), nullable=True),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=True),
        *_sealed(),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("versions", sa.Text(), nullable=False),
    )
    ran = sa.text("run IS NOT NULL")
    op.create_index(
        "ix_graph_steps_run",
        "graph_steps",
        ["space_id", "run", "person"],
        sqlite_where=ran,
        postgresql_where=ran,
    )
    _create_graph_table(
        "graph_values",
        ["channel", "version"],
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        *_sealed(),
    )
    _create_graph_table(
        "graph_writes",
        ["step", "task", "idx"],
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("idx", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        *_sealed(),
    )


def _sealed() -> list[sa.Column[Any]]:
    return [
        sa.Column("heard", sa.Text(), nullable=True),
        sa.Column("categories", sa.Text(), nullable=True),
        sa.Column("saved_at", sa.BigInteger(), nullable=False),
    ]


def _create_graph_table(name: str, key: list[str], *columns: sa.Column[Any]) -> None:
    where = ["space_id", "person", "place", "thread", "ns"]
    op.create_table(
        name,
        *(sa.Column(one, sa.Text(), nullable=False) for one in where),
        *columns,
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(*where, *key),
    )
    elsewhere = sa.text("place <> ''")
    op.create_index(
        f"ix_{name}_place",
        name,
        ["space_id", "place", "person", "thread", "heard"],
        sqlite_where=elsewhere,
        postgresql_where=elsewhere,
    )
