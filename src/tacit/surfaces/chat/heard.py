"""What a channel hands over: who said or did what, where. Each has the update that it came with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from tacit import limits
from tacit.records.request import Chat, Requester


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    channel: str  # telegram, slack, terminal
    update: str  # the channel's id of it: a repeat has the same one
    chat: Chat
    who: Requester | None  # None: nobody whom the channel vouches for, and memory is disabled
    thread: str | None = None  # as the channel names it, where a chat has some

    @property
    def conversation(self) -> str:
        """A thread's name counts in the whole space, so the chat's is a part of it."""
        if self.thread is None:
            return self.chat.id
        named = f"{self.chat.id}/{self.thread}"
        fits = len(named) <= limits.LABEL_MAX_CHARS
        return named if fits else hashlib.sha256(named.encode()).hexdigest()


class Around(TypedDict):
    """What everything that is heard has, for a channel that reads it."""

    channel: str
    update: str
    chat: Chat
    who: Requester | None
    thread: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """Words of somebody else that came along: forwarded, or answered to. Nobody here said them."""

    text: str
    by: str | None = None  # as the channel shows it; not an identity
    ours: bool = False  # the bot itself said it


@dataclass(frozen=True, slots=True, kw_only=True)
class Said(Heard):
    text: str  # the sender's own words alone; empty where all of it is forwarded
    message: str  # the channel's id of the message, unique in its chat
    at: datetime | None = None
    edited: bool = False  # it was said before, in other words
    quoted: tuple[Quoted, ...] = ()
    forwarded: bool = False  # the whole message is somebody else's
    addressed: bool = True  # the bot is meant: private, named, answered to, or a command


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsaid(Heard):
    """A message was deleted; `who` is the one who had written it."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed(Heard):
    data: str  # of the button
    message: str | None = None  # ours, which has the button


@dataclass(frozen=True, slots=True, kw_only=True)
class Came(Heard):
    people: tuple[Requester, ...]  # also the one who was let in by somebody else
    bot_joined: bool = (
        False  # the bot itself came: of who was there before, nobody knows who still is
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Went(Heard):
    people: tuple[Requester, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved(Heard):
    """The channel gave the group another id: `chat` has the new one."""

    before: str
