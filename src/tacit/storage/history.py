"""Read and record what happened to memories: activity, deltas, blocks, events and sessions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    tuple_,
    union_all,
)

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import DisclosureBreach
from tacit.policy.rules import RequestShape, decide, may_enter_prompt, predicate_parameters, sql_literal
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
from tacit.storage import memories
from tacit.storage.engine import chunks, delete_rows, fetch_rows, select_set, to_record, upsert
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import (
    MEMORY_COLUMNS,
    AudienceCache,
    any_branch_condition,
    fetch_permitted,
    policy_branches,
    sees_all_condition,
)
from tacit.storage.schema import (
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
_M = memories_table.c
_H = history_table.c
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


PositionedActivity = tuple[ActivityPosition, ActivityEntry]


def list_own_activity(
    connection: Connection, request: Request, wanted: ActivityRange, most: int
) -> list[PositionedActivity]:
    """List activity of the requester's own memories, in any state; empty outside private chats."""
    asked = request.for_management()
    own = _own_condition(asked)
    if own is None:
        return []
    # One branch per identity: each reads its index in order.
    parts = [
        _newest_entries(wanted, most, _H.owner == one, _is_own_memory(own, wanted.categories))
        for one in sorted(asked.own_identities)
    ]
    return _read_activity(connection, parts, most, predicate_parameters(asked))


def list_space_activity(
    connection: Connection, space: str, wanted: ActivityRange, most: int
) -> list[PositionedActivity]:
    """List activity of all owners, for an operator."""
    parts = [_newest_entries(wanted, most, _ANY_OWNER)]
    return _read_activity(connection, parts, most, {"p_space": space})


def count_own_days(
    connection: Connection, request: Request, since: int, categories: tuple[str, ...] | None
) -> dict[int, dict[str, int]]:
    """Count events of the requester's own memories by day and event.

    The key of a day is its first microsecond.
    """
    asked = request.for_management()
    own = _own_condition(asked)
    if own is None:
        return {}
    mine = _H.owner.in_(sorted(asked.own_identities))
    which = [mine] if categories is None else [mine, _is_own_memory(own, categories)]
    return _count_days(connection, since, which, predicate_parameters(asked))


def count_space_days(connection: Connection, space: str, since: int) -> dict[int, dict[str, int]]:
    return _count_days(connection, since, [_ANY_OWNER], {"p_space": space})


def _own_condition(asked: Request) -> ColumnElement[bool] | None:
    branches = policy_branches(asked)
    return branches[0].condition if branches else None


def _newest_entries(wanted: ActivityRange, most: int, *which: ColumnElement[bool]) -> Select[Any]:
    found = select(history_table).where(_H.space_id == bindparam("p_space"), *which)
    if wanted.since is not None:
        found = found.where(_H.at >= wanted.since)
    if wanted.after is not None:
        found = found.where(tuple_(_H.at, _H.memory_id, _H.seq) < tuple_(*wanted.after))
    found = found.order_by(_H.at.desc(), _H.memory_id.desc(), _H.seq.desc())
    return select(found.limit(most).subquery())


def _is_own_memory(own: ColumnElement[bool], categories: tuple[str, ...] | None) -> ColumnElement[bool]:
    """Test whether an entry is of an own memory, with a scalar subquery.

    For EXISTS, a planner that uses averages builds a join that starts with all memories of the
    owner.
    """
    terms = [_M.id == _H.memory_id, own]
    if categories is not None:
        terms.append(_M.category.in_(categories))
    return select(_M.id).where(*terms).correlate(history_table).scalar_subquery().is_not(None)


def _read_activity(
    connection: Connection, parts: list[Select[Any]], most: int, params: dict[str, Any]
) -> list[PositionedActivity]:
    c = (union_all(*parts) if len(parts) > 1 else parts[0]).subquery().c
    told = (c.at, c.memory_id, c.seq, c.event, c.actor, c.detail, c.owner)
    version = and_(_V.space_id == c.space_id, _V.memory_id == c.memory_id, _V.version == c.version)
    found = (
        select(*told, _M.category, _V.content)
        .join(memories_table, and_(_M.space_id == c.space_id, _M.id == c.memory_id))
        .outerjoin(memory_versions, version)
        .order_by(c.at.desc(), c.memory_id.desc(), c.seq.desc())
        .limit(most)
    )
    return [_to_activity(row) for row in connection.execute(found, params)]


def _to_activity(row: Any) -> PositionedActivity:
    detail = json.loads(row.detail)
    reason = next((detail[name] for name in _REASON_FIELDS if detail.get(name)), None)
    return ActivityPosition(row.at, row.memory_id, row.seq), to_record(ActivityEntry, row, reason=reason)


def _count_days(
    connection: Connection, since: int, which: Sequence[ColumnElement[bool]], params: dict[str, Any]
) -> dict[int, dict[str, int]]:
    day = (_H.at - _H.at % literal_column(str(DAY_MICROS))).label("day")
    counts = (
        select(day, _H.event, func.count())
        .where(_H.space_id == bindparam("p_space"), _H.at >= since, *which)
        .group_by(day, _H.event)
    )
    found: dict[int, dict[str, int]] = {}
    for first, event, times in connection.execute(counts, params):
        found.setdefault(first, {})[COUNT_NAMES[HistoryEvent(event)]] = times
    return found


# Deltas: the changes in a thread that the requester may see.

_C = change_log.c
_PAGE_COUNT = 500
_PAGES_MAX_COUNT = 20
_UPDATED = "updated"
_REMOVALS = ("deleted", "soft_deleted", "expired", "superseded")


@lru_cache(maxsize=256)
def _select_changes(shape: RequestShape, newest: bool) -> Select[Any]:
    """Select changes of visible memories, and removals of memories that were visible before."""
    removal = _C.event.in_([sql_literal(event) for event in _REMOVALS])
    told = or_(any_branch_condition(shape), and_(removal, any_branch_condition(replace(shape, inactive=True))))
    seen = or_(_C.event != sql_literal(_UPDATED), _is_rewording(), sees_all_condition(shape))
    return (
        select(_C.rev, _C.event, _C.at, *MEMORY_COLUMNS)
        .join(memories_table, (_M.space_id == _C.space_id) & (_M.id == _C.memory_id))
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
    return exists().where(_V.space_id == _C.space_id, _V.memory_id == _C.memory_id, _V.created_at == _C.at)


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
    told: dict[str, Change] = {}
    after, before = since, 2**62
    for _ in range(_PAGES_MAX_COUNT):
        rows = fetch_permitted(connection, request, _select_changes, newest, thread=thread, since=after, before=before)
        changed = audiences.to_memories(connection, request.space, [row[3:] for row in rows])
        for (rev, event, at, *_), memory in zip(rows, changed, strict=True):
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
    if not memory.overridden and decide(request, memory).allowed:
        return True
    before = replace(memory, state=State.ACTIVE, expires_at=None)
    decision = decide(request, before)
    if memory.state is State.ACTIVE or memory.overridden or not decision.allowed:
        raise DisclosureBreach(f"a change came back that rule {decision.rule} forbids")
    return False


# When the block of a conversation was built, for each thread and audience.
#
# Newer changes go into the delta. A changed audience has a separate row, so its block is built
# again.

_B = blocks.c
_USES_PER_GAP_COUNT = 4  # updates of used_at within one gap
_SELECT_NEW = (
    select(_C.memory_id)
    .where(
        _C.space_id == bindparam("space"),
        _C.thread == bindparam("thread"),
        _C.rev > bindparam("since"),
        _C.event == "created",
    )
    .order_by(_C.rev)
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


def _read_block(connection: Connection, space: str, thread: str, audience: str) -> Any:
    found = select(_B.built_at, _B.used_at).where(_B.space_id == space, _B.thread == thread, _B.audience == audience)
    return connection.execute(found).first()


def block_taken_at(connection: Connection, request: Request, thread: str) -> int | None:
    row = _read_block(connection, request.space, thread, audience_key(request))
    return None if row is None else row.built_at


def current_block(connection: Connection, request: Request, thread: str, gap: timedelta) -> tuple[int | None, str]:
    """Return when the current block was built, and the key of its audience.

    The time is None if a new conversation begins, or if `used_at` must be updated.
    """
    audience = audience_key(request)
    row = _read_block(connection, request.space, thread, audience)
    noted = to_micros(request.at) - _gap_micros(gap) // _USES_PER_GAP_COUNT
    return None if row is None or row.used_at < noted else row.built_at, audience


def take_block(tx: Transaction, audience: str, gap: timedelta) -> int:
    """Return the revision of the thread's block, and record its use.

    A new block gets the next revision of the thread, so that concurrent writes come after it, even
    if they began earlier. If two requests begin a conversation at once, the first one's block is
    used for both.
    """
    next_one = memories.increment_thread_revision(tx, tx.thread)
    at = to_micros(tx.at)
    row = _read_block(tx.connection, tx.space, tx.thread, audience)
    # `used_at` may be older than the last use by up to a quarter of the gap.
    goes_on = row is not None and row.used_at >= at - _gap_micros(gap) - _gap_micros(gap) // _USES_PER_GAP_COUNT
    taken = int(row.built_at) if goes_on else next_one
    key = {"space_id": tx.space, "thread": tx.thread, "audience": audience}
    upsert(tx.connection, blocks, {**key, "built_at": taken, "used_at": at})
    return taken


def list_new_since_block(connection: Connection, request: Request, thread: str, since: int) -> set[str]:
    """List memories added to the thread after its block was built. Do not disclose the result."""
    params = {"space": request.space, "thread": thread, "since": since}
    return set(connection.execute(_SELECT_NEW, params).scalars())


def _gap_micros(gap: timedelta) -> int:
    return gap // timedelta(microseconds=1)


# Events, counted by day. `store.EventLog` inserts them in batches.

_PRUNED_AT_ONCE_COUNT = 2_000  # more than a batch: pruning outpaces inserts
_E = events.c
# Locked, so that an erasure of the space waits for this write.
_SELECT_LOCKED_SPACE = (
    select(spaces_table.c.space_id).where(spaces_table.c.space_id == bindparam("space")).with_for_update(read=True)
)
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
_SELECT_EXISTING = select(_M.id).where(_M.space_id == bindparam("space"), _M.id.in_(bindparam("ids", expanding=True)))


def insert_events(connection: Connection, space: str, rows: Sequence[Mapping[str, Any]], before: int | None) -> None:
    """Insert events of a space that exists, and delete a batch of those before that time."""
    if not fetch_rows(connection, _SELECT_LOCKED_SPACE, {"space": space}):
        return
    existing: set[str | None] = {None}
    for ids in chunks({row["memory_id"] for row in rows} - {None}):
        existing |= select_set(connection, _SELECT_EXISTING.params(space=space, ids=ids))
    kept = [row for row in rows if row["memory_id"] in existing]
    if kept:  # sorted, because an erasure locks memories in this order
        connection.execute(insert(events), sorted(kept, key=lambda row: row["memory_id"] or ""))
    _prune_events(connection, space, before)


def _prune_events(connection: Connection, space: str, before: int | None) -> None:
    """Delete a batch of the events before that time; of all events if it is None."""
    ids: list[str] = []
    named = {"space": space, "before": _ANY_TIME if before is None else before}
    for node in EventNode:  # the leading column of the index
        most = _PRUNED_AT_ONCE_COUNT - len(ids)
        old = fetch_rows(connection, _SELECT_OLD_EVENTS, {**named, "node": node.value, "most": most})
        ids += [id for (id,) in old]
    if ids:
        delete_rows(connection, events, space, _E.id.in_(ids))


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
    day = _E.at - _E.at % DAY_MICROS
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
        found = found.where(_E.at < first + DAY_MICROS, or_(_E.at < first, later))
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


def count_recent_events(connection: Connection, at: datetime, span: timedelta) -> list[tuple[str, str, str, int]]:
    """Count recent events of all spaces by node, operation and status, for the gauges."""
    found = select(_E.node, _E.op, _E.status, func.count()).where(_E.at >= to_micros(at - span))
    found = found.group_by(_E.node, _E.op, _E.status)
    return [(node, op, status, times) for node, op, status, times in connection.execute(found)]


# Recorded conversations: the sessions of a person that ended, and their turns.


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedSession:
    """Identify an ended session of one person in one private chat."""

    owner: str
    name: str
    chat: str
    last_at: datetime  # when its last turn was recorded
    nth: int  # number among the sessions that ended at the same time


def next_ended_session(
    connection: Connection, space: str, owner: str, done: tuple[datetime, int] | None, still: datetime, now: datetime
) -> EndedSession | None:
    """Return the first session that ended after the `done` ones and has no turn after `still`.

    `done` is the end of the last processed session and the number of sessions that ended at that
    time.
    """
    since, count = done or (None, 0)
    last = func.max(_M.created_at)
    ended = (
        select(_M.session, _M.learned_in, last.label("last_at"))
        .where(*_is_turn_of(space, owner, now), _M.learned_in.is_not(None))
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
    connection: Connection, audiences: AudienceCache, space: str, session: EndedSession, now: datetime
) -> list[Memory]:
    """List the last turns of a session, oldest first."""
    found = (
        select(*MEMORY_COLUMNS)
        .where(*_is_turn_of(space, session.owner, now), _M.session == session.name, _M.learned_in == session.chat)
        .order_by(_M.seq.desc(), _M.id)
        .limit(limits.SUMMARY_TURNS_MAX_COUNT)
    )
    return audiences.to_memories(connection, space, connection.execute(found).all())[::-1]


def _is_turn_of(space: str, owner: str, now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Test for the active turns of a person in private chats."""
    return (
        _M.space_id == space,
        _M.owner == owner,
        _M.is_turn.is_(True),
        _M.state == State.ACTIVE.value,
        _M.learned_kind == ChatKind.PRIVATE.value,
        _M.expires_at > to_micros(now),
    )


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
