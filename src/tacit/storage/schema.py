"""SQLAlchemy tables of the database; the migrations build the same schema."""

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
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    false,
    text,
)

from tacit.policy.predicate import PolicyTables

# The columns that tables are made of. Times are whole microseconds since 1970, in UTC.

metadata = MetaData()


def text_column(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, Text, nullable=null)


def time_column(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null)


def flag_column(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def memory_foreign_key() -> Any:
    """Delete the row together with its memory."""
    return ForeignKeyConstraint(
        ["space_id", "memory_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    )


# Spaces, identities and their links, people, chats.

spaces_table = Table(
    "spaces",
    metadata,
    text_column("space_id"),
    text_column("secret"),  # keys the hashes that remember erased ids
    # Incremented when people, links or chats change.
    Column("identity_rev", BigInteger, nullable=False),
    time_column("created_at"),
    PrimaryKeyConstraint("space_id"),
)

subjects = Table(
    "subjects",
    metadata,
    text_column("space_id"),
    text_column("id"),  # ext:… or acct:…
    time_column("created_at"),
    PrimaryKeyConstraint("space_id", "id"),
)

# "Is the same person as": an external key's account, or a merge of people. Each row is one episode
# with its beginning and end; nothing here is overwritten.
identity_links = Table(
    "identity_links",
    metadata,
    text_column("space_id"),
    text_column("id"),
    text_column("source"),
    text_column("target"),
    text_column("kind"),  # link | merge
    text_column("actor"),
    time_column("created_at"),
    time_column("verified_at", null=True),
    time_column("ended_at", null=True),
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

people_table = Table(
    "people",
    metadata,
    text_column("space_id"),
    text_column("id"),  # person:XXXXXXXX, a person without an account
    text_column("created_by"),
    time_column("created_at"),
    PrimaryKeyConstraint("space_id", "id"),
)

person_names = Table(
    "person_names",
    metadata,
    text_column("space_id"),
    text_column("person"),
    text_column("kind"),  # name | username | alias | relation
    text_column("folded"),
    text_column("known_to"),  # who uses this name; '' for everyone
    text_column("name"),
    time_column("created_at"),
    PrimaryKeyConstraint("space_id", "person", "kind", "folded", "known_to"),
    Index("ix_person_names_folded", "space_id", "folded", "known_to", "person"),
    Index("ix_person_names_known_to", "space_id", "known_to", "person"),
)

# Two people whom one person merged, in that person's private requests only.
same_people = Table(
    "same_people",
    metadata,
    text_column("space_id"),
    text_column("known_to"),  # who merged them
    text_column("person"),
    text_column("into"),
    time_column("created_at"),
    PrimaryKeyConstraint("space_id", "known_to", "person"),
    Index("ix_same_people_person", "space_id", "person"),
    Index("ix_same_people_into", "space_id", "into"),
    sqlite_with_rowid=False,
)

chats_table = Table(
    "chats",
    metadata,
    text_column("space_id"),
    text_column("id"),
    text_column("kind"),
    flag_column("confidential"),
    text_column("migrated_to", null=True),
    time_column("created_at"),
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
    text_column("space_id"),
    text_column("chat"),
    text_column("person"),
    time_column("joined_at"),
    time_column("left_at", null=True),
    PrimaryKeyConstraint("space_id", "chat", "person", "joined_at"),
    Index("ix_chat_members_person", "space_id", "person"),
)


# API keys, idempotency keys, checkpoints of agents.

# API keys. Only a hash of the secret is stored.
api_keys = Table(
    "api_keys",
    metadata,
    text_column("space_id"),
    text_column("key_id"),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the secret
    text_column("name"),
    text_column("agent", null=True),
    text_column("requester", null=True),  # the only external key it may act for
    text_column("scopes"),  # JSON list
    text_column("categories", null=True),  # JSON list; NULL: all
    Column("rate_per_minute", Integer, nullable=True),
    time_column("created_at"),
    time_column("expires_at", null=True),
    time_column("revoked_at", null=True),
    PrimaryKeyConstraint("space_id", "key_id"),
    Index("ix_api_keys_key_id", "key_id"),  # a request names no space
)

# Idempotent writes that are done: hashes of the key and of the call, and the result without
# content. Memories of the result are rows of their own: if one is erased, a repeat raises NotFound.
idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    text_column("space_id"),
    text_column("person"),
    text_column("token"),  # a hash of the key
    # A hash of the call, keyed with the idempotency key; empty if the result was erased.
    text_column("fingerprint"),
    text_column("result"),  # JSON: counts, versions and fixed words
    time_column("at"),
    PrimaryKeyConstraint("space_id", "person", "token"),
    Index("ix_idempotency_keys_at", "at"),  # for the sweep
    sqlite_with_rowid=False,
)

idempotency_memories = Table(
    "idempotency_memories",
    metadata,
    text_column("space_id"),
    text_column("person"),
    text_column("token"),
    Column("position", Integer, nullable=False),
    text_column("memory_id"),
    PrimaryKeyConstraint("space_id", "person", "token", "position"),
    ForeignKeyConstraint(
        ["space_id", "person", "token"],
        ["idempotency_keys.space_id", "idempotency_keys.person", "idempotency_keys.token"],
        ondelete="CASCADE",
    ),
    memory_foreign_key(),
    Index("ix_idempotency_memories_memory", "space_id", "memory_id"),
    sqlite_with_rowid=False,
)

# The state of an agent in a thread with one person. No other agent or person reads it.
checkpoints_table = Table(
    "checkpoints",
    metadata,
    text_column("space_id"),
    text_column("person"),
    text_column("thread"),
    Column("version", BigInteger, nullable=False),
    time_column("updated_at"),
    # JSON list of the categories its agent may use; NULL: all. An agent that may use fewer does not
    # read it.
    text_column("categories", null=True),
    text_column("data"),  # JSON; last, because it is long
    PrimaryKeyConstraint("space_id", "person", "thread"),
)


# The inbox of channels, and codes that link identities.

# Updates of a channel, stored before they are acknowledged. Once processed, only the id is left, to
# recognize a repeated delivery: no chat, no person, no text.
updates = Table(
    "updates",
    metadata,
    text_column("space_id"),
    text_column("channel"),
    text_column("update_id"),  # the channel's id
    Column("seq", BigInteger, nullable=False),  # order of arrival, increasing
    text_column("state"),  # waiting | parked | done
    Column("attempts", Integer, nullable=False),
    time_column("at"),  # since when it is in this state
    text_column("chat", null=True),
    text_column("person", null=True),  # the sender
    text_column("payload"),  # the raw update; last, because it is long
    PrimaryKeyConstraint("space_id", "channel", "update_id"),
    Index("ix_updates_seq", "space_id", "channel", "state", "seq"),
    Index(
        "ix_updates_person",
        "space_id",
        "person",
        sqlite_where=text("person IS NOT NULL"),
        postgresql_where=text("person IS NOT NULL"),
    ),
    Index(
        "ix_updates_chat",
        "space_id",
        "chat",
        sqlite_where=text("chat IS NOT NULL"),
        postgresql_where=text("chat IS NOT NULL"),
    ),
    Index("ix_updates_at", "state", "at"),  # for the sweep
)

# One-time codes that link a second identity to a person.
link_offers = Table(
    "link_offers",
    metadata,
    text_column("space_id"),
    text_column("id"),
    text_column("code_hash"),  # the code itself is not stored
    text_column("offered_by"),
    text_column("accepted_by", null=True),
    text_column("state"),  # open | asked | done | refused
    time_column("created_at"),
    time_column("expires_at"),
    PrimaryKeyConstraint("space_id", "id"),
    Index("uq_link_offers_code", "space_id", "code_hash", unique=True),
    Index("ix_link_offers_offered_by", "space_id", "offered_by"),
    Index("ix_link_offers_accepted_by", "space_id", "accepted_by"),
    Index("ix_link_offers_expires_at", "expires_at"),  # for the sweep
)

# Wrong codes by person, for the hourly limit.
link_attempts = Table(
    "link_attempts",
    metadata,
    text_column("space_id"),
    text_column("person"),
    text_column("id"),
    time_column("at"),
    PrimaryKeyConstraint("space_id", "person", "id"),
    Index("ix_link_attempts_at", "at"),  # for the sweep
)


# The access log, sign-in links and web sessions.

# One row for each read of people's memories by an operator, written in the same transaction.
access_log_table = Table(
    "access_log",
    metadata,
    text_column("space_id"),
    text_column("id"),
    time_column("at"),
    text_column("actor"),
    text_column("operation"),  # browse, show, history, …
    text_column("memory_id", null=True),  # if exactly one was shown and still exists
    Column("count", Integer, nullable=False),  # of memories shown
    PrimaryKeyConstraint("space_id", "id"),
    Index("ix_access_log_at", "space_id", "at", "id"),
    Index(
        "ix_access_log_memory",
        "space_id",
        "memory_id",
        sqlite_where=text("memory_id IS NOT NULL"),
        postgresql_where=text("memory_id IS NOT NULL"),
    ),
)

# Owners of the memories shown. The time is repeated, so that an index orders a person's entries.
access_log_people = Table(
    "access_log_people",
    metadata,
    text_column("space_id"),
    text_column("entry_id"),
    text_column("person"),
    time_column("at"),
    Column("count", Integer, nullable=False),  # of this person's memories
    PrimaryKeyConstraint("space_id", "entry_id", "person"),
    ForeignKeyConstraint(
        ["space_id", "entry_id"], ["access_log.space_id", "access_log.id"], ondelete="CASCADE"
    ),
    Index("ix_access_log_people_person", "space_id", "person", "at", "entry_id"),
    sqlite_with_rowid=False,
)

# One-time sign-in links. Only a hash of the secret is stored.
sign_in_links = Table(
    "sign_in_links",
    metadata,
    text_column("space_id"),
    text_column("id"),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the secret
    text_column("person", null=True),  # either a person or an operator
    text_column("operator", null=True),
    time_column("created_at"),
    time_column("expires_at"),
    PrimaryKeyConstraint("space_id", "id"),
    Index("ix_sign_in_links_id", "id"),  # a request names no space
    Index("ix_sign_in_links_person", "space_id", "person", "operator", "created_at"),
    Index("ix_sign_in_links_expires_at", "expires_at"),  # for the sweep
)

# Web sessions, until sign-out or expiry.
web_sessions = Table(
    "web_sessions",
    metadata,
    text_column("space_id"),
    text_column("id"),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the cookie's secret
    text_column("person", null=True),
    text_column("operator", null=True),
    time_column("created_at"),
    time_column("seen_at"),
    time_column("expires_at"),
    PrimaryKeyConstraint("space_id", "id"),
    Index("ix_web_sessions_id", "id"),
    Index("ix_web_sessions_person", "space_id", "person", "operator"),
    Index("ix_web_sessions_expires_at", "expires_at"),  # for the sweep
)


# The history of each memory, and the change log of each thread.

history_table = Table(
    "history",
    metadata,
    text_column("space_id"),
    text_column("memory_id"),
    Column("seq", Integer, nullable=False),
    text_column("event"),
    Column("version", Integer, nullable=False),
    text_column("actor"),
    text_column("detail"),  # JSON object of fixed words; never the memory's text
    time_column("at"),
    text_column("owner", null=True),  # the memory's owner, which never changes
    PrimaryKeyConstraint("space_id", "memory_id", "seq"),
    memory_foreign_key(),
    # Recent events of one owner or of the whole space. The event is included for index-only daily
    # counts. Only reads of operators state the condition `event <> ''`, so that no other read uses
    # the index of the whole space.
    Index("ix_history_owner", "space_id", "owner", "at", "memory_id", "seq", "event"),
    Index(
        "ix_history_at",
        "space_id",
        "at",
        "memory_id",
        "seq",
        "event",
        sqlite_where=text("event <> ''"),
        postgresql_where=text("event <> ''"),
    ),
    sqlite_with_rowid=False,
)

thread_revisions = Table(
    "thread_revisions",
    metadata,
    text_column("space_id"),
    text_column("thread"),
    Column("rev", BigInteger, nullable=False),
    PrimaryKeyConstraint("space_id", "thread"),
    sqlite_with_rowid=False,
)

change_log = Table(
    "change_log",
    metadata,
    text_column("space_id"),
    text_column("thread"),
    Column("rev", BigInteger, nullable=False),
    text_column("memory_id"),
    text_column("event"),
    time_column("at"),
    PrimaryKeyConstraint("space_id", "thread", "rev"),
    memory_foreign_key(),
    Index("ix_change_log_memory", "space_id", "memory_id"),
    sqlite_with_rowid=False,
)


# Imports from other systems: runs, and the items of each run.

imports_table = Table(
    "imports",
    metadata,
    text_column("space_id"),
    text_column("person"),
    text_column("run"),  # the importer's name for the run
    text_column("id"),  # for cursor paging
    text_column("source"),
    time_column("started_at"),
    time_column("updated_at"),
    Column("created", Integer, nullable=False),
    Column("already", Integer, nullable=False),
    Column("refused", Integer, nullable=False),
    Column("done", Integer, nullable=False),  # items processed, if the calls said so
    Column("total", Integer, nullable=True),
    flag_column("reverting"),
    time_column("reverted_at", null=True),
    Column("forgotten", Integer, nullable=False),  # by a revert, so far
    Column("changed", Integer, nullable=False),  # changed since, kept by a revert
    PrimaryKeyConstraint("space_id", "person", "run"),
    sqlite_with_rowid=False,
)

# Imported items, as a keyed hash of the source id or of the text: a repeat is recognized even if the
# memory was changed or forgotten since.
imported_items = Table(
    "imported_items",
    metadata,
    text_column("space_id"),
    text_column("person"),
    text_column("token"),
    text_column(
        "run", null=True
    ),  # that made the memory; None: nothing undoes it any more, or ever did
    text_column("memory_id"),
    time_column("at"),
    PrimaryKeyConstraint("space_id", "person", "token"),
    memory_foreign_key(),
    Index("ix_imported_items_memory", "space_id", "memory_id"),
    Index("ix_imported_items_run", "space_id", "person", "run", "token"),
    sqlite_with_rowid=False,
)


# The schema of learning: turns that wait for it, what it knows of a memory, and what it asks.

# What was accepted and is not done. A row goes in the transaction that writes what came of it, so
# that nothing is done twice and nothing is lost. Threads keep their order: `seq` only grows.
# A task that comes round has one row in each space, in a thread of its own, and it stays: the
# transaction that ends a run sets when it is due again.
jobs = Table(
    "jobs",
    metadata,
    text_column("space_id"),
    text_column("thread"),
    Column("seq", BigInteger, nullable=False),
    text_column("kind"),  # learn, or the name of a task
    text_column("owner"),  # whose it is: gone with whatever of theirs is erased; a task is nobody's
    text_column("payload"),  # JSON: the turn, or how far a task has come
    Column("attempts", Integer, nullable=False),
    time_column("due_at"),
    time_column("leased_until", null=True),  # somebody is at it, unless they died
    text_column("worker", null=True),
    text_column(
        "problem", null=True
    ),  # what kind of failure the last one was; never people's words
    flag_column("parked"),  # tried often enough: waits for an operator, and holds nobody up
    time_column("created_at"),
    PrimaryKeyConstraint("space_id", "thread", "seq"),
    Index("ix_jobs_due", "kind", "parked", "due_at"),
    Index("ix_jobs_owner", "space_id", "owner"),
)

# The parsed form of a memory, for comparison by learning.
learned_facts_table = Table(
    "learned_facts",
    metadata,
    text_column("space_id"),
    text_column("memory_id"),
    text_column("owner"),
    text_column("content_digest"),  # hash of the normalized text
    text_column("slot", null=True),
    text_column("value", null=True),
    flag_column("negated"),
    flag_column("about_speaker"),
    text_column("about"),  # JSON: the others whom it is about, as they were mentioned
    PrimaryKeyConstraint("space_id", "memory_id"),
    memory_foreign_key(),
    Index("ix_learned_facts_said", "space_id", "owner", "content_digest"),
    Index("ix_learned_facts_slot", "space_id", "owner", "slot"),
    sqlite_with_rowid=False,
)

# Proposals that wait for consent. The text is a memory in the state `pending`.
proposals = Table(
    "proposals",
    metadata,
    text_column("space_id"),
    text_column("memory_id"),
    text_column("concerns"),  # the one person who is asked
    text_column("reason"),
    text_column("replaces", null=True),  # superseded if the answer is yes
    Column("signals", Integer, nullable=False),  # how often it was said
    time_column("created_at"),
    time_column("expires_at"),
    PrimaryKeyConstraint("space_id", "memory_id"),
    memory_foreign_key(),
    Index("ix_proposals_concerns", "space_id", "concerns", "created_at"),
)

# Declined proposals, as a hash: not asked again for a while.
declined_proposals = Table(
    "declined_proposals",
    metadata,
    text_column("space_id"),
    text_column("concerns"),
    text_column("content_digest"),
    time_column("until"),
    PrimaryKeyConstraint("space_id", "concerns", "content_digest"),
)

# How much was learned from somebody on a day, and when the last turn of theirs was read: what they
# stated in it is what a correction without a subject may mean.
learning_days = Table(
    "learning_days",
    metadata,
    text_column("space_id"),
    text_column("owner"),
    text_column("day"),
    Column("writes", Integer, nullable=False),
    time_column("last_turn_at", null=True),
    PrimaryKeyConstraint("space_id", "owner", "day"),
)

# Usage of language models by space and day.
llm_usage = Table(
    "llm_usage",
    metadata,
    text_column("space_id"),
    text_column("day"),
    Column("requests", Integer, nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
    PrimaryKeyConstraint("space_id", "day"),
)


# The schema of notes: which there are, what stands in them, and what mirrors know of their files.
#
# What a note says is in its memories alone.

notes_table = Table(
    "notes",
    metadata,
    text_column("space_id"),
    text_column("path"),  # relative to the folder of the space
    text_column("kind"),  # session | long_term | page
    text_column("subject", null=True),  # whose it is; null: a room's
    text_column("day", null=True),  # YYYY-MM-DD
    text_column("session", null=True),
    text_column("chat", null=True),
    text_column("chat_kind"),
    text_column("thread", null=True),
    text_column("summary_id", null=True),  # a memory: the summary in the head
    text_column("source", null=True),
    text_column("channel", null=True),
    text_column("contact_id", null=True),
    text_column("contact_nickname", null=True),
    text_column("tags"),  # JSON list
    text_column("links"),  # JSON list of pairs: text, target
    text_column("layout", null=True),  # of pages: what stands between the items; no ids
    time_column("created_at"),
    time_column("updated_at"),
    Column("stamp", BigInteger, nullable=False),  # the space's revision of notes when it changed
    PrimaryKeyConstraint("space_id", "path"),
    Index("ix_notes_stamp", "space_id", "stamp"),
    Index("ix_notes_subject", "space_id", "subject", "kind", "day"),
    Index("ix_notes_chat", "space_id", "chat", "day"),
    Index(
        "ix_notes_summary_id",
        "space_id",
        "summary_id",
        sqlite_where=text("summary_id IS NOT NULL"),
        postgresql_where=text("summary_id IS NOT NULL"),
    ),
)

note_items = Table(
    "note_items",
    metadata,
    text_column("space_id"),
    text_column("path"),
    text_column("memory_id"),
    text_column("section"),
    Column("position", Integer, nullable=False),
    text_column("added_on", null=True),  # YYYY-MM-DD: when it entered the long-term index
    PrimaryKeyConstraint("space_id", "path", "memory_id"),
    ForeignKeyConstraint(
        ["space_id", "path"], ["notes.space_id", "notes.path"], ondelete="CASCADE"
    ),
    memory_foreign_key(),
    Index("ix_note_items_memory", "space_id", "memory_id"),
    sqlite_with_rowid=False,
)

# A file as it was when it last agreed with the store. It outlives its note, so that whoever keeps
# the file knows that it has to go.
note_files = Table(
    "note_files",
    metadata,
    text_column("space_id"),
    text_column("folder"),
    text_column("path"),
    text_column("digest"),  # of its bytes; empty: it has to be looked at
    Column("stamp", BigInteger, nullable=False),  # of the note at that time
    text_column("problem", null=True),
    Column("asked", Integer, nullable=False),  # deletions that wait for a yes
    text_column("subject", null=True),  # of the note, for when that is gone and they are erased
    text_column("chat", null=True),
    PrimaryKeyConstraint("space_id", "folder", "path"),
    Index("ix_note_files_path", "space_id", "path"),
)

# And its lines. What hangs on a memory goes with it: nothing here outlives an erasure.
note_lines = Table(
    "note_lines",
    metadata,
    text_column("space_id"),
    text_column("folder"),
    text_column("path"),
    text_column("memory_id"),
    Column("version", Integer, nullable=False),
    Column("done", Boolean, nullable=True),
    text_column("digest"),
    PrimaryKeyConstraint("space_id", "folder", "path", "memory_id"),
    ForeignKeyConstraint(
        ["space_id", "folder", "path"],
        ["note_files.space_id", "note_files.folder", "note_files.path"],
        ondelete="CASCADE",
    ),
    memory_foreign_key(),
    Index("ix_note_lines_memory", "space_id", "memory_id"),
    sqlite_with_rowid=False,
)


# The schema of recall: vectors, relations, and what keeps answers in a process honest.

# A memory's place in the space of meanings, beside the others of its home: its owner's, or those of
# the room that owns it. The vector itself is a column that each database has a type of its own for.
vectors_table = Table(
    "vectors",
    metadata,
    text_column("space_id"),
    text_column("home_path"),
    text_column("memory_id"),
    text_column("model"),
    PrimaryKeyConstraint("space_id", "home_path", "memory_id"),
    memory_foreign_key(),
    Index("ix_vectors_memory", "space_id", "memory_id"),
    # With row numbers: without, SQLite would give each vector a page of its own beside the tree.
)

# Spaces in which every memory has a vector of this model.
embedded_spaces = Table(
    "embedded_spaces",
    metadata,
    text_column("space_id"),
    text_column("model"),
    time_column("done_at"),
    PrimaryKeyConstraint("space_id", "model"),
)

# A revision for each access path to memories: a person, a chat, an audience. Every change of a
# memory increments those of its paths, so that caches notice that they are stale.
revisions_table = Table(
    "revisions",
    metadata,
    text_column("space_id"),
    text_column("access_path"),
    Column("rev", BigInteger, nullable=False),
    Column("cleared_rev", BigInteger, nullable=False),  # the revision that last removed a row
    PrimaryKeyConstraint("space_id", "access_path"),
    sqlite_with_rowid=False,
)

# Edges between memories. Those that were found by likeness run from the smaller id to the larger.
relations_table = Table(
    "relations",
    metadata,
    text_column("space_id"),
    text_column("from_id"),
    text_column("to_id"),
    text_column("relation_type"),
    Column("strength", Float, nullable=False),
    flag_column("found"),  # by similarity, not stated by a person
    time_column("created_at"),
    PrimaryKeyConstraint("space_id", "from_id", "to_id", "relation_type"),
    ForeignKeyConstraint(
        ["space_id", "from_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    ),
    ForeignKeyConstraint(
        ["space_id", "to_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    ),
    Index("ix_relations_to", "space_id", "to_id"),
)

# Which turns a memory was learned from.
derived_from = Table(
    "derived_from",
    metadata,
    text_column("space_id"),
    text_column("memory_id"),
    text_column("turn_id"),
    PrimaryKeyConstraint("space_id", "memory_id", "turn_id"),
    memory_foreign_key(),
    ForeignKeyConstraint(
        ["space_id", "turn_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    ),
    Index("ix_derived_from_turn", "space_id", "turn_id"),
)

# When the block of a thread was put together for an audience: what is newer waits in the delta.
blocks = Table(
    "blocks",
    metadata,
    text_column("space_id"),
    text_column("thread"),
    text_column("audience"),
    time_column("built_at"),
    time_column("used_at"),
    PrimaryKeyConstraint("space_id", "thread", "audience"),
)


# The schema of upkeep: what ran and when, what the clock said, pairs that were compared, when
# somebody was thought about, what was erased, and what happened.

# The last runs of each task in a space. What is to be done, and who is at it, stands in `jobs`.
job_runs = Table(
    "job_runs",
    metadata,
    text_column("space_id"),
    text_column("task"),
    Column("seq", BigInteger, nullable=False),
    time_column("started_at"),
    time_column("finished_at"),
    text_column("counts"),  # JSON: what was done, by plain words; never ids or content
    text_column("problem", null=True),  # the kind of failure, or why it waits
    PrimaryKeyConstraint("space_id", "task", "seq"),
)

# What the clock said at the last sweep; and if it leapt since the one before, from where to where:
# then nothing is purged until somebody vouches for it. What was to be purged by `purged_until` is
# gone; a memory that turns up behind it was dated by a clock that was wrong.
clock_guard = Table(
    "clock_guard",
    metadata,
    text_column("space_id"),
    time_column("seen_at"),
    time_column("jump_from", null=True),
    time_column("jump_to", null=True),
    time_column("purged_until", null=True),
    PrimaryKeyConstraint("space_id"),
)

# Pairs of memories that were compared, and need not be again for a while.
pair_checks = Table(
    "pair_checks",
    metadata,
    text_column("space_id"),
    text_column("first_id"),  # the smaller id
    text_column("second_id"),
    Column("similarity", Integer, nullable=False),  # in hundredths
    flag_column("is_same"),
    time_column("checked_at"),
    PrimaryKeyConstraint("space_id", "first_id", "second_id"),
    ForeignKeyConstraint(
        ["space_id", "first_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    ),
    ForeignKeyConstraint(
        ["space_id", "second_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    ),
    Index("ix_pair_checks_second", "space_id", "second_id"),
    Index("ix_pair_checks_checked_at", "space_id", "checked_at"),
)

# When a person was last thought about, and compared: both at most once in a while.
reflections = Table(
    "reflections",
    metadata,
    text_column("space_id"),
    text_column("owner"),
    text_column("task"),  # reflect | consolidate | summarise
    time_column("at"),
    Column("spent", Integer, nullable=False),  # pairs compared on that day, say
    PrimaryKeyConstraint("space_id", "owner", "task"),
)

# Erasures in the order they happened, as keyed hashes and counts: enough to do them again to an
# older copy, and nothing more.
erasures_table = Table(
    "erasures",
    metadata,
    text_column("space_id"),
    text_column("id"),
    text_column("scope"),  # memory | person | subject | source | space
    text_column("digests"),  # JSON: keyed hashes of ids or identities
    text_column("counts"),  # JSON: rows removed, by table
    time_column("erased_at"),
    text_column("signature"),
    # What files may still hold of it (remnants.py): NULL before they were cleaned, '' for nothing.
    text_column("remains", null=True),
    PrimaryKeyConstraint("space_id", "id"),
    Index("ix_erasures_erased_at", "space_id", "erased_at"),
)

# What happened, for counts over time: never content.
events = Table(
    "events",
    metadata,
    text_column("space_id"),
    text_column("id"),
    text_column("owner", null=True),
    text_column("thread", null=True),
    text_column("node"),  # hotpath | context | episodic | worker
    text_column("op"),  # classify | search | create | update | merge | link | ttl | delete …
    text_column("status"),  # ok | error | skipped
    text_column("memory_id", null=True),
    text_column("category", null=True),
    Column("similarity", Float, nullable=True),
    time_column("at"),
    PrimaryKeyConstraint("space_id", "id"),
    memory_foreign_key(),  # what names a memory goes with it
    Index("ix_events_owner", "space_id", "owner", "at"),
    Index("ix_events_node", "space_id", "node", "at"),
    Index("ix_events_memory", "space_id", "memory_id"),
)


# The schema of a graph's steps: what LangGraph calls checkpoints, for the person they were made
# with. Nothing here is a memory: no recall reads it.

# Whose they are, and where: in private `chat` is empty, else it is the chat. A thread is one
# run of conversation, and each subgraph in it has a namespace of its own.
_THREAD_KEY = ("space_id", "person", "chat", "thread", "ns")
_IN_GROUP = text("chat <> ''")


def _thread_key_columns() -> list[Column[str]]:
    return [text_column(name) for name in _THREAD_KEY]


def _access_columns() -> list[Column[Any]]:
    """In front of whom, by an agent that may use what, and when. All of them are asked of each
    row, so that no row tells more than the step it belongs to."""
    return [
        text_column("audience", null=True),  # the set of people who were there, in audience_people
        text_column("categories", null=True),  # JSON list, if the agent may not use everything
        time_column("saved_at"),
    ]


def _chat_index(name: str) -> Index:
    columns = ("space_id", "chat", "person", "thread", "audience")
    return Index(name, *columns, sqlite_where=_IN_GROUP, postgresql_where=_IN_GROUP)


# The state of a graph after a step, without the values of its channels.
graph_steps = Table(
    "graph_steps",
    metadata,
    *_thread_key_columns(),
    text_column("id"),  # sorts by time, as LangGraph makes them
    text_column("parent", null=True),
    text_column("type"),  # how `data` is written, as its serializer says
    text_column("run", null=True),
    *_access_columns(),
    text_column("metadata"),  # JSON
    text_column("versions"),  # JSON: channel → version, which lead to graph_values
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint(*_THREAD_KEY, "id"),
    Index(
        "ix_graph_steps_run",
        "space_id",
        "run",
        "person",
        sqlite_where=text("run IS NOT NULL"),
        postgresql_where=text("run IS NOT NULL"),
    ),
    _chat_index("ix_graph_steps_chat"),
)

# The value of a channel, once for all steps that it did not change in.
graph_values = Table(
    "graph_values",
    metadata,
    *_thread_key_columns(),
    text_column("channel"),
    text_column("version"),
    text_column("type"),
    *_access_columns(),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint(*_THREAD_KEY, "channel", "version"),
    _chat_index("ix_graph_values_chat"),
)

# What a task wrote after a step, before the next one was made of it.
graph_writes = Table(
    "graph_writes",
    metadata,
    *_thread_key_columns(),
    text_column("step"),
    text_column("task"),
    Column("idx", Integer, nullable=False),
    text_column("path"),  # of the task, by which its writes are put in order
    text_column("channel"),
    text_column("type"),
    *_access_columns(),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint(*_THREAD_KEY, "step", "task", "idx"),
    _chat_index("ix_graph_writes_chat"),
)


# The schema, as SQLAlchemy Core tables: what is remembered, and everything that hangs on it.
#
# Every primary key and unique constraint begins with space_id, so that the same schema shards by
# space. What migrations build is compared with this file by a test; the tables and columns of the
# full-text search differ between the databases and are in the migrations alone.

_BROWSE_COLUMNS = (
    "state", "expires_at", "category", "kind", "visibility", "sensitivity", "pinned", "learned_in",
)  # fmt: skip

memories_table = Table(
    "memories",
    metadata,
    text_column("space_id"),
    text_column("id"),
    text_column("owner", null=True),
    text_column("speaker", null=True),
    text_column("subjects"),  # JSON list, as given; memory_people holds whom it counts as about
    text_column("learned_in", null=True),
    text_column("learned_kind", null=True),
    text_column("audience", null=True),  # the set of listeners, in audience_people
    flag_column("confidential"),  # the chat's flag, kept here so that a read needs no join
    text_column("kind"),
    text_column("category"),
    text_column("key", null=True),
    text_column("slot", null=True),
    text_column("content"),
    Column("version", Integer, nullable=False),
    text_column("visibility"),
    text_column("sensitivity"),
    flag_column("portable"),
    text_column("withheld_from"),  # JSON list; memory_people holds the same people
    flag_column("has_withheld"),
    flag_column("withheld_unknown"),
    flag_column("inferred"),
    text_column("trust"),
    Column("importance", Integer, nullable=False),
    Column("confidence", Float, nullable=True),
    flag_column("pinned"),
    text_column("tags"),  # JSON list
    text_column("source_channel", null=True),
    text_column("source_chat", null=True),
    text_column("source_message", null=True),
    text_column("thread", null=True),
    text_column("agent", null=True),
    text_column("run", null=True),
    text_column("role", null=True),
    time_column("created_at"),
    time_column("updated_at"),
    time_column("observed_at", null=True),
    time_column("expires_at", null=True),
    time_column("last_accessed_at", null=True),
    Column("access_count", Integer, nullable=False),
    text_column("state"),
    time_column("purge_at", null=True),
    text_column("superseded_by", null=True),
    flag_column("overridden"),
    # A turn of a conversation as it was said, and its place in there. Only a search for turns
    # finds it: every index that a listing goes by keeps the two apart.
    Column("is_turn", Boolean, nullable=False, server_default=false()),
    text_column("session", null=True),
    Column("seq", BigInteger, nullable=True),
    text_column("name", null=True),  # what the speaker went by
    text_column("data", null=True),  # JSON object
    # The revision of its owner's partition (or its room's) when anything of it last changed.
    Column("stamp", BigInteger, nullable=False, server_default=text("0")),
    PrimaryKeyConstraint("space_id", "id"),
    # With all that a person looks through their memories by: what is rare among them is found
    # without reading the rows.
    Index(
        "ix_memories_owner", "space_id", "owner", "is_turn", "created_at", "id", *_BROWSE_COLUMNS
    ),
    # The same for operators, through everybody's. All have a version: that is said by operators'
    # reads alone, so that no other one is led through a whole space.
    Index(
        "ix_memories_created",
        "space_id",
        "created_at",
        "id",
        *_BROWSE_COLUMNS,
        sqlite_where=text("is_turn IS 0 AND version > 0"),
        postgresql_where=text("is_turn IS false AND version > 0"),
    ),
    # Owners who are also the speaker find it by owner.
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
        "ix_memories_audience",
        "space_id",
        "audience",
        "is_turn",
        "created_at",
        "id",
        sqlite_where=text("audience IS NOT NULL"),
        postgresql_where=text("audience IS NOT NULL"),
    ),
    Index("ix_memories_stamp", "space_id", "owner", "stamp"),
    Index(
        "ix_memories_shareable",
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
        "uq_memories_chat_key",
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
    memories_table.c.space_id,
    memories_table.c.is_turn,
    memories_table.c.expires_at,
    memories_table.c.id,
    sqlite_where=text("expires_at IS NOT NULL AND state = 'active'"),
    postgresql_where=text("expires_at IS NOT NULL AND state = 'active'"),
)
Index(
    "ix_memories_decay",
    memories_table.c.space_id,
    memories_table.c.updated_at,
    memories_table.c.id,
    sqlite_where=text("importance < 3 AND state = 'active'"),
    postgresql_where=text("importance < 3 AND state = 'active'"),
)

# A person's pinned and important memories, and their number.
Index(
    "ix_memories_prominent",
    memories_table.c.space_id,
    memories_table.c.owner,
    memories_table.c.is_turn,
    memories_table.c.pinned,
    memories_table.c.importance,
    memories_table.c.created_at,
    memories_table.c.id,
    memories_table.c.expires_at,
    sqlite_where=text("state = 'active'"),
    postgresql_where=text("state = 'active'"),
)

# A replaced memory points at what replaced it; to erase that, the pointer has to be found.
Index(
    "ix_memories_superseded_by",
    memories_table.c.space_id,
    memories_table.c.superseded_by,
    sqlite_where=text("superseded_by IS NOT NULL"),
    postgresql_where=text("superseded_by IS NOT NULL"),
)

memory_versions = Table(
    "memory_versions",
    metadata,
    text_column("space_id"),
    text_column("memory_id"),
    Column("version", Integer, nullable=False),
    text_column("content"),
    text_column("speaker", null=True),
    text_column("subjects"),
    text_column("audience", null=True),
    text_column("visibility"),  # how far this wording might go while it was the current one
    text_column("sensitivity"),
    flag_column("portable"),
    text_column("actor"),
    time_column("created_at"),
    PrimaryKeyConstraint("space_id", "memory_id", "version"),
    memory_foreign_key(),
    sqlite_with_rowid=False,
)

memory_people = Table(
    "memory_people",
    metadata,
    text_column("space_id"),
    text_column("memory_id"),
    text_column("role"),  # subject | withheld
    text_column("person"),
    PrimaryKeyConstraint("space_id", "memory_id", "role", "person"),
    memory_foreign_key(),
    Index("ix_memory_people_person", "space_id", "person", "role", "memory_id"),
    sqlite_with_rowid=False,
)

# Sets of listeners. A room's memories share one set until somebody comes or goes, so a write in a
# group of thirty costs one reference and not thirty rows. A set never changes.
audience_people = Table(
    "audience_people",
    metadata,
    text_column("space_id"),
    text_column("audience"),
    text_column("person"),
    PrimaryKeyConstraint("space_id", "audience", "person"),
    Index("ix_audience_people_person", "space_id", "person", "audience"),
)

# What was erased, as keyed hashes of ids: enough never to use an id again, and nothing more.
tombstones = Table(
    "tombstones",
    metadata,
    text_column("space_id"),
    text_column("digest"),
    time_column("erased_at"),
    text_column("actor"),  # the operator who did it; empty for the people concerned
    flag_column("scrubbed"),  # whether its bytes are known to be gone from the files
    PrimaryKeyConstraint("space_id", "digest"),
)

POLICY_TABLES = PolicyTables(memories_table, memory_people, audience_people)
