"""Every metric with its fixed labels, the meter interface, and timing of operations."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType
from typing import Literal, Protocol

from tacit.errors import Conflict, InvalidInput, MissingExtra, NotFound, TacitError
from tacit.policy.rules import OVERRIDDEN, RULES
from tacit.records.memory import State
from tacit.records.results import EventNode, EventOperation, EventStatus

# Every metric is declared here. The values of a label are a fixed set, so that no text, name,
# memory, chat or space can become a label.

OTHER_LABEL = "other"  # replaces every value that is not declared
CHANGE_REFUSED = "change"  # visible to the requester, who may not change it

# The operations of a view, which `tacit.view.view` registers, and background learning.
OPERATIONS = {"learn_turn"}


def register_operations(names: Iterable[str]) -> None:
    OPERATIONS.update(names)


OUTCOMES = ("ok", "refused", "error")
LANGUAGE_FAILURES = ("unavailable", "refused", "bad_answer", "over_budget")
TASKS = (
    "backup", "consolidate", "doctor", "evict", "expire", "fade", "learn", "maintain", "purge",
    "reembed", "reflect", "summarise",
)  # fmt: skip
HISTOGRAM_BUCKETS_SECONDS = (
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, 60.0,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric:
    name: str
    kind: Literal["counter", "histogram", "gauge"]
    says: str
    unit: str = "1"
    labels: Mapping[str, Set[str]]

    def check_labels(self, words: Mapping[str, str]) -> dict[str, str]:
        """Return every label in order, with a declared value or `other`."""
        return {label: words[label] if words[label] in known else OTHER_LABEL for label, known in self.labels.items()}


def _declare(
    name: str, kind: Literal["counter", "histogram", "gauge"], says: str, unit: str = "1", **labels: Iterable[str]
) -> Metric:
    fixed: dict[str, Set[str]] = {
        # Operations are registered after this module was imported.
        label: words if words is OPERATIONS else frozenset(map(str, words))
        for label, words in labels.items()
    }
    return Metric(name=name, kind=kind, says=says, unit=unit, labels=MappingProxyType(fixed))


OPERATION_COUNT = _declare(
    "operations", "counter", "What was asked of memory",
    operation=OPERATIONS, outcome=OUTCOMES,
)  # fmt: skip
OPERATION_SECONDS = _declare("operation_seconds", "histogram", "How long it took", "s", operation=OPERATIONS)
EVENT_COUNT = _declare(
    "events", "counter", "What happened in this process",
    node=EventNode, op=EventOperation, status=EventStatus,
)  # fmt: skip
REFUSAL_COUNT = _declare(
    "refusals", "counter", "Memories that were asked for by id and refused, by disclosure rule",
    rule=[*(rule.name for rule in RULES if not rule.allows), OVERRIDDEN.rule, CHANGE_REFUSED],
)  # fmt: skip
LANGUAGE_COUNT = _declare(
    "language_questions", "counter", "Questions to a language model", outcome=("ok", *LANGUAGE_FAILURES)
)
LANGUAGE_REQUESTS = _declare(
    "language_requests", "counter", "Requests that were answered and paid for: the first, retries, repairs"
)
LANGUAGE_TOKENS = _declare("language_tokens", "counter", "Tokens sent and received", direction=("in", "out"))
LANGUAGE_COST = _declare("language_cost", "counter", "What that cost, in the currency of the prices that are set")
LANGUAGE_SECONDS = _declare("language_seconds", "histogram", "How long a question took", "s")
EMBEDDING_FAILURES = _declare(
    "embedding_failures", "counter", "Texts that no vector could be made of",
    purpose=("question", "write", "background"),
)  # fmt: skip
TASK_COUNT = _declare("task_runs", "counter", "Runs of upkeep", task=TASKS, outcome=("ok", "error"))
TASK_SECONDS = _declare("task_seconds", "histogram", "How long a step of one took", "s", task=TASKS)
QUEUE_DEPTH = _declare(
    "queue_depth", "gauge", "What waits in the database, for any process",
    of=("turns", "tasks", "updates"), state=("waiting", "parked"),
)  # fmt: skip
QUEUE_AGE = _declare("queue_age_seconds", "gauge", "How long the oldest turn has waited", "s")
MEMORY_COUNT = _declare("memories", "gauge", "Memories in the database", state=State)
EVENTS_LAST_DAY = _declare(
    "events_last_day", "gauge", "What happened in the last 24 hours, in all processes",
    node=EventNode, op=EventOperation, status=EventStatus,
)  # fmt: skip

METRICS = tuple(one for one in list(globals().values()) if isinstance(one, Metric))


# Meters. The default does nothing.

GaugeReader = Callable[[], Iterable[tuple[Mapping[str, str], float]]]  # labels and value
StopCallback = Callable[[], None]


class Meter(Protocol):
    """Safe to call from several threads. Never raises and never blocks."""

    on: bool
    """False: nothing is measured, so that callers can skip the work for it."""

    def count(self, what: Metric, amount: float = 1, **words: str) -> None:
        """Add to a counter."""
        ...

    def observe(self, what: Metric, value: float, **words: str) -> None:
        """Add a value to a histogram."""
        ...

    def watch(self, what: Metric, whose: Hashable, read: GaugeReader) -> StopCallback:
        """Register a gauge, read at each export. Of several with the same `whose`, one is read."""
        ...

    def span(self, operation: str) -> StopCallback:
        """Start a span of the current trace; the result ends it."""
        ...


def _do_nothing() -> None:
    pass


class NoMeter:
    on = False

    def count(self, what: Metric, amount: float = 1, **words: str) -> None:
        pass

    def observe(self, what: Metric, value: float, **words: str) -> None:
        pass

    def watch(self, what: Metric, whose: Hashable, read: GaugeReader) -> StopCallback:  # noqa: ARG002
        return _do_nothing

    def span(self, operation: str) -> StopCallback:  # noqa: ARG002
        return _do_nothing


NO_METER: Meter = NoMeter()


LabelValues = tuple[str, ...]  # in the order of the metric's labels


class GaugeReaders:
    """The gauges of all open memories of a process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._reads: list[tuple[Metric, Hashable, GaugeReader]] = []

    def add(self, what: Metric, whose: Hashable, read: GaugeReader) -> StopCallback:
        one = (what, whose, read)
        with self._lock:
            self._reads.append(one)

        def stop() -> None:
            with self._lock:
                self._reads[:] = [other for other in self._reads if other is not one]

        return stop

    def values(self, what: Metric) -> dict[LabelValues, float]:
        """Return the sum over different databases; skip one that fails."""
        with self._lock:
            reads = {whose: read for measure, whose, read in self._reads if measure is what}
        found: dict[LabelValues, float] = {}
        for read in reads.values():
            try:
                values = list(read())
            except TacitError:
                continue
            for words, value in values:
                key = tuple(what.check_labels(words).values())
                found[key] = found.get(key, 0.0) + value
        return found


_REFUSALS = (InvalidInput, NotFound, Conflict)


@contextmanager
def measure_operation(meter: Meter, operation: str) -> Iterator[None]:
    """Measure the duration and outcome of an operation."""
    outcome, begun = "error", time.perf_counter()
    ended = meter.span(operation)
    try:
        yield
        outcome = "ok"
    except _REFUSALS:
        outcome = "refused"
        raise
    except GeneratorExit:
        outcome = "ok"  # the caller stopped reading
        raise
    finally:
        taken = time.perf_counter() - begun
        ended()
        meter.count(OPERATION_COUNT, operation=operation, outcome=outcome)
        meter.observe(OPERATION_SECONDS, taken, operation=operation)


METRIC_EXPORTERS = ("off", "prometheus", "opentelemetry")


def create_meter(exporter: str) -> Meter:
    """Return the process-wide meter of the exporter; import only the library it needs."""
    if exporter not in METRIC_EXPORTERS:
        raise InvalidInput("metrics.exporter", f"choose one of {', '.join(METRIC_EXPORTERS)}")
    if exporter == "off":
        return NO_METER
    try:
        if exporter == "prometheus":
            from prometheus_client import REGISTRY

            from tacit.telemetry import prometheus

            return prometheus.prometheus_meter(REGISTRY)
        from opentelemetry.metrics import get_meter_provider

        from tacit.telemetry import otel

        return otel.opentelemetry_meter(get_meter_provider())
    except ImportError as error:
        raise MissingExtra("metrics", f"metrics for {exporter}") from error
