"""Export formats: JSON lines, written and imported again, and Markdown to read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput, StoreError, TacitError
from tacit.learning.memory_writes import remember, update_memory
from tacit.policy.rules import RequesterRole
from tacit.records import drafts, validation
from tacit.records.drafts import Draft, ImportRun
from tacit.records.memory import Memory, State, Trust, Version, Visibility
from tacit.records.results import Imported
from tacit.storage import memories
from tacit.storage.memories import Transaction

# A person's own memories as JSON lines. A line tells what was remembered, not where: a file cannot
# prove provenance, so an imported memory counts as learned in the private chat of the import.

_MEMORY_FIELDS = (
    "kind", "category", "key", "slot", "visibility", "sensitivity", "portable", "importance",
    "confidence", "pinned", "tags", "agent", "run", "role", "data",
)  # fmt: skip
_TIME_FIELDS = ("observed_at", "expires_at")
_SKIPPED_PARTS = (
    "person", "chat", "about", "proposal", "known", "checkpoint", "step", "import", "turn",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportLine:
    """A parsed and checked line."""

    draft: Draft
    wordings: tuple[str, ...]  # oldest first; the last is the content
    state: State


def memory_to_json(memory: Memory, versions: Iterable[Version]) -> dict[str, Any]:
    plain: dict[str, Any] = {"id": memory.id, "content": memory.content, "state": memory.state}
    for name in _MEMORY_FIELDS:
        plain[name] = getattr(memory, name)
    for name in (*_TIME_FIELDS, "created_at", "updated_at"):
        moment = getattr(memory, name)
        plain[name] = moment.isoformat() if moment else None
    plain["about"] = sorted(memory.subjects)
    plain["withheld_from"] = sorted(memory.withheld_from)
    plain["versions"] = [
        {"version": v.number, "content": v.content, "created_at": v.created_at.isoformat()} for v in versions
    ]
    return plain


def import_run_to_json(run: ImportRun) -> dict[str, Any]:
    """Return one import as a part of the export of a person's data."""
    moments = {n: v.isoformat() for n, v in asdict(run).items() if isinstance(v, datetime)}
    return asdict(run) | moments


def import_lines(lines: object, categories: Collection[str], take: Callable[[ExportLine], bool]) -> Imported:
    created = skipped = 0
    refused: list[str] = []
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise InvalidInput("lines", "expected lines of text, as an open file gives them")
    for number, raw in enumerate(lines, start=1):
        if isinstance(raw, str) and not raw.strip():
            continue
        try:
            line = parse_line(raw, categories)
            new = None if line is None else take(line)
        except StoreError:
            raise
        except TacitError as error:
            refused.append(f"line {number}: {error}")
            continue
        if new is not None:
            created, skipped = created + new, skipped + (not new)
    return Imported(created=created, skipped=skipped, refused=tuple(refused))


def parse_line(raw: object, categories: Collection[str]) -> ExportLine | None:
    """Parse a line; None for parts of an export that are not own memories, which are skipped."""
    if not isinstance(raw, str):
        raise InvalidInput("line", "expected text")
    if len(raw.encode("utf-8", "replace")) > limits.IMPORT_LINE_MAX_BYTES:
        raise InvalidInput("line", f"is longer than {limits.IMPORT_LINE_MAX_BYTES:,} bytes")
    try:
        plain = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidInput("line", "is not JSON") from None
    if not isinstance(plain, dict):
        raise InvalidInput("line", "is not a JSON object")
    if plain.get("type") in _SKIPPED_PARTS:
        return None
    fields = {name: plain.get(name) for name in ("content", "about", "withheld_from", *_MEMORY_FIELDS)}
    for name in _TIME_FIELDS:
        fields[name] = _parse_moment(name, plain.get(name))
    asked = drafts.parse_draft(fields, categories)
    if asked.content is None:
        raise InvalidInput("content", "is missing")
    room = asked.visibility is Visibility.ROOM  # means nothing in the chat of an import
    asked = replace(
        asked,
        about=asked.about or None,
        visibility=Visibility.PRIVATE_ONLY if room else asked.visibility,
        trust=Trust.IMPORTED,
        created_at=_parse_moment("created_at", plain.get("created_at")),
    )
    return ExportLine(
        draft=asked,
        wordings=(*_earlier_wordings(plain.get("versions"), asked.content), asked.content or ""),
        state=validation.parse_enum("state", plain.get("state") or State.ACTIVE.value, State),
    )


def _earlier_wordings(versions: object, content: str | None) -> list[str]:
    if versions is None:
        return []
    if not isinstance(versions, list) or not all(isinstance(v, dict) for v in versions):
        raise InvalidInput("versions", "expected a list of objects with a content")
    wordings = [validation.parse_content(v.get("content"), "versions") for v in versions]
    return wordings[:-1] if wordings and wordings[-1] == content else wordings


def import_line(tx: Transaction, line: ExportLine) -> bool:
    """Import a line; return False where the owner has it already, so that repeats change nothing."""
    if not tx.request.private:
        raise InvalidInput("import", "works in a private chat only")
    if line.state is not State.ACTIVE or memories.has_duplicate(tx, line.draft):
        return False
    first, *later = line.wordings
    done = remember(tx, replace(line.draft, content=first), {})
    for wording in later:
        memory = memories.get_for_update(tx, done.id)
        assert memory is not None
        worded = Draft(content=wording, trust=Trust.IMPORTED)
        done = update_memory(tx, memory, RequesterRole.OWNER, worded, {})
    return True


def _parse_moment(name: str, value: object) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None:
        raise InvalidInput(name, "expected a time such as 2026-03-01T12:00:00+00:00")
    return validation.parse_datetime(name, moment)


# A person's data as Markdown, for people to read.

ExportPart = Mapping[str, Any]

SECTION_TITLES = {
    "person": "Who you are",
    "chat": "Chats you are in",
    "memory": "Your memories",
    "about": "What others said about you",
    "proposal": "Waiting for your consent",
    "known": "People you know",
    "checkpoint": "Checkpoints of agents",
    "step": "Checkpoints of graphs",
    "import": "Imports from other systems",
    "turn": "Recorded turns",
}
# Characters that are markup anywhere, and those that are markup at the start of a line.
_MARKS = re.compile(r"([\\`*_\[\]<>|~])")
_LINE_OPENING = re.compile(r"^(\s*)([#+=-]|\d+(?=[.)]))")


def render_markdown(parts: Iterable[ExportPart]) -> Iterator[str]:
    """Render one section per kind of part, in the order in which they come."""
    yield "# What Tacit stores about you"
    last = None
    for part in parts:
        kind = part["type"]
        if kind != last:
            yield from ("", f"## {SECTION_TITLES[kind]}", "")
            last = kind
        yield from _section_lines(part)


def escape_markdown(text: str) -> str:
    """Escape a text so that none of it is markup and it stays in its list item."""
    rows = (_LINE_OPENING.sub(r"\1\\\2", _MARKS.sub(r"\\\1", row)) for row in text.splitlines() or [""])
    return "  \n  ".join(rows)


def _section_lines(part: ExportPart) -> Iterator[str]:
    say = {name: escape_markdown(one) for name, one in part.items() if isinstance(one, str)}
    day = {name: one[:10] for name, one in part.items() if isinstance(one, str)}
    match part["type"]:
        case "person":
            yield from (f"- {name['kind']}: {escape_markdown(name['text'])}" for name in part["names"])
            yield from (f"- known as `{identity}`" for identity in part["identities"])
        case "chat":
            yield f"- `{part['chat']}`, {part['kind']}, since {day['joined_at']}"
        case "memory":
            yield from _memory_lines(part)
        case "about":
            said_by = f", said by {say['said_by']}" if part["said_by"] else ""
            yield f"- {say['content']}"
            yield f"  <br>{part['category']}, {day['created_at']}{said_by} (`{part['id']}`)"
            yield from _data_lines(part)
        case "proposal":
            yield f"- {say['content']}"
            yield f"  <br>{say['reason']}, until {day['expires_at']} (`{part['id']}`)"
        case "known":
            names = ", ".join(escape_markdown(name["text"]) for name in part["names"])
            yield f"- {names} (`{part['id']}`)"
        case "checkpoint":
            yield f"- {say['thread']}, {day['updated_at']}: {_format_json(part['data'])}"
        case "step":
            where = " ".join(filter(None, (part["thread"], part["namespace"], part["id"])))
            named = sorted({one["channel"] for one in (*part["values"], *part["writes"])})
            channels = escape_markdown(", ".join(named))
            yield f"- {escape_markdown(where)}, {day['saved_at']}: {channels}"
        case "import":
            kept = "reverted" if part["reverted_at"] else f"{part['created']} kept"
            yield f"- {say['source']} ({say['run']}), {day['started_at']}: {kept}"
        case "turn":
            yield f"- {day['created_at']}, {say.get('role', '')}: {say['content']}"


def _memory_lines(part: ExportPart) -> Iterator[str]:
    key = f", {escape_markdown(part['key'])}" if part["key"] else ""
    state = "" if part["state"] == "active" else f", {part['state']}"
    yield f"- {escape_markdown(part['content'])}"
    yield f"  <br>{part['category']}{key}, {part['created_at'][:10]}{state} (`{part['id']}`)"
    yield from _data_lines(part)
    for version in part["versions"][:-1]:
        yield f"  - before: {escape_markdown(version['content'])} ({version['created_at'][:10]})"
    for entry in part.get("history", [])[1:]:
        by = escape_markdown(entry["actor"])
        yield f"  - {entry['event'].lower()} on {entry['at'][:10]} by {by}"


def _data_lines(part: ExportPart) -> Iterator[str]:
    if part.get("data"):
        yield f"  <br>{_format_json(part['data'])}"


def _format_json(value: Any) -> str:
    return escape_markdown(json.dumps(value, ensure_ascii=False, sort_keys=True))
