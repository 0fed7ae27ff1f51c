"""What Claude remembered: its memory copied as text, and `memories.json` of an export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from tacit.surfaces.moving.chatgpt import file_lines, listed
from tacit.surfaces.moving.elements import elements
from tacit.surfaces.moving.filing import category
from tacit.surfaces.moving.listed import text_lines
from tacit.surfaces.moving.records import Read, Skipped
from tacit.surfaces.moving.scanning import named
from tacit.surfaces.moving.texts import begins_as_json

_OF_ALL, _OF_PROJECTS, _FILES = "conversations_memory", "project_memories", "memory_files"
_PARTS = frozenset({_OF_ALL, _OF_PROJECTS, _FILES})
_PROJECT = "project"
_NO_MEMORY = "has no memory in it"


def read(path: Path) -> Iterator[Read]:
    if not begins_as_json(path):
        yield from listed(file_lines(path))
        return
    for one in elements(path, _PARTS):
        if isinstance(one, Skipped):
            yield one
        elif one.name == _FILES:
            yield from _file(one.where, one.value)
        elif one.name is not None:
            yield from _part(one.name, one.value, one.name)
        elif isinstance(one.value, dict) and not _PARTS.isdisjoint(one.value):
            for name, value in one.value.items():
                yield from _part(name, value, f"{one.where}, {named(name)}")
        else:
            yield Skipped(where=one.where, why=_NO_MEMORY)


def _part(name: str, value: Any, where: str) -> Iterator[Read]:
    if name == _OF_ALL and isinstance(value, str):
        yield from listed(text_lines(value), within=where)
    elif name == _OF_PROJECTS and isinstance(value, Mapping):
        for number, text in enumerate(value.values(), start=1):
            here = f"{where} {number}"
            if isinstance(text, str):
                lines = text_lines(text)
                yield from listed(lines, within=here, filed=_PROJECT, tags=(_PROJECT,))
            else:
                yield Skipped(where=here, why=_NO_MEMORY)
    elif name == _FILES and isinstance(value, list):
        for number, one in enumerate(value, start=1):
            yield from _file(f"{where} {number}", one)


def _file(where: str, value: Any) -> Iterator[Read]:
    given = value if isinstance(value, Mapping) else {}
    path, content = given.get("path"), given.get("content")
    if not isinstance(path, str) or not isinstance(content, str):
        yield Skipped(where=where, why=_NO_MEMORY)
        return
    topic = PurePosixPath(path).stem
    filed = category(topic)
    yield from listed(text_lines(content), within=where, filed=filed, tags=(topic,))
