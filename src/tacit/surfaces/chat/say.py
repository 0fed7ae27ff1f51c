"""What is said back, before a channel puts it in its own form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Protocol

from tacit.records.request import Chat, Requester
from tacit.surfaces.chat.heard import Heard

Style = Literal["plain", "strong", "code", "command", "link"]
_COMMAND = re.compile(r"(?<!\S)(/[a-z]+)")


@dataclass(frozen=True, slots=True)
class Span:
    """Text as it is to be read. A channel escapes whatever has a meaning of its own there."""

    text: str
    style: Style = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    label: str
    data: str  # at most 64 bytes: ids, never words of a memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a reply in words ("yes", "all", "1 and 3") is about, in the order in which it stands in
    the message."""

    ids: tuple[str, ...]  # proposals; of a question what to forget, memories
    forgets: bool = False
    erases_all: bool = False  # whether to erase everything; then there are no ids
    is_remainder: bool = False  # what is left of a longer list, after an answer to some of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    spans: tuple[Span, ...]
    buttons: tuple[tuple[Button, ...], ...] = ()  # rows of them
    attachment: Attachment | None = None
    alone: bool = False  # for `to` alone, in private: never where others listen
    instead: bool = False  # in place of the message whose button was pressed
    answers: str | None = None  # the id of the message that this is an answer to
    asks: Question | None = None  # what the next message can answer in words

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


def say(
    *parts: str | Span,
    buttons: tuple[tuple[Button, ...], ...] = (),
    asks: Question | None = None,
) -> Say:
    spans = tuple(Span(part) if isinstance(part, str) else part for part in parts)
    return Say(spans=spans, buttons=buttons, asks=asks)


def worded(template: str, given: object = "") -> tuple[Span, ...]:
    """Our own words, with what goes in for `{}`. The commands that they name stand apart, because
    not every channel lets people type these as they are."""
    pieces = _COMMAND.split(template)
    styles: tuple[Style, ...] = ("plain", "command")
    spans = (Span(text.format(given), styles[n % 2]) for n, text in enumerate(pieces))
    return tuple(span for span in spans if span.text)


def strong(text: str) -> Span:
    return Span(text, "strong")


def code(text: str) -> Span:
    return Span(text, "code")


def link(address: str) -> Span:
    """It leads where it says: no channel shows another text for it, or looks what is there."""
    return Span(address, "link")


class NotSent(Exception):
    """A channel did not take it. `for_good`: nor will it later (blocked, no such chat)."""

    def __init__(self, problem: str, *, for_good: bool, wait_seconds: float | None = None) -> None:
        super().__init__(problem)
        self.for_good = for_good
        self.wait_seconds = wait_seconds


class Outlet(Protocol):
    """The way back into a channel. Safe to call from several threads."""

    def send(
        self, where: Chat, to: Requester | None, what: Say, *, after: Heard | None = None
    ) -> None:
        """Raises `NotSent`. Long text goes in parts; `alone` goes to the private chat of `to`.
        `after` is what was heard before: its thread, and the message whose button was pressed."""
        ...

    def is_admin(self, where: Chat, who: Requester) -> bool:
        """False if that cannot be found out."""
        ...
