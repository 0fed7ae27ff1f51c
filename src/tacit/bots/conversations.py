"""The last turns of each chat and the question that is open in each conversation."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from tacit import limits
from tacit.bots.messages import ChannelSender, InboundMessage, OpenQuestion, OutboundMessage
from tacit.clock import Clock, from_micros, system_clock
from tacit.records.request import Chat, Requester

# The last messages of each chat, for as long as this process lives. They never cross chats, and
# whoever comes into a chat brings a new page: what was said before was not said to them.


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentTurn:
    text: str
    who: str | None  # the key of the one who said it, or whom it answers
    name: str | None = None  # as they are called there
    message: str | None = None  # the channel's id of it, or of what it answers
    ours: bool = False
    noted_at: datetime = from_micros(0)  # noqa: RUF009 (it does not change)


@dataclass(slots=True)
class _RecentChat:
    threads: OrderedDict[str | None, list[RecentTurn]] = field(default_factory=OrderedDict)
    people: set[str] = field(default_factory=set)  # whose presence this process knows of


class RecentTurns:
    """Safe to share between threads."""

    def __init__(self, most: int, clock: Clock = system_clock) -> None:
        self._most, self._clock = most, clock
        self._chats: OrderedDict[str, _RecentChat] = OrderedDict()
        self._lock = threading.Lock()

    def turns(self, chat: str, thread: str | None) -> tuple[RecentTurn, ...]:
        """Those of the last hour: what was erased elsewhere meanwhile does not live on here."""
        oldest = self._clock() - timedelta(seconds=limits.CHAT_RECENT_MAX_SECONDS)
        with self._lock:
            here = self._chats.get(chat) or _RecentChat()
            kept = [turn for turn in here.threads.get(thread, ()) if turn.noted_at >= oldest]
            if thread in here.threads:
                here.threads[thread][:] = kept
            return tuple(kept)

    def add(self, chat: str, thread: str | None, turn: RecentTurn) -> None:
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
        def change(turn: RecentTurn) -> RecentTurn | None:
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

    def _open(self, chat: str) -> _RecentChat:
        here = self._chats.setdefault(chat, _RecentChat())
        self._chats.move_to_end(chat)
        while len(self._chats) > limits.CHAT_RECENT_CHATS_MAX_COUNT:
            self._chats.popitem(last=False)
        return here

    def _edit_turns(self, chat: str, change: Callable[[RecentTurn], RecentTurn | None]) -> None:
        here = self._chats.get(chat) or _RecentChat()
        for turns in here.threads.values():
            changed = [change(turn) for turn in turns]
            turns[:] = [turn for turn in changed if turn is not None]


# The question that each person was just asked in each conversation, for replies in words.


class OpenQuestions:
    """The questions of this process; safe to share between threads. A question is open as long as
    it is the last thing that was said in its conversation. A reply of one person never finds a
    question that another person was asked, or that was asked elsewhere."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, tuple[str, OpenQuestion]] = OrderedDict()  # by conversation
        self._lock = threading.Lock()

    def find(self, heard: InboundMessage) -> OpenQuestion | None:
        if heard.who is None:
            return None
        with self._lock:
            who, question = self._asked.get(heard.conversation, (None, None))
            return question if who == heard.who.key else None

    def record(self, heard: InboundMessage, says: Iterable[OutboundMessage]) -> None:
        """Note what was said after something was heard. After nothing, what was asked is open."""
        said = list(says)
        if not said:
            return
        asked = said[-1].asks
        with self._lock:
            self._asked.pop(heard.conversation, None)
            if asked is not None and heard.who is not None:
                self._asked[heard.conversation] = (heard.who.key, asked)
            while len(self._asked) > limits.CHAT_QUESTIONED_PEOPLE_MAX_COUNT:
                self._asked.popitem(last=False)

    def close(self, person: str) -> None:
        """Close what this person was asked, in whichever conversation."""
        with self._lock:
            for conversation in [one for one, (who, _) in self._asked.items() if who == person]:
                del self._asked[conversation]


@dataclass(frozen=True, slots=True)
class QuestionClosingSender:
    """An outlet for telling another person something: that comes after what they were asked."""

    sender: ChannelSender
    questions: OpenQuestions

    def send(
        self,
        where: Chat,
        to: Requester | None,
        what: OutboundMessage,
        *,
        after: InboundMessage | None = None,
    ) -> None:
        if to is not None:
            self.questions.close(to.key)
        self.sender.send(where, to, what, after=after)

    def is_admin(self, where: Chat, who: Requester) -> bool:
        return self.sender.is_admin(where, who)
