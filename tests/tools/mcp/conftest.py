"""Servers for the official client: a process of its own, and a real HTTP server in a thread."""

from collections.abc import Iterator
from itertools import count

import pytest

import tacit
from tacit.memory import Memory
from tacit.server.app import create_app
from tacit.settings import Settings
from tests.server.http_server import running
from tests.tools.mcp.clients import Served

_NUMBERS = count()


@pytest.fixture(scope="session")
def memory() -> Iterator[Memory]:
    with tacit.open("sqlite://", embedder=None) as opened:
        yield opened


@pytest.fixture(scope="session")
def address(memory: Memory) -> Iterator[str]:
    made = create_app(memory, Settings(), local=True)
    with running(made) as url:
        yield url


@pytest.fixture
def served(memory: Memory, address: str) -> Served:
    """With a space of its own, so that tests meet no one else's memories."""
    return Served(address, memory.space(f"mcp-{next(_NUMBERS)}"))
