"""`tacit serve` as a process of its own, asked over real connections."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

TACIT = [sys.executable, "-m", "tacit.cli"]
PATIENCE_SECONDS = 60.0
_LOOK_SECONDS = 0.02


@dataclass(frozen=True, kw_only=True)
class Serving:
    process: subprocess.Popen[bytes]
    log: Path
    url: str

    def lines(self) -> list[dict[str, Any]]:
        """What it has written by now, whole lines only."""
        return [json.loads(one) for one in self.log.read_text().split("\n")[:-1]]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_SECONDS)

    def asking(self, **headers: str) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, headers=headers, timeout=PATIENCE_SECONDS)


@contextmanager
def serving(url: str, *argv: str, env: Mapping[str, str] | None = None) -> Iterator[Serving]:
    """Until the end of the block, or until it was stopped there. Its log stays."""
    with tempfile.TemporaryDirectory(prefix="tacit-serving-") as folder:
        log = Path(folder) / "log"
        with log.open("wb") as lines:
            process = subprocess.Popen(
                [*TACIT, "serve", "--db", url, "--port", "0", *argv],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=lines,
                env={**os.environ, **(env or {})},
            )
        try:
            yield Serving(process=process, log=log, url=_address(process, log))
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(PATIENCE_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise
            process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    def told() -> str | None:
        if process.poll() is not None:
            raise RuntimeError(f"it did not start: {log.read_text()}")
        written = log.read_text().split("\n")[:-1]
        return json.loads(written[0])["address"] if written else None

    return str(until(told))


class Slow:
    """One request that has begun for sure: the server asked for its body, which comes later."""

    def __init__(self, served: Serving, path: str, body: object) -> None:
        host, port = served.url.removeprefix("http://").split(":")
        self._body = json.dumps(body).encode()
        self._socket = socket.create_connection((host, int(port)), PATIENCE_SECONDS)
        self._socket.sendall(
            f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(self._body)}\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        begun = self._socket.recv(4_096)
        assert begun.startswith(b"HTTP/1.1 100 "), begun

    def go_on(self) -> None:
        self._socket.sendall(self._body)

    def hang_up(self) -> None:
        self._socket.close()

    def answer(self) -> bytes:
        """Whatever came until the server closed the connection."""
        with self._socket as connection:
            return b"".join(iter(lambda: connection.recv(65_536), b""))


def until(found: Any) -> Any:
    """Looks again and again, for as long as it takes; what never comes is a failure."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if value := found():
            return value
        time.sleep(_LOOK_SECONDS)
    raise TimeoutError("it never came")
