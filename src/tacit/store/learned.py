"""What learning knows of memories: their normalised wording, and the slot that they fill."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, delete, or_, select

from tacit.clock import from_micros
from tacit.policy.predicate import ROLE_MENTIONED, ROLE_SUBJECT
from tacit.records.memory import State, Trust
from tacit.records.text import split_terms
from tacit.store import rendered
from tacit.store.rendered import inserting
from tacit.store.rows import unpacked
from tacit.store.tables import learned, memories, memory_people
from tacit.store.writes import Writing

_M = memories.c
_L = learned.c
_P = memory_people.c
_ROWS = (
    select(
        _M.id,
        _M.owner,
        _M.category,
        _M.content,
        _M.slot,
        _M.subjects,
        _M.created_at,
        _M.updated_at,
        _L.said,
        _L.slot.label("learned_slot"),
        _L.value,
        _L.negated,
        _L.about_speaker,
        _L.about,
    )
    .select_from(
        memories.outerjoin(learned, (_L.space_id == _M.space_id) & (_L.memory_id == _M.id))
    )
    .where(
        _M.space_id == bindparam("space"),
        _M.state == State.ACTIVE.value,
        _M.is_turn.is_(False),
        # What a program keeps under a key, with data, is its own to change: words that were changed
        # by what somebody says would no longer be those of the data.
        or_(_M.key.is_(None), _M.data.is_(None)),
    )
)
_OF_OWNER = _ROWS.where(_M.owner.in_(bindparam("owners", expanding=True)))
_NEWEST = _OF_OWNER.order_by(_M.created_at.desc(), _M.id.desc()).limit(bindparam("most"))
_BY_ID = _OF_OWNER.where(_M.id == bindparam("id"))
_OF_ROOM = (
    _ROWS.where(_M.owner.is_(None), _M.learned_in.in_(bindparam("rooms", expanding=True)))
    .order_by(_M.created_at.desc(), _M.id.desc())
    .limit(bindparam("most"))
)
_LIKE = _OF_OWNER.where(
    _L.owner.in_(bindparam("owners", expanding=True)),
    or_(
        _L.said.in_(bindparam("said", expanding=True)),
        _L.slot.in_(bindparam("slots", expanding=True)),
    ),
).limit(bindparam("most"))
_HEARSAY = (
    _ROWS.join(memory_people, (_P.space_id == _M.space_id) & (_P.memory_id == _M.id))
    .where(
        _P.person.in_(bindparam("people", expanding=True)),
        _P.role.in_(bindparam("roles", expanding=True)),
        _M.trust == Trust.HEARSAY.value,
        _L.slot == bindparam("slot"),
    )
    .limit(bindparam("most"))
)
_INSERT = inserting(learned)


class Fact(NamedTuple):
    """What learning compares by. `about` is as `packed_about` makes it."""

    slot: str | None
    about_speaker: bool
    value: str | None = None
    negated: bool = False
    about: str = "[]"


class Kept(NamedTuple):
    """As much of a memory that stands as learning compares it by. Made for everything known, for
    each turn: hence no dataclass."""

    id: str
    owner: str | None
    category: str
    content: str
    subjects: frozenset[str]
    created_at: int
    updated_at: datetime
    content_digest: str  # its normalised wording
    fact: Fact


@lru_cache(maxsize=4_096)
def normalised(content: str) -> str:
    """A hash of the words alone: case, punctuation and spaces make no other memory."""
    return hashlib.sha256(" ".join(split_terms(content)).encode()).hexdigest()[:32]


def newest(connection: Connection, space: str, owners: Collection[str], most: int) -> list[Kept]:
    return _fetch(connection, _NEWEST, space, {"owners": sorted(owners), "most": most})


def of_room(connection: Connection, space: str, rooms: Collection[str], most: int) -> list[Kept]:
    """The newest of a room's own facts."""
    return _fetch(connection, _OF_ROOM, space, {"rooms": sorted(rooms), "most": most})


def by_id(connection: Connection, space: str, owners: Collection[str], id: str) -> Kept | None:
    found = _fetch(connection, _BY_ID, space, {"owners": sorted(owners), "id": id})
    return found[0] if found else None


def alike(
    connection: Connection,
    space: str,
    owners: Collection[str],
    said: Collection[str],
    slots: Collection[str],
    most: int,
) -> list[Kept]:
    """Of these owners, what says the same or fills one of these slots, however old."""
    params = {"owners": sorted(owners), "said": sorted(said), "slots": sorted(slots), "most": most}
    return _fetch(connection, _LIKE, space, params)


def hearsay(
    connection: Connection,
    space: str,
    about: Collection[str],
    slot: str,
    most: int,
) -> list[Kept]:
    """What others say of somebody, in one slot."""
    roles = [ROLE_SUBJECT, ROLE_MENTIONED]
    params = {"people": sorted(about), "roles": roles, "slot": slot, "most": most}
    return _fetch(connection, _HEARSAY, space, params)


def note(
    w: Writing, memory_id: str, owner: str, content: str, fact: Fact, *, new: bool = False
) -> None:
    """In the place of what was known of the memory before, unless it is `new`."""
    if not new:
        drop = delete(learned).where(_L.space_id == w.space, _L.memory_id == memory_id)
        w.connection.execute(drop)
    row = {
        "space_id": w.space,
        "memory_id": memory_id,
        "owner": owner,
        "said": normalised(content),
        "slot": fact.slot,
        "value": fact.value,
        "negated": fact.negated,
        "about_speaker": fact.about_speaker,
        "about": fact.about,
    }
    rendered.run(w.connection, [(_INSERT, row)])


def packed_about(mentions: Sequence[Sequence[str | None]]) -> str:
    return json.dumps([list(one) for one in mentions], ensure_ascii=False)


def unpacked_about(text: str) -> list[tuple[str, str | None, str | None, str | None]]:
    if text == "[]":
        return []
    return [(one[0], one[1], one[2], one[3]) for one in json.loads(text)]


def _fetch(
    connection: Connection, statement: Select[Any], space: str, params: dict[str, Any]
) -> list[Kept]:
    rows = rendered.rows(connection, statement, {"space": space, **params})
    return [_kept(row) for row in rows]


@lru_cache(maxsize=4_096)
def _kept(row: tuple[Any, ...]) -> Kept:
    """Most of what is known is what was known a turn ago."""
    id, owner, category, content, named, about_whom, created_at, updated_at, *known = row
    said, slot, value, negated, about_speaker, about = known
    subjects = unpacked(about_whom)
    if said is None:  # remembered as it was said, and not taken apart
        own = not subjects or owner in subjects
        said, fact = normalised(content), Fact(slot=named, about_speaker=own)
    else:
        fact = Fact(
            slot=slot,
            value=value,
            negated=bool(negated),
            about_speaker=bool(about_speaker),
            about=about,
        )
    return Kept(
        id=id,
        owner=owner,
        category=category,
        content=content,
        subjects=subjects,
        created_at=created_at,
        updated_at=from_micros(updated_at),
        content_digest=said,
        fact=fact,
    )
