"""The OpenAPI document: what FastAPI finds in the routes, and what it cannot know."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI

from tacit import limits
from tacit.settings import Settings, category_names
from tacit.surfaces.access.admission import LOCAL_SCOPES
from tacit.surfaces.rest import headers, wording
from tacit.surfaces.rest.asking import OR_LOCAL, READS, SCOPE
from tacit.surfaces.rest.bodies import DOCUMENT
from tacit.surfaces.rest.routes import HEADERS, MEDIA, SENDS, WRITES
from tacit.surfaces.wire import problems

ABOUT = """Long-term memory for agents that knows what to leave unsaid.

Every request names who asks and where, and gets what may be said to them there. A key is bound to
one person, or it acts for others (`act-as`) and vouches for them with the `X-Tacit-…` headers,
whose values are percent-encoded UTF-8. What is absent and what is not for the caller look alike."""
KEY = "key"
PROBLEM = "Problem"
Document = dict[str, Any]
_SENT: Document = {
    "ETag": "The version, as If-Match takes it.",
    "Location": "Where it is from now on.",
    "Retry-After": "In how many seconds to ask again.",
    "WWW-Authenticate": "How to say who asks: Bearer.",
    "X-Request-Id": "What to name when asking about this request.",
}
_SENT_WITH = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}
_PROBLEM: Document = {
    "type": "object",
    "description": "What went wrong (RFC 9457).",
    "properties": {
        "type": {"type": "string", "pattern": f"^{problems.URN}[a-z-]+$"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What was wrong, and what to do."},
        "request_id": {"type": "string"},
        "field": {"type": "string", "description": "Of what was sent."},
        "suggestion": {"type": "object", "description": "The memory to update instead."},
    },
    "required": ["type", "title", "status", "request_id"],
}
_LINES = (
    "An object of JSON in each line: at most "
    f"{limits.IMPORT_REQUEST_WORDINGS_MAX_COUNT} memories, each version counted, and "
    f"{limits.IMPORT_REQUEST_MAX_CHARS:,} characters in all."
)


def describe(app: FastAPI, settings: Settings, *, local: bool) -> None:
    """`local`: some routes answer without a key."""
    made: list[Document] = []
    by_fastapi = app.openapi

    def document() -> Document:
        if not made:
            made.append(_finished(by_fastapi(), category_names(settings), local))
        return made[0]

    app.openapi = document  # type: ignore[method-assign]


def _finished(found: Document, categories: Sequence[str], local: bool) -> Document:
    components = found.setdefault("components", {})
    components["securitySchemes"] = {
        KEY: {
            "type": "http",
            "scheme": "bearer",
            "description": "A key made with `tacit keys create`.",
        }
    }
    components.setdefault("schemas", {})[PROBLEM] = _PROBLEM
    components["parameters"] = headers.described()
    components["headers"] = {
        name: {"description": says, "schema": {"type": "string"}} for name, says in _SENT.items()
    }
    for path, methods in found["paths"].items():
        for operation in methods.values():
            _operation(path, operation, local)
    wording.describe(found, categories)
    return found


def _operation(path: str, operation: Document, local: bool) -> None:
    scope = operation.pop(SCOPE, None)
    once, takes = operation.pop(WRITES, False), operation.pop(HEADERS, [])
    sends, media = operation.pop(SENDS, []), operation.pop(MEDIA, [DOCUMENT])
    reads, or_local = operation.pop(READS, None), operation.pop(OR_LOCAL, False)
    if scope is not None:
        without: list[Document] = [{}] if local and (scope in LOCAL_SCOPES or or_local) else []
        operation["security"] = [*without, {KEY: []}]
        operation["x-scope"] = scope
        names = [*headers.taken(scope, path), *takes, *([headers.ONCE] if once else [])]
        parameters = operation.setdefault("parameters", [])
        parameters += [{"$ref": f"#/components/parameters/{name}"} for name in names]
    if reads not in (None, DOCUMENT):
        lines = {"type": "string", "description": _LINES}
        operation["requestBody"] = {"required": True, "content": {reads: {"schema": lines}}}
    for code, response in operation["responses"].items():
        _response(int(code), response, media)
        if int(code) < 400:
            response["headers"].update(_headers(sends))


def _response(code: int, response: Document, media: list[str]) -> None:
    if code >= 400:
        schema = {"$ref": f"#/components/schemas/{PROBLEM}"}
        response["content"] = {problems.CONTENT_TYPE: {"schema": schema}}
        if response.get("description") in (None, "", HTTPStatus(code).phrase):
            response["description"] = HTTPStatus(code).phrase
    elif media != [DOCUMENT] and code not in (204, 304):
        response["content"] = {one: {"schema": {"type": "string"}} for one in media}
    response["headers"] = _headers(["X-Request-Id", *_SENT_WITH.get(code, ())])


def _headers(names: list[str]) -> Document:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
