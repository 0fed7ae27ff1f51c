"""What waits for somebody's yes, and what they said no to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, select, update

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.records.memory import Memory
from tacit.store import rendered
from tacit.store.audiences import Audiences
from tacit.store.rows import COLUMNS, to_memory
from tacit.store.tables import declined, learned, memories, proposals
from tacit.store.writes import Writing

_P = proposals.c
_D = declined.c
_L = learned.c
_M = memories.c
_WAITING = (
    select(
        _P.memory_id, _P.concerns, _P.reason, _P.replaces, _P.signals, _P.created_at, _P.expires_at
    )
    .where(
        _P.space_id == bindparam("space"),
        _P.concerns.in_(bindparam("who", expanding=True)),
        _P.expires_at > bindparam("now"),
    )
    .order_by(_P.created_at, _P.memory_id)
)

_SAID = select(_L.memory_id).where(
    _L.space_id == bindparam("space"),
    _L.owner.in_(bindparam("who", expanding=True)),
    _L.said == bindparam("said"),
)
_DECLINED = select(_D.said).where(
    _D.space_id == bindparam("space"),
    _D.concerns.in_(bindparam("who", expanding=True)),
    _D.said == bindparam("said"),
    _D.until > bindparam("now"),
)
_LAPSED = (
    select(_P.memory_id)
    .where(_P.space_id == bindparam("space"), _P.expires_at <= bindparam("now"))
    .limit(bindparam("most"))
)
_WORDS = select(*COLUMNS).where(_M.space_id == bindparam("space"), _M.id == bindparam("id"))
_HEARD = COLUMNS.index(_M.heard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    memory_id: str
    concerns: str
    reason: str
    replaces: str | None
    signals: int
    created_at: datetime
    expires_at: datetime


def propose(
    w: Writing, memory_id: str, concerns: str, reason: str, replaces: str | None, signals: int
) -> None:
    row = {
        "space_id": w.space,
        "memory_id": memory_id,
        "concerns": concerns,
        "reason": reason,
        "replaces": replaces,
        "signals": signals,
        "created_at": to_micros(w.at),
        "expires_at": to_micros(w.at + timedelta(days=limits.PROPOSAL_DAYS)),
    }
    w.dialect.insert_missing(w.connection, proposals, [row])


def waiting(
    connection: Connection, space: str, who: Collection[str], now: datetime
) -> list[Waiting]:
    params = {"space": space, "who": sorted(who), "now": to_micros(now)}
    return [
        Waiting(
            memory_id=row.memory_id,
            concerns=row.concerns,
            reason=row.reason,
            replaces=row.replaces,
            signals=row.signals,
            created_at=from_micros(row.created_at),
            expires_at=from_micros(row.expires_at),
        )
        for row in connection.execute(_WAITING, params)
    ]


def memory(connection: Connection, audiences: Audiences, space: str, id: str) -> Memory | None:
    """The words that wait. Whether somebody may hear them is for the rules to say."""
    row = connection.execute(_WORDS, {"space": space, "id": id}).first()
    if row is None:
        return None
    heard = audiences.get_people(connection, space, [row[_HEARD]])
    return to_memory(row, heard[row[_HEARD]])


def said_before(w: Writing, who: Collection[str], said: str) -> Waiting | None:
    """The same, waiting already."""
    params = {"space": w.space, "who": sorted(who), "said": said}
    ids = {id for (id,) in rendered.rows(w.connection, _SAID, params)}
    found = waiting(w.connection, w.space, who, w.at) if ids else []
    return next((one for one in found if one.memory_id in ids), None)


def signal(w: Writing, memory_id: str) -> None:
    one = update(proposals).where(_P.space_id == w.space, _P.memory_id == memory_id)
    w.connection.execute(one.values(signals=_P.signals + 1))


def settle(w: Writing, memory_id: str) -> None:
    """It was answered."""
    w.connection.execute(delete(proposals).where(_P.space_id == w.space, _P.memory_id == memory_id))


def decline(w: Writing, concerns: str, said: str) -> None:
    """Not to be asked again for a while: what is kept is a hash."""
    until = to_micros(w.at + timedelta(days=limits.DECLINED_PROPOSAL_KEEP_DAYS))
    old = delete(declined).where(_D.space_id == w.space, _D.concerns == concerns, _D.said == said)
    w.connection.execute(old)
    row = {"space_id": w.space, "concerns": concerns, "said": said, "until": until}
    w.dialect.insert_missing(w.connection, declined, [row])


def is_declined(w: Writing, who: Collection[str], said: str) -> bool:
    params = {"space": w.space, "who": sorted(who), "said": said, "now": to_micros(w.at)}
    return bool(rendered.rows(w.connection, _DECLINED, params))


def lapsed(connection: Connection, space: str, now: datetime, most: int) -> list[str]:
    """Memories that nobody answered for in time."""
    params = {"space": space, "now": to_micros(now), "most": most}
    return [id for (id,) in rendered.rows(connection, _LAPSED, params)]
