"""What many tests of chats begin with."""

from collections.abc import Iterator

import pytest

import tacit
from tacit.bots.telegram.client import TelegramClient
from tacit.memory import Memory
from tests.bots.bot_api import BotApi, bot_api
from tests.bots.desk import Desk
from tests.bots.telegram_stage import connected
from tests.contract.rooms import SetClock


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def memory(clock: SetClock) -> Iterator[Memory]:
    """For commands: `EVERY_COMMAND` types each of them on both databases."""
    with tacit.open("sqlite://", embedder=None, clock=clock) as opened:
        yield opened


@pytest.fixture
def desk(memory: Memory) -> Desk:
    return Desk(memory)


@pytest.fixture(scope="module")
def telegram() -> Iterator[tuple[BotApi, TelegramClient]]:
    """An emulator and a line to it: each story has a bot and a memory of its own behind it."""
    with bot_api() as api, connected(api) as line:
        yield api, line
