"""Responses: records as JSON, pages, and errors as problem details."""

from __future__ import annotations

import base64
import json
import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from starlette.responses import Response

from tacit import Page, limits, wire
from tacit.errors import Conflict, InvalidInput, KeyRefused, StoreBusy, StoreUnavailable, TacitError
from tacit.records import validation
from tacit.wire import encode

JSON_MEDIA_TYPE = "application/json"
NDJSON_MEDIA_TYPE = "application/x-ndjson"


def record_response(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a record of the public API as JSON."""
    return json_response(encode(value), status, headers)


def json_response(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value that is JSON already."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(written.encode(), status, headers, JSON_MEDIA_TYPE)


def no_content() -> Response:
    return Response(status_code=204)


def version_etag(version: int) -> str:
    return f'"v{version}"'


# Errors as problem details (RFC 9457).

RETRY_AFTER_SECONDS = 1
_log = logging.getLogger("tacit.rest")


class HttpProblem(Exception):
    """A problem of HTTP itself: `name` is one of `wire.HTTP_PROBLEM_STATUSES`."""

    def __init__(self, name: str, detail: str = "", headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.name = name
        self.detail = detail
        self.headers = headers
        self.members = more


class UpdateSuggested(Exception):
    """An existing memory should be updated instead of adding another one."""

    def __init__(self, reason: str, suggestion: Mapping[str, Any]) -> None:
        super().__init__()
        self.conflict = Conflict(f"{reason}: update it instead, or send force=true")
        self.suggestion = suggestion


_VALIDATION_MESSAGES = {
    "missing": "is missing",
    "extra_forbidden": "is not known here; leave it out",
    "model_type": "expected an object",
    "model_attributes_type": "expected an object",
    "dict_type": "expected an object",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "bool_type": "must be true or false",
    "string_unicode": "contains half of a surrogate pair; decode it properly",
}


def input_error(errors: Sequence[Mapping[str, Any]]) -> InvalidInput:
    """Return the first error of Pydantic in the words of the library, and without the value."""
    # A union of text and a record: the error of the record says more.
    one = next((one for one in errors if "str" not in one["loc"]), errors[0])
    found = one.get("ctx", {}).get("error")
    if isinstance(found, InvalidInput):
        return found
    names = [name for name in one["loc"][1:] if isinstance(name, str) and "[" not in name]
    kind, value = one["type"], one.get("input")
    if kind == "missing" and len(names) > 1:
        return InvalidInput(names[-2], f"has no {names[-1]}")
    field = safe_field_name(names[-1]) if names else "body"
    if kind == "string_type":
        return InvalidInput(field, f"expected text, got {type(value).__name__}")
    if kind in ("enum", "literal_error"):
        shown = repr(value) if isinstance(value, str) and len(value) <= 40 else type(value).__name__
        known = one["ctx"]["expected"].replace(" or ", ", ").replace("'", "")
        return InvalidInput(field, f"{shown} is not one of {known}")
    return InvalidInput(field, _VALIDATION_MESSAGES.get(kind, "is not of the expected form"))


def safe_field_name(name: str) -> str:
    """Return a name as it was sent, unless it cannot be the name of a field."""
    return name if name.isidentifier() and name.isascii() and len(name) <= 64 else "field"


def error_response(error: Exception, request_id: str) -> Response:
    """Return any error as a problem. An unexpected one is logged by its class and place alone: its
    message may hold content."""
    if isinstance(error, HttpProblem):
        found = wire.http_problem(error.name, request_id, error.detail, **error.members)
        return problem_response(found, error.headers)
    if isinstance(error, UpdateSuggested):
        more = {"suggestion": error.suggestion}
        return problem_response(wire.problem_from_error(error.conflict, request_id, **more))
    status = wire.error_status(error)
    if status >= 500 and not isinstance(error, TacitError):
        _log.error("%s at %s", type(error).__name__, _error_location(error))
    return problem_response(wire.problem_from_error(error, request_id), _error_headers(error))


def problem_response(found: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    # ASCII: a detail may quote what was sent, which may hold lone surrogates.
    return Response(json.dumps(found).encode(), found["status"], headers, media_type=wire.PROBLEM_CONTENT_TYPE)


def _error_headers(error: Exception) -> dict[str, str] | None:
    if isinstance(error, KeyRefused):
        return {"WWW-Authenticate": "Bearer"}
    wait = getattr(error, "retry_after_seconds", None)
    if wait is None and isinstance(error, StoreBusy | StoreUnavailable):
        wait = RETRY_AFTER_SECONDS
    return None if wait is None else {"Retry-After": str(max(1, round(wait)))}


def _error_location(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))


# Pages of a list that the library returns as a whole.

T = TypeVar("T")


class _PagePosition(NamedTuple):
    """A position in a list: how many items stand before it, and the names of its neighbors."""

    after: int
    last: str
    following: str


def paginate(found: Sequence[T], name: Callable[[T], str], limit: Any, cursor: Any) -> Page[T]:
    """Return a page that begins after the last item of the page before or, where that is gone, at
    the one that came next: a caller who removes what they read misses nothing."""
    most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
    start = 0 if cursor is None else _start_index([name(one) for one in found], _decode_cursor(cursor))
    end = start + most
    following = None
    if end < len(found):
        following = _encode_cursor(_PagePosition(end, name(found[end - 1]), name(found[end])))
    return Page(items=tuple(found[start:end]), cursor=following)


def _start_index(names: list[str], place: _PagePosition) -> int:
    if place.last in names:
        return names.index(place.last) + 1
    if place.following in names:
        return names.index(place.following)
    return min(place.after, len(names))


def _encode_cursor(place: _PagePosition) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _decode_cursor(cursor: Any) -> _PagePosition:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        found = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
        after, last, following = found
        good = type(after) is int and isinstance(last, str) and isinstance(following, str)
    except (TypeError, ValueError, RecursionError):
        good = False
    if not good or not 0 < after < 2**31:
        raise InvalidInput("cursor", "is not one we gave; start again without it")
    return _PagePosition(after, last, following)
