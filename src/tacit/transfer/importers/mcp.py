"""Read the file of the MCP reference memory server: entities, observations, relations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.records.drafts import ImportItem
from tacit.tools import reference
from tacit.transfer.importers.parsing import FoundItem, JsonElement, ReadResult, SkippedPart, read_records

_LISTS = frozenset({"entities", "relations"})
_RELATION = ("from", "relationType", "to")


def read_mcp(path: Path) -> Iterator[ReadResult]:
    told: dict[str, int] = {}  # observations of each entity so far

    def read(one: JsonElement) -> Iterator[ReadResult]:
        value = one.value if isinstance(one.value, dict) else None
        kind = one.name if one.name in _LISTS else (value or {}).get("type")
        if value is not None and kind in ("relation", "relations"):
            yield _read_relation(one.where, value)
        elif value is not None and kind in ("entity", "entities"):
            yield from _read_entity(one.where, value, told)
        else:
            yield SkippedPart(where=one.where, why="is neither an entity nor a relation")

    return read_records(path, _LISTS, read)


def _read_entity(where: str, value: dict[str, Any], told: dict[str, int]) -> Iterator[ReadResult]:
    name, kind = value.get("name"), value.get("entityType")
    if not isinstance(name, str) or not isinstance(kind, str) or not name or not kind:
        yield SkippedPart(where=where, why="has no name, or no entityType")
        return
    entity = reference.Entity(reference.normalize_name(name), kind)
    try:
        reference.check_entity(entity)
    except TacitError as error:
        yield SkippedPart(where=where, why=str(error))
        return
    if entity.name not in told:
        yield FoundItem(where=where, item=_make_item(entity, entity.key, entity.statement))
    observations = value.get("observations")
    listed = observations if isinstance(observations, list) else []
    for number, said in enumerate(listed, start=1):
        here = f"{where}, observation {number}"
        if not isinstance(said, str) or not said.strip():
            yield SkippedPart(where=here, why="is no text")
            continue
        place = told.setdefault(entity.name, 0)
        told[entity.name] += 1
        key = reference.observation_key(entity.name, place, said)
        item = _make_item(entity, key, reference.format_observation(entity.name, said))
        # Its position may change; what it says about whom does not.
        source = f"{entity.key}|{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()}"
        yield FoundItem(where=here, item=replace(item, source=source))
    told.setdefault(entity.name, 0)


def _read_relation(where: str, value: dict[str, Any]) -> ReadResult:
    parts = [value.get(name) for name in _RELATION]
    if not all(isinstance(part, str) and part for part in parts):
        return SkippedPart(where=where, why="is not a relation: it needs from, to and relationType")
    relation = reference.EntityRelation(*(reference.normalize_name(str(part)) for part in parts))
    try:
        reference.check_relation(relation)
    except TacitError as error:
        return SkippedPart(where=where, why=str(error))
    item = ImportItem(
        content=relation.statement, category=reference.GRAPH_CATEGORY, key=relation.key, source=relation.key
    )
    return FoundItem(where=where, item=item)


def _make_item(entity: reference.Entity, key: str, content: str) -> ImportItem:
    about = [entity.name] if entity.kind.lower() == reference.PERSON_TYPE else None
    return ImportItem(content=content, category=reference.GRAPH_CATEGORY, key=key, about=about, source=key)
