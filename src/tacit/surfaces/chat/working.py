"""One update, from the inbox to what is said back and noted as done; and what becomes of one that
fails."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tacit import PendingUpdate, limits
from tacit.errors import StoreBusy, StoreUnavailable
from tacit.memory import Memory
from tacit.surfaces.chat.heard import Heard
from tacit.surfaces.chat.say import NotSent, Outlet, Say

Reading = Callable[[str], Heard | None]


class Hears(Protocol):
    def hear(self, heard: Heard, outlet: Outlet) -> list[Say]:
        """What is to be said back."""
        ...


class Log(Protocol):
    """Lines for operators: of what kind a failure was, and never what somebody wrote."""

    def tell(self, event: str, **what: str | int | float | bool | list[str] | None) -> None: ...

    def failed(self, event: str, error: BaseException, **what: str | None) -> None: ...


@dataclass(slots=True)
class _Unsent:
    """What an update came to, kept until all of it is sent: it is not thought about again because a
    channel was busy."""

    heard: Heard | None
    says: deque[Say]
    waits: int = 0


@dataclass(frozen=True, slots=True)
class Work:
    memory: Memory
    bot: Hears
    channel: str
    parse: Reading
    outlet: Outlet
    log: Log
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
        found = self.memory.waiting_updates(self.channel, after=number - 1, limit=1)
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
        self.memory.update_done(self.channel, update.id)
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
        wait = backoff(unsent.waits, self.backoff_seconds) if asked is None else asked
        wait = min(wait, limits.CHAT_WAIT_MAX_SECONDS)
        self.log.tell("not sent", channel=self.channel, for_good=False, wait_seconds=wait)
        return wait

    def _record_failure(self, update: PendingUpdate, error: Exception) -> float | None:
        self.log.failed("update failed", error, channel=self.channel)
        if self.memory.update_failed(self.channel, update.id):
            if len(self.unsent) > limits.CHAT_UNSENT_MAX_COUNT:
                self.unsent.pop(update.seq, None)  # it is thought about anew
            return backoff(update.attempts + 1, self.backoff_seconds)
        self.unsent.pop(update.seq, None)
        self.log.tell("update parked", channel=self.channel)
        return None


def backoff(failures: int, first_seconds: float = limits.CHAT_BACKOFF_SECONDS) -> float:
    """After the first failure shortly, then longer and longer."""
    wait = first_seconds * 2.0 ** min(max(0, failures - 1), 32)
    return min(wait, limits.CHAT_BACKOFF_MAX_SECONDS)
