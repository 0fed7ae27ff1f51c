"""Parse and change the YAML frontmatter of notes within bounds, key by key.

PyYAML's events tell where each value stands, so that a change leaves all else byte for byte, which
no round-trip writer does. They are read one by one: `yaml.compose` overflows the C stack on deeply
nested input.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

import yaml

from tacit import limits
from tacit.errors import NoteUnreadable
from tacit.records.notes import Frontmatter, Note, Section, TaskProgress

# Every scalar is text: `yes` is a word and 0123 no number.
YamlValue: TypeAlias = "str | list[YamlValue] | dict[str, YamlValue] | None"
HeadValue: TypeAlias = "str | datetime | TaskProgress | tuple[str, ...] | None"

UNDATED = datetime(1970, 1, 1, tzinfo=UTC)  # of a file without a creation date
_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
# Words that other YAML readers do not read as text.
_YAML_KEYWORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_PLAIN_SCALAR = re.compile(r"[A-Za-z][A-Za-z0-9_./@:+-]*+(?<!:)")
_TIME_KEYS = ("created_at", "updated_at")
_COUNT_KEYS = (Section.TASKS.value, Section.FOLLOW_UPS.value)
_TEXT_KEYS = [one.name for one in dataclasses.fields(Frontmatter) if one.name not in {*_TIME_KEYS, "tags"}]
_QUOTED_KEYS = frozenset({"summary", *_COUNT_KEYS})
# Characters that YAML cannot hold as they are, or reads as a line end.
_ESCAPED_CHARS = re.compile('[\x00-\x1f"\\\\\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]')
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class YamlReader:
    """Read one document, and where the values of its outermost mapping stand."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser
        self._last: Any = None  # event
        self._end = 0  # of the last value, in characters from the start
        self.start: Any = None  # the event that begins the outermost mapping
        self.spans: dict[str, tuple[Any, Any, int]] = {}  # events of key and value, and its end

    def read_document(self) -> dict[str, YamlValue]:
        self._next()
        if isinstance(self._next(), yaml.StreamEndEvent):
            return {}
        found = self._value(self._next(), 0)
        self._next()
        if not isinstance(self._next(), yaml.StreamEndEvent):
            raise NoteUnreadable("the frontmatter is more than one document")
        if found is not None and not isinstance(found, dict):
            raise NoteUnreadable("the frontmatter is not a list of keys and values")
        return found or {}

    def _next(self) -> Any:
        self._last = self._parser.get_event()
        return self._last

    def _value(self, event: Any, depth: int) -> YamlValue:
        if depth > limits.NOTE_HEAD_DEPTH_MAX_COUNT:
            raise NoteUnreadable("the frontmatter is nested too deep")
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise NoteUnreadable("the frontmatter has anchors or aliases (& or *); write values out")
        if event.tag is not None:
            raise NoteUnreadable("the frontmatter has a tag (!); write plain values")
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._end = max(self._end, event.end_mark.index)
            return None if not event.style and event.value in _NULLS else event.value
        is_mapping = kind is yaml.MappingStartEvent
        found = self._mapping(event, depth) if is_mapping else self._sequence(depth)
        if event.flow_style:
            self._end = self._last.end_mark.index
        return found

    def _sequence(self, depth: int) -> list[YamlValue]:
        found = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            found.append(self._value(event, depth + 1))
        return found

    def _mapping(self, start: Any, depth: int) -> dict[str, YamlValue]:
        found: dict[str, YamlValue] = {}
        if depth == 0:
            self.start = start
        while not isinstance(key := self._next(), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise NoteUnreadable("a key of the frontmatter is not a word")
            self._value(key, depth)
            if key.value in found:
                raise NoteUnreadable("a key stands twice in the frontmatter; leave one out")
            event = self._next()
            found[key.value] = self._value(event, depth + 1)
            if depth == 0:
                self.spans[key.value] = key, event, max(self._end, event.start_mark.index)
        return found


def read_yaml(text: str) -> tuple[dict[str, YamlValue], YamlReader]:
    if len(text) > limits.NOTE_HEAD_MAX_CHARS:
        raise NoteUnreadable("the frontmatter is too long; move what it says below it")
    try:
        parser = _PARSER(text)
        try:
            reader = YamlReader(parser)
            return reader.read_document(), reader
        finally:
            parser.dispose()
    except (yaml.YAMLError, UnicodeError):
        raise NoteUnreadable("the frontmatter is not YAML; check its quotes and colons") from None


def parse_frontmatter(text: str) -> dict[str, YamlValue]:
    """Parse all keys and values.

    Raises `NoteUnreadable` on anything but a plain mapping within limits.
    """
    return read_yaml(text)[0]


def build_head(fields: Mapping[str, YamlValue]) -> Frontmatter:
    """Return the known keys. A value of an unexpected form counts as missing."""
    made, updated = (_parse_time(fields.get(key)) for key in _TIME_KEYS)
    tags = fields.get("tags")
    words = tags if isinstance(tags, list) else [tags]
    texts = {key: said for key in _TEXT_KEYS if isinstance(said := fields.get(key), str)}
    return Frontmatter(
        created_at=made or UNDATED,
        updated_at=updated or made or UNDATED,
        tags=tuple(word for word in words if isinstance(word, str) and word),
        **texts,
    )


def format_frontmatter(note: Note) -> list[str]:
    """Format the frontmatter of a new file, in the order of the templates."""
    values = dataclasses.asdict(note.head) | {key: note.progress(Section(key)) for key in _COUNT_KEYS}
    order = [*_TIME_KEYS, "summary", *_COUNT_KEYS, *values]  # the rest as declared
    return [f"{key}: {format_value(key, values[key])}" for key in dict.fromkeys(order) if values[key] not in (None, ())]


def update_frontmatter(text: str, changes: Mapping[str, HeadValue]) -> str:
    """Set, add or (with None) remove keys, and keep the rest as it stands."""
    for key, value in changes.items():
        fields, reading = read_yaml(text)
        wanted = {name: old for name, old in fields.items() if name != key}
        if value is not None:
            wanted[key] = _normalize_value(value)
        if wanted == fields:
            continue
        text = _replace_value(text, key, value, reading)
        try:
            if parse_frontmatter(text) == wanted:
                continue
        except NoteUnreadable:
            pass
        # Its form cannot be edited in place: format the whole.
        pairs = ((_format_scalar(name), _format_json(one)) for name, one in wanted.items())
        text = "".join(f"{name}: {one}\n" for name, one in pairs)
    return text


def format_value(key: str, value: HeadValue) -> str:
    """Format a value on one line."""
    plain = _normalize_value(value)
    if isinstance(plain, list):
        return f"[{', '.join(map(_format_scalar, plain))}]"
    if isinstance(value, datetime):
        return str(plain)
    return _quote(plain) if key in _QUOTED_KEYS else _format_scalar(plain)


def _parse_time(value: YamlValue) -> datetime | None:
    """Parse a time as people write it; UTC without a time zone."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _normalize_value(value: HeadValue) -> Any:
    """Return the value as it will be read back."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return list(value) if isinstance(value, tuple) else str(value)


def _format_scalar(text: str) -> str:
    if _PLAIN_SCALAR.fullmatch(text) and text.lower() not in _YAML_KEYWORDS:
        return text
    return _quote(text)


def _quote(text: str) -> str:
    def escape(found: re.Match[str]) -> str:
        return _SHORT_ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04x}"

    return f'"{_ESCAPED_CHARS.sub(escape, text)}"'


def _format_json(value: YamlValue) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quote(k)}: {_format_json(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_format_json, value))}]"
    return "null" if value is None else _quote(value)


def _replace_value(text: str, key: str, value: HeadValue, reading: YamlReader) -> str:
    eol = "\r\n" if "\r\n" in text else "\n"
    if key not in reading.spans:
        entry = f"{_format_scalar(key)}: {format_value(key, value)}"
        if reading.start is not None and reading.start.flow_style:
            brace = reading.start.start_mark.index + 1
            comma = ", " if reading.spans else ""
            return text[:brace] + entry + comma + text[brace:]
        last = "" if not text or text.endswith("\n") else eol
        column = reading.start.start_mark.column if reading.start is not None else 0
        return f"{text}{last}{' ' * column}{entry}{eol}"
    name, event, end = reading.spans[key]
    begin, colon_from = event.start_mark.index, name.end_mark.index
    end = begin + len(text[begin:end].rstrip())
    if value is None:
        start = text.rfind("\n", 0, name.start_mark.index) + 1
        stop = text.find("\n", max(end, colon_from))
        return text[:start] + (text[stop + 1 :] if stop >= 0 else "")
    new = format_value(key, value)
    one_line = isinstance(event, yaml.ScalarEvent) and event.style not in ("|", ">")
    if one_line and begin < end and "\n" not in text[colon_from:end]:
        return text[:begin] + new + text[end:]
    colon = text.find(":", colon_from) + 1
    remark = text[colon:begin].strip()
    return f"{text[:colon]} {new}{' ' + remark if remark.startswith('#') else ''}{text[end:]}"
