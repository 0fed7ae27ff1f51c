"""Messages from and to a channel, and the splitting of long ones."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, takewhile
from typing import Literal, Protocol, TypedDict

from tacit import limits
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester

# Inbound messages: what a channel parses its updates into.


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    channel: str  # telegram, slack, terminal
    update: str  # the channel's id of the update: a repeated delivery has the same one
    chat: Chat
    who: Requester | None  # None: the channel does not know the sender, and memory is disabled
    thread: str | None = None  # the channel's id of the thread, if there is one

    @property
    def private(self) -> bool:
        return self.chat.kind is ChatKind.PRIVATE

    @property
    def key(self) -> str:
        """The start of idempotency keys of writes that this message leads to."""
        return f"{self.channel}:{self.update}"

    @property
    def conversation(self) -> str:
        """The thread id for a view, unique in the space because it contains the chat's id."""
        if self.thread is None:
            return self.chat.id
        name = f"{self.chat.id}/{self.thread}"
        fits = len(name) <= limits.LABEL_MAX_CHARS
        return name if fits else hashlib.sha256(name.encode()).hexdigest()


class InboundContext(TypedDict):
    """The fields of InboundMessage, for parsers that build its subclasses."""

    channel: str
    update: str
    chat: Chat
    who: Requester | None
    thread: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Text of another author in a message: forwarded, quoted or replied to."""

    text: str
    by: str | None = None  # display name of the author; not an identity
    ours: bool = False  # written by the bot


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMessage(InboundMessage):
    text: str  # the sender's own words; empty if all of it is forwarded
    message: str  # the channel's id of the message, unique in its chat
    at: datetime | None = None
    edited: bool = False  # a new version of an earlier message
    quoted: tuple[Quote, ...] = ()
    forwarded: bool = False  # the whole message has another author
    addressed: bool = True  # to the bot: private, by name, as a reply to it, or a command


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeleted(InboundMessage):
    """A message was deleted; `who` is its author."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPressed(InboundMessage):
    data: str  # of the button
    message: str | None = None  # the bot's message with the button


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersJoined(InboundMessage):
    people: tuple[Requester, ...]
    bot_joined: bool = False  # the bot itself joined: earlier knowledge of members is void


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersLeft(InboundMessage):
    people: tuple[Requester, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMoved(InboundMessage):
    """The channel changed the id of the group; `chat` has the new one."""

    before: str


# Outbound messages, before a channel renders them.

SpanStyle = Literal["plain", "strong", "code", "command", "link"]
_COMMAND_IN_TEXT = re.compile(r"(?<!\S)(/[a-z]+)")


@dataclass(frozen=True, slots=True)
class Span:
    """Plain text with a style. The channel escapes its own markup."""

    text: str
    style: SpanStyle = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    label: str
    data: str  # at most 64 bytes: ids, never the text of a memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """The items that a reply in words ("yes", "all", "1 and 3") can refer to, in order."""

    ids: tuple[str, ...]  # of proposals, or of memories to forget
    forgets: bool = False  # the question is which memories to forget
    erases_all: bool = False  # the question is whether to erase everything; ids is empty
    is_remainder: bool = False  # the rest of a longer list that was partly answered


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    spans: tuple[Span, ...]
    buttons: tuple[tuple[Button, ...], ...] = ()  # rows
    attachment: Attachment | None = None
    alone: bool = False  # only for the recipient, in their private chat
    instead: bool = False  # replaces the message whose button was pressed
    answers: str | None = None  # id of the message that this replies to
    asks: OpenQuestion | None = None  # what the next message can answer in words

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


def make_message(
    *parts: str | Span, buttons: tuple[tuple[Button, ...], ...] = (), asks: OpenQuestion | None = None
) -> OutboundMessage:
    spans = (Span(part) if isinstance(part, str) else part for part in parts)
    return OutboundMessage(spans=tuple(span for span in spans if span.text), buttons=buttons, asks=asks)


def format_text(template: str, given: object = "") -> tuple[Span, ...]:
    """Format a text of ours into spans. Commands get a span each: Slack spells them differently."""
    pieces = _COMMAND_IN_TEXT.split(template)
    styles: tuple[SpanStyle, ...] = ("plain", "command")
    spans = (Span(text.format(given), styles[n % 2]) for n, text in enumerate(pieces))
    return tuple(span for span in spans if span.text)


def reply(template: str, given: object = "") -> OutboundMessage:
    """Make a message of a text of ours."""
    return make_message(*format_text(template, given))


def shorten(content: str) -> str:
    """Make one line for a list."""
    line = " ".join(content.split())
    most = limits.CHAT_LISTED_MAX_CHARS
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def strong_span(text: str) -> Span:
    return Span(text, "strong")


def code_span(text: str) -> Span:
    return Span(text, "code")


def link_span(url: str) -> Span:
    """A link that shows its own URL. Channels must not load a preview of it."""
    return Span(url, "link")


class NotSent(Exception):
    """The channel did not deliver. `for_good`: a retry would fail too (blocked, no such chat).

    `unreachable`: no valid answer came, so that an early retry may help.
    """

    def __init__(
        self, problem: str, *, for_good: bool, wait_seconds: float | None = None, unreachable: bool = False
    ) -> None:
        super().__init__(problem)
        self.for_good = for_good
        self.wait_seconds = wait_seconds
        self.unreachable = unreachable


class ChannelSender(Protocol):
    """Send messages into a channel. Safe to call from several threads."""

    def send(
        self, where: Chat, to: Requester | None, what: OutboundMessage, *, after: InboundMessage | None = None
    ) -> None:
        """Send, splitting long text; raise `NotSent` if the channel refuses.

        `alone` goes to the private chat of `to`. `after` is the message that is answered: it gives
        the thread, and the message whose button was pressed.
        """
        ...

    def is_admin(self, where: Chat, who: Requester) -> bool:
        """Whether a person is an admin of the chat; False if unknown."""
        ...


# Splitting of long text into parts, at a pause and never inside a character. Only white space at
# the cut is dropped.

_JOINER = "\u200d"
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
# Emoji tones, flag tags, and vowels and finals of Hangul.
_JOINED_CODES = (range(0x1F3FB, 0x1F400), range(0xE0020, 0xE0080), range(0x1160, 0x1200))


def split_spans(spans: Iterable[Span], most: int, measure: Callable[[str], int] = len) -> list[tuple[Span, ...]]:
    """Split into parts of at most `most`, at a paragraph, else a line, else a word.

    A word that is too long for a part is split between two characters. `measure` gives the size of
    a character in the channel's unit.
    """
    given = [span for span in spans if span.text]
    text = "".join(span.text for span in given)
    sizes = [0, *accumulate(map(measure, text))]
    found: list[tuple[Span, ...]] = []
    start = len(text) - len(text.lstrip("\n"))
    while start < len(text):
        room = max(start + 1, bisect_right(sizes, sizes[start] + most) - 1)
        end, then = (room, room) if room == len(text) else _find_cut(text, start, room)
        if text[start:end].strip():
            found.append(_slice_spans(given, start, end))
        start = then
    return found


def _slice_spans(spans: Iterable[Span], start: int, end: int) -> tuple[Span, ...]:
    found, at = [], 0
    for span in spans:
        found.append(Span(span.text[max(0, start - at) : max(0, end - at)], span.style))
        at += len(span.text)
    return tuple(span for span in found if span.text)


def _find_cut(text: str, start: int, room: int) -> tuple[int, int]:
    """Return the end of this part and the start of the next one.

    A pause in the first third would leave the part mostly empty, so a smaller pause is used. After
    a pause empty lines are skipped, but the indentation of the next line is kept.
    """
    for pause in ("\n\n", "\n", " "):
        at = text.rfind(pause, start + (room - start) // 3, room + len(pause))
        if at > start:
            rest = text[at:].lstrip(pause[0])
            return start + len(text[start:at].rstrip()), len(text) - len(rest)
    end = room
    while end > start + 1 and _is_one_character(text, end):
        end -= 1
    if _is_one_character(text, end):
        end = room  # one character with more combining marks than fit a part
    return end, end


def _is_one_character(text: str, at: int) -> bool:
    """Whether a cut here would split one visible character."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if _JOINER in (before, after) or (before, after) == ("\r", "\n"):
        return True
    if ord(after) in _FLAG_LETTERS:
        letters = takewhile(lambda one: ord(one) in _FLAG_LETTERS, reversed(text[:at]))
        return sum(1 for _ in letters) % 2 == 1
    marks = unicodedata.category(after) in ("Mn", "Me", "Mc")
    return marks or any(ord(after) in codes for codes in _JOINED_CODES)


class BotLog(Protocol):
    """Log for operators: kinds of failures, never the text of messages."""

    def tell(self, event: str, **what: str | int | float | bool | list[str] | None) -> None: ...

    def failed(self, event: str, error: BaseException, **what: str | None) -> None: ...


def compute_backoff(failures: int, first_seconds: float = limits.CHAT_BACKOFF_SECONDS) -> float:
    """Return an exponential delay with a maximum."""
    wait = first_seconds * 2.0 ** min(max(0, failures - 1), 32)
    return min(wait, limits.CHAT_BACKOFF_MAX_SECONDS)
