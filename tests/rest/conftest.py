"""One app for each file of tests, and a space of its own for each test."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pytest
from starlette.testclient import TestClient

import tacit
from tacit.memory import Memory
from tacit.server.app import create_app
from tacit.settings import Settings
from tests.contract.rooms import SetClock
from tests.rest.calling import ALL, World

_NAMES = count()
UNHURRIED = 1_000_000


@dataclass(frozen=True)
class Serving:
    client: TestClient
    memory: Memory
    clock: SetClock


def settings(**groups: Any) -> Settings:
    """Turns are kept, and nobody is told to ask less often."""
    made = Settings(**groups)
    return replace(
        made,
        server=replace(made.server, rate_per_minute=UNHURRIED),
        memory=replace(made.memory, sessions=replace(made.memory.sessions, keep=True)),
        learn=replace(made.learn, workers=0),
    )


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    clock = SetClock()
    wanted = settings()
    with (
        tacit.open("sqlite://", clock=clock, embedder=None, settings=wanted) as memory,
        TestClient(create_app(memory, wanted, local=False), base_url="http://localhost") as client,
    ):
        yield Serving(client, memory, clock)


@pytest.fixture
def world(serving: Serving) -> World:
    space = serving.memory.space(f"test{next(_NAMES)}")
    key = space.create_key("adapter", scopes=ALL, rate_per_minute=UNHURRIED)
    return World(serving.client, space, serving.clock, key.token)
