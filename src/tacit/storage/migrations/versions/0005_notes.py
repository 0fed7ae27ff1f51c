"""Notes: which there are, the memories in them, and what mirrors know of their files."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    _create_notes()
    _create_items()
    _create_files()


def _create_notes() -> None:
    op.create_table(
        "notes",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("day", sa.Text(), nullable=True),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("chat", sa.Text(), nullable=True),
        sa.Column("chat_kind", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("summary_id", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("channel", sa.Text(), nullable=True),
        sa.Column("contact_id", sa.Text(), nullable=True),
        sa.Column("contact_nickname", sa.Text(), nullable=True),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("links", sa.Text(), nullable=False),
        sa.Column("layout", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "path"),
    )
    op.create_index("ix_notes_stamp", "notes", ["space_id", "stamp"], unique=False)
    op.create_index(
        "ix_notes_subject", "notes", ["space_id", "subject", "kind", "day"], unique=False
    )
    op.create_index("ix_notes_chat", "notes", ["space_id", "chat", "day"], unique=False)
    named = sa.text("summary_id IS NOT NULL")
    op.create_index(
        "ix_notes_summary_id",
        "notes",
        ["space_id", "summary_id"],
        unique=False,
        sqlite_where=named,
        postgresql_where=named,
    )


def _create_items() -> None:
    op.create_table(
        "note_items",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("section", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("added_on", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("space_id", "path", "memory_id"),
        sa.ForeignKeyConstraint(
            ["space_id", "path"], ["notes.space_id", "notes.path"], ondelete="CASCADE"
        ),
        _to_memory(),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_note_items_memory", "note_items", ["space_id", "memory_id"], unique=False)


def _create_files() -> None:
    op.create_table(
        "note_files",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("chat", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("space_id", "folder", "path"),
    )
    op.create_index("ix_note_files_path", "note_files", ["space_id", "path"], unique=False)
    op.create_table(
        "note_lines",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=True),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "folder", "path", "memory_id"),
        sa.ForeignKeyConstraint(
            ["space_id", "folder", "path"],
            ["note_files.space_id", "note_files.folder", "note_files.path"],
            ondelete="CASCADE",
        ),
        _to_memory(),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_note_lines_memory", "note_lines", ["space_id", "memory_id"], unique=False)


def _to_memory() -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["space_id", "memory_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    )
