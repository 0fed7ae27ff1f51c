"""Expire, fade and evict memories, and delete turns, proposals and changes past their time."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from heapq import nsmallest
from typing import Any, NamedTuple

from tacit import limits
from tacit.clock import to_micros
from tacit.lifecycle import clock_guard
from tacit.lifecycle.purge import purge_memories
from tacit.lifecycle.tasks import LifecycleOptions, SaveProgress, StepProgress, TaskStep, write_step
from tacit.records.memory import State
from tacit.storage import learned_facts, retention
from tacit.storage.episodes import list_sources
from tacit.storage.memories import Transaction
from tacit.storage.store import Store

# The sweep expires what is past its time, unused or above the cap, and deletes records that are
# kept for a limited time. Reads filter expired rows themselves, so nothing depends on when it runs.

_DAY_MICROS = timedelta(days=1) // timedelta(microseconds=1)


class _PhaseResult(NamedTuple):
    """The result of one phase of the sweep in one step."""

    rows: int  # handled
    cost: int  # share of the step that they took
    cursor: str | None  # where to continue; None: the phase is done


# Handles at most so many rows after the cursor.
_Phase = Callable[[Transaction, LifecycleOptions, str, int], _PhaseResult]


def build_expire_task(store: Store, options: LifecycleOptions) -> TaskStep:
    def step(space: str, before: StepProgress, save: SaveProgress) -> StepProgress:
        store.accesses.flush()  # accesses of this process count as use
        return write_step(store, space, save, lambda tx: _run_phases(tx, options, before))

    return step


def _run_phases(tx: Transaction, options: LifecycleOptions, before: StepProgress) -> StepProgress:
    """Run phase by phase, as far as one transaction may go."""
    if not clock_guard.is_clock_steady(tx):
        return before.advance(None, **{clock_guard.WAITS_FOR_CLOCK: 1})
    names = tuple(_PHASES)
    name, _, place = (before.cursor or names[0]).partition(":")
    left, after = limits.SWEEP_BATCH_COUNT, before
    while left > 0:
        done = _PHASES[name](tx, options, place, left)
        after = after.advance(None, **({name: done.rows} if done.rows else {}))
        left -= done.cost
        if done.cursor is not None:
            place = done.cursor
            continue
        if name == names[-1]:
            return after
        name, place = names[names.index(name) + 1], ""
    return after.advance(f"{name}:{place}")


def _page_result(count: int, most: int) -> _PhaseResult:
    """Continue after a full page."""
    return _PhaseResult(count, count, "" if count >= most else None)


def _retire(tx: Transaction, options: LifecycleOptions, ids: list[str], state: State, shown: str, why: str) -> int:
    until = tx.at + timedelta(days=options.restorable_days)
    return retention.retire_memories(tx, ids, state, shown, until, why)


def _expire(tx: Transaction, options: LifecycleOptions, _: str, most: int) -> _PhaseResult:
    ids = retention.list_expired(tx, most, turns=False)
    _retire(tx, options, ids, State.EXPIRED, "expired", "expired")
    return _page_result(len(ids), most)


def _fade(tx: Transaction, options: LifecycleOptions, place: str, most: int) -> _PhaseResult:
    """Forget unimportant memories that were not used for a long time.

    Recall, query, get, show, the fresh context of a prompt, updates and restores count as use;
    listings and blocks do not, because they contain everything.
    """
    since = tx.at - timedelta(days=options.fade_after_days)
    ids = retention.list_unused(tx, since, options.fade_below_importance, place, most)
    _retire(tx, options, ids, State.FORGOTTEN, "soft_deleted", "unused")
    return _PhaseResult(len(ids), len(ids), ids[-1] if len(ids) >= most else None)


def _evict(tx: Transaction, options: LifecycleOptions, place: str, most: int) -> _PhaseResult:
    """Forget memories of the next owners who have more than the cap.

    The lowest score goes first; of equal ones the less important, then the older; keyed values go
    last. Pinned memories and those changed within a week stay, so an owner may exceed the cap for a
    while.
    """
    if options.max_entries is None:
        return _PhaseResult(0, 0, None)
    evicted, now = 0, to_micros(tx.at)
    unchanged_since = tx.at - timedelta(days=limits.EVICTION_MIN_AGE_DAYS)
    some = min(most, limits.OWNERS_BATCH_COUNT)
    found = retention.list_owner_counts(tx, place, some)
    for examined, (owner, count) in enumerate(found):
        excess = min(count - options.max_entries, most - evicted)
        if excess > 0:
            rows = retention.list_evictable(tx, owner, unchanged_since)
            worst = nsmallest(excess, rows, key=partial(_eviction_order, now=now))
            ids = [row.id for row in worst]
            evicted += _retire(tx, options, ids, State.FORGOTTEN, "soft_deleted", "more than the cap")
        if evicted >= most:  # this owner may have more to evict
            return _PhaseResult(evicted, evicted + examined, place)
        place = owner
    return _PhaseResult(evicted, evicted + len(found), place if len(found) >= some else None)


def _eviction_order(row: Any, now: int) -> tuple[bool, float, int, str]:
    """Score log2(1 + uses), minus one for every half-life since the last use."""
    days = max(0, now - max(row.last_accessed_at or 0, row.updated_at)) / _DAY_MICROS
    score = math.log2(1 + int(row.access_count)) - days / limits.EVICTION_HALF_LIFE_DAYS
    return bool(row.keyed), score, row.importance, row.id


def _delete_turns(tx: Transaction, _: LifecycleOptions, __: str, most: int) -> _PhaseResult:
    ids = retention.list_expired(tx, most, turns=True)
    purge_memories(tx, ids)
    return _page_result(len(ids), most)


def _delete_proposals(tx: Transaction, _: LifecycleOptions, __: str, most: int) -> _PhaseResult:
    """Delete proposals without an answer, with their content and the episodes that say it."""
    ids = learned_facts.list_expired_proposals(tx.connection, tx.space, tx.at, most)
    purge_memories(tx, [*ids, *sorted(list_sources(tx, ids))])
    return _page_result(len(ids), most)


def _delete_old_rows(tx: Transaction, _: LifecycleOptions, __: str, most: int) -> _PhaseResult:
    return _page_result(retention.delete_old_rows(tx.connection, tx.space, tx.at, most), most)


def _delete_changes(tx: Transaction, _: LifecycleOptions, place: str, most: int) -> _PhaseResult:
    count, further = retention.delete_old_changes(tx.connection, tx.space, tx.at, place, most)
    return _PhaseResult(count, most if further is not None else count, further)


# In this order; the names are keys of the counts.
_PHASES: dict[str, _Phase] = {
    "expired": _expire,
    "faded": _fade,
    "evicted": _evict,
    "turns": _delete_turns,
    "proposals": _delete_proposals,
    "stale": _delete_old_rows,
    "changes": _delete_changes,
}
