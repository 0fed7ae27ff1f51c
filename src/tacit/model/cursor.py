"""Cursors: where a listing stopped, as text that callers hand back and need not understand."""

from __future__ import annotations

import base64
import binascii

from tacit.clock import to_micros
from tacit.errors import InvalidInput
from tacit.model.memory import Memory
from tacit.model.text import memory_id


def encode(last: Memory) -> str:
    return place(to_micros(last.created_at), last.id)


def place(at: int, id: str) -> str:
    """Behind what happened at a time, in microseconds, and has this id."""
    plain = f"{at}.{id}"
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def decode(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        plain = base64.urlsafe_b64decode(padded.encode("ascii")).decode("ascii")
        at, _, id = plain.partition(".")
        moment = int(at)
    except (AttributeError, TypeError, ValueError, binascii.Error):
        raise InvalidInput("cursor", "is not one we gave; start again without it") from None
    if memory_id(id) is None or not -(2**62) < moment < 2**62:
        raise InvalidInput("cursor", "is not one we gave; start again without it")
    return moment, id
