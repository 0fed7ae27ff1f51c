"""Both libraries as an application sets them up, and memories that they measure."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

import tacit
from tacit.memory import Memory
from tests.llm.endpoint import Endpoint, serving
from tests.telemetry.scenes import settings

Measured = Callable[..., Memory]
_READERS: list[InMemoryMetricReader] = []


@pytest.fixture
def reader() -> InMemoryMetricReader:
    """Of the one provider that a process can have."""
    if not _READERS:
        _READERS.append(InMemoryMetricReader())
        metrics.set_meter_provider(MeterProvider(metric_readers=[_READERS[0]]))
    return _READERS[0]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as running:
        yield running


@pytest.fixture
def measured() -> Iterator[Measured]:
    """Opens memories that are closed when the test ends."""
    opened: list[Memory] = []

    def open_one(exporter: str, url: str = "sqlite://", **options: Any) -> Memory:
        endpoint = options.pop("endpoint", None)
        options.setdefault("embedder", None)
        options.setdefault("settings", settings(exporter, endpoint))
        opened.append(tacit.open(url, **options))
        return opened[-1]

    yield open_one
    for memory in reversed(opened):
        memory.close()
