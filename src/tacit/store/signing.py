"""Links that sign somebody in, and who is signed in: hashes of their secrets, and whose they are.

Whoever comes names no space: a row is found by its id in all of them, and by its secret's hash.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, Table, bindparam, delete, insert, select, update

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.identity.external_keys import EXTERNAL_PREFIX
from tacit.records.accounts import WebSession
from tacit.store import rendered
from tacit.store.tables import sign_ins, sittings
from tacit.store.writes import Writing

_L = sign_ins.c
_S = sittings.c
_OFFER = select(_L.space_id, _L.digest, _L.person, _L.operator, _L.expires_at).where(
    _L.id == bindparam("id")
)
_SITTING = select(
    _S.space_id, _S.digest, _S.person, _S.operator, _S.created_at, _S.seen_at, _S.expires_at
).where(_S.id == bindparam("id"))
_NOBODYS = bytes(32)  # what the hash of an unknown secret is compared with


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """A person, by their identity, or an operator, by name."""

    person: str | None = None
    operator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    id: str
    space: str
    who: Who
    expires_at: datetime


def offer(w: Writing, id: str, digest: bytes, who: Who, expires_at: datetime) -> None:
    """One more link of theirs; where there are too many, the oldest go."""
    _take_turns(w, who)
    _keep_newest(w, sign_ins, who, _L.created_at, limits.SIGN_INS_MAX_COUNT - 1)
    row = {
        "space_id": w.space,
        "id": id,
        "digest": digest,
        "person": who.person,
        "operator": who.operator,
        "created_at": to_micros(w.at),
        "expires_at": to_micros(expires_at),
    }
    w.connection.execute(insert(sign_ins).values(row))


def offered(connection: Connection, id: str, digest: bytes) -> Offer | None:
    """Expired or not."""
    row = _matching(connection, _OFFER, id, digest)
    if row is None:
        return None
    space, _, person, operator, expires_at = row
    who = Who(person=person, operator=operator)
    return Offer(id=id, space=space, who=who, expires_at=from_micros(expires_at))


def begin(w: Writing, used: Offer, digest: bytes, sitting: WebSession) -> bool:
    """A sitting in the place of a link. One statement takes the link, so that one of several takes
    it: False for all others, and where it expired."""
    _take_turns(w, used.who)
    this = (_L.space_id == w.space, _L.id == used.id, _L.expires_at > to_micros(w.at))
    if w.connection.execute(delete(sign_ins).where(*this)).rowcount != 1:
        return False
    _keep_newest(w, sittings, used.who, _S.seen_at, limits.WEB_SESSIONS_MAX_COUNT - 1)
    row = {
        "space_id": w.space,
        "id": sitting.id,
        "digest": digest,
        "person": used.who.person,
        "operator": used.who.operator,
        "created_at": to_micros(sitting.created_at),
        "seen_at": to_micros(sitting.seen_at),
        "expires_at": to_micros(sitting.expires_at),
    }
    w.connection.execute(insert(sittings).values(row))
    return True


def sitting(connection: Connection, id: str, digest: bytes) -> WebSession | None:
    """Over or not."""
    row = _matching(connection, _SITTING, id, digest)
    if row is None:
        return None
    space, _, person, operator, created_at, seen_at, expires_at = row
    return WebSession(
        id=id,
        space=space,
        person=outside(person),
        operator=operator,
        created_at=from_micros(created_at),
        seen_at=from_micros(seen_at),
        expires_at=from_micros(expires_at),
    )


def outside(person: str | None) -> str | None:
    """As a channel names them."""
    return None if person is None else person.removeprefix(f"{EXTERNAL_PREFIX}:")


def see(connection: Connection, one: WebSession, at: datetime) -> bool:
    """False where it ended meanwhile."""
    this = (_S.space_id == one.space, _S.id == one.id)
    moved = update(sittings).where(*this).values(seen_at=to_micros(at))
    return connection.execute(moved).rowcount == 1


def end(connection: Connection, one: WebSession) -> None:
    this = (_S.space_id == one.space, _S.id == one.id)
    connection.execute(delete(sittings).where(*this))


def end_all(connection: Connection, space: str, people: Collection[str]) -> int:
    """Of these identities of one person, with the links that wait for them. Says how many sittings
    that were."""
    who = sorted(people)
    connection.execute(delete(sign_ins).where(_L.space_id == space, _L.person.in_(who)))
    ended = delete(sittings).where(_S.space_id == space, _S.person.in_(who))
    return connection.execute(ended).rowcount


def end_all_of_operator(connection: Connection, space: str, name: str) -> int:
    who = Who(operator=name)
    connection.execute(delete(sign_ins).where(_L.space_id == space, *_of(sign_ins, who)))
    ended = delete(sittings).where(_S.space_id == space, *_of(sittings, who))
    return connection.execute(ended).rowcount


def _matching(connection: Connection, rows: Select[Any], id: str, digest: bytes) -> Any:
    """The row of this id whose secret hashes to this. It takes as long where there is none."""
    found = rendered.rows(connection, rows, {"id": id})
    good = [row for row in found if hmac.compare_digest(bytes(row[1]), digest)]
    if not found:
        hmac.compare_digest(_NOBODYS, digest)
    return good[0] if good else None


def _of(table: Table, who: Who) -> tuple[Any, ...]:
    c = table.c
    return (
        (c.person.is_(None), c.operator == who.operator)
        if who.person is None
        else (c.person == who.person,)
    )


def _take_turns(w: Writing, who: Who) -> None:
    """What one of them has is counted, so they come one after the other."""
    named = who.person if who.person is not None else f"operator {who.operator}"
    w.dialect.acquire_lock(w.connection, f"{w.space} sign in {named}")


def _keep_newest(w: Writing, table: Table, who: Who, by: Any, count: int) -> None:
    theirs = (table.c.space_id == w.space, *_of(table, who))
    newest = select(table.c.id).where(*theirs).order_by(by.desc(), table.c.id.desc()).limit(count)
    w.connection.execute(delete(table).where(*theirs, table.c.id.not_in(newest)))
