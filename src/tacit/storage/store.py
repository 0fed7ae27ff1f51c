"""Open a store: its database, caches, background writers and gauges."""

from __future__ import annotations

import itertools
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Literal, TypeVar

from cachetools import LRUCache
from sqlalchemy import Connection, Select, and_, bindparam, case, func, select, text, update

from tacit import limits
from tacit.clock import Clock, from_micros, to_micros
from tacit.errors import StoreBusy, StoreError
from tacit.identity import RawRequest, resolve_request
from tacit.policy.rules import RequestShape, predicate_parameters, shape_of_request
from tacit.records.checkpoints import GraphStep, StepValue, StoredGraphStep, dump_compact_json
from tacit.records.memory import ChatKind, Memory
from tacit.records.request import Request
from tacit.records.results import EventOperation
from tacit.storage import chats, history, queue, search, spaces
from tacit.storage.auth import ApiKeyCache
from tacit.storage.engine import Database
from tacit.storage.memories import NO_VECTORS, EventRecord, TextVectors, Transaction
from tacit.storage.memory_reads import (
    AUDIENCE_INDEX,
    MEMORY_COLUMNS,
    AudienceCache,
    MemoryDecision,
    any_branch_condition,
    check_decision,
    lookup_condition,
    to_memory,
)
from tacit.storage.queue import LEARN_JOB
from tacit.storage.schema import jobs, memories_table, spaces_table, updates
from tacit.storage.spaces import load_identities, stamp_changed_notes
from tacit.telemetry import metrics
from tacit.telemetry.metrics import EVENT_COUNT, NO_METER, GaugeReader, Meter, StopCallback

# Access counts and events, written in batches by a separate thread, so that no request waits.

BATCH_COUNT = 256
_BATCH_MICROS = 600_000_000  # an older batch is written; retention elsewhere needs the counts
_KEPT_MAX_COUNT = 65_536
_DAY_MICROS = 86_400_000_000
_M = memories_table.c
_ADD_ACCESSES = (
    update(memories_table)
    .where(_M.space_id == bindparam("b_space"), _M.id == bindparam("b_id"))
    .values(access_count=_M.access_count + bindparam("b_count"), last_accessed_at=bindparam("b_at"))
)


class _BatchWriter:
    """Write what its subclass collects in `_batch`, when it is large or old, and when closed.

    A crash or a failed write loses it. That never loses a memory and never fails a request.
    """

    _batch: Any

    def __init__(self, database: Database) -> None:
        self._database = database
        self._since = 0  # time of the first entry, in microseconds
        self._lock = Lock()
        self._writer: Thread | None = None

    def _write_if_due(self, now: int) -> None:
        """Start a thread that writes the batch, if it is due. The caller holds the lock."""
        if len(self._batch) < BATCH_COUNT and abs(now - self._since) < _BATCH_MICROS:
            return
        if self._writer is None or not self._writer.is_alive():
            self._writer = Thread(target=self.flush, name=f"tacit-{type(self).__name__}", daemon=True)
            self._writer.start()
        elif len(self._batch) > _KEPT_MAX_COUNT:
            self._batch.clear()

    def flush(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        with self._lock:
            writer = self._writer
        if writer is not None:
            writer.join()
        self.flush()


class AccessCounter(_BatchWriter):
    """Count accesses of memories."""

    _batch: dict[tuple[str, str], tuple[int, int]]

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._batch = {}

    def count(self, space: str, ids: Iterable[str], at: datetime) -> None:
        now = to_micros(at)
        with self._lock:
            if not self._batch:
                self._since = now
            for id in ids:
                count, _ = self._batch.get((space, id), (0, 0))
                self._batch[space, id] = (count + 1, now)
            self._write_if_due(now)

    def flush(self) -> None:
        with self._lock:
            counts, self._batch = self._batch, {}
        rows = [
            {"b_space": space, "b_id": id, "b_count": count, "b_at": at}
            for (space, id), (count, at) in sorted(counts.items())
        ]
        if rows:
            with suppress(StoreError):
                self._database.write(lambda connection: connection.execute(_ADD_ACCESSES, rows))


class EventLog(_BatchWriter):
    """Collect committed events."""

    _batch: list[tuple[str, int, EventRecord]]

    def __init__(self, database: Database, keep_days: int) -> None:
        super().__init__(database)
        self._batch = []
        self.keep_days = keep_days  # 0: events are not kept
        self._seen: set[str] = set()  # spaces to prune while no events are kept
        self._writing = Lock()  # a flush waits for the batch being written
        # Ids of one process share a random prefix: they are unique across processes and adjacent in
        # the index.
        self._origin, self._numbers = secrets.token_hex(6), itertools.count()

    def append(self, space: str, at: datetime, happened: Sequence[EventRecord]) -> None:
        """Add committed events. The erasure of a memory discards its events not yet written."""
        gone = {one.memory_id for one in happened if one.op is EventOperation.ERASE}
        if gone:
            happened = [EventRecord(one.node, one.op, one.status) if one.memory_id in gone else one for one in happened]
            self.discard(space, gone)
        if not self.keep_days:
            self._seen.add(space)
            return
        now = to_micros(at)
        with self._lock:
            if not self._batch:
                self._since = now
            self._batch.extend([(space, now, one) for one in happened])
            self._write_if_due(now)

    def discard(self, space: str, ids: Collection[str | None] | None = None, owners: Collection[str] = ()) -> None:
        """Discard unwritten events of these memories and people; without `ids`, of the space."""

        def is_kept(one: EventRecord) -> bool:
            of_memory = one.memory_id is not None and one.memory_id in (ids or ())
            return ids is not None and not of_memory and one.owner not in owners

        with self._lock:
            self._batch = [(where, at, one) for where, at, one in self._batch if where != space or is_kept(one)]

    def flush(self) -> None:
        with self._writing:
            with self._lock:
                batch, self._batch = self._batch, []
            rows: dict[str, list[dict[str, Any]]] = {space: [] for space in list(self._seen)}
            for space, at, one in batch:
                rows.setdefault(space, []).append(self._row(space, at, one))
            latest = max((at for _, at, _ in batch), default=None)
            # The time from which events are kept; None if none are kept.
            before = latest - self.keep_days * _DAY_MICROS if self.keep_days and latest else None

            def work(connection: Connection) -> None:
                for space in sorted(rows):
                    history.insert_events(connection, space, rows[space], before)

            if rows:
                with suppress(StoreError):
                    self._database.write(work)

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


# Cache of resolved requests. An entry is valid until an identity of its space changes.
#
# Each entry carries the identity revision it was read at. The revision is read again in the same
# snapshot as the rows, so the next read sees an unlink by another process.


class RequestCache:
    def __init__(self) -> None:
        most = limits.IDENTITY_CACHE_MAX_COUNT
        self._kept: LRUCache[tuple[str, RawRequest, bool], tuple[int, Request]] = LRUCache(most)
        self._registered: LRUCache[tuple[str, RawRequest], int] = LRUCache(most)
        self._lock = Lock()

    def resolve(
        self,
        connection: Connection,
        space: str,
        asking: RawRequest,
        at: datetime,
        *,
        union: bool,
        rev: int | None = None,
    ) -> Request:
        """Return the resolved request; `rev` is the identity revision if the caller has read it."""
        if rev is None:
            rev = spaces.identity_revision(connection, space)
        kept = self.get_cached(space, asking, union=union)
        if kept is not None and kept[0] == rev:
            return replace(kept[1], at=at)
        place = chats.read_chat(connection, space, asking.chat)
        identities = load_identities(connection, space, asking.people | place.members)
        request = resolve_request(space, at, asking, place, identities, union=union)
        request = replace(request, identity_rev=rev)
        with self._lock:
            self._kept[space, asking, union] = (rev, request)
        return request

    def get_cached(self, space: str, asking: RawRequest, *, union: bool) -> tuple[int, Request] | None:
        """Return the cached request and its identity revision, or None."""
        with self._lock:
            return self._kept.get((space, asking, union))

    def is_registered(self, space: str, asking: RawRequest, rev: int) -> bool:
        with self._lock:
            return self._registered.get((space, asking)) == rev

    def register(self, database: Database, space: str, asking: RawRequest, at: datetime) -> None:
        """Store the chat and its people in a separate transaction, before their first write."""
        with database.read() as connection:
            rev = spaces.identity_revision(connection, space)
            request = self.resolve(connection, space, asking, at, union=True)
            known = rev > 0 and chats.is_chat_known(connection, space, asking)
        if not known:
            rev = database.write(lambda c: self._register(c, request, asking, at))
        with self._lock:
            self._registered[space, asking] = rev

    def _register(self, connection: Connection, request: Request, asking: RawRequest, at: datetime) -> int:
        """Store the chat if it is private or a group; for an unknown chat, only the space."""
        space = request.space
        if request.private or request.kind is ChatKind.GROUP:
            chats.register_chat(connection, space, asking, at)
        else:
            spaces.ensure_space(connection, space, at)
        return spaces.identity_revision(connection, space)


# Renew the leases that this process holds, so that a lease can be short.
#
# Another process then soon takes over the leases of a killed process, but not those of a slow one.
# One thread renews all leases of a store. It starts with the first lease and ends with the last.

_log = logging.getLogger(__name__)
RenewLease = Callable[[Connection, datetime], object]  # called with the current time


@dataclass(frozen=True, slots=True, eq=False)
class _HeldLease:
    renew: RenewLease
    until: float  # monotonic time: a holder that hangs loses its lease


class LeaseRenewer:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._held: set[_HeldLease] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def hold(self, renew: RenewLease) -> Iterator[None]:
        """Renew a lease just acquired, until the `with` block ends or exceeds the maximum time."""
        one = _HeldLease(renew, time.monotonic() + limits.LEASE_HELD_MAX_SECONDS)
        with self._lock:
            self._held.add(one)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tacit-leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.discard(one)

    def close(self) -> None:
        self._stopping.set()
        thread = self._thread
        if thread is not None:
            thread.join(limits.CLOSE_WAIT_MAX_SECONDS)

    def _run(self) -> None:
        while True:
            self._stopping.wait(limits.LEASE_RENEWAL_SECONDS)
            with self._lock:
                if not self._held or self._stopping.is_set():
                    self._thread = None
                    return
                now = time.monotonic()
                due = [one for one in self._held if now < one.until]
            for one in due:
                self._renew(one)

    def _renew(self, one: _HeldLease) -> None:
        """Renew one lease. Log a failure: the next renewal may succeed.

        A holder whose lease expired detects that itself.
        """
        try:
            self._database.write(lambda connection: one.renew(connection, self._clock()))
        except StoreError as error:
            _log.warning("a lease could not be renewed: %s", type(error).__name__)


# Fast path of `get`: one row and its identity revision, in one statement on the driver.
#
# The most frequent read is of a single memory, by its owner, in private. A SQLAlchemy connection
# costs several times as much as that read, so the statements here are rendered once and run on the
# driver. The cached request is used only if the revision returned with the row equals the cached
# one. Otherwise, and when any other cached value is missing, the result is MISS and the caller
# takes the normal path.


class FastPathMiss(Enum):
    MISS = "miss"


FAST_PATH_MISS = FastPathMiss.MISS


def get_memory_fast(
    database: Database,
    audiences: AudienceCache,
    kept: tuple[int, Request],
    which: Literal["id", "key"],
    named: Mapping[str, str],
) -> MemoryDecision | FastPathMiss | None:
    """Return the memory with this `id`, or the requester's value of this `category` and `key`."""
    rev, request = kept
    shape = shape_of_request(request)
    if shape is None or not shape.private:
        return FAST_PATH_MISS
    params = predicate_parameters(request) | dict(named)
    rows = database.fetch_directly(_select_fast(shape, which), params)
    if not rows or rows[0][0] != rev:
        return FAST_PATH_MISS
    _, *row = rows[0]
    if row[0] is None:
        return None
    members = audiences.get_cached(request.space, row[AUDIENCE_INDEX])
    if members is None:
        return FAST_PATH_MISS
    return check_decision(request, to_memory(row, members))


@lru_cache(maxsize=256)
def _select_fast(shape: RequestShape, which: Literal["id", "key"]) -> Select[Any]:
    here = _M.space_id == spaces_table.c.space_id
    allowed = and_(here, lookup_condition(which), any_branch_condition(shape))
    return (
        select(spaces_table.c.identity_rev, *MEMORY_COLUMNS)
        .select_from(spaces_table.outerjoin(memories_table, allowed))
        .where(spaces_table.c.space_id == bindparam("p_space"))
    )


# Cache of the graph steps saved or read last. Each read asks the database whether the cached step
# is still the newest, which costs less than fetching it. Only steps of private chats are cached.

_OWN_THREAD = "space_id = :space AND person = :person AND chat = '' AND thread = :thread AND ns = :ns"
# Identifies the newest step: two steps with equal marks are the same step.
SELECT_NEWEST_MARK = text(
    "SELECT (SELECT identity_rev FROM spaces WHERE space_id = :space), "  # noqa: S608
    "s.id, s.saved_at, s.parent, s.metadata, s.versions, "
    "(SELECT count(*) || ' ' || coalesce(max(saved_at), 0) FROM graph_writes "
    f"WHERE {_OWN_THREAD} AND step = s.id) "
    "FROM (SELECT id, saved_at, parent, metadata, versions FROM graph_steps "
    f"WHERE {_OWN_THREAD} ORDER BY id DESC LIMIT 1) AS s"
)
NO_WRITES = "0 0"
StepKey = tuple[str, str, str, str]  # space, person, thread and namespace
StepMark = tuple[str, int, str | None, str, str, str]  # a row of SELECT_NEWEST_MARK


class RecentSteps:
    def __init__(self) -> None:
        self._kept: LRUCache[StepKey, tuple[StepMark, StoredGraphStep]] = LRUCache(limits.STEPS_CACHED_MAX_COUNT)
        self._lock = Lock()

    def has(self, key: StepKey) -> bool:
        with self._lock:
            return key in self._kept

    def find(self, key: StepKey, mark: StepMark) -> StoredGraphStep | None:
        """Return the cached step if its mark is the database's; otherwise evict it."""
        with self._lock:
            then, found = self._kept.get(key, (mark, None))
            if then != mark:
                del self._kept[key]
                return None
        if found is None:
            return None
        metadata = json.loads(mark[3])  # parsed again: the caller may change it
        step = replace(found.step, metadata=metadata)
        return StoredGraphStep(step=step, values=found.values, writes=found.writes)

    def add_saved(self, key: StepKey, step: GraphStep, metadata: str, values: Iterable[StepValue], at: int) -> None:
        """Cache a step that was just written, if all of its values are in memory."""
        with self._lock:
            kept = self._kept.get(key)
        known = {(one.channel, one.version): one for one in (kept[1].values if kept else ())}
        known |= {(one.channel, one.version): one for one in values}
        pairs = list(step.versions.items())
        if not all(pair in known for pair in pairs):
            self.remove(key)
            return
        mark = (step.id, at, step.parent, metadata, dump_compact_json(step.versions), NO_WRITES)
        saved = replace(step, saved_at=from_micros(at))
        whole = tuple(known[pair] for pair in pairs)
        self.add_read(key, mark, StoredGraphStep(step=saved, values=whole, writes=()))

    def add_read(self, key: StepKey, mark: StepMark, found: StoredGraphStep) -> None:
        """Cache a step that was just read completely."""
        size = len(found.step.data) + sum(len(one.data) for one in found.values)
        size += sum(len(one.data) for one in found.writes)
        with self._lock:
            self._kept.pop(key, None)
            if size <= limits.STEP_CACHED_MAX_BYTES:
                self._kept[key] = (mark, found)

    def remove(self, key: StepKey) -> None:
        with self._lock:
            self._kept.pop(key, None)

    def clear(self) -> bool:
        """Remove all cached steps after an erasure."""
        with self._lock:
            self._kept.clear()
        return True


# Gauges of a whole database for the operator: queue lengths and row counts.

_J = jobs.c
_U = updates.c
_PENDING_STATES = (queue.UPDATE_WAITING, queue.UPDATE_PARKED)
_DAY = timedelta(days=1)
GaugeValues = Iterable[tuple[Mapping[str, str], float]]


def register_gauges(meter: Meter, database: Database, clock: Clock) -> StopCallback:
    """Register the gauges until the returned callback stops them.

    Nothing is read from the database before the gauges are collected.
    """
    url = database.engine.url
    # Equal for two engines of one database. Each in-memory database has a key of its own.
    key: Hashable = id(database) if url.database in (None, "", ":memory:") else url

    def reader(read: Callable[[Connection, datetime], GaugeValues]) -> GaugeReader:
        def collect() -> GaugeValues:
            with database.read() as connection:
                return list(read(connection, clock()))

        return collect

    gauges: dict[metrics.Metric, Callable[[Connection, datetime], GaugeValues]] = {
        metrics.QUEUE_DEPTH: _read_queue_depth,
        metrics.QUEUE_AGE: _read_queue_age,
        metrics.MEMORY_COUNT: _count_memories,
        metrics.EVENTS_LAST_DAY: _count_events,
    }
    stops = [meter.watch(what, key, reader(read)) for what, read in gauges.items()]

    def stop() -> None:
        for one in stops:
            one()

    return stop


def _read_queue_depth(connection: Connection, _: datetime) -> GaugeValues:
    turn = case((_J.kind == LEARN_JOB, "turns"), else_="tasks")
    held = select(turn, _J.parked, func.count()).group_by(turn, _J.parked)
    brought = select(_U.state, func.count()).where(_U.state.in_(_PENDING_STATES)).group_by(_U.state)
    found = {
        (kind, queue.UPDATE_PARKED if parked else queue.UPDATE_WAITING): n
        for kind, parked, n in connection.execute(held)
    }
    found |= {("updates", state): n for state, n in connection.execute(brought)}
    for kind in ("turns", "tasks", "updates"):
        for state in _PENDING_STATES:
            yield {"of": kind, "state": state}, found.get((kind, state), 0)


def _read_queue_age(connection: Connection, now: datetime) -> GaugeValues:
    oldest = select(func.min(_J.created_at)).where(_J.kind == LEARN_JOB, _J.parked.is_(False))
    at = connection.execute(oldest).scalar()
    yield {}, 0.0 if at is None else max(0.0, (now - from_micros(at)).total_seconds())


def _count_memories(connection: Connection, _: datetime) -> GaugeValues:
    held = select(_M.state, func.count()).where(_M.is_turn.is_(False)).group_by(_M.state)
    for state, n in connection.execute(held):
        yield {"state": state}, n


def _count_events(connection: Connection, now: datetime) -> GaugeValues:
    for node, op, status, n in history.count_recent_events(connection, now, _DAY):
        yield {"node": node, "op": op, "status": status}, n


# One open store: its database and its caches. `Memory` and its views share it.

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Store:
    database: Database
    clock: Clock
    requests: RequestCache = field(default_factory=RequestCache)
    audiences: AudienceCache = field(default_factory=AudienceCache)
    api_keys: ApiKeyCache = field(default_factory=ApiKeyCache)
    meter: Meter = NO_METER
    keep_events_days: int = 0  # 0: events are not recorded
    journal: Path | None = None  # of erasures; database backups do not include it
    # Run after an erasure, to clean files outside the database. Each returns whether it succeeded.
    after_erasure: list[Callable[[], bool]] = field(default_factory=list)
    recent_steps: RecentSteps = field(default_factory=RecentSteps)
    accesses: AccessCounter = field(init=False)
    events: EventLog = field(init=False)
    leases: LeaseRenewer = field(init=False)
    _unwatch: StopCallback = field(init=False)

    def __post_init__(self) -> None:
        self.accesses = AccessCounter(self.database)
        self.events = EventLog(self.database, self.keep_events_days)
        self.leases = LeaseRenewer(self.database, self.clock)
        self.after_erasure.append(self.recent_steps.clear)
        self._unwatch = register_gauges(self.meter, self.database, self.clock)

    def read(
        self, space: str, asking: RawRequest, work: Callable[[Connection, Request], T], *, union: bool = True
    ) -> T:
        """Resolve the request and read in one snapshot.

        If a search needs documents that are not indexed yet, index them and start the read again.
        """
        for _ in range(limits.INDEX_CATCH_UPS_MAX_COUNT):
            try:
                with self.database.read() as connection:
                    now = self.clock()
                    request = self.requests.resolve(connection, space, asking, now, union=union)
                    return work(connection, request)
            except search.IndexStale:
                search.update_fts_index(self.database)
        raise StoreBusy("others write faster than their words are indexed; try again")

    def get_memory_fast(
        self,
        space: str,
        asking: RawRequest,
        which: Literal["id", "key"],
        named: Mapping[str, str],
        *,
        union: bool = True,
    ) -> tuple[Request, Memory] | FastPathMiss | None:
        """Return one memory and its resolved request, in one statement if possible, or MISS."""
        kept = self.requests.get_cached(space, asking, union=union)
        if kept is None:
            return FAST_PATH_MISS
        request = replace(kept[1], at=self.clock())
        found = get_memory_fast(self.database, self.audiences, (kept[0], request), which, named)
        return found if found is None or found is FAST_PATH_MISS else (request, found[0])

    def write(
        self,
        space: str,
        asking: RawRequest,
        thread: str,
        work: Callable[[Transaction], T],
        vectors: TextVectors = NO_VECTORS,
        *,
        changing: bool = False,
    ) -> T:
        """Resolve the request and write in one transaction, with all identities of the writer.

        Set `changing` if the write changes identities: it then waits for the writes that rely on
        them.
        """

        def attempt(connection: Connection, *, again: bool, first: bool) -> tuple[Transaction, T] | None:
            at, state = self._lock_space(connection, space, changing=changing)
            rev = state.identity_revision
            if first and not self.requests.is_registered(space, asking, rev):
                return None  # not an error: a rollback drops prepared statements
            request = self.requests.resolve(connection, space, asking, at, union=True, rev=rev)
            actor = request.subject or "nobody"
            tx = self._begin(connection, request, state, actor, thread, vectors, again=again)
            return tx, _stamp_notes_of(tx, work(tx))

        written = self.database.write(_with_retry_flag(partial(attempt, first=True)))
        if written is None:
            # The person or the chat is new. Insert it in a separate transaction: that transaction
            # waits for the writes that rely on identities.
            self.requests.register(self.database, space, asking, self.clock())
            written = self.database.write(_with_retry_flag(partial(attempt, first=False)))
            assert written is not None
        tx, done = written
        self.emit_events(space, tx.at, tx.events)
        return done

    def write_as(self, space: str, actor: str, work: Callable[[Transaction], T], *, changing: bool = False) -> T:
        """Write without a requester, as an operator or as the system."""

        def attempt(connection: Connection, *, again: bool) -> tuple[Transaction, T]:
            at, state = self._lock_space(connection, space, changing=changing)
            request = Request(space=space, at=at, requester=None)
            tx = self._begin(connection, request, state, actor, again=again)
            return tx, _stamp_notes_of(tx, work(tx))

        tx, done = self.database.write(_with_retry_flag(attempt))
        self.emit_events(space, tx.at, tx.events)
        return done

    def change_identities(self, space: str, actor: str, work: Callable[[Transaction], T]) -> T:
        """Change people, links or chats, after waiting for the writes that rely on them."""
        return self.write_as(space, actor, work, changing=True)

    def _lock_space(self, connection: Connection, space: str, *, changing: bool) -> tuple[datetime, spaces.SpaceState]:
        at = self.clock()
        if changing:
            spaces.ensure_space(connection, space, at)
            spaces.lock_space(connection, space)
        return at, spaces.lock_space_for_write(connection, space, at)

    def _begin(
        self,
        connection: Connection,
        request: Request,
        state: spaces.SpaceState,
        actor: str,
        thread: str = "",
        vectors: TextVectors = NO_VECTORS,
        *,
        again: bool,
    ) -> Transaction:
        return Transaction(
            connection=connection,
            dialect=self.database.dialect,
            audiences=self.audiences,
            request=request,
            secret=state.secret,
            has_tombstones=state.has_tombstones,
            actor=actor,
            thread=thread,
            at=request.at,
            is_retry=again,
            vectors=vectors,
        )

    def emit_events(self, space: str, at: datetime, happened: Sequence[EventRecord]) -> None:
        """Record events; those of a write only after its commit."""
        if not happened:
            return
        self.events.append(space, at, happened)
        if self.meter.on:
            for one in happened:
                self.meter.count(EVENT_COUNT, node=one.node, op=one.op, status=one.status)

    def close(self) -> None:
        self._unwatch()
        try:
            self.leases.close()
            self.accesses.close()
            self.events.close()
        finally:
            self.database.close()


def _with_retry_flag(attempt: Callable[..., T]) -> Callable[[Connection], T]:
    """Tell each run of one write whether it repeats an earlier run."""
    runs = itertools.count()
    return lambda connection: attempt(connection, again=next(runs) > 0)


def _stamp_notes_of(tx: Transaction, done: T) -> T:
    """Stamp the notes that this write changed, as the last step of the write."""
    if tx.changed_notes:
        stamp_changed_notes(tx)
    return done
