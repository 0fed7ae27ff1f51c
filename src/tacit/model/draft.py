"""What a caller asks to be remembered, checked. None means that the caller did not say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypedDict

from tacit import limits
from tacit.errors import InvalidInput
from tacit.model import json_value, text
from tacit.model.words import Kind, Sensitivity, Trust, Visibility


class Fields(TypedDict, total=False):
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


class FiledFields(Fields, total=False):
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


def parse(values: dict[str, Any], categories: Collection[str]) -> Draft:
    """Check what was handed in. A name that is no field is a mistake of the caller's, said so."""
    known: dict[str, Any] = {}
    for name, value in values.items():
        if name not in _CHECKS:
            raise InvalidInput(name, f"unknown field; use one of {', '.join(sorted(_CHECKS))}")
        if value is not None:
            known[name] = _CHECKS[name](value)
    if "category" in known:
        known["category"] = text.category(known["category"], categories)
    return Draft(**known)


def turns(value: object) -> tuple[str, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        raise InvalidInput("turns", "expected a list of ids, as `record` gave them")
    if len(value) > limits.MESSAGES_MAX_COUNT:
        raise InvalidInput("turns", f"takes at most {limits.MESSAGES_MAX_COUNT} ids")
    found = tuple(map(text.memory_id, value))
    if None in found:
        raise InvalidInput("turns", "expected ids as `record` gave them, and one is none")
    return tuple(one for one in found if one is not None)


def people(field: str, value: object) -> tuple[object, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        raise InvalidInput(field, "expected a list of people: names, telegram:123, or person ids")
    if len(value) > limits.PEOPLE_PER_MEMORY_MAX_COUNT:
        raise InvalidInput(field, f"takes at most {limits.PEOPLE_PER_MEMORY_MAX_COUNT} people")
    return tuple(value)


def _label(name: str) -> Callable[[Any], str]:
    return lambda value: text.identifier(name, value, limits.LABEL_MAX_CHARS)


def _said(name: str, most: int) -> Callable[[Any], str]:
    return lambda value: text.said_identifier(name, value, most)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "content": text.content,
    "kind": lambda v: text.choice("kind", v, Kind),
    "category": lambda v: v,  # see above: it depends on the settings
    "key": _said("key", limits.KEY_MAX_CHARS),
    "slot": _said("slot", limits.SLOT_MAX_CHARS),
    "about": lambda v: people("about", v),
    "withheld_from": lambda v: people("withheld_from", v),
    "visibility": lambda v: text.choice("visibility", v, Visibility),
    "sensitivity": lambda v: text.choice("sensitivity", v, Sensitivity),
    "portable": lambda v: text.flag("portable", v),
    "importance": lambda v: text.whole(
        "importance", v, limits.IMPORTANCE_MIN, limits.IMPORTANCE_MAX
    ),
    "confidence": lambda v: text.fraction("confidence", v),
    "pinned": lambda v: text.flag("pinned", v),
    "tags": text.tags,
    "observed_at": lambda v: text.moment("observed_at", v),
    "expires_at": lambda v: text.moment("expires_at", v),
    "message": _label("message"),
    "agent": _label("agent"),
    "run": _label("run"),
    "role": _label("role"),
    "turns": turns,
    "for_room": lambda v: text.flag("for_room", v),
    "by_model": lambda v: text.flag("by_model", v),
    "data": json_value.data,
}
