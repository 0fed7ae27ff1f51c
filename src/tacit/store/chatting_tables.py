"""The schema of chatting: what channels brought and is not done, and codes that link identities."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, PrimaryKeyConstraint, Table, text

from tacit.store.columns import metadata, time, words

# What a channel brought, from before it is told that it arrived until somebody is done with it.
# From then on nothing is left but its id, by which a repeat is known: no chat, nobody, no words.
updates = Table(
    "updates",
    metadata,
    words("space_id"),
    words("channel"),
    words("update_id"),  # as the channel names it
    Column("seq", BigInteger, nullable=False),  # the order of their coming: it only grows
    words("state"),  # waiting | parked | done
    Column("attempts", Integer, nullable=False),
    time("at"),  # when it came to be in this state
    words("chat", null=True),
    words("person", null=True),  # who sent it: erased with what is theirs
    words("payload"),  # as it came; last, for it is long
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

# A code that somebody was given, to show that another identity is theirs too.
link_offers = Table(
    "link_offers",
    metadata,
    words("space_id"),
    words("id"),
    words("code_hash"),  # the code itself is nowhere
    words("offered_by"),
    words("accepted_by", null=True),
    words("state"),  # open | asked | done | refused
    time("created_at"),
    time("expires_at"),
    PrimaryKeyConstraint("space_id", "id"),
    Index("uq_link_offers_code", "space_id", "code_hash", unique=True),
    Index("ix_link_offers_offered_by", "space_id", "offered_by"),
    Index("ix_link_offers_accepted_by", "space_id", "accepted_by"),
    Index("ix_link_offers_expires_at", "expires_at"),  # for the sweep
)

# Codes that were wrong, by who tried them: only so many in an hour.
link_tries = Table(
    "link_tries",
    metadata,
    words("space_id"),
    words("person"),
    words("id"),
    time("at"),
    PrimaryKeyConstraint("space_id", "person", "id"),
    Index("ix_link_tries_at", "at"),  # for the sweep
)
