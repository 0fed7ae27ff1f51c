"""What the wire itself refuses, and every error as problem details."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from tacit.errors import Conflict, KeyRefused, StoreBusy, StoreUnavailable, TacitError
from tacit.surfaces.wire import problems

RETRY_AFTER_SECONDS = 1
_log = logging.getLogger("tacit.rest")


class Refused(Exception):
    """The wire's own: `name` is one of `problems.STATUS_OF_WIRE`."""

    def __init__(
        self, name: str, detail: str = "", headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.name = name
        self.detail = detail
        self.headers = headers
        self.members = more


class Suggested(Exception):
    """A memory is better updated than joined by another one."""

    def __init__(self, reason: str, suggestion: Mapping[str, Any]) -> None:
        super().__init__()
        self.conflict = Conflict(f"{reason}: update it instead, or send force=true")
        self.suggestion = suggestion


def told(error: Exception, request_id: str) -> Response:
    """Any error as an answer. What nobody expected is logged by its kind and place alone: its
    message may hold what somebody said."""
    if isinstance(error, Refused):
        found = problems.wire_problem(error.name, request_id, error.detail, **error.members)
        return problem(found, error.headers)
    if isinstance(error, Suggested):
        more = {"suggestion": error.suggestion}
        return problem(problems.problem_of(error.conflict, request_id, **more))
    status = problems.status_of(error)
    if status >= 500 and not isinstance(error, TacitError):
        _log.error("%s at %s", type(error).__name__, _place(error))
    return problem(problems.problem_of(error, request_id), _headers(error))


def problem(found: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    # Escaped: a detail may quote what was sent, and that need not be text.
    return Response(
        json.dumps(found).encode(), found["status"], headers, media_type=problems.CONTENT_TYPE
    )


def _headers(error: Exception) -> dict[str, str] | None:
    if isinstance(error, KeyRefused):
        return {"WWW-Authenticate": "Bearer"}
    wait = getattr(error, "retry_after_seconds", None)
    if wait is None and isinstance(error, StoreBusy | StoreUnavailable):
        wait = RETRY_AFTER_SECONDS
    return None if wait is None else {"Retry-After": str(max(1, round(wait)))}


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))
