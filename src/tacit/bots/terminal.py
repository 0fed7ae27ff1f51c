"""The bot at a terminal: lines are messages, numbers press buttons."""

from __future__ import annotations

import contextlib
import io
import re
import secrets
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Protocol

from tacit import Chat, Requester, limits
from tacit.bots.dispatcher import MessageHandler
from tacit.bots.messages import (
    ButtonPressed,
    InboundMessage,
    OutboundMessage,
    TextMessage,
    make_message,
)
from tacit.cli.output import TerminalWriter

# What the terminal itself says, beside what the bot does.

NO_MODEL = (
    "no language model is set: “remember that …”, questions about what I know, and the commands "
    "of /help work all the same"
)
NO_REQUESTER = "to be remembered, say who you are: tacit chat --as local:me, or --as telegram:123"
NO_ANSWER = "I have no answer to that. /help tells what I understand."
NO_BUTTON = "{} is no button any more. If you mean the number, write it in a sentence."
LINE_TOO_LONG = (
    f"That line is too long, so I did not read it: one has at most "
    f"{limits.CHAT_TEXT_MAX_CHARS:,} characters."
)
LINE_NOT_UTF8 = "I could not read that line, because it is not UTF-8 text. Please write it again."
LINE_HAS_CONTROLS = (
    "That line has control characters in it, so I did not read it. Please write it again."
)


# The terminal as a channel: lines are what was said, numbers press buttons.

CHANNEL = "terminal"
ANONYMOUS_CHAT = Chat.private(f"{CHANNEL}:nobody")  # where nobody whom we know is talking

_SESSION_BYTES = 8
_MESSAGES_MAX_COUNT = 1_000  # whose buttons can be pressed: nobody scrolls back further than that
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")  # longer ones are no numbers of buttons, but text


class TerminalPort(Protocol):
    def ask(self) -> str | None:
        """The next line, however long that takes; None: there are no more."""
        ...

    def show(self, what: OutboundMessage, first: int) -> None:
        """Its buttons are numbered, from `first` on."""
        ...

    def note(self, text: str) -> None:
        """A remark for people, which is no answer."""
        ...


def _is_list(what: OutboundMessage) -> bool:
    """Whether it has numbers of its own: its buttons would need others beside them."""
    return what.asks is not None and len(what.asks.ids) > 1


@dataclass(slots=True)
class _Choices:
    """The buttons on the screen. No number is given twice, so one that is read off the screen never
    presses another button than the one that it stands at."""

    next: int = 1
    listed: int = 0  # how many numbers a list has that was shown since, and is answered in words
    _messages: list[dict[int, str]] = field(default_factory=list)  # what their numbers press

    def add(self, what: OutboundMessage) -> None:
        if _is_list(what):  # from now on these numbers are meant
            self.listed = len(what.asks.ids) if what.asks is not None else 0
            self._messages.clear()
            return
        buttons = [button for row in what.buttons for button in row]
        if buttons:
            self._messages.append({self.next + n: one.data for n, one in enumerate(buttons)})
            self.next += len(buttons)
        del self._messages[:-_MESSAGES_MAX_COUNT]

    def pressed(self, number: int) -> str | None:
        return next((one[number] for one in self._messages if number in one), None)

    def is_text(self, number: int) -> bool:
        """Whether it never was a button's, or a list has it now."""
        listed = number <= self.listed and self.pressed(number) is None
        return listed or number >= self.next

    def answered(self, number: int) -> None:
        """So are the other buttons of the same message: after a yes there is no no."""
        self._messages = [one for one in self._messages if number not in one]


@dataclass(slots=True)
class TerminalConversation:
    bot: MessageHandler
    who: Requester | None
    chat: Chat
    screen: TerminalPort
    # Repeats are known by the ids of updates, so those of two conversations must differ.
    session: str = field(default_factory=lambda: secrets.token_hex(_SESSION_BYTES))
    has_model: bool = True
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _choices: _Choices = field(default_factory=_Choices)
    _shown: bool = False  # whether the line had an answer yet

    def run(self) -> None:
        """Until there are no more lines."""
        if self.who is None:
            self.screen.note(NO_REQUESTER)
        elif not self.has_model:
            self.screen.note(NO_MODEL)
        while (line := self.screen.ask()) is not None:
            if line.strip():
                self._line(line.strip())

    def _line(self, line: str) -> None:
        """Each is answered: where nothing happens, people wait, and programs lose count."""
        self._shown = False
        number = int(line) if _NUMBER.fullmatch(line) else None
        data = None if number is None else self._choices.pressed(number)
        if number is None or self._choices.is_text(number):
            self._hear(self._said(line))
        elif data is None:
            self._show(make_message(NO_BUTTON.format(number)))
        elif self._hear(self._pressed(data)):
            self._choices.answered(number)
        if not self._shown:
            self._show(make_message(NO_ANSWER))

    def _hear(self, heard: InboundMessage) -> bool:
        """Whether the answer stands in the place of the message whose button was pressed."""
        answers = self.bot.hear(heard, self)
        for one in answers:
            self.send(heard.chat, heard.who, one)
        return any(one.instead for one in answers)

    def _pressed(self, data: str) -> ButtonPressed:
        return ButtonPressed(
            channel=CHANNEL, update=self._update(), chat=self.chat, who=self.who, data=data
        )

    def _said(self, line: str) -> TextMessage:
        update = self._update()
        return TextMessage(
            channel=CHANNEL,
            update=update,
            chat=self.chat,
            who=self.who,
            text=line,
            message=update,
        )

    def _update(self) -> str:
        return f"{self.session}-{next(self._numbers)}"

    def send(
        self,
        where: Chat,  # noqa: ARG002 - there is one place to show it
        to: Requester | None,
        what: OutboundMessage,
        *,
        after: InboundMessage | None = None,  # noqa: ARG002 - as above
    ) -> None:
        """Whatever is for somebody else does not belong on this screen."""
        if to is not None and (self.who is None or to.key != self.who.key):
            return
        self._show(what)

    def _show(self, what: OutboundMessage) -> None:
        shown = replace(what, buttons=()) if _is_list(what) else what
        self.screen.show(shown, self._choices.next)
        self._choices.add(what)
        self._shown = True

    def is_admin(self, where: Chat, who: Requester) -> bool:  # noqa: ARG002 - as above
        """Whoever has the terminal of a database operates it."""
        return True


# What a person at a terminal sees and types; off a terminal, what a script does.

_PRIVATE_MARK = "(for you alone)"
_STDIN_ERRORS = "surrogateescape"  # bytes that are no text stay to be seen, in their own line alone
_READ_CHARS = limits.CHAT_TEXT_MAX_CHARS + 1  # one too many, or the end of the line


@dataclass(frozen=True, slots=True)
class TerminalScreen:
    console: TerminalWriter
    prompt: str
    enabled: bool  # whether there is a memory

    def ask(self) -> str | None:
        """What cannot be read is told and left out: the conversation goes on."""
        if sys.stdin is None:
            return None
        if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.errors != _STDIN_ERRORS:
            sys.stdin.reconfigure(errors=_STDIN_ERRORS)
        while True:
            self.console.flush()
            line = self._typed() if sys.stdin.isatty() else _read_piped_line()
            problem = line and _find_problem(line)
            if not problem:
                return line
            self.show(make_message(problem), first=1)

    def _typed(self) -> str | None:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - with it a line can be edited
        try:
            return input(self.prompt)
        except EOFError:
            return None

    def note(self, text: str) -> None:
        self.console.note(text)

    def show(self, what: OutboundMessage, first: int) -> None:
        if self.console.as_json:
            labels = [button.label for row in what.buttons for button in row]
            self.console.document(
                {
                    "text": what.text,
                    "buttons": labels,
                    "numbers": list(range(first, first + len(labels))),
                    "file": what.attachment and what.attachment.text,
                    "alone": what.alone,
                    "memory": self.enabled,
                }
            )
        else:
            self.console.lines(_format_lines(what, first))


def _read_piped_line() -> str | None:
    """Of a line that is too long no more is held than tells so."""
    line = rest = sys.stdin.readline(_READ_CHARS)
    while rest and not rest.endswith("\n"):
        rest = sys.stdin.readline(_READ_CHARS)
    return line.removesuffix("\n") if line else None


def _find_problem(line: str) -> str | None:
    if len(line) > limits.CHAT_TEXT_MAX_CHARS:
        return LINE_TOO_LONG
    kinds = {unicodedata.category(char) for char in line.strip() if char != "\t"}
    if "Cs" in kinds:
        return LINE_NOT_UTF8
    return LINE_HAS_CONTROLS if "Cc" in kinds else None


def _format_lines(what: OutboundMessage, first: int) -> Iterator[str]:
    if what.alone:
        yield _PRIVATE_MARK
    yield from what.text.splitlines()
    if what.attachment is not None:
        yield f"[{what.attachment.name}]"
        yield from what.attachment.text.splitlines()
    number = first
    for row in what.buttons:
        shown = []
        for button in row:
            shown.append(f"[{number}] {button.label}")
            number += 1
        yield "  ".join(shown)
    yield ""
