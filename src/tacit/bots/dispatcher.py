"""Process a channel's updates: in order per chat, chats in parallel, with retries."""

from __future__ import annotations

import heapq
import threading
import time
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tacit import Update, limits
from tacit.bots.messages import BotLog, ChannelSender, InboundMessage, NotSent, OutboundMessage, compute_backoff
from tacit.errors import StoreBusy, StoreUnavailable
from tacit.memory import Memory
from tacit.records.conversation import PendingUpdate


@dataclass(slots=True)
class _ChatState:
    waiting: list[int] = field(default_factory=list)  # in order
    busy: bool = False
    resting: bool = False


class ChatQueue:
    """Order updates: one at a time within a chat, chats in parallel.

    It holds a limited count of update numbers, no content; what does not fit stays in the inbox
    and is offered again. Not thread-safe: the caller holds a lock.
    """

    def __init__(
        self, most: int = limits.CHAT_QUEUED_MAX_COUNT, most_of_one: int = limits.CHAT_QUEUED_PER_CHAT_MAX_COUNT
    ) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._chats: dict[str, _ChatState] = {}
        self._held: set[int] = set()  # including those in progress
        self._busy = 0
        self._ready: deque[str] = deque()
        self._postponed: list[tuple[float, str]] = []
        self._behind: set[str] = set()  # chats with updates that did not fit in this scan
        self._truncated = False  # the scan ended early because the queue was full

    @property
    def idle(self) -> bool:
        """Whether nothing is in progress or ready."""
        return not self._ready and not self._busy

    @property
    def has_backlog(self) -> bool:
        """Whether something did not fit and must be offered again."""
        return bool(self._behind) or self._truncated

    @property
    def needs_rescan(self) -> bool:
        """Whether something did not fit that may fit now."""
        return len(self._held) <= self._most // 2 and (
            self._truncated or any(chat not in self._chats for chat in self._behind)
        )

    def begin_scan(self) -> None:
        """Start a scan that offers all pending updates again."""
        self._behind.clear()
        self._truncated = False

    def offer(self, page: Iterable[tuple[str, int]], *, more: bool) -> bool:
        """Add updates in order; `more`: others follow. Return whether the scan should go on."""
        for chat, number in page:
            if number not in self._held:
                self._offer(chat, number)
        full = len(self._held) >= self._most
        self._truncated = self._truncated or (more and full)
        return more and not full

    def _offer(self, chat: str, number: int) -> None:
        """Add an update. After one that did not fit, no later one of its chat is added in this
        scan, to keep the order."""
        state = self._chats.get(chat)
        waiting = len(state.waiting) if state else 0
        full = len(self._held) >= self._most
        if chat in self._behind or full or waiting >= self._most_of_one:
            self._behind.add(chat)
            return
        state = self._chats.setdefault(chat, _ChatState())
        insort(state.waiting, number)
        self._held.add(number)
        if not waiting and not state.busy and not state.resting:
            self._ready.append(chat)

    def take(self, now: float) -> tuple[str, int] | None:
        """Return the next update; none of its chat follows before `finish` or `postpone`."""
        self._wake(now)
        if not self._ready:
            return None
        chat = self._ready.popleft()
        state = self._chats[chat]
        state.busy = True
        self._busy += 1
        return chat, state.waiting[0]

    def next_wake(self) -> float | None:
        return self._postponed[0][0] if self._postponed else None

    def finish(self, chat: str, number: int) -> None:
        state = self._chats[chat]
        state.busy = False
        self._busy -= 1
        state.waiting.remove(number)
        self._held.discard(number)
        if state.waiting:
            self._ready.append(chat)
        else:
            del self._chats[chat]

    def postpone(self, chat: str, until: float) -> None:
        """Retry the same update after `until`; later ones of its chat wait."""
        state = self._chats[chat]
        state.busy, state.resting = False, True
        self._busy -= 1
        heapq.heappush(self._postponed, (until, chat))

    def _wake(self, now: float) -> None:
        while self._postponed and self._postponed[0][0] <= now:
            _, chat = heapq.heappop(self._postponed)
            self._chats[chat].resting = False
            self._ready.append(chat)


# Handling of one update: parse, answer, send, mark as done; or retry.

UpdateParser = Callable[[str], InboundMessage | None]


class MessageHandler(Protocol):
    def hear(self, heard: InboundMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        """Return the replies."""
        ...


@dataclass(slots=True)
class _Unsent:
    """Replies of an update that are not sent yet, kept so that a retry does not compute them again."""

    heard: InboundMessage | None
    says: deque[OutboundMessage]
    waits: int = 0


@dataclass(frozen=True, slots=True)
class UpdateHandler:
    memory: Memory
    bot: MessageHandler
    channel: str
    parse: UpdateParser
    outlet: ChannelSender
    log: BotLog
    backoff_seconds: float = limits.CHAT_BACKOFF_SECONDS
    unsent: dict[int, _Unsent] = field(default_factory=dict)

    def do(self, number: int) -> float | None:
        """Handle an update; return None when done, or the seconds until a retry."""
        try:
            update = self._still_waiting(number)
            if update is None:  # its person was erased meanwhile, or another process has done it
                self.unsent.pop(number, None)
                return None
            return self._process(update)
        except (StoreBusy, StoreUnavailable) as error:
            # The storage failed, not the update: do not count an attempt.
            self.log.tell("update waits", channel=self.channel, kind=type(error).__name__)
            return self.backoff_seconds
        except Exception as error:  # noqa: BLE001 - recording the failure failed too
            self.log.failed("update waits", error, channel=self.channel)
            return limits.CHAT_BACKOFF_MAX_SECONDS

    def _still_waiting(self, number: int) -> PendingUpdate | None:
        found = self.memory.inbox.pending(self.channel, after=number - 1, limit=1)
        return found[0] if found and found[0].seq == number else None

    def _process(self, update: PendingUpdate) -> float | None:
        try:
            unsent = self.unsent.get(update.seq) or self._handle(update)
            wait = self._sent(unsent)
        except (StoreBusy, StoreUnavailable):
            raise
        except Exception as error:  # noqa: BLE001 - one bad update must not block its chat forever
            return self._record_failure(update, error)
        if wait is not None:
            return wait
        self.memory.inbox.complete(self.channel, update.id)
        del self.unsent[update.seq]
        return None

    def _handle(self, update: PendingUpdate) -> _Unsent:
        heard = self.parse(update.payload)
        says = [] if heard is None else self.bot.hear(heard, self.outlet)
        unsent = self.unsent[update.seq] = _Unsent(heard, deque(says))
        return unsent

    def _sent(self, unsent: _Unsent) -> float | None:
        """Send the replies; return None when all are sent, or the seconds until a retry."""
        while unsent.says and unsent.heard is not None:
            heard = unsent.heard
            try:
                self.outlet.send(heard.chat, heard.who, unsent.says[0], after=heard)
            except NotSent as error:
                if not error.for_good:
                    return self._retry_delay(unsent, error)
                self.log.tell("not sent", channel=self.channel, for_good=True)
            unsent.says.popleft()
        return None

    def _retry_delay(self, unsent: _Unsent, error: NotSent) -> float:
        """Return the delay after a temporary failure of the channel; raise after too many."""
        unsent.waits += 1
        crowded = len(self.unsent) > limits.CHAT_UNSENT_MAX_COUNT
        if crowded or unsent.waits > limits.CHAT_WAITS_MAX_COUNT:
            raise error
        asked = error.wait_seconds
        wait = compute_backoff(unsent.waits, self.backoff_seconds) if asked is None else asked
        wait = min(wait, limits.CHAT_WAIT_MAX_SECONDS)
        self.log.tell("not sent", channel=self.channel, for_good=False, wait_seconds=wait)
        return wait

    def _record_failure(self, update: PendingUpdate, error: Exception) -> float | None:
        self.log.failed("update failed", error, channel=self.channel)
        if self.memory.inbox.fail(self.channel, update.id):
            if len(self.unsent) > limits.CHAT_UNSENT_MAX_COUNT:
                self.unsent.pop(update.seq, None)  # to limit memory; the replies are computed again
            return compute_backoff(update.attempts + 1, self.backoff_seconds)
        self.unsent.pop(update.seq, None)
        self.log.tell("update parked", channel=self.channel)
        return None


class Dispatcher:
    """Process the inbox of a channel with several threads.

    An update is stored before it is processed, and processed again if a crash came before it was
    marked as done. Only one process may work on a channel in a space.
    """

    def __init__(self, handler: UpdateHandler, *, threads: int = limits.CHAT_THREADS_DEFAULT_COUNT) -> None:
        self._handler = handler
        self._inbox, self._channel = handler.memory.inbox, handler.channel
        self._queue = ChatQueue()
        self._changed = threading.Condition()  # guards the queue and the two flags that follow
        self._scanned = False  # whether all updates in the inbox are in the queue
        self._stopping = False
        self._new_updates = threading.Event()
        self._adding = threading.Lock()
        roles = {"inbox": self._scan_inbox} | {str(n): self._run for n in range(threads)}
        self._threads = [
            threading.Thread(target=run, name=f"tacit-{self._channel}-{role}", daemon=True)
            for role, run in roles.items()
        ]

    def add_updates(self, updates: Sequence[Update]) -> int:
        """Store updates durably and return how many are new.

        One caller at a time, so that their numbers become visible in order.
        """
        with self._adding:
            new = self._inbox.add(self._channel, updates)
        if new:
            with self._changed:
                self._scanned = False
            self._new_updates.set()
        return new

    def start(self) -> None:
        """Start, first with updates that an earlier process left."""
        for thread in self._threads:
            thread.start()

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until nothing is ready or in progress; return False on timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: self._scanned and self._queue.idle, seconds)

    def stop(self, drain_seconds: float = limits.CHAT_DRAIN_SECONDS) -> bool:
        """Process what is possible in that time, then stop; return whether all threads stopped.

        The next process continues with the rest.
        """
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

    # One thread moves updates from the inbox to the queue.

    def _scan_inbox(self) -> None:
        after, failures, next_round = 0, 0, 0.0
        while not self._stopping:
            self._new_updates.clear()
            if self._needs_rescan() or time.monotonic() >= next_round:
                # From the first: another process may have stored one with a lower number.
                after, next_round = 0, time.monotonic() + limits.CHAT_INBOX_POLL_SECONDS
                with self._changed:
                    self._queue.begin_scan()
            try:
                after = self._scan_from(after)
                failures = 0
            except Exception as error:  # noqa: BLE001 - this thread must survive any error
                failures += 1
                self._handler.log.failed("inbox waits", error, channel=self._channel)
            self._new_updates.wait(
                compute_backoff(failures, self._handler.backoff_seconds) if failures else limits.CHAT_INBOX_POLL_SECONDS
            )

    def _needs_rescan(self) -> bool:
        with self._changed:
            return self._queue.needs_rescan

    def _scan_from(self, after: int) -> int:
        """Offer updates after this number and return the last number."""
        more = True
        while more and not self._stopping:
            page = self._inbox.pending(self._channel, after=after, limit=limits.CHAT_PAGE_COUNT)
            with self._changed:
                more = self._queue.offer(
                    ((update.chat, update.seq) for update in page), more=len(page) == limits.CHAT_PAGE_COUNT
                )
                self._scanned = not (more or self._queue.has_backlog or self._new_updates.is_set())
                self._changed.notify_all()
            after = page[-1].seq if page else after
        return after

    # The other threads process updates, each of one chat at a time.

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
