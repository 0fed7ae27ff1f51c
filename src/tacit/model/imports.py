"""What comes from another memory: one thing at a time, and the runs that bring it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from tacit import moving_limits
from tacit.errors import InvalidInput
from tacit.model import draft, text
from tacit.model.draft import Draft
from tacit.model.words import Kind, Sensitivity

_TIMES = ("created_at", "expires_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
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


Items = Iterable[Incoming | Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedItem:
    """One that is not kept, and why: never with what it says."""

    place: int  # among those that were handed in, from 0
    why: str
    secret: str | None = None  # the kind of secret in it, if that is why


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
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
    shown: tuple[Foreseen, ...] = ()  # the new ones


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


_NAMES = tuple(one.name for one in fields(Incoming))
_DRAFTED = tuple(one for one in _NAMES if one not in ("source", "created_at"))


def incoming(value: object) -> Incoming:
    """One of them, as JSON has it or as it is. Times may be written as text."""
    if isinstance(value, Incoming):
        return value
    if not isinstance(value, Mapping):
        raise InvalidInput("item", "expected an object with a content")
    for name in value:
        if name not in _NAMES:
            raise InvalidInput("item", f"has an unknown field; use {', '.join(_NAMES)}")
    if value.get("content") is None:
        raise InvalidInput("content", "is missing; say what to remember")
    found: dict[str, Any] = dict(value)
    for name in _TIMES:
        if found.get(name) is not None:
            found[name] = text.written_moment(name, found[name])
    return Incoming(**found)


def drafted(item: Incoming, categories: Collection[str]) -> Draft:
    """Checked, as everything that somebody asks to be remembered."""
    asked = {name: getattr(item, name) for name in _DRAFTED}
    found = draft.parse({n: v for n, v in asked.items() if v is not None}, categories)
    if found.content is None:
        raise InvalidInput("content", "is missing; say what to remember")
    if item.created_at is None:
        return found
    then = text.moment("created_at", item.created_at)
    return replace(found, created_at=then, observed_at=then)


def foreign_id(item: Incoming) -> str | None:
    """Kept as a hash alone, so that it may be anything."""
    if item.source is None:
        return None
    return text.storable("source", item.source, moving_limits.IMPORT_ID_MAX_CHARS)


def size_of(items: Iterable[object], most: int) -> int:
    """The characters of all texts in them, and a few for each value; counted no further than
    `most`. What it is made of is not checked here: it may be anything, and hold itself."""
    size = 0
    waiting = list(items)
    while waiting and size <= most:
        value = waiting.pop()
        if value is None:
            continue
        size += moving_limits.IMPORT_VALUE_CHARS + (len(value) if isinstance(value, str) else 0)
        if isinstance(value, Incoming):
            waiting += [getattr(value, one.name) for one in fields(value)]
        elif isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += value
    return size
