"""What an agent hands in at the end of a session, checked: all of it is good, or none is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields
from typing import TypeVar

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.notes import NoteLink, Section, SessionDraft, TaskDraft, TopicDraft

T = TypeVar("T")
_INDEX = frozenset({Section.GOALS, Section.KEY_FACTS})


def checked(draft: object) -> SessionDraft:
    """The same draft in its one form. Secrets are refused, as everywhere that somebody says what to
    keep."""
    if not isinstance(draft, SessionDraft):
        raise InvalidInput("draft", "expected a tacit.SessionDraft")
    size = sum(map(len, _texts(draft)))
    if size > limits.SESSION_DRAFT_MAX_CHARS:
        most = limits.SESSION_DRAFT_MAX_CHARS
        raise InvalidInput(
            "draft", f"is {size:,} characters in all; at most {most:,} are kept: shorten it"
        )
    to = validation.parse_enum("promote_to", draft.promote_to, Section)
    if to not in _INDEX:
        raise InvalidInput("promote_to", f"use {Section.KEY_FACTS} or {Section.GOALS}")
    return SessionDraft(
        summary=_line("summary", draft.summary, limits.SESSION_SUMMARY_MAX_CHARS),
        topics=_all("topics", draft.topics, _topic),
        facts=_all("facts", draft.facts, lambda one: _said("facts", one)),
        tasks=_all("tasks", draft.tasks, lambda one: _task("tasks", one)),
        follow_ups=_all("follow_ups", draft.follow_ups, lambda one: _task("follow_ups", one)),
        links=_all("links", draft.links, _link),
        promote=None if draft.promote is None else _said("promote", draft.promote),
        promote_to=to,
        tags=_all("tags", draft.tags, _tag),
    )


def _texts(value: object) -> Iterator[str]:
    """Whatever is written in a draft; what is no part of one is refused by its name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Collection):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, SessionDraft | TopicDraft | TaskDraft | NoteLink):
        for field in fields(value):
            yield from _texts(getattr(value, field.name))


def _all(field: str, value: object, check: Callable[[object], T]) -> tuple[T, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        raise InvalidInput(field, "expected a list")
    if len(value) > limits.SESSION_PARTS_MAX_COUNT:
        raise InvalidInput(field, f"takes at most {limits.SESSION_PARTS_MAX_COUNT}")
    return tuple(map(check, value))


def _topic(value: object) -> TopicDraft:
    if not isinstance(value, TopicDraft):
        raise InvalidInput("topics", "expected tacit.TopicDraft")
    parts = {
        name: _line("topics", getattr(value, name), limits.CONTENT_MAX_CHARS)
        for name in ("users", "when", "event", "result")
    }
    topic = _line("topics", value.topic, limits.CONTENT_MAX_CHARS)
    if not topic:
        raise InvalidInput("topics", "a topic has no name; say what it was about")
    return TopicDraft(topic=topic, **parts)


def _task(field: str, value: object) -> TaskDraft:
    if not isinstance(value, TaskDraft):
        raise InvalidInput(field, "expected tacit.TaskDraft")
    return TaskDraft(text=_said(field, value.text), done=validation.parse_bool("done", value.done))


def _link(value: object) -> NoteLink:
    if not isinstance(value, NoteLink):
        raise InvalidInput("links", "expected tacit.NoteLink")
    target = validation.parse_screened_identifier("links", value.target, limits.LINK_MAX_CHARS)
    words = _line("links", value.text, limits.LINK_MAX_CHARS) or target
    return NoteLink(text=words, target=target)


def _tag(value: object) -> str:
    return validation.parse_screened_identifier("tags", value, limits.TAG_MAX_CHARS)


def _said(field: str, value: object) -> str:
    return validation.parse_content(value, field).strip()


def _line(field: str, value: object, max_chars: int) -> str:
    """One line, which may be empty."""
    words = validation.refuse_secrets(field, validation.check_storable(field, value, max_chars))
    return " ".join(words.split()) and validation.parse_content(" ".join(words.split()), field)
