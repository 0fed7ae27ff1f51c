"""Updates of a channel, worked through: kept in the inbox first, then in order within each chat and
side by side between them. What was not noted as done before a crash is done again.

One process works on the updates of one channel in one space.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from tacit import Update, limits
from tacit.memory import Memory
from tacit.surfaces.chat.order import Order
from tacit.surfaces.chat.say import Outlet
from tacit.surfaces.chat.working import Hears, Log, Reading, Work, backoff


class Rooms:
    def __init__(
        self,
        memory: Memory,
        bot: Hears,
        channel: str,
        reading: Reading,
        outlet: Outlet,
        log: Log,
        *,
        threads: int = limits.CHAT_THREADS_DEFAULT_COUNT,
        backoff_seconds: float = limits.CHAT_BACKOFF_SECONDS,
    ) -> None:
        self._memory = memory
        self._channel = channel
        self._handler = Work(memory, bot, channel, reading, outlet, log, backoff_seconds)
        self._log = log
        self._queue = Order()
        self._changed = threading.Condition()  # guards the order and the two that follow
        self._scanned = False  # whether everything in the inbox has been looked at
        self._stopping = False
        self._new_updates = threading.Event()
        self._adding = threading.Lock()
        names = [f"tacit-{channel}-{n}" for n in range(threads)]
        self._threads = [
            threading.Thread(target=self._scan_inbox, name=f"tacit-{channel}-inbox", daemon=True),
            *(threading.Thread(target=self._run, name=name, daemon=True) for name in names),
        ]

    def add_updates(self, updates: Sequence[Update]) -> int:
        """Kept for good when this returns, so that the channel may be told so; says how many are
        new. One caller at a time, so that they can be seen in the order of their numbers."""
        with self._adding:
            new = self._memory.take_in(self._channel, updates)
        if new:
            with self._changed:
                self._scanned = False
            self._new_updates.set()
        return new

    def start(self) -> None:
        """Begins with what an earlier process left."""
        for thread in self._threads:
            thread.start()

    def wait_until_idle(self, seconds: float) -> bool:
        """Waits until nothing is left that could be worked on now; says whether that came."""
        with self._changed:
            return self._changed.wait_for(lambda: self._scanned and self._queue.idle, seconds)

    def stop(self, drain_seconds: float = limits.CHAT_DRAIN_SECONDS) -> bool:
        """Works off what it can in that time and begins nothing after it. Says whether everybody
        has stopped; whatever is not done by then is done by whoever starts next."""
        until = time.monotonic() + drain_seconds
        started = [thread for thread in self._threads if thread.ident is not None]
        if started and not self._stopping:
            self.wait_until_idle(drain_seconds)
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._new_updates.set()
        for thread in started:
            thread.join(max(limits.CHAT_JOIN_SECONDS, until - time.monotonic()))
        return not any(thread.is_alive() for thread in started)

    # One thread looks at what waits in the inbox.

    def _scan_inbox(self) -> None:
        after, failures, next_round = 0, 0, 0.0
        while not self._stopping:
            self._new_updates.clear()
            if self._needs_rescan() or time.monotonic() >= next_round:
                # From the first: what another process took in may have a number below ours.
                after, next_round = 0, time.monotonic() + limits.CHAT_INBOX_POLL_SECONDS
                with self._changed:
                    self._queue.begin_scan()
            try:
                after = self._scan_from(after)
                failures = 0
            except Exception as error:  # noqa: BLE001 - whatever it is, somebody has to go on looking
                failures += 1
                self._log.failed("inbox waits", error, channel=self._channel)
            self._new_updates.wait(
                backoff(failures, self._handler.backoff_seconds)
                if failures
                else limits.CHAT_INBOX_POLL_SECONDS
            )

    def _needs_rescan(self) -> bool:
        with self._changed:
            return self._queue.needs_rescan

    def _scan_from(self, after: int) -> int:
        """Says how far it came."""
        more = True
        while more and not self._stopping:
            page = self._memory.waiting_updates(
                self._channel, after=after, limit=limits.CHAT_PAGE_COUNT
            )
            with self._changed:
                more = self._queue.offer(
                    ((update.chat, update.seq) for update in page),
                    more=len(page) == limits.CHAT_PAGE_COUNT,
                )
                self._scanned = not (more or self._queue.has_backlog or self._new_updates.is_set())
                self._changed.notify_all()
            after = page[-1].seq if page else after
        return after

    # The others work, each at one chat at a time.

    def _run(self) -> None:
        while (turn := self._next_turn()) is not None:
            chat, number = turn
            wait = self._handler.do(number)
            with self._changed:
                if wait is None:
                    self._queue.finish(chat, number)
                else:
                    self._queue.postpone(chat, time.monotonic() + wait)
                if self._queue.needs_rescan:
                    self._new_updates.set()
                self._changed.notify_all()

    def _next_turn(self) -> tuple[str, int] | None:
        with self._changed:
            while not self._stopping:
                now = time.monotonic()
                turn = self._queue.take(now)
                if turn is not None:
                    return turn
                wake = self._queue.next_wake()
                self._changed.wait(None if wake is None else max(0.0, wake - now))
        return None
