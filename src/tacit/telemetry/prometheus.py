"""Metrics for Prometheus through its client library."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from threading import Lock
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily

from tacit.telemetry.metrics import HISTOGRAM_BUCKETS_SECONDS, METRICS, GaugeReader, GaugeReaders, Metric, StopCallback

_GAUGE_METRICS = tuple(one for one in METRICS if one.kind == "gauge")


class PrometheusMeter:
    """One per registry, because a name can be registered only once."""

    on = True

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._watches = GaugeReaders()
        self._counters = {
            one: Counter(_metric_name(one), one.says, tuple(one.labels), registry=registry)
            for one in METRICS
            if one.kind == "counter"
        }
        self._histograms = {
            one: Histogram(
                _metric_name(one), one.says, tuple(one.labels), registry=registry, buckets=HISTOGRAM_BUCKETS_SECONDS
            )
            for one in METRICS
            if one.kind == "histogram"
        }
        registry.register(_GaugeCollector(self._watches))

    def count(self, what: Metric, amount: float = 1, **words: str) -> None:
        counter = self._counters[what]
        (counter.labels(**what.check_labels(words)) if what.labels else counter).inc(amount)

    def observe(self, what: Metric, value: float, **words: str) -> None:
        histogram = self._histograms[what]
        (histogram.labels(**what.check_labels(words)) if what.labels else histogram).observe(value)

    def watch(self, what: Metric, whose: Hashable, read: GaugeReader) -> StopCallback:
        return self._watches.add(what, whose, read)

    def span(self, operation: str) -> StopCallback:  # noqa: ARG002 (Prometheus has no traces)
        return lambda: None

    def text(self) -> str:
        """Return the exposition text."""
        return generate_latest(self._registry).decode()


class _GaugeCollector:
    """Read the gauges at each scrape."""

    def __init__(self, watches: GaugeReaders) -> None:
        self._watches = watches

    def describe(self) -> Iterator[GaugeMetricFamily]:
        for one in _GAUGE_METRICS:
            yield GaugeMetricFamily(_metric_name(one), one.says, labels=tuple(one.labels))

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for one, family in zip(_GAUGE_METRICS, self.describe(), strict=True):
            for words, value in sorted(self._watches.values(one).items()):
                family.add_metric(words, value)
            yield family


def _metric_name(what: Metric) -> str:
    return f"tacit_{what.name}"


_METERS: WeakKeyDictionary[CollectorRegistry, PrometheusMeter] = WeakKeyDictionary()
_METERS_LOCK = Lock()


def prometheus_meter(registry: CollectorRegistry) -> PrometheusMeter:
    """Return the meter of a registry; create it at the first call."""
    with _METERS_LOCK:
        if registry not in _METERS:
            _METERS[registry] = PrometheusMeter(registry)
        return _METERS[registry]
