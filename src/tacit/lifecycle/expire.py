"""The sweep: what is past its time, unused or too much goes out of mind, and what was kept for a
while only goes for good. Nobody waits for it: reads leave out what has expired at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from tacit import limits
from tacit.lifecycle import evict as evicting
from tacit.lifecycle import fade as fading
from tacit.lifecycle import leap
from tacit.lifecycle.policy import Upkeep
from tacit.lifecycle.progress import Progress, Save, Work
from tacit.lifecycle.purge import remove
from tacit.records.memory import State
from tacit.storage import learned_facts, retention
from tacit.storage.memories import Transaction
from tacit.storage.store import Store

WHY = "expired"


class _Done(NamedTuple):
    """Of one part of the sweep, in one step."""

    rows: int  # that it dealt with
    cost: int  # how much of the step that took
    cursor: str | None  # where it goes on; None: it is done


_Part = Callable[[Transaction, Upkeep, str, int], _Done]


def sweeping(store: Store, upkeep: Upkeep) -> Work:
    def step(space: str, before: Progress, save: Save) -> Progress:
        store.accesses.flush()  # what this process has used counts as used

        def work(w: Transaction) -> Progress:
            after = _sweep(w, upkeep, before)
            save(w.connection, after)
            return after

        return store.write_as(space, "system", work)

    return step


def _sweep(w: Transaction, upkeep: Upkeep, before: Progress) -> Progress:
    """Part by part, as far as one transaction may go."""
    if not leap.is_steady(w):
        return before.advance(None, **{leap.WAITS: 1})
    name, _, place = (before.cursor or _NAMES[0]).partition(":")
    left, after = limits.SWEEP_BATCH_COUNT, before
    while left > 0:
        done = _PARTS[name](w, upkeep, place, left)
        after = after.advance(None, **({name: done.rows} if done.rows else {}))
        left -= done.cost
        if done.cursor is not None:
            place = done.cursor
            continue
        following = _NAMES.index(name) + 1
        if following == len(_NAMES):
            return after
        name, place = _NAMES[following], ""
    return after.advance(f"{name}:{place}")


def _expire(w: Transaction, upkeep: Upkeep, _: str, most: int) -> _Done:
    ids = retention.list_expired(w, most, turns=False)
    until = w.at + timedelta(days=upkeep.restorable_days)
    retention.retire_memories(w, ids, State.EXPIRED, "expired", until, WHY)
    return _page(len(ids), most)


def _fade(w: Transaction, upkeep: Upkeep, place: str, most: int) -> _Done:
    count, further = fading.fade(w, upkeep, place, most)
    return _Done(count, count, further)


def _evict(w: Transaction, upkeep: Upkeep, place: str, most: int) -> _Done:
    count, owners, further = evicting.evict(w, upkeep, place, most)
    return _Done(count, count + owners, further)


def _drop_turns(w: Transaction, _: Upkeep, __: str, most: int) -> _Done:
    ids = retention.list_expired(w, most, turns=True)
    remove(w, ids)
    return _page(len(ids), most)


def _drop_proposals(w: Transaction, _: Upkeep, __: str, most: int) -> _Done:
    """Nobody answered: their words go as well."""
    ids = learned_facts.list_expired_proposals(w.connection, w.space, w.at, most)
    remove(w, ids)
    return _page(len(ids), most)


def _drop_stale(w: Transaction, _: Upkeep, __: str, most: int) -> _Done:
    return _page(retention.delete_old_rows(w.connection, w.space, w.at, most), most)


def _drop_changes(w: Transaction, _: Upkeep, place: str, most: int) -> _Done:
    count, further = retention.delete_old_changes(w.connection, w.space, w.at, place, most)
    return _Done(count, most if further is not None else count, further)


def _page(count: int, most: int) -> _Done:
    """A full page has others behind it."""
    return _Done(count, count, "" if count >= most else None)


# In this order, and under these words in the counts.
_PARTS: dict[str, _Part] = {
    "expired": _expire,
    "faded": _fade,
    "evicted": _evict,
    "turns": _drop_turns,
    "proposals": _drop_proposals,
    "stale": _drop_stale,
    "changes": _drop_changes,
}
_NAMES = tuple(_PARTS)
