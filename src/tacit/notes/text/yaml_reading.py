"""Frontmatter as keys and values, read event by event within bounds. Every scalar is text: `yes` is
a word here, and 0123 no number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

from tacit import limits
from tacit.errors import NoteUnreadable

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"

_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BLOCK = frozenset("|>")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(slots=True, kw_only=True)
class Seen:
    """Where a value stands, in characters from the beginning."""

    key: int
    colon_from: int  # the end of the key
    start: int
    end: int
    one_line: bool


@dataclass(slots=True)
class Reading:
    parser: Any
    end: int = 0  # of the last thing that was read
    spans: dict[str, Seen] = field(default_factory=dict)
    column: int = 0
    flow_from: int | None = None  # behind the brace, where the whole is written in braces

    def mapping(self, start: Any, depth: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        if depth == 1:
            self.column = start.start_mark.column
            self.flow_from = start.start_mark.index + 1 if start.flow_style else None
        while True:
            key = self.parser.get_event()
            kind = type(key)
            if kind is yaml.MappingEndEvent:
                if start.flow_style:
                    self.end = key.end_mark.index
                return found
            if kind is not yaml.ScalarEvent:
                raise NoteUnreadable("a key of the frontmatter is no word")
            _refuse_magic(key)
            name = key.value
            if name in found:
                raise NoteUnreadable("a key stands twice in the frontmatter; leave one out")
            event = self.parser.get_event()
            self.end = max(self.end, key.end_mark.index)
            found[name] = self.value(event, depth)
            if depth == 1:
                self.spans[name] = Seen(
                    key=key.start_mark.index,
                    colon_from=key.end_mark.index,
                    start=event.start_mark.index,
                    end=max(self.end, event.start_mark.index),
                    one_line=type(event) is yaml.ScalarEvent and event.style not in _BLOCK,
                )

    def value(self, event: Any, depth: int) -> Value:
        if depth > limits.NOTE_HEAD_DEPTH_MAX_COUNT:
            raise NoteUnreadable("the frontmatter is nested too deep")
        _refuse_magic(event)
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self.end = max(self.end, event.end_mark.index)
            return None if not event.style and event.value in _NULLS else event.value
        if kind is yaml.MappingStartEvent:
            return self.mapping(event, depth + 1)
        if kind is yaml.SequenceStartEvent:
            return self.sequence(event, depth + 1)
        raise NoteUnreadable("the frontmatter is no list of keys and values")

    def sequence(self, start: Any, depth: int) -> list[Value]:
        found: list[Value] = []
        while True:
            event = self.parser.get_event()
            kind = type(event)
            if kind is yaml.SequenceEndEvent:
                if start.flow_style:
                    self.end = event.end_mark.index
                return found
            self.end = max(self.end, event.start_mark.index)
            found.append(self.value(event, depth))


def read(text: str) -> tuple[dict[str, Value], Reading]:
    """All keys and values, and where they stand. Raises `NoteUnreadable` on what is no plain
    mapping within bounds."""
    if len(text) > limits.NOTE_HEAD_MAX_CHARS:
        raise NoteUnreadable("the frontmatter is too long; move what it says below it")
    try:
        parser = _PARSER(text)
        try:
            return _whole(Reading(parser))
        finally:
            parser.dispose()
    except (yaml.YAMLError, UnicodeError):
        raise NoteUnreadable("the frontmatter is no YAML; look at its quotes and colons") from None


def _whole(reading: Reading) -> tuple[dict[str, Value], Reading]:
    take = reading.parser.get_event
    take()
    if isinstance(take(), yaml.StreamEndEvent):
        return {}, reading
    found = reading.value(take(), 0)
    take()
    if not isinstance(take(), yaml.StreamEndEvent):
        raise NoteUnreadable("the frontmatter is more than one document")
    if not isinstance(found, dict):
        if found is None:
            return {}, reading
        raise NoteUnreadable("the frontmatter is no list of keys and values")
    return found, reading


def _refuse_magic(event: Any) -> None:
    if type(event) is yaml.AliasEvent or event.anchor is not None:
        raise NoteUnreadable("the frontmatter has anchors or aliases (& or *); write values out")
    if event.tag is not None:
        raise NoteUnreadable("the frontmatter has a tag (!); write plain values")
