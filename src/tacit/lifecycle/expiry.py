"""Expire, fade and evict memories, and delete turns, proposals and changes past their time."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from heapq import nsmallest
from typing import Any, NamedTuple

from tacit import limits
from tacit.clock import to_micros
from tacit.lifecycle import clock_guard
from tacit.lifecycle.purge import purge_memories
from tacit.lifecycle.tasks import LifecycleOptions, SaveProgress, StepProgress, TaskStep
from tacit.records.memory import State
from tacit.storage import learned_facts, retention
from tacit.storage.memories import Transaction
from tacit.storage.store import Store

# Fading: unimportant memories expire when they were not used for two months. Recall, query, get,
# show, the fresh context of a prompt, updates and restores count as use; listings and blocks do
# not, because they contain everything.

FADE_REASON = "unused"


def fade_memories(
    tx: Transaction, options: LifecycleOptions, after: str, most: int
) -> tuple[int, str | None]:
    """Fade the next page. Return the count and the id to continue after, None at the end."""
    since = tx.at - timedelta(days=options.fade_after_days)
    ids = retention.list_unused(tx, since, options.fade_below_importance, after, most)
    until = tx.at + timedelta(days=options.restorable_days)
    retention.retire_memories(tx, ids, State.FORGOTTEN, "soft_deleted", until, FADE_REASON)
    return len(ids), ids[-1] if len(ids) >= most else None


# Eviction: an owner above the cap keeps the memories that are used. The score is log2(1 + uses)
# minus one for every 30 days since the last use. The lowest go first; of equal ones the less
# important, then the older; keyed values go last. Pinned memories and those changed within a week
# stay, so an owner may exceed the cap for a while.

EVICTION_REASON = "more than the cap"
_DAY_MICROS = timedelta(days=1) // timedelta(microseconds=1)


def evict_memories(
    tx: Transaction, options: LifecycleOptions, after: str, most: int
) -> tuple[int, int, str | None]:
    """Evict memories of the next owners.

    Return how many were evicted, how many owners were examined, and the owner to continue after,
    None at the end.
    """
    if options.max_entries is None:
        return 0, 0, None
    evicted, place = 0, after
    some = min(most, limits.OWNERS_BATCH_COUNT)
    found = retention.list_owner_counts(tx, after, some)
    for looked_at, (owner, count) in enumerate(found):
        excess = count - options.max_entries
        if excess > 0:
            evicted += _evict_from_owner(tx, options, owner, min(excess, most - evicted))
        if evicted >= most:  # this owner may have more to evict
            return evicted, looked_at, place
        place = owner
    return evicted, len(found), place if len(found) >= some else None


def _evict_from_owner(tx: Transaction, options: LifecycleOptions, owner: str, count: int) -> int:
    until = tx.at - timedelta(days=limits.EVICTION_MIN_AGE_DAYS)
    now = to_micros(tx.at)
    worst = nsmallest(
        count, retention.list_evictable(tx, owner, until), key=lambda row: _eviction_order(row, now)
    )
    until = tx.at + timedelta(days=options.restorable_days)
    ids = [row.id for row in worst]
    return retention.retire_memories(
        tx, ids, State.FORGOTTEN, "soft_deleted", until, EVICTION_REASON
    )


def _eviction_order(row: Any, now: int) -> tuple[bool, float, int, str]:
    return bool(row.keyed), retention_score(row, now), row.importance, row.id


def retention_score(row: Any, now: int) -> float:
    """Score a memory: the higher, the more it is worth keeping."""
    used = max(row.last_accessed_at or 0, row.updated_at)
    days = max(0, now - used) / _DAY_MICROS
    return math.log2(1 + int(row.access_count)) - float(days) / limits.EVICTION_HALF_LIFE_DAYS


# The sweep expires what is past its time, unused or above the cap, and deletes records that are
# kept for a limited time. Reads filter expired rows themselves, so nothing depends on when it runs.

EXPIRY_REASON = "expired"


class _PhaseResult(NamedTuple):
    """The result of one phase of the sweep in one step."""

    rows: int  # handled
    cost: int  # share of the step that they took
    cursor: str | None  # where to continue; None: the phase is done


_Phase = Callable[[Transaction, LifecycleOptions, str, int], _PhaseResult]


def build_expire_task(store: Store, options: LifecycleOptions) -> TaskStep:
    def step(space: str, before: StepProgress, save: SaveProgress) -> StepProgress:
        store.accesses.flush()  # accesses of this process count as use

        def work(tx: Transaction) -> StepProgress:
            after = _run_phases(tx, options, before)
            save(tx.connection, after)
            return after

        return store.write_as(space, "system", work)

    return step


def _run_phases(tx: Transaction, options: LifecycleOptions, before: StepProgress) -> StepProgress:
    """Run phase by phase, as far as one transaction may go."""
    if not clock_guard.is_clock_steady(tx):
        return before.advance(None, **{clock_guard.WAITS_FOR_CLOCK: 1})
    name, _, place = (before.cursor or _PHASE_NAMES[0]).partition(":")
    left, after = limits.SWEEP_BATCH_COUNT, before
    while left > 0:
        done = _PHASES[name](tx, options, place, left)
        after = after.advance(None, **({name: done.rows} if done.rows else {}))
        left -= done.cost
        if done.cursor is not None:
            place = done.cursor
            continue
        following = _PHASE_NAMES.index(name) + 1
        if following == len(_PHASE_NAMES):
            return after
        name, place = _PHASE_NAMES[following], ""
    return after.advance(f"{name}:{place}")


def _expire_phase(tx: Transaction, options: LifecycleOptions, _: str, most: int) -> _PhaseResult:
    ids = retention.list_expired(tx, most, turns=False)
    until = tx.at + timedelta(days=options.restorable_days)
    retention.retire_memories(tx, ids, State.EXPIRED, "expired", until, EXPIRY_REASON)
    return _page_result(len(ids), most)


def _fade_phase(tx: Transaction, options: LifecycleOptions, place: str, most: int) -> _PhaseResult:
    count, further = fade_memories(tx, options, place, most)
    return _PhaseResult(count, count, further)


def _evict_phase(tx: Transaction, options: LifecycleOptions, place: str, most: int) -> _PhaseResult:
    count, owners, further = evict_memories(tx, options, place, most)
    return _PhaseResult(count, count + owners, further)


def _delete_expired_turns(tx: Transaction, _: LifecycleOptions, __: str, most: int) -> _PhaseResult:
    ids = retention.list_expired(tx, most, turns=True)
    purge_memories(tx, ids)
    return _page_result(len(ids), most)


def _delete_expired_proposals(
    tx: Transaction, _: LifecycleOptions, __: str, most: int
) -> _PhaseResult:
    """Delete proposals without an answer, with their content."""
    ids = learned_facts.list_expired_proposals(tx.connection, tx.space, tx.at, most)
    purge_memories(tx, ids)
    return _page_result(len(ids), most)


def _delete_old_rows(tx: Transaction, _: LifecycleOptions, __: str, most: int) -> _PhaseResult:
    return _page_result(retention.delete_old_rows(tx.connection, tx.space, tx.at, most), most)


def _delete_old_changes(
    tx: Transaction, _: LifecycleOptions, place: str, most: int
) -> _PhaseResult:
    count, further = retention.delete_old_changes(tx.connection, tx.space, tx.at, place, most)
    return _PhaseResult(count, most if further is not None else count, further)


def _page_result(count: int, most: int) -> _PhaseResult:
    """Continue after a full page."""
    return _PhaseResult(count, count, "" if count >= most else None)


# In this order; the names are keys of the counts.
_PHASES: dict[str, _Phase] = {
    "expired": _expire_phase,
    "faded": _fade_phase,
    "evicted": _evict_phase,
    "turns": _delete_expired_turns,
    "proposals": _delete_expired_proposals,
    "stale": _delete_old_rows,
    "changes": _delete_old_changes,
}
_PHASE_NAMES = tuple(_PHASES)
