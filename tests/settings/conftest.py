from pathlib import Path

import pytest

from tests.settings.places import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def one_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """For Hypothesis, which runs one test many times in one fixture."""
    return Place(tmp_path_factory.mktemp("settings"))
