"""A memory on each database, with a clock that a test sets."""

from collections.abc import Iterator

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import SetClock


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def memory(database_url: str, clock: SetClock) -> Iterator[Memory]:
    with tacit.open(database_url, clock=clock, embedder=None) as found:
        yield found
