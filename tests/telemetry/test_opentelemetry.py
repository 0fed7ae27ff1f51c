"""Measures through the OpenTelemetry API, read by a real SDK."""

from typing import Any

from opentelemetry.sdk.metrics.export import InMemoryMetricReader

import tacit
from tests.contract.rooms import ALICE, kept, private
from tests.telemetry.conftest import Measured


def points(reader: InMemoryMetricReader, name: str) -> dict[frozenset[tuple[str, str]], Any]:
    data = reader.get_metrics_data()
    if data is None:
        return {}
    return {
        frozenset((k, str(v)) for k, v in (point.attributes or {}).items()): point
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == f"tacit.{name}"
        for point in metric.data.data_points
    }


def test_counts_durations_and_gauges_arrive(measured: Measured, reader: InMemoryMetricReader) -> None:
    memory = measured("opentelemetry")
    name = frozenset({("operation", "remember"), ("outcome", "ok")})
    before = points(reader, "operations")
    already = before[name].value if name in before else 0
    view = private(memory, ALICE)
    kept(view, "one")
    view.learn([tacit.Message("user", "I live in Lisbon")])
    assert points(reader, "operations")[name].value == already + 1
    taken = points(reader, "operation_seconds")[frozenset({("operation", "remember")})]
    assert taken.count >= 1
    assert taken.explicit_bounds[0] < 0.001  # seconds, and not the SDK's own for milliseconds
    waiting = frozenset({("of", "turns"), ("state", "waiting")})
    assert points(reader, "queue_depth")[waiting].value == 1


def test_a_closed_memory_is_not_asked_any_more(measured: Measured, reader: InMemoryMetricReader) -> None:
    memory = measured("opentelemetry")
    private(memory, ALICE).learn([tacit.Message("user", "I live in Lisbon")])
    assert points(reader, "queue_depth")
    memory.close()
    assert points(reader, "queue_depth") == {}
