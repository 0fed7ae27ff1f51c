"""The tables of who and where: spaces, identities and their links, people, chats."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, Table, text

from tacit.store.columns import flag, metadata, time, words

spaces = Table(
    "spaces",
    metadata,
    words("space_id"),
    words("secret"),  # keys the hashes that remember erased ids
    Column("identity_rev", BigInteger, nullable=False),  # moves when people, links or chats do
    time("created_at"),
    PrimaryKeyConstraint("space_id"),
)

subjects = Table(
    "subjects",
    metadata,
    words("space_id"),
    words("id"),  # ext:… or acct:…
    time("created_at"),
    PrimaryKeyConstraint("space_id", "id"),
)

# "Is the same person as": an external key's account, or a merge of people. Each row is one episode
# with its beginning and end; nothing here is overwritten.
identity_links = Table(
    "identity_links",
    metadata,
    words("space_id"),
    words("id"),
    words("source"),
    words("target"),
    words("kind"),  # link | merge
    words("actor"),
    time("created_at"),
    time("verified_at", null=True),
    time("ended_at", null=True),
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
    words("space_id"),
    words("id"),  # person:XXXXXXXX: somebody without an account
    words("created_by"),
    time("created_at"),
    PrimaryKeyConstraint("space_id", "id"),
)

person_names = Table(
    "person_names",
    metadata,
    words("space_id"),
    words("person"),
    words("kind"),  # name | username | alias | relation
    words("folded"),
    words("known_to"),  # whose name for them it is; '' for the name they go by
    words("name"),
    time("created_at"),
    PrimaryKeyConstraint("space_id", "person", "kind", "folded", "known_to"),
    Index("ix_person_names_folded", "space_id", "folded", "known_to", "person"),
    Index("ix_person_names_known_to", "space_id", "known_to", "person"),
)

# Two whom somebody named are one to them: in their own private requests, and nowhere else.
same_people = Table(
    "same_people",
    metadata,
    words("space_id"),
    words("known_to"),  # who says so
    words("person"),
    words("into"),
    time("created_at"),
    PrimaryKeyConstraint("space_id", "known_to", "person"),
    Index("ix_same_people_person", "space_id", "person"),
    Index("ix_same_people_into", "space_id", "into"),
    sqlite_with_rowid=False,
)

chats = Table(
    "chats",
    metadata,
    words("space_id"),
    words("id"),
    words("kind"),
    flag("confidential"),
    words("migrated_to", null=True),
    time("created_at"),
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
    words("space_id"),
    words("chat"),
    words("person"),
    time("joined_at"),
    time("left_at", null=True),
    PrimaryKeyConstraint("space_id", "chat", "person", "joined_at"),
    Index("ix_chat_members_person", "space_id", "person"),
)
