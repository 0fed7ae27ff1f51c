"""An endpoint of our own to ask, and embedders that ask it without really waiting."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from tacit.embeddings.endpoint import EndpointEmbedder
from tests.embeddings.asking import KEY, NOON, Build
from tests.embeddings.scripted_server import Server, serving


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def build(server: Server, pauses: list[float]) -> Iterator[Build]:
    made: list[EndpointEmbedder] = []

    def build(url: str | None = None, **options: Any) -> EndpointEmbedder:
        options = {"api_key": KEY, "pause": pauses.append, "clock": lambda: NOON, **options}
        made.append(EndpointEmbedder(url or server.url, "tiny", **options))
        return made[-1]

    yield build
    for embedder in made:
        embedder.close()
    gc.collect(1)  # a connection left open would warn here, and fail the test
