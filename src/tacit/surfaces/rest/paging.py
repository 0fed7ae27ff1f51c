"""Pages of what the library tells as a whole, in its order."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from tacit import Page, limits
from tacit.errors import InvalidInput
from tacit.records import validation

T = TypeVar("T")


class _Place(NamedTuple):
    """Between two of a list: how many stand before it, and the names of its neighbours."""

    after: int
    last: str
    following: str


def paged(found: Sequence[T], name: Callable[[T], str], limit: Any, cursor: Any) -> Page[T]:
    """As many as were asked for, from where the last page ended: behind its last one, or where that
    is gone, at the one that came next. So whoever removes what they read misses nothing."""
    most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
    start = 0 if cursor is None else _start([name(one) for one in found], _decoded(cursor))
    end = start + most
    following = None
    if end < len(found):
        following = _encoded(_Place(end, name(found[end - 1]), name(found[end])))
    return Page(items=tuple(found[start:end]), cursor=following)


def _start(names: list[str], place: _Place) -> int:
    if place.last in names:
        return names.index(place.last) + 1
    if place.following in names:
        return names.index(place.following)
    return min(place.after, len(names))


def _encoded(place: _Place) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _decoded(cursor: Any) -> _Place:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        found = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
        after, last, following = found
        good = type(after) is int and isinstance(last, str) and isinstance(following, str)
    except (TypeError, ValueError, RecursionError):
        good = False
    if not good or not 0 < after < 2**31:
        raise InvalidInput("cursor", "is not one we gave; start again without it")
    return _Place(after, last, following)
