"""Checked input of recall and browsing, and the cursors of pages."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final, TypedDict, TypeVar

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.memory import Kind, Memory, Sensitivity, State, Visibility
from tacit.records.results import Page

T = TypeVar("T")

INCLUDE_MEMORIES = "memories"
INCLUDE_TURNS = "turns"
INCLUDE_BOTH = frozenset({INCLUDE_MEMORIES, INCLUDE_TURNS})
# Filters on what only memories differ in: with one of them, turns are searched only if asked for.
_MEMORY_FILTERS = frozenset({"categories", "kinds", "pinned", "importance_min", "importance_max"})


class RecallFilters(TypedDict, total=False):
    """Filters of `recall` and `query`; all are optional."""

    categories: Collection[str] | None
    kinds: Collection[Kind | str] | None
    user: str | None
    agent: str | None
    run: str | None
    actor: str | None
    role: str | None
    pinned: bool | None
    importance_min: int | None
    importance_max: int | None
    updated_after: datetime | None
    updated_before: datetime | None
    threshold: float | None
    as_of: datetime | None
    include: Collection[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    text: str
    top_k: int = limits.RECALL_DEFAULT_COUNT
    categories: frozenset[str] | None = None
    kinds: frozenset[Kind] | None = None
    user: str | None = None  # owner: a name, an external key or a person id
    agent: str | None = None
    run: str | None = None
    actor: str | None = None  # speaker
    role: str | None = None
    pinned: bool | None = None
    importance_min: int | None = None
    importance_max: int | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    threshold: float = 0.0  # results with a lower score are dropped
    as_of: datetime | None = None  # search the versions of this time
    include: frozenset[str] = INCLUDE_BOTH
    only: frozenset[str] | None = None  # categories that the caller's key allows


def parse_recall_query(
    query: object, top_k: object, values: dict[str, Any], categories: Collection[str]
) -> RecallQuery:
    """Check a query and its filters. Raise InvalidInput for an unknown filter."""
    known: dict[str, Any] = {}
    for name, value in values.items():
        if name not in _FILTER_CHECKS:
            filters = ", ".join(sorted(_FILTER_CHECKS))
            raise InvalidInput(name, f"unknown filter; use one of {filters}")
        if value is not None:
            known[name] = _FILTER_CHECKS[name](name, value)
    for one in known.get("categories", ()):
        validation.parse_category(one, categories, "categories")
    low, high = known.get("importance_min"), known.get("importance_max")
    if low is not None and high is not None and low > high:
        raise InvalidInput("importance_min", "is above importance_max, so nothing could be found")
    if not _MEMORY_FILTERS.isdisjoint(known):
        known.setdefault("include", frozenset({INCLUDE_MEMORIES}))
    return RecallQuery(
        text=validation.check_storable("query", query, limits.QUERY_MAX_CHARS),
        top_k=validation.parse_int("top_k", top_k, 1, limits.RECALL_MAX_COUNT),
        **known,
    )


def _collection_parser(check: Callable[[str, Any], Any]) -> Callable[[str, Any], frozenset[Any]]:
    def parse(field: str, value: object) -> frozenset[Any]:
        if isinstance(value, str | bytes) or not isinstance(value, Collection):
            raise InvalidInput(field, "expected a list")
        if not value:
            raise InvalidInput(field, "is empty, so nothing could be found; leave it out")
        return frozenset(check(field, one) for one in value)

    return parse


def _parse_include(field: str, value: object) -> str:
    if value not in (INCLUDE_MEMORIES, INCLUDE_TURNS):
        raise InvalidInput(field, f"expected {INCLUDE_MEMORIES} or {INCLUDE_TURNS}")
    return str(value)


_FILTER_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    # Which categories are known depends on the settings: parse_recall_query checks that.
    "categories": _collection_parser(partial(validation.parse_identifier, max_chars=limits.CATEGORY_MAX_CHARS)),
    "kinds": _collection_parser(validation.enum_parser(Kind)),
    "user": validation.parse_label,
    "agent": validation.parse_label,
    "run": validation.parse_label,
    "actor": validation.parse_label,
    "role": validation.parse_label,
    "pinned": validation.parse_bool,
    "importance_min": validation.parse_importance,
    "importance_max": validation.parse_importance,
    "updated_after": validation.parse_datetime,
    "updated_before": validation.parse_datetime,
    "threshold": validation.parse_fraction,
    "as_of": validation.parse_datetime,
    "include": _collection_parser(_parse_include),
}


ANY_STATE: Final = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Filters of `browse`; None disables a filter."""

    words: str | None = None  # prefixes of words, without case and accents
    category: str | None = None
    kind: Kind | str | None = None
    about: str | None = None  # an external key, a person id or, among own memories, a name
    chat: str | None = None  # where it was learned
    visibility: Visibility | str | None = None
    sensitivity: Sensitivity | str | None = None
    state: State | str | None = None  # None: active; ANY: in every state
    pinned: bool | None = None
    since: datetime | None = None  # created then or later
    until: datetime | None = None  # created before
    owner: str | None = None  # external key; for operators only


MATCH_ALL: Final = Search()


# Cursors: opaque text for the position where a page ended.


def make_page(found: Sequence[T], most: int, position: Callable[[T], Sequence[object]]) -> Page[T]:
    """Make a page of `most` rows; `found` has one more if there is a next page."""
    shown = tuple(found[:most])
    following = encode_cursor(*position(shown[-1])) if len(found) > most else None
    return Page(items=shown, cursor=following)


def memory_position(memory: Memory) -> tuple[int, str]:
    return to_micros(memory.created_at), memory.id


def encode_cursor(*position: object) -> str:
    plain = " ".join(map(str, position))
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def parse_cursor(cursor: Any, parse: Callable[..., T]) -> T | None:
    """Return the position in a cursor, or None for the first page.

    `parse` takes the parts of the position, and raises ValueError for wrong ones.
    """
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return parse(*base64.urlsafe_b64decode(padded.encode("ascii")).decode().split(" "))
    except (AttributeError, TypeError, ValueError):
        raise InvalidInput("cursor", "is not one we gave; start again without it") from None


def decode_cursor(cursor: Any) -> tuple[int, str] | None:
    """Return the time (in microseconds) and the id of the row that a page ended with."""
    return parse_cursor(cursor, _parse_row_position)


def _parse_row_position(at: str, id: str) -> tuple[int, str]:
    if validation.parse_memory_id(id) is None:
        raise ValueError(id)
    return parse_micros(at), id


def parse_micros(text: str) -> int:
    """Parse a time of a cursor, within the range of both databases."""
    if abs(at := int(text)) >= 2**62:
        raise ValueError(text)
    return at
