"""Two worlds, prepared once for each process and copied for every test that asks them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.service.asking import Caller
from tests.service.serving import served
from tests.service.worlds import UNHURRIED, opened, prepare

Both = Callable[[Mapping[str, str]], AbstractContextManager[tuple[Caller, Caller]]]


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
