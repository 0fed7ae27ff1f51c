"""Read and record what happened to memories: activity, deltas, blocks, events and sessions."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import count
from threading import Lock, Thread
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    text,
    tuple_,
    union_all,
)

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import DisclosureBreach, StoreError
from tacit.policy.predicate import (
    RequestShape,
    build_branches,
    predicate_parameters,
    shape_of_request,
    sql_literal,
)
from tacit.policy.rules import decide, may_enter_prompt
from tacit.records.memory import ChatKind, HistoryEvent, Kind, Memory, State
from tacit.records.request import Request
from tacit.records.results import (
    COUNT_NAMES,
    ActivityEntry,
    Change,
    Delta,
    EventCounts,
    EventNode,
    EventOperation,
    EventStatus,
)
from tacit.storage import memories, statements
from tacit.storage.dialect import Dialect
from tacit.storage.engine import Database
from tacit.storage.memories import EventRecord, Transaction
from tacit.storage.memory_reads import (
    MEMORY_COLUMNS,
    AudienceCache,
    any_branch_condition,
    sees_all_condition,
    to_memory,
)
from tacit.storage.schema import (
    POLICY_TABLES,
    blocks,
    change_log,
    events,
    history_table,
    memories_table,
    memory_versions,
    spaces_table,
)

# Activity of memories, newest first and by day: of one person, or of a whole space. An index
# returns the newest entries first, so a page costs by its size and not by the number of memories.

DAY_MICROS = 86_400_000_000
ActivityBounds = tuple[bool, bool, bool]  # of a range: since, after, categories
_H = history_table.c
_MEMORIES = memories_table.c
_V = memory_versions.c
_ANY_OWNER: ColumnElement[bool] = _H.event != literal_column("''")  # as in ix_history_at
# Fields of the detail that give the reason, most specific first.
_REASON_FIELDS = ("why", "aged", "fields", "relation")


class ActivityPosition(NamedTuple):
    """Identify the position of one entry in the order of all entries."""

    at: int
    memory_id: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityRange:
    """Select a range of activity. None means no bound."""

    since: int | None = None
    after: ActivityPosition | None = None  # the last entry shown: older ones follow
    categories: tuple[str, ...] | None = None

    @property
    def params(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.since is not None:
            found["h_since"] = self.since
        if self.after is not None:
            found["h_at"], found["h_memory"], found["h_seq"] = self.after
        if self.categories is not None:
            found["h_categories"] = list(self.categories)
        return found

    @property
    def bounds(self) -> ActivityBounds:
        return self.since is not None, self.after is not None, self.categories is not None


PositionedActivity = tuple[ActivityPosition, ActivityEntry]


def list_own_activity(
    connection: Connection, request: Request, wanted: ActivityRange, most: int
) -> list[PositionedActivity]:
    """List activity of the requester's own memories, in any state; empty outside private chats."""
    asked = request.for_management()
    shape = shape_of_request(asked)
    if shape is None:
        return []
    mine = sorted(asked.own_identities)
    owners = {f"h_owner{n}": one for n, one in enumerate(mine)}
    params = predicate_parameters(asked) | wanted.params | owners | {"h_most": most}
    return _read_activity(connection, _select_own_activity(shape, len(mine), wanted.bounds), params)


def list_space_activity(
    connection: Connection, space: str, wanted: ActivityRange, most: int
) -> list[PositionedActivity]:
    """List activity of all owners, for an operator."""
    params = {"p_space": space, "h_most": most} | wanted.params
    return _read_activity(connection, _select_space_activity(wanted.bounds), params)


def count_own_days(
    connection: Connection, request: Request, since: int, categories: tuple[str, ...] | None
) -> dict[int, dict[str, int]]:
    """Count events of the requester's own memories by day and event.

    The key of a day is its first microsecond.
    """
    asked = request.for_management()
    shape = shape_of_request(asked)
    if shape is None:
        return {}
    wanted = ActivityRange(since=since, categories=categories)
    statement = _select_days(shape, wanted.bounds)
    return _read_days(connection, statement, predicate_parameters(asked) | wanted.params)


def count_space_days(connection: Connection, space: str, since: int) -> dict[int, dict[str, int]]:
    wanted = ActivityRange(since=since)
    return _read_days(
        connection, _select_days(None, wanted.bounds), {"p_space": space} | wanted.params
    )


@lru_cache(maxsize=64)
def _select_own_activity(shape: RequestShape, count: int, bounds: ActivityBounds) -> Select[Any]:
    """Select activity with one branch per identity: each branch reads its index in order."""
    own = build_branches(shape, POLICY_TABLES)[0].condition
    parts = []
    for n in range(count):
        owner = _H.owner == bindparam(f"h_owner{n}")
        parts.append(_newest_entries(bounds, owner, _is_own_memory(own, bounds)))
    return _with_content(parts)


@lru_cache(maxsize=8)
def _select_space_activity(bounds: ActivityBounds) -> Select[Any]:
    return _with_content([_newest_entries(bounds, _ANY_OWNER)])


def _newest_entries(bounds: ActivityBounds, *which: ColumnElement[bool]) -> Select[Any]:
    since, after, _ = bounds
    found = select(history_table).where(_H.space_id == bindparam("p_space"), *which)
    if since:
        found = found.where(_H.at >= bindparam("h_since"))
    if after:
        place = tuple_(bindparam("h_at"), bindparam("h_memory"), bindparam("h_seq"))
        found = found.where(tuple_(_H.at, _H.memory_id, _H.seq) < place)
    found = found.order_by(_H.at.desc(), _H.memory_id.desc(), _H.seq.desc())
    return select(found.limit(bindparam("h_most")).subquery())


def _is_own_memory(own: ColumnElement[bool], bounds: ActivityBounds) -> ColumnElement[bool]:
    """Test whether an entry is of an own memory, with a scalar subquery.

    For EXISTS, a planner that uses averages builds a join that starts with all memories of the
    owner.
    """
    terms = [_MEMORIES.id == _H.memory_id, own]
    if bounds[2]:
        terms.append(_MEMORIES.category.in_(bindparam("h_categories", expanding=True)))
    return (
        select(_MEMORIES.id).where(*terms).correlate(history_table).scalar_subquery().is_not(None)
    )


def _with_content(parts: list[Select[Any]]) -> Select[Any]:
    chosen = (union_all(*parts) if len(parts) > 1 else parts[0]).subquery()
    c = chosen.c
    return (
        select(
            c.at,
            c.memory_id,
            c.seq,
            c.event,
            c.actor,
            c.detail,
            c.owner,
            _MEMORIES.category,
            _V.content,
        )
        .select_from(chosen)
        .join(memories_table, and_(_MEMORIES.space_id == c.space_id, _MEMORIES.id == c.memory_id))
        .outerjoin(
            memory_versions,
            and_(_V.space_id == c.space_id, _V.memory_id == c.memory_id, _V.version == c.version),
        )
        .order_by(c.at.desc(), c.memory_id.desc(), c.seq.desc())
        .limit(bindparam("h_most"))
    )


def _read_activity(
    connection: Connection, statement: Select[Any], params: dict[str, Any]
) -> list[PositionedActivity]:
    found = []
    for at, id, seq, event, actor, detail, owner, category, content in statements.fetch_rows(
        connection, statement, params
    ):
        told = json.loads(detail)
        happened = ActivityEntry(
            at=from_micros(at),
            event=HistoryEvent(event),
            memory_id=id,
            category=category,
            content=content,
            actor=actor,
            reason=next((told[name] for name in _REASON_FIELDS if told.get(name)), None),
            owner=owner,
        )
        found.append((ActivityPosition(at, id, seq), happened))
    return found


@lru_cache(maxsize=16)
def _select_days(shape: RequestShape | None, bounds: ActivityBounds) -> Select[Any]:
    day = (_H.at - _H.at % literal_column(str(DAY_MICROS))).label("day")
    found = select(day, _H.event, func.count()).where(
        _H.space_id == bindparam("p_space"), _H.at >= bindparam("h_since")
    )
    if shape is None:
        found = found.where(_ANY_OWNER)
    else:
        found = found.where(_H.owner.in_(bindparam("p_me", expanding=True)))
        if bounds[2]:
            found = found.where(
                _is_own_memory(build_branches(shape, POLICY_TABLES)[0].condition, bounds)
            )
    return found.group_by(day, _H.event)


def _read_days(
    connection: Connection, statement: Select[Any], params: dict[str, Any]
) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for day, event, times in statements.fetch_rows(connection, statement, params):
        found.setdefault(day, {})[COUNT_NAMES[HistoryEvent(event)]] = times
    return found


# Deltas: the changes in a thread that the requester may see.

_C = change_log.c
_MEMORY = memories_table.c
_VERSION = memory_versions.c
_AUDIENCE = MEMORY_COLUMNS.index(_MEMORY.audience)
_PAGE_COUNT = 500
_PAGES_MAX_COUNT = 20
_UPDATED = "updated"
_REMOVALS = ("deleted", "soft_deleted", "expired", "superseded")


@lru_cache(maxsize=256)
def _select_changes(shape: RequestShape, newest: bool) -> Select[Any]:
    """Select changes of visible memories, and removals of memories that were visible before."""
    removal = _C.event.in_([sql_literal(event) for event in _REMOVALS])
    told = or_(
        any_branch_condition(shape),
        and_(removal, any_branch_condition(replace(shape, inactive=True))),
    )
    seen = or_(_C.event != sql_literal(_UPDATED), _is_rewording(), sees_all_condition(shape))
    return (
        select(_C.rev, _C.event, _C.at, *MEMORY_COLUMNS)
        .join(memories_table, (_MEMORY.space_id == _C.space_id) & (_MEMORY.id == _C.memory_id))
        .where(
            _C.space_id == bindparam("p_space"),
            _C.thread == bindparam("thread"),
            _C.rev > bindparam("since"),
            _C.rev < bindparam("before"),
            told,
            seen,
        )
        .order_by(_C.rev.desc() if newest else _C.rev)
        .limit(_PAGE_COUNT)
    )


def _is_rewording() -> ColumnElement[bool]:
    """Test whether the change altered the content. Only the owner sees changes of other fields."""
    return exists().where(
        _VERSION.space_id == _C.space_id,
        _VERSION.memory_id == _C.memory_id,
        _VERSION.created_at == _C.at,
    )


def read_delta(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    thread: str,
    since: int,
    categories: frozenset[str] | None = None,
    *,
    newest: bool = False,
) -> Delta:
    """Return the last change of each memory that changed, newest first, and a revision.

    The revision is that of the newest returned change: hidden changes do not advance it. If there
    are more changes than the limit, return the oldest, so that a caller who continues from that
    revision misses none; with `newest`, return the newest.
    """
    shape = shape_of_request(request)
    if shape is None:
        return Delta(revision=since)
    told: dict[str, Change] = {}
    after, before = since, 2**62
    for _ in range(_PAGES_MAX_COUNT):
        named = {"thread": thread, "since": after, "before": before}
        rows = connection.execute(
            _select_changes(shape, newest), predicate_parameters(request) | named
        ).all()
        members = audiences.get_people(
            connection, request.space, {row[3 + _AUDIENCE] for row in rows}
        )
        for rev, event, at, *row in rows:
            memory = to_memory(row, members[row[_AUDIENCE]])
            if len(told) >= limits.DELTA_MAX_COUNT and memory.id not in told:
                break
            after, before = (after, rev) if newest else (rev, before)
            if categories is not None and memory.category not in categories:
                continue
            if not may_enter_prompt(request, memory):
                continue
            if not newest or memory.id not in told:
                told[memory.id] = _to_change(request, memory, rev, event, at)
        if len(rows) < _PAGE_COUNT or len(told) >= limits.DELTA_MAX_COUNT:
            break
    changes = sorted(told.values(), key=lambda change: -change.revision)
    return Delta(revision=changes[0].revision if changes else since, changes=tuple(changes))


def _to_change(request: Request, memory: Memory, rev: int, event: str, at: int) -> Change:
    said = _is_content_visible(request, memory)
    return Change(
        revision=rev,
        event=event,
        memory_id=memory.id,
        category=memory.category if said else None,
        content=memory.content if said else None,
        at=from_micros(at),
        key=memory.key if said else None,
    )


def _is_content_visible(request: Request, memory: Memory) -> bool:
    """Return whether to show the content, or only that the memory is gone.

    The query has filtered the row; this asserts the rules on it.
    """
    if not memory.shadowed and decide(request, memory).allowed:
        return True
    before = replace(memory, state=State.ACTIVE, expires_at=None)
    decision = decide(request, before)
    if memory.state is State.ACTIVE or memory.shadowed or not decision.allowed:
        raise DisclosureBreach(f"a change came back that rule {decision.rule} forbids")
    return False


# When the block of a conversation was built, for each thread and audience.
#
# Newer changes go into the delta. A changed audience has a separate row, so its block is built
# again.

_B = blocks.c
_CHANGES = change_log.c
_SELECT_BLOCK = select(_B.built_at, _B.used_at).where(
    _B.space_id == bindparam("space"),
    _B.thread == bindparam("thread"),
    _B.audience == bindparam("audience"),
)
_UPSERT_BLOCK = text(
    "INSERT INTO blocks (space_id, thread, audience, built_at, used_at) "
    "VALUES (:space, :thread, :audience, :taken, :at) "
    "ON CONFLICT (space_id, thread, audience) DO UPDATE SET "
    "built_at = excluded.built_at, used_at = excluded.used_at"
)
_USES_PER_GAP_COUNT = 4  # updates of used_at within one gap
_SELECT_NEW = (
    select(_CHANGES.memory_id)
    .where(
        _CHANGES.space_id == bindparam("space"),
        _CHANGES.thread == bindparam("thread"),
        _CHANGES.rev > bindparam("since"),
        _CHANGES.event == "created",
    )
    .order_by(_CHANGES.rev)
    .limit(limits.BLOCK_CHANGES_MAX_COUNT)
)


def audience_key(request: Request) -> str:
    parts = [
        request.requester or "",
        request.chat or "",
        request.kind.value,
        str(request.complete),
        *sorted(request.audience),
        *sorted(request.own_identities),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def block_taken_at(connection: Connection, request: Request, thread: str) -> int | None:
    row = connection.execute(_SELECT_BLOCK, _block_params(request, thread)).first()
    return None if row is None else row.built_at


def current_block(
    connection: Connection, request: Request, thread: str, gap: timedelta
) -> tuple[int | None, str]:
    """Return when the current block was built, and the key of its audience.

    The time is None if a new conversation begins, or if `used_at` must be updated.
    """
    named = _block_params(request, thread)
    row = connection.execute(_SELECT_BLOCK, named).first()
    noted = to_micros(request.at) - _gap_micros(gap) // _USES_PER_GAP_COUNT
    return None if row is None or row.used_at < noted else row.built_at, named["audience"]


def take_block(tx: Transaction, audience: str, gap: timedelta) -> int:
    """Return the revision of the thread's block, and record its use.

    A new block gets the next revision of the thread, so that concurrent writes come after it, even
    if they began earlier. If two requests begin a conversation at once, the first one's block is
    used for both.
    """
    next_one = memories.increment_thread_revision(tx, tx.thread)
    named = {"space": tx.space, "thread": tx.thread, "audience": audience}
    at = to_micros(tx.at)
    row = tx.connection.execute(_SELECT_BLOCK, named).first()
    # `used_at` may be older than the last use by up to a quarter of the gap.
    goes_on = (
        row is not None
        and row.used_at >= at - _gap_micros(gap) - _gap_micros(gap) // _USES_PER_GAP_COUNT
    )
    taken = int(row.built_at) if row is not None and goes_on else next_one
    tx.connection.execute(_UPSERT_BLOCK, named | {"at": at, "taken": taken})
    return taken


def list_new_since_block(
    connection: Connection, request: Request, thread: str, since: int
) -> set[str]:
    """List memories added to the thread after its block was built. Do not disclose the result."""
    params = {"space": request.space, "thread": thread, "since": since}
    return set(connection.execute(_SELECT_NEW, params).scalars())


def _block_params(request: Request, thread: str) -> dict[str, Any]:
    return {"space": request.space, "thread": thread, "audience": audience_key(request)}


def _gap_micros(gap: timedelta) -> int:
    return gap // timedelta(microseconds=1)


# Events, written in batches so that no request waits for the write, and counted by day.

_BATCH_COUNT = 256
_BATCH_MICROS = 600_000_000  # events older than this are written with the next one
_KEPT_MAX_COUNT = 65_536
_PRUNED_AT_ONCE_COUNT = 2_000  # more than a batch: pruning outpaces inserts
_DAY_MICROS = 86_400_000_000
_E = events.c
_SELECT_SPACE = select(spaces_table.c.space_id).where(spaces_table.c.space_id == bindparam("space"))
_ANY_TIME = 2**63 - 1
_SELECT_OLD_EVENTS = (
    select(_E.id)
    .where(_E.space_id == bindparam("space"), _E.node == bindparam("node"))
    .where(_E.at < bindparam("before"))
    .order_by(_E.at)
    .limit(bindparam("most"))
)
# Events of memories that were erased meanwhile are dropped. If another process erases one between
# this read and the insert, the foreign key refuses the row, and the batch is retried.
_SELECT_EXISTING = select(_MEMORY.id).where(
    _MEMORY.space_id == bindparam("space"), _MEMORY.id.in_(bindparam("ids", expanding=True))
)
_EXISTING_AT_ONCE_COUNT = 500


class EventLog:
    """Collect events in memory; a separate thread writes them in batches.

    A crash or a failed write loses events. It never loses a memory and never fails a request.
    """

    def __init__(self, database: Database, keep_days: int) -> None:
        self._database = database
        self.keep_days = keep_days  # 0: events are not kept
        self._batch: list[tuple[str, int, EventRecord]] = []
        self._seen: set[str] = set()  # spaces to prune while no events are kept
        self._lock = Lock()
        self._writing = Lock()  # a flush waits for the batch being written
        self._writer: Thread | None = None
        # Ids of one process share a random prefix: they are unique across processes and adjacent in
        # the index.
        self._origin, self._numbers = secrets.token_hex(6), count()

    def append(self, space: str, at: datetime, happened: Sequence[EventRecord]) -> None:
        """Add committed events. The erasure of a memory discards its events not yet written."""
        gone = {one.memory_id for one in happened if one.op is EventOperation.ERASE}
        if gone:
            happened = [_without_memory(one, gone) for one in happened]
            self.discard(space, gone)
        if not self.keep_days:
            self._seen.add(space)
            return
        now = to_micros(at)
        with self._lock:
            self._batch.extend([(space, now, one) for one in happened])
            waiting, first = len(self._batch), self._batch[0][1]
            if waiting < _BATCH_COUNT and abs(now - first) < _BATCH_MICROS:
                return
            if self._writer is not None and self._writer.is_alive():
                if waiting > _KEPT_MAX_COUNT:
                    self._batch.clear()
                return
            self._writer = Thread(target=self.flush, name="tacit-events", daemon=True)
            self._writer.start()

    def discard(
        self, space: str, ids: Collection[str | None] | None = None, owners: Collection[str] = ()
    ) -> None:
        """Discard unwritten events of these memories and people; without `ids`, of the space."""
        with self._lock:
            self._batch[:] = [
                (where, at, one)
                for where, at, one in self._batch
                if where != space
                or (
                    ids is not None
                    and (one.memory_id is None or one.memory_id not in ids)
                    and (one.owner is None or one.owner not in owners)
                )
            ]

    def flush(self) -> None:
        with self._writing:
            self._flush()

    def _flush(self) -> None:
        with self._lock:
            batch, self._batch = self._batch, []
        rows: dict[str, list[dict[str, Any]]] = {space: [] for space in list(self._seen)}
        for space, at, one in batch:
            rows.setdefault(space, []).append(self._row(space, at, one))
        if not rows:
            return
        latest = max((at for _, at, _ in batch), default=None)

        def work(connection: Connection) -> None:
            for space in sorted(rows):
                if _space_exists(connection, self._database.dialect, space):
                    _insert_events(connection, space, rows[space])
                    prune_events(connection, space, self._oldest(latest))

        with suppress(StoreError):
            self._database.write(work)

    def close(self) -> None:
        with self._lock:
            writer = self._writer
        if writer is not None:
            writer.join()
        self.flush()

    def _oldest(self, latest: int | None) -> int | None:
        """Return the time from which events are kept; None if none are kept."""
        if not self.keep_days or latest is None:
            return None
        return latest - self.keep_days * _DAY_MICROS

    def _row(self, space: str, at: int, one: EventRecord) -> dict[str, Any]:
        return {
            "space_id": space,
            "id": f"{self._origin}{next(self._numbers):012x}",
            "owner": one.owner,
            "thread": one.thread,
            "node": one.node.value,
            "op": one.op.value,
            "status": one.status.value,
            "memory_id": one.memory_id,
            "category": one.category,
            "similarity": None if one.likeness is None else round(one.likeness, 4),
            "at": at,
        }


def _insert_events(connection: Connection, space: str, rows: Sequence[dict[str, Any]]) -> None:
    ids = sorted({row["memory_id"] for row in rows} - {None})
    existing: set[str | None] = {None}
    for start in range(0, len(ids), _EXISTING_AT_ONCE_COUNT):
        params = {"space": space, "ids": ids[start : start + _EXISTING_AT_ONCE_COUNT]}
        existing.update(connection.execute(_SELECT_EXISTING, params).scalars())
    # Sorted, because an erasure locks memories in this order.
    ordered = sorted(
        (row for row in rows if row["memory_id"] in existing),
        key=lambda row: row["memory_id"] or "",
    )
    if ordered:
        connection.execute(insert(events), ordered)


def _without_memory(one: EventRecord, gone: Collection[str | None]) -> EventRecord:
    if one.memory_id not in gone:
        return one
    return EventRecord(one.node, one.op, one.status)


def _space_exists(connection: Connection, dialect: Dialect, space: str) -> bool:
    """Return whether the space exists, and lock it so that an erasure waits for this write."""
    return bool(statements.fetch_rows(connection, _select_locked_space(dialect), {"space": space}))


@lru_cache(maxsize=8)
def _select_locked_space(dialect: Dialect) -> Select[Any]:
    return dialect.lock_space_shared(_SELECT_SPACE)


def delete_events(
    connection: Connection, space: str, ids: Iterable[str], owners: Iterable[str] = ()
) -> int:
    """Delete the events of these memories and people, in the transaction that erases them.

    The foreign key also deletes the events of a memory with its row.
    """
    who, which = sorted(owners), sorted(ids)
    named = or_(_E.owner.in_(who), _E.memory_id.in_(which))
    return connection.execute(delete(events).where(_E.space_id == space, named)).rowcount


def prune_events(connection: Connection, space: str, before: int | None) -> int:
    """Delete a batch of the events before that time; of all events if it is None."""
    ids: list[str] = []
    named = {"space": space, "before": _ANY_TIME if before is None else before}
    for node in EventNode:  # the leading column of the index
        most = _PRUNED_AT_ONCE_COUNT - len(ids)
        old = statements.fetch_rows(
            connection, _SELECT_OLD_EVENTS, {**named, "node": node.value, "most": most}
        )
        ids += [id for (id,) in old]
    if not ids:
        return 0
    return connection.execute(delete(events).where(_E.space_id == space, _E.id.in_(ids))).rowcount


EventPosition = tuple[int, str, str, str]  # a day's first microsecond, node, op, status


def count_events(
    connection: Connection,
    space: str,
    nodes: Sequence[EventNode],
    op: EventOperation | None,
    since: datetime | None,
    most: int,
    after: EventPosition | None = None,
) -> list[EventCounts]:
    """Count events by day, newest first, then by node, operation and status."""
    day = _E.at - _E.at % _DAY_MICROS
    found = select(day.label("day"), _E.node, _E.op, _E.status, func.count().label("times"))
    found = found.where(_E.space_id == space, _E.node.in_([node.value for node in nodes]))
    if op is not None:
        found = found.where(_E.op == op.value)
    if since is not None:
        found = found.where(_E.at >= to_micros(since))
    if after is not None:
        first, *rest = after
        later = tuple_(_E.node, _E.op, _E.status) > tuple_(*rest)
        # Bound the time by the end of the day, so that an index on the time can be used.
        found = found.where(_E.at < first + _DAY_MICROS, or_(_E.at < first, later))
    found = found.group_by(day, _E.node, _E.op, _E.status)
    found = found.order_by(day.desc(), _E.node, _E.op, _E.status).limit(most)
    return [
        EventCounts(
            day=from_micros(row.day).astimezone(UTC).date(),
            node=EventNode(row.node),
            op=EventOperation(row.op),
            status=EventStatus(row.status),
            count=row.times,
        )
        for row in connection.execute(found)
    ]


def count_recent_events(
    connection: Connection, at: datetime, span: timedelta
) -> list[tuple[str, str, str, int]]:
    """Count recent events of all spaces by node, operation and status, for the gauges."""
    found = select(_E.node, _E.op, _E.status, func.count()).where(_E.at >= to_micros(at - span))
    found = found.group_by(_E.node, _E.op, _E.status)
    return [(node, op, status, times) for node, op, status, times in connection.execute(found)]


# Recorded conversations: the sessions of a person that ended, and their turns.

_M = memories_table.c


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedSession:
    """Identify an ended session of one person in one private chat."""

    owner: str
    name: str
    chat: str
    last_at: datetime  # when its last turn was recorded
    nth: int  # number among the sessions that ended at the same time


def next_ended_session(
    connection: Connection,
    space: str,
    owner: str,
    done: tuple[datetime, int] | None,
    still: datetime,
    now: datetime,
) -> EndedSession | None:
    """Return the first session that ended after the `done` ones and has no turn after `still`.

    `done` is the end of the last processed session and the number of sessions that ended at that
    time.
    """
    since, count = done or (None, 0)
    last = func.max(_M.created_at)
    ended = (
        select(_M.session, _M.learned_in, last.label("last_at"))
        .where(
            _M.space_id == space,
            _M.owner == owner,
            _M.is_turn.is_(True),
            _M.state == State.ACTIVE.value,
            _M.learned_kind == ChatKind.PRIVATE.value,
            _M.learned_in.is_not(None),
            _M.expires_at > to_micros(now),
        )
        .group_by(_M.session, _M.learned_in)
        .having(last <= to_micros(still))
        .having(last >= (to_micros(since) if since else -(2**62)))
        .order_by(last, _M.session, _M.learned_in)
        .limit(count + 1)
    )
    rows = connection.execute(ended).all()
    at_once = [row for row in rows if from_micros(row.last_at) == since]
    left = [*at_once[count:], *rows[len(at_once) :]]
    if not left:
        return None
    row, nth = left[0], count + 1 if len(at_once) > count else 1
    at = from_micros(row.last_at)
    return EndedSession(owner=owner, name=row.session, chat=row.learned_in, last_at=at, nth=nth)


def list_turns(
    connection: Connection,
    audiences: AudienceCache,
    space: str,
    session: EndedSession,
    now: datetime,
) -> list[Memory]:
    """List the last turns of a session, oldest first."""
    found = (
        select(*MEMORY_COLUMNS)
        .where(
            _M.space_id == space,
            _M.owner == session.owner,
            _M.is_turn.is_(True),
            _M.state == State.ACTIVE.value,
            _M.session == session.name,
            _M.learned_in == session.chat,
            _M.learned_kind == ChatKind.PRIVATE.value,
            _M.expires_at > to_micros(now),
        )
        .order_by(_M.seq.desc(), _M.id)
        .limit(limits.SUMMARY_TURNS_MAX_COUNT)
    )
    rows = [tuple(row) for row in connection.execute(found)]
    members = audiences.get_people(connection, space, {row[_AUDIENCE] for row in rows})
    return [to_memory(row, members[row[_AUDIENCE]]) for row in reversed(rows)]


def find_summary(connection: Connection, space: str, session: EndedSession) -> str | None:
    """Return the memory that summarizes the session, in any state."""
    found = select(_M.id).where(
        _M.space_id == space,
        _M.owner == session.owner,
        _M.is_turn.is_(False),
        _M.learned_in == session.chat,
        _M.kind == Kind.EVENT.value,
        _M.inferred.is_(True),
        _M.run == session.name,
    )
    return connection.execute(found.limit(1)).scalar()
