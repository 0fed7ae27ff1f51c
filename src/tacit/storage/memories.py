"""Insert, change and lock memories, each with its version, history, events and keys."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, TextClause, and_, bindparam, delete, func, select, text, update

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import StoreBusy
from tacit.identity import ACCOUNT_PREFIX, Identities
from tacit.policy.predicate import ROLE_MENTIONED, ROLE_SUBJECT, ROLE_WITHHELD, sql_literal
from tacit.records import validation
from tacit.records.drafts import Draft
from tacit.records.memory import ChatKind, HistoryEvent, Memory, State
from tacit.records.request import Request
from tacit.records.results import EventNode, EventOperation, EventStatus
from tacit.records.text import text_to_embed
from tacit.storage import memory_reads, statements, vectors
from tacit.storage.chats import read_chat
from tacit.storage.dialect import Dialect
from tacit.storage.memory_reads import (
    MEMORY_COLUMNS,
    AudienceCache,
    MemoryEdge,
    effective_subjects,
    pack_people,
    to_memory,
    to_row,
    unpack_object,
)
from tacit.storage.revisions import (
    access_paths_of,
    acl_tokens_of_memory,
    chat_path,
    home_path_of,
    increment_revisions,
    person_path,
    stored_access_paths,
    update_note_links,
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
from tacit.storage.spaces import keyed_digest, load_identities, new_id, new_memory_id
from tacit.storage.statements import Statement, insert_statement

# The statements that a new memory, a new wording or an event consists of, to be run together.

RELATED_TO = "related_to"
_INSERT_VERSION = insert_statement(memory_versions)
_INSERT_PERSON = insert_statement(memory_people)
_INSERT_EVENT = insert_statement(history_table)
# A revision only grows. It follows the clock: a plain counter would reveal how many hidden writes
# happened between two visible ones.
INCREMENT_THREAD_REVISION = text(
    "INSERT INTO thread_revisions (space_id, thread, rev) VALUES (:space, :thread, :at) "
    "ON CONFLICT (space_id, thread) DO UPDATE SET rev = CASE WHEN thread_revisions.rev < "
    "excluded.rev THEN excluded.rev ELSE thread_revisions.rev + 1 END RETURNING rev"
)
_INSERT_CHANGE = insert_statement(change_log)
_DELETE_EMBEDDED_MARK = text(
    "DELETE FROM embedded_spaces WHERE space_id = :space AND model <> :model"
)


def version_insert(memory: Memory, audience: str | None, actor: str, at: datetime) -> Statement:
    return _INSERT_VERSION, {
        "space_id": memory.space,
        "memory_id": memory.id,
        "version": memory.version,
        "content": memory.content,
        "speaker": memory.speaker,
        "subjects": pack_people(memory.subjects),
        "audience": audience,
        "visibility": memory.visibility.value,
        "sensitivity": memory.sensitivity.value,
        "portable": memory.portable,
        "actor": actor,
        "created_at": to_micros(at),
    }


def people_inserts(memory: Memory) -> list[Statement]:
    about = ROLE_SUBJECT if memory.learned_kind is ChatKind.GROUP else ROLE_MENTIONED
    named = [(about, person) for person in effective_subjects(memory)]
    named += [(ROLE_WITHHELD, person) for person in memory.withheld_from]
    return [
        (
            _INSERT_PERSON,
            {"space_id": memory.space, "memory_id": memory.id, "role": role, "person": person},
        )
        for role, person in sorted(named)
    ]


def embedded_mark_delete(space: str, model: str) -> Statement:
    """Unmark the space as fully embedded for every model except the one that embeds the new text."""
    return _DELETE_EMBEDDED_MARK, {"space": space, "model": model}


_SELECT_LAST_SEQ = select(func.max(history_table.c.seq)).where(
    history_table.c.space_id == bindparam("space"), history_table.c.memory_id == bindparam("id")
)


def history_insert(
    connection: Connection,
    memory: Memory,
    what: HistoryEvent,
    actor: str,
    at: datetime,
    detail: dict[str, str] | None,
) -> Statement:
    """Append an event to the history of a memory, whose row the transaction has locked."""
    key = {"space": memory.space, "id": memory.id}
    ((last,),) = statements.fetch_rows(connection, _SELECT_LAST_SEQ, key)
    return _INSERT_EVENT, {
        **_history_row(memory, what, actor, at, detail),
        "seq": (last or 0) + 1,
    }


def first_history_insert(
    memory: Memory, what: HistoryEvent, actor: str, at: datetime, detail: dict[str, str] | None
) -> Statement:
    """Insert the first history entry of a new memory; its sequence number is 1."""
    return _INSERT_EVENT, {**_history_row(memory, what, actor, at, detail), "seq": 1}


def _history_row(
    memory: Memory, what: HistoryEvent, actor: str, at: datetime, detail: dict[str, str] | None
) -> dict[str, Any]:
    return {
        "space_id": memory.space,
        "memory_id": memory.id,
        "event": what.value,
        "version": memory.version,
        "actor": actor,
        "detail": json.dumps(detail, ensure_ascii=False, sort_keys=True) if detail else "{}",
        "at": to_micros(at),
        "owner": memory.owner,
    }


@lru_cache(maxsize=32)
def _edge_insert(count: int) -> TextClause:
    rows = ", ".join(
        f"(:space, :from{n}, :to{n}, '{RELATED_TO}', :strength{n}, :found, :at)"
        for n in range(count)
    )
    return text(
        "INSERT INTO relations "  # noqa: S608
        f"(space_id, from_id, to_id, relation_type, strength, found, created_at) VALUES {rows}"
    )


def edge_inserts(space: str, found: Sequence[MemoryEdge], at: datetime) -> Statement:
    """Insert the relations of a new memory to similar ones; it has none yet, so none can clash."""
    params: dict[str, Any] = {"space": space, "found": True, "at": to_micros(at)}
    for n, edge in enumerate(found):
        params[f"from{n}"], params[f"to{n}"] = edge.from_id, edge.to_id
        params[f"strength{n}"] = edge.strength
    return _edge_insert(len(found)), params


def change_log_insert(memory: Memory, thread: str, rev: int, word: str, at: datetime) -> Statement:
    """The delta of a thread tells of it under this revision."""
    return _INSERT_CHANGE, {
        "space_id": memory.space,
        "thread": thread,
        "rev": rev,
        "memory_id": memory.id,
        "event": word,
        "at": to_micros(at),
    }


def increment_with_thread(
    connection: Connection, space: str, paths: Collection[str], thread: str, at: int
) -> tuple[dict[str, int], int]:
    """Increment the revisions of these access paths and of a thread; return the new ones.

    The paths come first and in sorted order, so that two writers never deadlock.
    """
    revisions = increment_revisions(connection, space, paths)
    params = {"space": space, "thread": thread, "at": at}
    ((rev,),) = statements.fetch_rows(connection, INCREMENT_THREAD_REVISION, params)
    return revisions, int(rev)


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


def emit_memory_event(
    tx: Transaction, memory: Memory, event: HistoryEvent, near: Mapping[str, float] | None = None
) -> None:
    """Emit an event of a memory; `near` maps the ids of similar memories to their similarity."""
    best = max(near.values()) if near else None
    node = EventNode.WORKER if tx.actor == SYSTEM_ACTOR else EventNode.HOTPATH
    tx.events.append(_event_of(memory, node, _OPERATIONS[event], best))


def emit_turn_event(tx: Transaction, turn: Memory) -> None:
    tx.events.append(_event_of(turn, EventNode.EPISODIC, EventOperation.CREATE))


def emit_erase_events(tx: Transaction, ids: Sequence[str]) -> None:
    node = EventNode.WORKER if tx.actor == SYSTEM_ACTOR else EventNode.HOTPATH
    tx.events.extend(EventRecord(node, EventOperation.ERASE, memory_id=id) for id in ids)


def emit_classification(tx: Transaction, category: str | None) -> None:
    tx.events.append(EventRecord(EventNode.HOTPATH, EventOperation.CLASSIFY, category=category))


def emit_skipped_classification(tx: Transaction) -> None:
    """Emit a skipped classification for a turn in which nothing was classified."""
    if not any(one.op is EventOperation.CLASSIFY for one in tx.events):
        tx.events.append(
            EventRecord(EventNode.HOTPATH, EventOperation.CLASSIFY, EventStatus.SKIPPED)
        )


def set_event_similarity(tx: Transaction, id: str, near: Mapping[str, float]) -> None:
    """What a memory that this write made or changed is like, found before it was written."""
    best = max((likeness for other, likeness in near.items() if other != id), default=None)
    if best is None:
        return
    for place, one in enumerate(tx.events):
        if one.memory_id == id and one.op in (EventOperation.CREATE, EventOperation.UPDATE):
            tx.events[place] = one._replace(likeness=best)


def _event_of(
    memory: Memory, node: EventNode, op: EventOperation, likeness: float | None = None
) -> EventRecord:
    return EventRecord(
        node, op, EventStatus.OK, memory.id, memory.owner, memory.thread, memory.category, likeness
    )


# Writing memories: each change with its version, history, words and delta, or none of it.

_M = memories_table.c
_SELECT_MEMORY = select(*MEMORY_COLUMNS).where(
    _M.space_id == bindparam("space"), _M.id == bindparam("id")
)
_UPDATE_MEMORY = update(memories_table).where(
    _M.space_id == bindparam("b_space"), _M.id == bindparam("b_id")
)
_SELECT_TOMBSTONE = select(tombstones.c.digest).where(
    tombstones.c.space_id == bindparam("space"), tombstones.c.digest == bindparam("digest")
)
_V = memory_versions.c
_UPDATE_CURRENT_VERSION = update(memory_versions).where(
    _V.space_id == bindparam("b_space"),
    _V.memory_id == bindparam("b_id"),
    _V.version == bindparam("b_version"),
)
_AUDIENCE = MEMORY_COLUMNS.index(_M.audience)


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
    edges: list[MemoryEdge] = field(
        default_factory=list
    )  # relations inserted with the rows of `added`
    issued_ids: set[str] = field(default_factory=set)  # ids that this write has used
    events: list[EventRecord] = field(default_factory=list)  # to be recorded once it is committed
    changed_notes: dict[str, set[str]] = field(
        default_factory=dict
    )  # notes it changed → superseded there

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
    return bool(statements.fetch_rows(tx.connection, _SELECT_TOMBSTONE, params))


def get_for_update(tx: Transaction, id: str) -> Memory | None:
    """Lock and return a memory. The caller must ask `may_change` before revealing that it exists."""
    row = tx.connection.execute(
        tx.dialect.lock_memory(_SELECT_MEMORY), {"space": tx.space, "id": id}
    ).first()
    if row is None:
        return None
    members = tx.audiences.get_people(tx.connection, tx.space, [row[_AUDIENCE]])
    return to_memory(row, members[row[_AUDIENCE]])


def lock_memories(tx: Transaction, ids: Iterable[str]) -> Iterator[Memory]:
    """Lock and yield those of these memories that exist, each when the caller comes to it."""
    return (memory for id in ids if (memory := get_for_update(tx, id)) is not None)


def insert_memory(
    tx: Transaction,
    memory: Memory,
    event: HistoryEvent = HistoryEvent.ADD,
    *,
    in_delta: bool = True,
) -> None:
    """Insert a memory with its first version, people, search words, vector and history.

    With `in_delta` the change log of its thread gets an entry too, which `delta` reports.
    """
    audience = memory_reads.ensure_audience(tx.connection, tx.dialect, tx.space, memory.heard_by)
    stamp, delta = _increment_counters(tx, memory, audience, in_delta=in_delta)
    row = to_row(memory, audience) | {"stamp": stamp}
    statements.run_statements(
        tx.connection,
        [
            *tx.dialect.insert_memory_statements(row, memory.content),
            version_insert(memory, audience, tx.actor, tx.at),
            *people_inserts(memory),
            *_vector_statements(tx, memory),
            first_history_insert(memory, event, tx.actor, tx.at, _event_detail(tx, None)),
            *delta,
            *_similarity_inserts(tx, memory, stamp),
        ],
    )
    tx.added.append(row)
    emit_memory_event(tx, memory, event, tx.vectors.alike.similarity if tx.vectors.alike else None)


def insert_turn(tx: Transaction, turn: Memory) -> None:
    """Insert a turn word for word: it has no versions or history, and no delta reports it."""
    audience = memory_reads.ensure_audience(tx.connection, tx.dialect, tx.space, turn.heard_by)
    through = access_paths_of(turn, audience)
    revisions = increment_revisions(tx.connection, tx.space, through)
    home = home_path_of(turn)
    # `seq` orders the turns of a chat by insertion, independent of the clock.
    place = chat_path(turn.learned_in) if turn.learned_in else home
    row = to_row(turn, audience) | {"stamp": revisions[home], "seq": revisions[place]}
    statements.run_statements(
        tx.connection,
        [
            *tx.dialect.insert_memory_statements(row, turn.content),
            *people_inserts(turn),
            *_vector_statements(tx, turn),
        ],
    )
    emit_turn_event(tx, turn)


def update_content(
    tx: Transaction,
    memory: Memory,
    detail: dict[str, str] | None = None,
    *,
    same_words: bool = False,
) -> None:
    """Store a new version: `memory` has the new content and an incremented version number.

    With `same_words` the stored vector is kept.
    """
    audience = memory_reads.ensure_audience(tx.connection, tx.dialect, tx.space, memory.heard_by)
    _replace_row(tx, memory, audience)
    tx.dialect.reindex_words(tx.connection, memory, acl_tokens_of_memory(memory, audience))
    if not same_words:
        _delete_vector(tx, memory)
    statements.run_statements(
        tx.connection,
        [
            version_insert(memory, audience, tx.actor, tx.at),
            *([] if same_words else _vector_statements(tx, memory)),
            history_insert(
                tx.connection,
                memory,
                HistoryEvent.UPDATE,
                tx.actor,
                tx.at,
                _event_detail(tx, detail),
            ),
            *_change_log_inserts(tx, memory, "updated"),
        ],
    )
    update_note_links(tx, memory)
    emit_memory_event(tx, memory, HistoryEvent.UPDATE)


def update_fields(
    tx: Transaction,
    memory: Memory,
    event: HistoryEvent,
    shown: str | None,
    detail: dict[str, str] | None = None,
) -> None:
    """Change fields of a memory but not its content. `shown` is the verb of the delta entry, if any."""
    audience = memory_reads.ensure_audience(tx.connection, tx.dialect, tx.space, memory.heard_by)
    _replace_row(tx, memory, audience)
    tx.dialect.reindex_words(tx.connection, memory, acl_tokens_of_memory(memory, audience))
    tx.connection.execute(
        _UPDATE_CURRENT_VERSION,
        {
            "b_space": tx.space,
            "b_id": memory.id,
            "b_version": memory.version,
            "visibility": memory.visibility.value,
            "sensitivity": memory.sensitivity.value,
            "portable": memory.portable,
        },
    )
    update_note_links(tx, memory)
    record_event(tx, memory, event, shown, detail)


def record_event(
    tx: Transaction,
    memory: Memory,
    event: HistoryEvent,
    shown: str | None,
    detail: dict[str, str] | None = None,
) -> None:
    delta = [] if shown is None else _change_log_inserts(tx, memory, shown)
    what = history_insert(tx.connection, memory, event, tx.actor, tx.at, _event_detail(tx, detail))
    statements.run_statements(tx.connection, [what, *delta])
    emit_memory_event(tx, memory, event)


def _event_detail(tx: Transaction, detail: dict[str, str] | None) -> dict[str, str] | None:
    return {**(detail or {}), "why": tx.why} if tx.why else detail


def increment_thread_revision(tx: Transaction, thread: str) -> int:
    params = {"space": tx.space, "thread": thread, "at": to_micros(tx.at)}
    ((rev,),) = statements.fetch_rows(tx.connection, INCREMENT_THREAD_REVISION, params)
    return int(rev)


def _increment_stamp(tx: Transaction, memory: Memory, audience: str | None, *, before: bool) -> int:
    """Increment the revision of every access path of the memory, so that caches over them expire.

    With `before`, also those of the row as it is stored now.
    """
    through = access_paths_of(memory, audience)
    if before:
        through |= stored_access_paths(tx.connection, tx.space, [memory.id])
    return increment_revisions(tx.connection, tx.space, through)[home_path_of(memory)]


def _increment_counters(
    tx: Transaction, memory: Memory, audience: str | None, *, in_delta: bool
) -> tuple[int, list[Statement]]:
    """Return the stamp of a new memory and the inserts of its delta entries."""
    threads = _threads_of(tx, memory) if in_delta else []
    if len(threads) != 1:
        stamp = _increment_stamp(tx, memory, audience, before=False)
        return stamp, _change_log_inserts(tx, memory, "created") if in_delta else []
    through, (thread,) = access_paths_of(memory, audience), threads
    revisions, rev = increment_with_thread(
        tx.connection, tx.space, through, thread, to_micros(tx.at)
    )
    entry = change_log_insert(memory, thread, rev, "created", tx.at)
    return revisions[home_path_of(memory)], [entry]


def _threads_of(tx: Transaction, memory: Memory) -> list[str]:
    """Return the thread of this write and that of the memory: the blocks of both may contain it."""
    return sorted({tx.thread, memory.thread or tx.thread} - {""})


def _change_log_inserts(tx: Transaction, memory: Memory, word: str) -> list[Statement]:
    threads = _threads_of(tx, memory)
    if word == "updated" and tx.request.private and memory.learned_kind is ChatKind.GROUP:
        # A change that the owner makes in private is not reported to the group.
        threads = [thread for thread in threads if thread == tx.thread]
    return [
        change_log_insert(memory, thread, increment_thread_revision(tx, thread), word, tx.at)
        for thread in threads
    ]


def _similarity_inserts(tx: Transaction, memory: Memory, stamp: int) -> list[Statement]:
    """Insert relations to similar memories, if the cache had them."""
    alike = tx.vectors.alike
    if alike is None:
        return []
    if alike.revision != stamp - 1:
        raise StaleRevision
    tx.edges[:] = [
        MemoryEdge(min(memory.id, other), max(memory.id, other), round(strength, 4), found=True)
        for other, strength in alike.similarity.items()
    ]
    return [edge_inserts(tx.space, tx.edges, tx.at)] if tx.edges else []


def _vector_statements(tx: Transaction, memory: Memory) -> list[Statement]:
    """The vector that was made before this transaction; without one it is made afterwards."""
    vector = tx.vectors.of_memory(memory)
    if vector is None:
        return [embedded_mark_delete(tx.space, "")]
    model, home = tx.vectors.model, home_path_of(memory)
    return [
        embedded_mark_delete(tx.space, model),
        vectors.upsert_vector(tx.dialect, tx.space, home, memory.id, model, vector),
    ]


def _delete_vector(tx: Transaction, memory: Memory) -> None:
    v = vectors_table.c
    tx.connection.execute(
        delete(vectors_table).where(
            v.space_id == tx.space,
            v.home_path == home_path_of(memory),
            v.memory_id == memory.id,
        )
    )


def _replace_row(tx: Transaction, memory: Memory, audience: str | None) -> None:
    values = to_row(memory, audience) | {
        "stamp": _increment_stamp(tx, memory, audience, before=True)
    }
    del values["space_id"], values["id"], values["created_at"]
    del values["access_count"], values["last_accessed_at"]  # moved by reads alone
    tx.connection.execute(_UPDATE_MEMORY, {"b_space": tx.space, "b_id": memory.id, **values})
    p = memory_people.c
    tx.connection.execute(
        delete(memory_people).where(p.space_id == tx.space, p.memory_id == memory.id)
    )
    statements.run_statements(tx.connection, people_inserts(memory))


# Keys: one active value for each (owner or room, category, key).

_HAS_KEY = (
    _M.space_id == bindparam("space"),
    _M.category == bindparam("category"),
    _M.key == bindparam("key"),
    _M.key.is_not(None),
)
_IS_ACTIVE = _M.state == sql_literal(State.ACTIVE)
_SELECT_OWNERS_VALUES = select(_M.id, _M.owner, _M.overridden).where(
    *_HAS_KEY, _M.owner.in_(bindparam("owners", expanding=True))
)
_SELECT_CHAT_VALUES = select(_M.id, _M.owner, _M.overridden).where(
    *_HAS_KEY, _M.owner.is_(None), _M.learned_in.in_(bindparam("rooms", expanding=True))
)


def list_key_holders(tx: Transaction, category: str, key: str, *, for_room: bool) -> list[Any]:
    """The active values of a key, of all the writer's identities or of the room."""
    params: dict[str, Any] = {"space": tx.space, "category": category, "key": key}
    if for_room:
        params["rooms"] = sorted(tx.request.chat_ids)
        return list(tx.connection.execute(_SELECT_CHAT_VALUES.where(_IS_ACTIVE), params))
    params["owners"] = sorted(tx.request.own_identities)
    return list(tx.connection.execute(_SELECT_OWNERS_VALUES.where(_IS_ACTIVE), params))


def is_key_taken(tx: Transaction, memory: Memory) -> bool:
    """Whether another memory holds this one's key by now."""
    if memory.key is None:
        return False
    params: dict[str, Any] = {"space": tx.space, "category": memory.category, "key": memory.key}
    if memory.owner is None:
        rooms = sorted(read_chat(tx.connection, tx.space, memory.learned_in or "").chat_ids)
        found = tx.connection.execute(
            _SELECT_CHAT_VALUES.where(_IS_ACTIVE), params | {"rooms": rooms}
        )
    else:
        params["owners"] = sorted(
            load_identities(tx.connection, tx.space, [memory.owner]).current_identities(
                memory.owner
            )
        )
        found = tx.connection.execute(_SELECT_OWNERS_VALUES.where(_IS_ACTIVE), params)
    return any(row.id != memory.id for row in found)


def list_key_siblings(tx: Transaction, memory: Memory) -> list[str]:
    """Values of the same key that other identities of the owner hold, in any state."""
    if memory.key is None or memory.owner is None:
        return []
    owners = sorted(
        load_identities(tx.connection, tx.space, [memory.owner]).current_identities(memory.owner)
    )
    params = {"space": tx.space, "category": memory.category, "key": memory.key, "owners": owners}
    return [
        row.id
        for row in tx.connection.execute(_SELECT_OWNERS_VALUES, params)
        if row.id != memory.id
    ]


def has_duplicate(tx: Transaction, asked: Draft) -> bool:
    """Whether the writer has a value of this key, or without a key the very same words and
    data."""
    if asked.key is not None and asked.category is not None:
        return bool(list_key_holders(tx, asked.category, asked.key, for_room=False))
    same = select(_M.data).where(
        _M.space_id == tx.space,
        _M.owner.in_(sorted(tx.request.own_identities)),
        _M.content == asked.content,
        _M.state == sql_literal(State.ACTIVE),
    )
    kept = tx.connection.execute(same).scalars()
    return any(
        validation.is_same_json(unpack_object(one) if one else None, asked.data or None)
        for one in kept
    )


# Columns that the disclosure rules rely on, precomputed: `overridden` (another identity of the same
# person has the value of this key that counts) and `withheld_unknown` (a person whom the memory is
# withheld from is unknown). They are updated when a key is written or a person's identities change.

SELECT_KEYED = (
    select(_M.id, _M.owner, _M.category, _M.key, _V.created_at.label("worded_at"), _M.overridden)
    .join(
        memory_versions,
        and_(_V.space_id == _M.space_id, _V.memory_id == _M.id, _V.version == _M.version),
    )
    .where(
        _M.key.is_not(None),
        # A proposal is no value yet.
        _M.state.not_in([State.SUPERSEDED.value, State.PENDING.value]),
    )
)


def update_key_precedence(
    connection: Connection, space: str, owners: Collection[str], category: str, key: str
) -> None:
    """Update which value of a key counts. With one identity there is only one."""
    if len(owners) > 1:
        found = connection.execute(
            SELECT_KEYED.where(
                _M.space_id == space, _M.owner.in_(owners), _M.category == category, _M.key == key
            )
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
        rows = connection.execute(
            SELECT_KEYED.where(_M.space_id == space, _M.owner.in_(person))
        ).all()
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
            connection.execute(
                update(memories_table)
                .where(_M.space_id == space, _M.id == row.id)
                .values(overridden=overridden, stamp=stamp)
            )


def key_precedence(row: Any) -> tuple[bool, int, str]:
    """Return the sort key of a value: by its last wording, so that pinning does not make it newer."""
    return row.owner.startswith(f"{ACCOUNT_PREFIX}:"), row.worded_at, row.id


def _update_withheld_unknown(connection: Connection, space: str, people: Collection[str]) -> None:
    p = memory_people.c
    touched = (
        select(p.memory_id)
        .where(p.space_id == space, p.role == ROLE_WITHHELD, p.person.in_(people))
        .distinct()
    )
    for id in connection.execute(touched).scalars().all():
        named = select(p.person).where(
            p.space_id == space, p.memory_id == id, p.role == ROLE_WITHHELD
        )
        withheld_from = connection.execute(named).scalars().all()
        known = load_identities(connection, space, withheld_from).is_recognizable
        connection.execute(
            update(memories_table)
            .where(_M.space_id == space, _M.id == id)
            .values(withheld_unknown=not all(known(person) for person in withheld_from))
        )
