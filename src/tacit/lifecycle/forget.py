"""Forget memories, and restore them until they are purged."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import select

from tacit import limits
from tacit.errors import Conflict
from tacit.learning.composition import Ttls, compute_expiry
from tacit.learning.memory_writes import QUARANTINE_TAG
from tacit.records.memory import HistoryEvent, Memory, State
from tacit.storage import memories
from tacit.storage.episodes import list_sources
from tacit.storage.erasures import hard_delete
from tacit.storage.memories import Transaction
from tacit.storage.relations import list_insights
from tacit.storage.schema import memories_table


def forget_memory(tx: Transaction, memory: Memory, restorable_days: int = limits.RESTORABLE_DAYS) -> None:
    """Forget a memory and the insights that rest on it. A second call changes nothing."""
    if memory.state in (State.FORGOTTEN, State.SUPERSEDED):
        return
    if memory.state is State.PENDING:
        # Restoring it would skip the consent.
        hard_delete(tx, [memory.id, *sorted(list_sources(tx, [memory.id]))])
        return
    gone = replace(memory, state=State.FORGOTTEN, purge_at=tx.at + timedelta(days=restorable_days), updated_at=tx.at)
    memories.update_fields(tx, gone, HistoryEvent.DELETE, "deleted")
    forget_insights(tx, [memory.id], restorable_days)


def forget_insights(tx: Transaction, ids: Sequence[str], restorable_days: int) -> None:
    """Forget the insights that rest on these memories."""
    for insight in memories.lock_memories(tx, list_insights(tx, ids)):
        forget_memory(tx, insight, restorable_days)


def restore_memory(tx: Transaction, memory: Memory, ttls: Ttls) -> None:
    lapsed = memory.expires_at is not None and memory.expires_at <= tx.at
    if memory.state is State.ACTIVE and not lapsed:
        return
    if memory.state is State.SUPERSEDED:
        raise Conflict("this memory was superseded by a newer one")
    if memory.state not in (State.ACTIVE, State.FORGOTTEN, State.EXPIRED):
        raise Conflict(f"this memory is {memory.state}; it cannot be restored")
    if memories.is_key_taken(tx, memory):
        raise Conflict("its key has another value now; forget that one first")
    expires = compute_expiry(memory.kind, tx.at, ttls) if lapsed else memory.expires_at
    # Only an operator releases from quarantine.
    state = State.QUARANTINED if QUARANTINE_TAG in memory.tags else State.ACTIVE
    back = replace(memory, state=state, purge_at=None, expires_at=expires, updated_at=tx.at)
    memories.update_fields(tx, back, HistoryEvent.RESTORE, "restored" if state is State.ACTIVE else None)


def forget_owned(tx: Transaction, owners: Collection[str], restorable_days: int) -> int:
    """Forget everything that these identities of one person own; return how many memories."""
    m = memories_table.c
    owned = select(m.id).where(
        m.space_id == tx.space,
        m.owner.in_(sorted(owners)),
        m.state.not_in([State.FORGOTTEN.value, State.SUPERSEDED.value]),
    )
    ids = tx.connection.execute(owned).scalars().all()
    for memory in memories.lock_memories(tx, ids):
        forget_memory(tx, memory, restorable_days)
    return len(ids)
