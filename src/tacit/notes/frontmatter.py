"""Parse and change the YAML frontmatter of notes within bounds, key by key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

import yaml

from tacit import limits
from tacit.errors import NoteUnreadable
from tacit.records.notes import Frontmatter, Note, Section, TaskProgress

# Frontmatter as keys and values, parsed event by event within limits. Every scalar is text: `yes`
# is a word and 0123 no number.

YamlValue: TypeAlias = "str | list[YamlValue] | dict[str, YamlValue] | None"

_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BLOCK_STYLES = frozenset("|>")
_NOT_A_MAPPING = "the frontmatter is not a list of keys and values"
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class ValueSpan(NamedTuple):
    """Where a value stands, in characters from the start."""

    key: int
    colon_from: int  # the end of the key
    start: int
    end: int
    one_line: bool


@dataclass(slots=True)
class YamlReader:
    parser: Any
    end: int = 0  # of the last event
    spans: dict[str, ValueSpan] = field(default_factory=dict)  # of the outermost mapping
    column: int = 0
    flow_from: int | None = None  # after the brace, where the whole is a flow mapping

    def read_document(self) -> dict[str, YamlValue]:
        take = self.parser.get_event
        take()
        if isinstance(take(), yaml.StreamEndEvent):
            return {}
        found = self.value(take(), 0)
        take()
        if not isinstance(take(), yaml.StreamEndEvent):
            raise NoteUnreadable("the frontmatter is more than one document")
        if found is not None and not isinstance(found, dict):
            raise NoteUnreadable(_NOT_A_MAPPING)
        return found or {}

    def value(self, event: Any, depth: int) -> YamlValue:
        if depth > limits.NOTE_HEAD_DEPTH_MAX_COUNT:
            raise NoteUnreadable("the frontmatter is nested too deep")
        _refuse_unsafe_event(event)
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self.end = max(self.end, event.end_mark.index)
            return None if not event.style and event.value in _NULLS else event.value
        if kind is yaml.MappingStartEvent:
            return self.mapping(event, depth)
        if kind is not yaml.SequenceStartEvent:
            raise NoteUnreadable(_NOT_A_MAPPING)
        items: list[YamlValue] = []
        while (kind := type(inner := self.parser.get_event())) is not yaml.SequenceEndEvent:
            self.end = max(self.end, inner.start_mark.index)
            items.append(self.value(inner, depth + 1))
        if event.flow_style:
            self.end = inner.end_mark.index
        return items

    def mapping(self, start: Any, depth: int) -> dict[str, YamlValue]:
        found: dict[str, YamlValue] = {}
        if depth == 0:
            self.column = start.start_mark.column
            self.flow_from = start.start_mark.index + 1 if start.flow_style else None
        while (kind := type(key := self.parser.get_event())) is not yaml.MappingEndEvent:
            if kind is not yaml.ScalarEvent:
                raise NoteUnreadable("a key of the frontmatter is not a word")
            _refuse_unsafe_event(key)
            if key.value in found:
                raise NoteUnreadable("a key stands twice in the frontmatter; leave one out")
            event = self.parser.get_event()
            self.end = max(self.end, key.end_mark.index)
            found[key.value] = self.value(event, depth + 1)
            if depth == 0:
                self.spans[key.value] = ValueSpan(
                    key=key.start_mark.index,
                    colon_from=key.end_mark.index,
                    start=event.start_mark.index,
                    end=max(self.end, event.start_mark.index),
                    one_line=type(event) is yaml.ScalarEvent and event.style not in _BLOCK_STYLES,
                )
        if start.flow_style:
            self.end = key.end_mark.index
        return found


def _refuse_unsafe_event(event: Any) -> None:
    if type(event) is yaml.AliasEvent or event.anchor is not None:
        raise NoteUnreadable("the frontmatter has anchors or aliases (& or *); write values out")
    if event.tag is not None:
        raise NoteUnreadable("the frontmatter has a tag (!); write plain values")


def parse_yaml(text: str) -> tuple[dict[str, YamlValue], YamlReader]:
    """Parse all keys and values, and where they stand.

    Raises `NoteUnreadable` on anything but a plain mapping within limits.
    """
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


# The frontmatter of a note: known keys, and edits of keys in place.

UNDATED = datetime(1970, 1, 1, tzinfo=UTC)  # of a file without a creation date

# Words that other YAML readers do not read as text.
_YAML_KEYWORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_PLAIN_SCALAR = re.compile(r"[A-Za-z][A-Za-z0-9_./@:+-]*+(?<!:)")
_TEXT_KEYS = (
    "summary",
    "session_id",
    "source",
    "channel",
    "subject_id",
    "contact_id",
    "contact_nickname",
)
_QUOTED_KEYS = frozenset({"summary", "tasks", "follow_ups"})
# Characters that YAML cannot hold as they are, or reads as a line end.
_ESCAPED_CHARS = re.compile('[\x00-\x1f"\\\\\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]')
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def parse_frontmatter(text: str) -> dict[str, YamlValue]:
    """Parse all keys and values. Raises `NoteUnreadable` on anything but a plain mapping."""
    return parse_yaml(text)[0]


def build_head(fields: Mapping[str, YamlValue]) -> Frontmatter:
    """Return the known keys. A value of an unexpected form counts as missing."""
    made = parse_head_time(fields.get("created_at"))
    tags = fields.get("tags")
    words = tags if isinstance(tags, list) else [tags]
    texts = {key: said for key in _TEXT_KEYS if isinstance(said := fields.get(key), str)}
    return Frontmatter(
        created_at=made or UNDATED,
        updated_at=parse_head_time(fields.get("updated_at")) or made or UNDATED,
        tags=tuple(word for word in words if isinstance(word, str) and word),
        **texts,
    )


def format_frontmatter(note: Note) -> list[str]:
    """Format the frontmatter of a new file, in the order of the templates."""
    head = note.head
    values: dict[str, object] = {
        "created_at": head.created_at,
        "updated_at": head.updated_at,
        "summary": head.summary,
        "tasks": note.progress(Section.TASKS),
        "follow_ups": note.progress(Section.FOLLOW_UPS),
        "session_id": head.session_id,
        "source": head.source,
        "channel": head.channel,
        "tags": head.tags or None,
        "subject_id": head.subject_id,
        "contact_id": head.contact_id,
        "contact_nickname": head.contact_nickname,
    }
    return [f"{key}: {format_value(key, v)}" for key, v in values.items() if v is not None]


def update_frontmatter(text: str, changes: Mapping[str, object]) -> str:
    """Set, add or (with None) remove keys, and keep the rest as it stands."""
    for key, value in changes.items():
        fields, reading = parse_yaml(text)
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


def format_value(key: str, value: object) -> str:
    """Format a value on one line."""
    plain = _normalize_value(value)
    if isinstance(plain, list):
        parts = (_format_scalar(v) if isinstance(v, str) else _format_json(v) for v in plain)
        return f"[{', '.join(parts)}]"
    if not isinstance(plain, str):
        return _format_json(plain)
    if isinstance(value, datetime):
        return plain
    return _quote(plain) if key in _QUOTED_KEYS else _format_scalar(plain)


def parse_head_time(value: YamlValue) -> datetime | None:
    """Parse a time as people write it; UTC without a time zone."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _normalize_value(value: object) -> YamlValue:
    """Return the value as it will be read back."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return {str(key): _normalize_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_normalize_value(inner) for inner in value]
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float | TaskProgress):
        return str(value)
    raise TypeError(f"frontmatter holds text, not {type(value).__name__}")


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


def _replace_value(text: str, key: str, value: object, reading: YamlReader) -> str:
    seen = reading.spans.get(key)
    eol = "\r\n" if "\r\n" in text else "\n"
    if seen is None:
        entry = f"{_format_scalar(key)}: {format_value(key, value)}"
        if reading.flow_from is not None:
            comma = ", " if reading.spans else ""
            return text[: reading.flow_from] + entry + comma + text[reading.flow_from :]
        last = "" if not text or text.endswith("\n") else eol
        return f"{text}{last}{' ' * reading.column}{entry}{eol}"
    end = seen.start + len(text[seen.start : seen.end].rstrip())
    if value is None:
        start = text.rfind("\n", 0, seen.key) + 1
        stop = text.find("\n", max(end, seen.colon_from))
        return text[:start] + (text[stop + 1 :] if stop >= 0 else "")
    new = format_value(key, value)
    if seen.one_line and seen.start < end and "\n" not in text[seen.colon_from : end]:
        return text[: seen.start] + new + text[end:]
    colon = text.find(":", seen.colon_from) + 1
    remark = text[colon : seen.start].strip()
    return f"{text[:colon]} {new}{' ' + remark if remark.startswith('#') else ''}{text[end:]}"
