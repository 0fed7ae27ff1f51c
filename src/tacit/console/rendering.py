"""Render templates, and serve styles and scripts from memory."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import Response

from tacit.console import labels
from tacit.console.requests import SECURITY_HEADERS

# Styles and scripts are read once and served from memory, so no request reads a path. Their URLs
# contain a hash of all of them, so browsers may cache them forever.

ASSET_PATH = "/assets/{stamp}/{name}"
_CONTENT_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_CACHE_FOREVER = "public, max-age=31536000, immutable"
_REVALIDATE = "no-cache"
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
        """Return the URL of an asset; raise LookupError if it does not exist."""
        if name not in self._found:
            raise LookupError(name)
        return ASSET_PATH.format(stamp=self._stamp, name=name)

    async def respond(self, request: Request) -> Response:
        one = self._found.get(request.path_params["name"])
        if one is None:
            return Response(status_code=404, headers=SECURITY_HEADERS)
        # A page of an older version gets the current file and must not cache it under its hash.
        current = request.path_params["stamp"] == self._stamp
        headers = {
            **SECURITY_HEADERS,
            "Cache-Control": _CACHE_FOREVER if current else _REVALIDATE,
            "Content-Type": one.type,
            "ETag": one.etag,
            "Vary": "Accept-Encoding",
        }
        if request.headers.get("if-none-match") == one.etag:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(one.content, headers=headers)
        return Response(one.compressed, headers={**headers, "Content-Encoding": "gzip"})


def load_assets() -> Assets:
    folder = files("tacit.console") / "assets"
    found = {}
    for file in folder.iterdir():
        _, dot, end = file.name.rpartition(".")
        if dot + end in _CONTENT_TYPES:
            content = file.read_bytes()
            found[file.name] = Asset(
                content=content,
                compressed=gzip.compress(content, mtime=0),
                type=_CONTENT_TYPES[dot + end],
                etag=f'"{hashlib.sha256(content).hexdigest()[:32]}"',
            )
    return Assets(found)


class TemplateRenderer:
    """Render Jinja templates with escaping on: text that people wrote is never markup."""

    def __init__(self, assets: Assets) -> None:
        self._environment = Environment(
            loader=PackageLoader("tacit.console", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.globals.update(asset=assets.url, labels=labels)
        self._environment.filters.update(
            age=labels.format_age,
            full=labels.format_date_time,
            stamp=labels.format_iso,
            flat=labels.single_line,
            excerpt=labels.excerpt,
            problem=labels.error_sentence,
        )

    def render(self, template: str, values: Mapping[str, Any]) -> str:
        return self._environment.get_template(template).render(values)
