"""One span for each request, and below it one for what the library did: real spans, read by a real
SDK."""

import asyncio
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tacit.bootstrap import request_spans
from tacit.server.app import create_app
from tacit.server.logs import RequestLogMiddleware, ServerLog
from tacit.settings import LearnSettings, MetricsSettings, Settings
from tests.telemetry.conftest import Measured

CANARY = "zqcanary"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SETTINGS = Settings(metrics=MetricsSettings(exporter="opentelemetry"), learn=LearnSettings(workers=0))


@pytest.fixture(scope="module")
def exported() -> InMemorySpanExporter:
    """A process has one provider of spans, whoever sets it first."""
    exporter = InMemorySpanExporter()
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider(shutdown_on_exit=False)
        trace.set_tracer_provider(provider)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


@pytest.fixture
def watched(measured: Measured, reader: InMemoryMetricReader, exported: InMemorySpanExporter) -> RequestLogMiddleware:
    """Of a memory that is measured as well: the reader is there first, as everywhere here."""
    exported.clear()
    made = create_app(measured("opentelemetry", settings=SETTINGS), SETTINGS, local=True)
    return RequestLogMiddleware(made, ServerLog("json"), request_spans(SETTINGS))


def ask(watched: RequestLogMiddleware, path: str, *, method: str = "GET", **headers: str) -> int:
    """One request without a server; a lifespan is not needed for what is asked here."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": f"limit=1&x={CANARY}".encode() if "limited" in headers else b"",
        "root_path": "",
        "headers": [(b"host", b"localhost"), *((name.encode(), value.encode()) for name, value in headers.items())],
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 9),
    }
    asyncio.run(watched(scope, receive, send))
    return int(sent[0]["status"])


def test_a_request_is_a_span_under_that_of_whoever_asked(
    watched: RequestLogMiddleware, exported: InMemorySpanExporter
) -> None:
    assert ask(watched, f"/api/memory/{CANARY}", traceparent=PARENT, strange=CANARY) == 404
    request = _named(exported, "GET /api/memory/{id}")
    assert request.kind is trace.SpanKind.SERVER
    assert request.parent is not None
    assert format(request.context.trace_id, "032x") == PARENT.split("-")[1]
    assert dict(request.attributes or {}) == {
        "http.request.method": "GET",
        "http.route": "/api/memory/{id}",
        "http.response.status_code": 404,
    }
    below = [one for one in exported.get_finished_spans() if one is not request]
    assert [one.name for one in below] == ["show"]
    assert below[0].parent is not None
    assert below[0].parent.span_id == request.context.span_id
    assert CANARY not in "".join(one.to_json() for one in exported.get_finished_spans())


def test_what_nobody_has_a_route_for_is_not_repeated(
    watched: RequestLogMiddleware, exported: InMemorySpanExporter
) -> None:
    assert ask(watched, f"/{CANARY}", method=CANARY.upper(), limited="1") == 404
    assert _named(exported, "other none").attributes is not None
    assert CANARY not in "".join(one.to_json() for one in exported.get_finished_spans()).lower()


def test_without_opentelemetry_there_are_no_spans() -> None:
    quiet = request_spans(Settings())
    with quiet.request("GET", {"traceparent": PARENT}) as span:
        span.ended("/api/memory/", 200)
        assert not trace.get_current_span().is_recording()


def _named(exported: InMemorySpanExporter, name: str) -> ReadableSpan:
    (found,) = [one for one in exported.get_finished_spans() if one.name == name]
    return found
