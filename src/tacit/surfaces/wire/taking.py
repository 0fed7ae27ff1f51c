"""From JSON that a caller wrote to the records that the library takes. What a record holds is
checked there; here, only that it has its fields and no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Any, TypeVar

from tacit import Message, NoteLink, SessionDraft, TaskDraft, TopicDraft
from tacit.errors import InvalidInput

T = TypeVar("T")


def messages(found: object) -> Any:
    """A list of messages; what is none is handed on, for the library to refuse."""
    if not isinstance(found, list):
        return found
    return [message(one, "messages") for one in found]


def message(found: object, field: str) -> Message:
    return made(Message, field, found, at=lambda value: moment("at", value))


def draft(found: object) -> SessionDraft:
    return made(
        SessionDraft,
        "draft",
        found,
        topics=lambda one: _all(TopicDraft, "topics", one),
        tasks=lambda one: _all(TaskDraft, "tasks", one),
        follow_ups=lambda one: _all(TaskDraft, "follow_ups", one),
        links=lambda one: _all(NoteLink, "links", one),
    )


def moment(field: str, value: object) -> Any:
    """A time as text. Whether it has a zone, the library looks at."""
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(field, "is no time; write it as 2026-03-01T12:00:00Z") from None


def moments(found: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The same fields, with these of them as times."""
    return {name: moment(name, value) if name in names else value for name, value in found.items()}


def made(kind: type[T], field: str, found: object, **how: Callable[[object], Any]) -> T:
    """Each part under its own name, and those in `how` put together from their own parts."""
    if not isinstance(found, dict):
        raise InvalidInput(field, "expected an object")
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    if not known.keys() >= found.keys():
        raise InvalidInput(field, f"has an unknown field; use {', '.join(known)}")
    for name, one in known.items():
        if name not in found and one.default is MISSING:
            raise InvalidInput(field, f"has no {name}")
    return kind(
        **{name: how[name](value) if name in how else value for name, value in found.items()}
    )


def _all(kind: type[T], field: str, found: object) -> Any:
    if not isinstance(found, list):
        return found
    return tuple(made(kind, field, one) for one in found)
