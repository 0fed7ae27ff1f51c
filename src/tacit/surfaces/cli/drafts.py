"""What a session came to, as a JSON document that an agent wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from tacit import NoteLink, SessionDraft, TaskDraft, TopicDraft, limits
from tacit.errors import InvalidInput
from tacit.surfaces.cli import files

T = TypeVar("T")


def read(name: str) -> SessionDraft:
    """From a file, or with `-` from standard input."""
    with files.opened(name) as source:
        raw = source.read(limits.IMPORT_LINE_MAX_BYTES + 1)
    if len(raw) > limits.IMPORT_LINE_MAX_BYTES:
        raise InvalidInput("draft", "is too long; sum the session up")
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidInput("draft", "is no JSON object") from None
    return _made(
        SessionDraft,
        "draft",
        found,
        topics=lambda one: _all(TopicDraft, "topics", one),
        facts=lambda one: _list("facts", one),
        tasks=lambda one: _all(TaskDraft, "tasks", one),
        follow_ups=lambda one: _all(TaskDraft, "follow_ups", one),
        links=lambda one: _all(NoteLink, "links", one),
        tags=lambda one: _list("tags", one),
    )


def _all(kind: type[T], field: str, found: object) -> tuple[T, ...]:
    return tuple(_made(kind, field, one) for one in _list(field, found))


def _list(field: str, found: object) -> tuple[Any, ...]:
    if not isinstance(found, list):
        raise InvalidInput(field, "expected a list")
    return tuple(found)


def _made(kind: type[T], field: str, found: object, **how: Callable[[object], Any]) -> T:
    """Each part under its own name. What the parts hold is checked when it is handed in."""
    if not isinstance(found, dict):
        raise InvalidInput(field, "is no JSON object")
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    for name in found:
        if name not in known:
            raise InvalidInput(field, f"has an unknown field; use {', '.join(known)}")
    for name, one in known.items():
        if name not in found and one.default is MISSING:
            raise InvalidInput(field, f"has no {name}")
    return kind(**{name: how.get(name, _same)(value) for name, value in found.items()})


def _same(value: object) -> Any:
    return value
