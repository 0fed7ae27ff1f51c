"""Store API keys, sign-in links, web sessions and offers to link identities."""

from __future__ import annotations

import hmac
import json
from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import TooManyRequests
from tacit.identity import EXTERNAL_PREFIX
from tacit.records.accounts import Key, Scope, WebSession
from tacit.storage import statements
from tacit.storage.engine import Database
from tacit.storage.memories import Transaction
from tacit.storage.schema import api_keys, link_attempts, link_offers, sign_in_links, web_sessions
from tacit.storage.spaces import keyed_digest, new_id

# API keys: the restrictions of each key and a hash of its secret. The secret is not stored.

_K = api_keys.c
_KEY_COLUMNS = (
    _K.key_id, _K.space_id, _K.digest, _K.name, _K.scopes, _K.requester, _K.agent, _K.categories,
    _K.rate_per_minute, _K.created_at, _K.expires_at, _K.revoked_at,
)  # fmt: skip
# A caller names no space. The same random id in several spaces is negligibly rare.
_SELECT_KEY = select(*_KEY_COLUMNS).where(_K.key_id == bindparam("id")).limit(2)
_NO_KEY_DIGEST = bytes(32)  # compared with the digest of an unknown key, for constant time
_CACHED_FOR = timedelta(seconds=limits.API_KEY_CACHE_SECONDS)


class StoredKey(NamedTuple):
    key: Key
    digest: bytes


class ApiKeyCache:
    """Cache valid API keys for a short time.

    A change in this process clears the cache at once; a change in another process takes effect when
    the entry expires. Invalid tokens are not cached: each one is read from the database, so that
    the time does not reveal why it is invalid.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, bytes], tuple[datetime, Key]] = OrderedDict()
        self._turn = 0  # incremented by each change, so that older reads are not cached
        self._lock = Lock()

    def find(self, database: Database, id: str, digest: bytes, now: datetime) -> Key | None:
        """Return the valid key with this id and this digest of its secret."""
        named = (id, digest)
        with self._lock:
            kept, turn = self._kept.get(named), self._turn
        if kept is not None and timedelta(0) <= now - kept[0] < _CACHED_FOR:
            return kept[1] if kept[1].holds_at(now) else None
        with database.read() as connection:
            held = find_api_keys(connection, id)
        good = [key for key, theirs in held if hmac.compare_digest(theirs, digest)]
        if not held:
            hmac.compare_digest(_NO_KEY_DIGEST, digest)
        found = next((key for key in good if key.holds_at(now)), None)
        with self._lock:
            if turn == self._turn and found is not None:
                self._kept[named] = (now, found)
                if len(self._kept) > limits.API_KEYS_CACHED_MAX_COUNT:
                    self._kept.popitem(last=False)
        return found

    def clear(self) -> None:
        """Clear the cache after a change of any key."""
        with self._lock:
            self._turn += 1
            self._kept.clear()


def find_api_keys(connection: Connection, id: str) -> tuple[StoredKey, ...]:
    return tuple(
        _to_stored_key(row) for row in statements.fetch_rows(connection, _SELECT_KEY, {"id": id})
    )


def list_api_keys(connection: Connection, space: str) -> list[Key]:
    """List the keys of a space, the oldest first, including expired and revoked ones."""
    found = select(*_KEY_COLUMNS).where(_K.space_id == space).order_by(_K.created_at, _K.key_id)
    return [_to_stored_key(row).key for row in connection.execute(found)]


def has_valid_api_key(connection: Connection, now: datetime) -> bool:
    """Return whether any space has a valid key."""
    good = select(_K.key_id).where(
        _K.revoked_at.is_(None), or_(_K.expires_at.is_(None), _K.expires_at > to_micros(now))
    )
    return connection.execute(good.limit(1)).first() is not None


def count_api_keys(tx: Transaction) -> int:
    """Count the keys of the space; at the limit, delete expired and revoked keys first."""
    counted = select(func.count()).select_from(api_keys).where(_K.space_id == tx.space)
    found: int = tx.connection.execute(counted).scalar_one()
    if found < limits.API_KEYS_MAX_COUNT:
        return found
    over = or_(_K.revoked_at.is_not(None), _K.expires_at <= to_micros(tx.at))
    tx.connection.execute(delete(api_keys).where(_K.space_id == tx.space, over))
    left: int = tx.connection.execute(counted).scalar_one()
    return left


def insert_api_key(tx: Transaction, key: Key, digest: bytes) -> None:
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
    tx.connection.execute(insert(api_keys).values(row))


def revoke_api_key(tx: Transaction, id: str) -> bool:
    """Revoke a key; return False if there is none.

    A key that is already revoked keeps its first revocation time.
    """
    known = select(_K.key_id).where(_K.space_id == tx.space, _K.key_id == id)
    if tx.connection.execute(known).first() is None:
        return False
    tx.connection.execute(
        update(api_keys)
        .where(_K.space_id == tx.space, _K.key_id == id, _K.revoked_at.is_(None))
        .values(revoked_at=to_micros(tx.at))
    )
    return True


def _to_stored_key(row: Iterable[Any]) -> StoredKey:
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
    return StoredKey(key, bytes(digest))


# Sign-in links and web sessions: hashes of their secrets, and their owners.
#
# A caller names no space: a row is found by its id in all spaces, and by the hash of its secret.

_L = sign_in_links.c
_S = web_sessions.c
_SELECT_SIGN_IN_LINK = select(_L.space_id, _L.digest, _L.person, _L.operator, _L.expires_at).where(
    _L.id == bindparam("id")
)
_SELECT_WEB_SESSION = select(
    _S.space_id, _S.digest, _S.person, _S.operator, _S.created_at, _S.seen_at, _S.expires_at
).where(_S.id == bindparam("id"))
_NO_SESSION_DIGEST = bytes(32)  # compared with the digest of an unknown secret, for constant time


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInOwner:
    """The owner of a sign-in: a person by identity, or an operator by name."""

    person: str | None = None
    operator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInLink:
    id: str
    space: str
    who: SignInOwner
    expires_at: datetime


def insert_sign_in_link(
    tx: Transaction, id: str, digest: bytes, who: SignInOwner, expires_at: datetime
) -> None:
    """Insert a sign-in link; delete the owner's oldest links above the limit."""
    _lock_sign_ins(tx, who)
    _delete_oldest(tx, sign_in_links, who, _L.created_at, limits.SIGN_INS_MAX_COUNT - 1)
    row = {
        "space_id": tx.space,
        "id": id,
        "digest": digest,
        "person": who.person,
        "operator": who.operator,
        "created_at": to_micros(tx.at),
        "expires_at": to_micros(expires_at),
    }
    tx.connection.execute(insert(sign_in_links).values(row))


def find_sign_in_link(connection: Connection, id: str, digest: bytes) -> SignInLink | None:
    """Return the sign-in link with this id and digest, expired or not."""
    row = _find_by_digest(connection, _SELECT_SIGN_IN_LINK, id, digest)
    if row is None:
        return None
    space, _, person, operator, expires_at = row
    who = SignInOwner(person=person, operator=operator)
    return SignInLink(id=id, space=space, who=who, expires_at=from_micros(expires_at))


def begin_web_session(
    tx: Transaction, used: SignInLink, digest: bytes, sitting: WebSession
) -> bool:
    """Replace a sign-in link with a web session.

    One DELETE takes the link, so that only one of several concurrent callers succeeds. Return False
    for the others and for an expired link.
    """
    _lock_sign_ins(tx, used.who)
    this = (_L.space_id == tx.space, _L.id == used.id, _L.expires_at > to_micros(tx.at))
    if tx.connection.execute(delete(sign_in_links).where(*this)).rowcount != 1:
        return False
    _delete_oldest(tx, web_sessions, used.who, _S.seen_at, limits.WEB_SESSIONS_MAX_COUNT - 1)
    row = {
        "space_id": tx.space,
        "id": sitting.id,
        "digest": digest,
        "person": used.who.person,
        "operator": used.who.operator,
        "created_at": to_micros(sitting.created_at),
        "seen_at": to_micros(sitting.seen_at),
        "expires_at": to_micros(sitting.expires_at),
    }
    tx.connection.execute(insert(web_sessions).values(row))
    return True


def find_web_session(connection: Connection, id: str, digest: bytes) -> WebSession | None:
    """Return the web session with this id and digest, expired or not."""
    row = _find_by_digest(connection, _SELECT_WEB_SESSION, id, digest)
    if row is None:
        return None
    space, _, person, operator, created_at, seen_at, expires_at = row
    return WebSession(
        id=id,
        space=space,
        person=external_key(person),
        operator=operator,
        created_at=from_micros(created_at),
        seen_at=from_micros(seen_at),
        expires_at=from_micros(expires_at),
    )


def external_key(person: str | None) -> str | None:
    """Return the identity as its channel names the person, without the prefix."""
    return None if person is None else person.removeprefix(f"{EXTERNAL_PREFIX}:")


def touch_web_session(connection: Connection, one: WebSession, at: datetime) -> bool:
    """Update the time of last use; return False if the session has ended."""
    this = (_S.space_id == one.space, _S.id == one.id)
    moved = update(web_sessions).where(*this).values(seen_at=to_micros(at))
    return connection.execute(moved).rowcount == 1


def end_web_session(connection: Connection, one: WebSession) -> None:
    this = (_S.space_id == one.space, _S.id == one.id)
    connection.execute(delete(web_sessions).where(*this))


def end_web_sessions(connection: Connection, space: str, people: Collection[str]) -> int:
    """End the web sessions of a person's identities and delete their sign-in links.

    Return the number of web sessions.
    """
    who = sorted(people)
    connection.execute(delete(sign_in_links).where(_L.space_id == space, _L.person.in_(who)))
    ended = delete(web_sessions).where(_S.space_id == space, _S.person.in_(who))
    return connection.execute(ended).rowcount


def end_operator_web_sessions(connection: Connection, space: str, name: str) -> int:
    who = SignInOwner(operator=name)
    connection.execute(
        delete(sign_in_links).where(_L.space_id == space, *_is_of_owner(sign_in_links, who))
    )
    ended = delete(web_sessions).where(_S.space_id == space, *_is_of_owner(web_sessions, who))
    return connection.execute(ended).rowcount


def _find_by_digest(connection: Connection, rows: Select[Any], id: str, digest: bytes) -> Any:
    """Return the row with this id and digest, or None after the same number of comparisons."""
    found = statements.fetch_rows(connection, rows, {"id": id})
    good = [row for row in found if hmac.compare_digest(bytes(row[1]), digest)]
    if not found:
        hmac.compare_digest(_NO_SESSION_DIGEST, digest)
    return good[0] if good else None


def _is_of_owner(table: Table, who: SignInOwner) -> tuple[Any, ...]:
    c = table.c
    return (
        (c.person.is_(None), c.operator == who.operator)
        if who.person is None
        else (c.person == who.person,)
    )


def _lock_sign_ins(tx: Transaction, who: SignInOwner) -> None:
    """Serialize sign-ins of one owner, so that the counts are exact."""
    named = who.person if who.person is not None else f"operator {who.operator}"
    tx.dialect.acquire_lock(tx.connection, f"{tx.space} sign in {named}")


def _delete_oldest(tx: Transaction, table: Table, who: SignInOwner, by: Any, count: int) -> None:
    theirs = (table.c.space_id == tx.space, *_is_of_owner(table, who))
    newest = select(table.c.id).where(*theirs).order_by(by.desc(), table.c.id.desc()).limit(count)
    tx.connection.execute(delete(table).where(*theirs, table.c.id.not_in(newest)))


# Link codes and the identities that accepted them. A row is deleted when its code is used or
# expired; only the links themselves last.
#
# The same statements run for a code that is wrong, expired, used or the requester's own.

OFFER_OPEN = "open"  # not accepted yet
OFFER_ASKED = "asked"  # accepted; the person who offered the code must confirm
_O = link_offers.c
_T = link_attempts.c
_OFFER_LIFETIME = timedelta(minutes=limits.LINK_CODE_MINUTES)
_TRY_WINDOW = timedelta(hours=limits.LINK_TRIES_HOURS)
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingLink:
    """An accepted offer that waits for confirmation by the identity that made it."""

    offered_by: str
    accepted_by: str
    expires_at: datetime


def lock_link_offers(tx: Transaction, who: str) -> None:
    """Serialize the use of link codes by one identity, so that its tries are counted."""
    tx.dialect.acquire_lock(tx.connection, f"{tx.space} link {who}")


def insert_link_offer(tx: Transaction, who: str, code: str) -> datetime:
    """Insert a link code in place of the earlier one; return its expiry."""
    tx.connection.execute(_delete_offers(tx, _O.offered_by == who))
    expires_at = tx.at + _OFFER_LIFETIME
    row = {
        "space_id": tx.space,
        "id": new_id(),
        "code_hash": _code_digest(tx, code),
        "offered_by": who,
        "accepted_by": None,
        "state": OFFER_OPEN,
        "created_at": to_micros(tx.at),
        "expires_at": to_micros(expires_at),
    }
    tx.connection.execute(insert(link_offers).values(**row))
    return expires_at


def accept_link_offer(tx: Transaction, who: str, code: str) -> PendingLink | None:
    """Accept a link code; return None if the code is not valid for this identity.

    One UPDATE takes the code, so that only one of several concurrent callers succeeds. A repeated
    call by the same identity returns the same result. Offers that the identity accepted before are
    deleted.
    """
    hashed = _code_digest(tx, code)
    this = (_O.space_id == tx.space, _O.code_hash == hashed, _O.expires_at > to_micros(tx.at))
    values = {
        "state": OFFER_ASKED,
        "accepted_by": who,
        "expires_at": to_micros(tx.at + _OFFER_LIFETIME),
    }
    free = (_O.state == OFFER_OPEN, _O.offered_by.not_in(sorted(tx.request.own_identities | {who})))
    tx.connection.execute(update(link_offers).where(*this, *free).values(**values))
    taken = select(link_offers).where(*this, _O.state == OFFER_ASKED, _O.accepted_by == who)
    row = tx.connection.execute(taken).one_or_none()
    if row is None:
        return None
    tx.connection.execute(_delete_offers(tx, _O.accepted_by == who, _O.code_hash != hashed))
    return _to_pending_link(row)


def find_pending_link(
    connection: Connection, space: str, who: str, at: datetime
) -> PendingLink | None:
    """Return the link that waits for confirmation by this identity."""
    mine = select(link_offers).where(
        _O.space_id == space, _O.offered_by == who, _O.state == OFFER_ASKED
    )
    return _first_unexpired(connection, mine, at)


def find_accepted_link(
    connection: Connection, space: str, who: str, at: datetime
) -> PendingLink | None:
    """Return the link that this identity has accepted and the other one has not confirmed."""
    mine = select(link_offers).where(_O.space_id == space, _O.accepted_by == who)
    return _first_unexpired(connection, mine, at)


def delete_link_offers(connection: Connection, space: str, who: Collection[str]) -> int:
    """Delete all link codes that these identities offered or accepted; return the count."""
    theirs = or_(_O.offered_by.in_(sorted(who)), _O.accepted_by.in_(sorted(who)))
    return connection.execute(delete(link_offers).where(_O.space_id == space, theirs)).rowcount


def require_link_tries_left(tx: Transaction, who: str) -> None:
    """Raise TooManyRequests if this identity has no tries left.

    Call this before the code is read, so that a blocked caller learns nothing about the code.
    """
    lately = (_T.space_id == tx.space, _T.person == who, _T.at > to_micros(tx.at - _TRY_WINDOW))
    newest = select(_T.at).where(*lately).order_by(_T.at.desc()).limit(limits.LINK_TRIES_MAX_COUNT)
    tries = tx.connection.execute(newest).scalars().all()
    if len(tries) >= limits.LINK_TRIES_MAX_COUNT:
        wait = from_micros(tries[-1]) + _TRY_WINDOW - tx.at
        raise TooManyRequests(max(1, ceil(wait / _SECOND)))


def insert_link_try(tx: Transaction, who: str) -> None:
    row = {"space_id": tx.space, "person": who, "id": new_id(), "at": to_micros(tx.at)}
    tx.connection.execute(insert(link_attempts).values(**row))


def _first_unexpired(connection: Connection, mine: Select[Any], at: datetime) -> PendingLink | None:
    """Return the only row, unless it is expired.

    The expiry is checked here and not in SQL: the database could choose the index by expiry and
    scan the rows of all people.
    """
    row = connection.execute(mine).one_or_none()
    return None if row is None or row.expires_at <= to_micros(at) else _to_pending_link(row)


def _code_digest(tx: Transaction, code: str) -> str:
    """Hash a code with the secret of the space, so that its hash differs between spaces."""
    return keyed_digest(tx.secret, f"link code {code}")


def _delete_offers(tx: Transaction, *which: Any) -> Any:
    return delete(link_offers).where(_O.space_id == tx.space, *which)


def _to_pending_link(row: Any) -> PendingLink:
    return PendingLink(
        offered_by=row.offered_by,
        accepted_by=row.accepted_by,
        expires_at=from_micros(row.expires_at),
    )
