"""One span for each request that is served, under the caller's own if they sent one. A span tells
what a log line tells: never a path with an id, a header or a word that somebody wrote."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from tacit.errors import MissingExtra


class Span(Protocol):
    def ended(self, route: str, status: int | None) -> None:
        """The route is a template, as in /api/memory/{id}."""
        ...


class Spans(Protocol):
    def request(self, method: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]: ...


class NoSpan:
    def ended(self, route: str, status: int | None) -> None:
        pass


class NoSpans:
    def request(
        self,
        method: str,  # noqa: ARG002
        headers: Mapping[str, str],  # noqa: ARG002
    ) -> AbstractContextManager[Span]:
        return nullcontext(NoSpan())


def spans(exporter: str) -> Spans:
    """Those of this process; whoever asks for OpenTelemetry gets them with its measures."""
    if exporter != "opentelemetry":
        return NoSpans()
    try:
        from opentelemetry.trace import get_tracer_provider

        from tacit.telemetry import otel_spans
    except ImportError as error:
        raise MissingExtra("metrics", "traces for opentelemetry") from error
    return otel_spans.OpenTelemetrySpans(get_tracer_provider())
