"""The schema of notes: which there are, what stands in them, and what mirrors know of their files.

What a note says is in its memories alone.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    text,
)

from tacit.store.columns import metadata, of_memory, time, words

notes = Table(
    "notes",
    metadata,
    words("space_id"),
    words("path"),  # relative to the folder of the space
    words("kind"),  # session | long_term | page
    words("subject", null=True),  # whose it is; null: a room's
    words("day", null=True),  # YYYY-MM-DD
    words("session", null=True),
    words("chat", null=True),
    words("chat_kind"),
    words("thread", null=True),
    words("summary_id", null=True),  # a memory: the summary in the head
    words("source", null=True),
    words("channel", null=True),
    words("contact_id", null=True),
    words("contact_nickname", null=True),
    words("tags"),  # JSON list
    words("links"),  # JSON list of pairs: text, target
    words("layout", null=True),  # of pages: what stands between the items; no ids
    time("created_at"),
    time("updated_at"),
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
    words("space_id"),
    words("path"),
    words("memory_id"),
    words("section"),
    Column("position", Integer, nullable=False),
    words("added_on", null=True),  # YYYY-MM-DD: when it entered the long-term index
    PrimaryKeyConstraint("space_id", "path", "memory_id"),
    ForeignKeyConstraint(
        ["space_id", "path"], ["notes.space_id", "notes.path"], ondelete="CASCADE"
    ),
    of_memory(),
    Index("ix_note_items_memory", "space_id", "memory_id"),
    sqlite_with_rowid=False,
)

# A file as it was when it last agreed with the store. It outlives its note, so that whoever keeps
# the file knows that it has to go.
note_files = Table(
    "note_files",
    metadata,
    words("space_id"),
    words("folder"),
    words("path"),
    words("digest"),  # of its bytes; empty: it has to be looked at
    Column("stamp", BigInteger, nullable=False),  # of the note at that time
    words("problem", null=True),
    Column("asked", Integer, nullable=False),  # deletions that wait for a yes
    words("subject", null=True),  # of the note, for when that is gone and they are erased
    words("chat", null=True),
    PrimaryKeyConstraint("space_id", "folder", "path"),
    Index("ix_note_files_path", "space_id", "path"),
)

# And its lines. What hangs on a memory goes with it: nothing here outlives an erasure.
note_lines = Table(
    "note_lines",
    metadata,
    words("space_id"),
    words("folder"),
    words("path"),
    words("memory_id"),
    Column("version", Integer, nullable=False),
    Column("done", Boolean, nullable=True),
    words("digest"),
    PrimaryKeyConstraint("space_id", "folder", "path", "memory_id"),
    ForeignKeyConstraint(
        ["space_id", "folder", "path"],
        ["note_files.space_id", "note_files.folder", "note_files.path"],
        ondelete="CASCADE",
    ),
    of_memory(),
    Index("ix_note_lines_memory", "space_id", "memory_id"),
    sqlite_with_rowid=False,
)
