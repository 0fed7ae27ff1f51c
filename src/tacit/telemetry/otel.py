"""Measures through the OpenTelemetry API. Where they go is decided by the SDK that the application
sets up; without one, nowhere."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from threading import Lock
from weakref import WeakKeyDictionary

from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation
from opentelemetry.trace import get_tracer_provider

from tacit.telemetry.measures import MEASURES, SECONDS, Measure
from tacit.telemetry.port import Read, Stop
from tacit.telemetry.watching import Watches


class OpenTelemetryMeter:
    """One for each provider: instruments of one name are made once."""

    on = True

    def __init__(self, provider: MeterProvider) -> None:
        meter = provider.get_meter("tacit")
        self._watches = Watches()
        self._counters = {
            one: meter.create_counter(_name(one), one.unit, one.says)
            for one in MEASURES
            if one.kind == "counter"
        }
        self._histograms = {
            one: meter.create_histogram(
                _name(one), one.unit, one.says, explicit_bucket_boundaries_advisory=SECONDS
            )
            for one in MEASURES
            if one.kind == "histogram"
        }
        self._gauges = [
            meter.create_observable_gauge(_name(one), [self._reading(one)], one.unit, one.says)
            for one in MEASURES
            if one.kind == "gauge"
        ]

    def count(self, what: Measure, amount: float = 1, **words: str) -> None:
        self._counters[what].add(amount, what.check_labels(words))

    def observe(self, what: Measure, value: float, **words: str) -> None:
        self._histograms[what].record(value, what.check_labels(words))

    def watch(self, what: Measure, whose: Hashable, read: Read) -> Stop:
        return self._watches.add(what, whose, read)

    def span(self, operation: str) -> Stop:
        # Not the current one for what is within: a reader may go on in another thread.
        return get_tracer_provider().get_tracer("tacit").start_span(operation).end

    def _reading(self, what: Measure) -> Callable[[CallbackOptions], Iterable[Observation]]:
        watches = self._watches

        def read(_: CallbackOptions) -> Iterable[Observation]:
            for words, value in sorted(watches.values(what).items()):
                yield Observation(value, dict(zip(what.labels, words, strict=True)))

        return read


def _name(what: Measure) -> str:
    return f"tacit.{what.name}"


_METERS: WeakKeyDictionary[MeterProvider, OpenTelemetryMeter] = WeakKeyDictionary()
_MAKING = Lock()


def meter_of(provider: MeterProvider) -> OpenTelemetryMeter:
    """That of a provider, whoever opened a memory first."""
    with _MAKING:
        if provider not in _METERS:
            _METERS[provider] = OpenTelemetryMeter(provider)
        return _METERS[provider]
