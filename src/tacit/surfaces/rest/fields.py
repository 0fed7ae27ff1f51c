"""The fields of a memory as a request names them, and their shapes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema

from tacit import limits
from tacit.records.memory import Kind, Sensitivity, Visibility
from tacit.surfaces.rest.named import ID
from tacit.surfaces.rest.shapes import (
    CONTENT,
    FLAG,
    FRACTION,
    IMPORTANCE,
    LABEL,
    MOMENT,
    Given,
    one_of,
    or_null,
    several,
    whole,
    words,
)

MOMENTS = ("observed_at", "expires_at")
_PEOPLE = several(words(limits.NAME_MAX_CHARS, 1), most=limits.PEOPLE_PER_MEMORY_MAX_COUNT)
_TAGS = several(words(limits.TAG_MAX_CHARS, 1), most=limits.TAGS_MAX_COUNT)
_DATA = {
    "type": "object",
    "description": "Kept and told with the memory: JSON without secrets. {} clears it.",
}
_TURNS = several(ID, most=limits.MESSAGES_MAX_COUNT)

People = Annotated[Any, WithJsonSchema(or_null(_PEOPLE))]
LabelOrNull = Annotated[Any, WithJsonSchema(or_null(LABEL))]
FlagOrNull = Annotated[Any, WithJsonSchema(or_null(FLAG))]
MomentOrNull = Annotated[Any, WithJsonSchema(or_null(MOMENT))]


class Fields(Given):
    """What can be said of a memory besides its words. Nothing is required."""

    kind: Annotated[Any, WithJsonSchema(or_null(one_of(Kind)))] = None
    slot: Annotated[Any, WithJsonSchema(or_null(words(limits.SLOT_MAX_CHARS, 1)))] = None
    about: People = None
    withheld_from: People = None
    sensitivity: Annotated[Any, WithJsonSchema(or_null(one_of(Sensitivity)))] = None
    portable: FlagOrNull = None
    importance: Annotated[Any, WithJsonSchema(or_null(IMPORTANCE))] = None
    confidence: Annotated[Any, WithJsonSchema(or_null(FRACTION))] = None
    pinned: FlagOrNull = None
    tags: Annotated[Any, WithJsonSchema(or_null(_TAGS))] = None
    observed_at: MomentOrNull = None
    expires_at: MomentOrNull = None
    message: LabelOrNull = None
    agent: LabelOrNull = None
    run: LabelOrNull = None
    role: LabelOrNull = None
    by_model: FlagOrNull = None
    turns: Annotated[Any, WithJsonSchema(or_null(_TURNS))] = None
    data: Annotated[Any, WithJsonSchema(or_null(_DATA))] = None


class NewFields(Fields):
    visibility: Annotated[Any, WithJsonSchema(or_null(one_of(Visibility)))] = None
    for_room: FlagOrNull = None


class RememberFields(NewFields):
    content: Annotated[Any, WithJsonSchema(CONTENT)]
    category: Annotated[Any, WithJsonSchema(or_null(words(limits.CATEGORY_MAX_CHARS, 1)))] = None
    key: Annotated[Any, WithJsonSchema(or_null(words(limits.KEY_MAX_CHARS, 1)))] = None


class PutFields(NewFields):
    value: Annotated[Any, WithJsonSchema(CONTENT)]


_NEVER = WithJsonSchema({"type": "null"})  # the library says what to use instead


class UpdateFields(Fields):
    content: Annotated[Any, WithJsonSchema(or_null(CONTENT))] = None
    if_version: Annotated[Any, WithJsonSchema(or_null(whole(1, 2**31)))] = None
    category: Annotated[Any, WithJsonSchema(or_null(words(limits.CATEGORY_MAX_CHARS, 1)))] = None
    key: Annotated[Any, _NEVER] = None
    visibility: Annotated[Any, _NEVER] = None
    for_room: Annotated[Any, WithJsonSchema({"enum": [False, None]})] = None
    turns: Annotated[Any, _NEVER] = None
