"""A memory on each database, and files of other memories to read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import tacit
from tacit.memory import Memory, View
from tests.cli.conftest import bare, home, on_file

__all__ = ["bare", "home", "on_file"]

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture
def memory(database_url: str) -> Iterator[Memory]:
    with tacit.open(database_url, embedder=None) as opened:
        yield opened


@pytest.fixture
def mara(memory: Memory) -> View:
    return of(memory, "telegram:1001")


def of(memory: Memory, key: str) -> View:
    return memory.view(tacit.Requester(key), tacit.Chat.private(key))
