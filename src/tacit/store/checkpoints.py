"""Checkpoints as rows: one for each person and thread, whichever of their identities saved it."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import Conflict, InvalidInput
from tacit.records.checkpoints import Checkpoint
from tacit.store.exposure import Exposure
from tacit.store.tables import checkpoints
from tacit.store.writes import Writing

_C = checkpoints.c
_MINE = (
    select(_C.person, _C.thread, _C.data, _C.categories, _C.version, _C.updated_at)
    .where(
        _C.space_id == bindparam("space"),
        _C.person.in_(bindparam("who", expanding=True)),
        _C.thread == bindparam("thread"),
    )
    .order_by(_C.updated_at.desc(), _C.person)
)
_PAGE_COUNT = 20  # of up to a mebibyte each
_AT_ONCE_COUNT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    person: str
    categories: frozenset[str] | None  # that whoever saved it could use; None: all
    checkpoint: Checkpoint

    def is_open_to(self, allowed: frozenset[str] | None) -> bool:
        """Whether one who may use these categories learns nothing from it that they may not."""
        return allowed is None or (self.categories is not None and self.categories <= allowed)


def find(connection: Connection, space: str, who: Collection[str], thread: str) -> Kept | None:
    """The newest, where identities that are one person by now have each saved their own."""
    params = {"space": space, "who": sorted(who), "thread": thread}
    row = connection.execute(_MINE, params).first()
    return None if row is None else _read(row)


def save(
    w: Writing, thread: str, data: str, allowed: frozenset[str] | None, version: int | None
) -> Checkpoint:
    """`version` is the one that was read: 0, where there was none."""
    params = {"space": w.space, "who": sorted(w.request.own_identities), "thread": thread}
    row = w.connection.execute(w.dialect.lock_memory(_MINE), params).first()
    kept = None if row is None else _read(row)
    if kept is not None and not kept.is_open_to(allowed):
        raise Conflict("an agent that may use more keeps a checkpoint here: name another thread")
    found = 0 if kept is None else kept.checkpoint.version
    if version is not None and version != found:
        raise Conflict(f"the checkpoint is at version {found} by now: read it again")
    named = None if allowed is None else json.dumps(sorted(allowed))
    values = {"data": data, "categories": named, "version": found + 1}
    values["updated_at"] = to_micros(w.at)
    if kept is None:
        _require_room(w)
        key = {"space_id": w.space, "person": w.request.subject, "thread": thread}
        w.connection.execute(insert(checkpoints).values(**key, **values))
    else:
        one = (_C.space_id == w.space, _C.person == kept.person, _C.thread == thread)
        w.connection.execute(update(checkpoints).where(*one).values(**values))
    return Checkpoint(thread=thread, data=json.loads(data), version=found + 1, updated_at=w.at)


def _require_room(w: Writing) -> None:
    theirs = (_C.space_id == w.space, _C.person.in_(sorted(w.request.own_identities)))
    count = w.connection.execute(select(func.count()).select_from(checkpoints).where(*theirs))
    if count.scalar_one() >= limits.CHECKPOINTS_MAX_COUNT:
        raise InvalidInput(
            "checkpoint",
            f"of one person at most {limits.CHECKPOINTS_MAX_COUNT:,} are kept: forget some",
        )


def drop(connection: Connection, space: str, who: Collection[str], thread: str | None) -> int:
    """One, or all of them."""
    theirs = [_C.space_id == space, _C.person.in_(sorted(who))]
    if thread is not None:
        theirs.append(_C.thread == thread)
    return connection.execute(delete(checkpoints).where(*theirs)).rowcount


def drop_exposed(connection: Connection, space: str, exposed: Exposure) -> None:
    """Before memories are erased: what was saved since with anybody whom they might have reached
    in private."""
    who = sorted(exposed.people)
    for start in range(0, len(who), _AT_ONCE_COUNT):
        some = _C.person.in_(who[start : start + _AT_ONCE_COUNT])
        theirs = (_C.space_id == space, some, _C.updated_at >= exposed.since)
        connection.execute(delete(checkpoints).where(*theirs))


def page(
    connection: Connection, space: str, who: Collection[str], after: Kept | None
) -> list[Kept]:
    """Some of somebody's, by thread, after the last one of those before."""
    wanted = select(checkpoints).where(_C.space_id == space, _C.person.in_(sorted(who)))
    if after is not None:
        thread = after.checkpoint.thread
        further = (_C.thread == thread) & (_C.person > after.person)
        wanted = wanted.where((_C.thread > thread) | further)
    rows = connection.execute(wanted.order_by(_C.thread, _C.person).limit(_PAGE_COUNT))
    return [_read(row) for row in rows]


def _read(row: Any) -> Kept:
    return Kept(
        person=row.person,
        categories=None if row.categories is None else frozenset(json.loads(row.categories)),
        checkpoint=Checkpoint(
            thread=row.thread,
            data=json.loads(row.data),
            version=row.version,
            updated_at=from_micros(row.updated_at),
        ),
    )
