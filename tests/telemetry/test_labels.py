"""Labels have fixed words: after a busy day with canaries everywhere, none is in any measure."""

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client.parser import text_string_to_metric_families

from tacit.telemetry import metrics
from tacit.telemetry.metrics import METRICS, OPERATIONS, OTHER_LABEL
from tacit.view.view import VIEW_OPERATIONS
from tests.contract.scripted import GOOD
from tests.llm.endpoint import Endpoint
from tests.telemetry.conftest import Measured
from tests.telemetry.scenes import SECRETS, busy_day

BY_NAME = {one.name: one for one in METRICS}
Labels = tuple[str, dict[str, str]]  # a measure's name, and its labels


def of_prometheus(text: str) -> Iterator[Labels]:
    for family in text_string_to_metric_families(text):
        if family.name.startswith("tacit_"):
            for sample in family.samples:
                words = {k: v for k, v in sample.labels.items() if k != "le"}
                yield family.name.removeprefix("tacit_").removesuffix("_created"), words


def of_opentelemetry(reader: InMemoryMetricReader) -> Iterator[Labels]:
    data = reader.get_metrics_data()
    assert data is not None
    for resource in data.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for point in metric.data.data_points:
                    words = {k: str(v) for k, v in (point.attributes or {}).items()}
                    yield metric.name.removeprefix("tacit."), words


def check(found: list[Labels]) -> None:
    for name, words in found:
        measure = BY_NAME[name]
        assert list(words) == list(measure.labels) or set(words) == set(measure.labels)
        for label, word in words.items():
            assert word in measure.labels[label], f"{name}: {label} is {word}"
    busy = {name for name, words in found if words}
    assert busy >= {"operations", "operation_seconds", "events", "refusals", "queue_depth"}
    assert busy >= {"memories", "language_questions", "language_tokens"}
    told = repr(found)
    assert not [secret for secret in SECRETS if secret in told]


def test_prometheus_hears_no_word_that_is_not_declared(measured: Measured, endpoint: Endpoint) -> None:
    endpoint.always = GOOD
    memory = measured("prometheus", endpoint=endpoint)
    busy_day(memory)
    text = memory.admin.metrics()
    check(list(of_prometheus(text)))
    assert not [secret for secret in SECRETS if secret in text]


def test_opentelemetry_hears_no_word_that_is_not_declared(
    measured: Measured, endpoint: Endpoint, reader: InMemoryMetricReader
) -> None:
    endpoint.always = GOOD
    memory = measured("opentelemetry", endpoint=endpoint)
    busy_day(memory)
    check(list(of_opentelemetry(reader)))
    data = reader.get_metrics_data()
    assert data is None or not [secret for secret in SECRETS if secret in data.to_json()]


def test_a_word_that_is_not_declared_becomes_other() -> None:
    said = {"operation": "The secret plan", "outcome": "ok"}
    assert metrics.OPERATION_COUNT.check_labels(said) == {"operation": OTHER_LABEL, "outcome": "ok"}


def test_every_word_of_a_view_is_an_operation() -> None:
    assert {one.measured_as for one in VIEW_OPERATIONS.values()} | {"learn_turn"} == OPERATIONS


@pytest.mark.parametrize("measure", METRICS, ids=lambda one: one.name)
def test_a_measure_has_few_words_and_says_what_it_is(measure: metrics.Metric) -> None:
    assert measure.says
    many = 1
    for words in measure.labels.values():
        assert 0 < len(words) <= 80
        assert all(word.replace("_", "").isalnum() for word in words)
        many *= len(words) + 1
    assert many <= 320  # series of one measure, whatever happens
