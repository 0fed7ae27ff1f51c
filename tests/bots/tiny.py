"""The smallest channel there is: updates are JSON, and what is sent is kept in a list."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tacit import Chat, Requester, Update
from tacit.bots.dispatcher import Dispatcher, UpdateHandler
from tacit.bots.messages import ChannelSender, InboundMessage, OutboundMessage, TextMessage, make_message
from tacit.memory import Memory
from tests.bots.lines import Lines

CHANNEL = "tiny"
PATIENCE_SECONDS = 60.0  # that a test waits for what is to come; machines may be slow


def update(number: int, person: int, text: str | None = None) -> Update:
    """In the person's own private chat."""
    key = f"{CHANNEL}:{person}"
    payload = json.dumps({"update": str(number), "key": key, "text": text or f"message {number}"})
    return Update(id=str(number), chat=key, payload=payload, person=key)


def reading(payload: str) -> InboundMessage | None:
    found = json.loads(payload)
    return TextMessage(
        channel=CHANNEL,
        update=found["update"],
        chat=Chat.private(found["key"]),
        who=Requester(found["key"]),
        text=found["text"],
        message=found["update"],
    )


def _nothing(_text: str) -> None:
    pass


@dataclass
class Wire:
    """An outlet: `trouble` may raise or wait before something is sent, `after` once it is."""

    trouble: Callable[[str], None] = _nothing
    after: Callable[[str], None] = _nothing
    sent: list[tuple[str, str]] = field(default_factory=list)

    def send(
        self, where: Chat, to: Requester | None, what: OutboundMessage, *, after: InboundMessage | None = None
    ) -> None:
        self.trouble(what.text)
        self.sent.append((where.id, what.text))
        self.after(what.text)

    def is_admin(self, where: Chat, who: Requester) -> bool:
        return False

    def texts(self, person: int) -> list[str]:
        return [text for chat, text in self.sent if chat == f"{CHANNEL}:{person}"]


@dataclass
class Keeper:
    """Remembers every message once, as the agent does, and says it back."""

    memory: Memory
    trouble: Callable[[str], None] = _nothing
    heard: list[str] = field(default_factory=list)

    def hear(self, heard: InboundMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        assert isinstance(heard, TextMessage)
        self.heard.append(heard.text)
        self.trouble(heard.text)
        view = self.memory.view(heard.who, heard.chat)
        view.once(f"{heard.channel}:{heard.update}/keep").remember(heard.text)
        return [make_message(heard.text)]


@contextmanager
def running(
    memory: Memory, bot: Keeper, wire: Wire, log: Lines | None = None, *, threads: int = 4
) -> Iterator[Dispatcher]:
    handler = UpdateHandler(memory, bot, CHANNEL, reading, wire, log or Lines(), 0.01)
    rooms = Dispatcher(handler, threads=threads)
    rooms.start()
    try:
        yield rooms
    finally:
        assert rooms.stop(PATIENCE_SECONDS), "a thread did not stop"


def settled(rooms: Dispatcher, memory: Memory) -> None:
    """Also what rests for a moment is done."""
    pause = threading.Event()
    while memory.inbox.pending(CHANNEL, limit=1):
        assert rooms.wait_until_idle(PATIENCE_SECONDS)
        pause.wait(0.002)
    assert rooms.wait_until_idle(PATIENCE_SECONDS)


def kept(memory: Memory, person: int) -> list[str]:
    key = f"{CHANNEL}:{person}"
    found = memory.view(Requester(key), Chat.private(key)).list(limit=500)
    return sorted(one.content for one in found)


def alternating(people: Iterable[int], count: int) -> list[Update]:
    """One of everybody, then the next of everybody."""
    everybody = list(people)
    return [
        update(round_ * len(everybody) + place, person, f"{person} says {round_}")
        for round_ in range(count)
        for place, person in enumerate(everybody)
    ]
