"""Chatting: what channels brought and is not done, and codes by which people link identities."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    _create_updates()
    _create_link_offers()


def _create_updates() -> None:
    op.create_table(
        "updates",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("update_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("chat", sa.Text(), nullable=True),
        sa.Column("person", sa.Text(), nullable=True),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "channel", "update_id"),
    )
    op.create_index("ix_updates_seq", "updates", ["space_id", "channel", "state", "seq"])
    op.create_index(
        "ix_updates_person",
        "updates",
        ["space_id", "person"],
        sqlite_where=sa.text("person IS NOT NULL"),
        postgresql_where=sa.text("person IS NOT NULL"),
    )
    op.create_index(
        "ix_updates_chat",
        "updates",
        ["space_id", "chat"],
        sqlite_where=sa.text("chat IS NOT NULL"),
        postgresql_where=sa.text("chat IS NOT NULL"),
    )
    op.create_index("ix_updates_at", "updates", ["state", "at"])


def _create_link_offers() -> None:
    op.create_table(
        "link_offers",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("code_hash", sa.Text(), nullable=False),
        sa.Column("offered_by", sa.Text(), nullable=False),
        sa.Column("accepted_by", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "id"),
    )
    op.create_index("uq_link_offers_code", "link_offers", ["space_id", "code_hash"], unique=True)
    op.create_index("ix_link_offers_offered_by", "link_offers", ["space_id", "offered_by"])
    op.create_index("ix_link_offers_accepted_by", "link_offers", ["space_id", "accepted_by"])
    op.create_index("ix_link_offers_expires_at", "link_offers", ["expires_at"])
    op.create_table(
        "link_tries",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "person", "id"),
    )
    op.create_index("ix_link_tries_at", "link_tries", ["at"])
