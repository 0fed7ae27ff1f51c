"""Store API keys, sign-in links, web sessions and offers to link identities."""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from threading import Lock
from typing import Any

from cachetools import FIFOCache
from sqlalchemy import ColumnElement, Connection, Select, Table, and_, func, or_, select

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import TooManyRequests
from tacit.identity import EXTERNAL_PREFIX
from tacit.records.accounts import Key, Scope, WebSession
from tacit.storage.engine import Database, delete_rows, has_row, insert_row, to_columns, to_record, update_rows
from tacit.storage.memories import Transaction
from tacit.storage.schema import api_keys, link_attempts, link_offers, sign_in_links, web_sessions
from tacit.storage.spaces import keyed_digest, new_id

# API keys: the restrictions of each key and a hash of its secret. The secret is not stored.

_K = api_keys.c
_SELECT_KEYS = select(api_keys, _K.key_id.label("id"), _K.space_id.label("space"))
_NO_DIGEST = bytes(32)  # compared with the digest of an unknown secret, for constant time
_CACHED_FOR = timedelta(seconds=limits.API_KEY_CACHE_SECONDS)


class ApiKeyCache:
    """Cache valid API keys for a short time.

    A change in this process clears the cache at once; a change in another process takes effect when
    the entry expires. Invalid tokens are not cached: each one is read from the database, so that
    the time does not reveal why it is invalid.
    """

    def __init__(self) -> None:
        self._kept: FIFOCache[tuple[str, bytes], tuple[datetime, Key]] = FIFOCache(limits.API_KEYS_CACHED_MAX_COUNT)
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
            keys = find_api_keys(connection, id, digest)
        found = next((key for key in keys if key.holds_at(now)), None)
        with self._lock:
            if turn == self._turn and found is not None:
                self._kept[named] = (now, found)
        return found

    def clear(self) -> None:
        """Clear the cache after a change of any key."""
        with self._lock:
            self._turn += 1
            self._kept.clear()


def find_api_keys(connection: Connection, id: str, digest: bytes) -> list[Key]:
    """Return the keys of all spaces with this id and digest; several are negligibly rare."""
    rows = _SELECT_KEYS.where(_K.key_id == id).limit(2)
    return [_to_key(row) for row in _find_by_digest(connection, rows, digest)]


def list_api_keys(connection: Connection, space: str) -> list[Key]:
    """List the keys of a space, the oldest first, including expired and revoked ones."""
    found = _SELECT_KEYS.where(_K.space_id == space).order_by(_K.created_at, _K.key_id)
    return [_to_key(row) for row in connection.execute(found)]


def has_valid_api_key(connection: Connection, now: datetime) -> bool:
    """Return whether any space has a valid key."""
    lasting = or_(_K.expires_at.is_(None), _K.expires_at > to_micros(now))
    return has_row(connection, select(_K.key_id).where(_K.revoked_at.is_(None), lasting))


def count_api_keys(tx: Transaction) -> int:
    """Count the keys of the space; at the limit, delete expired and revoked keys first."""
    counted = select(func.count()).select_from(api_keys).where(_K.space_id == tx.space)
    found: int = tx.connection.execute(counted).scalar_one()
    if found < limits.API_KEYS_MAX_COUNT:
        return found
    over = or_(_K.revoked_at.is_not(None), _K.expires_at <= to_micros(tx.at))
    return found - delete_rows(tx.connection, api_keys, tx.space, over)


def insert_api_key(tx: Transaction, key: Key, digest: bytes) -> None:
    columns = to_columns(key, api_keys)
    insert_row(tx.connection, api_keys, tx.space, key_id=key.id, digest=digest, **columns)


def revoke_api_key(tx: Transaction, id: str) -> bool:
    """Revoke a key; return False if there is none.

    A key that is already revoked keeps its first revocation time.
    """
    first = func.coalesce(_K.revoked_at, to_micros(tx.at))
    return update_rows(tx.connection, api_keys, tx.space, _K.key_id == id, revoked_at=first) > 0


def _to_key(row: Any) -> Key:
    granted = json.loads(row.scopes)
    return to_record(Key, row, scopes=frozenset(scope for scope in Scope if scope in granted))


# Sign-in links and web sessions: hashes of their secrets, and their owners.
#
# A caller names no space: a row is found by its id in all spaces, and by the hash of its secret.

_L = sign_in_links.c
_S = web_sessions.c


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


def insert_sign_in_link(tx: Transaction, id: str, digest: bytes, who: SignInOwner, expires_at: datetime) -> None:
    """Insert a sign-in link; delete the owner's oldest links above the limit."""
    _lock_sign_ins(tx, who)
    _delete_oldest(tx, sign_in_links, who, _L.created_at, limits.SIGN_INS_MAX_COUNT - 1)
    columns = {"person": who.person, "operator": who.operator, "expires_at": expires_at}
    insert_row(tx.connection, sign_in_links, tx.space, id=id, digest=digest, created_at=tx.at, **columns)


def find_sign_in_link(connection: Connection, id: str, digest: bytes) -> SignInLink | None:
    """Return the sign-in link with this id and digest, expired or not."""
    links = select(sign_in_links, _L.space_id.label("space")).where(_L.id == id)
    for row in _find_by_digest(connection, links, digest):
        return to_record(SignInLink, row, who=to_record(SignInOwner, row))
    return None


def begin_web_session(tx: Transaction, used: SignInLink, digest: bytes, sitting: WebSession) -> bool:
    """Replace a sign-in link with a web session.

    One DELETE takes the link, so that only one of several concurrent callers succeeds. Return False
    for the others and for an expired link.
    """
    _lock_sign_ins(tx, used.who)
    this = (_L.id == used.id, _L.expires_at > to_micros(tx.at))
    if delete_rows(tx.connection, sign_in_links, tx.space, *this) != 1:
        return False
    _delete_oldest(tx, web_sessions, used.who, _S.seen_at, limits.WEB_SESSIONS_MAX_COUNT - 1)
    columns = to_columns(sitting, web_sessions) | {"person": used.who.person}
    insert_row(tx.connection, web_sessions, tx.space, digest=digest, **columns)
    return True


def find_web_session(connection: Connection, id: str, digest: bytes) -> WebSession | None:
    """Return the web session with this id and digest, expired or not."""
    sessions = select(web_sessions, _S.space_id.label("space")).where(_S.id == id)
    for row in _find_by_digest(connection, sessions, digest):
        return to_record(WebSession, row, person=external_key(row.person))
    return None


def external_key(person: str | None) -> str | None:
    """Return the identity as its channel names the person, without the prefix."""
    return None if person is None else person.removeprefix(f"{EXTERNAL_PREFIX}:")


def touch_web_session(connection: Connection, one: WebSession, at: datetime) -> bool:
    """Update the time of last use; return False if the session has ended."""
    return update_rows(connection, web_sessions, one.space, _S.id == one.id, seen_at=at) == 1


def end_web_session(connection: Connection, one: WebSession) -> None:
    delete_rows(connection, web_sessions, one.space, _S.id == one.id)


def end_web_sessions(connection: Connection, space: str, people: Collection[str], operator: str | None = None) -> int:
    """End the web sessions of a person's identities or of an operator; delete their sign-in links.

    Return the number of web sessions.
    """
    delete_rows(connection, sign_in_links, space, _is_owned(sign_in_links, people, operator))
    return delete_rows(connection, web_sessions, space, _is_owned(web_sessions, people, operator))


def _find_by_digest(connection: Connection, rows: Select[Any], digest: bytes) -> list[Any]:
    """Return the rows with this digest, none after the same number of comparisons."""
    found = connection.execute(rows).all()
    if not found:
        hmac.compare_digest(_NO_DIGEST, digest)
    return [row for row in found if hmac.compare_digest(bytes(row.digest), digest)]


def _is_owned(table: Table, people: Collection[str | None], operator: str | None) -> ColumnElement[bool]:
    c = table.c
    if operator is None:
        return c.person.in_(sorted(one for one in people if one is not None))
    return and_(c.person.is_(None), c.operator == operator)


def _lock_sign_ins(tx: Transaction, who: SignInOwner) -> None:
    """Serialize sign-ins of one owner, so that the counts are exact."""
    named = who.person if who.person is not None else f"operator {who.operator}"
    tx.dialect.acquire_lock(tx.connection, f"{tx.space} sign in {named}")


def _delete_oldest(tx: Transaction, table: Table, who: SignInOwner, by: Any, count: int) -> None:
    theirs = _is_owned(table, [who.person], who.operator)
    newest = select(table.c.id).where(table.c.space_id == tx.space, theirs)
    kept = newest.order_by(by.desc(), table.c.id.desc()).limit(count)
    delete_rows(tx.connection, table, tx.space, theirs, table.c.id.not_in(kept))


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
    delete_rows(tx.connection, link_offers, tx.space, _O.offered_by == who)
    expires_at = tx.at + _OFFER_LIFETIME
    row = {"id": new_id(), "code_hash": _code_digest(tx, code), "offered_by": who}
    times = {"created_at": tx.at, "expires_at": expires_at}
    insert_row(tx.connection, link_offers, tx.space, **row, state=OFFER_OPEN, **times)
    return expires_at


def accept_link_offer(tx: Transaction, who: str, code: str) -> PendingLink | None:
    """Accept a link code; return None if the code is not valid for this identity.

    One UPDATE takes the code, so that only one of several concurrent callers succeeds. A repeated
    call by the same identity returns the same result. Offers that the identity accepted before are
    deleted.
    """
    hashed = _code_digest(tx, code)
    this = (_O.code_hash == hashed, _O.expires_at > to_micros(tx.at))
    free = (_O.state == OFFER_OPEN, _O.offered_by.not_in(sorted(tx.request.own_identities | {who})))
    accepted = {"state": OFFER_ASKED, "accepted_by": who, "expires_at": tx.at + _OFFER_LIFETIME}
    update_rows(tx.connection, link_offers, tx.space, *this, *free, **accepted)
    mine = (*this, _O.state == OFFER_ASKED, _O.accepted_by == who)
    found = _find_offer(tx.connection, tx.space, tx.at, *mine)
    if found is not None:
        others = (_O.accepted_by == who, _O.code_hash != hashed)
        delete_rows(tx.connection, link_offers, tx.space, *others)
    return found


def find_pending_link(connection: Connection, space: str, who: str, at: datetime) -> PendingLink | None:
    """Return the link that waits for confirmation by this identity."""
    return _find_offer(connection, space, at, _O.offered_by == who, _O.state == OFFER_ASKED)


def find_accepted_link(connection: Connection, space: str, who: str, at: datetime) -> PendingLink | None:
    """Return the link that this identity has accepted and the other one has not confirmed."""
    return _find_offer(connection, space, at, _O.accepted_by == who)


def delete_link_offers(connection: Connection, space: str, who: Collection[str]) -> int:
    """Delete all link codes that these identities offered or accepted; return the count."""
    theirs = or_(_O.offered_by.in_(sorted(who)), _O.accepted_by.in_(sorted(who)))
    return delete_rows(connection, link_offers, space, theirs)


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
    insert_row(tx.connection, link_attempts, tx.space, person=who, id=new_id(), at=tx.at)


def _find_offer(connection: Connection, space: str, at: datetime, *which: ColumnElement[bool]) -> PendingLink | None:
    """Return the only row, unless it is expired.

    The expiry is checked here and not in SQL: the database could choose the index by expiry and
    scan the rows of all people.
    """
    found = select(link_offers).where(_O.space_id == space, *which)
    row = connection.execute(found).one_or_none()
    if row is None or row.expires_at <= to_micros(at):
        return None
    return to_record(PendingLink, row)


def _code_digest(tx: Transaction, code: str) -> str:
    """Hash a code with the secret of the space, so that its hash differs between spaces."""
    return keyed_digest(tx.secret, f"link code {code}")
