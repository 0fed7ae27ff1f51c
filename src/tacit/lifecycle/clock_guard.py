"""Detect a system clock that jumped, and stop expiry and purge until it is accepted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, select, update

from tacit import limits
from tacit.clock import to_micros
from tacit.storage.memories import Transaction
from tacit.storage.schema import clock_guard, memories_table, spaces_table

WAITS_FOR_CLOCK = "waits for the clock"
_S = clock_guard.c
_M = memories_table.c
_MICROSECOND = timedelta(microseconds=1)
_AHEAD_MAX_MICROS = timedelta(days=limits.CLOCK_JUMP_MAX_DAYS) // _MICROSECOND
_BEHIND_MAX_MICROS = timedelta(seconds=limits.CLOCK_BACK_MAX_SECONDS) // _MICROSECOND
_LAST_SWEEP = select(_S.seen_at, _S.jump_from, _S.jump_to, _S.purged_until).where(
    _S.space_id == bindparam("space")
)
_SPACE_CREATED_AT = select(spaces_table.c.created_at).where(
    spaces_table.c.space_id == bindparam("space")
)


def is_clock_steady(w: Transaction) -> bool:
    """Record the clock's time. Return False if it jumped, so that nothing may age by it."""
    now, last = to_micros(w.at), _lock_last_sweep(w)
    if last.jump_from is None:
        if _is_continuous(last.seen_at, now):
            _update_sweep(w, seen_at=max(last.seen_at, now))
            return True
        _update_sweep(w, seen_at=now, jump_from=last.seen_at, jump_to=now)
        return False
    if _is_continuous(last.jump_from, now):  # the clock came back by itself
        _end_clock_jump(w, last)
        return True
    went = now - last.seen_at
    passed = went if _is_continuous(last.seen_at, now) else 0  # or it jumped again
    _update_sweep(
        w,
        seen_at=now,
        jump_from=last.jump_from + max(0, passed),
        jump_to=min(last.jump_to, now),
    )
    return False


def accept_clock(w: Transaction) -> None:
    """Accept the current time as correct, on an operator's word."""
    last = _lock_last_sweep(w)
    _end_clock_jump(w, last)
    now = to_micros(w.at)
    if last.purged_until is not None and last.purged_until > now:
        _update_sweep(w, purged_until=now)


def get_purged_until(w: Transaction) -> int:
    """Return the time up to which all that was due is purged (at first: when the space was made)."""
    last = _lock_last_sweep(w)
    made: int = w.connection.execute(_SPACE_CREATED_AT, {"space": w.space}).scalar_one()
    return made if last.purged_until is None else int(last.purged_until)


def record_purge(w: Transaction) -> None:
    """Record that all that was due is purged."""
    _update_sweep(w, purged_until=to_micros(w.at))


def _is_continuous(before: int, now: int) -> bool:
    return before - _BEHIND_MAX_MICROS <= now <= before + _AHEAD_MAX_MICROS


def _end_clock_jump(w: Transaction, last: Any) -> None:
    """Trust the clock from here on.

    If it had gone back, memories forgotten meanwhile have too early a purge date: they get their
    whole period again.
    """
    if last.jump_from is not None and last.jump_to < last.jump_from:
        whole = to_micros(w.at + timedelta(days=limits.RESTORABLE_DAYS))
        w.connection.execute(
            update(memories_table)
            .where(
                _M.space_id == w.space,
                _M.purge_at.is_not(None),
                _M.purge_at < whole,
                _M.updated_at >= last.jump_to - _AHEAD_MAX_MICROS,
            )
            .values(purge_at=whole)
        )
    _update_sweep(w, seen_at=to_micros(w.at), jump_from=None, jump_to=None)


def _lock_last_sweep(w: Transaction) -> Any:
    """Lock and return the last sweep.

    Before the first one, use the time at which the space was made: nothing in a space newer than
    the allowed gap can be purged early.
    """
    found = w.connection.execute(w.dialect.lock_memory(_LAST_SWEEP), {"space": w.space}).first()
    if found is None:
        made = w.connection.execute(_SPACE_CREATED_AT, {"space": w.space}).scalar_one()
        row = {"space_id": w.space, "seen_at": made}
        w.dialect.insert_missing(w.connection, clock_guard, [row])
        found = w.connection.execute(w.dialect.lock_memory(_LAST_SWEEP), {"space": w.space}).one()
    return found


def _update_sweep(w: Transaction, **values: int | None) -> None:
    w.connection.execute(update(clock_guard).where(_S.space_id == w.space).values(**values))
