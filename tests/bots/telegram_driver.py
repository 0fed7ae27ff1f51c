"""Stories told through Telegram: the emulated Bot API, the real library, the real inbox and bot."""

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import tacit
from tacit.bots.channel import ChannelRetry
from tacit.bots.dispatcher import Dispatcher
from tacit.bots.telegram.client import TelegramClient
from tacit.bots.telegram.runner import TelegramProcess, poll_updates
from tacit.bots.telegram.updates import CHANNEL
from tests.bots.bot_api import BOT, BotApi, Sent
from tests.bots.bot_updates import Json, group, message, pressed, private, user
from tests.bots.chats import ALICE, BOB, CAROL, FAMILY, TEAM, Person, Room, Shown, Stage, Told, alone
from tests.bots.lines import Lines
from tests.bots.telegram_stage import Pauses

NAME = BOT["username"]
_SETTLED_SECONDS = 60
_ROOMS = (alone(ALICE), alone(BOB), alone(CAROL), TEAM, FAMILY)


class TelegramDriver:
    can_delete = False  # Telegram does not tell bots

    def __init__(self, stage: Stage, api: BotApi, dispatcher: Dispatcher, log: Lines) -> None:
        self.stage = stage
        self.api = api
        self.dispatcher = dispatcher
        self.log = log
        self._last = 0
        self._before = 0
        self._messages = itertools.count(1)

    def requester(self, who: Person) -> tacit.Requester:
        return tacit.Requester(f"telegram:{who.number}", name=who.name)

    def typed(self, command: str) -> str:
        return command

    def makes_admin(self, who: Person, room: Room) -> None:
        self.api.status[_number(room), who.number] = "administrator"

    def chat(self, room: Room) -> tacit.Chat:
        id = f"telegram:{_number(room)}"
        return tacit.Chat.group(id) if room.of is None else tacit.Chat.private(id)

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
        more: Json = {"date": self._now()}
        if forwarded_from is not None:
            name = forwarded_from
            more["forward_origin"] = {"type": "hidden_user", "sender_user_name": name, "date": 1}
        if quoting is not None:
            more["reply_to_message"] = message(_where(room), user(4004, "Dan"), quoting)
        id = next(self._messages)
        written = _to_bot(text) if to_bot and room.of is None else text
        said = message(_where(room), _user(who), written, message_id=id, **more)
        return Told(who, room, str(id), self.happens({"message": said}))

    def edit(self, told: Told, text: str, *, to_bot: bool = True) -> Told:
        written = _to_bot(text) if to_bot and told.room.of is None else text
        id = int(told.message)
        said = message(_where(told.room), _user(told.who), written, message_id=id, edit_date=self._now())
        return replace(told, shown=self.happens({"edited_message": said}))

    def delete(self, told: Told) -> None:
        raise AssertionError("Telegram does not tell bots of deleted messages")

    def press(self, who: Person, shown: Shown, label: str) -> tuple[Shown, ...]:
        sent = shown.ref
        assert isinstance(sent, Sent)
        where = _where(shown.room)
        return self.happens(pressed(where, _user(who), sent.buttons[label], sent.message))

    def join(self, who: Person, room: Room) -> None:
        came = message(_where(room), _user(who), new_chat_members=[_user(who)])
        self.happens({"message": came})

    def leave(self, who: Person, room: Room) -> None:
        went = message(_where(room), _user(who), left_chat_member=_user(who))
        self.happens({"message": went})

    def _now(self) -> int:
        return int(self.stage.clock().timestamp())

    def happens(self, update: Json) -> tuple[Shown, ...]:
        """Something happens in Telegram; what it comes to, when all of it is done."""
        self._before = len(self.api.sent)
        self._last = self.api.deliver(update)
        return self._done()

    def repeated(self) -> tuple[Shown, ...]:
        """The last of these is told a second time."""
        self._before = len(self.api.sent)
        self.api.repeat(self._last)
        return self._done()

    def soon(self) -> str:
        """What is said to a chat that is not allowed, which nobody waits for."""
        with self.api.changed:
            done = self.api.changed.wait_for(lambda: len(self.api.sent) > self._before, 20)
        assert done
        return self.api.sent[-1].text

    def forgive(self) -> None:
        """The story told of some trouble, so that there are lines about it in the log."""
        self.log.told.clear()

    def _done(self) -> tuple[Shown, ...]:
        self.api.wait_confirmed(self._last)
        until = time.monotonic() + _SETTLED_SECONDS
        while time.monotonic() < until:
            assert self.dispatcher.wait_until_idle(_SETTLED_SECONDS)
            if not self.stage.memory.inbox.pending("telegram"):
                break
            time.sleep(0.01)  # a chat rests, because Telegram asked for it
        assert self.stage.memory.inbox.pending("telegram") == []
        self.stage.settle()
        return tuple(_shown(sent) for sent in self.api.sent[self._before :])


@contextmanager
def telegram_driver(stage: Stage, api: BotApi, line: TelegramClient) -> Iterator[TelegramDriver]:
    stop, log = Pauses(), Lines()
    retry = ChannelRetry(CHANNEL, log, stop)
    process = TelegramProcess(stage.memory, stage.settings, line, log, stop)
    with process.answering(retry, lambda: True) as running:
        assert running is not None
        log.told.clear()
        dispatcher, receive = running
        polls = threading.Thread(target=poll_updates, args=(line, receive, retry, stop, 30))
        polls.start()
        try:
            yield TelegramDriver(stage, api, dispatcher, log)
        finally:
            api.status.clear()  # who is an admin of what
            stop.ended.set()
            api.wake()
            polls.join()
            assert dispatcher.stop(_SETTLED_SECONDS)
            told = list(log.told)
    assert told == [], "nothing went wrong behind the story's back"


def _number(room: Room) -> int:
    return -room.number if room.of is None else room.number


def _where(room: Room) -> Json:
    return group(_number(room)) if room.of is None else private(room.number)


def _user(who: Person) -> Json:
    return user(who.number, who.name)


def _to_bot(text: str) -> str:
    """As people name a bot in a group: `/help@bot`, or its name first."""
    if not text.startswith("/"):
        return f"@{NAME} {text}"
    word, space, rest = text.partition(" ")
    return f"{word}@{NAME}{space}{rest}"


def _shown(sent: Sent) -> Shown:
    return Shown(_room(sent.chat), sent.text, tuple(sent.buttons), sent.file, sent)


def _room(chat: int) -> Room:
    return next(room for room in _ROOMS if _number(room) == chat)
