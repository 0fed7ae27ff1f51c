"""Checked input for a new memory, and items imported from another system."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, TypedDict

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.memory import Kind, Sensitivity, Trust, Visibility

# What a caller asks to be remembered, checked. None means that the caller did not say.


class MemoryFields(TypedDict, total=False):
    """What can be said of a memory besides its words. Nothing is required."""

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
    """The same, and where it is filed."""

    category: str | None
    key: str | None


_FLAGS = frozenset({"for_room", "by_model", "classified"})  # how it is written, not what it says


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
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
    message: str | None = None  # the channel's id of the message it was said in
    agent: str | None = None
    run: str | None = None
    role: str | None = None
    turns: tuple[str, ...] | None = None  # ids of what it was learned from
    data: Mapping[str, Any] | None = None  # a JSON object; an empty one clears it
    by_model: bool = False  # a model wrote this: it lowers nothing, and asks about a profile
    for_room: bool = False  # a fact of the room's own: it has no owner
    trust: Trust | None = None  # set by the stages that write, never by a caller
    created_at: datetime | None = None  # of an import; likewise
    classified: bool = False  # learning found out how sensitive it is; likewise

    @property
    def given_fields(self) -> frozenset[str]:
        """The fields that the caller did say."""
        said = (f.name for f in fields(self) if getattr(self, f.name) is not None)
        return frozenset(said) - _FLAGS


def parse_draft(values: dict[str, Any], categories: Collection[str]) -> Draft:
    """Check what was handed in. A name that is no field is a mistake of the caller's, said so."""
    known: dict[str, Any] = {}
    for name, value in values.items():
        if name not in _CHECKS:
            raise InvalidInput(name, f"unknown field; use one of {', '.join(sorted(_CHECKS))}")
        if value is not None:
            known[name] = _CHECKS[name](value)
    if "category" in known:
        known["category"] = validation.parse_category(known["category"], categories)
    return Draft(**known)


def parse_turn_ids(value: object) -> tuple[str, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        raise InvalidInput("turns", "expected a list of ids, as `record` gave them")
    if len(value) > limits.MESSAGES_MAX_COUNT:
        raise InvalidInput("turns", f"takes at most {limits.MESSAGES_MAX_COUNT} ids")
    found = tuple(map(validation.parse_memory_id, value))
    if None in found:
        raise InvalidInput("turns", "expected ids as `record` gave them, and one is none")
    return tuple(one for one in found if one is not None)


def parse_people(field: str, value: object) -> tuple[object, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        raise InvalidInput(field, "expected a list of people: names, telegram:123, or person ids")
    if len(value) > limits.PEOPLE_PER_MEMORY_MAX_COUNT:
        raise InvalidInput(field, f"takes at most {limits.PEOPLE_PER_MEMORY_MAX_COUNT} people")
    return tuple(value)


def _label_check(name: str) -> Callable[[Any], str]:
    return lambda value: validation.parse_identifier(name, value, limits.LABEL_MAX_CHARS)


def _screened_check(name: str, most: int) -> Callable[[Any], str]:
    return lambda value: validation.parse_screened_identifier(name, value, most)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "content": validation.parse_content,
    "kind": lambda v: validation.parse_enum("kind", v, Kind),
    "category": lambda v: v,  # see above: it depends on the settings
    "key": _screened_check("key", limits.KEY_MAX_CHARS),
    "slot": _screened_check("slot", limits.SLOT_MAX_CHARS),
    "about": lambda v: parse_people("about", v),
    "withheld_from": lambda v: parse_people("withheld_from", v),
    "visibility": lambda v: validation.parse_enum("visibility", v, Visibility),
    "sensitivity": lambda v: validation.parse_enum("sensitivity", v, Sensitivity),
    "portable": lambda v: validation.parse_bool("portable", v),
    "importance": lambda v: validation.parse_int(
        "importance", v, limits.IMPORTANCE_MIN, limits.IMPORTANCE_MAX
    ),
    "confidence": lambda v: validation.parse_fraction("confidence", v),
    "pinned": lambda v: validation.parse_bool("pinned", v),
    "tags": validation.parse_tags,
    "observed_at": lambda v: validation.parse_datetime("observed_at", v),
    "expires_at": lambda v: validation.parse_datetime("expires_at", v),
    "message": _label_check("message"),
    "agent": _label_check("agent"),
    "run": _label_check("run"),
    "role": _label_check("role"),
    "turns": parse_turn_ids,
    "for_room": lambda v: validation.parse_bool("for_room", v),
    "by_model": lambda v: validation.parse_bool("by_model", v),
    "data": validation.parse_data,
}


# What comes from another memory: one thing at a time, and the runs that bring it.

_TIME_FIELDS = ("created_at", "expires_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportItem:
    """One thing that another memory kept, as it is to be kept here. Whoever reads a file makes them
    without a check: what is wrong with one is said when it is taken in, and the others are kept."""

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
    source: str | None = None  # its id where it comes from; without one it is known by its words


ImportItems = Iterable[ImportItem | Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedItem:
    """One that is not kept, and why: never with what it says."""

    place: int  # among those that were handed in, from 0
    why: str
    secret: str | None = None  # the kind of secret in it, if that is why


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreviewItem:
    """Something as it would be kept."""

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
    """What an import would do. Nothing of it is done."""

    new: int = 0
    already: int = 0  # here by now, or imported once and forgotten since
    sensitive: int = 0  # of the new ones
    refused: tuple[RefusedItem, ...] = ()
    shown: tuple[ImportPreviewItem, ...] = ()  # the new ones


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRun:
    """An import by its name, over all the calls that belong to it."""

    run: str
    source: str  # what it comes from, such as mem0
    started_at: datetime
    updated_at: datetime
    created: int = 0
    already: int = 0
    refused: int = 0
    done: int = 0  # items from the beginning that are dealt with, where the calls said so
    total: int | None = None  # as far as whoever imports said so
    reverting: bool = False  # it was begun to be reverted, and is not wholly
    reverted_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportStep:
    """What one call of an import did; from a disabled view nothing: then it is false."""

    created: int = 0
    already: int = 0
    refused: tuple[RefusedItem, ...] = ()
    run: ImportRun | None = None  # as it stands after this

    def __bool__(self) -> bool:
        return self.run is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertedImport:
    """What went with an import; from a disabled view nothing: then it is false."""

    run: str
    forgotten: int = 0  # restorable
    changed: int = 0  # since it was imported, and so left alone

    def __bool__(self) -> bool:
        return bool(self.run)


_ITEM_FIELDS = tuple(one.name for one in fields(ImportItem))
_DRAFT_FIELDS = tuple(one for one in _ITEM_FIELDS if one not in ("source", "created_at"))


def parse_import_item(value: object) -> ImportItem:
    """One of them, as JSON has it or as it is. Times may be written as text."""
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
    for name in _TIME_FIELDS:
        if found.get(name) is not None:
            found[name] = validation.parse_iso_datetime(name, found[name])
    return ImportItem(**found)


def draft_from_item(item: ImportItem, categories: Collection[str]) -> Draft:
    """Checked, as everything that somebody asks to be remembered."""
    asked = {name: getattr(item, name) for name in _DRAFT_FIELDS}
    found = parse_draft({n: v for n, v in asked.items() if v is not None}, categories)
    if found.content is None:
        raise InvalidInput("content", "is missing; say what to remember")
    if item.created_at is None:
        return found
    then = validation.parse_datetime("created_at", item.created_at)
    return replace(found, created_at=then, observed_at=then)


def parse_source_id(item: ImportItem) -> str | None:
    """Kept as a hash alone, so that it may be anything."""
    if item.source is None:
        return None
    return validation.check_storable("source", item.source, limits.IMPORT_ID_MAX_CHARS)


def measure_items(items: Iterable[object], most: int) -> int:
    """The characters of all texts in them, and a few for each value; counted no further than
    `most`. What it is made of is not checked here: it may be anything, and hold itself."""
    size = 0
    waiting = list(items)
    while waiting and size <= most:
        value = waiting.pop()
        if value is None:
            continue
        size += limits.IMPORT_VALUE_CHARS + (len(value) if isinstance(value, str) else 0)
        if isinstance(value, ImportItem):
            waiting += [getattr(value, one.name) for one in fields(value)]
        elif isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += value
    return size
