"""The bot at work: what Slack sends is kept from the first moment on, and worked on once Slack has
said who we are."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType

from tacit import Update, limits
from tacit.memory import Memory
from tacit.surfaces.chat.patience import Patience
from tacit.surfaces.chat.rooms import Rooms
from tacit.surfaces.chat.working import Hears, Log
from tacit.surfaces.slack.calls import Calls
from tacit.surfaces.slack.names import Names
from tacit.surfaces.slack.reading import CHANNEL, Reading
from tacit.surfaces.slack.sending import SlackOutlet

_JOIN_SECONDS = 5.0


class AtWork:
    def __init__(
        self,
        memory: Memory,
        bot: Hears,
        calls: Calls,
        log: Log,
        *,
        threads: int = limits.CHAT_THREADS_DEFAULT_COUNT,
        drain_seconds: float = limits.CHAT_DRAIN_SECONDS,
        backoff_seconds: float = limits.CHAT_BACKOFF_SECONDS,
    ) -> None:
        self._memory = memory
        self._bot = bot
        self._api = calls
        self._log = log
        self._thread_count = threads
        self._drain_seconds = drain_seconds
        self._backoff_seconds = backoff_seconds
        self._stop = threading.Event()
        self._connecting = threading.Thread(target=self._connect, name="tacit-slack", daemon=True)
        self._dispatcher: Rooms | None = None
        self.connected = threading.Event()

    def add_updates(self, updates: Sequence[Update]) -> int:
        """Kept for good when this returns."""
        rooms = self._dispatcher
        if rooms is None:
            return self._memory.take_in(CHANNEL, updates)
        return rooms.add_updates(updates)

    def wait_until_idle(self, seconds: float) -> bool:
        return self._dispatcher is not None and self._dispatcher.wait_until_idle(seconds)

    def __enter__(self) -> AtWork:
        self._connecting.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._connecting.join(_JOIN_SECONDS)
        if self._dispatcher is not None:
            self._dispatcher.stop(self._drain_seconds)

    def _connect(self) -> None:
        patience = Patience(CHANNEL, self._log, self._stop, self._backoff_seconds)
        me = patience.call_until_done(self._api.get_identity)
        if me is None or self._stop.is_set():
            return
        known = Names(self._api.get_user)
        rooms = Rooms(
            self._memory,
            self._bot,
            CHANNEL,
            Reading(me, known),
            SlackOutlet(self._api, me, known),
            self._log,
            threads=self._thread_count,
        )
        rooms.start()
        self._dispatcher = rooms
        self._log.tell("answering", channel=CHANNEL)
        self.connected.set()
