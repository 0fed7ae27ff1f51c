"""A question to memory, checked: its words, and what the answer is narrowed to."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

from tacit import limits
from tacit.errors import InvalidInput
from tacit.model import text
from tacit.model.words import Kind

MEMORIES = "memories"
TURNS = "turns"


class Narrowing(TypedDict, total=False):
    """What an answer can be narrowed to. Nothing is required."""

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
class Question:
    text: str
    top_k: int = limits.RECALL_DEFAULT_COUNT
    categories: frozenset[str] | None = None
    kinds: frozenset[Kind] | None = None
    user: str | None = None  # whose it is: a name, an external key or a person id
    agent: str | None = None
    run: str | None = None
    actor: str | None = None  # who said it
    role: str | None = None
    pinned: bool | None = None
    importance_min: int | None = None
    importance_max: int | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    threshold: float = 0.0  # results with a lower score are dropped
    as_of: datetime | None = None  # answers with what was known then
    include: frozenset[str] = frozenset({MEMORIES})
    only: frozenset[str] | None = None  # the categories that whoever asks may use at all


def parse(
    query: object, top_k: object, values: dict[str, Any], categories: Collection[str]
) -> Question:
    """Check what was handed in. A name that is no filter is a mistake of the caller's, said so."""
    checks = _checks(categories)
    known: dict[str, Any] = {}
    for name, value in values.items():
        if name not in checks:
            raise InvalidInput(name, f"unknown filter; use one of {', '.join(sorted(checks))}")
        if value is not None:
            known[name] = checks[name](value)
    low, high = known.get("importance_min"), known.get("importance_max")
    if low is not None and high is not None and low > high:
        raise InvalidInput("importance_min", "is above importance_max, so nothing could be found")
    return Question(
        text=text.storable("query", query, limits.QUERY_MAX_CHARS),
        top_k=text.whole("top_k", top_k, 1, limits.RECALL_MAX_COUNT),
        **known,
    )


def _checks(categories: Collection[str]) -> dict[str, Callable[[Any], Any]]:
    def label(name: str) -> Callable[[Any], Any]:
        return lambda value: text.identifier(name, value, limits.LABEL_MAX_CHARS)

    def importance(name: str) -> Callable[[Any], Any]:
        low, high = limits.IMPORTANCE_MIN, limits.IMPORTANCE_MAX
        return lambda value: text.whole(name, value, low, high)

    def moment(name: str) -> Callable[[Any], Any]:
        return lambda value: text.moment(name, value)

    return {
        "categories": lambda v: _some(
            "categories", v, lambda c: text.category(c, categories, "categories")
        ),
        "kinds": lambda v: _some("kinds", v, lambda k: text.choice("kinds", k, Kind)),
        "user": label("user"),
        "agent": label("agent"),
        "run": label("run"),
        "actor": label("actor"),
        "role": label("role"),
        "pinned": lambda v: text.flag("pinned", v),
        "importance_min": importance("importance_min"),
        "importance_max": importance("importance_max"),
        "updated_after": moment("updated_after"),
        "updated_before": moment("updated_before"),
        "threshold": lambda v: text.fraction("threshold", v),
        "as_of": moment("as_of"),
        "include": lambda v: _some("include", v, _included),
    }


def _some(field: str, value: object, check: Callable[[Any], Any]) -> frozenset[Any]:
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        raise InvalidInput(field, "expected a list")
    if not value:
        raise InvalidInput(field, "is empty, so nothing could be found; leave it out")
    return frozenset(check(one) for one in value)


def _included(value: object) -> str:
    if value not in (MEMORIES, TURNS):
        raise InvalidInput("include", f"expected {MEMORIES} or {TURNS}")
    return str(value)
