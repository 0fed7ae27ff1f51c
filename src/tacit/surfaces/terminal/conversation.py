"""The terminal as a channel: lines are what was said, numbers press buttons."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Protocol

from tacit import Chat, Requester
from tacit.surfaces.chat.heard import Heard, Pressed, Said
from tacit.surfaces.chat.say import Say, say
from tacit.surfaces.chat.working import Hears
from tacit.surfaces.terminal import wording

CHANNEL = "terminal"
NOWHERE = Chat.private(f"{CHANNEL}:nobody")  # where nobody whom we know is talking

_SESSION_BYTES = 8
_MESSAGES_MAX_COUNT = 1_000  # whose buttons can be pressed: nobody scrolls back further than that
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")  # longer ones are no numbers of buttons, but text


class Screen(Protocol):
    def ask(self) -> str | None:
        """The next line, however long that takes; None: there are no more."""
        ...

    def show(self, what: Say, first: int) -> None:
        """Its buttons are numbered, from `first` on."""
        ...

    def note(self, text: str) -> None:
        """A remark for people, which is no answer."""
        ...


def _is_list(what: Say) -> bool:
    """Whether it has numbers of its own: its buttons would need others beside them."""
    return what.asks is not None and len(what.asks.ids) > 1


@dataclass(slots=True)
class _Choices:
    """The buttons on the screen. No number is given twice, so one that is read off the screen never
    presses another button than the one that it stands at."""

    next: int = 1
    listed: int = 0  # how many numbers a list has that was shown since, and is answered in words
    _messages: list[dict[int, str]] = field(default_factory=list)  # what their numbers press

    def add(self, what: Say) -> None:
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
class Conversation:
    bot: Hears
    who: Requester | None
    chat: Chat
    screen: Screen
    # Repeats are known by the ids of updates, so those of two conversations must differ.
    session: str = field(default_factory=lambda: secrets.token_hex(_SESSION_BYTES))
    has_model: bool = True
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _choices: _Choices = field(default_factory=_Choices)
    _shown: bool = False  # whether the line had an answer yet

    def run(self) -> None:
        """Until there are no more lines."""
        if self.who is None:
            self.screen.note(wording.NOBODY)
        elif not self.has_model:
            self.screen.note(wording.NO_MODEL)
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
            self._show(say(wording.NO_BUTTON.format(number)))
        elif self._hear(self._pressed(data)):
            self._choices.answered(number)
        if not self._shown:
            self._show(say(wording.NO_ANSWER))

    def _hear(self, heard: Heard) -> bool:
        """Whether the answer stands in the place of the message whose button was pressed."""
        answers = self.bot.hear(heard, self)
        for one in answers:
            self.send(heard.chat, heard.who, one)
        return any(one.instead for one in answers)

    def _pressed(self, data: str) -> Pressed:
        return Pressed(
            channel=CHANNEL, update=self._update(), chat=self.chat, who=self.who, data=data
        )

    def _said(self, line: str) -> Said:
        update = self._update()
        return Said(
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
        what: Say,
        *,
        after: Heard | None = None,  # noqa: ARG002 - as above
    ) -> None:
        """Whatever is for somebody else does not belong on this screen."""
        if to is not None and (self.who is None or to.key != self.who.key):
            return
        self._show(what)

    def _show(self, what: Say) -> None:
        shown = replace(what, buttons=()) if _is_list(what) else what
        self.screen.show(shown, self._choices.next)
        self._choices.add(what)
        self._shown = True

    def is_admin(self, where: Chat, who: Requester) -> bool:  # noqa: ARG002 - as above
        """Whoever has the terminal of a database operates it."""
        return True
