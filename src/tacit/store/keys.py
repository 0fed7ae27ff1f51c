"""Keys of callers at rest: what each is bound to, and a hash of its secret; the secret nowhere."""

from __future__ import annotations

import hmac
import json
from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, update

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.records.accounts import Key, Scope
from tacit.store import rendered
from tacit.store.engine import Database
from tacit.store.tables import api_keys
from tacit.store.writes import Writing

_K = api_keys.c
_COLUMNS = (
    _K.key_id, _K.space_id, _K.digest, _K.name, _K.scopes, _K.requester, _K.agent, _K.categories,
    _K.rate_per_minute, _K.created_at, _K.expires_at, _K.revoked_at,
)  # fmt: skip
# Whoever asks names no space; that two spaces give the same id is a chance nobody meets.
_BY_ID = select(*_COLUMNS).where(_K.key_id == bindparam("id")).limit(2)
_NOBODYS = bytes(32)  # what the hash of an unknown key's secret is compared with
_REMEMBERED = timedelta(seconds=limits.API_KEY_CACHE_SECONDS)


class Held(NamedTuple):
    key: Key
    digest: bytes


class Keyring:
    """Keys that opened something a moment ago. Whatever this process revokes it forgets at once;
    what another one does is seen when that moment is over. A token that opens nothing is looked up
    every time, so that it takes as long whatever the reason is."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, bytes], tuple[datetime, Key]] = OrderedDict()
        self._turn = 0  # moves with each change, so that what was read before it is not kept
        self._lock = Lock()

    def find(self, database: Database, id: str, digest: bytes, now: datetime) -> Key | None:
        """The key of this id whose secret hashes to this, if it holds."""
        named = (id, digest)
        with self._lock:
            kept, turn = self._kept.get(named), self._turn
        if kept is not None and timedelta(0) <= now - kept[0] < _REMEMBERED:
            return kept[1] if kept[1].holds_at(now) else None
        with database.read() as connection:
            held = by_id(connection, id)
        good = [key for key, theirs in held if hmac.compare_digest(theirs, digest)]
        if not held:
            hmac.compare_digest(_NOBODYS, digest)
        found = next((key for key in good if key.holds_at(now)), None)
        with self._lock:
            if turn == self._turn and found is not None:
                self._kept[named] = (now, found)
                if len(self._kept) > limits.API_KEYS_CACHED_MAX_COUNT:
                    self._kept.popitem(last=False)
        return found

    def clear(self) -> None:
        """Something about keys is no longer as it was."""
        with self._lock:
            self._turn += 1
            self._kept.clear()


def by_id(connection: Connection, id: str) -> tuple[Held, ...]:
    return tuple(_held(row) for row in rendered.rows(connection, _BY_ID, {"id": id}))


def of_space(connection: Connection, space: str) -> list[Key]:
    """Oldest first, those that open nothing any more among them."""
    found = select(*_COLUMNS).where(_K.space_id == space).order_by(_K.created_at, _K.key_id)
    return [_held(row).key for row in connection.execute(found)]


def any_holds(connection: Connection, now: datetime) -> bool:
    """Whether some key, of any space, opens something."""
    good = select(_K.key_id).where(
        _K.revoked_at.is_(None), or_(_K.expires_at.is_(None), _K.expires_at > to_micros(now))
    )
    return connection.execute(good.limit(1)).first() is not None


def count(w: Writing) -> int:
    """Those that open nothing any more make room, where there is none left."""
    counted = select(func.count()).select_from(api_keys).where(_K.space_id == w.space)
    found: int = w.connection.execute(counted).scalar_one()
    if found < limits.API_KEYS_MAX_COUNT:
        return found
    over = or_(_K.revoked_at.is_not(None), _K.expires_at <= to_micros(w.at))
    w.connection.execute(delete(api_keys).where(_K.space_id == w.space, over))
    left: int = w.connection.execute(counted).scalar_one()
    return left


def add(w: Writing, key: Key, digest: bytes) -> None:
    row = {
        "space_id": key.space,
        "key_id": key.id,
        "digest": digest,
        "name": key.name,
        "scopes": json.dumps(sorted(key.scopes)),
        "requester": key.requester,
        "agent": key.agent,
        "categories": None if key.categories is None else json.dumps(key.categories),
        "rate_per_minute": key.rate_per_minute,
        "created_at": to_micros(key.created_at),
        "expires_at": None if key.expires_at is None else to_micros(key.expires_at),
        "revoked_at": None,
    }
    w.connection.execute(insert(api_keys).values(row))


def revoke(w: Writing, id: str) -> bool:
    """False where there is none. One that was revoked before stays revoked since then."""
    known = select(_K.key_id).where(_K.space_id == w.space, _K.key_id == id)
    if w.connection.execute(known).first() is None:
        return False
    w.connection.execute(
        update(api_keys)
        .where(_K.space_id == w.space, _K.key_id == id, _K.revoked_at.is_(None))
        .values(revoked_at=to_micros(w.at))
    )
    return True


def _held(row: Iterable[Any]) -> Held:
    id, space, digest, name, scopes, requester, agent, categories, rate, *times = row
    created_at, expires_at, revoked_at = times
    granted = set(json.loads(scopes))
    key = Key(
        id=id,
        space=space,
        name=name,
        scopes=frozenset(scope for scope in Scope if scope.value in granted),
        requester=requester,
        agent=agent,
        categories=None if categories is None else tuple(json.loads(categories)),
        rate_per_minute=rate,
        created_at=from_micros(created_at),
        expires_at=None if expires_at is None else from_micros(expires_at),
        revoked_at=None if revoked_at is None else from_micros(revoked_at),
    )
    return Held(key, bytes(digest))
