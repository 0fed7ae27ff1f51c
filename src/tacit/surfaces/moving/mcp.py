"""What the reference memory server kept in its file: entities, observations and relations. They
become what our tools of the same names read, so that the graph goes on where it stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.records.drafts import ImportItem
from tacit.surfaces.moving.elements import elements
from tacit.surfaces.moving.records import Found, Read, Skipped
from tacit.surfaces.moving.scanning import Element
from tacit.surfaces.tools.reference.graph import (
    CATEGORY,
    PERSON,
    Entity,
    Relation,
    check_entity,
    check_relation,
    named,
    observation,
    observed_key,
)

_LISTS = frozenset({"entities", "relations"})
_RELATION = ("from", "relationType", "to")


def read(path: Path) -> Iterator[Read]:
    told: dict[str, int] = {}  # how many observations of an entity there were before
    for one in elements(path, _LISTS):
        if isinstance(one, Skipped):
            yield one
        elif isinstance(one.value, dict) and _is(one, "relation"):
            yield _relation(one.where, one.value)
        elif isinstance(one.value, dict) and _is(one, "entity"):
            yield from _entity(one.where, one.value, told)
        else:
            yield Skipped(where=one.where, why="is neither an entity nor a relation")


def _is(one: Element, kind: str) -> bool:
    if one.name in _LISTS:
        return one.name == {"entity": "entities", "relation": "relations"}[kind]
    return bool(one.value.get("type") == kind)


def _entity(where: str, value: dict[str, Any], told: dict[str, int]) -> Iterator[Read]:
    name, kind = value.get("name"), value.get("entityType")
    if not isinstance(name, str) or not isinstance(kind, str) or not name or not kind:
        yield Skipped(where=where, why="has no name, or no entityType")
        return
    entity = Entity(named(name), kind)
    try:
        check_entity(entity)
    except TacitError as error:
        yield Skipped(where=where, why=str(error))
        return
    if entity.name not in told:
        yield Found(where=where, item=_kept(entity, entity.key, entity.statement))
    observations = value.get("observations")
    listed = observations if isinstance(observations, list) else []
    for number, said in enumerate(listed, start=1):
        here = f"{where}, observation {number}"
        if not isinstance(said, str) or not said.strip():
            yield Skipped(where=here, why="is no text")
            continue
        place = told.setdefault(entity.name, 0)
        told[entity.name] += 1
        key = observed_key(entity.name, place, said)
        item = _kept(entity, key, observation(entity.name, said))
        # Its place may be another the next time; what it says of whom is not.
        source = f"{entity.key}|{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()}"
        yield Found(where=here, item=replace(item, source=source))
    told.setdefault(entity.name, 0)


def _relation(where: str, value: dict[str, Any]) -> Read:
    parts = [value.get(name) for name in _RELATION]
    if not all(isinstance(part, str) and part for part in parts):
        return Skipped(where=where, why="is no relation: it needs from, to and relationType")
    relation = Relation(*(named(str(part)) for part in parts))
    try:
        check_relation(relation)
    except TacitError as error:
        return Skipped(where=where, why=str(error))
    item = ImportItem(
        content=relation.statement, category=CATEGORY, key=relation.key, source=relation.key
    )
    return Found(where=where, item=item)


def _kept(entity: Entity, key: str, content: str) -> ImportItem:
    about = [entity.name] if entity.kind.lower() == PERSON else None
    return ImportItem(content=content, category=CATEGORY, key=key, about=about, source=key)
