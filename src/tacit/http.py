"""Shared parts of HTTP clients: base URLs, API keys, bounded bodies, Retry-After and backoff."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import SplitResult, urlsplit

from tacit import limits
from tacit.errors import InvalidInput

_ERROR_CODE = re.compile(r"[a-z][a-z_]{0,60}")


def parse_base_url(setting: str, url: str, *, key_setting: str, example: str = "https://host/v1") -> SplitResult:
    """Check an http(s) URL of an endpoint: without credentials, query and fragment."""
    problem = not_an_address(example)
    if not url.isascii() or not url.isprintable() or len(url) > limits.ENDPOINT_URL_MAX_CHARS:
        raise InvalidInput(setting, problem)
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidInput(setting, problem) from None
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(setting, f"holds a user name or password; use {key_setting} instead")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise InvalidInput(setting, problem)
    return parts


def not_an_address(example: str) -> str:
    return f"is not an address; write it like {example}, with nothing after the path"


def check_api_key(setting: str, key: str | None, subject: str = "") -> str | None:
    """Return the key, or None for an empty one. HTTP libraries would quote a bad one in errors."""
    if not key:
        return None
    printable = key.isascii() and key.isprintable() and " " not in key
    if not printable or len(key) > limits.ENDPOINT_KEY_MAX_CHARS:
        problem = f"{subject}holds characters that no key has, or too many: copy it again"
        raise InvalidInput(setting, problem)
    return key


def is_model_name(model: str) -> bool:
    return bool(model.strip()) and len(model) <= limits.LABEL_MAX_CHARS and model.isprintable()


def read_body(parts: Iterable[bytes], most_bytes: int, until: float) -> bytes:
    """Join the parts of a body; raise OverflowError or TimeoutError beyond the limits.

    The timeout of an HTTP library is for each part: a slow stream would never reach it.
    """
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > most_bytes:
            raise OverflowError
        if time.monotonic() > until:
            raise TimeoutError
    return bytes(body)


def parse_json_object(text: str | bytes) -> dict[str, Any] | None:
    """Return a JSON object; None for anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def find_error_code(body: bytes, fields: Iterable[str], key: str | None) -> str:
    """Return a code such as `model_not_found` from an error answer, else an empty text.

    It is a single word and not the API key: free text of an endpoint must not reach an error.
    """
    try:
        error = json.loads(body)["error"]
        codes = [error.get(field) for field in fields]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""
    words = (one for one in codes if isinstance(one, str) and _ERROR_CODE.fullmatch(one))
    return next((word for word in words if word != key), "")


def parse_retry_after(value: str, now: datetime) -> float | None:
    """Return the seconds of a Retry-After header, which holds a number or a date."""
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())


def backoff_seconds(asked: float | None, default: float) -> float:
    """Return the delay that the server asked for, or the default, with jitter."""
    if asked is not None:
        return asked + random.uniform(0.0, min(asked, 1.0) / 10)
    return random.uniform(default / 2, default)
