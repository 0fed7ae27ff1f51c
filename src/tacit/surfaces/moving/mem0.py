"""What mem0 kept: its `get_all` as JSON or as lines of JSON, and exports of its platform."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput
from tacit.records.drafts import ImportItem
from tacit.surfaces.moving.elements import elements
from tacit.surfaces.moving.filing import tags_of
from tacit.surfaces.moving.records import Found, Read, Skipped
from tacit.surfaces.moving.scanning import Element, named
from tacit.surfaces.moving.texts import end_of_day, moment

_LISTS = frozenset({"results", "memories"})
_PAGING = frozenset({"count", "next", "previous", "total"})
_RELATION = ("source", "relationship", "target")
_WORDS = ("memory", "data", "text", "content")  # the name of what it says, newest first
_WHOSE = ("user_id", "agent_id", "run_id")
_KEPT = ("agent_id", "run_id", "app_id", "actor_id", "role", "attributed_to", "memory_type")
_NO_WORDS = "has no memory in it"


def read(path: Path, only: str | None = None) -> Iterator[Read]:
    """Of one user: with several in a file, whose it is to be has to be said."""
    if only is None:
        _refuse_several(path)
    for one in elements(path, _LISTS):
        if isinstance(one, Skipped):
            yield one
        elif one.name not in _PAGING and (only is None or _whose(one.value) == only):
            yield from _read(one)


def _refuse_several(path: Path) -> None:
    seen: set[str] = set()
    for one in elements(path, _LISTS):
        whose = None if isinstance(one, Skipped) else _whose(one.value)
        if whose is not None:
            seen.add(whose)
        if len(seen) > 1:
            raise InvalidInput(
                "only", "is needed: the file holds memories of several users; say whose to take"
            )


def _whose(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    return next((value[name] for name in _WHOSE if isinstance(value.get(name), str)), None)


def _read(one: Element) -> Iterator[Read]:
    value = one.value
    if not isinstance(value, dict):
        yield _field(one)
    elif any(name in value for name in (*_WORDS, "id")):
        yield _memory(one.where, value)
    elif all(isinstance(value.get(name), str) for name in _RELATION):
        said = " ".join(value[name].replace("_", " ") for name in _RELATION)
        yield Found(where=one.where, item=ImportItem(content=said))
    else:
        for name, field in value.items():
            yield _field(Element(where=f"{one.where}, {named(name)}", value=field, name=name))


def _memory(where: str, value: dict[str, Any]) -> Read:
    words = next((value[name] for name in _WORDS if isinstance(value.get(name), str)), "")
    if not words.strip():
        return Skipped(where=where, why=_NO_WORDS)
    id = value.get("id")
    return Found(
        where=where,
        item=ImportItem(
            content=words.strip(),
            kind="procedure" if value.get("memory_type") == "procedural_memory" else None,
            tags=tags_of(value.get("categories")),
            data=_data(value),
            created_at=moment(value.get("created_at")),
            expires_at=end_of_day(value.get("expiration_date")),
            source=id if isinstance(id, str) and id else None,
        ),
    )


def _data(value: dict[str, Any]) -> dict[str, Any] | None:
    """The metadata; and beside it whatever says who was there."""
    metadata = value.get("metadata")
    found = dict(metadata) if isinstance(metadata, dict) else {}
    for name in _KEPT:
        if isinstance(value.get(name), str):
            found.setdefault(name, value[name])
    return found or None


def _field(one: Element) -> Read:
    """A platform export in a form of one's own has facts as fields: `current_role: …`."""
    values = one.value if isinstance(one.value, list) else [one.value]
    said = ", ".join(str(value) for value in values if isinstance(value, str | int | float))
    if one.name is None or not said.strip():
        return Skipped(where=one.where, why=_NO_WORDS)
    name = one.name.replace("_", " ").strip()
    return Found(where=one.where, item=ImportItem(content=f"{name}: {said}"))
