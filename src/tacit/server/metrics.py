"""Serve the metrics of this process to Prometheus, on the loopback interface only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tacit.errors import InvalidInput, MissingExtra

LOOPBACK_ADDRESS = "127.0.0.1"
METRICS_PATH = "/metrics"


@contextmanager
def serve_metrics(port: int) -> Iterator[str]:
    """Serve metrics and yield their URL. Port 0 takes a free port."""
    try:
        from prometheus_client import start_http_server
    except ImportError as error:
        raise MissingExtra("metrics", "metrics for Prometheus") from error
    try:
        server, thread = start_http_server(port, addr=LOOPBACK_ADDRESS)
    except OSError as error:
        raise InvalidInput("port", f"{port} cannot be used: {error.strerror}") from None
    try:
        yield f"http://{LOOPBACK_ADDRESS}:{server.server_port}{METRICS_PATH}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
