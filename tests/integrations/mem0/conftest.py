"""mem0's interface on each database, with a clock that a test sets."""

from collections.abc import Iterator

import pytest

import tacit
from tacit.integrations.mem0 import Memory
from tests.contract.rooms import SetClock


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def store(database_url: str, clock: SetClock) -> Iterator[tacit.Memory]:
    """Tacit itself, below the interface; by words alone."""
    with tacit.open(database_url, clock=clock, embedder=None) as memory:
        yield memory


@pytest.fixture
def memory(store: tacit.Memory) -> Memory:
    return Memory(memory=store)
