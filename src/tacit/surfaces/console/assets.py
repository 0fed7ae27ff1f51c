"""Styles and scripts, read once and handed out from memory: there is no path to walk.

Their address holds a stamp of all of them, so that browsers keep them for as long as they like.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from tacit.surfaces.console.headers import SECURITY

PATH = "/assets/{stamp}/{name}"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOR_EVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"
_STAMP_CHARS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    content: bytes
    compressed: bytes
    type: str
    etag: str


class Assets:
    def __init__(self, found: Mapping[str, Asset]) -> None:
        self._found = found
        every = "".join(f"{name}{one.etag}" for name, one in sorted(found.items()))
        self._stamp = hashlib.sha256(every.encode()).hexdigest()[:_STAMP_CHARS]

    def url(self, name: str) -> str:
        """Of one that there is: a template that names another is wrong."""
        if name not in self._found:
            raise LookupError(name)
        return PATH.format(stamp=self._stamp, name=name)

    async def respond(self, request: Request) -> Response:
        one = self._found.get(request.path_params["name"])
        if one is None:
            return Response(status_code=404, headers=SECURITY)
        # Whoever holds a page of the version before gets what there is now, and does not keep it.
        current = request.path_params["stamp"] == self._stamp
        headers = {
            **SECURITY,
            "Cache-Control": _FOR_EVER if current else _ASK_AGAIN,
            "Content-Type": one.type,
            "ETag": one.etag,
            "Vary": "Accept-Encoding",
        }
        if request.headers.get("if-none-match") == one.etag:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(one.content, headers=headers)
        return Response(one.compressed, headers={**headers, "Content-Encoding": "gzip"})


def read() -> Assets:
    folder = files("tacit.surfaces.console") / "assets"
    found = {}
    for file in folder.iterdir():
        _, dot, end = file.name.rpartition(".")
        if dot + end in _TYPES:
            found[file.name] = _asset(file.read_bytes(), _TYPES[dot + end])
    return Assets(found)


def _asset(written: bytes, kind: str) -> Asset:
    return Asset(
        content=written,
        compressed=gzip.compress(written, mtime=0),
        type=kind,
        etag=f'"{hashlib.sha256(written).hexdigest()[:32]}"',
    )
