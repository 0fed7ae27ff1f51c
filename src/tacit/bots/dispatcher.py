"""Work through a channel's updates: in order per chat, chats in parallel, with retries."""

from __future__ import annotations

import heapq
import threading
import time
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from tacit import PendingUpdate, Update, limits
from tacit.bots.messages import ChannelSender, InboundMessage, NotSent, OutboundMessage
from tacit.errors import StoreBusy, StoreUnavailable
from tacit.memory import Memory

# Whose turn it is: updates of one chat in order and one at a time, chats side by side.
#
# It holds numbers, never what somebody wrote, and only so many: what does not fit stays in the
# inbox and is offered again.


@dataclass(slots=True)
class _ChatState:
    waiting: list[int] = field(default_factory=list)  # in order
    busy: bool = False
    resting: bool = False


class ChatQueue:
    """Not safe to share between threads: whoever has it holds a lock."""

    def __init__(
        self,
        most: int = limits.CHAT_QUEUED_MAX_COUNT,
        most_of_one: int = limits.CHAT_QUEUED_PER_CHAT_MAX_COUNT,
    ) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._chats: dict[str, _ChatState] = {}
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
        room = self._chats.setdefault(chat, _ChatState())
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


# One update, from the inbox to what is said back and noted as done; and what becomes of one that
# fails.

UpdateParser = Callable[[str], InboundMessage | None]


class MessageHandler(Protocol):
    def hear(self, heard: InboundMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        """What is to be said back."""
        ...


class BotLog(Protocol):
    """Lines for operators: of what kind a failure was, and never what somebody wrote."""

    def tell(self, event: str, **what: str | int | float | bool | list[str] | None) -> None: ...

    def failed(self, event: str, error: BaseException, **what: str | None) -> None: ...


@dataclass(slots=True)
class _Unsent:
    """What an update came to, kept until all of it is sent: it is not thought about again because a
    channel was busy."""

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
    backoff_seconds: float
    unsent: dict[int, _Unsent] = field(default_factory=dict)

    def do(self, number: int) -> float | None:
        """None: there is nothing left to do about it. Otherwise the seconds after which it is to be
        tried again."""
        try:
            update = self._still_waiting(number)
            if update is None:  # its person was erased meanwhile, or somebody else has done it
                self.unsent.pop(number, None)
                return None
            return self._process(update)
        except (StoreBusy, StoreUnavailable) as error:
            # Nothing is wrong with the update, so it is no attempt.
            self.log.tell("update waits", channel=self.channel, kind=type(error).__name__)
            return self.backoff_seconds
        except Exception as error:  # noqa: BLE001 - not even its failure could be noted
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
        except Exception as error:  # noqa: BLE001 - one bad update must not hold up its chat for good
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
        """Seconds to wait before the rest can be sent; None: there is no rest."""
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
        """A channel that is busy or away is no fault of the update. Nobody waits for ever."""
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
                self.unsent.pop(update.seq, None)  # it is thought about anew
            return compute_backoff(update.attempts + 1, self.backoff_seconds)
        self.unsent.pop(update.seq, None)
        self.log.tell("update parked", channel=self.channel)
        return None


def compute_backoff(failures: int, first_seconds: float = limits.CHAT_BACKOFF_SECONDS) -> float:
    """After the first failure shortly, then longer and longer."""
    wait = first_seconds * 2.0 ** min(max(0, failures - 1), 32)
    return min(wait, limits.CHAT_BACKOFF_MAX_SECONDS)


# Updates of a channel, worked through: kept in the inbox first, then in order within each chat and
# side by side between them. What was not noted as done before a crash is done again.
#
# One process works on the updates of one channel in one space.


class Dispatcher:
    def __init__(
        self,
        memory: Memory,
        bot: MessageHandler,
        channel: str,
        reading: UpdateParser,
        outlet: ChannelSender,
        log: BotLog,
        *,
        threads: int = limits.CHAT_THREADS_DEFAULT_COUNT,
        backoff_seconds: float = limits.CHAT_BACKOFF_SECONDS,
    ) -> None:
        self._memory = memory
        self._channel = channel
        self._handler = UpdateHandler(memory, bot, channel, reading, outlet, log, backoff_seconds)
        self._log = log
        self._queue = ChatQueue()
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
            new = self._memory.inbox.add(self._channel, updates)
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
                compute_backoff(failures, self._handler.backoff_seconds)
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
            page = self._memory.inbox.pending(
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


# Trouble with a channel: told once, and tried again after longer and longer pauses.

T = TypeVar("T")


class StopSignal(Protocol):
    """When to end; a `threading.Event` is one."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float) -> bool: ...


class ChannelRetry:
    def __init__(
        self,
        channel: str,
        log: BotLog,
        stop: StopSignal,
        backoff_seconds: float = limits.CHAT_BACKOFF_SECONDS,
    ) -> None:
        self._channel = channel
        self._log = log
        self._stop = stop
        self._backoff_seconds = backoff_seconds
        self._failures = 0
        self._logged_problem: str | None = None

    def record_failure(self, problem: str, wait_seconds: float | None = None) -> None:
        """One line for each trouble, however often it is tried."""
        self._failures += 1
        pause = wait_seconds or compute_backoff(self._failures, self._backoff_seconds)
        if problem != self._logged_problem and not self._stop.is_set():
            self._log.tell(f"{self._channel} waits", problem=problem, again_in_seconds=pause)
            self._logged_problem = problem
        self._stop.wait(pause)

    def record_success(self) -> None:
        if self._logged_problem is not None:
            self._log.tell(f"{self._channel} goes on")
        self._failures, self._logged_problem = 0, None

    def call_until_done(self, call: Callable[[], T]) -> T | None:
        """None: it was stopped before that came about."""
        while not self._stop.is_set():
            try:
                done = call()
            except NotSent as problem:
                self.record_failure(str(problem), problem.wait_seconds)
            else:
                self.record_success()
                return done
        return None
