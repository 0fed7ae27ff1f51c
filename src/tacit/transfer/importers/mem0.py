"""Read exports of mem0: results of get_all as JSON or JSON lines, and platform exports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput
from tacit.records.drafts import ImportItem
from tacit.transfer.importers.parsing import (
    NO_MEMORY,
    FoundItem,
    JsonElement,
    ReadResult,
    SkippedPart,
    describe_field,
    find_source_id,
    find_text,
    parse_end_of_day,
    parse_import_tags,
    parse_moment,
    read_elements,
    read_records,
)

_LISTS = frozenset({"results", "memories"})
_PAGING = frozenset({"count", "next", "previous", "total"})
_RELATION = ("source", "relationship", "target")
_TEXT_FIELDS = ("memory", "data", "text", "content")  # of the content, newest format first
_USER_FIELDS = ("user_id", "agent_id", "run_id")
_KEPT_FIELDS = ("agent_id", "run_id", "app_id", "actor_id", "role", "attributed_to", "memory_type")


def read_mem0(path: Path, only: str | None = None) -> Iterator[ReadResult]:
    """Read the memories of one user; with several in a file, `only` must name one."""
    if only is None:
        _refuse_several(path)

    def read(one: JsonElement) -> Iterator[ReadResult]:
        if one.name not in _PAGING and (only is None or _find_user(one.value) == only):
            yield from _read_element(one)

    return read_records(path, _LISTS, read)


def _refuse_several(path: Path) -> None:
    seen: set[str | None] = set()
    for one in read_elements(path, _LISTS):
        seen.add(None if isinstance(one, SkippedPart) else _find_user(one.value))
        if len(seen - {None}) > 1:
            raise InvalidInput("only", "is required: the file contains memories of several users")


def _find_user(value: object) -> str | None:
    named = value if isinstance(value, dict) else {}
    return next((named[one] for one in _USER_FIELDS if isinstance(named.get(one), str)), None)


def _read_element(one: JsonElement) -> Iterator[ReadResult]:
    value = one.value
    if not isinstance(value, dict):
        yield _read_field(one)
    elif any(name in value for name in (*_TEXT_FIELDS, "id")):
        yield _read_memory(one.where, value)
    elif all(isinstance(value.get(name), str) for name in _RELATION):
        said = " ".join(value[name].replace("_", " ") for name in _RELATION)
        yield FoundItem(where=one.where, item=ImportItem(content=said))
    else:
        for name, field in value.items():
            yield _read_field(JsonElement(where=f"{one.where}, {describe_field(name)}", value=field, name=name))


def _read_memory(where: str, value: dict[str, Any]) -> ReadResult:
    words = find_text(value, _TEXT_FIELDS)
    if not words:
        return SkippedPart(where=where, why=NO_MEMORY)
    return FoundItem(
        where=where,
        item=ImportItem(
            content=words,
            kind="procedure" if value.get("memory_type") == "procedural_memory" else None,
            tags=parse_import_tags(value.get("categories")),
            data=_collect_data(value),
            created_at=parse_moment(value.get("created_at")),
            expires_at=parse_end_of_day(value.get("expiration_date")),
            source=find_source_id(value),
        ),
    )


def _collect_data(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the metadata, and the fields that tell who was there."""
    metadata = value.get("metadata")
    found = dict(metadata) if isinstance(metadata, dict) else {}
    for name in _KEPT_FIELDS:
        if isinstance(value.get(name), str):
            found.setdefault(name, value[name])
    return found or None


def _read_field(one: JsonElement) -> ReadResult:
    """Read a field of a custom platform export, where facts are fields: `current_role: …`."""
    values = one.value if isinstance(one.value, list) else [one.value]
    said = ", ".join(str(value) for value in values if isinstance(value, str | int | float))
    if one.name is None or not said.strip():
        return SkippedPart(where=one.where, why=NO_MEMORY)
    name = one.name.replace("_", " ").strip()
    return FoundItem(where=one.where, item=ImportItem(content=f"{name}: {said}"))
