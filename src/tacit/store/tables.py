"""The schema, as SQLAlchemy Core tables: what is remembered, and everything that hangs on it.

Every primary key and unique constraint begins with space_id, so that the same schema shards by
space. What migrations build is compared with this file by a test; the tables and columns of the
full-text search differ between the databases and are in the migrations alone.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    false,
    text,
)

from tacit.policy.predicate import PolicyTables
from tacit.store.asking_tables import api_keys, checkpoints, done_memories, done_once
from tacit.store.chatting_tables import link_offers, link_tries, updates
from tacit.store.columns import flag, metadata, of_memory, time, words
from tacit.store.console_tables import look_people, looks, sign_ins, sittings
from tacit.store.graph_tables import graph_steps, graph_values, graph_writes
from tacit.store.history_tables import change_log, history, thread_revisions
from tacit.store.identity_tables import (
    chat_members,
    chats,
    identity_links,
    people,
    person_names,
    same_people,
    spaces,
    subjects,
)
from tacit.store.import_tables import imported, imports
from tacit.store.learning_tables import (
    declined,
    jobs,
    language_usage,
    learned,
    learning_days,
    proposals,
)
from tacit.store.note_tables import note_files, note_items, note_lines, notes
from tacit.store.recall_tables import blocks, derived_from, embedded, partitions, relations, vectors
from tacit.store.upkeep_tables import erasures, events, job_runs, pair_checks, reflections, sweeps

__all__ = [
    "ROWS",
    "api_keys",
    "audience_people",
    "blocks",
    "change_log",
    "chat_members",
    "chats",
    "checkpoints",
    "declined",
    "derived_from",
    "done_memories",
    "done_once",
    "embedded",
    "erasures",
    "events",
    "graph_steps",
    "graph_values",
    "graph_writes",
    "history",
    "identity_links",
    "imported",
    "imports",
    "job_runs",
    "jobs",
    "language_usage",
    "learned",
    "learning_days",
    "link_offers",
    "link_tries",
    "look_people",
    "looks",
    "memories",
    "memory_people",
    "memory_versions",
    "metadata",
    "note_files",
    "note_items",
    "note_lines",
    "notes",
    "pair_checks",
    "partitions",
    "people",
    "person_names",
    "proposals",
    "reflections",
    "relations",
    "same_people",
    "sign_ins",
    "sittings",
    "spaces",
    "subjects",
    "sweeps",
    "thread_revisions",
    "tombstones",
    "updates",
    "vectors",
]

_BROWSED = (
    "state", "expires_at", "category", "kind", "visibility", "sensitivity", "pinned", "learned_in",
)  # fmt: skip

memories = Table(
    "memories",
    metadata,
    words("space_id"),
    words("id"),
    words("owner", null=True),
    words("speaker", null=True),
    words("subjects"),  # JSON list, as given; memory_people holds whom it counts as about
    words("learned_in", null=True),
    words("learned_kind", null=True),
    words("heard", null=True),  # the set of listeners, in audience_people
    flag("confidential"),  # the chat's flag, kept here so that a read needs no join
    words("kind"),
    words("category"),
    words("key", null=True),
    words("slot", null=True),
    words("content"),
    Column("version", Integer, nullable=False),
    words("visibility"),
    words("sensitivity"),
    flag("portable"),
    words("withheld_from"),  # JSON list; memory_people holds the same people
    flag("has_withheld"),
    flag("withheld_unknown"),
    flag("inferred"),
    words("trust"),
    Column("importance", Integer, nullable=False),
    Column("confidence", Float, nullable=True),
    flag("pinned"),
    words("tags"),  # JSON list
    words("source_channel", null=True),
    words("source_chat", null=True),
    words("source_message", null=True),
    words("thread", null=True),
    words("agent", null=True),
    words("run", null=True),
    words("role", null=True),
    time("created_at"),
    time("updated_at"),
    time("observed_at", null=True),
    time("expires_at", null=True),
    time("last_accessed_at", null=True),
    Column("access_count", Integer, nullable=False),
    words("state"),
    time("purge_at", null=True),
    words("superseded_by", null=True),
    flag("shadowed"),
    # A turn of a conversation as it was said, and its place in there. Only a search for turns
    # finds it: every index that a listing goes by keeps the two apart.
    Column("is_turn", Boolean, nullable=False, server_default=false()),
    words("session", null=True),
    Column("seq", BigInteger, nullable=True),
    words("name", null=True),  # what the speaker went by
    words("data", null=True),  # JSON object
    # The revision of its owner's partition (or its room's) when anything of it last changed.
    Column("stamp", BigInteger, nullable=False, server_default=text("0")),
    PrimaryKeyConstraint("space_id", "id"),
    # With all that a person looks through their memories by: what is rare among them is found
    # without reading the rows.
    Index("ix_memories_owner", "space_id", "owner", "is_turn", "created_at", "id", *_BROWSED),
    # The same for operators, through everybody's. All have a version: that is said by operators'
    # reads alone, so that no other one is led through a whole space.
    Index(
        "ix_memories_created",
        "space_id",
        "created_at",
        "id",
        *_BROWSED,
        sqlite_where=text("is_turn IS 0 AND version > 0"),
        postgresql_where=text("is_turn IS false AND version > 0"),
    ),
    # Whoever owns what they said finds it as its owner.
    Index(
        "ix_memories_speaker",
        "space_id",
        "speaker",
        "is_turn",
        "created_at",
        "id",
        sqlite_where=text("owner IS NULL OR owner <> speaker"),
        postgresql_where=text("owner IS NULL OR owner <> speaker"),
    ),
    Index("ix_memories_learned_in", "space_id", "learned_in", "is_turn", "created_at", "id"),
    Index(
        "ix_memories_heard",
        "space_id",
        "heard",
        "is_turn",
        "created_at",
        "id",
        sqlite_where=text("heard IS NOT NULL"),
        postgresql_where=text("heard IS NOT NULL"),
    ),
    Index("ix_memories_stamp", "space_id", "owner", "stamp"),
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

# What is past its time, memories and turns apart; and what may fade, of which there is little.
Index(
    "ix_memories_expires_at",
    memories.c.space_id,
    memories.c.is_turn,
    memories.c.expires_at,
    memories.c.id,
    sqlite_where=text("expires_at IS NOT NULL AND state = 'active'"),
    postgresql_where=text("expires_at IS NOT NULL AND state = 'active'"),
)
Index(
    "ix_memories_fading",
    memories.c.space_id,
    memories.c.updated_at,
    memories.c.id,
    sqlite_where=text("importance < 3 AND state = 'active'"),
    postgresql_where=text("importance < 3 AND state = 'active'"),
)

# What of somebody's stands out, and how much of it there is.
Index(
    "ix_memories_foremost",
    memories.c.space_id,
    memories.c.owner,
    memories.c.is_turn,
    memories.c.pinned,
    memories.c.importance,
    memories.c.created_at,
    memories.c.id,
    memories.c.expires_at,
    sqlite_where=text("state = 'active'"),
    postgresql_where=text("state = 'active'"),
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
    words("space_id"),
    words("memory_id"),
    Column("version", Integer, nullable=False),
    words("content"),
    words("speaker", null=True),
    words("subjects"),
    words("heard", null=True),
    words("visibility"),  # how far this wording might go while it was the current one
    words("sensitivity"),
    flag("portable"),
    words("actor"),
    time("created_at"),
    PrimaryKeyConstraint("space_id", "memory_id", "version"),
    of_memory(),
    sqlite_with_rowid=False,
)

memory_people = Table(
    "memory_people",
    metadata,
    words("space_id"),
    words("memory_id"),
    words("role"),  # subject | withheld
    words("person"),
    PrimaryKeyConstraint("space_id", "memory_id", "role", "person"),
    of_memory(),
    Index("ix_memory_people_person", "space_id", "person", "role", "memory_id"),
    sqlite_with_rowid=False,
)

# Sets of listeners. A room's memories share one set until somebody comes or goes, so a write in a
# group of thirty costs one reference and not thirty rows. A set never changes.
audience_people = Table(
    "audience_people",
    metadata,
    words("space_id"),
    words("audience"),
    words("person"),
    PrimaryKeyConstraint("space_id", "audience", "person"),
    Index("ix_audience_people_person", "space_id", "person", "audience"),
)

# What was erased, as keyed hashes of ids: enough never to use an id again, and nothing more.
tombstones = Table(
    "tombstones",
    metadata,
    words("space_id"),
    words("digest"),
    time("erased_at"),
    words("actor"),  # the operator who did it; empty for the people concerned
    flag("scrubbed"),  # whether its bytes are known to be gone from the files
    PrimaryKeyConstraint("space_id", "digest"),
)

ROWS = PolicyTables(memories, memory_people, audience_people)
