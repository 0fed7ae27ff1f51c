"""One process for all examples that a worker runs."""

from collections.abc import Iterator

import pytest

from tests.examples.running import Runner, runner


@pytest.fixture(scope="session")
def examples() -> Iterator[Runner]:
    with runner() as started:
        yield started
