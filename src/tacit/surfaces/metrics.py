"""The measures of this process where Prometheus can scrape them: on this machine alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tacit.errors import InvalidInput, MissingExtra

LOOPBACK = "127.0.0.1"
PATH = "/metrics"


@contextmanager
def serving(port: int) -> Iterator[str]:
    """The address, for as long as it is served. Port 0: one that is free."""
    try:
        from prometheus_client import start_http_server
    except ImportError as error:
        raise MissingExtra("metrics", "metrics for Prometheus") from error
    try:
        server, thread = start_http_server(port, addr=LOOPBACK)
    except OSError as error:
        raise InvalidInput("port", f"{port} cannot be used: {error.strerror}") from None
    try:
        yield f"http://{LOOPBACK}:{server.server_port}{PATH}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
