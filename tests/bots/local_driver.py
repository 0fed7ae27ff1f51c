"""The bot without a channel: what is heard goes in, and what is said comes out."""

import itertools
from typing import Any

import tacit
from tacit.bots.messages import (
    ButtonPressed,
    InboundMessage,
    MembersJoined,
    MembersLeft,
    MessageDeleted,
    OutboundMessage,
    Quote,
    TextMessage,
)
from tests.bots.chats import Person, Room, Shown, Stage, Told, alone, bot_of
from tests.bots.desk import Channel

CHANNEL = "telegram"


class LocalDriver:
    can_delete = True

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.bot = bot_of(stage)
        self.outlet = Channel()
        self._people: dict[str, Person] = {}
        self._numbers = itertools.count(1)

    def requester(self, who: Person) -> tacit.Requester:
        known = tacit.Requester(f"{CHANNEL}:{who.number}", name=who.name)
        self._people[known.key] = who
        return known

    def typed(self, command: str) -> str:
        return command

    def makes_admin(self, who: Person, room: Room) -> None:
        self.outlet.admins += (self.requester(who),)

    def chat(self, room: Room) -> tacit.Chat:
        if room.of is not None:
            return tacit.Chat.private(f"{CHANNEL}:{room.number}")
        return tacit.Chat.group(f"{CHANNEL}:-{room.number}")

    def say(
        self,
        who: Person,
        room: Room,
        text: str,
        *,
        to_bot: bool = True,
        forwarded_from: str | None = None,
        quoting: str | None = None,
    ) -> Told:
        quoted = quoting if forwarded_from is None else text
        said = TextMessage(
            channel=CHANNEL,
            update=self._next(),
            chat=self.chat(room),
            who=self.requester(who),
            text=text if forwarded_from is None else "",
            message=self._next(),
            quoted=() if quoted is None else (Quote(text=quoted, by=forwarded_from),),
            forwarded=forwarded_from is not None,
            addressed=to_bot,
        )
        return Told(who, room, said.message, self._hear(said, room))

    def edit(self, told: Told, text: str, *, to_bot: bool = True) -> Told:
        said = TextMessage(
            channel=CHANNEL,
            update=self._next(),
            chat=self.chat(told.room),
            who=self.requester(told.who),
            text=text,
            message=told.message,
            edited=True,
            addressed=to_bot,
        )
        return Told(told.who, told.room, told.message, self._hear(said, told.room))

    def delete(self, told: Told) -> None:
        self._hear(MessageDeleted(message=told.message, **self._by(told.who, told.room)), told.room)

    def press(self, who: Person, shown: Shown, label: str) -> tuple[Shown, ...]:
        assert isinstance(shown.ref, OutboundMessage)
        buttons = [one for row in shown.ref.buttons for one in row if one.label == label]
        pressed = ButtonPressed(data=buttons[0].data, message="1", **self._by(who, shown.room))
        return self._hear(pressed, shown.room)

    def join(self, who: Person, room: Room) -> None:
        self._hear(MembersJoined(people=(self.requester(who),), **self._by(who, room)), room)

    def leave(self, who: Person, room: Room) -> None:
        self._hear(MembersLeft(people=(self.requester(who),), **self._by(who, room)), room)

    def _by(self, who: Person, room: Room) -> dict[str, Any]:
        return {"channel": CHANNEL, "update": self._next(), "chat": self.chat(room), "who": self.requester(who)}

    def _next(self) -> str:
        return str(next(self._numbers))

    def _hear(self, heard: InboundMessage, room: Room) -> tuple[Shown, ...]:
        self.outlet.sent.clear()
        said = self.bot.hear(heard, self.outlet)
        self.stage.settle()
        beside = [_shown(alone(self._people[to.key]), what) for to, what in self.outlet.sent if to]
        return (*beside, *(_shown(room, one) for one in said))


def _shown(room: Room, what: OutboundMessage) -> Shown:
    labels = tuple(button.label for row in what.buttons for button in row)
    file = what.attachment.text if what.attachment else None
    return Shown(room, what.text, labels, file, what)
