"""Requests resolved from the store, and kept until somebody's identity changes.

What is kept carries the revision it was read at; the revision is read again in the same snapshot
as the rows, so that another process's unlink is seen by the very next read.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from datetime import datetime
from threading import Lock

from sqlalchemy import Connection

from tacit import limits
from tacit.identity.resolution import RawRequest, resolve_request
from tacit.records.memory import ChatKind
from tacit.records.request import Request
from tacit.store import places, spaces
from tacit.store.engine import Database
from tacit.store.identities import around

_Key = tuple[str, RawRequest, bool]


class Requests:
    def __init__(self) -> None:
        self._kept: OrderedDict[_Key, tuple[int, Request]] = OrderedDict()
        self._registered: OrderedDict[tuple[str, RawRequest], int] = OrderedDict()
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
        """`rev` is the revision this transaction has read already, if it has."""
        if rev is None:
            rev = spaces.identity_rev(connection, space)
        key = (space, asking, union)
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept[0] == rev:
            return replace(kept[1], at=at)
        place = places.place(connection, space, asking.chat)
        identities = around(connection, space, asking.people | place.members)
        request = resolve_request(space, at, asking, place, identities, union=union)
        request = replace(request, identity_rev=rev)
        with self._lock:
            self._kept[key] = (rev, request)
            if len(self._kept) > limits.IDENTITY_CACHE_MAX_COUNT:
                self._kept.popitem(last=False)
        return request

    def get_cached(
        self, space: str, asking: RawRequest, *, union: bool
    ) -> tuple[int, Request] | None:
        """What was resolved before, and the revision it holds for."""
        return self._kept.get((space, asking, union))

    def is_registered(self, space: str, asking: RawRequest, rev: int) -> bool:
        return self._registered.get((space, asking)) == rev

    def register(self, database: Database, space: str, asking: RawRequest, at: datetime) -> None:
        """Before a first write: note the chat and its people, in a transaction of their own."""
        key = (space, asking)
        with database.read() as connection:
            rev = spaces.identity_rev(connection, space)
            request = self.resolve(connection, space, asking, at, union=True)
            known = rev > 0 and places.knows(connection, space, asking)
        if not known:
            rev = database.write(lambda c: self._register(c, database, request, asking, at))
        with self._lock:
            self._registered[key] = rev
            if len(self._registered) > limits.IDENTITY_CACHE_MAX_COUNT:
                self._registered.popitem(last=False)

    def _register(
        self,
        connection: Connection,
        database: Database,
        request: Request,
        asking: RawRequest,
        at: datetime,
    ) -> int:
        """Only what an adapter vouches for: who is not in a room tells us nothing of it."""
        space = request.space
        if request.private or request.kind is ChatKind.GROUP:
            places.register(connection, database.dialect, space, asking, at)
        else:
            spaces.ensure(connection, database.dialect, space, at)
        return spaces.identity_rev(connection, space)
