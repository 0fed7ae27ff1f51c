"""Purge memories that were forgotten or expired long enough ago, with what they superseded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from tacit import limits
from tacit.lifecycle import clock_guard
from tacit.lifecycle.tasks import LifecycleOptions, SaveProgress, StepProgress, TaskStep, write_step
from tacit.policy.rules import sql_literal
from tacit.records.memory import State
from tacit.storage import retention
from tacit.storage.engine import chunks, update_rows
from tacit.storage.episodes import list_sources
from tacit.storage.erasures import hard_delete, list_superseded
from tacit.storage.memories import Transaction
from tacit.storage.schema import memories_table
from tacit.storage.spaces import load_identities
from tacit.storage.store import Store

NEWER_VALUE_PURGED = "its newer value was purged"
_M = memories_table.c


def build_purge_task(store: Store, options: LifecycleOptions) -> TaskStep:
    def step(space: str, before: StepProgress, save: SaveProgress) -> StepProgress:
        return write_step(store, space, save, lambda tx: _purge_due(tx, options, before))

    return step


def _purge_due(tx: Transaction, options: LifecycleOptions, before: StepProgress) -> StepProgress:
    if not clock_guard.is_clock_steady(tx):
        return before.advance(None, **{clock_guard.WAITS_FOR_CLOCK: 1})
    rows = retention.list_due_for_purge(tx, limits.SWEEP_BATCH_COUNT)
    # Nothing should be due before the last purge: such a row was dated by a wrong clock.
    done = clock_guard.get_purged_until(tx)
    late = [row.id for row in rows if row.purge_at <= done]
    until = tx.at + timedelta(days=options.restorable_days)
    update_rows(tx.connection, memories_table, tx.space, _M.id.in_(late), purge_at=until)
    gone = [row for row in rows if row.purge_at > done]
    _forget_overridden(tx, gone, until)
    ids = {row.id for row in gone}
    ids |= list_superseded(tx.connection, tx.space, ids)  # of any owner: it could not be restored
    # An episode must not bring back what was forgotten; of what merely expired it may still tell.
    sources = list_sources(tx, ids - {row.id for row in gone if row.state == State.EXPIRED})
    for some in chunks(ids | sources):
        purge_memories(tx, some)
    full = len(rows) >= limits.SWEEP_BATCH_COUNT
    if not full:
        clock_guard.record_purge(tx)
    counts = {"purged": len(ids), "postponed": len(late)}
    return before.advance("more" if full else None, **{what: n for what, n in counts.items() if n})


def purge_memories(tx: Transaction, ids: Sequence[str]) -> None:
    """Delete memories from every table.

    Their bytes may stay in free pages of the files: unlike an erasure, a purge does not promise
    otherwise.
    """
    hard_delete(tx, ids, scrubbed=True)


def _forget_overridden(tx: Transaction, gone: Sequence[Any], until: datetime) -> None:
    """Forget values that a purged value of the same key had overridden.

    They belong to other identities of the same person. Without this, purging a forgotten value
    would bring an older one back.
    """
    for row in gone:
        if row.key is None or row.owner is None or row.overridden:
            continue
        identities = load_identities(tx.connection, tx.space, [row.owner])
        owners = sorted(identities.current_identities(row.owner) - {row.owner})
        if owners:
            overridden = select(_M.id).where(
                _M.space_id == tx.space,
                _M.owner.in_(owners),
                _M.category == row.category,
                _M.key == row.key,
                _M.key.is_not(None),
                _M.state == sql_literal(State.ACTIVE),
                _M.overridden.is_(True),
            )
            covered = tx.connection.execute(overridden).scalars().all()
            retention.retire_memories(tx, covered, State.FORGOTTEN, None, until, NEWER_VALUE_PURGED)
