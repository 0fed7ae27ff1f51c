"""mem0's filters on metadata, with operators and AND, OR, NOT, compiled to one test.

They only narrow the memories that a view returns.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from tacit.errors import InvalidInput

FilterPayload = Mapping[str, Any]
FilterTest = Callable[[FilterPayload], bool]

_WILDCARD = "*"
_DEPTH_MAX_COUNT = 16
_MISSING = object()
_COMPARISONS = {"gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
_GROUPS = {"AND": "AND", "OR": "OR", "NOT": "NOT", "$and": "AND", "$or": "OR", "$not": "NOT"}


def compile_filters(filters: Mapping[str, Any], depth: int = _DEPTH_MAX_COUNT) -> FilterTest:
    """Compile filters to a test that requires all of them."""
    if depth == 0:
        raise InvalidInput("filters", f"are nested deeper than {_DEPTH_MAX_COUNT} levels")
    tests = [_compile_part(name, wanted, depth) for name, wanted in filters.items()]
    return lambda payload: all(test(payload) for test in tests)


def _compile_part(name: object, wanted: object, depth: int) -> FilterTest:
    if not isinstance(name, str):
        raise InvalidInput("filters", f"are named by text, not by {type(name).__name__}")
    group = _GROUPS.get(name)
    if group is None:
        return _compile_field(name, wanted)
    tests = [compile_filters(one, depth - 1) for one in _check_conditions(name, wanted)]
    if group == "AND":
        return lambda payload: all(test(payload) for test in tests)
    if group == "OR":
        return lambda payload: any(test(payload) for test in tests)
    return lambda payload: not any(test(payload) for test in tests)


def _check_conditions(name: str, wanted: object) -> list[dict[str, Any]]:
    if isinstance(wanted, list) and all(isinstance(one, dict) for one in wanted):
        if wanted or name.lstrip("$").upper() == "AND":
            return wanted
        raise InvalidInput("filters", f"{name} is empty; give it at least one condition")
    raise InvalidInput("filters", f"{name} takes a list of conditions, such as [{{'kind': 'a'}}]")


def _compile_field(name: str, wanted: object) -> FilterTest:
    if isinstance(wanted, str) and wanted == _WILDCARD:
        return lambda _: True
    if isinstance(wanted, list):
        wanted = {"in": wanted}
    asked = wanted if isinstance(wanted, dict) else {"eq": wanted}
    if not asked:
        raise InvalidInput("filters", f"{name!r} says nothing; write for example {{'gt': 3}}")
    tests = [_compile_operator(name, one, value) for one, value in asked.items()]

    def holds(payload: FilterPayload) -> bool:
        found = _get_by_path(payload, name)
        # Of several values one must match; a missing field never matches.
        several = found if isinstance(found, list) else [] if found is _MISSING else [found]
        return all(any(test(one) for one in several) for test in tests)

    return holds


def _get_by_path(payload: FilterPayload, name: str) -> Any:
    if name in payload:
        return payload[name]
    inside: Any = payload
    for part in name.split("."):
        if not isinstance(inside, Mapping) or part not in inside:
            return _MISSING
        inside = inside[part]
    return inside


def _compile_operator(name: str, comparator: object, value: Any) -> Callable[[Any], bool]:
    def refuse(takes: str) -> InvalidInput:
        return InvalidInput("filters", f"{comparator!r} of {name!r} takes {takes}")

    match comparator:
        case "eq" | "ne":
            return lambda found: _is_equal(found, value) is (comparator == "eq")
        case "in" | "nin":
            if not isinstance(value, list | tuple | set | frozenset):
                raise refuse("a list of values")
            among = list(value)
            return lambda found: any(_is_equal(found, one) for one in among) is (comparator == "in")
        case "contains" | "icontains":
            if not isinstance(value, str):
                raise refuse("text")
            fold = str.casefold if comparator == "icontains" else str
            return lambda found: isinstance(found, str) and fold(value) in fold(found)
        case "gt" | "gte" | "lt" | "lte":
            bound, compare = _parse_ordered(value), _COMPARISONS[comparator]
            if bound is None:
                raise refuse("a number or a date")

            def holds(found: Any) -> bool:
                mark = _parse_ordered(found)
                alike = isinstance(mark, datetime) is isinstance(bound, datetime)
                return mark is not None and alike and bool(compare(mark, bound))

            return holds
    known = "eq, ne, gt, gte, lt, lte, in, nin, contains, icontains"
    raise InvalidInput("filters", f"{name!r} has no operator {comparator!r}; use one of {known}")


def _parse_ordered(value: object) -> Any:
    """Return a number or a moment; None for values without an order."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _is_equal(found: object, wanted: object) -> bool:
    """Compare as JSON does, where True is not 1."""
    return found == wanted and isinstance(found, bool) is isinstance(wanted, bool)
