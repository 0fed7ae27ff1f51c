"""The terminal as a channel: lines are what was said, numbers press buttons."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from tacit import Chat, Requester
from tacit.surfaces.chat.heard import Heard, Pressed, Said
from tacit.surfaces.chat.say import Button, Say
from tacit.surfaces.chat.working import Hears

CHANNEL = "terminal"
NOWHERE = Chat.private(f"{CHANNEL}:nobody")  # where nobody whom we know is talking

_SESSION_BYTES = 8


class Screen(Protocol):
    def ask(self) -> str | None:
        """The next line, however long that takes; None: there are no more."""
        ...

    def show(self, what: Say, first: int) -> None:
        """Its buttons are numbered, from `first` on."""
        ...


@dataclass(slots=True)
class Conversation:
    bot: Hears
    who: Requester | None
    chat: Chat
    screen: Screen
    # Repeats are known by the ids of updates, so those of two conversations must differ.
    session: str = field(default_factory=lambda: secrets.token_hex(_SESSION_BYTES))
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _choices: list[Button] = field(default_factory=list)  # of what was shown since the last line

    def run(self) -> None:
        """Until there are no more lines."""
        while (line := self.screen.ask()) is not None:
            if line.strip():
                self._answer(self._heard(line.strip()))

    def _answer(self, heard: Heard) -> None:
        self._choices.clear()
        for one in self.bot.hear(heard, self):
            self.send(heard.chat, heard.who, one)

    def _heard(self, line: str) -> Heard:
        update = f"{self.session}-{next(self._numbers)}"
        if line.isascii() and line.isdecimal() and 1 <= int(line) <= len(self._choices):
            return Pressed(
                channel=CHANNEL,
                update=update,
                chat=self.chat,
                who=self.who,
                data=self._choices[int(line) - 1].data,
            )
        return Said(
            channel=CHANNEL,
            update=update,
            chat=self.chat,
            who=self.who,
            text=line,
            message=update,
        )

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
        self.screen.show(what, len(self._choices) + 1)
        self._choices += [button for row in what.buttons for button in row]

    def is_admin(self, where: Chat, who: Requester) -> bool:  # noqa: ARG002 - as above
        """Whoever has the terminal of a database operates it."""
        return True
