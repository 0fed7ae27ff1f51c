"""One open store: its database and what it keeps in mind. The façade and its views share it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from sqlalchemy import Connection

from tacit import limits
from tacit.clock import Clock
from tacit.errors import StoreBusy
from tacit.identity.resolution import RawRequest
from tacit.records.memory import Memory
from tacit.records.request import Request
from tacit.store import gauges, noted, spaces, words
from tacit.store.accesses import Accesses
from tacit.store.audiences import Audiences
from tacit.store.engine import Database
from tacit.store.events import Events
from tacit.store.glance import MISS, Miss, glance
from tacit.store.graph_recent import Recent
from tacit.store.happening import Happened
from tacit.store.keys import Keyring
from tacit.store.leases import Leases
from tacit.store.requests import Requests
from tacit.store.writes import NO_VECTORS, Vectors, Writing
from tacit.telemetry.metrics import EVENT_COUNT, NO_METER, Meter, StopCallback

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Store:
    database: Database
    clock: Clock
    requests: Requests = field(default_factory=Requests)
    audiences: Audiences = field(default_factory=Audiences)
    api_keys: Keyring = field(default_factory=Keyring)
    meter: Meter = NO_METER
    keep_events_days: int = 0  # 0: what happens is not recorded
    journal: Path | None = None  # of erasures; no backup of the database takes it with it
    # What is done once something was erased, in files beside the database; whether it could be.
    after_erasure: list[Callable[[], bool]] = field(default_factory=list)
    recent_steps: Recent = field(default_factory=Recent)
    accesses: Accesses = field(init=False)
    events: Events = field(init=False)
    leases: Leases = field(init=False)
    _unwatch: StopCallback = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "accesses", Accesses(self.database))
        object.__setattr__(self, "events", Events(self.database, self.keep_events_days))
        object.__setattr__(self, "leases", Leases(self.database, self.clock))
        self.after_erasure.append(self.recent_steps.clear)
        stop = gauges.watch(self.meter, self.database, self.clock)
        object.__setattr__(self, "_unwatch", stop)

    def read(
        self,
        space: str,
        asking: RawRequest,
        work: Callable[[Connection, Request], T],
        *,
        union: bool = True,
    ) -> T:
        """Resolve and read in one snapshot. Where words are to be searched that are not indexed
        yet, they are, and the read begins again."""
        for _ in range(limits.INDEX_CATCH_UPS_MAX_COUNT):
            try:
                with self.database.read() as connection:
                    now = self.clock()
                    request = self.requests.resolve(connection, space, asking, now, union=union)
                    return work(connection, request)
            except words.Behind:
                words.catch_up(self.database)
        raise StoreBusy("others write faster than their words are indexed; try again")

    def get_memory_fast(
        self,
        space: str,
        asking: RawRequest,
        which: Literal["id", "key"],
        named: Mapping[str, str],
        *,
        union: bool = True,
    ) -> tuple[Request, Memory] | Miss | None:
        """One memory, and the request it was judged by, in one statement where that can be."""
        kept = self.requests.get_cached(space, asking, union=union)
        if kept is None:
            return MISS
        request = replace(kept[1], at=self.clock())
        found = glance(self.database, self.audiences, (kept[0], request), which, named)
        return found if found is None or found is MISS else (request, found[0])

    def write(
        self,
        space: str,
        asking: RawRequest,
        thread: str,
        work: Callable[[Writing], T],
        vectors: Vectors = NO_VECTORS,
        *,
        changing: bool = False,
    ) -> T:
        """Resolve and write in one transaction; the writer acts with all their identities.
        `changing`: who is whom, so it waits for the writes that rely on that."""

        def attempt(
            connection: Connection, *, again: bool, first: bool
        ) -> tuple[Writing, T] | None:
            at, dialect = self.clock(), self.database.dialect
            if changing:
                spaces.ensure(connection, dialect, space, at)
                dialect.lock_space(connection, space)
            rev, secret, erased = spaces.enter(connection, dialect, space, at)
            if first and not self.requests.is_registered(space, asking, rev):
                return None  # no error: to undo it, a connection would forget its statements
            request = self.requests.resolve(connection, space, asking, at, union=True, rev=rev)
            w = Writing(
                connection=connection,
                dialect=dialect,
                audiences=self.audiences,
                request=request,
                secret=secret,
                has_tombstones=erased,
                actor=request.subject or "nobody",
                thread=thread,
                at=at,
                is_retry=again,
                vectors=vectors,
            )
            return w, _settled(w, work(w))

        written = self.database.write(_repeatable(partial(attempt, first=True)))
        if written is None:
            # Somebody new, or somewhere new: that is noted in a transaction of its own, because
            # it waits for the writes that rely on who is whom.
            self.requests.register(self.database, space, asking, self.clock())
            written = self.database.write(_repeatable(partial(attempt, first=False)))
            assert written is not None
        w, done = written
        self.emit_events(space, w.at, w.events)
        return done

    def write_as(self, space: str, actor: str, work: Callable[[Writing], T]) -> T:
        """A write by somebody who is nobody's requester: an operator, or the system itself."""
        return self._write_as(space, actor, work, changing=False)

    def change_identities(self, space: str, actor: str, work: Callable[[Writing], T]) -> T:
        """A change of people, links or chats: it waits for the writes that rely on them."""
        return self._write_as(space, actor, work, changing=True)

    def emit_events(self, space: str, at: datetime, happened: Sequence[Happened]) -> None:
        """What has happened, and is committed if it was a write."""
        if not happened:
            return
        self.events.append(space, at, happened)
        if self.meter.on:
            for one in happened:
                self.meter.count(EVENT_COUNT, node=one.node, op=one.op, status=one.status)

    def _write_as(
        self, space: str, actor: str, work: Callable[[Writing], T], *, changing: bool
    ) -> T:
        def attempt(connection: Connection, *, again: bool) -> tuple[Writing, T]:
            w = self._begin_as(connection, space, actor, changing=changing, again=again)
            return w, _settled(w, work(w))

        w, done = self.database.write(_repeatable(attempt))
        self.emit_events(space, w.at, w.events)
        return done

    def _begin_as(
        self, connection: Connection, space: str, actor: str, *, changing: bool, again: bool
    ) -> Writing:
        at, dialect = self.clock(), self.database.dialect
        if changing:
            spaces.ensure(connection, dialect, space, at)
            dialect.lock_space(connection, space)
        _, secret, erased = spaces.enter(connection, dialect, space, at)
        return Writing(
            connection=connection,
            dialect=dialect,
            audiences=self.audiences,
            request=Request(space=space, at=at, requester=None),
            secret=secret,
            has_tombstones=erased,
            actor=actor,
            thread="",
            at=at,
            is_retry=again,
        )

    def close(self) -> None:
        self._unwatch()
        try:
            self.leases.close()
            self.accesses.close()
            self.events.close()
        finally:
            self.database.close()


def _repeatable(attempt: Callable[..., T]) -> Callable[[Connection], T]:
    """Tell each run of one write whether it repeats an earlier one."""
    runs = itertools.count()
    return lambda connection: attempt(connection, again=next(runs) > 0)


def _settled(w: Writing, done: T) -> T:
    """The last thing of a write: notes that it changed have changed."""
    if w.changed_notes:
        noted.settle(w)
    return done
