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
from tacit.bots import texts
from tacit.bots.dispatcher import MessageHandler
from tacit.bots.messages import ButtonPressed, InboundMessage, OutboundMessage, TextMessage, make_message
from tacit.cli.output import TerminalWriter

CHANNEL = "terminal"
ANONYMOUS_CHAT = Chat.private(f"{CHANNEL}:nobody")  # for an unknown requester

_SESSION_BYTES = 8
_MESSAGES_MAX_COUNT = 1_000  # messages whose buttons still work
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")  # longer numbers are text


class TerminalPort(Protocol):
    def ask(self) -> str | None:
        """Wait for the next line; return None at the end of input."""
        ...

    def show(self, what: OutboundMessage, first: int) -> None:
        """Show a message with its buttons numbered from `first`."""
        ...

    def note(self, text: str) -> None:
        """Show a remark that is not an answer."""
        ...


def _is_list(what: OutboundMessage) -> bool:
    """Whether a message is a numbered list, which is answered in words instead of buttons."""
    return what.asks is not None and len(what.asks.ids) > 1


@dataclass(slots=True)
class _Choices:
    """The buttons on the screen. No number is used twice, so a number always means one button."""

    next: int = 1
    listed: int = 0  # length of the last numbered list, which is answered in words
    _messages: list[dict[int, str]] = field(default_factory=list)  # data of buttons by number

    def add(self, what: OutboundMessage) -> None:
        if _is_list(what):  # numbers now refer to the list
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
        """Whether a number is not that of a button, or refers to the list."""
        listed = number <= self.listed and self.pressed(number) is None
        return listed or number >= self.next

    def answered(self, number: int) -> None:
        """Disable all buttons of the message: after a yes there is no no."""
        self._messages = [one for one in self._messages if number not in one]


@dataclass(slots=True)
class TerminalConversation:
    bot: MessageHandler
    who: Requester | None
    chat: Chat
    screen: TerminalPort
    # Update ids detect repeats, so those of two conversations must differ.
    session: str = field(default_factory=lambda: secrets.token_hex(_SESSION_BYTES))
    has_model: bool = True
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _choices: _Choices = field(default_factory=_Choices)
    _shown: bool = False  # whether the line has an answer

    def run(self) -> None:
        """Handle lines until the end of input."""
        if self.who is None:
            self.screen.note(texts.TERMINAL_NO_REQUESTER)
        elif not self.has_model:
            self.screen.note(texts.TERMINAL_NO_MODEL)
        while (line := self.screen.ask()) is not None:
            if line.strip():
                self._line(line.strip())

    def _line(self, line: str) -> None:
        """Handle a line and always answer: programs count the answers."""
        self._shown = False
        number = int(line) if _NUMBER.fullmatch(line) else None
        data = None if number is None else self._choices.pressed(number)
        if number is None or self._choices.is_text(number):
            self._hear(self._said(line))
        elif data is None:
            self._show(make_message(texts.TERMINAL_NO_BUTTON.format(number)))
        elif self._hear(self._pressed(data)):
            self._choices.answered(number)
        if not self._shown:
            self._show(make_message(texts.TERMINAL_NO_ANSWER))

    def _hear(self, heard: InboundMessage) -> bool:
        """Handle a message; return whether the answer replaces the message with the button."""
        answers = self.bot.hear(heard, self)
        for one in answers:
            self.send(heard.chat, heard.who, one)
        return any(one.instead for one in answers)

    def _pressed(self, data: str) -> ButtonPressed:
        return ButtonPressed(channel=CHANNEL, update=self._update(), chat=self.chat, who=self.who, data=data)

    def _said(self, line: str) -> TextMessage:
        update = self._update()
        return TextMessage(channel=CHANNEL, update=update, chat=self.chat, who=self.who, text=line, message=update)

    def _update(self) -> str:
        return f"{self.session}-{next(self._numbers)}"

    def send(
        self,
        where: Chat,  # noqa: ARG002 - there is only one screen
        to: Requester | None,
        what: OutboundMessage,
        *,
        after: InboundMessage | None = None,  # noqa: ARG002 - as above
    ) -> None:
        """Show the message, unless it is for another person."""
        if to is not None and (self.who is None or to.key != self.who.key):
            return
        self._show(what)

    def _show(self, what: OutboundMessage) -> None:
        shown = replace(what, buttons=()) if _is_list(what) else what
        self.screen.show(shown, self._choices.next)
        self._choices.add(what)
        self._shown = True

    def is_admin(self, where: Chat, who: Requester) -> bool:  # noqa: ARG002 - as above
        """Return True: a person with a terminal on the database is its operator."""
        return True


# Input and output, on a terminal or through pipes.

_PRIVATE_MARK = "(only for you)"
_STDIN_ERRORS = "surrogateescape"  # invalid bytes affect only their own line
_READ_CHARS = limits.CHAT_TEXT_MAX_CHARS + 1  # one more, to detect a line that is too long


@dataclass(frozen=True, slots=True)
class TerminalScreen:
    console: TerminalWriter
    prompt: str
    enabled: bool  # whether memory is on

    def ask(self) -> str | None:
        """Return the next valid line; report and skip invalid ones."""
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
    """Read a line; of one that is too long, keep just enough to detect it."""
    line = rest = sys.stdin.readline(_READ_CHARS)
    while rest and not rest.endswith("\n"):
        rest = sys.stdin.readline(_READ_CHARS)
    return line.removesuffix("\n") if line else None


def _find_problem(line: str) -> str | None:
    if len(line) > limits.CHAT_TEXT_MAX_CHARS:
        return texts.LINE_TOO_LONG.format(limits.CHAT_TEXT_MAX_CHARS)
    kinds = {unicodedata.category(char) for char in line.strip() if char != "\t"}
    if "Cs" in kinds:
        return texts.LINE_NOT_UTF8
    return texts.LINE_HAS_CONTROLS if "Cc" in kinds else None


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
