"""What a route answers with: a value of the library, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.responses import Response

from tacit.surfaces.wire.values import encode

JSON = "application/json"
NDJSON = "application/x-ndjson"


def answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Any value of the public API, as `surfaces.wire` tells it."""
    return plain(encode(value), status, headers)


def plain(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """What is JSON already."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(written.encode(), status, headers, JSON)


def nothing() -> Response:
    return Response(status_code=204)


def etag(version: int) -> str:
    return f'"v{version}"'
