"""Writing memories: each change with its version, history, words and delta, or none of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import StoreBusy
from tacit.records.memory import ChatKind, HistoryEvent, Memory
from tacit.records.request import Request
from tacit.records.text import text_to_embed
from tacit.store import audiences as listeners
from tacit.store import counters, doors, happening, meanings, noted, partitions, rendered, steps
from tacit.store.audiences import Audiences
from tacit.store.candidates import Edge
from tacit.store.dialect import Dialect
from tacit.store.happening import Happened
from tacit.store.ids import digest, memory_id, new_id
from tacit.store.rendered import Step
from tacit.store.rows import COLUMNS, to_memory, to_row
from tacit.store.tables import memories, memory_people, memory_versions, tombstones, vectors

_M = memories.c
_ROW = select(*COLUMNS).where(_M.space_id == bindparam("space"), _M.id == bindparam("id"))
_ONE = update(memories).where(_M.space_id == bindparam("b_space"), _M.id == bindparam("b_id"))
_BURIED = select(tombstones.c.digest).where(
    tombstones.c.space_id == bindparam("space"), tombstones.c.digest == bindparam("digest")
)
_V = memory_versions.c
_CURRENT_VERSION = update(memory_versions).where(
    _V.space_id == bindparam("b_space"),
    _V.memory_id == bindparam("b_id"),
    _V.version == bindparam("b_version"),
)
_HEARD = COLUMNS.index(_M.heard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """What a new memory of the writer's own is like, from what was at hand."""

    similarity: Mapping[str, float]  # by id; the nearest, each of which stood then
    revision: int  # the revision of the writer's partition at which that was so


class Behind(Exception):
    """Somebody wrote since the revision of what was at hand: look again, and write again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """Texts as vectors, made before the transaction: nobody waits for a model under a lock."""

    model: str = ""
    alike: Alike | None = None
    by_text: Mapping[str, bytes] = field(default_factory=dict)  # float32, little-endian, length 1

    def of_text(self, text: str) -> bytes | None:
        return self.by_text.get(text)

    def of_memory(self, memory: Memory) -> bytes | None:
        return self.by_text.get(text_to_embed(memory.key, memory.content))


NO_VECTORS = Vectors()


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """One write: its transaction, who does it, where, and when."""

    connection: Connection
    dialect: Dialect
    audiences: Audiences
    request: Request
    secret: str  # keys the hashes of erased ids
    has_tombstones: bool  # there are such hashes
    actor: str
    thread: str
    at: datetime
    is_retry: bool = False  # an earlier run of this write failed, maybe because its ids were taken
    why: str = ""  # told with everything that this write adds to a history
    vectors: Vectors = NO_VECTORS  # of the texts that this write may store
    added: list[dict[str, Any]] = field(default_factory=list)  # rows of `memories`
    edges: list[Edge] = field(default_factory=list)  # with which they were added
    issued_ids: set[str] = field(default_factory=set)  # ids that this write has used
    events: list[Happened] = field(default_factory=list)  # to be recorded once it is committed
    changed_notes: dict[str, set[str]] = field(
        default_factory=dict
    )  # notes it changed → superseded there

    @property
    def space(self) -> str:
        return self.request.space


def fresh_id(w: Writing) -> str:
    """Draw an id that no memory has, or had before it was erased. If a row of this second already
    has it, the insert fails and the write runs again: one second has 238,328 ids, so a repeated
    draw comes from all of them."""
    for attempt in range(limits.ID_ATTEMPTS_MAX_COUNT):
        id = new_id() if attempt or w.is_retry else memory_id(w.at)
        if id not in w.issued_ids and not (w.has_tombstones and _buried(w, id)):
            w.issued_ids.add(id)
            return id
    raise StoreBusy("no free id was found; try again")


def _buried(w: Writing, id: str) -> bool:
    params = {"space": w.space, "digest": digest(w.secret, id)}
    return bool(rendered.rows(w.connection, _BURIED, params))


def held(w: Writing, id: str) -> Memory | None:
    """The row a change is about, locked. Only `may_change` says whether it exists for anybody."""
    row = w.connection.execute(w.dialect.lock_memory(_ROW), {"space": w.space, "id": id}).first()
    if row is None:
        return None
    heard = w.audiences.get_people(w.connection, w.space, [row[_HEARD]])
    return to_memory(row, heard[row[_HEARD]])


def add(
    w: Writing, memory: Memory, event: HistoryEvent = HistoryEvent.ADD, *, told: bool = True
) -> None:
    """A new memory with its first version, its people, its words, its history and its delta, if
    that is `told` of it."""
    heard = listeners.ensure(w.connection, w.dialect, w.space, memory.heard_by)
    stamp, shown = _counted(w, memory, heard, told=told)
    row = to_row(memory, heard) | {"stamp": stamp}
    rendered.run(
        w.connection,
        [
            *w.dialect.insert_memory_statements(row, memory.content),
            steps.version(memory, heard, w.actor, w.at),
            *steps.people(memory),
            *_vector(w, memory),
            steps.first_event(memory, event, w.actor, w.at, _detail(w, None)),
            *shown,
            *_related(w, memory, stamp),
        ],
    )
    w.added.append(row)
    happening.did(w, memory, event, w.vectors.alike.similarity if w.vectors.alike else None)


def add_turn(w: Writing, turn: Memory) -> None:
    """What was said, as it was said: without versions or history, and no delta tells of it."""
    heard = listeners.ensure(w.connection, w.dialect, w.space, turn.heard_by)
    through = partitions.doors_of(turn, heard)
    revisions = partitions.bump(w.connection, w.space, through)
    home = partitions.home_of(turn)
    # A chat's turns in the order they were written down, whatever the clock says.
    place = partitions.room(turn.learned_in) if turn.learned_in else home
    row = to_row(turn, heard) | {"stamp": revisions[home], "seq": revisions[place]}
    rendered.run(
        w.connection,
        [
            *w.dialect.insert_memory_statements(row, turn.content),
            *steps.people(turn),
            *_vector(w, turn),
        ],
    )
    happening.recorded(w, turn)


def reword(
    w: Writing,
    memory: Memory,
    detail: dict[str, str] | None = None,
    *,
    same_words: bool = False,
) -> None:
    """Another version: `memory` is the new one, its number already counted up. With the same words
    it means the same."""
    heard = listeners.ensure(w.connection, w.dialect, w.space, memory.heard_by)
    _replace(w, memory, heard)
    w.dialect.reindex_words(w.connection, memory, doors.of_memory(memory, heard))
    if not same_words:
        _drop_vector(w, memory)
    rendered.run(
        w.connection,
        [
            steps.version(memory, heard, w.actor, w.at),
            *([] if same_words else _vector(w, memory)),
            steps.event(memory, HistoryEvent.UPDATE, w.actor, w.at, _detail(w, detail)),
            *_shown(w, memory, "updated"),
        ],
    )
    noted.changed(w, memory)
    happening.did(w, memory, HistoryEvent.UPDATE)


def change(
    w: Writing,
    memory: Memory,
    event: HistoryEvent,
    shown: str | None,
    detail: dict[str, str] | None = None,
) -> None:
    """The same wording with other fields. `shown` is the delta's word for it, if it has one."""
    heard = listeners.ensure(w.connection, w.dialect, w.space, memory.heard_by)
    _replace(w, memory, heard)
    w.dialect.reindex_words(w.connection, memory, doors.of_memory(memory, heard))
    w.connection.execute(
        _CURRENT_VERSION,
        {
            "b_space": w.space,
            "b_id": memory.id,
            "b_version": memory.version,
            "visibility": memory.visibility.value,
            "sensitivity": memory.sensitivity.value,
            "portable": memory.portable,
        },
    )
    noted.changed(w, memory)
    note(w, memory, event, shown, detail)


def note(
    w: Writing,
    memory: Memory,
    event: HistoryEvent,
    shown: str | None,
    detail: dict[str, str] | None = None,
) -> None:
    told = [] if shown is None else _shown(w, memory, shown)
    what = steps.event(memory, event, w.actor, w.at, _detail(w, detail))
    rendered.run(w.connection, [what, *told])
    happening.did(w, memory, event)


def _detail(w: Writing, detail: dict[str, str] | None) -> dict[str, str] | None:
    return {**(detail or {}), "why": w.why} if w.why else detail


def next_revision(w: Writing, thread: str) -> int:
    params = {"space": w.space, "thread": thread, "at": to_micros(w.at)}
    ((rev,),) = rendered.rows(w.connection, steps.NEXT_REVISION, params)
    return int(rev)


def _stamp(w: Writing, memory: Memory, heard: str | None, *, before: bool) -> int:
    """Everything that leads to the memory, or led to it before, has something new behind it."""
    through = partitions.doors_of(memory, heard)
    if before:
        through |= partitions.doors_of_stored(w.connection, w.space, [memory.id])
    return partitions.bump(w.connection, w.space, through)[partitions.home_of(memory)]


def _counted(
    w: Writing, memory: Memory, heard: str | None, *, told: bool
) -> tuple[int, list[Step]]:
    """The stamp of a new memory, and the change that its thread tells, if it is told."""
    threads = _threads(w, memory) if told else []
    if len(threads) != 1:
        stamp = _stamp(w, memory, heard, before=False)
        return stamp, _shown(w, memory, "created") if told else []
    through, (thread,) = partitions.doors_of(memory, heard), threads
    revisions, rev = counters.moved_on(
        w.connection, w.dialect, w.space, through, thread, to_micros(w.at)
    )
    shown = steps.shown(memory, thread, rev, "created", w.at)
    return revisions[partitions.home_of(memory)], [shown]


def _threads(w: Writing, memory: Memory) -> list[str]:
    """Where it happens, and where it came from: both keep a block of it."""
    return sorted({w.thread, memory.thread or w.thread} - {""})


def _shown(w: Writing, memory: Memory, word: str) -> list[Step]:
    threads = _threads(w, memory)
    if word == "updated" and w.request.private and memory.learned_kind is ChatKind.GROUP:
        # What the owner changes in private is no news to the room.
        threads = [thread for thread in threads if thread == w.thread]
    return [steps.shown(memory, thread, next_revision(w, thread), word, w.at) for thread in threads]


def _related(w: Writing, memory: Memory, stamp: int) -> list[Step]:
    """What it is like, if that was at hand."""
    alike = w.vectors.alike
    if alike is None:
        return []
    if alike.revision != stamp - 1:
        raise Behind
    w.edges[:] = [
        Edge(min(memory.id, other), max(memory.id, other), round(strength, 4), found=True)
        for other, strength in alike.similarity.items()
    ]
    return [steps.edges(w.space, w.edges, w.at)] if w.edges else []


def _vector(w: Writing, memory: Memory) -> list[Step]:
    """The vector that was made before this transaction; without one it is made afterwards."""
    vector = w.vectors.of_memory(memory)
    if vector is None:
        return [steps.incomplete(w.space, "")]
    model, home = w.vectors.model, partitions.home_of(memory)
    return [
        steps.incomplete(w.space, model),
        meanings.placing(w.dialect, w.space, home, memory.id, model, vector),
    ]


def _drop_vector(w: Writing, memory: Memory) -> None:
    v = vectors.c
    w.connection.execute(
        delete(vectors).where(
            v.space_id == w.space,
            v.home == partitions.home_of(memory),
            v.memory_id == memory.id,
        )
    )


def _replace(w: Writing, memory: Memory, heard: str | None) -> None:
    values = to_row(memory, heard) | {"stamp": _stamp(w, memory, heard, before=True)}
    del values["space_id"], values["id"], values["created_at"]
    del values["access_count"], values["last_accessed_at"]  # moved by reads alone
    w.connection.execute(_ONE, {"b_space": w.space, "b_id": memory.id, **values})
    p = memory_people.c
    w.connection.execute(
        delete(memory_people).where(p.space_id == w.space, p.memory_id == memory.id)
    )
    rendered.run(w.connection, steps.people(memory))
