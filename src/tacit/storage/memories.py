"""Insert, change and lock memories, each with its version, history, events and keys."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, TextClause, and_, bindparam, func, select, text

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import StoreBusy
from tacit.identity import ACCOUNT_PREFIX, Identities
from tacit.policy.rules import ROLE_MENTIONED, ROLE_SUBJECT, ROLE_WITHHELD, sql_literal
from tacit.records import validation
from tacit.records.drafts import Draft
from tacit.records.memory import ChatKind, HistoryEvent, Memory, State
from tacit.records.request import Request
from tacit.records.results import EventNode, EventOperation, EventStatus
from tacit.storage import memory_reads
from tacit.storage.chats import read_chat
from tacit.storage.dialect import Dialect, Statement
from tacit.storage.engine import delete_rows, fetch_rows, insert_statement, lock_rows, run_statements, update_rows
from tacit.storage.memory_reads import (
    MEMORY_COLUMNS,
    AudienceCache,
    MemoryEdge,
    effective_subjects,
    to_row,
    unpack_object,
)
from tacit.storage.schema import (
    change_log,
    history_table,
    memories_table,
    memory_people,
    memory_versions,
    tombstones,
    vectors_table,
)
from tacit.storage.spaces import (
    access_paths_of,
    acl_tokens_of_memory,
    chat_path,
    home_path_of,
    increment_revisions,
    keyed_digest,
    load_identities,
    new_id,
    new_memory_id,
    person_path,
    stored_access_paths,
    update_note_links,
)
from tacit.text import text_to_embed

# The statements that a new memory, a new wording or an event consists of, to be run together.

RELATED_TO = "related_to"
_INSERT_VERSION = insert_statement(memory_versions)
_INSERT_PERSON = insert_statement(memory_people)
_INSERT_EVENT = insert_statement(history_table)
# A revision only grows. It follows the clock: a plain counter would reveal how many hidden writes
# happened between two visible ones.
_INCREMENT_THREAD_REVISION = text(
    "INSERT INTO thread_revisions (space_id, thread, rev) VALUES (:space, :thread, :at) "
    "ON CONFLICT (space_id, thread) DO UPDATE SET rev = CASE WHEN thread_revisions.rev < "
    "excluded.rev THEN excluded.rev ELSE thread_revisions.rev + 1 END RETURNING rev"
)
_INSERT_CHANGE = insert_statement(change_log)
_INSERT_EDGE = text(
    "INSERT INTO relations "  # noqa: S608
    "(space_id, from_id, to_id, relation_type, strength, found, created_at) "
    f"VALUES (:space, :from_id, :to_id, '{RELATED_TO}', :strength, :found, :at) "
    "ON CONFLICT DO NOTHING RETURNING from_id, to_id, strength, found"
)
_DELETE_EMBEDDED_MARK = text("DELETE FROM embedded_spaces WHERE space_id = :space AND model <> :model")
_SELECT_LAST_SEQ = select(func.max(history_table.c.seq)).where(
    history_table.c.space_id == bindparam("space"), history_table.c.memory_id == bindparam("id")
)


def version_insert(memory: Memory, audience: str | None, actor: str, at: datetime) -> Statement:
    row = to_row(memory, audience)
    return _INSERT_VERSION, {
        **{name: row[name] for name in _VERSION_COLUMNS},
        "memory_id": memory.id,
        "actor": actor,
        "created_at": to_micros(at),
    }


_VERSION_COLUMNS = set(memory_versions.c.keys()) & set(memories_table.c.keys()) - {"created_at"}


def people_inserts(memory: Memory) -> list[Statement]:
    about = ROLE_SUBJECT if memory.learned_kind is ChatKind.GROUP else ROLE_MENTIONED
    named = [(about, person) for person in effective_subjects(memory)]
    named += [(ROLE_WITHHELD, person) for person in memory.withheld_from]
    of = {"space_id": memory.space, "memory_id": memory.id}
    return [(_INSERT_PERSON, {**of, "role": role, "person": who}) for role, who in sorted(named)]


def embedded_mark_delete(space: str, model: str) -> Statement:
    """Unmark the space as fully embedded for every model except the one that embeds the new text."""
    return _DELETE_EMBEDDED_MARK, {"space": space, "model": model}


def history_insert(
    memory: Memory, what: HistoryEvent, actor: str, at: datetime, detail: Mapping[str, str] | None = None, seq: int = 1
) -> Statement:
    """Insert an entry into the history of a memory; the first has the number 1."""
    return _INSERT_EVENT, {
        "space_id": memory.space,
        "memory_id": memory.id,
        "seq": seq,
        "event": what.value,
        "version": memory.version,
        "actor": actor,
        "detail": json.dumps(detail, ensure_ascii=False, sort_keys=True) if detail else "{}",
        "at": to_micros(at),
        "owner": memory.owner,
    }


def upsert_vector(dialect: Dialect, space: str, home: str, id: str, model: str, vector: bytes) -> Statement:
    """Store a vector under the home path of its memory; `vector` is float32, little-endian."""
    row = {"space": space, "home": home, "id": id, "model": model}
    return _upsert_vector(dialect), row | {"vector": dialect.encode_vector(vector)}


@lru_cache(maxsize=8)
def _upsert_vector(dialect: Dialect) -> TextClause:
    return text(
        "INSERT INTO vectors (space_id, home_path, memory_id, model, vector) "  # noqa: S608
        f"VALUES (:space, :home, :id, :model, {dialect.vector_in}) "
        "ON CONFLICT (space_id, home_path, memory_id) DO UPDATE SET model = excluded.model, "
        "vector = excluded.vector"
    )


def similarity_edges(id: str, similarity: Mapping[str, float]) -> list[MemoryEdge]:
    """Return an edge to each memory. It has no direction: it runs from the smaller id."""
    return [
        MemoryEdge(min(id, other), max(id, other), round(strength, 4), found=True)
        for other, strength in similarity.items()
    ]


def edge_inserts(space: str, found: Sequence[MemoryEdge], at: datetime) -> list[Statement]:
    """Insert similarity edges, unless a person has stated them. Each returns what it inserted."""
    fixed = {"space": space, "found": True, "at": to_micros(at)}
    return [(_INSERT_EDGE, {**edge._asdict(), **fixed}) for edge in found]


# What a write did, told by the write itself and recorded once it is committed.

SYSTEM_ACTOR = "system"  # the actor of upkeep
_OPERATIONS = {
    HistoryEvent.ADD: EventOperation.CREATE,
    HistoryEvent.UPDATE: EventOperation.UPDATE,
    HistoryEvent.DELETE: EventOperation.DELETE,
    HistoryEvent.MERGE: EventOperation.MERGE,
    HistoryEvent.LINK: EventOperation.LINK,
    HistoryEvent.TTL: EventOperation.TTL,
    HistoryEvent.RESTORE: EventOperation.RESTORE,
    HistoryEvent.SUPERSEDE: EventOperation.UPDATE,
    HistoryEvent.ERASE: EventOperation.ERASE,
    HistoryEvent.CONSENT: EventOperation.UPDATE,
}


class EventRecord(NamedTuple):
    """One event for the counts. An event with a memory id is erased with its memory; an event without
    one names no person either, so it stays."""

    node: EventNode
    op: EventOperation
    status: EventStatus = EventStatus.OK
    memory_id: str | None = None
    owner: str | None = None
    thread: str | None = None  # that of the memory, wherever it was changed
    category: str | None = None
    likeness: float | None = None  # to the nearest other memory, where that is known

    @classmethod
    def of_memory(cls, memory: Any, node: EventNode, op: EventOperation, likeness: float | None = None) -> EventRecord:
        """Build the event of a memory or of its row."""
        of = (memory.id, memory.owner, memory.thread, memory.category)
        return cls(node, op, EventStatus.OK, *of, likeness)


def _node_of(tx: Transaction) -> EventNode:
    return EventNode.WORKER if tx.actor == SYSTEM_ACTOR else EventNode.HOTPATH


def emit_memory_event(
    tx: Transaction, memory: Memory, event: HistoryEvent, near: Mapping[str, float] | None = None
) -> None:
    """Emit an event of a memory; `near` maps the ids of similar memories to their similarity."""
    best = max(near.values()) if near else None
    tx.events.append(EventRecord.of_memory(memory, _node_of(tx), _OPERATIONS[event], best))


def emit_erase_events(tx: Transaction, ids: Sequence[str]) -> None:
    node = _node_of(tx)
    tx.events.extend(EventRecord(node, EventOperation.ERASE, memory_id=id) for id in ids)


def emit_classification(tx: Transaction, category: str | None) -> None:
    tx.events.append(EventRecord(EventNode.HOTPATH, EventOperation.CLASSIFY, category=category))


def emit_skipped_classification(tx: Transaction) -> None:
    """Emit a skipped classification for a turn in which nothing was classified."""
    if not any(one.op is EventOperation.CLASSIFY for one in tx.events):
        tx.events.append(EventRecord(EventNode.HOTPATH, EventOperation.CLASSIFY, EventStatus.SKIPPED))


def set_event_similarity(tx: Transaction, id: str, near: Mapping[str, float]) -> None:
    """Set the similarity of a memory that this write made or changed to the nearest other one."""
    best = max((likeness for other, likeness in near.items() if other != id), default=None)
    for place, one in enumerate(tx.events):
        changed = one.op in (EventOperation.CREATE, EventOperation.UPDATE)
        if best is not None and one.memory_id == id and changed:
            tx.events[place] = one._replace(likeness=best)


# Writing memories: each change with its version, history, words and delta, or none of it.

_M = memories_table.c
_SELECT_MEMORY = select(*MEMORY_COLUMNS).where(_M.space_id == bindparam("space"), _M.id == bindparam("id"))
_SELECT_TOMBSTONE = select(tombstones.c.digest).where(
    tombstones.c.space_id == bindparam("space"), tombstones.c.digest == bindparam("digest")
)
_V = memory_versions.c


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarMemories:
    """The memories most similar to a new one of the writer, found in the process cache."""

    similarity: Mapping[str, float]  # by id; the nearest that were active at `revision`
    revision: int  # of the writer's own memories, when the cache was read


class StaleRevision(Exception):
    """Another transaction wrote for the same person since the cache was read: read and write again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextVectors:
    """Vectors of texts, computed before the transaction so that no lock waits for a model."""

    model: str = ""
    alike: SimilarMemories | None = None
    by_text: Mapping[str, bytes] = field(default_factory=dict)  # float32, little-endian, normalized

    def of_text(self, text: str) -> bytes | None:
        return self.by_text.get(text)

    def of_memory(self, memory: Memory) -> bytes | None:
        return self.by_text.get(text_to_embed(memory.key, memory.content))


NO_VECTORS = TextVectors()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """The context of one write: connection, request, actor, time, and what it has written so far."""

    connection: Connection
    dialect: Dialect
    audiences: AudienceCache
    request: Request
    secret: str  # keys the hashes of erased ids
    has_tombstones: bool  # there are such hashes
    actor: str
    thread: str
    at: datetime
    is_retry: bool = False  # an earlier run of this write failed, maybe because its ids were taken
    why: str = ""  # reason, stored with every history entry of this write
    vectors: TextVectors = NO_VECTORS  # for the texts that this write may store
    added: list[dict[str, Any]] = field(default_factory=list)  # rows of `memories`
    edges: list[MemoryEdge] = field(default_factory=list)  # relations inserted with the rows of `added`
    issued_ids: set[str] = field(default_factory=set)  # ids that this write has used
    events: list[EventRecord] = field(default_factory=list)  # to be recorded once it is committed
    changed_notes: dict[str, set[str]] = field(default_factory=dict)  # notes it changed → superseded there

    @property
    def space(self) -> str:
        return self.request.space


def draw_memory_id(tx: Transaction) -> str:
    """Draw an id that no memory has, or had before it was erased. If a row of this second already
    has it, the insert fails and the write runs again: one second has 238,328 ids, so a repeated
    draw comes from all of them."""
    for attempt in range(limits.ID_ATTEMPTS_MAX_COUNT):
        id = new_id() if attempt or tx.is_retry else new_memory_id(tx.at)
        if id not in tx.issued_ids and not (tx.has_tombstones and _is_erased_id(tx, id)):
            tx.issued_ids.add(id)
            return id
    raise StoreBusy("no free id was found; try again")


def _is_erased_id(tx: Transaction, id: str) -> bool:
    params = {"space": tx.space, "digest": keyed_digest(tx.secret, id)}
    return bool(fetch_rows(tx.connection, _SELECT_TOMBSTONE, params))


def get_for_update(tx: Transaction, id: str) -> Memory | None:
    """Lock and return a memory. The caller must ask `may_change` before revealing that it exists."""
    rows = tx.connection.execute(lock_rows(_SELECT_MEMORY), {"space": tx.space, "id": id}).all()
    return next(iter(tx.audiences.to_memories(tx.connection, tx.space, rows)), None)


def lock_memories(tx: Transaction, ids: Iterable[str]) -> Iterator[Memory]:
    """Lock and yield those of these memories that exist, each when the caller comes to it."""
    return (memory for id in ids if (memory := get_for_update(tx, id)) is not None)


def insert_memory(
    tx: Transaction, memory: Memory, event: HistoryEvent = HistoryEvent.ADD, *, in_delta: bool = True
) -> None:
    """Insert a memory with its first version, people, search words, vector and history.

    With `in_delta` the change log of its thread gets an entry too, which `delta` reports.
    """
    audience = memory_reads.ensure_audience(tx.connection, tx.space, memory.heard_by)
    paths = access_paths_of(memory, audience)
    stamp = increment_revisions(tx.connection, tx.space, paths)[home_path_of(memory)]
    delta = _change_log_inserts(tx, memory, "created") if in_delta else []
    row = to_row(memory, audience) | {"stamp": stamp}
    run_statements(
        tx.connection,
        [
            *tx.dialect.insert_memory_statements(row, memory.content),
            version_insert(memory, audience, tx.actor, tx.at),
            *people_inserts(memory),
            *_vector_statements(tx, memory),
            history_insert(memory, event, tx.actor, tx.at, _event_detail(tx, None)),
            *delta,
            *_similarity_inserts(tx, memory, stamp),
        ],
    )
    tx.added.append(row)
    emit_memory_event(tx, memory, event, tx.vectors.alike.similarity if tx.vectors.alike else None)


def insert_turn(tx: Transaction, turn: Memory) -> None:
    """Insert a turn word for word: it has no versions or history, and no delta reports it."""
    audience = memory_reads.ensure_audience(tx.connection, tx.space, turn.heard_by)
    through = access_paths_of(turn, audience)
    revisions = increment_revisions(tx.connection, tx.space, through)
    home = home_path_of(turn)
    # `seq` orders the turns of a chat by insertion, independent of the clock.
    place = chat_path(turn.learned_in) if turn.learned_in else home
    row = to_row(turn, audience) | {"stamp": revisions[home], "seq": revisions[place]}
    run_statements(
        tx.connection,
        [*tx.dialect.insert_memory_statements(row, turn.content), *people_inserts(turn), *_vector_statements(tx, turn)],
    )
    event = EventRecord.of_memory(turn, EventNode.EPISODIC, EventOperation.CREATE)
    tx.events.append(event)


def update_episode(tx: Transaction, episode: Memory) -> None:
    """Store other fields of an episode under the same words: it has no versions or history."""
    _replace_row(tx, episode)


def update_content(
    tx: Transaction, memory: Memory, detail: dict[str, str] | None = None, *, same_words: bool = False
) -> None:
    """Store a new version: `memory` has the new content and an incremented version number.

    With `same_words` the stored vector is kept.
    """
    audience = _replace_row(tx, memory)
    inserts = [version_insert(memory, audience, tx.actor, tx.at)]
    if not same_words:
        _delete_vector(tx, memory)
        inserts += _vector_statements(tx, memory)
    run_statements(tx.connection, inserts)
    update_note_links(tx, memory)
    record_event(tx, memory, HistoryEvent.UPDATE, "updated", detail)


def update_fields(
    tx: Transaction, memory: Memory, event: HistoryEvent, shown: str | None, detail: dict[str, str] | None = None
) -> None:
    """Change fields of a memory but not its content. `shown` is the verb of the delta entry, if any."""
    _replace_row(tx, memory)
    update_rows(
        tx.connection,
        memory_versions,
        tx.space,
        _V.memory_id == memory.id,
        _V.version == memory.version,
        visibility=memory.visibility.value,
        sensitivity=memory.sensitivity.value,
        portable=memory.portable,
    )
    update_note_links(tx, memory)
    record_event(tx, memory, event, shown, detail)


def record_event(
    tx: Transaction, memory: Memory, event: HistoryEvent, shown: str | None, detail: dict[str, str] | None = None
) -> None:
    delta = [] if shown is None else _change_log_inserts(tx, memory, shown)
    what = _next_history_insert(tx, memory, event, detail)
    run_statements(tx.connection, [what, *delta])
    emit_memory_event(tx, memory, event)


def _next_history_insert(
    tx: Transaction, memory: Memory, event: HistoryEvent, detail: dict[str, str] | None
) -> Statement:
    """Append to the history of a memory, whose row the transaction has locked."""
    key = {"space": memory.space, "id": memory.id}
    ((last,),) = fetch_rows(tx.connection, _SELECT_LAST_SEQ, key)
    detail = _event_detail(tx, detail)
    return history_insert(memory, event, tx.actor, tx.at, detail, (last or 0) + 1)


def _event_detail(tx: Transaction, detail: dict[str, str] | None) -> dict[str, str] | None:
    return {**(detail or {}), "why": tx.why} if tx.why else detail


def increment_thread_revision(tx: Transaction, thread: str) -> int:
    params = {"space": tx.space, "thread": thread, "at": to_micros(tx.at)}
    ((rev,),) = fetch_rows(tx.connection, _INCREMENT_THREAD_REVISION, params)
    return int(rev)


def _threads_of(tx: Transaction, memory: Memory) -> list[str]:
    """Return the thread of this write and that of the memory: the blocks of both may contain it."""
    return sorted({tx.thread, memory.thread or tx.thread} - {""})


def _change_log_inserts(tx: Transaction, memory: Memory, word: str) -> list[Statement]:
    threads = _threads_of(tx, memory)
    if word == "updated" and tx.request.private and memory.learned_kind is ChatKind.GROUP:
        # A change that the owner makes in private is not reported to the group.
        threads = [thread for thread in threads if thread == tx.thread]
    return [
        (
            _INSERT_CHANGE,
            {
                "space_id": memory.space,
                "thread": thread,
                "rev": increment_thread_revision(tx, thread),
                "memory_id": memory.id,
                "event": word,
                "at": to_micros(tx.at),
            },
        )
        for thread in threads
    ]


def _similarity_inserts(tx: Transaction, memory: Memory, stamp: int) -> list[Statement]:
    """Insert relations to similar memories, if the cache had them."""
    alike = tx.vectors.alike
    if alike is None:
        return []
    if alike.revision != stamp - 1:
        raise StaleRevision
    tx.edges[:] = similarity_edges(memory.id, alike.similarity)
    return edge_inserts(tx.space, tx.edges, tx.at)


def _vector_statements(tx: Transaction, memory: Memory) -> list[Statement]:
    """Store the vector that was made before this transaction; without one it is made afterwards."""
    vector = tx.vectors.of_memory(memory)
    if vector is None:
        return [embedded_mark_delete(tx.space, "")]
    model, home = tx.vectors.model, home_path_of(memory)
    return [embedded_mark_delete(tx.space, model), upsert_vector(tx.dialect, tx.space, home, memory.id, model, vector)]


def _delete_vector(tx: Transaction, memory: Memory) -> None:
    v, home = vectors_table.c, home_path_of(memory)
    delete_rows(tx.connection, vectors_table, tx.space, v.home_path == home, v.memory_id == memory.id)


def _replace_row(tx: Transaction, memory: Memory) -> str | None:
    """Replace the row of a memory, its people and words; return the id of its audience.

    The revisions of every access path that it had or has are incremented, so that caches over them
    expire.
    """
    audience = memory_reads.ensure_audience(tx.connection, tx.space, memory.heard_by)
    paths = access_paths_of(memory, audience)
    paths |= stored_access_paths(tx.connection, tx.space, [memory.id])
    revisions = increment_revisions(tx.connection, tx.space, paths)
    values = to_row(memory, audience) | {"stamp": revisions[home_path_of(memory)]}
    for fixed in ("space_id", "id", "created_at", "access_count", "last_accessed_at"):
        del values[fixed]  # the last two are changed by reads alone
    update_rows(tx.connection, memories_table, tx.space, _M.id == memory.id, **values)
    delete_rows(tx.connection, memory_people, tx.space, memory_people.c.memory_id == memory.id)
    run_statements(tx.connection, people_inserts(memory))
    tx.dialect.reindex_words(tx.connection, memory, acl_tokens_of_memory(memory, audience))
    return audience


# Keys: one active value for each (owner or room, category, key).


def _list_key_values(tx: Transaction, category: str | None, key: str | None, *which: ColumnElement[bool]) -> list[Any]:
    found = select(_M.id, _M.owner, _M.overridden).where(
        _M.space_id == tx.space, _M.category == category, _M.key == key, _M.key.is_not(None), *which
    )
    return list(tx.connection.execute(found))


_IS_ACTIVE = _M.state == sql_literal(State.ACTIVE)


def _is_of_owners(owners: Iterable[str]) -> ColumnElement[bool]:
    return _M.owner.in_(sorted(owners))


def _is_of_room(chat_ids: Iterable[str]) -> ColumnElement[bool]:
    return and_(_M.owner.is_(None), _M.learned_in.in_(sorted(chat_ids)))


def _is_of_same_owner(tx: Transaction, owner: str) -> ColumnElement[bool]:
    known = load_identities(tx.connection, tx.space, [owner])
    return _is_of_owners(known.current_identities(owner))


def list_key_holders(tx: Transaction, category: str, key: str, *, for_room: bool) -> list[Any]:
    """List the active values of a key, of all the writer's identities or of the room."""
    request = tx.request
    mine = _is_of_room(request.chat_ids) if for_room else _is_of_owners(request.own_identities)
    return _list_key_values(tx, category, key, mine, _IS_ACTIVE)


def is_key_taken(tx: Transaction, memory: Memory) -> bool:
    """Return whether another memory holds the key of this one by now."""
    if memory.key is None:
        return False
    if memory.owner is None:
        holds = _is_of_room(read_chat(tx.connection, tx.space, memory.learned_in or "").chat_ids)
    else:
        holds = _is_of_same_owner(tx, memory.owner)
    found = _list_key_values(tx, memory.category, memory.key, holds, _IS_ACTIVE)
    return any(row.id != memory.id for row in found)


def list_key_siblings(tx: Transaction, memory: Memory) -> list[str]:
    """List the values of the same key that other identities of the owner hold, in any state."""
    if memory.key is None or memory.owner is None:
        return []
    holds = _is_of_same_owner(tx, memory.owner)
    found = _list_key_values(tx, memory.category, memory.key, holds)
    return [row.id for row in found if row.id != memory.id]


def has_duplicate(tx: Transaction, asked: Draft) -> bool:
    """Whether the writer has a value of this key, or without a key the very same words and
    data."""
    if asked.key is not None and asked.category is not None:
        return bool(list_key_holders(tx, asked.category, asked.key, for_room=False))
    same = select(_M.data).where(
        _M.space_id == tx.space, _is_of_owners(tx.request.own_identities), _M.content == asked.content, _IS_ACTIVE
    )
    kept = tx.connection.execute(same).scalars()
    return any(validation.is_same_json(unpack_object(one) if one else None, asked.data or None) for one in kept)


# Columns that the disclosure rules rely on, precomputed: `overridden` (another identity of the same
# person has the value of this key that counts) and `withheld_unknown` (a person whom the memory is
# withheld from is unknown). They are updated when a key is written or a person's identities change.

SELECT_KEYED = (
    select(_M.id, _M.owner, _M.category, _M.key, _V.created_at.label("worded_at"), _M.overridden)
    .join(memory_versions, and_(_V.space_id == _M.space_id, _V.memory_id == _M.id, _V.version == _M.version))
    .where(
        _M.key.is_not(None),
        # A proposal is no value yet.
        _M.state.not_in([State.SUPERSEDED.value, State.PENDING.value]),
    )
)


def update_key_precedence(connection: Connection, space: str, owners: Collection[str], category: str, key: str) -> None:
    """Update which value of a key counts. With one identity there is only one."""
    if len(owners) > 1:
        found = connection.execute(
            SELECT_KEYED.where(_M.space_id == space, _M.owner.in_(owners), _M.category == category, _M.key == key)
        )
        _mark_overridden(connection, space, found.all())


def update_precedence_of_people(
    connection: Connection, space: str, identities: Identities, touched: Iterable[str]
) -> None:
    """Update the precomputed columns of people whose identities changed."""
    seen: set[str] = set()
    for identity in sorted(touched):
        if identity in seen:
            continue
        person = identities.current_identities(identity)
        seen |= person
        rows = connection.execute(SELECT_KEYED.where(_M.space_id == space, _M.owner.in_(person))).all()
        slots: dict[tuple[str, str], list[Any]] = {}
        for row in rows:
            slots.setdefault((row.category, row.key), []).append(row)
        for slot in slots.values():
            _mark_overridden(connection, space, slot)
    _update_withheld_unknown(connection, space, seen)


def _mark_overridden(connection: Connection, space: str, rows: Collection[Any]) -> None:
    """Mark all but one value of a key: the account's value wins, else the newest, regardless of who
    may see it. A forgotten value still overrides older ones: forgetting does not restore them."""
    if not rows:
        return
    winner = max(rows, key=key_precedence)
    for row in rows:
        overridden = row.owner != winner.owner
        if row.overridden != overridden:
            through = stored_access_paths(connection, space, [row.id])
            stamp = increment_revisions(connection, space, through)[person_path(row.owner)]
            values = {"overridden": overridden, "stamp": stamp}
            update_rows(connection, memories_table, space, _M.id == row.id, **values)


def key_precedence(row: Any) -> tuple[bool, int, str]:
    """Return the sort key of a value: by its last wording, so that pinning does not make it newer."""
    return row.owner.startswith(f"{ACCOUNT_PREFIX}:"), row.worded_at, row.id


def _update_withheld_unknown(connection: Connection, space: str, people: Collection[str]) -> None:
    p = memory_people.c
    touched = select(p.memory_id).where(p.space_id == space, p.role == ROLE_WITHHELD, p.person.in_(people)).distinct()
    for id in connection.execute(touched).scalars().all():
        named = select(p.person).where(p.space_id == space, p.memory_id == id, p.role == ROLE_WITHHELD)
        withheld_from = connection.execute(named).scalars().all()
        known = load_identities(connection, space, withheld_from).is_recognizable
        unknown = not all(known(person) for person in withheld_from)
        update_rows(connection, memories_table, space, _M.id == id, withheld_unknown=unknown)
