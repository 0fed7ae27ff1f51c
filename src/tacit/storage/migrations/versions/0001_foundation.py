"""The foundation: spaces, people, chats, memories and everything that is written with them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

SEARCH = {
    # A row number of our own for the full text: SQLite renumbers hidden ones when it compacts.
    "sqlite": """
        CREATE TABLE search_rows (
            number INTEGER PRIMARY KEY,
            space_id TEXT NOT NULL,
            memory_id TEXT NOT NULL,
            UNIQUE (space_id, memory_id)
        );
        CREATE VIRTUAL TABLE search_words
            USING fts5 (content, doors, tokenize = 'unicode61', detail = column, columnsize = 0)
    """,
    # The planner's figures are samples of the rows, and would outlive what is erased.
    "postgresql": """
        ALTER TABLE memories ADD COLUMN words tsvector NOT NULL DEFAULT '';
        CREATE INDEX ix_memories_words ON memories USING gin (words);
        ALTER TABLE memories
            ALTER COLUMN content SET STATISTICS 0,
            ALTER COLUMN words SET STATISTICS 0,
            ALTER COLUMN key SET STATISTICS 0,
            ALTER COLUMN slot SET STATISTICS 0,
            ALTER COLUMN tags SET STATISTICS 0;
        ALTER TABLE memory_versions ALTER COLUMN content SET STATISTICS 0;
        ALTER TABLE history ALTER COLUMN detail SET STATISTICS 0;
        ALTER TABLE person_names
            ALTER COLUMN name SET STATISTICS 0,
            ALTER COLUMN folded SET STATISTICS 0
    """,
}


def upgrade() -> None:
    _create_who_and_where()
    _create_memories()
    _create_what_hangs_on_them()
    for statement in SEARCH[op.get_bind().dialect.name].split(";"):
        op.execute(statement)


def _create_who_and_where() -> None:
    op.create_table(
        "audience_people",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "audience", "person"),
    )
    op.create_index(
        "ix_audience_people_person",
        "audience_people",
        ["space_id", "person", "audience"],
        unique=False,
    )
    op.create_table(
        "chat_members",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("joined_at", sa.BigInteger(), nullable=False),
        sa.Column("left_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("space_id", "chat", "person", "joined_at"),
    )
    op.create_index("ix_chat_members_person", "chat_members", ["space_id", "person"], unique=False)
    op.create_table(
        "chats",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("confidential", sa.Boolean(), nullable=False),
        sa.Column("migrated_to", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "id"),
    )
    op.create_index(
        "ix_chats_migrated_to",
        "chats",
        ["space_id", "migrated_to"],
        unique=False,
        sqlite_where=sa.text("migrated_to IS NOT NULL"),
        postgresql_where=sa.text("migrated_to IS NOT NULL"),
    )
    op.create_table(
        "identity_links",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("verified_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("space_id", "id"),
    )
    op.create_index(
        "ix_identity_links_source", "identity_links", ["space_id", "source"], unique=False
    )
    op.create_index(
        "ix_identity_links_target", "identity_links", ["space_id", "target"], unique=False
    )
    op.create_index(
        "uq_identity_links_current",
        "identity_links",
        ["space_id", "source"],
        unique=True,
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_table(
        "people",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "id"),
    )
    op.create_table(
        "person_names",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("known_to", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "person", "kind", "folded", "known_to"),
    )
    op.create_index(
        "ix_person_names_folded",
        "person_names",
        ["space_id", "folded", "known_to", "person"],
        unique=False,
    )
    op.create_index(
        "ix_person_names_known_to", "person_names", ["space_id", "known_to", "person"], unique=False
    )
    op.create_table(
        "spaces",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("identity_rev", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id"),
    )
    op.create_table(
        "subjects",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "id"),
    )


def _create_memories() -> None:
    op.create_table(
        "memories",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("subjects", sa.Text(), nullable=False),
        sa.Column("learned_in", sa.Text(), nullable=True),
        sa.Column("learned_kind", sa.Text(), nullable=True),
        sa.Column("heard", sa.Text(), nullable=True),
        sa.Column("confidential", sa.Boolean(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("slot", sa.Text(), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("sensitivity", sa.Text(), nullable=False),
        sa.Column("portable", sa.Boolean(), nullable=False),
        sa.Column("withheld_from", sa.Text(), nullable=False),
        sa.Column("has_withheld", sa.Boolean(), nullable=False),
        sa.Column("withheld_unknown", sa.Boolean(), nullable=False),
        sa.Column("inferred", sa.Boolean(), nullable=False),
        sa.Column("trust", sa.Text(), nullable=False),
        sa.Column("importance", sa.Integer(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("source_channel", sa.Text(), nullable=True),
        sa.Column("source_chat", sa.Text(), nullable=True),
        sa.Column("source_message", sa.Text(), nullable=True),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("observed_at", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("last_accessed_at", sa.BigInteger(), nullable=True),
        sa.Column("access_count", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("purge_at", sa.BigInteger(), nullable=True),
        sa.Column("superseded_by", sa.Text(), nullable=True),
        sa.Column("shadowed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "id"),
    )
    op.create_index(
        "ix_memories_heard", "memories", ["space_id", "heard", "created_at", "id"], unique=False
    )
    op.create_index(
        "ix_memories_learned_in",
        "memories",
        ["space_id", "learned_in", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        "ix_memories_lent",
        "memories",
        ["space_id", "owner", "created_at", "id"],
        unique=False,
        sqlite_where=sa.text("visibility = 'public_ok'"),
        postgresql_where=sa.text("visibility = 'public_ok'"),
    )
    op.create_index(
        "ix_memories_owner", "memories", ["space_id", "owner", "created_at", "id"], unique=False
    )
    op.create_index(
        "ix_memories_purge_at",
        "memories",
        ["space_id", "purge_at"],
        unique=False,
        sqlite_where=sa.text("purge_at IS NOT NULL"),
        postgresql_where=sa.text("purge_at IS NOT NULL"),
    )
    op.create_index(
        "ix_memories_speaker", "memories", ["space_id", "speaker", "created_at", "id"], unique=False
    )
    op.create_index(
        "ix_memories_superseded_by",
        "memories",
        ["space_id", "superseded_by"],
        unique=False,
        sqlite_where=sa.text("superseded_by IS NOT NULL"),
        postgresql_where=sa.text("superseded_by IS NOT NULL"),
    )
    op.create_index(
        "uq_memories_key",
        "memories",
        ["space_id", "owner", "category", "key"],
        unique=True,
        sqlite_where=sa.text("key IS NOT NULL AND state = 'active'"),
        postgresql_where=sa.text("key IS NOT NULL AND state = 'active'"),
    )
    op.create_index(
        "uq_memories_room_key",
        "memories",
        ["space_id", "learned_in", "category", "key"],
        unique=True,
        sqlite_where=sa.text("owner IS NULL AND key IS NOT NULL AND state = 'active'"),
        postgresql_where=sa.text("owner IS NULL AND key IS NOT NULL AND state = 'active'"),
    )


def _create_what_hangs_on_them() -> None:
    op.create_table(
        "thread_revisions",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "thread"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tombstones",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("erased_at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("scrubbed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "digest"),
    )
    op.create_table(
        "change_log",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["space_id", "memory_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("space_id", "thread", "rev"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_change_log_memory", "change_log", ["space_id", "memory_id"], unique=False)
    op.create_table(
        "history",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["space_id", "memory_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("space_id", "memory_id", "seq"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "memory_people",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["space_id", "memory_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("space_id", "memory_id", "role", "person"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_memory_people_person",
        "memory_people",
        ["space_id", "person", "role", "memory_id"],
        unique=False,
    )
    op.create_table(
        "memory_versions",
        sa.Column("space_id", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("subjects", sa.Text(), nullable=False),
        sa.Column("heard", sa.Text(), nullable=True),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("sensitivity", sa.Text(), nullable=False),
        sa.Column("portable", sa.Boolean(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["space_id", "memory_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("space_id", "memory_id", "version"),
        sqlite_with_rowid=False,
    )
