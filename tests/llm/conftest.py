"""An endpoint of our own to ask, and models that ask it without really waiting between tries."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from tacit.llm.endpoint import EndpointModel
from tests.llm.asking import KEY, NOON, Build
from tests.llm.endpoint import Api, Endpoint, serving


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as running:
        yield running


@pytest.fixture(params=["openai", "anthropic"])
def api(request: pytest.FixtureRequest) -> Api:
    """A test that takes this runs once with each API."""
    found: Api = request.param
    return found


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def build(endpoint: Endpoint, pauses: list[float]) -> Iterator[Build]:
    made: list[EndpointModel] = []

    def build(api: Api = "openai", **options: Any) -> EndpointModel:
        usual = {"base_url": endpoint.url, "api_key": KEY, "timeout_seconds": 20.0}
        quick = {"pause": pauses.append, "clock": lambda: NOON}
        made.append(EndpointModel(api, "tiny", **{**usual, **quick, **options}))
        return made[-1]

    yield build
    endpoint.free.set()
    for model in made:
        model.close()
    gc.collect(1)  # a connection or loop left open would warn here, and fail the test
