"""Responses that are sent in chunks while they are produced."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

CHUNK_BYTES = 65_536
_log = logging.getLogger("tacit.rest")


class StreamAborted(Exception):
    """A response that cannot be finished: the connection is cut, so that it is not taken for whole."""


class LineResponse(Response):
    """Lines of text. The first chunk is made at once, so that an error is still a problem."""

    def __init__(self, lines: Iterator[str], media_type: str) -> None:
        super().__init__(media_type=media_type)
        del self.headers["content-length"]
        self._lines = lines
        self._first_chunk = self._next_chunk()

    def _next_chunk(self) -> bytes:
        parts: list[bytes] = []
        size = 0
        for line in self._lines:
            parts.append(line.encode() + b"\n")
            size += len(parts[-1])
            if size >= CHUNK_BYTES:
                break
        return b"".join(parts)

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **start})
        gone = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await self._send_chunks(send, gone)
        finally:
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)

    async def _send_chunks(self, send: Send, gone: asyncio.Task[None]) -> None:
        part = self._first_chunk
        while part:
            await send({"type": "http.response.body", "body": part, "more_body": True})
            try:
                part = await run_in_threadpool(self._next_chunk)
            except Exception as error:  # noqa: BLE001 (cut short)
                _log.error("%s in the middle of an answer", type(error).__name__)
                raise StreamAborted from None
            if gone.done():
                raise ClientDisconnect  # sending does not raise by itself
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
