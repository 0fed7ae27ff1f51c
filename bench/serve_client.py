"""A caller that costs little beside the server it asks: connections that stay open, in one loop."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


class HungUp(ConnectionError):
    """The other side is gone in the middle of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    method: str
    path: str
    headers: dict[str, str]
    body: object = None

    def raw(self, host: str) -> bytes:
        sent = b"" if self.body is None else json.dumps(self.body).encode()
        lines = [f"{self.method} {self.path} HTTP/1.1", f"host: {host}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        if self.body is not None:
            lines += ["content-type: application/json", f"content-length: {len(sent)}"]
        return "\r\n".join([*lines, "", ""]).encode() + sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    status: int
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Connection:
    def __init__(self, url: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        self._where = (host, int(port))
        self._host = f"{host}:{port}"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, what: Ask) -> Answered:
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._where)
        reader, writer = self._streams
        writer.write(what.raw(self._host))
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = next((int(one[15:]) for one in head.split("\r\n") if one.startswith("content-length:")), 0)
            body = await reader.readexactly(length) if length else b""
        except (asyncio.IncompleteReadError, OSError) as error:
            self.close()
            raise HungUp from error
        return Answered(status=int(head.split(" ", 2)[1]), body=body)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What so many connections got done, each one request after the other."""

    connections: int
    seconds: float
    took: tuple[float, ...]  # seconds of each request, in order of length
    errors: int

    @property
    def per_second(self) -> float:
        return len(self.took) / self.seconds

    def slowest(self, share: float) -> float:
        """Milliseconds within which this share of them was answered."""
        return self.took[min(len(self.took) - 1, int(len(self.took) * share))] * 1_000


def load(url: str, asks: Iterator[Ask], *, connections: int, count: int) -> Measured:
    return asyncio.run(_load(url, asks, connections, count))


async def _load(url: str, asks: Iterator[Ask], connections: int, count: int) -> Measured:
    took: list[float] = []
    errors = 0
    left = count

    async def work() -> None:
        nonlocal errors, left
        connection = Connection(url)
        while left > 0:
            left -= 1
            begun = time.perf_counter()
            answered = await connection.ask(next(asks))
            took.append(time.perf_counter() - begun)
            errors += answered.status >= 400
        connection.close()

    begun = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(connections)))
    return Measured(
        connections=connections, seconds=time.perf_counter() - begun, took=tuple(sorted(took)), errors=errors
    )
