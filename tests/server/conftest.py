"""Apps, server processes and two worlds: each test has a space or a copied database of its own."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import tacit
from tacit.memory import Memory
from tacit.server.app import create_app
from tacit.settings import Settings
from tests.contract.rooms import SetClock
from tests.server.calls import ALL, World
from tests.server.http_server import served
from tests.server.two_worlds import Caller
from tests.server.worlds import UNHURRIED, opened, prepare

_NAMES = count()
Both = Callable[[Mapping[str, str]], AbstractContextManager[tuple[Caller, Caller]]]
RATE = 1_000_000


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
        server=replace(made.server, rate_per_minute=RATE),
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
    key = space.keys.create("adapter", scopes=ALL, rate_per_minute=RATE)
    return World(serving.client, space, serving.clock, key.token)


@pytest.fixture
def file(tmp_path: Path, migrated_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the developer's own settings is read."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copy(migrated_file, tmp_path / "memory.sqlite"))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("worlds")
    return folder, prepare(folder)


@pytest.fixture
def known(prepared: tuple[Path, dict[str, str]]) -> dict[str, str]:
    return prepared[1]


@pytest.fixture
def both(prepared: tuple[Path, dict[str, str]], tmp_path: Path) -> Both:
    """Callers with the same headers: one of the world that Bob has things in, one of the other."""

    @contextmanager
    def call(headers: Mapping[str, str]) -> Iterator[tuple[Caller, Caller]]:
        with ExitStack() as stack:
            callers = []
            for name in ("with", "without"):
                world = opened(prepared[0], tmp_path, name, prepared[1])
                stack.callback(world.memory.close)
                url = stack.enter_context(served(world.memory, UNHURRIED))
                callers.append(Caller(world, url, headers))
                stack.callback(callers[-1].close)
            yield callers[0], callers[1]

    return call
