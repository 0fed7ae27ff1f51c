"""A memory by words alone, opened once: each test has a space of its own in it."""

from collections.abc import Iterator
from itertools import count

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import SetClock

_NUMBERS = count()


@pytest.fixture(scope="session")
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="session")
def opened_once(clock: SetClock) -> Iterator[Memory]:
    with tacit.open("sqlite://", clock=clock, embedder=None) as opened:
        yield opened


@pytest.fixture
def memory(opened_once: Memory) -> Memory:
    return opened_once.space(f"tools-{next(_NUMBERS)}")
