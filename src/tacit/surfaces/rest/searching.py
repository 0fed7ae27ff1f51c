"""What memories are searched for, as it stands in a request."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema

from tacit import Search, limits
from tacit.records.memory import Kind, Sensitivity, State, Visibility
from tacit.records.queries import ANY_STATE, MATCH_ALL
from tacit.surfaces.rest import named
from tacit.surfaces.rest.shapes import FLAG, MOMENT, NO_NUL, Shape, one_of, or_null, part, words
from tacit.surfaces.wire.taking import made, moment

_BY: dict[str, Shape] = {
    "words": {**words(limits.SEARCH_MAX_CHARS), "pattern": NO_NUL},
    "category": words(limits.CATEGORY_MAX_CHARS, 1),
    "kind": one_of(Kind),
    "about": words(limits.NAME_MAX_CHARS, 1),
    "chat": named.CHAT,
    "visibility": one_of(Visibility),
    "sensitivity": one_of(Sensitivity),
    "state": one_of((*State, ANY_STATE)),
    "pinned": FLAG,
    "since": MOMENT,
    "until": MOMENT,
}
SEARCH = part((), **{name: or_null(shape) for name, shape in _BY.items()})
SearchOrNone = Annotated[Any, WithJsonSchema(or_null(SEARCH))]


def search_of(found: object) -> Search:
    if found is None:
        return MATCH_ALL
    times = {name: _time(name) for name in ("since", "until")}
    return made(Search, "search", found, **times)


def _time(name: str) -> Any:
    return lambda value: moment(name, value)
