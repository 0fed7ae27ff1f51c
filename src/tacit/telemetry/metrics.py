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

# Everything that is measured, declared once. A label has one of a fixed set of words: nothing that
# people write, and nothing that names them, a memory, a chat or a space, can come into one.

OTHER_LABEL = "other"  # stands for every word that is not declared
CHANGE_REFUSED = "change"  # may be heard, and still not be changed by whoever asked

# The operations of a view, which `tacit.view.table` registers, and learning one turn in the
# background.
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
    0.0005,
    0.001,
    0.002,
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    1.0,
    2.0,
    5.0,
    20.0,
    60.0,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric:
    name: str
    kind: Literal["counter", "histogram", "gauge"]
    says: str
    unit: str = "1"
    labels: Mapping[str, Set[str]]

    def check_labels(self, words: Mapping[str, str]) -> dict[str, str]:
        """Every label in its order, with a declared word or `other`."""
        return {
            label: words[label] if words[label] in known else OTHER_LABEL
            for label, known in self.labels.items()
        }


def _declare(
    name: str,
    kind: Literal["counter", "histogram", "gauge"],
    says: str,
    unit: str = "1",
    **labels: Iterable[str],
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
OPERATION_SECONDS = _declare(
    "operation_seconds", "histogram", "How long it took", "s", operation=OPERATIONS
)
EVENT_COUNT = _declare(
    "events", "counter", "What happened in this process",
    node=EventNode, op=EventOperation, status=EventStatus,
)  # fmt: skip
REFUSAL_COUNT = _declare(
    "refusals", "counter", "Memories that were asked for by id and refused, by disclosure rule",
    rule=[*(rule.name for rule in RULES if not rule.allows), OVERRIDDEN.rule, CHANGE_REFUSED],
)  # fmt: skip
LANGUAGE_COUNT = _declare(
    "language_questions",
    "counter",
    "Questions to a language model",
    outcome=("ok", *LANGUAGE_FAILURES),
)
LANGUAGE_REQUESTS = _declare(
    "language_requests",
    "counter",
    "Requests that were answered and paid for: the first, retries, repairs",
)
LANGUAGE_TOKENS = _declare(
    "language_tokens", "counter", "Tokens sent and received", direction=("in", "out")
)
LANGUAGE_COST = _declare(
    "language_cost", "counter", "What that cost, in the currency of the prices that are set"
)
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


# What the rest needs from a meter. The default does nothing.

GaugeReader = Callable[[], Iterable[tuple[Mapping[str, str], float]]]  # label → word, and the value
StopCallback = Callable[[], None]


class Meter(Protocol):
    """Safe to call from several threads; never raises, and never waits for anybody."""

    on: bool
    """False: nothing is measured, and whoever would have to work for it need not."""

    def count(self, what: Metric, amount: float = 1, **words: str) -> None:
        """Add to a counter."""
        ...

    def observe(self, what: Metric, value: float, **words: str) -> None:
        """One value of a histogram."""
        ...

    def watch(self, what: Metric, whose: Hashable, read: GaugeReader) -> StopCallback:
        """A gauge is read when somebody looks. Of several with one `whose`, one is."""
        ...

    def span(self, operation: str) -> StopCallback:
        """A part of the trace that is being made, until it is stopped."""
        ...


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


def _do_nothing() -> None:
    pass


NO_METER: Meter = NoMeter()


# Gauges that several open memories of one process share.

LabelValues = tuple[str, ...]  # in the order of the measure's labels


class GaugeReaders:
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
        """Those of different databases add up; one that does not answer tells nothing."""
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


# How long something took, and how it ended.

_REFUSALS = (InvalidInput, NotFound, Conflict)


@contextmanager
def measure_operation(meter: Meter, operation: str) -> Iterator[None]:
    outcome, begun = "error", time.perf_counter()
    ended = meter.span(operation)
    try:
        yield
        outcome = "ok"
    except _REFUSALS:
        outcome = "refused"
        raise
    except GeneratorExit:
        outcome = "ok"  # whoever reads has had enough
        raise
    finally:
        taken = time.perf_counter() - begun
        ended()
        meter.count(OPERATION_COUNT, operation=operation, outcome=outcome)
        meter.observe(OPERATION_SECONDS, taken, operation=operation)


# Which meter the settings ask for. Each library is imported only when it is the one.

METRIC_EXPORTERS = ("off", "prometheus", "opentelemetry")


def create_meter(exporter: str) -> Meter:
    """That of this process: every memory it opens is measured by the same one."""
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
