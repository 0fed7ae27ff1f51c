"""A real HTTP server that answers as a test tells it to, and remembers what it was asked."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Question = dict[str, Any]


class Reply:
    """What goes back: a status, headers, and a body in parts."""

    def __init__(
        self,
        body: object = b"",
        *,
        status: int = 200,
        headers: dict[str, str] | None = None,
        wait_for: threading.Event | None = None,
        sized: bool = True,
        drips: bool = False,
    ) -> None:
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status = status
        self.headers = headers or {}
        self.wait_for = wait_for
        self.sized = sized
        self.drips = drips


Step = Reply | Callable[[Question], Reply]


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[Step] = []
        self.always: Step = good
        self.questions: list[Question] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.free = threading.Event()  # lets slow answers go at the end of a test
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up in the middle is part of some tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or a client waits for the second half of each answer
    server: Server

    def do_POST(self) -> None:
        size = int(self.headers["content-length"])
        question = json.loads(self.rfile.read(size))
        told = self.server
        told.questions.append(question)
        told.paths.append(self.path)
        told.keys.append(self.headers.get("authorization"))
        step = told.script.pop(0) if told.script else told.always
        reply = step if isinstance(step, Reply) else step(question)
        if reply.wait_for is not None:
            reply.wait_for.wait(60)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.sized:
            self.send_header("content-length", str(len(reply.body)))
        else:
            self.send_header("connection", "close")
            self.close_connection = True
        self.end_headers()
        while reply.drips and not told.free.wait(0.01):
            self.wfile.write(b" ")
        self.wfile.write(reply.body)

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Quietly."""


def vector(text: str, dimension: int = 4) -> list[float]:
    """Not of length 1, and different for different texts."""
    return [float(sum(text.encode()) % (7 + place)) + 1 for place in range(dimension)]


def items(question: Question) -> list[dict[str, Any]]:
    dimension = question.get("dimensions", 4)
    return [
        {"object": "embedding", "index": index, "embedding": vector(text, dimension)}
        for index, text in enumerate(question["input"])
    ]


def answer(data: object) -> Reply:
    usage = {"prompt_tokens": 8, "total_tokens": 8}
    return Reply({"object": "list", "data": data, "model": "tiny", "usage": usage})


def good(question: Question) -> Reply:
    return answer(items(question))


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.free.set()
        server.shutdown()
        thread.join()
        server.server_close()
