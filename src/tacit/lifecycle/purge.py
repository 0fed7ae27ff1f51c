"""Purge memories that were forgotten or expired long enough ago, with what they superseded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, select, update

from tacit import limits
from tacit.clock import to_micros
from tacit.lifecycle import clock_guard
from tacit.lifecycle.tasks import LifecycleOptions, SaveProgress, StepProgress, TaskStep
from tacit.policy.predicate import sql_literal
from tacit.records.memory import State
from tacit.storage import retention
from tacit.storage.erasures import hard_delete
from tacit.storage.memories import Transaction
from tacit.storage.schema import memories_table, tombstones
from tacit.storage.spaces import keyed_digest, load_identities
from tacit.storage.store import Store

NEWER_VALUE_PURGED = "its newer value was purged"
_MORE = "on"
_M = memories_table.c
_T = tombstones.c
_SUPERSEDED_IDS = select(_M.id).where(
    _M.space_id == bindparam("space"), _M.superseded_by.in_(bindparam("ids", expanding=True))
)
_OVERRIDDEN_IDS = select(_M.id).where(
    _M.space_id == bindparam("space"),
    _M.owner.in_(bindparam("owners", expanding=True)),
    _M.category == bindparam("category"),
    _M.key == bindparam("key"),
    _M.key.is_not(None),
    _M.state == sql_literal(State.ACTIVE),
    _M.overridden.is_(True),
)


def build_purge_task(store: Store, options: LifecycleOptions) -> TaskStep:
    def step(space: str, before: StepProgress, save: SaveProgress) -> StepProgress:
        def work(tx: Transaction) -> StepProgress:
            after = _purge_due(tx, options, before)
            save(tx.connection, after)
            return after

        return store.write_as(space, "system", work)

    return step


def _purge_due(tx: Transaction, options: LifecycleOptions, before: StepProgress) -> StepProgress:
    if not clock_guard.is_clock_steady(tx):
        return before.advance(None, **{clock_guard.WAITS_FOR_CLOCK: 1})
    rows = retention.list_due_for_purge(tx, limits.SWEEP_BATCH_COUNT)
    # Nothing should be due before the last purge: such a row was dated by a wrong clock.
    done = clock_guard.get_purged_until(tx)
    late = [row.id for row in rows if row.purge_at <= done]
    _postpone_purge(tx, late, options)
    gone = [row for row in rows if row.purge_at > done]
    _forget_overridden(tx, gone, options)
    ids = _with_superseded(tx, [row.id for row in gone])
    for some in _in_batches(ids):
        purge_memories(tx, some)
    counts = {"purged": len(ids), "postponed": len(late)}
    full = len(rows) >= limits.SWEEP_BATCH_COUNT
    if not full:
        clock_guard.record_purge(tx)
    return before.advance(_MORE if full else None, **{what: n for what, n in counts.items() if n})


def purge_memories(tx: Transaction, ids: Sequence[str]) -> None:
    """Delete memories from every table.

    Their bytes may stay in free pages of the files: unlike an erasure, a purge does not promise
    otherwise.
    """
    if not ids:
        return
    hard_delete(tx, ids)
    digests = [keyed_digest(tx.secret, id) for id in ids]
    tx.connection.execute(
        update(tombstones)
        .where(_T.space_id == tx.space, _T.digest.in_(digests))
        .values(scrubbed=True)
    )


def _with_superseded(tx: Transaction, ids: Sequence[str]) -> list[str]:
    """Add what these superseded, transitively and of any owner: it could not be restored."""
    found = dict.fromkeys(ids)
    frontier = list(ids)
    while frontier:
        before: list[str] = []
        for some in _in_batches(frontier):
            params = {"space": tx.space, "ids": some}
            before += tx.connection.execute(_SUPERSEDED_IDS, params).scalars()
        frontier = [id for id in before if id not in found]
        found |= dict.fromkeys(frontier)
    return list(found)


def _in_batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), limits.SWEEP_BATCH_COUNT):
        yield ids[start : start + limits.SWEEP_BATCH_COUNT]


def _postpone_purge(tx: Transaction, ids: Sequence[str], options: LifecycleOptions) -> None:
    if ids:
        until = tx.at + timedelta(days=options.restorable_days)
        which = (_M.space_id == tx.space, _M.id.in_(ids))
        tx.connection.execute(
            update(memories_table).where(*which).values(purge_at=to_micros(until))
        )


def _forget_overridden(tx: Transaction, gone: Sequence[Any], options: LifecycleOptions) -> None:
    """Forget values that a purged value of the same key had overridden.

    They belong to other identities of the same person. Without this, purging a forgotten value
    would bring an older one back.
    """
    until = tx.at + timedelta(days=options.restorable_days)
    for row in gone:
        if row.key is None or row.owner is None or row.overridden:
            continue
        owners = load_identities(tx.connection, tx.space, [row.owner]).current_identities(
            row.owner
        ) - {row.owner}
        if owners:
            params = {"owners": sorted(owners), "category": row.category, "key": row.key}
            params |= {"space": tx.space}
            covered = tx.connection.execute(_OVERRIDDEN_IDS, params).scalars().all()
            retention.retire_memories(tx, covered, State.FORGOTTEN, None, until, NEWER_VALUE_PURGED)
