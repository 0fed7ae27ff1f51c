"""A memory on each database, with a clock that a test sets."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tests.conftest import REMOTE
from tests.contract.lessons import BY_HAND
from tests.contract.remote import Far, RemoteMemory, Switchboard, far_server
from tests.contract.rooms import SetClock
from tests.llm.endpoint import Endpoint, serving

Open = Callable[..., Memory]


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="session")
def far() -> Iterator[tuple[str, Switchboard]]:
    with far_server() as found:
        yield found


@pytest.fixture
def opened(clock: SetClock, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens memories that are closed when the test ends; by words alone, unless a test names an
    embedder, because most of them ask nothing that needs a meaning."""
    asked = getattr(request.node, "callspec", None)
    remote = asked is not None and asked.params.get("database_url") == REMOTE
    url_of_server, board = request.getfixturevalue("far") if remote else ("", Switchboard())
    clients = ExitStack()
    memories: list[Memory] = []

    def open_one(url: str, **options: Any) -> Memory:
        options.setdefault("embedder", None)
        memories.append(tacit.open(url, clock=clock, **options))
        if not remote:
            return memories[-1]
        return RemoteMemory.of(memories[-1], Far(url_of_server, board, memories[-1], clients))

    with clients:
        yield open_one
    for memory in reversed(memories):
        memory.close()


@pytest.fixture
def memory(database_url: str, opened: Open) -> Memory:
    return opened(database_url)


@pytest.fixture
def learning(database_url: str, opened: Open) -> Memory:
    """It learns without a model, when a test says so."""
    return opened(database_url, settings=BY_HAND)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A model behind a real HTTP server, whose answers a test writes."""
    with serving() as running:
        yield running


@pytest.fixture(params=["sqlite-file", "postgres"])
def shared_url(request: pytest.FixtureRequest) -> str:
    """The databases that two processes can open at once: all but SQLite in memory."""
    file = request.param == "sqlite-file"
    url: str = request.getfixturevalue("migrated_sqlite_url" if file else "migrated_postgres_url")
    return url
