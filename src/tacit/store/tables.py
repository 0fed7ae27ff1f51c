"""The schema, as SQLAlchemy Core tables. Times are whole microseconds since 1970, in UTC.

Every primary key and unique constraint begins with space_id, so that the same schema shards by
space. What migrations build is compared with this file by a test; the tables and columns of the
full-text search differ between the databases and are in the migrations alone.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

from tacit.disclosure.shape import Rows

metadata = MetaData()


def _text(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, Text, nullable=null)


def _time(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def _of_memory() -> Any:
    """Rows that live and die with their memory."""
    return ForeignKeyConstraint(
        ["space_id", "memory_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    )


spaces = Table(
    "spaces",
    metadata,
    _text("space_id"),
    _text("secret"),  # keys the hashes that remember erased ids
    Column("identity_rev", BigInteger, nullable=False),  # moves when people, links or chats do
    _time("created_at"),
    PrimaryKeyConstraint("space_id"),
)

subjects = Table(
    "subjects",
    metadata,
    _text("space_id"),
    _text("id"),  # ext:… or acct:…
    _time("created_at"),
    PrimaryKeyConstraint("space_id", "id"),
)

# "Is the same person as": an external key's account, or a merge of people. Each row is one episode
# with its beginning and end; nothing here is overwritten.
identity_links = Table(
    "identity_links",
    metadata,
    _text("space_id"),
    _text("id"),
    _text("source"),
    _text("target"),
    _text("kind"),  # link | merge
    _text("actor"),
    _time("created_at"),
    _time("verified_at", null=True),
    _time("ended_at", null=True),
    PrimaryKeyConstraint("space_id", "id"),
    Index("ix_identity_links_target", "space_id", "target"),
    Index("ix_identity_links_source", "space_id", "source"),
    Index(
        "uq_identity_links_current",
        "space_id",
        "source",
        unique=True,
        sqlite_where=text("ended_at IS NULL"),
        postgresql_where=text("ended_at IS NULL"),
    ),
)

people = Table(
    "people",
    metadata,
    _text("space_id"),
    _text("id"),  # person:XXXXXXXX: somebody without an account
    _text("created_by"),
    _time("created_at"),
    PrimaryKeyConstraint("space_id", "id"),
)

person_names = Table(
    "person_names",
    metadata,
    _text("space_id"),
    _text("person"),
    _text("kind"),  # name | username | alias | relation
    _text("folded"),
    _text("known_to"),  # whose name for them it is; '' for the name they go by
    _text("name"),
    _time("created_at"),
    PrimaryKeyConstraint("space_id", "person", "kind", "folded", "known_to"),
    Index("ix_person_names_folded", "space_id", "folded", "known_to", "person"),
    Index("ix_person_names_known_to", "space_id", "known_to", "person"),
)

chats = Table(
    "chats",
    metadata,
    _text("space_id"),
    _text("id"),
    _text("kind"),
    _flag("confidential"),
    _text("migrated_to", null=True),
    _time("created_at"),
    PrimaryKeyConstraint("space_id", "id"),
    Index(
        "ix_chats_migrated_to",
        "space_id",
        "migrated_to",
        sqlite_where=text("migrated_to IS NOT NULL"),
        postgresql_where=text("migrated_to IS NOT NULL"),
    ),
)

chat_members = Table(
    "chat_members",
    metadata,
    _text("space_id"),
    _text("chat"),
    _text("person"),
    _time("joined_at"),
    _time("left_at", null=True),
    PrimaryKeyConstraint("space_id", "chat", "person", "joined_at"),
    Index("ix_chat_members_person", "space_id", "person"),
)

memories = Table(
    "memories",
    metadata,
    _text("space_id"),
    _text("id"),
    _text("owner", null=True),
    _text("speaker", null=True),
    _text("subjects"),  # JSON list, as given; memory_people holds whom it counts as about
    _text("learned_in", null=True),
    _text("learned_kind", null=True),
    _text("heard", null=True),  # the set of listeners, in audience_people
    _flag("confidential"),  # the chat's flag, kept here so that a read needs no join
    _text("kind"),
    _text("category"),
    _text("key", null=True),
    _text("slot", null=True),
    _text("content"),
    Column("version", Integer, nullable=False),
    _text("visibility"),
    _text("sensitivity"),
    _flag("portable"),
    _text("withheld_from"),  # JSON list; memory_people holds the same people
    _flag("has_withheld"),
    _flag("withheld_unknown"),
    _flag("inferred"),
    _text("trust"),
    Column("importance", Integer, nullable=False),
    Column("confidence", Float, nullable=True),
    _flag("pinned"),
    _text("tags"),  # JSON list
    _text("source_channel", null=True),
    _text("source_chat", null=True),
    _text("source_message", null=True),
    _text("thread", null=True),
    _text("agent", null=True),
    _text("run", null=True),
    _text("role", null=True),
    _time("created_at"),
    _time("updated_at"),
    _time("observed_at", null=True),
    _time("expires_at", null=True),
    _time("last_accessed_at", null=True),
    Column("access_count", Integer, nullable=False),
    _text("state"),
    _time("purge_at", null=True),
    _text("superseded_by", null=True),
    _flag("shadowed"),
    PrimaryKeyConstraint("space_id", "id"),
    Index("ix_memories_owner", "space_id", "owner", "created_at", "id"),
    Index("ix_memories_speaker", "space_id", "speaker", "created_at", "id"),
    Index("ix_memories_learned_in", "space_id", "learned_in", "created_at", "id"),
    Index("ix_memories_heard", "space_id", "heard", "created_at", "id"),
    Index(
        "ix_memories_lent",
        "space_id",
        "owner",
        "created_at",
        "id",
        sqlite_where=text("visibility = 'public_ok'"),
        postgresql_where=text("visibility = 'public_ok'"),
    ),
    Index(
        "uq_memories_key",
        "space_id",
        "owner",
        "category",
        "key",
        unique=True,
        sqlite_where=text("key IS NOT NULL AND state = 'active'"),
        postgresql_where=text("key IS NOT NULL AND state = 'active'"),
    ),
    Index(
        "uq_memories_room_key",
        "space_id",
        "learned_in",
        "category",
        "key",
        unique=True,
        sqlite_where=text("owner IS NULL AND key IS NOT NULL AND state = 'active'"),
        postgresql_where=text("owner IS NULL AND key IS NOT NULL AND state = 'active'"),
    ),
    Index(
        "ix_memories_purge_at",
        "space_id",
        "purge_at",
        sqlite_where=text("purge_at IS NOT NULL"),
        postgresql_where=text("purge_at IS NOT NULL"),
    ),
)

# A replaced memory points at what replaced it; to erase that, the pointer has to be found.
Index(
    "ix_memories_superseded_by",
    memories.c.space_id,
    memories.c.superseded_by,
    sqlite_where=text("superseded_by IS NOT NULL"),
    postgresql_where=text("superseded_by IS NOT NULL"),
)

memory_versions = Table(
    "memory_versions",
    metadata,
    _text("space_id"),
    _text("memory_id"),
    Column("version", Integer, nullable=False),
    _text("content"),
    _text("speaker", null=True),
    _text("subjects"),
    _text("heard", null=True),
    _text("visibility"),  # how far this wording might go while it was the current one
    _text("sensitivity"),
    _flag("portable"),
    _text("actor"),
    _time("created_at"),
    PrimaryKeyConstraint("space_id", "memory_id", "version"),
    _of_memory(),
)

memory_people = Table(
    "memory_people",
    metadata,
    _text("space_id"),
    _text("memory_id"),
    _text("role"),  # subject | withheld
    _text("person"),
    PrimaryKeyConstraint("space_id", "memory_id", "role", "person"),
    _of_memory(),
    Index("ix_memory_people_person", "space_id", "person", "role", "memory_id"),
)

# Sets of listeners. A room's memories share one set until somebody comes or goes, so a write in a
# group of thirty costs one reference and not thirty rows. A set never changes.
audience_people = Table(
    "audience_people",
    metadata,
    _text("space_id"),
    _text("audience"),
    _text("person"),
    PrimaryKeyConstraint("space_id", "audience", "person"),
    Index("ix_audience_people_person", "space_id", "person", "audience"),
)

history = Table(
    "history",
    metadata,
    _text("space_id"),
    _text("memory_id"),
    Column("seq", Integer, nullable=False),
    _text("event"),
    Column("version", Integer, nullable=False),
    _text("actor"),
    _text("detail"),  # JSON object of plain words; never the memory's text
    _time("at"),
    PrimaryKeyConstraint("space_id", "memory_id", "seq"),
    _of_memory(),
)

thread_revisions = Table(
    "thread_revisions",
    metadata,
    _text("space_id"),
    _text("thread"),
    Column("rev", BigInteger, nullable=False),
    PrimaryKeyConstraint("space_id", "thread"),
)

change_log = Table(
    "change_log",
    metadata,
    _text("space_id"),
    _text("thread"),
    Column("rev", BigInteger, nullable=False),
    _text("memory_id"),
    _text("event"),
    _time("at"),
    PrimaryKeyConstraint("space_id", "thread", "rev"),
    _of_memory(),
    Index("ix_change_log_memory", "space_id", "memory_id"),
)

# What was erased, as keyed hashes of ids: enough never to use an id again, and nothing more.
tombstones = Table(
    "tombstones",
    metadata,
    _text("space_id"),
    _text("digest"),
    _time("erased_at"),
    _text("actor"),  # the operator who did it; empty for the people concerned
    _flag("scrubbed"),  # whether its bytes are known to be gone from the files
    PrimaryKeyConstraint("space_id", "digest"),
)

ROWS = Rows(memories, memory_people, audience_people)
