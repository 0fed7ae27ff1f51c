"""What channels brought, as rows: taken in once, in order, and emptied as soon as it is done.

Numbers go by the clock, but only ever on. Those who take in for one channel take turns, so that
whoever reads on behind a number misses nothing that was committed later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    insert,
    literal_column,
    select,
    union_all,
    update,
)

from tacit import limits
from tacit.clock import to_micros
from tacit.records.conversation import PendingUpdate, Update
from tacit.records.memory import ChatKind
from tacit.store import rendered
from tacit.store.tables import chat_members, chats, updates
from tacit.store.writes import Writing

WAITING, PARKED, DONE = "waiting", "parked", "done"
_U = updates.c
_C = chat_members.c
_R = chats.c
_AT_ONCE_COUNT = 500
# All that is left of one that is done.
_EMPTIED: dict[str, Any] = {"state": DONE, "chat": None, "person": None, "payload": ""}
_HERE = and_(_U.space_id == bindparam("b_space"), _U.channel == bindparam("b_channel"))
_KNOWN = select(_U.update_id).where(_HERE, _U.update_id.in_(bindparam("ids", expanding=True)))
_LAST = union_all(
    *(
        select(select(_U.seq).where(_HERE, _U.state == literal_column(f"'{state}'"))
               .order_by(_U.seq.desc()).limit(1).scalar_subquery())
        for state in (WAITING, PARKED, DONE)
    )
)  # fmt: skip
_WAITING = (
    select(_U.seq, _U.update_id, _U.chat, _U.payload, _U.attempts)
    .where(_HERE, _U.state == literal_column(f"'{WAITING}'"), _U.seq > bindparam("after"))
    .order_by(_U.seq)
    .limit(bindparam("most"))
)
_ONE = and_(_HERE, _U.update_id == bindparam("b_id"))
_DO = (
    update(updates)
    .where(_ONE, _U.state != literal_column(f"'{DONE}'"))
    .values(**_EMPTIED, at=bindparam("b_at"))
)
_FAIL = (
    update(updates)
    .where(_ONE, _U.state == literal_column(f"'{WAITING}'"))
    .values(
        attempts=_U.attempts + 1,
        at=bindparam("b_at"),
        state=case((_U.attempts + 1 >= limits.UPDATE_ATTEMPTS_MAX_COUNT, PARKED), else_=WAITING),
    )
    .returning(_U.state)
)


def add(w: Writing, channel: str, brought: Sequence[Update]) -> int:
    """Those that are not known yet; says how many that are."""
    w.dialect.acquire_lock(w.connection, f"{w.space} updates {channel}")
    where = {"b_space": w.space, "b_channel": channel}
    known: set[str] = set()
    for some in _batched([one.id for one in brought]):
        known.update(id for (id,) in rendered.rows(w.connection, _KNOWN, {**where, "ids": some}))
    new = [one for one in brought if one.id not in known]
    if not new:
        return 0
    at = to_micros(w.at)
    last = max((seq for (seq,) in rendered.rows(w.connection, _LAST, where) if seq), default=0)
    rows = [
        {
            "space_id": w.space,
            "channel": channel,
            "update_id": one.id,
            "seq": seq,
            "state": WAITING,
            "attempts": 0,
            "at": at,
            "chat": one.chat,
            "person": one.person,
            "payload": one.payload,
        }
        for seq, one in enumerate(new, start=max(last + 1, at))
    ]
    w.connection.execute(insert(updates), rows)
    return len(new)


def waiting(
    connection: Connection, space: str, channel: str, after: int, most: int
) -> list[PendingUpdate]:
    params = {"b_space": space, "b_channel": channel, "after": after, "most": most}
    return [
        PendingUpdate(seq=seq, id=id, chat=chat, payload=payload, attempts=attempts)
        for seq, id, chat, payload, attempts in rendered.rows(connection, _WAITING, params)
    ]


def done(w: Writing, channel: str, id: str) -> None:
    w.connection.execute(_DO, _named(w, channel, id))


def failed(w: Writing, channel: str, id: str) -> bool:
    """Whether it still waits."""
    return w.connection.execute(_FAIL, _named(w, channel, id)).scalar() == WAITING


def _named(w: Writing, channel: str, id: str) -> dict[str, Any]:
    at = to_micros(w.at)
    return {"b_space": w.space, "b_channel": channel, "b_id": id, "b_at": at}


def drop(w: Writing, who: Collection[str]) -> int:
    """What these people sent, and whatever came from their private chats. That it came stays known:
    brought again, it is not taken in again."""
    alone = (
        select(_C.chat)
        .join(chats, (_R.space_id == _C.space_id) & (_R.id == _C.chat))
        .where(
            _C.space_id == w.space,
            _C.person.in_(sorted(who)),
            _R.kind == ChatKind.PRIVATE.value,
        )
    )
    rooms = sorted(set(w.connection.execute(alone).scalars()))
    return _empty(w, _U.person.in_(sorted(who))) + drop_chats(w, rooms)


def drop_chats(w: Writing, rooms: Collection[str]) -> int:
    return sum(_empty(w, _U.chat.in_(some)) for some in _batched(sorted(rooms)))


def _empty(w: Writing, which: ColumnElement[bool]) -> int:
    these = update(updates).where(_U.space_id == w.space, which)
    return w.connection.execute(these.values(**_EMPTIED, at=to_micros(w.at))).rowcount


def _batched(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), _AT_ONCE_COUNT):
        yield names[start : start + _AT_ONCE_COUNT]
