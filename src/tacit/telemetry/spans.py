"""One trace span for each request that the server handles."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from tacit.errors import MissingExtra


class RequestSpan(Protocol):
    def ended(self, route: str, status: int | None) -> None:
        """End the span. The route is a template such as /api/memory/{id}."""
        ...


class RequestTracer(Protocol):
    def request(self, method: str, headers: Mapping[str, str]) -> AbstractContextManager[RequestSpan]: ...


class NoRequestSpan:
    def ended(self, route: str, status: int | None) -> None:
        pass


class NoRequestTracer:
    def request(
        self,
        method: str,  # noqa: ARG002
        headers: Mapping[str, str],  # noqa: ARG002
    ) -> AbstractContextManager[RequestSpan]:
        return nullcontext(NoRequestSpan())


def create_tracer(exporter: str) -> RequestTracer:
    """Return the tracer of the exporter; only `opentelemetry` has traces."""
    if exporter != "opentelemetry":
        return NoRequestTracer()
    try:
        from opentelemetry.trace import get_tracer_provider

        from tacit.telemetry import otel
    except ImportError as error:
        raise MissingExtra("metrics", "traces for opentelemetry") from error
    return otel.OpenTelemetryTracer(get_tracer_provider())
