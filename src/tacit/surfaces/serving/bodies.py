"""The body of a request, read as long as it is no larger than it may be."""

from __future__ import annotations

from starlette.requests import ClientDisconnect, Request

_LENGTH = "content-length"


async def body(request: Request, most_bytes: int) -> bytes | None:
    """None: it is larger, or whoever sent it has gone. Counted while it is read, whatever its
    headers say."""
    promised = request.headers.get(_LENGTH, "")
    if promised.isdecimal() and int(promised[:18]) > most_bytes:
        return None
    found = bytearray()
    try:
        async for piece in request.stream():
            found += piece
            if len(found) > most_bytes:
                return None
    except ClientDisconnect:
        return None
    return bytes(found)
