"""Whose turn it is: updates of one chat in order and one at a time, chats side by side.

It holds numbers, never what somebody wrote, and only so many: what does not fit stays in the inbox
and is offered again.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from tacit import limits


@dataclass(slots=True)
class _Room:
    waiting: list[int] = field(default_factory=list)  # in order
    busy: bool = False
    resting: bool = False


class Order:
    """Not safe to share between threads: whoever has it holds a lock."""

    def __init__(
        self,
        most: int = limits.CHAT_QUEUED_MAX_COUNT,
        most_of_one: int = limits.CHAT_QUEUED_PER_CHAT_MAX_COUNT,
    ) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._chats: dict[str, _Room] = {}
        self._held: set[int] = set()  # also what is being worked on
        self._busy = 0
        self._ready: deque[str] = deque()
        self._postponed: list[tuple[float, str]] = []
        self._behind: set[str] = set()  # chats of which something did not fit in this round
        self._truncated = False  # there was no use in looking further

    @property
    def idle(self) -> bool:
        """Nothing is being worked on, and nothing could be before some rest is over."""
        return not self._ready and not self._busy

    @property
    def has_backlog(self) -> bool:
        """Something did not fit, and is to be offered again."""
        return bool(self._behind) or self._truncated

    @property
    def needs_rescan(self) -> bool:
        """Something did not fit that may fit now."""
        return len(self._held) <= self._most // 2 and (
            self._truncated or any(chat not in self._chats for chat in self._behind)
        )

    def begin_scan(self) -> None:
        """From here on everything that waits is offered anew, from the first."""
        self._behind.clear()
        self._truncated = False

    def offer(self, page: Iterable[tuple[str, int]], *, more: bool) -> bool:
        """Chats with numbers, in order; `more`: others follow. Says whether to go on with them."""
        for chat, number in page:
            if number not in self._held:
                self._offer(chat, number)
        full = len(self._held) >= self._most
        self._truncated = self._truncated or (more and full)
        return more and not full

    def _offer(self, chat: str, number: int) -> None:
        """After one that did not fit no later one of its chat is taken in the same round, or it
        would come before its turn."""
        room = self._chats.get(chat)
        waiting = len(room.waiting) if room else 0
        full = len(self._held) >= self._most
        if chat in self._behind or full or waiting >= self._most_of_one:
            self._behind.add(chat)
            return
        room = self._chats.setdefault(chat, _Room())
        insort(room.waiting, number)
        self._held.add(number)
        if not waiting and not room.busy and not room.resting:
            self._ready.append(chat)

    def take(self, now: float) -> tuple[str, int] | None:
        """The next that may be worked on; nobody else gets one of that chat before `finish` or
        `rest`."""
        self._wake(now)
        if not self._ready:
            return None
        chat = self._ready.popleft()
        room = self._chats[chat]
        room.busy = True
        self._busy += 1
        return chat, room.waiting[0]

    def next_wake(self) -> float | None:
        return self._postponed[0][0] if self._postponed else None

    def finish(self, chat: str, number: int) -> None:
        room = self._chats[chat]
        room.busy = False
        self._busy -= 1
        room.waiting.remove(number)
        self._held.discard(number)
        if room.waiting:
            self._ready.append(chat)
        else:
            del self._chats[chat]

    def postpone(self, chat: str, until: float) -> None:
        """The same number comes again, not before `until`; the others of its chat stay behind."""
        room = self._chats[chat]
        room.busy, room.resting = False, True
        self._busy -= 1
        heapq.heappush(self._postponed, (until, chat))

    def _wake(self, now: float) -> None:
        while self._postponed and self._postponed[0][0] <= now:
            _, chat = heapq.heappop(self._postponed)
            self._chats[chat].resting = False
            self._ready.append(chat)
