"""Detect a system clock that jumped, and stop expiry and purge until it is accepted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import select

from tacit import limits
from tacit.clock import to_micros
from tacit.storage.engine import insert_missing, lock_rows, update_rows
from tacit.storage.memories import Transaction
from tacit.storage.schema import clock_guard, memories_table, spaces_table

WAITS_FOR_CLOCK = "waits for the clock"
_S = clock_guard.c
_M = memories_table.c
_MICROSECOND = timedelta(microseconds=1)
_AHEAD_MAX_MICROS = timedelta(days=limits.CLOCK_JUMP_MAX_DAYS) // _MICROSECOND
_BEHIND_MAX_MICROS = timedelta(seconds=limits.CLOCK_BACK_MAX_SECONDS) // _MICROSECOND


def is_clock_steady(tx: Transaction) -> bool:
    """Record the clock's time. Return False if it jumped, so that nothing may age by it."""
    now, last = to_micros(tx.at), _lock_last_sweep(tx)
    if last.jump_from is None:
        if _is_continuous(last.seen_at, now):
            _update_sweep(tx, seen_at=max(last.seen_at, now))
            return True
        _update_sweep(tx, seen_at=now, jump_from=last.seen_at, jump_to=now)
        return False
    if _is_continuous(last.jump_from, now):  # the clock came back by itself
        _end_clock_jump(tx, last)
        return True
    went = now - last.seen_at
    passed = went if _is_continuous(last.seen_at, now) else 0  # or it jumped again
    _update_sweep(tx, seen_at=now, jump_from=last.jump_from + max(0, passed), jump_to=min(last.jump_to, now))
    return False


def accept_clock(tx: Transaction) -> None:
    """Accept the current time as correct, on an operator's word."""
    last = _lock_last_sweep(tx)
    _end_clock_jump(tx, last)
    now = to_micros(tx.at)
    if last.purged_until is not None and last.purged_until > now:
        _update_sweep(tx, purged_until=now)


def get_purged_until(tx: Transaction) -> int:
    """Return the time up to which all that was due is purged (at first: when the space was made)."""
    until = _lock_last_sweep(tx).purged_until
    return _get_space_creation(tx) if until is None else int(until)


def record_purge(tx: Transaction) -> None:
    """Record that all that was due is purged."""
    _update_sweep(tx, purged_until=to_micros(tx.at))


def _is_continuous(before: int, now: int) -> bool:
    return before - _BEHIND_MAX_MICROS <= now <= before + _AHEAD_MAX_MICROS


def _end_clock_jump(tx: Transaction, last: Any) -> None:
    """Trust the clock from here on.

    If it had gone back, memories forgotten meanwhile have too early a purge date: they get their
    whole period again.
    """
    if last.jump_from is not None and last.jump_to < last.jump_from:
        whole = to_micros(tx.at + timedelta(days=limits.RESTORABLE_DAYS))
        since = _M.updated_at >= last.jump_to - _AHEAD_MAX_MICROS
        early = (_M.purge_at.is_not(None), _M.purge_at < whole, since)
        update_rows(tx.connection, memories_table, tx.space, *early, purge_at=whole)
    _update_sweep(tx, seen_at=to_micros(tx.at), jump_from=None, jump_to=None)


def _lock_last_sweep(tx: Transaction) -> Any:
    """Lock and return the last sweep.

    Before the first one, use the time at which the space was made: nothing in a space newer than
    the allowed gap can be purged early.
    """
    last = lock_rows(select(clock_guard).where(_S.space_id == tx.space))
    found = tx.connection.execute(last).first()
    if found is None:
        row = {"seen_at": _get_space_creation(tx)}
        insert_missing(tx.connection, clock_guard, tx.space, [row])
        found = tx.connection.execute(last).one()
    return found


def _get_space_creation(tx: Transaction) -> int:
    s = spaces_table.c
    made: int = tx.connection.execute(select(s.created_at).where(s.space_id == tx.space)).scalar_one()
    return made


def _update_sweep(tx: Transaction, **values: int | None) -> None:
    update_rows(tx.connection, clock_guard, tx.space, **values)
