"""Looking back: whose memory an entry of a history is about, so that the newest ones of a person,
or of a space, are read by an index and not by all their memories; what of theirs stands out; and
which of the people whom they named are one to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    _tell_whose()
    _index_foremost()
    _create_same_people()


def _tell_whose() -> None:
    op.add_column("history", sa.Column("owner", sa.Text(), nullable=True))
    op.execute(
        "UPDATE history SET owner = (SELECT m.owner FROM memories m "
        "WHERE m.space_id = history.space_id AND m.id = history.memory_id)"
    )
    columns = ["at", "memory_id", "seq", "event"]
    op.create_index("ix_history_owner", "history", ["space_id", "owner", *columns])
    op.create_index(
        "ix_history_at",
        "history",
        ["space_id", *columns],
        sqlite_where=sa.text("event <> ''"),
        postgresql_where=sa.text("event <> ''"),
    )


def _index_foremost() -> None:
    standing = sa.text("state = 'active'")
    columns = ["space_id", "owner", "is_turn", "pinned", "importance", "created_at"]
    op.create_index(
        "ix_memories_foremost",
        "memories",
        [*columns, "id", "expires_at"],
        sqlite_where=standing,
        postgresql_where=standing,
    )


def _create_same_people() -> None:
    op.create_table(
        "same_people",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("known_to", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("into", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "known_to", "person"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_same_people_person", "same_people", ["space_id", "person"])
    op.create_index("ix_same_people_into", "same_people", ["space_id", "into"])
