"""What tests of the Telegram part share: a line to the emulator, and a stop without sleep."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tacit.bots.telegram.client import TelegramClient
from tests.bots.bot_api import TOKEN, BotApi


@dataclass
class Pauses:
    """Ends when a test says so; nobody waits until then, and every wait is noted."""

    seconds: list[float] = field(default_factory=list)
    most: int = 1_000  # waits, after which it ends by itself
    ended: threading.Event = field(default_factory=threading.Event)

    def is_set(self) -> bool:
        return self.ended.is_set()

    def wait(self, timeout: float) -> bool:
        self.seconds.append(timeout)
        if len(self.seconds) >= self.most:
            self.ended.set()
        return self.ended.is_set()


@contextmanager
def connected(api: BotApi, token: str = TOKEN) -> Iterator[TelegramClient]:
    line = TelegramClient(token, api.url)
    try:
        yield line
    finally:
        line.close()
