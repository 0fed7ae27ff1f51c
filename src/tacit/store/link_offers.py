"""Codes that were given, and who answered to them. A row goes when its code has served or will not:
what lasts of it are the links themselves.

Whoever looks for a code runs the same statements whether it is wrong, expired, used or their own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, or_, select, update

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import TooManyRequests
from tacit.store.ids import digest, new_id
from tacit.store.tables import link_offers, link_tries
from tacit.store.writes import Writing

OPEN = "open"  # nobody has answered yet
ASKED = "asked"  # somebody has, and the giver is asked
_O = link_offers.c
_T = link_tries.c
_LASTS = timedelta(minutes=limits.LINK_CODE_MINUTES)
_TRIES = timedelta(hours=limits.LINK_TRIES_HOURS)
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Two identities of which one waits for the other's yes."""

    offered_by: str
    accepted_by: str
    expires_at: datetime


def take_turns(w: Writing, who: str) -> None:
    """What one identity does with codes happens in order, so that its tries are counted."""
    w.dialect.acquire_lock(w.connection, f"{w.space} link {who}")


def add(w: Writing, who: str, code: str) -> datetime:
    """A code of theirs, in the place of an earlier one. Says until when."""
    w.connection.execute(_gone(w, _O.offered_by == who))
    expires_at = w.at + _LASTS
    row = {
        "space_id": w.space,
        "id": new_id(),
        "code_hash": _hash(w, code),
        "offered_by": who,
        "accepted_by": None,
        "state": OPEN,
        "created_at": to_micros(w.at),
        "expires_at": to_micros(expires_at),
    }
    w.connection.execute(insert(link_offers).values(**row))
    return expires_at


def accept(w: Writing, who: str, code: str) -> Asked | None:
    """One statement takes the code, so that one of several takes it. Whoever has it already is told
    the same again. What they had accepted before is taken back."""
    hashed = _hash(w, code)
    this = (_O.space_id == w.space, _O.code_hash == hashed, _O.expires_at > to_micros(w.at))
    values = {"state": ASKED, "accepted_by": who, "expires_at": to_micros(w.at + _LASTS)}
    free = (_O.state == OPEN, _O.offered_by.not_in(sorted(w.request.own_identities | {who})))
    w.connection.execute(update(link_offers).where(*this, *free).values(**values))
    taken = select(link_offers).where(*this, _O.state == ASKED, _O.accepted_by == who)
    row = w.connection.execute(taken).one_or_none()
    if row is None:
        return None
    w.connection.execute(_gone(w, _O.accepted_by == who, _O.code_hash != hashed))
    return _read(row)


def asked(connection: Connection, space: str, who: str, at: datetime) -> Asked | None:
    """What waits for their yes."""
    mine = select(link_offers).where(_O.space_id == space, _O.offered_by == who, _O.state == ASKED)
    return _unexpired(connection, mine, at)


def accepted(connection: Connection, space: str, who: str, at: datetime) -> Asked | None:
    """What they accepted, and another's yes is missing."""
    mine = select(link_offers).where(_O.space_id == space, _O.accepted_by == who)
    return _unexpired(connection, mine, at)


def drop(connection: Connection, space: str, who: Collection[str]) -> int:
    """Every code that these identities gave or accepted."""
    theirs = or_(_O.offered_by.in_(sorted(who)), _O.accepted_by.in_(sorted(who)))
    return connection.execute(delete(link_offers).where(_O.space_id == space, theirs)).rowcount


def require_tries_left(w: Writing, who: str) -> None:
    """Asked before the code is looked for: whoever has none left learns nothing, right or wrong."""
    lately = (_T.space_id == w.space, _T.person == who, _T.at > to_micros(w.at - _TRIES))
    newest = select(_T.at).where(*lately).order_by(_T.at.desc()).limit(limits.LINK_TRIES_MAX_COUNT)
    tries = w.connection.execute(newest).scalars().all()
    if len(tries) >= limits.LINK_TRIES_MAX_COUNT:
        wait = from_micros(tries[-1]) + _TRIES - w.at
        raise TooManyRequests(max(1, ceil(wait / _SECOND)))


def add_try(w: Writing, who: str) -> None:
    row = {"space_id": w.space, "person": who, "id": new_id(), "at": to_micros(w.at)}
    w.connection.execute(insert(link_tries).values(**row))


def _unexpired(connection: Connection, mine: Select[Any], at: datetime) -> Asked | None:
    """Whoever has one has one alone. The time is looked at here: by the index of all times, a
    database would look through everybody's."""
    row = connection.execute(mine).one_or_none()
    return None if row is None or row.expires_at <= to_micros(at) else _read(row)


def _hash(w: Writing, code: str) -> str:
    """Keyed with what only this space has: the same code elsewhere is another."""
    return digest(w.secret, f"link code {code}")


def _gone(w: Writing, *which: Any) -> Any:
    return delete(link_offers).where(_O.space_id == w.space, *which)


def _read(row: Any) -> Asked:
    return Asked(
        offered_by=row.offered_by,
        accepted_by=row.accepted_by,
        expires_at=from_micros(row.expires_at),
    )
