"""A real HTTP server that speaks the wire formats of both APIs, as a test tells it to.

A test gives it a script: one step for each request, and what it always does after that.
"""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Api = Literal["openai", "anthropic"]
PATHS: dict[str, Api] = {"/v1/chat/completions": "openai", "/v1/responses": "openai", "/v1/messages": "anthropic"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as it came in."""

    api: Api
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes = b""  # the body as it was sent, to the byte

    @property
    def form(self) -> str:
        """How the answer is to be given."""
        if self.body.get("tools"):
            return "tool"
        schema = self.body.get("response_format") or self.body.get("output_config")
        return "schema" if schema else "prompt"

    @property
    def said(self) -> str:
        """Everything that was written to the model."""
        return json.dumps([self.body.get("system"), self.body["messages"]], ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What goes back. The events of a bad day come on top of status, headers and body."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False  # says nothing until the test is over
    drips: bool = False  # a byte at a time, until the test is over
    endless: bool = False  # as much as the other side is willing to read
    resets: bool = False  # breaks off after half of the body
    cuts: bool = False  # promises more than it sends


Step = Reply | Callable[[Seen], Reply]


def answered(step: Step, seen: Seen) -> Reply:
    return step if isinstance(step, Reply) else step(seen)


class Endpoint(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[Step] = []
        self.always: Step = Reply(status=500)
        self.seen: list[Seen] = []
        self.strangers: list[str] = []  # paths and methods that neither API has
        self.sent_bytes = 0  # of an endless answer
        self.hung_up = threading.Event()  # the other side did not want the rest of it
        self.free = threading.Event()  # lets slow answers go at the end of a test
        self.url = f"http://127.0.0.1:{self.server_port}"

    @property
    def count(self) -> int:
        return len(self.seen) + len(self.strangers)

    def reply_to(self, path: str, headers: dict[str, str], raw: bytes) -> Reply:
        """Note a request, and take the next step of the script."""
        api = PATHS.get(path.partition("?")[0])
        if api is None:
            self.strangers.append(f"POST {path}")
            return Reply(status=404)
        seen = Seen(api=api, path=path, headers=headers, body=json.loads(raw), raw=raw)
        self.seen.append(seen)
        return answered(self.script.pop(0) if self.script else self.always, seen)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up in the middle is part of some tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or a client waits for the second half of each answer
    server: Endpoint

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._answer(self.server.reply_to(self.path, headers, raw))

    def do_GET(self) -> None:
        self.server.strangers.append(f"GET {self.path}")
        self._answer(Reply(status=404))

    def _answer(self, reply: Reply) -> None:
        told = self.server
        if reply.hangs:
            told.free.wait(60)
            self.close_connection = True
            return
        self.send_response(reply.status)
        self.send_header("content-type", "application/json")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.endless or reply.drips:
            self.send_header("connection", "close")
            self.close_connection = True
        else:
            self.send_header("content-length", str(len(reply.body) + 100 * reply.cuts))
        self.end_headers()
        if reply.endless:
            self._pour()
        elif reply.drips:
            while not told.free.wait(0.01):
                self.wfile.write(b" ")
        elif reply.resets:
            self._reset(reply.body)
        else:
            self.wfile.write(reply.body)
            self.close_connection = self.close_connection or reply.cuts

    def _pour(self) -> None:
        """Up to far more than the kernels on both sides keep, so that hanging up shows."""
        piece = b'{"choices": "' + b"x" * 100_000
        try:
            while self.server.sent_bytes < 200_000_000:
                self.wfile.write(piece)
                self.server.sent_bytes += len(piece)
        except OSError:
            self.server.hung_up.set()

    def _reset(self, body: bytes) -> None:
        self.wfile.write(body[: len(body) // 2])
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def log_message(self, *args: object) -> None:
        """Quietly."""


@contextmanager
def serving() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    with running(endpoint):
        yield endpoint


@contextmanager
def running(endpoint: Endpoint) -> Iterator[None]:
    thread = threading.Thread(target=endpoint.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        endpoint.free.set()
        endpoint.shutdown()
        thread.join()
        endpoint.server_close()
