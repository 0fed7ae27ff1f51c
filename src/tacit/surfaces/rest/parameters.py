"""What query strings of many routes hold, with the shape that tells of it."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from tacit import limits
from tacit.records.memory import Kind, State
from tacit.surfaces.rest.shapes import FLAG, NO_NUL, Category, Given, one_of, whole, words

_PREFIX = {**words(limits.KEY_MAX_CHARS), "pattern": NO_NUL}
_WHOLE = re.compile(r"-?[0-9]{1,18}")


def _whole(value: Any) -> Any:
    """A number in a query string; anything else stays as it is, for the library to refuse."""
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value


def _flag(value: Any) -> Any:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


WHOLE = BeforeValidator(_whole)
FLAGGED = BeforeValidator(_flag)
Flag = Annotated[Any, FLAGGED, WithJsonSchema(FLAG)]
Cursor = Annotated[
    Any, WithJsonSchema({"type": "string", "description": "As the page before gave it."})
]
Limit = Annotated[
    Any,
    WHOLE,
    WithJsonSchema({**whole(1, limits.PAGE_MAX_COUNT), "default": limits.PAGE_DEFAULT_COUNT}),
]


class Paged(Given):
    cursor: Cursor = None
    limit: Limit = limits.PAGE_DEFAULT_COUNT


class Narrowed(Given):
    """What a list is narrowed to, beside its category."""

    prefix: Annotated[Any, WithJsonSchema(_PREFIX)] = None
    kind: Annotated[Any, WithJsonSchema(one_of(Kind))] = None
    state: Annotated[Any, WithJsonSchema(one_of(State))] = None
    pinned: Flag = None


class Counted(Narrowed):
    category: Category = None


class Filed(Paged, Narrowed):
    """A page of one category."""


class Filtered(Paged, Counted):
    """A page of all of them, or of one."""
