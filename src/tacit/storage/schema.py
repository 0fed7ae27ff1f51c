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

from tacit.policy.rules import PolicyTables

# Every table, primary key and foreign key, and nearly every index, begins with `space_id`, so that
# the same schema shards by space: the functions below add it. Times are whole microseconds since
# 1970, in UTC. A test compares this file with what the migrations build. The tables and columns of
# full-text search differ between the databases and are in the migrations alone.

metadata = MetaData()


def _table(name: str, *parts: Any, key: str, rowid: bool = True) -> Table:
    """Declare a table; without `rowid`, SQLite stores its rows in the tree of the primary key."""
    primary = PrimaryKeyConstraint("space_id", *key.split())
    return Table(name, metadata, *_texts("space_id"), *parts, primary, sqlite_with_rowid=rowid)


def _columns(type_: Any, names: tuple[str, ...]) -> list[Column[Any]]:
    """Declare columns of one type; one whose name ends in `?` may be NULL."""
    return [Column(name.rstrip("?"), type_, nullable=name.endswith("?")) for name in names]


def _texts(*names: str) -> list[Column[str]]:
    return _columns(Text, names)


def _times(*names: str) -> list[Column[int]]:
    """Declare times, revisions and other numbers of 64 bits."""
    return _columns(BigInteger, names)


def _integers(*names: str) -> list[Column[int]]:
    return _columns(Integer, names)


def _flags(*names: str) -> list[Column[bool]]:
    return _columns(Boolean, names)


def _references(table: str, **columns: str) -> ForeignKeyConstraint:
    """Delete the row together with the row of `table` that it refers to."""
    theirs = [f"{table}.{name}" for name in ("space_id", *columns.values())]
    return ForeignKeyConstraint(["space_id", *columns], theirs, ondelete="CASCADE")


def _index(name: str, columns: str, *, where: str = "", unique: bool = False, **dialect: str) -> Index:
    """Declare an index; `where` makes it partial, `dialect` overrides that for one database."""
    parts = {"sqlite_where": where, "postgresql_where": where, **dialect} if where else {}
    conditions: dict[str, Any] = {name: text(condition) for name, condition in parts.items()}
    return Index(name, "space_id", *columns.split(), unique=unique, **conditions)


# Spaces, identities and their links, people, chats.

spaces_table = _table(
    "spaces",
    *_texts("secret"),  # keys the hashes that remember erased ids
    # Incremented when people, links or chats change.
    *_times("identity_rev", "created_at"),
    key="",
)

subjects = _table(
    "subjects",
    *_texts("id"),  # ext:… or acct:…
    *_times("created_at"),
    key="id",
)

# "Is the same person as": an external key's account, or a merge of people. Each row is one episode
# with its beginning and end; nothing here is overwritten.
identity_links = _table(
    "identity_links",
    *_texts("id", "source", "target", "kind", "actor"),  # kind: link | merge
    *_times("created_at", "verified_at?", "ended_at?"),
    _index("ix_identity_links_target", "target"),
    _index("ix_identity_links_source", "source"),
    _index("uq_identity_links_current", "source", unique=True, where="ended_at IS NULL"),
    key="id",
)

people_table = _table(
    "people",
    *_texts("id", "created_by"),  # id: person:XXXXXXXX, a person without an account
    *_times("created_at"),
    key="id",
)

person_names = _table(
    "person_names",
    *_texts("person", "kind", "folded"),  # kind: name | username | alias | relation
    *_texts("known_to", "name"),  # known_to: who uses this name; '' for everyone
    *_times("created_at"),
    _index("ix_person_names_folded", "folded known_to person"),
    _index("ix_person_names_known_to", "known_to person"),
    key="person kind folded known_to",
)

# Two people whom one person merged, in that person's private requests only.
same_people = _table(
    "same_people",
    *_texts("known_to", "person", "into"),  # known_to: who merged them
    *_times("created_at"),
    _index("ix_same_people_person", "person"),
    _index("ix_same_people_into", "into"),
    key="known_to person",
    rowid=False,
)

chats_table = _table(
    "chats",
    *_texts("id", "kind"),
    *_flags("confidential"),
    *_texts("migrated_to?"),
    *_times("created_at"),
    _index("ix_chats_migrated_to", "migrated_to", where="migrated_to IS NOT NULL"),
    key="id",
)

chat_members = _table(
    "chat_members",
    *_texts("chat", "person"),
    *_times("joined_at", "left_at?"),
    _index("ix_chat_members_person", "person"),
    key="chat person joined_at",
)


# API keys, idempotency keys, checkpoints of agents.

# API keys. Only a hash of the secret is stored.
api_keys = _table(
    "api_keys",
    *_texts("key_id"),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the secret
    *_texts("name", "agent?", "requester?"),  # requester: the only external key it may act for
    *_texts("scopes", "categories?"),  # scopes: JSON list; categories: JSON list; NULL: all
    *_integers("rate_per_minute?"),
    *_times("created_at", "expires_at?", "revoked_at?"),
    Index("ix_api_keys_key_id", "key_id"),  # a request names no space
    key="key_id",
)

# Idempotent writes that are done: hashes of the key and of the call, and the result without
# content. Memories of the result are rows of their own: if one is erased, a repeat raises NotFound.
idempotency_keys = _table(
    "idempotency_keys",
    *_texts("person", "token"),  # token: a hash of the key
    # A hash of the call, keyed with the idempotency key; empty if the result was erased.
    *_texts("fingerprint", "result"),  # result is JSON: counts, versions and fixed words
    *_times("at"),
    Index("ix_idempotency_keys_at", "at"),  # for the sweep
    key="person token",
    rowid=False,
)

idempotency_memories = _table(
    "idempotency_memories",
    *_texts("person", "token"),
    *_integers("position"),
    *_texts("memory_id"),
    _references("idempotency_keys", person="person", token="token"),
    _references("memories", memory_id="id"),
    _index("ix_idempotency_memories_memory", "memory_id"),
    key="person token position",
    rowid=False,
)

# The state of an agent in a thread with one person. No other agent or person reads it.
checkpoints_table = _table(
    "checkpoints",
    *_texts("person", "thread"),
    *_times("version", "updated_at"),
    # JSON list of the categories its agent may use; NULL: all. An agent that may use fewer does not
    # read it.
    *_texts("categories?", "data"),  # data: JSON; last, because it is long
    key="person thread",
)


# The inbox of channels, and codes that link identities.

# Updates of a channel, stored before they are acknowledged. Once processed, only the id is left, to
# recognize a repeated delivery: no chat, no person, no text.
updates = _table(
    "updates",
    *_texts("channel", "update_id"),  # update_id: the channel's id
    *_times("seq"),  # order of arrival, increasing
    *_texts("state"),  # waiting | parked | done
    *_integers("attempts"),
    *_times("at"),  # since when it is in this state
    *_texts("chat?", "person?"),  # person: the sender
    *_texts("payload"),  # the raw update; last, because it is long
    _index("ix_updates_seq", "channel state seq"),
    _index("ix_updates_person", "person", where="person IS NOT NULL"),
    _index("ix_updates_chat", "chat", where="chat IS NOT NULL"),
    Index("ix_updates_at", "state", "at"),  # for the sweep
    key="channel update_id",
)

# One-time codes that link a second identity to a person.
link_offers = _table(
    "link_offers",
    *_texts("id", "code_hash", "offered_by"),  # code_hash: the code itself is not stored
    *_texts("accepted_by?", "state"),  # state: open | asked | done | refused
    *_times("created_at", "expires_at"),
    _index("uq_link_offers_code", "code_hash", unique=True),
    _index("ix_link_offers_offered_by", "offered_by"),
    _index("ix_link_offers_accepted_by", "accepted_by"),
    Index("ix_link_offers_expires_at", "expires_at"),  # for the sweep
    key="id",
)

# Wrong codes by person, for the hourly limit.
link_attempts = _table(
    "link_attempts",
    *_texts("person", "id"),
    *_times("at"),
    Index("ix_link_attempts_at", "at"),  # for the sweep
    key="person id",
)


# The access log, sign-in links and web sessions.

# One row for each read of people's memories by an operator, written in the same transaction.
access_log_table = _table(
    "access_log",
    *_texts("id"),
    *_times("at"),
    *_texts("actor", "operation"),  # operation: browse, show, history, …
    *_texts("memory_id?"),  # if exactly one was shown and still exists
    *_integers("count"),  # of memories shown
    _index("ix_access_log_at", "at id"),
    _index("ix_access_log_memory", "memory_id", where="memory_id IS NOT NULL"),
    key="id",
)

# Owners of the memories shown. The time is repeated, so that an index orders a person's entries.
access_log_people = _table(
    "access_log_people",
    *_texts("entry_id", "person"),
    *_times("at"),
    *_integers("count"),  # of this person's memories
    _references("access_log", entry_id="id"),
    _index("ix_access_log_people_person", "person at entry_id"),
    key="entry_id person",
    rowid=False,
)

# One-time sign-in links. Only a hash of the secret is stored.
sign_in_links = _table(
    "sign_in_links",
    *_texts("id"),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the secret
    *_texts("person?", "operator?"),  # one of them
    *_times("created_at", "expires_at"),
    Index("ix_sign_in_links_id", "id"),  # a request names no space
    _index("ix_sign_in_links_person", "person operator created_at"),
    Index("ix_sign_in_links_expires_at", "expires_at"),  # for the sweep
    key="id",
)

# Web sessions, until sign-out or expiry.
web_sessions = _table(
    "web_sessions",
    *_texts("id"),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the cookie's secret
    *_texts("person?", "operator?"),
    *_times("created_at", "seen_at", "expires_at"),
    Index("ix_web_sessions_id", "id"),
    _index("ix_web_sessions_person", "person operator"),
    Index("ix_web_sessions_expires_at", "expires_at"),  # for the sweep
    key="id",
)


# The history of each memory, and the change log of each thread.

history_table = _table(
    "history",
    *_texts("memory_id"),
    *_integers("seq"),
    *_texts("event"),
    *_integers("version"),
    *_texts("actor", "detail"),  # detail: JSON object of fixed words; never the memory's text
    *_times("at"),
    *_texts("owner?"),  # the memory's owner, which never changes
    _references("memories", memory_id="id"),
    # Recent events of one owner or of the whole space. The event is included for index-only daily
    # counts. Only reads of operators state the condition `event <> ''`, so that no other read uses
    # the index of the whole space.
    _index("ix_history_owner", "owner at memory_id seq event"),
    _index("ix_history_at", "at memory_id seq event", where="event <> ''"),
    key="memory_id seq",
    rowid=False,
)

thread_revisions = _table("thread_revisions", *_texts("thread"), *_times("rev"), key="thread", rowid=False)

change_log = _table(
    "change_log",
    *_texts("thread"),
    *_times("rev"),
    *_texts("memory_id", "event"),
    *_times("at"),
    _references("memories", memory_id="id"),
    _index("ix_change_log_memory", "memory_id"),
    key="thread rev",
    rowid=False,
)


# Imports from other systems: runs, and the items of each run.

imports_table = _table(
    "imports",
    *_texts("person", "run", "id"),  # run: the importer's name for the run; id: for cursor paging
    *_texts("source"),
    *_times("started_at", "updated_at"),
    *_integers("created", "already", "refused"),
    *_integers("done", "total?"),  # done: items processed, if the calls said so
    *_flags("reverting"),
    *_times("reverted_at?"),
    *_integers("forgotten"),  # by a revert, so far
    *_integers("changed"),  # changed since, kept by a revert
    key="person run",
    rowid=False,
)

# Imported items, as a keyed hash of the source id or of the text: a repeat is recognized even if the
# memory was changed or forgotten since.
imported_items = _table(
    "imported_items",
    *_texts("person", "token", "run?"),  # run: that made the memory; NULL: no revert forgets it
    *_texts("memory_id"),
    *_times("at"),
    _references("memories", memory_id="id"),
    _index("ix_imported_items_memory", "memory_id"),
    _index("ix_imported_items_run", "person run token"),
    key="person token",
    rowid=False,
)


# Learning: the job queue, parsed facts, proposals and usage.

# Jobs that are not done. The transaction that writes the result deletes the row, so nothing is done
# twice or lost. `seq` only grows: the jobs of a thread run in order. A scheduled task has one row
# in each space, in its own thread; the transaction that ends a run sets when it is due again.
jobs = _table(
    "jobs",
    *_texts("thread"),
    *_times("seq"),
    *_texts("kind", "owner"),  # kind: learn or a task; owner: an erasure deletes it; '' for a task
    *_texts("payload"),  # JSON: the turn, or the progress of a task
    *_integers("attempts"),
    *_times("due_at", "leased_until?"),  # leased_until: a worker has it until then
    *_texts("worker?", "problem?"),  # problem: the kind of the last failure; no content
    *_flags("parked"),  # failed too often: waits for an operator and does not delay other jobs
    *_times("created_at"),
    Index("ix_jobs_due", "kind", "parked", "due_at"),
    _index("ix_jobs_owner", "owner"),
    key="thread seq",
)

# The parsed form of a memory, for comparison by learning.
learned_facts_table = _table(
    "learned_facts",
    *_texts("memory_id", "owner", "content_digest"),  # content_digest: hash of the normalized text
    *_texts("slot?", "value?"),
    *_flags("negated", "about_speaker"),
    *_texts("about"),  # JSON: the others whom it is about, as they were mentioned
    _references("memories", memory_id="id"),
    _index("ix_learned_facts_said", "owner content_digest"),
    _index("ix_learned_facts_slot", "owner slot"),
    key="memory_id",
    rowid=False,
)

# Proposals that wait for consent. The text is a memory in the state `pending`.
proposals = _table(
    "proposals",
    *_texts("memory_id", "concerns", "reason"),  # concerns: the one person who is asked
    *_texts("replaces?"),  # superseded if the answer is yes
    *_integers("signals"),  # how often it was said
    *_times("created_at", "expires_at"),
    _references("memories", memory_id="id"),
    _index("ix_proposals_concerns", "concerns created_at"),
    key="memory_id",
)

# Declined proposals, as a hash: not asked again for a while.
declined_proposals = _table(
    "declined_proposals", *_texts("concerns", "content_digest"), *_times("until"), key="concerns content_digest"
)

# The number of writes that learning made for a person on a day, and when it read that person's last
# turn: a correction without a subject refers to the statements of that turn.
learning_days = _table(
    "learning_days", *_texts("owner", "day"), *_integers("writes"), *_times("last_turn_at?"), key="owner day"
)

# Usage of language models by space and day.
llm_usage = _table(
    "llm_usage", *_texts("day"), *_integers("requests"), *_times("tokens_in", "tokens_out", "cost_micros"), key="day"
)


# Notes, their items, and the files that mirror them. Only memories hold the text of a note.

notes_table = _table(
    "notes",
    *_texts("path"),  # relative to the folder of the space
    *_texts("kind"),  # session | long_term | page
    *_texts("subject?", "day?"),  # subject: whose it is; null: a room's; day: YYYY-MM-DD
    *_texts("session?", "chat?", "chat_kind"),
    *_texts("thread?", "summary_id?"),  # summary_id: a memory: the summary in the head
    *_texts("source?", "channel?", "contact_id?", "contact_nickname?"),
    *_texts("tags", "links"),  # tags: JSON list; links: JSON list of pairs: text, target
    *_texts("layout?"),  # of pages: what stands between the items; no ids
    *_times("created_at", "updated_at"),
    *_times("stamp"),  # the space's revision of notes when it changed
    _index("ix_notes_stamp", "stamp"),
    _index("ix_notes_subject", "subject kind day"),
    _index("ix_notes_chat", "chat day"),
    _index("ix_notes_summary_id", "summary_id", where="summary_id IS NOT NULL"),
    key="path",
)

note_items = _table(
    "note_items",
    *_texts("path", "memory_id", "section"),
    *_integers("position"),
    *_texts("added_on?"),  # YYYY-MM-DD: when it entered the long-term index
    _references("notes", path="path"),
    _references("memories", memory_id="id"),
    _index("ix_note_items_memory", "memory_id"),
    key="path memory_id",
    rowid=False,
)

# A file as it was when it last agreed with the storage. The row outlives the note, so that the
# mirror knows which file to delete.
note_files = _table(
    "note_files",
    *_texts("folder", "path", "digest"),  # digest: of its bytes; empty: to be read again
    *_times("stamp"),  # of the note at that time
    *_texts("problem?"),
    *_integers("asked"),  # deletions that wait for a yes
    *_texts("subject?", "chat?"),  # subject: of the note, for when that is gone and they are erased
    _index("ix_note_files_path", "path"),
    key="folder path",
)

# The lines of a file. An erased memory deletes its lines.
note_lines = _table(
    "note_lines",
    *_texts("folder", "path", "memory_id"),
    *_integers("version"),
    *_flags("done?"),
    *_texts("digest"),
    _references("note_files", folder="folder", path="path"),
    _references("memories", memory_id="id"),
    _index("ix_note_lines_memory", "memory_id"),
    key="folder path memory_id",
    rowid=False,
)


# Recall: vectors, relations, and the revisions that guard caches.

# The vector of a memory, under its home path: its owner, or the chat that owns it. The vector itself
# is a column whose type differs between the databases.
vectors_table = _table(
    "vectors",
    *_texts("home_path", "memory_id", "model"),
    _references("memories", memory_id="id"),
    _index("ix_vectors_memory", "memory_id"),
    # With row numbers: without, SQLite would give each vector a page of its own beside the tree.
    key="home_path memory_id",
)

# Spaces in which every memory has a vector of this model.
embedded_spaces = _table("embedded_spaces", *_texts("model"), *_times("done_at"), key="model")

# A revision for each access path to memories: a person, a chat, an audience. Every change of a
# memory increments those of its paths, so that caches notice that they are stale.
revisions_table = _table(
    "revisions",
    *_texts("access_path"),
    *_times("rev", "cleared_rev"),  # cleared_rev: the revision that last removed a row
    key="access_path",
    rowid=False,
)

# Edges between memories. Edges found by similarity run from the smaller id to the larger.
relations_table = _table(
    "relations",
    *_texts("from_id", "to_id", "relation_type"),
    Column("strength", Float, nullable=False),
    *_flags("found"),  # by similarity, not stated by a person
    *_times("created_at"),
    _references("memories", from_id="id"),
    _references("memories", to_id="id"),
    _index("ix_relations_to", "to_id"),
    key="from_id to_id relation_type",
)

# The turns or memories that a memory was learned from.
derived_from = _table(
    "derived_from",
    *_texts("memory_id", "turn_id"),
    _references("memories", memory_id="id"),
    _references("memories", turn_id="id"),
    _index("ix_derived_from_turn", "turn_id"),
    key="memory_id turn_id",
)

# When the block of a thread was built for an audience. Newer changes are in the delta.
blocks = _table("blocks", *_texts("thread", "audience"), *_times("built_at", "used_at"), key="thread audience")


# Lifecycle: runs of tasks, the clock guard, compared pairs, reflections, erasures and events.

# The last runs of each task in a space. `jobs` holds when a task is due, and its lease.
job_runs = _table(
    "job_runs",
    *_texts("task"),
    *_times("seq", "started_at", "finished_at"),
    *_texts("counts"),  # JSON: what was done, by plain words; never ids or content
    *_texts("problem?"),  # the kind of failure, or why it waits
    key="task seq",
)

# The time of the last sweep. If the clock jumped since the sweep before, also from when to when:
# nothing is purged until an operator accepts the clock. All memories due by `purged_until` were
# purged; one that is due earlier was dated by a wrong clock.
clock_guard = _table("clock_guard", *_times("seen_at", "jump_from?", "jump_to?", "purged_until?"), key="")

# Pairs of memories that were compared recently.
pair_checks = _table(
    "pair_checks",
    *_texts("first_id", "second_id"),  # first_id: the smaller id
    *_integers("similarity"),  # in hundredths
    *_flags("is_same"),
    *_times("checked_at"),
    _references("memories", first_id="id"),
    _references("memories", second_id="id"),
    _index("ix_pair_checks_second", "second_id"),
    _index("ix_pair_checks_checked_at", "checked_at"),
    key="first_id second_id",
)

# When each task last ran for a person.
reflections = _table(
    "reflections",
    *_texts("owner", "task"),  # task: reflect | consolidate | summarise
    *_times("at"),
    *_integers("spent"),  # pairs compared on that day, say
    key="owner task",
)

# Erasures in order, as keyed hashes and counts: enough to repeat them on a restored backup.
erasures_table = _table(
    "erasures",
    *_texts("id", "scope"),  # scope: memory | person | subject | source | space
    *_texts("digests"),  # JSON: keyed hashes of ids or identities
    *_texts("counts"),  # JSON: rows removed, by table
    *_times("erased_at"),
    *_texts("signature"),
    # What files may still hold of it (postgres.py): NULL before they were cleaned, '' for nothing.
    *_texts("remains?"),
    _index("ix_erasures_erased_at", "erased_at"),
    key="id",
)

# Events, for counts over time; without content.
events = _table(
    "events",
    *_texts("id", "owner?", "thread?", "node"),  # node: hotpath | context | episodic | worker
    *_texts("op"),  # classify | search | create | update | merge | link | ttl | delete …
    *_texts("status", "memory_id?", "category?"),  # status: ok | error | skipped
    Column("similarity", Float, nullable=True),
    *_times("at"),
    _references("memories", memory_id="id"),  # what names a memory goes with it
    _index("ix_events_owner", "owner at"),
    _index("ix_events_node", "node at"),
    _index("ix_events_memory", "memory_id"),
    key="id",
)


# Steps of a graph, which LangGraph calls checkpoints. They are not memories: recall does not read
# them.

# `chat` is empty in private. A thread is one conversation; each of its subgraphs has a namespace.
_THREAD_KEY = "person chat thread ns"


def _access_columns() -> list[Column[Any]]:
    """Declare who was present, what the agent may use, and the time.

    Each read tests them on each row, so that no row reveals more than the step it belongs to.
    """
    # The audience is a set in audience_people; the categories a JSON list, NULL for all.
    return [*_texts("audience?", "categories?"), *_times("saved_at")]


def _chat_index(name: str) -> Index:
    return _index(name, "chat person thread audience", where="chat <> ''")


# The state of a graph after a step, without the values of its channels.
graph_steps = _table(
    "graph_steps",
    *_texts(*_THREAD_KEY.split()),
    *_texts("id", "parent?"),  # id: sorts by time, as LangGraph makes them
    *_texts("type", "run?"),  # type: how `data` is written, as its serializer says
    *_access_columns(),
    *_texts("metadata"),  # JSON
    *_texts("versions"),  # JSON: channel → version, which lead to graph_values
    Column("data", LargeBinary, nullable=False),
    _index("ix_graph_steps_run", "run person", where="run IS NOT NULL"),
    _chat_index("ix_graph_steps_chat"),
    key=f"{_THREAD_KEY} id",
)

# The values of channels; steps in which a value did not change share its row.
graph_values = _table(
    "graph_values",
    *_texts(*_THREAD_KEY.split()),
    *_texts("channel", "version", "type"),
    *_access_columns(),
    Column("data", LargeBinary, nullable=False),
    _chat_index("ix_graph_values_chat"),
    key=f"{_THREAD_KEY} channel version",
)

# What tasks wrote after a step and before the next.
graph_writes = _table(
    "graph_writes",
    *_texts(*_THREAD_KEY.split()),
    *_texts("step", "task"),
    *_integers("idx"),
    *_texts("path", "channel", "type"),  # path: of the task, by which its writes are put in order
    *_access_columns(),
    Column("data", LargeBinary, nullable=False),
    _chat_index("ix_graph_writes_chat"),
    key=f"{_THREAD_KEY} step task idx",
)


# Memories, with their versions, people and audiences.

_BROWSE_COLUMNS = "state expires_at category kind visibility sensitivity pinned learned_in"

memories_table = _table(
    "memories",
    *_texts("id", "owner?", "speaker?"),
    *_texts("subjects"),  # JSON list, as given; memory_people holds whom it counts as about
    *_texts("learned_in?", "learned_kind?"),
    *_texts("audience?"),  # the set of listeners, in audience_people
    *_flags("confidential"),  # the chat's flag, kept here so that a read needs no join
    *_texts("kind", "category", "key?", "slot?", "content"),
    *_integers("version"),
    *_texts("visibility", "sensitivity"),
    *_flags("portable"),
    *_texts("withheld_from"),  # JSON list; memory_people holds the same people
    *_flags("has_withheld", "withheld_unknown", "inferred"),
    *_texts("trust"),
    *_integers("importance"),
    Column("confidence", Float, nullable=True),
    *_flags("pinned"),
    *_texts("tags", "source_channel?", "source_chat?", "source_message?"),  # tags: JSON list
    *_texts("thread?", "agent?", "run?", "role?"),
    *_times("created_at", "updated_at", "observed_at?", "expires_at?", "last_accessed_at?"),
    *_integers("access_count"),
    *_texts("state"),
    *_times("purge_at?"),
    *_texts("superseded_by?"),
    *_flags("overridden"),
    # A turn of a conversation, word for word. Only a search for turns finds it: the indexes of
    # listings keep turns and memories apart.
    Column("is_turn", Boolean, nullable=False, server_default=false()),
    *_texts("session?"),
    *_times("seq?"),
    *_texts("name?", "data?"),  # name: what the speaker went by; data: JSON object
    # The revision of its home path at its last change.
    Column("stamp", BigInteger, nullable=False, server_default=text("0")),
    # With the columns of all filters: rare matches are found without reading the rows.
    _index("ix_memories_owner", f"owner is_turn created_at id {_BROWSE_COLUMNS}"),
    # The same for operators, over all owners. Only reads of operators state `version > 0`, which is
    # always true, so that no other read uses the index of a whole space.
    _index(
        "ix_memories_created",
        f"created_at id {_BROWSE_COLUMNS}",
        where="is_turn IS 0 AND version > 0",
        postgresql_where="is_turn IS false AND version > 0",
    ),
    # An owner who is also the speaker finds the memory by the index on owners.
    _index("ix_memories_speaker", "speaker is_turn created_at id", where="owner IS NULL OR owner <> speaker"),
    _index("ix_memories_learned_in", "learned_in is_turn created_at id"),
    _index("ix_memories_audience", "audience is_turn created_at id", where="audience IS NOT NULL"),
    _index("ix_memories_stamp", "owner stamp"),
    _index("ix_memories_shareable", "owner created_at id", where="visibility = 'public_ok'"),
    _index("uq_memories_key", "owner category key", unique=True, where="key IS NOT NULL AND state = 'active'"),
    _index(
        "uq_memories_chat_key",
        "learned_in category key",
        unique=True,
        where="owner IS NULL AND key IS NOT NULL AND state = 'active'",
    ),
    _index("ix_memories_purge_at", "purge_at", where="purge_at IS NOT NULL"),
    # Expired memories and turns, and the few memories that may decay.
    _index("ix_memories_expires_at", "is_turn expires_at id", where="expires_at IS NOT NULL AND state = 'active'"),
    _index("ix_memories_decay", "updated_at id", where="importance < 3 AND state = 'active'"),
    # A person's pinned and important memories, and their number.
    _index(
        "ix_memories_prominent", "owner is_turn pinned importance created_at id expires_at", where="state = 'active'"
    ),
    # The erasure of a memory finds those that it replaced.
    _index("ix_memories_superseded_by", "superseded_by", where="superseded_by IS NOT NULL"),
    key="id",
)

memory_versions = _table(
    "memory_versions",
    *_texts("memory_id"),
    *_integers("version"),
    *_texts("content", "speaker?", "subjects", "audience?"),
    *_texts("visibility"),  # how far this wording might go while it was the current one
    *_texts("sensitivity"),
    *_flags("portable"),
    *_texts("actor"),
    *_times("created_at"),
    _references("memories", memory_id="id"),
    key="memory_id version",
    rowid=False,
)

memory_people = _table(
    "memory_people",
    *_texts("memory_id", "role", "person"),  # role: subject | withheld
    _references("memories", memory_id="id"),
    _index("ix_memory_people_person", "person role memory_id"),
    key="memory_id role person",
    rowid=False,
)

# Sets of listeners, which never change. The memories of a chat share one set until a person joins or
# leaves, so a write in a group of thirty costs one reference and not thirty rows.
audience_people = _table(
    "audience_people",
    *_texts("audience", "person"),
    _index("ix_audience_people_person", "person audience"),
    key="audience person",
)

# Keyed hashes of erased ids, so that no id is used again.
tombstones = _table(
    "tombstones",
    *_texts("digest"),
    *_times("erased_at"),
    *_texts("actor"),  # the operator who did it; empty for the people concerned
    *_flags("scrubbed"),  # whether its bytes are known to be gone from the files
    key="digest",
)

POLICY_TABLES = PolicyTables(memories_table, memory_people, audience_people)
