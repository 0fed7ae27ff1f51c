"""Revisions of what leads to memories: a person, a room, a set of listeners.

Whoever keeps an answer in the process keeps it with the revisions of the doors it came through.
They are read again in the snapshot of the rows, so that another process's write is seen at once.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, TextClause, bindparam, select, text, union_all, update

from tacit.policy.predicate import predicate_parameters
from tacit.records.memory import Memory
from tacit.records.request import Request
from tacit.store import rendered
from tacit.store.rows import counted_subjects
from tacit.store.tables import audience_people, memories, memory_people, partitions

_P = partitions.c
_A = audience_people.c
_M = memories.c
_W = memory_people.c
BUMPED_AT_ONCE_COUNT = 200
NOTES = "n:notes"  # leads to no memory: moves when a note of the space does

Revisions = dict[str, tuple[int, int]]  # door → (revision, the one that last removed a row)


def person(identity: str) -> str:
    return f"p:{identity}"


def room(chat: str) -> str:
    return f"r:{chat}"


def heard(audience: str) -> str:
    """A set of listeners goes by its own name, so that an index leads from one to the other."""
    return audience


def is_heard(door: str) -> bool:
    return not door.startswith(("p:", "r:", "n:"))


def home(owner: str | None, learned_in: str | None) -> str:
    """Where a memory lives: with its owner, or in the room that owns it."""
    return person(owner) if owner else room(learned_in or "")


def home_of(memory: Memory) -> str:
    return home(memory.owner, memory.learned_in)


def doors_of(memory: Memory, audience: str | None) -> set[str]:
    """Everything that leads to a memory, its home among it."""
    people = counted_subjects(memory) | {memory.owner, memory.speaker}
    doors = {person(one) for one in people if one} | {home_of(memory)}
    if memory.learned_in:
        doors.add(room(memory.learned_in))
    if audience:
        doors.add(heard(audience))
    return doors


_STORED = select(_M.id, _M.owner, _M.speaker, _M.learned_in, _M.heard).where(
    _M.space_id == bindparam("space"), _M.id.in_(bindparam("ids", expanding=True))
)
_STORED_PEOPLE = select(_W.person).where(
    _W.space_id == bindparam("space"), _W.memory_id.in_(bindparam("ids", expanding=True))
)


def doors_of_stored(connection: Connection, space: str, ids: Collection[str]) -> set[str]:
    """The doors of memories as they stand, before they change or go."""
    params = {"space": space, "ids": sorted(ids)}
    doors: set[str] = set()
    for row in connection.execute(_STORED, params):
        doors |= {person(one) for one in (row.owner, row.speaker) if one}
        doors.add(home(row.owner, row.learned_in))
        if row.learned_in:
            doors.add(room(row.learned_in))
        if row.heard:
            doors.add(heard(row.heard))
    doors |= {person(one) for one in connection.execute(_STORED_PEOPLE, params).scalars()}
    return doors


def bump(
    connection: Connection, space: str, doors: Iterable[str], *, removing: bool = False
) -> dict[str, int]:
    """Move these revisions on, always in the same order, so that two writers never hold each other
    up for good. The answer is the new revision of each."""
    names = sorted(set(doors))
    revisions: dict[str, int] = {}
    for start in range(0, len(names), BUMPED_AT_ONCE_COUNT):
        some = names[start : start + BUMPED_AT_ONCE_COUNT]
        params = {"space": space, **bumped(some)}
        revisions |= dict(rendered.rows(connection, bumping(len(some)), params))
    if removing and names:
        connection.execute(
            update(partitions)
            .where(_P.space_id == space, _P.door.in_(names))
            .values(cleared_at=_P.rev)
        )
    return revisions


def restamp(connection: Connection, space: str, ids: Collection[str]) -> None:
    """Something that belongs to these memories changed, though not the memories themselves."""
    revisions = bump(connection, space, doors_of_stored(connection, space, ids))
    for row in connection.execute(_STORED, {"space": space, "ids": sorted(ids)}).all():
        stamp = revisions[home(row.owner, row.learned_in)]
        connection.execute(
            update(memories).where(_M.space_id == space, _M.id == row.id).values(stamp=stamp)
        )


def bumped(names: Sequence[str]) -> dict[str, Any]:
    """What `bumping` takes, besides the space."""
    # A beginning that no revision of this name had before its space was erased.
    params: dict[str, Any] = {"new": secrets.randbits(60) + 1}
    for number, name in enumerate(names):
        params[f"d{number}"] = name
    return params


@lru_cache(maxsize=BUMPED_AT_ONCE_COUNT)
def bumping(count: int) -> TextClause:
    rows = ", ".join(f"(:space, :d{number}, :new, :new)" for number in range(count))
    return text(
        f"INSERT INTO partitions (space_id, door, rev, cleared_at) VALUES {rows} "  # noqa: S608
        "ON CONFLICT (space_id, door) DO UPDATE SET rev = partitions.rev + 1 RETURNING door, rev"
    )


_THROUGH = union_all(
    select(_P.door, _P.rev, _P.cleared_at).where(
        _P.space_id == bindparam("p_space"), _P.door.in_(bindparam("doors", expanding=True))
    ),
    # Sets of listeners with the requester in them; those with everybody here are among them.
    select(_P.door, _P.rev, _P.cleared_at)
    .join(audience_people, (_P.space_id == _A.space_id) & (_P.door == _A.audience))
    .where(_A.space_id == bindparam("p_space"), _A.person.in_(bindparam("p_me", expanding=True))),
)


_REVISION = select(_P.rev, _P.cleared_at).where(
    _P.space_id == bindparam("space"), _P.door == bindparam("door")
)


def revision(connection: Connection, space: str, owner: str) -> tuple[int, int]:
    """Of one person's partition."""
    found = rendered.rows(connection, _REVISION, {"space": space, "door": person(owner)})
    return found[0] if found else (0, 0)


def revisions(connection: Connection, request: Request) -> Revisions:
    """Of every door that leads from this request to memories, as of this snapshot."""
    params = predicate_parameters(request)
    people = set(params["p_me"]) | (set() if request.private else set(params["p_here"]))
    doors = [person(one) for one in people] + [room(one) for one in params["p_rooms"]]
    named = {"p_space": request.space, "p_me": params["p_me"], "doors": sorted(doors)}
    rows = rendered.rows(connection, _THROUGH, named)
    return {door: (rev, cleared_at) for door, rev, cleared_at in rows}
