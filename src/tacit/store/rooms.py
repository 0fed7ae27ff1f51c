"""Groups and who is in them, many at once: each list costs by what is shown of it."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BindParameter, Connection, Row, and_, bindparam, func, select

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity import external_keys
from tacit.identity.resolution import StoredChat
from tacit.records.accounts import Person
from tacit.records.memory import ChatKind
from tacit.records.results import AudienceChat
from tacit.store import people
from tacit.store.tables import chat_members, chats

_C = chat_members.c
_H = chats.c
_SPACE: BindParameter[str] = bindparam("space")
_NOW = and_(_C.space_id == _SPACE, _C.left_at.is_(None))
# Under its newest id: who was in it under an older one came along.
_GROUP = and_(_H.space_id == _SPACE, _H.kind == ChatKind.GROUP.value, _H.migrated_to.is_(None))
_THEIRS = (
    select(_H.id)
    .join(chat_members, and_(_H.space_id == _C.space_id, _H.id == _C.chat))
    .where(_NOW, _C.person.in_(bindparam("who", expanding=True)), _GROUP)
    .group_by(_H.id)
)
_OF = _THEIRS.order_by(func.max(_C.joined_at).desc(), _H.id).limit(bindparam("most"))
_COUNT_OF = select(func.count()).select_from(_THEIRS.subquery())
_EVERY = (
    select(_H.id).where(_GROUP, _H.id > bindparam("after")).order_by(_H.id).limit(bindparam("most"))
)
_COUNT = select(func.count()).select_from(chats).where(_GROUP)
_SOME = select(_H.id, _H.confidential).where(
    _H.space_id == _SPACE, _H.id.in_(bindparam("ids", expanding=True))
)
_EARLIER = select(_H.id, _H.migrated_to).where(
    _H.space_id == _SPACE, _H.migrated_to.in_(bindparam("ids", expanding=True))
)
_THERE = and_(_NOW, _C.chat.in_(bindparam("ids", expanding=True)))
_BESIDES = and_(_THERE, _C.person.not_in(bindparam("besides", expanding=True)))
_NUMBERED = (
    select(
        _C.chat,
        _C.person,
        func.row_number().over(partition_by=_C.chat, order_by=_C.person).label("number"),
    )
    .where(_BESIDES)
    .subquery()
)
_FIRST = (
    select(_NUMBERED.c.chat, _NUMBERED.c.person)
    .where(_NUMBERED.c.number <= bindparam("most"))
    .order_by(_NUMBERED.c.chat, _NUMBERED.c.person)
)
_AMONG = select(_C.chat, _C.person).where(_THERE, _C.person.in_(bindparam("who", expanding=True)))
_COUNT_PEOPLE = select(func.count(_C.person.distinct())).where(_BESIDES)


def of(connection: Connection, space: str, who: Collection[str], most: int) -> list[str]:
    """The groups that these identities are in now, where they came last first."""
    params = {"space": space, "who": sorted(who), "most": most}
    return list(connection.execute(_OF, params).scalars())


def count_of(connection: Connection, space: str, who: Collection[str]) -> int:
    return connection.scalar(_COUNT_OF, {"space": space, "who": sorted(who)}) or 0


def every(connection: Connection, space: str, most: int, after: str = "") -> list[str]:
    """All groups of a space, in the order of their ids, behind one of them."""
    params = {"space": space, "after": after, "most": most}
    return list(connection.execute(_EVERY, params).scalars())


def cursor(last: str) -> str:
    return base64.urlsafe_b64encode(last.encode()).decode().rstrip("=")


def behind(cursor: Any) -> str:
    """The id that a cursor stands behind."""
    if cursor is None:
        return ""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return external_keys.parse_chat_id(
            base64.urlsafe_b64decode(padded.encode("ascii")).decode()
        )
    except (AttributeError, TypeError, ValueError, InvalidInput):
        raise InvalidInput("cursor", "is not one we gave; start again without it") from None


def count(connection: Connection, space: str) -> int:
    return connection.scalar(_COUNT, {"space": space}) or 0


@dataclass(frozen=True, slots=True)
class Rooms:
    """Some groups, in the order that they were asked for, with the first of those in them."""

    places: tuple[StoredChat, ...]  # without their members
    first_members: Mapping[str, tuple[str, ...]]  # chat → who is there, but for whoever asks
    people: Mapping[str, Person] = field(default_factory=dict)  # those by the names they go by

    def to_audience_chat(self, place: StoredChat) -> AudienceChat:
        there = self.first_members.get(place.id, ())
        return AudienceChat(
            id=place.id,
            kind=ChatKind.GROUP,
            confidential=place.confidential,
            people=tuple(
                self.people[one] for one in there[: limits.AUDIENCE_CHAT_PEOPLE_MAX_COUNT]
            ),
            complete=len(there) <= limits.AUDIENCE_CHAT_PEOPLE_MAX_COUNT,
        )


def opened(
    connection: Connection,
    space: str,
    ids: Sequence[str],
    besides: Collection[str] = (),
    also: Iterable[str] = (),
) -> Rooms:
    """`also`: whose names are looked up besides."""
    if not ids:
        return Rooms((), {}, people.going_by(connection, space, also))
    found = {row.id: row.confidential for row in connection.execute(_SOME, _all(space, ids))}
    earlier = _earlier(connection, space, ids)
    places = [
        StoredChat(
            id=id, kind=ChatKind.GROUP, confidential=found[id], chat_ids=frozenset(earlier[id])
        )
        for id in ids
        if id in found
    ]
    most = limits.AUDIENCE_CHAT_PEOPLE_MAX_COUNT + 1
    params = {**_all(space, ids), "besides": sorted(besides), "most": most}
    first = _by_chat(connection.execute(_FIRST, params))
    known = people.going_by(
        connection, space, {*also, *(p for some in first.values() for p in some)}
    )
    return Rooms(tuple(places), first, known)


def among(
    connection: Connection, space: str, ids: Sequence[str], who: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Which of these are in each."""
    params = {**_all(space, ids), "who": sorted(who)}
    return _by_chat(connection.execute(_AMONG, params)) if ids and who else {}


def count_people(
    connection: Connection, space: str, ids: Sequence[str], besides: Collection[str]
) -> int:
    params = {**_all(space, ids), "besides": sorted(besides)}
    return (connection.scalar(_COUNT_PEOPLE, params) or 0) if ids else 0


def _all(space: str, ids: Sequence[str]) -> dict[str, object]:
    return {"space": space, "ids": list(ids)}


def _earlier(connection: Connection, space: str, ids: Sequence[str]) -> dict[str, set[str]]:
    """Every id that each has had, its own among them."""
    newest = {id: id for id in ids}
    fringe = list(ids)
    while fringe:
        rows = connection.execute(_EARLIER, _all(space, fringe)).all()
        fringe = [row.id for row in rows if row.id not in newest]
        newest |= {row.id: newest[row.migrated_to] for row in rows if row.id not in newest}
    found: dict[str, set[str]] = defaultdict(set)
    for id, now in newest.items():
        found[now].add(id)
    return found


def _by_chat(rows: Iterable[Row[Any]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        found[row.chat][row.person] = None
    return {chat: tuple(there) for chat, there in found.items()}
