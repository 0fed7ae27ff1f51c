"""Which items and which namespaces are meant: LangGraph's filters of values, and its patterns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tacit import limits
from tacit.errors import InvalidInput
from tacit.surfaces.langgraph.items import Namespace

if TYPE_CHECKING:
    from langgraph.store.base import MatchCondition

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_KNOWN = ("$eq", "$ne", *_ORDERS)


def checked(wanted: object) -> Mapping[str, Any]:
    """A filter that can be answered, whatever is stored."""
    if wanted is None:
        return {}
    if not isinstance(wanted, Mapping):
        raise InvalidInput("filter", 'expected an object, such as {"status": "open"}')
    _check(wanted, limits.DATA_DEPTH_MAX_COUNT)
    return wanted


def _check(wanted: object, depth: int) -> None:
    """No value is nested deeper, and so nothing deeper is ever found."""
    if not isinstance(wanted, Mapping | list | tuple):
        return
    if depth == 0:
        most = limits.DATA_DEPTH_MAX_COUNT
        raise InvalidInput("filter", f"is nested deeper than {most} levels")
    if isinstance(wanted, Mapping):
        if not all(isinstance(name, str) for name in wanted):
            raise InvalidInput("filter", "is named by text")
        if _has_operators(wanted):
            if not wanted.keys() <= set(_KNOWN):
                raise InvalidInput("filter", f"unknown operator; use one of {', '.join(_KNOWN)}")
            return  # what it compares with is taken as it is
    for one in wanted.values() if isinstance(wanted, Mapping) else wanted:
        _check(one, depth - 1)


def fits(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_is(_at(value, name), one) for name, one in wanted.items())


def _at(value: Any, name: str) -> Any:
    """By its name, or by a path of names: `user.city` as well as {"user": {"city": …}}."""
    if not isinstance(value, Mapping):
        return None
    first, dot, rest = name.partition(".")
    if name in value or not dot:
        return value.get(name)
    return _at(value.get(first), rest)


def _is(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if _has_operators(wanted):
            return all(_compares(value, how, other) for how, other in wanted.items())
        return isinstance(value, Mapping) and fits(value, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list)
            and len(value) == len(wanted)
            and all(_is(one, other) for one, other in zip(value, wanted, strict=True))
        )
    return bool(value == wanted)


def _has_operators(wanted: Mapping[str, Any]) -> bool:
    return any(name.startswith("$") for name in wanted)


def _compares(value: Any, how: str, other: Any) -> bool:
    """What has no order among the two, such as a number and a list, does not fit."""
    if how == "$eq":
        return bool(value == other)
    if how == "$ne":
        return bool(value != other)
    if isinstance(value, str) and isinstance(other, str):
        return _ORDERS[how](value, other)
    try:
        return _ORDERS[how](float(value), float(other))
    except (TypeError, ValueError, OverflowError):
        return False


def matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if condition.match_type not in ("prefix", "suffix"):
        raise InvalidInput("match_conditions", "expected prefix or suffix")
    if len(namespace) < len(path):
        return False
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(label in ("*", one) for one, label in zip(part, path, strict=True))


def begins_with(conditions: tuple[MatchCondition, ...]) -> Namespace:
    """The labels that every namespace meant begins with."""
    for condition in conditions:
        if condition.match_type == "prefix":
            upto = condition.path.index("*") if "*" in condition.path else len(condition.path)
            return tuple(condition.path[:upto])
    return ()
