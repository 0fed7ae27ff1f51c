"""Find episodes by the memories that were learned from them, and the other way round."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, select, tuple_

from tacit.clock import to_micros
from tacit.records.conversation import Role
from tacit.records.memory import Memory, State
from tacit.storage.engine import chunks, select_set
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import MEMORY_COLUMNS, AudienceCache
from tacit.storage.schema import derived_from, memories_table, memory_versions

_M = memories_table.c
_D = derived_from.c
_V = memory_versions.c
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


def list_spoken(
    connection: Connection,
    audiences: AudienceCache,
    space: str,
    now: datetime,
    after: tuple[int, str] | None,
    most: int,
) -> list[Memory]:
    """List the active episodes of the space that their owner said themselves, oldest first."""
    spoken = select(*MEMORY_COLUMNS).where(
        _M.space_id == space,
        _M.is_turn.is_(True),
        _M.state == State.ACTIVE.value,
        _M.expires_at > to_micros(now),
        _M.role == Role.USER.value,
        _M.speaker == _M.owner,
    )
    if after is not None:
        spoken = spoken.where(tuple_(_M.created_at, _M.id) > after)
    rows = connection.execute(spoken.order_by(_M.created_at, _M.id).limit(most)).all()
    return audiences.to_memories(connection, space, rows)


def read_ended_slots(tx: Transaction, episode_id: str) -> set[str]:
    """Return the slots of what was learned from an episode and is no longer active."""
    ids = sorted(list_derived(tx, [episode_id]))
    ended = select(_M.slot).where(_M.space_id == tx.space, _M.id.in_(ids), _M.state != State.ACTIVE.value)
    return select_set(tx.connection, ended.where(_M.slot.is_not(None)))


def read_wordings(tx: Transaction, episode_id: str) -> set[str]:
    """Return every version of what was learned from an episode, in every state."""
    ids = sorted(list_derived(tx, [episode_id]))
    return select_set(tx.connection, select(_V.content).where(_V.space_id == tx.space, _V.memory_id.in_(ids)))


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
