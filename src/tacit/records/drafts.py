"""Checked input for a new memory, and items imported from another system."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import partial
from typing import Any, TypedDict

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.memory import Kind, Sensitivity, Trust, Visibility


class MemoryFields(TypedDict, total=False):
    """Optional fields of a new memory besides its content."""

    kind: Kind | str | None
    slot: str | None
    about: Collection[str] | None
    withheld_from: Collection[str] | None
    visibility: Visibility | str | None
    sensitivity: Sensitivity | str | None
    portable: bool | None
    importance: int | None
    confidence: float | None
    pinned: bool | None
    tags: Collection[str] | None
    observed_at: datetime | None
    expires_at: datetime | None
    message: str | None
    agent: str | None
    run: str | None
    role: str | None
    turns: Collection[str] | None
    for_room: bool | None
    by_model: bool | None
    data: Mapping[str, Any] | None


class CategorizedFields(MemoryFields, total=False):
    """Optional fields of a new memory, with category and key."""

    category: str | None
    key: str | None


_FLAGS = frozenset({"for_room", "by_model", "classified"})  # options of the write, not fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Checked input of a write. None: the caller did not set the field."""

    content: str | None = None
    kind: Kind | None = None
    category: str | None = None
    key: str | None = None
    slot: str | None = None
    about: tuple[object, ...] | None = None  # names, external keys or person ids
    withheld_from: tuple[object, ...] | None = None
    visibility: Visibility | None = None
    sensitivity: Sensitivity | None = None
    portable: bool | None = None
    importance: int | None = None
    confidence: float | None = None
    pinned: bool | None = None
    tags: tuple[str, ...] | None = None
    observed_at: datetime | None = None
    expires_at: datetime | None = None
    message: str | None = None  # the channel's message id
    agent: str | None = None
    run: str | None = None
    role: str | None = None
    turns: tuple[str, ...] | None = None  # ids of the episodes it was learned from
    data: Mapping[str, Any] | None = None  # a JSON object; an empty one clears it
    by_model: bool = False  # written by a model: lowers no protection; profile needs consent
    for_room: bool = False  # a fact of the chat, without an owner
    # Set by Tacit, never by a caller.
    trust: Trust | None = None
    created_at: datetime | None = None  # of an import
    classified: bool = False  # learning classified the sensitivity

    @property
    def given_fields(self) -> frozenset[str]:
        """Names of the fields that the caller set."""
        given = (f.name for f in fields(self) if getattr(self, f.name) is not None)
        return frozenset(given) - _FLAGS


def parse_draft(values: dict[str, Any], categories: Collection[str]) -> Draft:
    """Check the fields of a write. Raise InvalidInput for an unknown field."""
    known: dict[str, Any] = {}
    for name, value in values.items():
        if name not in _CHECKS:
            raise InvalidInput(name, f"unknown field; use one of {', '.join(sorted(_CHECKS))}")
        if value is not None:
            known[name] = _CHECKS[name](name, value)
    if "category" in known:
        known["category"] = validation.parse_category(known["category"], categories)
    return Draft(**known)


def parse_turn_ids(value: object) -> tuple[str, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        raise InvalidInput("turns", "expected a list of ids, as `record` gave them")
    if len(value) > limits.MESSAGES_MAX_COUNT:
        raise InvalidInput("turns", f"takes at most {limits.MESSAGES_MAX_COUNT} ids")
    found = tuple(one for one in map(validation.parse_memory_id, value) if one is not None)
    if len(found) < len(value):
        raise InvalidInput("turns", "expected ids as `record` gave them, and one is none")
    return found


def parse_people(field: str, value: object) -> tuple[object, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        raise InvalidInput(field, "expected a list of people: names, telegram:123, or person ids")
    if len(value) > limits.PEOPLE_PER_MEMORY_MAX_COUNT:
        raise InvalidInput(field, f"takes at most {limits.PEOPLE_PER_MEMORY_MAX_COUNT} people")
    return tuple(value)


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "content": lambda _, value: validation.parse_content(value),
    "kind": validation.enum_parser(Kind),
    "category": lambda _, value: value,  # parse_draft checks it: it depends on the settings
    "key": partial(validation.parse_screened_identifier, max_chars=limits.KEY_MAX_CHARS),
    "slot": partial(validation.parse_screened_identifier, max_chars=limits.SLOT_MAX_CHARS),
    "about": parse_people,
    "withheld_from": parse_people,
    "visibility": validation.enum_parser(Visibility),
    "sensitivity": validation.enum_parser(Sensitivity),
    "portable": validation.parse_bool,
    "importance": validation.parse_importance,
    "confidence": validation.parse_fraction,
    "pinned": validation.parse_bool,
    "tags": lambda _, value: validation.parse_tags(value),
    "observed_at": validation.parse_datetime,
    "expires_at": validation.parse_datetime,
    "message": validation.parse_label,
    "agent": validation.parse_label,
    "run": validation.parse_label,
    "role": validation.parse_label,
    "turns": lambda _, value: parse_turn_ids(value),
    "for_room": validation.parse_bool,
    "by_model": validation.parse_bool,
    "data": lambda _, value: validation.parse_data(value),
}


# Imports from other systems.


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportItem:
    """One item of another system. The import checks it and refuses bad items one by one."""

    content: str
    kind: Kind | str | None = None
    category: str | None = None
    key: str | None = None
    about: Collection[str] | None = None  # names, external keys or person ids
    tags: Collection[str] | None = None
    data: Mapping[str, Any] | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None
    importance: int | None = None
    source: str | None = None  # its id in the other system; without it the content identifies it


ImportItems = Iterable[ImportItem | Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedItem:
    """An item that was not imported, and why; without its content."""

    place: int  # index in the call, from 0
    why: str
    secret: str | None = None  # kind of secret, if that is the reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreviewItem:
    """An item as it would be stored."""

    content: str
    kind: Kind
    category: str
    key: str | None
    tags: tuple[str, ...]
    sensitivity: Sensitivity
    created_at: datetime | None  # None: the time of the import
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview:
    """What an import would do, without doing it."""

    new: int = 0
    already: int = 0  # stored already, or imported before and forgotten
    sensitive: int = 0  # of the new items
    refused: tuple[RefusedItem, ...] = ()
    shown: tuple[ImportPreviewItem, ...] = ()  # the new items


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRun:
    """A named import with the totals of all its calls."""

    run: str
    source: str  # the other system, such as mem0
    started_at: datetime
    updated_at: datetime
    created: int = 0
    already: int = 0
    refused: int = 0
    done: int = 0  # items processed from the start, if the calls said so
    total: int | None = None  # if the calls said so
    reverting: bool = False  # a revert has started and is not finished
    reverted_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportStep:
    """The result of one call of an import. False from a disabled view."""

    created: int = 0
    already: int = 0
    refused: tuple[RefusedItem, ...] = ()
    run: ImportRun | None = None  # totals after this call

    def __bool__(self) -> bool:
        return self.run is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertedImport:
    """The result of reverting an import. False from a disabled view."""

    run: str
    forgotten: int = 0  # restorable
    changed: int = 0  # changed since the import and therefore kept

    def __bool__(self) -> bool:
        return bool(self.run)


_ITEM_FIELDS = tuple(one.name for one in fields(ImportItem))
_DRAFT_FIELDS = tuple(one for one in _ITEM_FIELDS if one not in ("source", "created_at"))


def parse_import_item(value: object) -> ImportItem:
    """Return an item from an object of JSON; times may be ISO text."""
    if isinstance(value, ImportItem):
        return value
    if not isinstance(value, Mapping):
        raise InvalidInput("item", "expected an object with a content")
    for name in value:
        if name not in _ITEM_FIELDS:
            raise InvalidInput("item", f"has an unknown field; use {', '.join(_ITEM_FIELDS)}")
    if value.get("content") is None:
        raise InvalidInput("content", "is missing; say what to remember")
    found: dict[str, Any] = dict(value)
    for name in ("created_at", "expires_at"):
        if found.get(name) is not None:
            found[name] = validation.parse_iso_datetime(name, found[name])
    return ImportItem(**found)


def draft_from_item(item: ImportItem, categories: Collection[str]) -> Draft:
    """Check an item like the input of any other write."""
    found = parse_draft({name: getattr(item, name) for name in _DRAFT_FIELDS}, categories)
    if found.content is None:
        raise InvalidInput("content", "is missing; say what to remember")
    if item.created_at is None:
        return found
    then = validation.parse_datetime("created_at", item.created_at)
    return replace(found, created_at=then, observed_at=then)


def parse_source_id(item: ImportItem) -> str | None:
    """Check the source id. Only its hash is stored, so any text is allowed."""
    if item.source is None:
        return None
    return validation.check_storable("source", item.source, limits.IMPORT_ID_MAX_CHARS)


def measure_items(items: Iterable[object], most: int) -> int:
    """Count the characters of all texts, plus a few per value, and stop above `most`.

    The items are unchecked: they may hold any value, also themselves.
    """
    size = 0
    pending = list(items)
    while pending and size <= most:
        value = pending.pop()
        if value is None:
            continue
        size += limits.IMPORT_VALUE_CHARS + (len(value) if isinstance(value, str) else 0)
        if isinstance(value, ImportItem):
            pending += [getattr(value, one.name) for one in fields(value)]
        elif isinstance(value, Mapping):
            pending += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            pending += value
    return size
