"""A client, and a far side that does as a test tells it."""

from collections.abc import Iterator

import pytest

from tacit.client.dispatch import RemoteDispatch
from tacit.client.transport import Transport
from tacit.memory import View, remote_view
from tests.client.scripted_server import FarSide, Paused, answering


@pytest.fixture
def far() -> Iterator[FarSide]:
    with answering() as server:
        yield server


@pytest.fixture
def paused() -> Paused:
    return Paused()


@pytest.fixture
def view(far: FarSide, paused: Paused) -> Iterator[View]:
    server = Transport(far.url, "tct_k_s", timeout_seconds=20, pause=paused)
    yield remote_view(RemoteDispatch(server, {"x-tacit-requester": "telegram:1"}))
    server.close()
