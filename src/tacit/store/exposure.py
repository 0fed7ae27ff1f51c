"""Whom memories may have been told to: what agents have saved with them since may hold these."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, or_, select

from tacit.records.memory import ChatKind, Sensitivity, Visibility
from tacit.store import places
from tacit.store.identities import around
from tacit.store.rows import unpacked
from tacit.store.tables import audience_people, history, memories, memory_versions

_M = memories.c
_V = memory_versions.c
_A = audience_people.c
_H = history.c
# A memory, one of its wordings, and whether others than its owner might hear it so.
Said = Sequence[tuple[Any, Any, bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """What others keep to themselves takes nothing of anybody's along: that would tell of it."""

    since: int  # microseconds
    people: frozenset[str]  # identities of those who own them, and whom they might reach in private
    includes_groups: bool  # one of them might have been told where others listen
    rooms: frozenset[str]  # where those were learned, under each id that such a chat has had


def of(connection: Connection, space: str, ids: Collection[str]) -> Exposure:
    """Before these memories are erased."""
    rows = connection.execute(select(memories).where(_M.space_id == space, _M.id.in_(ids))).all()
    said = _said(connection, space, rows)
    reached = _reached(connection, space, said)
    found = around(connection, space, reached)
    told = [
        row
        for row, wording, heard in said
        if heard and wording.sensitivity != Sensitivity.SENSITIVE
    ]
    chats = {one.learned_in for one in told if one.learned_kind == ChatKind.GROUP}
    rooms = {room for chat in chats for room in places.place(connection, space, chat).chat_ids}
    return Exposure(
        since=min((row.created_at for row in rows), default=0),
        # Ever: who was the same person then has heard it as their own.
        people=frozenset(identity for one in reached for identity in found.all_identities(one)),
        includes_groups=bool(told),
        rooms=frozenset(rooms | chats),
    )


def _said(connection: Connection, space: str, rows: Sequence[Any]) -> Said:
    ids = [row.id for row in rows]
    # What reached further once, and was taken back.
    changed = or_(_H.detail.contains("visibility"), _H.detail.contains("withheld_from"))
    wanted = (_H.space_id == space, _H.memory_id.in_(ids), changed)
    moved = set(connection.execute(select(_H.memory_id).where(*wanted)).scalars())
    whole = {row.id: row for row in rows}
    wordings = select(memory_versions).where(_V.space_id == space, _V.memory_id.in_(ids))
    said = [(row, row) for row in rows]
    said += [(whole[one.memory_id], one) for one in connection.execute(wordings)]
    found = []
    for row, wording in said:
        private = row.withheld_unknown or wording.visibility == Visibility.PRIVATE_ONLY
        found.append((row, wording, not row.inferred and (not private or row.id in moved)))
    return found


def _reached(connection: Connection, space: str, said: Said) -> set[str]:
    """Whom they may have been told to in private."""
    people = {one for row, wording, _ in said for one in (row.owner, wording.speaker) if one}
    sets: set[str] = set()
    for row, wording, heard in said:
        if not heard:
            continue
        sets |= {wording.heard} if wording.heard else set()
        in_group = row.learned_kind == ChatKind.GROUP
        leaves = wording.portable and not row.confidential and not row.has_withheld
        if leaves and wording.sensitivity == Sensitivity.PUBLIC and in_group:
            people |= unpacked(wording.subjects)
    listeners = select(_A.person).where(_A.space_id == space, _A.audience.in_(sorted(sets)))
    return people | set(connection.execute(listeners).scalars()) if sets else people
