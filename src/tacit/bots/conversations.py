"""The recent turns of each chat, and the open question of each conversation."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from cachetools import LRUCache

from tacit import limits
from tacit.bots import texts
from tacit.bots.messages import InboundMessage, OpenQuestion, OutboundMessage, TextMessage
from tacit.clock import Clock, from_micros, system_clock
from tacit.memory import View
from tacit.records.memory import Memory as Record
from tacit.records.request import Requester


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentTurn:
    text: str
    who: str | None  # key of the author; of a turn of the bot, of the person it answers
    name: str | None = None  # display name of the author
    message: str | None = None  # the channel's id of the message, or of the one it answers
    ours: bool = False
    noted_at: datetime = from_micros(0)  # noqa: RUF009 (it does not change)


@dataclass(slots=True)
class _RecentChat:
    threads: LRUCache[str | None, list[RecentTurn]] = field(
        default_factory=lambda: LRUCache(limits.CHAT_RECENT_THREADS_MAX_COUNT)
    )
    people: set[str] = field(default_factory=set)  # keys of people known to be present


class RecentTurns:
    """The last messages of each chat, in the memory of this process; safe to share between threads.

    They never cross chats, and are dropped when a new person joins, who has not read them.
    """

    def __init__(self, most: int, clock: Clock = system_clock) -> None:
        self._most, self._clock = most, clock
        self._chats: LRUCache[str, _RecentChat] = LRUCache(limits.CHAT_RECENT_CHATS_MAX_COUNT)
        self._lock = threading.Lock()

    def turns(self, chat: str, thread: str | None) -> tuple[RecentTurn, ...]:
        """Return the turns of the last hour; the limit lets erased facts vanish here as well."""
        oldest = self._clock() - timedelta(seconds=limits.CHAT_RECENT_MAX_SECONDS)
        with self._lock:
            kept = self._chats.get(chat, _RecentChat()).threads.get(thread, [])
            kept[:] = [turn for turn in kept if turn.noted_at >= oldest]
            return tuple(kept)

    def add(self, chat: str, thread: str | None, turn: RecentTurn) -> None:
        if not self._most or not turn.text.strip():
            return
        text = turn.text[: limits.CHAT_RECENT_MAX_CHARS]
        short = replace(turn, text=text, noted_at=self._clock())
        with self._lock:
            threads = self._chats.setdefault(chat, _RecentChat()).threads
            threads[thread] = [*threads.get(thread, ()), short][-self._most :]

    def last_message(self, chat: str, thread: str | None) -> str | None:
        """Return the id of the last message of a person."""
        own = [turn for turn in self.turns(chat, thread) if not turn.ours]
        return own[-1].message if own else None

    def has_person(self, chat: str, who: str) -> bool:
        """Whether a person was present for all kept turns."""
        with self._lock:
            return who in self._chats.get(chat, _RecentChat()).people

    def add_person(self, chat: str, who: str) -> None:
        """Add a person and drop all turns, which they have not read."""
        with self._lock:
            here = self._chats.setdefault(chat, _RecentChat())
            if len(here.people) >= limits.CHAT_RECENT_PEOPLE_MAX_COUNT:
                here.people.clear()
            here.people.add(who)
            here.threads.clear()

    def remove_person(self, chat: str, who: str) -> None:
        with self._lock:
            self._chats.get(chat, _RecentChat()).people.discard(who)

    def edit_message(self, chat: str, message: str, text: str | None = None) -> None:
        """Change a message, or remove it if there is no text; remove the answer to it."""
        with self._lock:
            for turns in list(self._chats.get(chat, _RecentChat()).threads.values()):
                turns[:] = [
                    turn
                    if turn.message != message
                    else replace(turn, text=(text or "")[: limits.CHAT_RECENT_MAX_CHARS])
                    for turn in turns
                    if turn.message != message or (text is not None and not turn.ours)
                ]

    def forget(self, *keys: str) -> None:
        """Drop the turns of all chats of a person: any of them may repeat what is forgotten."""
        with self._lock:
            for here in list(self._chats.values()):
                said = {turn.who for turns in list(here.threads.values()) for turn in turns}
                if not (here.people | said).isdisjoint(keys):
                    here.threads.clear()

    def reset_chat(self, chat: str) -> None:
        """Drop a chat whose members are no longer known."""
        with self._lock:
            self._chats.pop(chat, None)

    def move_chat(self, before: str, now: str) -> None:
        """Move turns to the new id, unless it has turns: their authors may not have read the old."""
        with self._lock:
            old = self._chats.pop(before, None)
            if old is not None and self._chats.pop(now, None) is None:
                self._chats[now] = old


def prompt_name(who: Requester | None) -> str:
    """Return a name for a prompt: one line of letters, digits and few marks."""
    given = (who.name or who.username or "") if who else ""
    plain = "".join(one if one.isalnum() or one in " .'-_" else " " for one in given)
    return " ".join(plain.split())[: limits.CHAT_NAME_MAX_CHARS] or texts.UNKNOWN_NAME


def list_learned_from(view: View, said: TextMessage) -> list[Record]:
    """Return the newest visible memories that were learned from this message."""
    here = view.list(limit=limits.CHAT_NEWEST_MEMORIES_COUNT)
    return [
        one for one in here if one.source.message == said.message and said.chat.id in (one.source.chat, one.learned_in)
    ]


class OpenQuestions:
    """The open question of each conversation; safe to share between threads.

    A question is open while it is the last message in its conversation, and only for the person
    who was asked.
    """

    def __init__(self) -> None:
        self._asked: LRUCache[str, tuple[str, OpenQuestion]] = LRUCache(
            limits.CHAT_QUESTIONED_PEOPLE_MAX_COUNT
        )  # by conversation
        self._lock = threading.Lock()

    def find(self, heard: InboundMessage) -> OpenQuestion | None:
        with self._lock:
            who, question = self._asked.get(heard.conversation, (None, None))
        return question if heard.who is not None and who == heard.who.key else None

    def record(self, heard: InboundMessage, said: Sequence[OutboundMessage]) -> None:
        """Record the replies to a message. Without a reply an open question stays open."""
        if not said:
            return
        asked = said[-1].asks
        with self._lock:
            self._asked.pop(heard.conversation, None)
            if asked is not None and heard.who is not None:
                self._asked[heard.conversation] = (heard.who.key, asked)

    def close(self, person: str) -> None:
        """Close this person's questions in all conversations."""
        with self._lock:
            for conversation in [one for one, (who, _) in self._asked.items() if who == person]:
                del self._asked[conversation]
