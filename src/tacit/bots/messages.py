"""Messages from and to a channel, and the splitting of long ones."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypedDict

from tacit import limits
from tacit.records.request import Chat, Requester

# What a channel hands over: who said or did what, where. Each has the update that it came with.


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
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


class InboundContext(TypedDict):
    """What everything that is heard has, for a channel that reads it."""

    channel: str
    update: str
    chat: Chat
    who: Requester | None
    thread: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words of somebody else that came along: forwarded, or answered to. Nobody here said them."""

    text: str
    by: str | None = None  # as the channel shows it; not an identity
    ours: bool = False  # the bot itself said it


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMessage(InboundMessage):
    text: str  # the sender's own words alone; empty where all of it is forwarded
    message: str  # the channel's id of the message, unique in its chat
    at: datetime | None = None
    edited: bool = False  # it was said before, in other words
    quoted: tuple[Quote, ...] = ()
    forwarded: bool = False  # the whole message is somebody else's
    addressed: bool = True  # the bot is meant: private, named, answered to, or a command


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeleted(InboundMessage):
    """A message was deleted; `who` is the one who had written it."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPressed(InboundMessage):
    data: str  # of the button
    message: str | None = None  # ours, which has the button


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersJoined(InboundMessage):
    people: tuple[Requester, ...]  # also the one who was let in by somebody else
    bot_joined: bool = (
        False  # the bot itself came: of who was there before, nobody knows who still is
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersLeft(InboundMessage):
    people: tuple[Requester, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMoved(InboundMessage):
    """The channel gave the group another id: `chat` has the new one."""

    before: str


# What is said back, before a channel puts it in its own form.

SpanStyle = Literal["plain", "strong", "code", "command", "link"]
_COMMAND_IN_TEXT = re.compile(r"(?<!\S)(/[a-z]+)")


@dataclass(frozen=True, slots=True)
class Span:
    """Text as it is to be read. A channel escapes whatever has a meaning of its own there."""

    text: str
    style: SpanStyle = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    label: str
    data: str  # at most 64 bytes: ids, never words of a memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """What a reply in words ("yes", "all", "1 and 3") is about, in the order in which it stands in
    the message."""

    ids: tuple[str, ...]  # proposals; of a question what to forget, memories
    forgets: bool = False
    erases_all: bool = False  # whether to erase everything; then there are no ids
    is_remainder: bool = False  # what is left of a longer list, after an answer to some of it


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    spans: tuple[Span, ...]
    buttons: tuple[tuple[Button, ...], ...] = ()  # rows of them
    attachment: Attachment | None = None
    alone: bool = False  # for `to` alone, in private: never where others listen
    instead: bool = False  # in place of the message whose button was pressed
    answers: str | None = None  # the id of the message that this is an answer to
    asks: OpenQuestion | None = None  # what the next message can answer in words

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


def make_message(
    *parts: str | Span,
    buttons: tuple[tuple[Button, ...], ...] = (),
    asks: OpenQuestion | None = None,
) -> OutboundMessage:
    spans = tuple(Span(part) if isinstance(part, str) else part for part in parts)
    return OutboundMessage(spans=spans, buttons=buttons, asks=asks)


def format_text(template: str, given: object = "") -> tuple[Span, ...]:
    """Our own words, with what goes in for `{}`. The commands that they name stand apart, because
    not every channel lets people type these as they are."""
    pieces = _COMMAND_IN_TEXT.split(template)
    styles: tuple[SpanStyle, ...] = ("plain", "command")
    spans = (Span(text.format(given), styles[n % 2]) for n, text in enumerate(pieces))
    return tuple(span for span in spans if span.text)


def strong_span(text: str) -> Span:
    return Span(text, "strong")


def code_span(text: str) -> Span:
    return Span(text, "code")


def link_span(address: str) -> Span:
    """It leads where it says: no channel shows another text for it, or looks what is there."""
    return Span(address, "link")


class NotSent(Exception):
    """A channel did not take it. `for_good`: nor will it later (blocked, no such chat)."""

    def __init__(self, problem: str, *, for_good: bool, wait_seconds: float | None = None) -> None:
        super().__init__(problem)
        self.for_good = for_good
        self.wait_seconds = wait_seconds


class ChannelSender(Protocol):
    """The way back into a channel. Safe to call from several threads."""

    def send(
        self,
        where: Chat,
        to: Requester | None,
        what: OutboundMessage,
        *,
        after: InboundMessage | None = None,
    ) -> None:
        """Raises `NotSent`. Long text goes in parts; `alone` goes to the private chat of `to`.
        `after` is what was heard before: its thread, and the message whose button was pressed."""
        ...

    def is_admin(self, where: Chat, who: Requester) -> bool:
        """False if that cannot be found out."""
        ...


# Long text in parts that a channel takes: cut where people would pause, never inside a character.
#
# Nothing is lost between two parts but the white space at the cut.

# How much of a channel's room a span takes, whatever is counted there: characters, UTF-16 units,
# bytes once it is escaped. Longer text takes more, and each character takes at least one.
SpanMeasure = Callable[[Span], int]

_PARAGRAPH, _LINE, _SPACE = "\n\n", "\n", " "
_JOINER = "\u200d"
_EMOJI_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_FLAG_TAGS = range(0xE0020, 0xE0080)
_HANGUL_VOWELS_AND_FINALS = range(0x1160, 0x1200)


def split_spans(spans: Iterable[Span], most: int, measure: SpanMeasure) -> list[tuple[Span, ...]]:
    """What is said, in parts of at most `most` each: ended at a paragraph, else at a line, else at
    a word, and only where one word is too long for a part, between two of its characters."""
    whole = _JoinedSpans(spans, measure)
    found: list[tuple[Span, ...]] = []
    start = whole.after_white_space(0, _LINE)
    while start < len(whole.text):
        room = whole.room(start, most)
        end, then = (room, room) if room == len(whole.text) else whole.cut(start, room)
        cut = whole.spans(start, end)
        if any(span.text.strip() for span in cut):
            found.append(cut)
        start = then
    return found


class _JoinedSpans:
    """All spans as one text, and where each of them stands in it."""

    def __init__(self, spans: Iterable[Span], measure: SpanMeasure) -> None:
        self._measure = measure
        self._given = [span for span in spans if span.text]
        self.text = "".join(span.text for span in self._given)

    def spans(self, start: int, end: int) -> tuple[Span, ...]:
        found, at = [], 0
        for span in self._given:
            text = span.text[max(0, start - at) : max(0, end - at)]
            if text:
                found.append(Span(text, span.style))
            at += len(span.text)
            if at >= end:
                break
        return tuple(found)

    def room(self, start: int, most: int) -> int:
        """How far a part that begins here may go. One character at least, or it would never end."""
        low, high = start + 1, min(len(self.text), start + most)
        while low < high:
            middle = (low + high + 1) // 2
            if sum(map(self._measure, self.spans(start, middle))) <= most:
                low = middle
            else:
                high = middle - 1
        return low

    def cut(self, start: int, room: int) -> tuple[int, int]:
        """Where this part ends, and where the next one begins. A pause near the beginning would
        leave most of the room empty: then the next smaller kind of pause is taken."""
        for pause in (_PARAGRAPH, _LINE, _SPACE):
            at = self.text.rfind(pause, start + (room - start) // 3, room + len(pause))
            if at > start:
                return self._before_white_space(start, at), self.after_white_space(at, pause)
        end = room
        while end > start + 1 and _is_one_character(self.text, end):
            end -= 1
        if _is_one_character(self.text, end):
            end = room  # one character with so many marks that it fits nowhere
        return end, end

    def after_white_space(self, at: int, pause: str) -> int:
        """Empty lines at a cut are dropped; how far the next line is set in is not."""
        drop = _LINE if _LINE in pause else _SPACE
        while at < len(self.text) and self.text[at] in drop:
            at += 1
        return at

    def _before_white_space(self, start: int, at: int) -> int:
        while at > start and self.text[at - 1].isspace():
            at -= 1
        return at


def _is_one_character(text: str, at: int) -> bool:
    """Whether what stands before and after this place is read as one character."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if _JOINER in (before, after) or (before, after) == ("\r", "\n"):
        return True
    number = ord(after)
    if number in _FLAG_LETTERS:
        return _flag_letters_before(text, at) % 2 == 1
    return (
        unicodedata.category(after) in ("Mn", "Me", "Mc")
        or number in _EMOJI_TONES
        or number in _FLAG_TAGS
        or number in _HANGUL_VOWELS_AND_FINALS
    )


def _flag_letters_before(text: str, at: int) -> int:
    count = 0
    while at > count and ord(text[at - count - 1]) in _FLAG_LETTERS:
        count += 1
    return count
