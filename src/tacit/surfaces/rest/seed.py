"""What the seed of `/api/memory/` asks of its requests, beside what the library asks of all."""

from __future__ import annotations

from typing import Any

from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.surfaces.rest.shapes import or_null, words

CATEGORIES = ("person", "preference", "context", "project")
CONTENT_MIN_CHARS = 5
CONTENT_MAX_CHARS = 500
SUBJECT_MAX_CHARS = 200
CONTENT = words(CONTENT_MAX_CHARS, CONTENT_MIN_CHARS)
SUBJECT = or_null(words(SUBJECT_MAX_CHARS, 1))


def content(value: Any) -> str:
    words = validation.check_storable("content", value, CONTENT_MAX_CHARS)
    if len(words) < CONTENT_MIN_CHARS:
        raise InvalidInput(
            "content", f"is too short; write at least {CONTENT_MIN_CHARS} characters"
        )
    return words


def category(value: Any) -> str:
    if value not in CATEGORIES:
        raise InvalidInput("category", f"use one of {', '.join(CATEGORIES)}")
    return str(value)


def about(subject: Any) -> list[str] | None:
    if subject is None:
        return None
    return [validation.parse_screened_identifier("subject", subject, SUBJECT_MAX_CHARS)]


def flag(field: str, value: Any) -> bool:
    return validation.parse_bool(field, value)
