"""The last messages of each chat, for as long as this process lives. They never cross chats, and
whoever comes into a chat brings a new page: what was said before was not said to them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from tacit import limits
from tacit.clock import Clock, from_micros, system_clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    text: str
    who: str | None  # the key of the one who said it, or whom it answers
    name: str | None = None  # as they are called there
    message: str | None = None  # the channel's id of it, or of what it answers
    ours: bool = False
    noted_at: datetime = from_micros(0)  # noqa: RUF009 (it does not change)


@dataclass(slots=True)
class _Chat:
    threads: OrderedDict[str | None, list[Turn]] = field(default_factory=OrderedDict)
    people: set[str] = field(default_factory=set)  # whose presence this process knows of


class Recent:
    """Safe to share between threads."""

    def __init__(self, most: int, clock: Clock = system_clock) -> None:
        self._most, self._clock = most, clock
        self._chats: OrderedDict[str, _Chat] = OrderedDict()
        self._lock = threading.Lock()

    def turns(self, chat: str, thread: str | None) -> tuple[Turn, ...]:
        """Those of the last hour: what was erased elsewhere meanwhile does not live on here."""
        oldest = self._clock() - timedelta(seconds=limits.CHAT_RECENT_MAX_SECONDS)
        with self._lock:
            here = self._chats.get(chat) or _Chat()
            kept = [turn for turn in here.threads.get(thread, ()) if turn.noted_at >= oldest]
            if thread in here.threads:
                here.threads[thread][:] = kept
            return tuple(kept)

    def add(self, chat: str, thread: str | None, turn: Turn) -> None:
        if not self._most or not turn.text.strip():
            return
        text = turn.text[: limits.CHAT_RECENT_MAX_CHARS]
        short = replace(turn, text=text, noted_at=self._clock())
        with self._lock:
            threads = self._open(chat).threads
            kept = [*threads.pop(thread, ()), short]
            threads[thread] = kept[-self._most :]
            while len(threads) > limits.CHAT_RECENT_THREADS_MAX_COUNT:
                threads.popitem(last=False)

    def last_message(self, chat: str, thread: str | None) -> str | None:
        """The last message that a person sent there."""
        own = [turn for turn in self.turns(chat, thread) if not turn.ours]
        return own[-1].message if own else None

    def has_person(self, chat: str, who: str) -> bool:
        """Whether they were there for all that is kept of this chat."""
        with self._lock:
            found = self._chats.get(chat)
            return found is not None and who in found.people

    def add_person(self, chat: str, who: str) -> None:
        """Nothing said before is shown any more, because they did not hear it."""
        with self._lock:
            here = self._open(chat)
            if len(here.people) >= limits.CHAT_RECENT_PEOPLE_MAX_COUNT:
                here.people.clear()
            here.people.add(who)
            here.threads.clear()

    def remove_person(self, chat: str, who: str) -> None:
        with self._lock:
            if chat in self._chats:
                self._chats[chat].people.discard(who)

    def edit_message(self, chat: str, message: str, text: str) -> None:
        def change(turn: Turn) -> Turn | None:
            if turn.message != message:
                return turn
            return None if turn.ours else replace(turn, text=text[: limits.CHAT_RECENT_MAX_CHARS])

        with self._lock:
            self._edit_turns(chat, change)

    def remove_message(self, chat: str, message: str) -> None:
        """With what was answered to it."""
        with self._lock:
            self._edit_turns(chat, lambda turn: None if turn.message == message else turn)

    def forget(self, *keys: str) -> None:
        """Nothing is shown again of any chat in which they are: others may have repeated it, and
        it may have been told to others."""
        gone = frozenset(keys)
        with self._lock:
            for here in self._chats.values():
                said = {turn.who for turns in here.threads.values() for turn in turns}
                if not gone.isdisjoint(here.people | said):
                    here.threads.clear()

    def reset_chat(self, chat: str) -> None:
        """Nobody knows any more who is there."""
        with self._lock:
            self._chats.pop(chat, None)

    def move_chat(self, before: str, now: str) -> None:
        """Where somebody spoke under the new name already, they may not have heard what was said
        under the old one."""
        with self._lock:
            old = self._chats.pop(before, None)
            if old is not None and self._chats.pop(now, None) is None:
                self._chats[now] = old

    def _open(self, chat: str) -> _Chat:
        here = self._chats.setdefault(chat, _Chat())
        self._chats.move_to_end(chat)
        while len(self._chats) > limits.CHAT_RECENT_CHATS_MAX_COUNT:
            self._chats.popitem(last=False)
        return here

    def _edit_turns(self, chat: str, change: Callable[[Turn], Turn | None]) -> None:
        here = self._chats.get(chat) or _Chat()
        for turns in here.threads.values():
            changed = [change(turn) for turn in turns]
            turns[:] = [turn for turn in changed if turn is not None]
