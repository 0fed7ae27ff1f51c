"""A world for each page."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.world import World

WorldOf = Callable[[str], World]


@pytest.fixture
def world_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[WorldOf]:
    with ExitStack() as ends:
        yield lambda page: World(
            page, tmp_path, monkeypatch, ends, lambda: str(request.getfixturevalue("migrated_postgres_url"))
        )
