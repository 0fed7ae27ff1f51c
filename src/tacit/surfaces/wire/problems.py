"""How errors travel: problem details (RFC 9457), and back into the same error.

What only an operator may know travels as `internal`, without a word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tacit import errors
from tacit.errors import TacitError

CONTENT_TYPE = "application/problem+json"
URN = "urn:tacit:problem:"
INTERNAL = "internal"
# Problems that are the wire's own: no error of the library has them.
STATUS_OF_WIRE: Mapping[str, int] = {
    "no-such-route": 404,
    "method-not-allowed": 405,
    "precondition-failed": 412,
    "too-large": 413,
    "unsupported-media-type": 415,
    "misdirected": 421,
    "headers-too-large": 431,
    INTERNAL: 500,
    "draining": 503,
}
# The first that fits, so the special ones come first. What fits none is nobody's business: 500.
_STATUS: tuple[tuple[type[TacitError], int], ...] = (
    (errors.InvalidInput, 422),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.KeyRefused, 401),
    (errors.TooManyRequests, 429),
    (errors.AccessRefused, 403),
    (errors.NoteUnreadable, 422),
    (errors.EmbeddingFailed, 502),
    (errors.LanguageUnavailable, 503),
    (errors.LanguageFailed, 502),
    (errors.StoreBusy, 503),
    (errors.StoreUnavailable, 503),
)
# What errors have beside their words. Closed: another side's answer sets nothing else.
MEMBERS = ("field", "problem", "kind", "reason", "retry_after_seconds", "suggestion")


def kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


_CLASSES: Mapping[str, type[TacitError]] = {
    kebab(name): found
    for name, found in vars(errors).items()
    if isinstance(found, type) and issubclass(found, TacitError)
}


def status_of(error: BaseException) -> int:
    for kind, status in _STATUS:
        if isinstance(error, kind):
            return status
    return STATUS_OF_WIRE[INTERNAL]


def problem_of(error: BaseException, request_id: str, **more: Any) -> dict[str, Any]:
    """`more` are members of its own, such as the `suggestion` of a conflict."""
    status = status_of(error)
    if status == STATUS_OF_WIRE[INTERNAL]:
        return wire_problem(INTERNAL, request_id)
    own = {name: value for name, value in vars(error).items() if name in MEMBERS}
    name = kebab(type(error).__name__)
    return {**_told(name, status, str(error), request_id), **own, **more}


def wire_problem(name: str, request_id: str, detail: str = "", **more: Any) -> dict[str, Any]:
    """One of those in `STATUS_OF_WIRE`."""
    return {**_told(name, STATUS_OF_WIRE[name], detail, request_id), **more}


def error_of(problem: Mapping[str, Any]) -> TacitError | None:
    """The same error with the same words; None where the problem is the wire's own."""
    kind = _CLASSES.get(str(problem.get("type", "")).removeprefix(URN))
    if kind is None:
        return None
    detail = str(problem.get("detail", ""))
    # Not through its own constructor, which would put together the words once more.
    error = kind.__new__(kind, detail)
    for name in MEMBERS:
        if name in problem:
            setattr(error, name, problem[name])
    return error


def name_of(problem: Mapping[str, Any]) -> str:
    return str(problem.get("type", "")).removeprefix(URN)


def _told(name: str, status: int, detail: str, request_id: str) -> dict[str, Any]:
    told = {
        "type": f"{URN}{name}",
        "title": name.replace("-", " ").capitalize(),
        "status": status,
        "detail": detail,
        "request_id": request_id,
    }
    if not detail:
        del told["detail"]
    return told
