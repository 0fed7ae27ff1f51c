"""Keys: one active value for each (owner or room, category, key)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select

from tacit.policy.predicate import sql_literal
from tacit.records import validation
from tacit.records.drafts import Draft
from tacit.records.memory import Memory, State
from tacit.store.identities import around
from tacit.store.places import place
from tacit.store.rows import unpacked_object
from tacit.store.tables import memories
from tacit.store.writes import Writing

_M = memories.c
_VALUE = (
    _M.space_id == bindparam("space"),
    _M.category == bindparam("category"),
    _M.key == bindparam("key"),
    _M.key.is_not(None),
)
_ACTIVE = _M.state == sql_literal(State.ACTIVE)
_OWNED = select(_M.id, _M.owner, _M.shadowed).where(
    *_VALUE, _M.owner.in_(bindparam("owners", expanding=True))
)
_OF_ROOM = select(_M.id, _M.owner, _M.shadowed).where(
    *_VALUE, _M.owner.is_(None), _M.learned_in.in_(bindparam("rooms", expanding=True))
)


def holders(w: Writing, category: str, key: str, *, for_room: bool) -> list[Any]:
    """The active values of a key, of all the writer's identities or of the room."""
    params: dict[str, Any] = {"space": w.space, "category": category, "key": key}
    if for_room:
        params["rooms"] = sorted(w.request.chat_ids)
        return list(w.connection.execute(_OF_ROOM.where(_ACTIVE), params))
    params["owners"] = sorted(w.request.own_identities)
    return list(w.connection.execute(_OWNED.where(_ACTIVE), params))


def taken(w: Writing, memory: Memory) -> bool:
    """Whether another memory holds this one's key by now."""
    if memory.key is None:
        return False
    params: dict[str, Any] = {"space": w.space, "category": memory.category, "key": memory.key}
    if memory.owner is None:
        rooms = sorted(place(w.connection, w.space, memory.learned_in or "").chat_ids)
        found = w.connection.execute(_OF_ROOM.where(_ACTIVE), params | {"rooms": rooms})
    else:
        params["owners"] = sorted(
            around(w.connection, w.space, [memory.owner]).current_identities(memory.owner)
        )
        found = w.connection.execute(_OWNED.where(_ACTIVE), params)
    return any(row.id != memory.id for row in found)


def siblings(w: Writing, memory: Memory) -> list[str]:
    """Values of the same key that other identities of the owner hold, in any state."""
    if memory.key is None or memory.owner is None:
        return []
    owners = sorted(around(w.connection, w.space, [memory.owner]).current_identities(memory.owner))
    params = {"space": w.space, "category": memory.category, "key": memory.key, "owners": owners}
    return [row.id for row in w.connection.execute(_OWNED, params) if row.id != memory.id]


def has_already(w: Writing, asked: Draft) -> bool:
    """Whether the writer has a value of this key, or without a key the very same words and
    data."""
    if asked.key is not None and asked.category is not None:
        return bool(holders(w, asked.category, asked.key, for_room=False))
    same = select(_M.data).where(
        _M.space_id == w.space,
        _M.owner.in_(sorted(w.request.own_identities)),
        _M.content == asked.content,
        _M.state == sql_literal(State.ACTIVE),
    )
    kept = w.connection.execute(same).scalars()
    return any(
        validation.is_same_json(unpacked_object(one) if one else None, asked.data or None)
        for one in kept
    )
