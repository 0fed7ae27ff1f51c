"""Find episodes by the memories that were learned from them, and the other way round."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, select

from tacit.clock import to_micros
from tacit.records.conversation import Role
from tacit.records.memory import State
from tacit.storage.engine import chunks, select_set
from tacit.storage.memories import Transaction
from tacit.storage.schema import derived_from, memories_table

_M = memories_table.c
_D = derived_from.c
_LEARNED = memories_table.alias("learned")


def list_sources(tx: Transaction, ids: Collection[str]) -> set[str]:
    """List the episodes that these memories were learned from; those of summaries and insights are not listed."""
    found: set[str] = set()
    for some in chunks(ids):
        sources = (
            select(_D.turn_id)
            .join(memories_table, and_(_M.space_id == _D.space_id, _M.id == _D.turn_id))
            .join(_LEARNED, and_(_LEARNED.c.space_id == _D.space_id, _LEARNED.c.id == _D.memory_id))
            .where(_D.space_id == tx.space, _D.memory_id.in_(some))
            .where(_M.is_turn.is_(True), _LEARNED.c.inferred.is_(False))
        )
        found |= select_set(tx.connection, sources)
    return found


def list_derived(tx: Transaction, ids: Collection[str]) -> set[str]:
    """List the memories that were learned from these episodes, without summaries and insights."""
    return {one.memory_id for one in read_learned(tx.connection, tx.space, ids)}


def find_newest(tx: Transaction, since: datetime) -> str | None:
    """Find the requester's newest episode in this thread and chat."""
    newest = (
        select(_M.id)
        .where(
            _M.space_id == tx.space,
            _M.owner.in_(sorted(tx.request.own_identities)),
            _M.is_turn.is_(True),
            _M.created_at >= to_micros(since),
            _M.thread == tx.thread,
            _M.learned_in.in_(sorted(tx.request.chat_ids)),
            _M.role == Role.USER.value,
            _M.name.is_(None),
            _M.state == State.ACTIVE.value,
        )
        .order_by(_M.created_at.desc(), _M.seq.desc())
        .limit(1)
    )
    return tx.connection.execute(newest).scalar()


@dataclass(frozen=True, slots=True)
class LearnedMemory:
    """A memory that was learned from an episode."""

    episode_id: str
    memory_id: str
    state: State
    superseded_by: str | None
    is_reworded: bool  # since, because of what was said later


def read_learned(connection: Connection, space: str, episode_ids: Collection[str]) -> list[LearnedMemory]:
    """List what was learned from these episodes, in every state, without summaries and insights."""
    other, later = derived_from.alias("other"), memories_table.alias("later")
    said_later = (
        select(other.c.memory_id)
        .join(later, and_(later.c.space_id == other.c.space_id, later.c.id == other.c.turn_id))
        .where(other.c.space_id == _D.space_id, other.c.memory_id == _D.memory_id)
        .where(later.c.is_turn.is_(True), later.c.created_at > _M.created_at)
        .exists()
    )
    columns = (_D.turn_id, _D.memory_id, _LEARNED.c.state, _LEARNED.c.superseded_by)
    found: list[LearnedMemory] = []
    for some in chunks(episode_ids):
        learned = (
            select(*columns, and_(_LEARNED.c.version > 1, said_later))
            .join(memories_table, and_(_M.space_id == _D.space_id, _M.id == _D.turn_id))
            .join(_LEARNED, and_(_LEARNED.c.space_id == _D.space_id, _LEARNED.c.id == _D.memory_id))
            .where(_D.space_id == space, _D.turn_id.in_(some), _LEARNED.c.inferred.is_(False))
        )
        found += [
            LearnedMemory(row[0], row[1], State(row[2]), row[3], bool(row[4])) for row in connection.execute(learned)
        ]
    return found
