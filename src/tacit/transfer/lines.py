"""Memories as JSON lines: a person's own, out of one store and into another.

A line tells what was remembered, never where: provenance cannot be carried in a file, so what is
imported counts as learned in the private chat of the import.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput, StoreError, TacitError
from tacit.learning.memory_writes import remember, update_memory
from tacit.policy.permissions import RequesterRole
from tacit.records import drafts, validation
from tacit.records.drafts import Draft, ImportRun
from tacit.records.memory import Memory, State, Trust, Version, Visibility
from tacit.records.results import Imported
from tacit.storage import memories
from tacit.storage.memories import Transaction

_FIELDS = (
    "kind", "category", "key", "slot", "visibility", "sensitivity", "portable", "importance",
    "confidence", "pinned", "tags", "agent", "run", "role", "data",
)  # fmt: skip
_TIMES = ("observed_at", "expires_at")
_NOT_TAKEN_IN = (
    "person", "chat", "about", "proposal", "known", "checkpoint", "step", "import", "turn",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line, checked."""

    draft: Draft
    wordings: tuple[str, ...]  # oldest first; the last is the content
    state: State


def to_plain(memory: Memory, versions: Iterable[Version]) -> dict[str, Any]:
    plain: dict[str, Any] = {"id": memory.id, "content": memory.content, "state": memory.state}
    for name in _FIELDS:
        plain[name] = getattr(memory, name)
    for name in (*_TIMES, "created_at", "updated_at"):
        moment = getattr(memory, name)
        plain[name] = moment.isoformat() if moment else None
    plain["about"] = sorted(memory.subjects)
    plain["withheld_from"] = sorted(memory.withheld_from)
    plain["versions"] = [
        {"version": v.number, "content": v.content, "created_at": v.created_at.isoformat()}
        for v in versions
    ]
    return plain


def run_to_plain(run: ImportRun) -> dict[str, Any]:
    """One import, as a part of everything about somebody."""
    moments = {n: v.isoformat() for n, v in asdict(run).items() if isinstance(v, datetime)}
    return asdict(run) | moments


def take_in(lines: object, categories: Collection[str], take: Callable[[Line], bool]) -> Imported:
    created = skipped = 0
    refused: list[str] = []
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise InvalidInput("lines", "expected lines of text, as an open file gives them")
    for number, raw in enumerate(lines, start=1):
        if isinstance(raw, str) and not raw.strip():
            continue
        try:
            line = parse(raw, categories)
            new = None if line is None else take(line)
        except StoreError:
            raise
        except TacitError as error:
            refused.append(f"line {number}: {error}")
            continue
        if new is not None:
            created, skipped = created + new, skipped + (not new)
    return Imported(created=created, skipped=skipped, refused=tuple(refused))


def parse(raw: object, categories: Collection[str]) -> Line | None:
    """None for a part of an export that is no memory of one's own: it is not to be taken in."""
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
    if plain.get("type") in _NOT_TAKEN_IN:
        return None
    fields = {name: plain.get(name) for name in ("content", "about", "withheld_from", *_FIELDS)}
    for name in _TIMES:
        fields[name] = _moment(name, plain.get(name))
    asked = drafts.parse_draft(fields, categories)
    if asked.content is None:
        raise InvalidInput("content", "is missing")
    room = asked.visibility is Visibility.ROOM  # which means nothing in the chat of an import
    asked = replace(
        asked,
        about=asked.about or None,
        visibility=Visibility.PRIVATE_ONLY if room else asked.visibility,
        trust=Trust.IMPORTED,
        created_at=_moment("created_at", plain.get("created_at")),
    )
    return Line(
        draft=asked,
        wordings=(*_earlier(plain.get("versions"), asked.content), asked.content or ""),
        state=validation.parse_enum("state", plain.get("state") or State.ACTIVE.value, State),
    )


def _earlier(versions: object, content: str | None) -> list[str]:
    if versions is None:
        return []
    if not isinstance(versions, list) or not all(isinstance(v, dict) for v in versions):
        raise InvalidInput("versions", "expected a list of objects with a content")
    wordings = [validation.parse_content(v.get("content"), "versions") for v in versions]
    return wordings[:-1] if wordings and wordings[-1] == content else wordings


def add(w: Transaction, line: Line) -> bool:
    """False where the owner already has it: importing a file twice changes nothing."""
    if not w.request.private:
        raise InvalidInput("import", "works in a private chat only")
    if line.state is not State.ACTIVE:
        return False
    if memories.has_duplicate(w, line.draft):
        return False
    first, *later = line.wordings
    done = remember(w, replace(line.draft, content=first), {})
    for wording in later:
        memory = memories.get_for_update(w, done.id)
        assert memory is not None
        worded = Draft(content=wording, trust=Trust.IMPORTED)
        done = update_memory(w, memory, RequesterRole.OWNER, worded, {})
    return True


def _moment(name: str, value: object) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInput(name, "expected a time such as 2026-03-01T12:00:00+00:00")
    try:
        return validation.parse_datetime(name, datetime.fromisoformat(value))
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(name, "expected a time such as 2026-03-01T12:00:00+00:00") from None
