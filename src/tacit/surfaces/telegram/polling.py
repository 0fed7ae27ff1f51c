"""Asking Telegram for updates, again and again: it forgets what it told once we ask for later ones,
and we do that only when all of it is in the inbox."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tacit import limits
from tacit.errors import StoreError
from tacit.surfaces.chat.patience import Patience, Stop
from tacit.surfaces.chat.working import backoff
from tacit.surfaces.telegram.fields import Fields, number
from tacit.surfaces.telegram.line import Line
from tacit.surfaces.telegram.wire import Failed

_STORE = "updates cannot be kept: the database does not take them"
_EARLY_PART = 0.5  # of the time that Telegram may keep us waiting: "nothing" before that is early
_EARLY_PAUSE_MAX_SECONDS = 5.0  # what somebody writes meanwhile is not to wait for long


def poll(
    line: Line,
    take_in: Callable[[Sequence[Fields]], None],
    patience: Patience,
    stop: Stop,
    seconds: int = limits.TELEGRAM_POLL_SECONDS,
    now: Callable[[], float] = time.monotonic,
) -> None:
    """Until it is stopped."""
    offset: int | None = None
    early = 0  # answers in a row that did not wait for anything to tell
    while not stop.is_set():
        asked = now()
        try:
            updates = line.get_updates(offset, seconds)
        except Failed as problem:
            patience.record_failure(str(problem), problem.wait_seconds)
            continue
        try:
            take_in(updates)
        except StoreError:
            patience.record_failure(_STORE)
            continue
        numbers = [id for one in updates if (id := number(one, "update_id")) is not None]
        if updates and not numbers:
            patience.record_failure(str(Failed("unlike")))
            continue
        patience.record_success()
        # Told once, it remembers. After a week of silence Telegram may begin its numbers anew,
        # below an offset that we would keep on sending.
        offset = max(numbers) + 1 if numbers else None
        early = early + 1 if not updates and now() - asked < seconds * _EARLY_PART else 0
        if early:
            # A proxy that does not let Telegram wait would have us ask without end.
            stop.wait(min(backoff(early), _EARLY_PAUSE_MAX_SECONDS))
