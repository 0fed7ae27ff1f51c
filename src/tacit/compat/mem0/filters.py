"""mem0's filters by metadata: operators and AND, OR, NOT, read once and then asked of each memory.

They narrow what its person may hear anyway; none of them reaches anybody else's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from tacit.errors import InvalidInput

Payload = Mapping[str, Any]
Test = Callable[[Payload], bool]

_ANYTHING = "*"
_DEPTH_MAX_COUNT = 16
_MISSING = object()
_GROUPS = {"AND": "AND", "OR": "OR", "NOT": "NOT", "$and": "AND", "$or": "OR", "$not": "NOT"}


def reading(filters: Mapping[str, Any]) -> Test:
    """All of it has to hold."""
    return _every(filters, _DEPTH_MAX_COUNT)


def _every(filters: Mapping[str, Any], depth: int) -> Test:
    if depth == 0:
        raise InvalidInput("filters", f"are nested deeper than {_DEPTH_MAX_COUNT} levels")
    tests = [_part(name, wanted, depth) for name, wanted in filters.items()]
    return lambda payload: all(test(payload) for test in tests)


def _part(name: object, wanted: object, depth: int) -> Test:
    if not isinstance(name, str):
        raise InvalidInput("filters", f"are named by text, not by {type(name).__name__}")
    group = _GROUPS.get(name)
    if group is None:
        return _field(name, wanted)
    tests = [_every(one, depth - 1) for one in _listed(name, wanted)]
    if group == "AND":
        return lambda payload: all(test(payload) for test in tests)
    if group == "OR":
        return lambda payload: any(test(payload) for test in tests)
    return lambda payload: not any(test(payload) for test in tests)


def _listed(name: str, wanted: object) -> list[dict[str, Any]]:
    if isinstance(wanted, list) and all(isinstance(one, dict) for one in wanted):
        if wanted or name.lstrip("$").upper() == "AND":
            return wanted
        raise InvalidInput("filters", f"{name} is empty; give it at least one condition")
    raise InvalidInput("filters", f"{name} takes a list of conditions, such as [{{'kind': 'a'}}]")


def _field(name: str, wanted: object) -> Test:
    if isinstance(wanted, str) and wanted == _ANYTHING:
        return lambda _: True
    if isinstance(wanted, list):
        wanted = {"in": wanted}
    asked = wanted if isinstance(wanted, dict) else {"eq": wanted}
    if not asked:
        raise InvalidInput("filters", f"{name!r} says nothing; write for example {{'gt': 3}}")
    tests = [_operator(name, operator, value) for operator, value in asked.items()]

    def holds(payload: Payload) -> bool:
        found = _found(payload, name)
        # Where a memory has several values, one that fits is enough; where it has none, none fits.
        several = found if isinstance(found, list) else [] if found is _MISSING else [found]
        return all(any(test(one) for one in several) for test in tests)

    return holds


def _found(payload: Payload, name: str) -> Any:
    if name in payload:
        return payload[name]
    inside: Any = payload
    for part in name.split("."):
        if not isinstance(inside, Mapping) or part not in inside:
            return _MISSING
        inside = inside[part]
    return inside


def _operator(name: str, operator: object, value: Any) -> Callable[[Any], bool]:
    if operator == "eq":
        return lambda found: _same(found, value)
    if operator == "ne":
        return lambda found: not _same(found, value)
    if operator in ("in", "nin"):
        if not isinstance(value, list | tuple | set | frozenset):
            raise InvalidInput("filters", f"{operator!r} of {name!r} takes a list of values")
        among = list(value)
        wanted = operator == "in"
        return lambda found: any(_same(found, one) for one in among) is wanted
    if operator in ("contains", "icontains"):
        return _within(name, operator, value)
    if operator in ("gt", "gte", "lt", "lte"):
        return _compared(name, operator, value)
    known = "eq, ne, gt, gte, lt, lte, in, nin, contains, icontains"
    raise InvalidInput("filters", f"{name!r} has no operator {operator!r}; use one of {known}")


def _within(name: str, operator: str, value: object) -> Callable[[Any], bool]:
    if not isinstance(value, str):
        raise InvalidInput("filters", f"{operator!r} of {name!r} takes text")
    if operator == "contains":
        return lambda found: isinstance(found, str) and value in found
    folded = value.casefold()
    return lambda found: isinstance(found, str) and folded in found.casefold()


def _compared(name: str, operator: str, value: object) -> Callable[[Any], bool]:
    bound = _ordered(value)
    if bound is None:
        raise InvalidInput("filters", f"{operator!r} of {name!r} takes a number or a date")

    def holds(found: Any) -> bool:
        mark = _ordered(found)
        if mark is None or isinstance(mark, datetime) is not isinstance(bound, datetime):
            return False
        low, high = (bound, mark) if operator in ("gt", "gte") else (mark, bound)
        return bool(low < high or (operator in ("gte", "lte") and low == high))

    return holds


def _ordered(value: object) -> Any:
    """A number or a moment; None for what has no order."""
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


def _same(found: object, wanted: object) -> bool:
    """True is not one: JSON tells them apart."""
    return found == wanted and isinstance(found, bool) is isinstance(wanted, bool)
