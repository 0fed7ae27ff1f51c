"""Spans through the OpenTelemetry API. Where they go is decided by the SDK that is set up; without
one, nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_FAILED = 500  # from this status on, the request is ours to worry about


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
        if status >= _FAILED:
            self._span.set_status(Status(StatusCode.ERROR))


class OpenTelemetrySpans:
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
            # The text of an exception may hold what somebody said.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            yield OpenTelemetrySpan(span, method)
