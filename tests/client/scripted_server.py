"""A real HTTP server that answers a client as a test tells it to, and notes what it was asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tacit import wire
from tacit.errors import TacitError

DONE = {"id": "abcd1234", "state": "active", "version": 1, "created": True, "supersedes": None}
STATS = {"memories": 3, "by_state": {}, "by_kind": {}, "by_category": {}}


@dataclass(frozen=True)
class Reply:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    cut: bool = False  # hangs up before the end that it told of
    waits: bool = False  # says nothing until the test is over


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Paused:
    """Waits for nothing, and notes for how long it would have."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def says(value: object, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), status)


def refuses(error: TacitError, **headers: str) -> Reply:
    return problem(wire.problem_from_error(error, "r1"), **headers)


def problem(told: dict[str, Any], **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {"content-type": wire.PROBLEM_CONTENT_TYPE, **named}
    return Reply(json.dumps(told).encode(), told["status"], sent)


class FarSide(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[Reply] = []
        self.always = says(STATS)
        self.asked: list[Asked] = []
        self.over = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up in the middle is part of some tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or a client waits for the second half of each answer
    server: FarSide

    def answer(self) -> None:
        told = self.server
        headers = {name.lower(): value for name, value in self.headers.items()}
        told.asked.append(Asked(self.command, self.path, headers, self.read(headers)))
        reply = told.script.pop(0) if told.script else told.always
        if reply.waits:
            told.over.wait(60)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body) + (10 if reply.cut else 0)))
        self.end_headers()
        self.wfile.write(reply.body)
        self.close_connection = reply.cut

    do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 (its names for them)

    def read(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(headers.get("content-length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def log_message(self, *args: object) -> None:
        """Quietly."""


@contextmanager
def answering() -> Iterator[FarSide]:
    server = FarSide()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
