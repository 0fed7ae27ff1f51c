"""Fading: what is of little importance and was not used for two months goes out of mind.

To use a memory is to recall, query, get or show it, or to have it in the fresh part of a prompt; to
change or restore it counts as well. To list it, or to stand in a block, does not: that happens to
everything.
"""

from __future__ import annotations

from datetime import timedelta

from tacit.lifecycle.policy import Upkeep
from tacit.records.memory import State
from tacit.storage import retention
from tacit.storage.memories import Transaction

WHY = "unused"


def fade(w: Transaction, upkeep: Upkeep, after: str, most: int) -> tuple[int, str | None]:
    """The next ones. Says how many, and after which id to go on; None at the end."""
    since = w.at - timedelta(days=upkeep.fade_after_days)
    ids = retention.list_unused(w, since, upkeep.fade_below_importance, after, most)
    until = w.at + timedelta(days=upkeep.restorable_days)
    retention.retire_memories(w, ids, State.FORGOTTEN, "soft_deleted", until, WHY)
    return len(ids), ids[-1] if len(ids) >= most else None
