"""What ChatGPT had saved: the list of its settings copied as text, `memories.json`, and what it
noted in the conversations of an export."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.records.drafts import ImportItem
from tacit.surfaces.moving.elements import elements
from tacit.surfaces.moving.filing import category, tags_of
from tacit.surfaces.moving.listed import Entry, Lines, entries, text_lines
from tacit.surfaces.moving.records import Found, Read, Skipped
from tacit.surfaces.moving.texts import begins_as_json, moment, opened
from tacit.surfaces.moving.texts import lines as lines_of

_LISTS = frozenset({"memories", "memory", "conversations"})
_WORDS = ("content", "memory", "text", "value")
_NOTING = "bio"  # whom it writes to when it saves something
_FORGETS = "forget "


def read(path: Path) -> Iterator[Read]:
    if not begins_as_json(path):
        yield from listed(file_lines(path))
        return
    said: set[str] = set()  # of many conversations, each of which may repeat the last
    for one in elements(path, _LISTS):
        if isinstance(one, Skipped):
            yield one
            continue
        for found in _element(one.where, one.value):
            if isinstance(found, Skipped) or found.item.content not in said:
                yield found
            if isinstance(found, Found):
                said.add(found.item.content)


def file_lines(path: Path) -> Lines:
    def read_lines() -> Iterator[Any]:
        with opened(path) as file:
            yield from lines_of(file)

    return read_lines


def listed(
    lines: Lines, *, within: str = "", filed: str | None = None, tags: tuple[str, ...] = ()
) -> Iterator[Read]:
    """Entries of a text, each as something to take in."""
    for one in entries(lines):
        where = one.where if isinstance(one, Skipped) else f"line {one.line}"
        where = f"{within}, {where}" if within else where
        if isinstance(one, Skipped):
            yield replace(one, where=where)
        else:
            yield Found(where=where, item=_item(one, filed, tags))


def _item(entry: Entry, filed: str | None, tags: tuple[str, ...]) -> ImportItem:
    words = (*tags, *entry.headings, entry.status or "")
    named = (category(one) for one in reversed(entry.headings))
    return ImportItem(
        content=entry.text,
        category=next(filter(None, named), filed),
        tags=tags_of(words),
        created_at=entry.created_at,
    )


def _element(where: str, value: Any) -> Iterator[Read]:
    if isinstance(value, str) and value.strip():
        yield Found(where=where, item=ImportItem(content=value.strip()))
    elif isinstance(value, dict) and isinstance(value.get("mapping"), dict):
        for node in value["mapping"].values():
            message = node.get("message") if isinstance(node, dict) else None
            if isinstance(message, dict):
                yield from _message(where, message)
    elif isinstance(value, dict):
        yield _saved(where, value)
    else:
        yield Skipped(where=where, why="is no memory")


def _saved(where: str, value: dict[str, Any]) -> Read:
    words = next((value[name] for name in _WORDS if isinstance(value.get(name), str)), "")
    if not words.strip():
        return Skipped(where=where, why="has no memory in it")
    if value.get("enabled") is False:
        return Skipped(where=where, why="was switched off", is_no_memory=True)
    id = value.get("id")
    return Found(
        where=where,
        item=ImportItem(
            content=words.strip(),
            created_at=moment(value.get("created_at") or value.get("updated_at")),
            source=id if isinstance(id, str) and id else None,
        ),
    )


def _message(where: str, message: dict[str, Any]) -> Iterator[Read]:
    content = message.get("content")
    if not isinstance(content, dict):
        return
    known = content.get("model_set_context")  # the list that the model was shown
    if isinstance(known, str):
        yield from listed(text_lines(known), within=where)
    if message.get("recipient") != _NOTING:
        return
    parts = content.get("parts")
    said = "\n".join(part for part in parts or () if isinstance(part, str)).strip()
    if said.lower().startswith(_FORGETS):
        yield Skipped(where=where, why="asks for something to be forgotten", is_no_memory=True)
    elif said:
        created_at = moment(message.get("create_time"))
        yield Found(where=where, item=ImportItem(content=said, created_at=created_at))
