"""The frontmatter of a note: what we know of it, and its keys changed where they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from tacit.errors import NoteUnreadable
from tacit.notes.text import yaml_reading
from tacit.notes.text.yaml_reading import Reading, Value
from tacit.records.notes import Frontmatter, Note, Section, TaskProgress

UNDATED = datetime(1970, 1, 1, tzinfo=UTC)  # where a file does not say when it was made

# Words that are something else than text to other readers of YAML.
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@:+-]*+(?<!:)")
_QUOTED_KEYS = frozenset({"summary", "tasks", "follow_ups"})
# What YAML does not hold as it is, or takes for the end of a line.
_ESCAPED = re.compile('[\x00-\x1f"\\\\\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def read(text: str) -> dict[str, Value]:
    """All keys and values. Raises `NoteUnreadable` on what is no plain mapping within bounds."""
    return yaml_reading.read(text)[0]


def head_from(fields: Mapping[str, Value]) -> Frontmatter:
    """What we know of it. A value of another form than ours is taken for none."""
    made = moment(fields.get("created_at"))
    tags = fields.get("tags")
    words = tags if isinstance(tags, list) else [tags]
    return Frontmatter(
        created_at=made or UNDATED,
        updated_at=moment(fields.get("updated_at")) or made or UNDATED,
        summary=_text(fields, "summary") or "",
        session_id=_text(fields, "session_id"),
        source=_text(fields, "source"),
        channel=_text(fields, "channel"),
        tags=tuple(word for word in words if isinstance(word, str) and word),
        subject_id=_text(fields, "subject_id"),
        contact_id=_text(fields, "contact_id"),
        contact_nickname=_text(fields, "contact_nickname"),
    )


def lines_of(note: Note) -> list[str]:
    """The frontmatter of a new file, in the order of the templates."""
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
    return [f"{key}: {written(key, v)}" for key, v in values.items() if v is not None]


def changed(text: str, changes: Mapping[str, object]) -> str:
    """The frontmatter with some keys set, added, or (None) left out; the rest as it stands."""
    for key, value in changes.items():
        fields, reading = yaml_reading.read(text)
        wanted = {name: old for name, old in fields.items() if name != key}
        if value is not None:
            wanted[key] = _plain(value)
        if wanted == fields:
            continue
        spliced = _spliced(text, key, value, reading)
        text = spliced if _reads(spliced, wanted) else _anew(wanted)
    return text


def written(key: str, value: object) -> str:
    """A value as it is written behind its key, on one line."""
    plain = _plain(value)
    if isinstance(plain, list):
        return f"[{', '.join(_scalar(v) if isinstance(v, str) else _json(v) for v in plain)}]"
    if not isinstance(plain, str):
        return _json(plain)
    if isinstance(value, datetime):
        return plain
    return _quoted(plain) if key in _QUOTED_KEYS else _scalar(plain)


def moment(value: Value) -> datetime | None:
    """A time as people write it; UTC where it does not say."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _text(fields: Mapping[str, Value], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) else None


def _plain(value: object) -> Value:
    """The value that is read back."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float | TaskProgress):
        return str(value)
    raise TypeError(f"frontmatter holds text, not {type(value).__name__}")


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return _quoted(text)


def _quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


def _json(value: Value) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quoted(k)}: {_json(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_json, value))}]"
    return "null" if value is None else _quoted(value)


def _reads(text: str, wanted: Mapping[str, Value]) -> bool:
    try:
        return read(text) == wanted
    except NoteUnreadable:
        return False


def _anew(wanted: Mapping[str, Value]) -> str:
    """Written as a whole, where its form is too odd to be changed in place."""
    return "".join(f"{_scalar(key)}: {_json(value)}\n" for key, value in wanted.items())


def _spliced(text: str, key: str, value: object, reading: Reading) -> str:
    seen = reading.spans.get(key)
    eol = "\r\n" if "\r\n" in text else "\n"
    if seen is None:
        entry = f"{_scalar(key)}: {written(key, value)}"
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
    new = written(key, value)
    if seen.one_line and seen.start < end and "\n" not in text[seen.colon_from : end]:
        return text[: seen.start] + new + text[end:]
    colon = text.find(":", seen.colon_from) + 1
    remark = text[colon : seen.start].strip()
    return f"{text[:colon]} {new}{' ' + remark if remark.startswith('#') else ''}{text[end:]}"
