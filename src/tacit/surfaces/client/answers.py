"""What a server's answer means: a value, or the error that the library would have raised."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tacit.errors import (
    Conflict,
    InvalidInput,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    TacitError,
    TooManyRequests,
)
from tacit.surfaces.wire import problems

# Between us and the server stands something that cannot reach it just now.
_PASSING_STATUS = frozenset({502, 503, 504})
# What a server waits for itself, such as a language model, has had its tries.
_MAY_PASS = (StoreBusy, StoreUnavailable, TooManyRequests)
# Refused before anything was done, so that any request may be sent again.
_UNTOUCHED = frozenset({"too-many-requests", "draining"})


class Passing(Exception):
    """Trouble that may be over at the next try. `unprocessed`: nothing was done yet."""

    def __init__(
        self, error: TacitError, *, unprocessed: bool = False, wait_seconds: float | None = None
    ) -> None:
        super().__init__()
        self.error = error
        self.unprocessed = unprocessed
        self.wait_seconds = wait_seconds


def value_of(body: bytes, who: str) -> Any:
    """What the server says. Nothing, where it has nothing to say."""
    if not body:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise StoreError(
            f"{who} does not answer with JSON: check that the address is that of a Tacit server"
        ) from None


def trouble(
    status: int, content_type: str, body: bytes, retry_after: str, who: str
) -> TacitError | Passing:
    """What an answer that is no success means."""
    told = _problem(content_type, body)
    error = problems.error_of(told) or _of_the_wire(status, told, who)
    if not isinstance(error, _MAY_PASS):
        return error
    return Passing(
        error,
        unprocessed=problems.name_of(told) in _UNTOUCHED,
        wait_seconds=_seconds(retry_after),
    )


def _problem(content_type: str, body: bytes) -> Mapping[str, Any]:
    if content_type.partition(";")[0].strip().lower() == problems.CONTENT_TYPE:
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
    return {}


def _of_the_wire(status: int, told: Mapping[str, Any], who: str) -> TacitError:
    """No error of the library's: something about the request, or about the way to the server."""
    detail = str(told.get("detail", ""))
    name = problems.name_of(told)
    if status == 412:
        return Conflict(detail or "it moved on since you read it: read it again")
    if status == 413:
        return InvalidInput("body", detail or "is larger than the server takes: send less at once")
    if status == 431:
        return InvalidInput("participants", detail or "is more than the server takes: name fewer")
    if status in _PASSING_STATUS:
        return StoreUnavailable(f"{who} does not serve just now ({status}): try again later")
    if status >= 500:
        request = str(told.get("request_id", ""))[:64]
        named = f" under {request}" if request.isprintable() and request else ""
        return StoreError(f"{who} failed ({status}): its log says more{named}")
    if 300 <= status < 400:
        return StoreError(f"{who} sends us elsewhere ({status}): connect to the final address")
    if status == 421 or name == "misdirected":
        return StoreError(f"{who} is not served under this name: add it to server.allowed_hosts")
    if status in (404, 405):
        return StoreError(f"{who} has no such route ({status}): is it of another version?")
    return StoreError(f"{who} refuses the request ({status}): is it of another version?")


def _seconds(retry_after: str) -> float | None:
    plain = retry_after.strip()
    return float(plain) if plain.isascii() and plain.isdigit() and len(plain) < 9 else None
