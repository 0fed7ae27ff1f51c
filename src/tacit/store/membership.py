"""Which chats somebody is in: for themselves alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from tacit.clock import from_micros
from tacit.store.tables import chat_members, chats

_C = chat_members.c
_H = chats.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    chat: str
    kind: str
    joined_at: datetime


def of(connection: Connection, space: str, who: Collection[str]) -> list[Membership]:
    """Those that these identities are in now, in the order they came."""
    found = (
        select(_C.chat, _H.kind, _C.joined_at)
        .join(chats, (_H.space_id == _C.space_id) & (_H.id == _C.chat))
        .where(_C.space_id == space, _C.person.in_(sorted(who)), _C.left_at.is_(None))
        .order_by(_C.joined_at, _C.chat)
    )
    return [
        Membership(chat=row.chat, kind=row.kind, joined_at=from_micros(row.joined_at))
        for row in connection.execute(found)
    ]
