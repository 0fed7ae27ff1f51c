"""Eviction: whoever has more memories than the settings allow keeps those that are used.

The score of a memory is log2(1 + uses) less one for every 30 days since its last use: twice as many
uses make up for a month. The lowest go first, of equals the less important and then the older ones;
values of keys go after everything else. What is pinned, or changed within a week, stays: then an
owner has more than the cap for a while.
"""

from __future__ import annotations

import math
from datetime import timedelta
from heapq import nsmallest
from typing import Any

from tacit import limits
from tacit.clock import to_micros
from tacit.lifecycle.policy import Upkeep
from tacit.records.memory import State
from tacit.storage import retention
from tacit.storage.memories import Transaction

WHY = "more than the cap"
_DAY_MICROS = timedelta(days=1) // timedelta(microseconds=1)


def evict(w: Transaction, upkeep: Upkeep, after: str, most: int) -> tuple[int, int, str | None]:
    """Of the next owners. Says how many memories went, how many owners were looked at, and after
    which one to go on; None at the end."""
    if upkeep.max_entries is None:
        return 0, 0, None
    evicted, place = 0, after
    some = min(most, limits.OWNERS_BATCH_COUNT)
    found = retention.list_owner_counts(w, after, some)
    for looked_at, (owner, count) in enumerate(found):
        excess = count - upkeep.max_entries
        if excess > 0:
            evicted += _evict(w, upkeep, owner, min(excess, most - evicted))
        if evicted >= most:  # perhaps not all of this owner's: look at them again
            return evicted, looked_at, place
        place = owner
    return evicted, len(found), place if len(found) >= some else None


def _evict(w: Transaction, upkeep: Upkeep, owner: str, count: int) -> int:
    until = w.at - timedelta(days=limits.EVICTION_MIN_AGE_DAYS)
    now = to_micros(w.at)
    worst = nsmallest(
        count, retention.list_evictable(w, owner, until), key=lambda row: _order(row, now)
    )
    until = w.at + timedelta(days=upkeep.restorable_days)
    ids = [row.id for row in worst]
    return retention.retire_memories(w, ids, State.FORGOTTEN, "soft_deleted", until, WHY)


def _order(row: Any, now: int) -> tuple[bool, float, int, str]:
    return bool(row.keyed), score(row, now), row.importance, row.id


def score(row: Any, now: int) -> float:
    """The higher, the more it is worth keeping."""
    used = max(row.last_accessed_at or 0, row.updated_at)
    days = max(0, now - used) / _DAY_MICROS
    return math.log2(1 + int(row.access_count)) - float(days) / limits.EVICTION_HALF_LIFE_DAYS
