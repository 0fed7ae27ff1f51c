"""Commands as a channel hands them over, one update at a time, and what is said back."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

import tacit
from tacit.bots.commands import Commands
from tacit.bots.messages import Button, ButtonPressed, InboundMessage, NotSent, OutboundMessage, TextMessage
from tacit.memory import Memory
from tacit.settings import ConsoleSettings

ALICE = tacit.Requester("telegram:1001", name="Alice")
BOB = tacit.Requester("telegram:2002", name="Bob")
CAROL = tacit.Requester("slack:T1:U3", name="Carol")
TEAM = tacit.Chat.group("telegram:-100", participants=(ALICE, BOB))


def alone(who: tacit.Requester) -> tacit.Chat:
    return tacit.Chat.private(who.key)


@dataclass
class Channel:
    """A channel that keeps what it is given."""

    admins: tuple[tacit.Requester, ...] = ()
    away: bool = False
    sent: list[tuple[tacit.Requester | None, OutboundMessage]] = field(default_factory=list)

    def send(
        self,
        where: tacit.Chat,
        to: tacit.Requester | None,
        what: OutboundMessage,
        *,
        after: InboundMessage | None = None,
    ) -> None:
        if self.away:
            raise NotSent("nobody answers", for_good=False)
        self.sent.append((to, what))

    def is_admin(self, where: tacit.Chat, who: tacit.Requester) -> bool:
        return who in self.admins


@dataclass
class Desk:
    memory: Memory
    channel: Channel = field(default_factory=Channel)
    console: ConsoleSettings = field(default_factory=ConsoleSettings)
    _updates: count[int] = field(default_factory=count)

    @property
    def commands(self) -> Commands:
        return Commands(self.memory, self.console)

    def update(self) -> str:
        return str(next(self._updates))

    def hear(
        self,
        who: tacit.Requester | None,
        text: str,
        chat: tacit.Chat | None = None,
        *,
        update: str | None = None,
        edited: bool = False,
    ) -> list[OutboundMessage]:
        assert who is not None or chat is not None
        where = chat or alone(who or ALICE)
        said = TextMessage(
            channel=where.id.partition(":")[0],
            update=update or self.update(),
            chat=where,
            who=who,
            text=text,
            message="7",
            edited=edited,
        )
        told = self.commands.run(self.memory.view(who, where), said, self.channel)
        return [_checked(one) for one in told]

    def say(self, who: tacit.Requester | None, text: str, chat: tacit.Chat | None = None) -> OutboundMessage:
        (told,) = self.hear(who, text, chat)
        return told

    def press(
        self, who: tacit.Requester, button: Button | str, chat: tacit.Chat | None = None, *, update: str | None = None
    ) -> list[OutboundMessage] | None:
        where = chat or alone(who)
        pressed = ButtonPressed(
            channel=where.id.partition(":")[0],
            update=update or self.update(),
            chat=where,
            who=who,
            data=button if isinstance(button, str) else button.data,
        )
        told = self.commands.press(self.memory.view(who, where), pressed, self.channel)
        return None if told is None else [_checked(one) for one in told]

    def pressed(self, who: tacit.Requester, say: OutboundMessage, label: str) -> OutboundMessage:
        """What comes of the button with this label, where it was told in private."""
        (told,) = self.press(who, labelled(say, label)) or []
        return told


def labelled(say: OutboundMessage, label: str) -> Button:
    return next(one for row in say.buttons for one in row if one.label == label)


def labels(say: OutboundMessage) -> list[str]:
    return [one.label for row in say.buttons for one in row]


def _checked(say: OutboundMessage) -> OutboundMessage:
    """What holds of every button there is: it fits into any channel."""
    for row in say.buttons:
        for one in row:
            assert len(one.data.encode()) <= 64
            assert one.label
    return say
