"""Purge: what was forgotten or has expired long enough ago goes for good, with what it replaced.

Unlike an erasure it is nobody's wish that no byte stays: files are not rewritten for it. What stays
is a keyed hash, so that the id is never used again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, select, update

from tacit import limits
from tacit.clock import to_micros
from tacit.lifecycle import leap
from tacit.lifecycle.policy import Upkeep
from tacit.lifecycle.progress import Progress, Save, Work
from tacit.policy.predicate import sql_literal
from tacit.records.memory import State
from tacit.storage import retention
from tacit.storage.erasures import hard_delete
from tacit.storage.memories import Transaction
from tacit.storage.schema import memories_table, tombstones
from tacit.storage.spaces import keyed_digest, load_identities
from tacit.storage.store import Store

WHY = "its newer value was purged"
_ON = "on"
_M = memories_table.c
_T = tombstones.c
_REPLACED = select(_M.id).where(
    _M.space_id == bindparam("space"), _M.superseded_by.in_(bindparam("ids", expanding=True))
)
_COVERED = select(_M.id).where(
    _M.space_id == bindparam("space"),
    _M.owner.in_(bindparam("owners", expanding=True)),
    _M.category == bindparam("category"),
    _M.key == bindparam("key"),
    _M.key.is_not(None),
    _M.state == sql_literal(State.ACTIVE),
    _M.shadowed.is_(True),
)


def purging(store: Store, upkeep: Upkeep) -> Work:
    def step(space: str, before: Progress, save: Save) -> Progress:
        def work(w: Transaction) -> Progress:
            after = _purge(w, upkeep, before)
            save(w.connection, after)
            return after

        return store.write_as(space, "system", work)

    return step


def _purge(w: Transaction, upkeep: Upkeep, before: Progress) -> Progress:
    if not leap.is_steady(w):
        return before.advance(None, **{leap.WAITS: 1})
    rows = retention.list_due_for_purge(w, limits.SWEEP_BATCH_COUNT)
    # Behind the last purge nothing should be left: such a row was dated by a wrong clock.
    done = leap.purged_until(w)
    late = [row.id for row in rows if row.purge_at <= done]
    _postpone(w, late, upkeep)
    gone = [row for row in rows if row.purge_at > done]
    _cover(w, gone, upkeep)
    ids = _with_replaced(w, [row.id for row in gone])
    for some in _batched(ids):
        remove(w, some)
    counts = {"purged": len(ids), "postponed": len(late)}
    full = len(rows) >= limits.SWEEP_BATCH_COUNT
    if not full:
        leap.note_purged(w)
    return before.advance(_ON if full else None, **{what: n for what, n in counts.items() if n})


def remove(w: Transaction, ids: Sequence[str]) -> None:
    """From every table. Their bytes may stay in free pages of the files: nobody was promised
    otherwise, and so no erasure waits for them."""
    if not ids:
        return
    hard_delete(w, ids)
    digests = [keyed_digest(w.secret, id) for id in ids]
    w.connection.execute(
        update(tombstones)
        .where(_T.space_id == w.space, _T.digest.in_(digests))
        .values(scrubbed=True)
    )


def _with_replaced(w: Transaction, ids: Sequence[str]) -> list[str]:
    """And what these took the place of, step by step, whoever's it is: it could not come back, and
    nothing leads to it any more."""
    found = dict.fromkeys(ids)
    fringe = list(ids)
    while fringe:
        before: list[str] = []
        for some in _batched(fringe):
            params = {"space": w.space, "ids": some}
            before += w.connection.execute(_REPLACED, params).scalars()
        fringe = [id for id in before if id not in found]
        found |= dict.fromkeys(fringe)
    return list(found)


def _batched(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), limits.SWEEP_BATCH_COUNT):
        yield ids[start : start + limits.SWEEP_BATCH_COUNT]


def _postpone(w: Transaction, ids: Sequence[str], upkeep: Upkeep) -> None:
    if ids:
        until = w.at + timedelta(days=upkeep.restorable_days)
        which = (_M.space_id == w.space, _M.id.in_(ids))
        w.connection.execute(update(memories_table).where(*which).values(purge_at=to_micros(until)))


def _cover(w: Transaction, gone: Sequence[Any], upkeep: Upkeep) -> None:
    """A forgotten value of a key covers what a person wrote under it with other identities. When it
    goes, those are forgotten in turn: to forget a thing is not to bring back what was before it."""
    until = w.at + timedelta(days=upkeep.restorable_days)
    for row in gone:
        if row.key is None or row.owner is None or row.shadowed:
            continue
        owners = load_identities(w.connection, w.space, [row.owner]).current_identities(
            row.owner
        ) - {row.owner}
        if owners:
            params = {"owners": sorted(owners), "category": row.category, "key": row.key}
            params |= {"space": w.space}
            covered = w.connection.execute(_COVERED, params).scalars().all()
            retention.retire_memories(w, covered, State.FORGOTTEN, None, until, WHY)
