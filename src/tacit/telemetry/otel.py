"""Metrics and spans through the OpenTelemetry API.

The SDK that the application configures decides where they go; without one they go nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from weakref import WeakKeyDictionary

from opentelemetry import trace
from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation
from opentelemetry.trace import SpanKind, Status, StatusCode, TracerProvider, get_tracer_provider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tacit.telemetry.metrics import HISTOGRAM_BUCKETS_SECONDS, METRICS, GaugeReader, GaugeReaders, Metric, StopCallback


class OpenTelemetryMeter:
    """One per provider, because an instrument can be created only once."""

    on = True

    def __init__(self, provider: MeterProvider) -> None:
        meter = provider.get_meter("tacit")
        self._watches = GaugeReaders()
        self._counters = {
            one: meter.create_counter(_metric_name(one), one.unit, one.says) for one in METRICS if one.kind == "counter"
        }
        self._histograms = {
            one: meter.create_histogram(
                _metric_name(one), one.unit, one.says, explicit_bucket_boundaries_advisory=HISTOGRAM_BUCKETS_SECONDS
            )
            for one in METRICS
            if one.kind == "histogram"
        }
        self._gauges = [
            meter.create_observable_gauge(_metric_name(one), [self._reading(one)], one.unit, one.says)
            for one in METRICS
            if one.kind == "gauge"
        ]

    def count(self, what: Metric, amount: float = 1, **words: str) -> None:
        self._counters[what].add(amount, what.check_labels(words))

    def observe(self, what: Metric, value: float, **words: str) -> None:
        self._histograms[what].record(value, what.check_labels(words))

    def watch(self, what: Metric, whose: Hashable, read: GaugeReader) -> StopCallback:
        return self._watches.add(what, whose, read)

    def span(self, operation: str) -> StopCallback:
        # Not set as the current span: a generator may continue in another thread.
        return get_tracer_provider().get_tracer("tacit").start_span(operation).end

    def _reading(self, what: Metric) -> Callable[[CallbackOptions], Iterable[Observation]]:
        watches = self._watches

        def read(_: CallbackOptions) -> Iterable[Observation]:
            for words, value in sorted(watches.values(what).items()):
                yield Observation(value, dict(zip(what.labels, words, strict=True)))

        return read


def _metric_name(what: Metric) -> str:
    return f"tacit.{what.name}"


_METERS: WeakKeyDictionary[MeterProvider, OpenTelemetryMeter] = WeakKeyDictionary()
_METERS_LOCK = Lock()


def opentelemetry_meter(provider: MeterProvider) -> OpenTelemetryMeter:
    """Return the meter of a provider; create it at the first call."""
    with _METERS_LOCK:
        if provider not in _METERS:
            _METERS[provider] = OpenTelemetryMeter(provider)
        return _METERS[provider]


class OpenTelemetrySpan:
    def __init__(self, span: trace.Span, method: str) -> None:
        self._span = span
        self._method = method

    def ended(self, route: str, status: int | None) -> None:
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attribute("http.route", route)
        if status is None:
            return
        self._span.set_attribute("http.response.status_code", status)
        if status >= 500:
            self._span.set_status(Status(StatusCode.ERROR))


class OpenTelemetryTracer:
    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("tacit")
        self._parents = TraceContextTextMapPropagator()

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Iterator[OpenTelemetrySpan]:
        with self._tracer.start_as_current_span(
            method,
            context=self._parents.extract(headers),
            kind=SpanKind.SERVER,
            attributes={"http.request.method": method},
            # The text of an exception may contain user content.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            yield OpenTelemetrySpan(span, method)
