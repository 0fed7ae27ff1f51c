"""How records travel: any value of the public API as JSON, and back into the same record.

Each type has its way there and back, which is looked up once: pages hold thousands of fields.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache
from math import isfinite
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Way = Callable[[Any], Any]
_ways: dict[type, Way] = {}  # those that were looked up
# Exactly these: a word of a vocabulary is a str too.
_AS_IT_IS = frozenset({str, int, bool, type(None)})
_MANY: dict[Any, Any] = {
    tuple: tuple,
    list: list,
    frozenset: frozenset,
    set: set,
    Sequence: tuple,
}


class Untellable(ValueError):
    """What was handed over has no form on the wire, or what arrived has not the one expected.
    `at` says where, and nothing says what."""

    def __init__(self, at: str, problem: str) -> None:
        super().__init__(f"{at or 'the value'}: {problem}")
        self.path = at
        self.problem = problem

    def nested_in(self, name: object) -> Untellable:
        return Untellable(f"{name}.{self.path}" if self.path else str(name), self.problem)


def encode(value: object) -> Any:
    """Fields by their names, times as ISO-8601, words of a vocabulary as their text, and whatever
    holds several as a list; a set in order, so that the same set is always the same text."""
    kind = type(value)
    way = _ways.get(kind)
    if way is None:
        way = _ways[kind] = _way(kind)
    return way(value)


def decode(what: type[T] | Any, value: object) -> T | Any:
    """`value` as a `what`: a record, `Page[Memory]`, `list[Person]`, `Memory | None`. Fields that
    this version does not know are passed over, so that a newer server is understood."""
    wanted: Any = what
    return _way_back(wanted)(value)


# There.


def _way(kind: type) -> Way:
    if kind in _AS_IT_IS:
        return _itself
    if is_dataclass(kind):
        return _fields_of(tuple(one.name for one in fields(kind)))
    for kinds, way in _WAYS:
        if issubclass(kind, kinds):
            return way
    return _nowhere


def _itself(value: Any) -> Any:
    return value


def _nowhere(value: object) -> Any:
    raise Untellable("", f"a {type(value).__name__} cannot be sent")


def _number(value: float) -> float:
    if not isfinite(value):
        raise Untellable("", "expected a finite number")
    return float(value)


def _several(value: Sequence[object]) -> list[Any]:
    return [one if type(one) in _AS_IT_IS else encode(one) for one in value]


def _fields_of(names: tuple[str, ...]) -> Way:
    def way(value: object) -> dict[str, Any]:
        told: dict[str, Any] = {}
        name = ""
        try:
            for name in names:
                one = getattr(value, name)
                told[name] = one if type(one) in _AS_IT_IS else encode(one)
        except Untellable as wrong:
            raise wrong.nested_in(name) from None
        return told

    return way


def _named(value: Mapping[object, object]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    name: object = ""
    try:
        for name, one in value.items():
            told[_name(name)] = encode(one)
    except Untellable as wrong:
        raise wrong.nested_in(name) from None
    return told


def _name(key: object) -> str:
    if type(key) is str:
        return key
    if not isinstance(key, str):
        raise Untellable("", "expected names as keys")
    return str(key.value) if isinstance(key, Enum) else str(key)


# The first that fits: an enumeration comes before the text that it is as well.
_WAYS: tuple[tuple[type | tuple[type, ...], Way], ...] = (
    (Enum, lambda value: value.value),
    (str, str),
    (int, int),
    (float, _number),
    (date, lambda value: value.isoformat()),  # a datetime is one too
    (Mapping, _named),
    ((frozenset, set), lambda value: sorted(map(encode, value), key=repr)),
    ((list, tuple), _several),
)


# And back.


@cache
def _way_back(what: Any) -> Way:
    origin = get_origin(what)
    if what is Any or what is object or isinstance(what, TypeVar):
        return _itself
    if origin in (Union, types.UnionType):
        return _one_of(get_args(what))
    if origin is Literal:
        return _word_of(get_args(what))
    if is_dataclass(origin or what):
        return _record(what)
    if origin is tuple and get_args(what)[-1] is not Ellipsis:
        return _each(get_args(what))
    if (origin or what) in _MANY:
        return _many(what)
    if (origin or what) in (dict, Mapping):
        return _mapping(what)
    return _plain(what)


def _record(what: Any) -> Way:
    """`Page[Memory]` is a page whose T is a memory."""
    cls: Any = get_origin(what) or what
    bound = dict(zip(getattr(cls, "__parameters__", ()), get_args(what), strict=False))
    hints = get_type_hints(cls)
    parts = [
        (one.name, _way_back(_bind(hints[one.name], bound)), _optional(one)) for one in fields(cls)
    ]

    def back(value: object) -> Any:
        if not isinstance(value, dict):
            raise Untellable("", f"expected an object: {cls.__name__}")
        known: dict[str, Any] = {}
        name = ""
        try:
            for name, way, optional in parts:
                if name in value:
                    known[name] = way(value[name])
                elif not optional:
                    raise Untellable("", "is missing")
        except Untellable as wrong:
            raise wrong.nested_in(name) from None
        return cls(**known)

    return back


def _bind(hint: Any, bound: Mapping[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return bound.get(hint, Any)
    inside = getattr(hint, "__parameters__", ())
    return hint[tuple(bound.get(one, Any) for one in inside)] if inside else hint


def _optional(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _one_of(choices: tuple[Any, ...]) -> Way:
    """The first that fits; text last, because a word of a vocabulary is text too."""
    real = [one for one in choices if one is not type(None)]
    ways = [_way_back(one) for one in sorted(real, key=lambda one: one is str)]

    def back(value: object) -> Any:
        if value is None and len(real) < len(choices):
            return None
        for way in ways[:-1]:
            try:
                return way(value)
            except Untellable:
                continue
        return ways[-1](value)

    return back


def _word_of(known: tuple[Any, ...]) -> Way:
    def back(value: object) -> Any:
        if not isinstance(value, str) or value not in known:
            raise Untellable("", "expected one of the words that are known")
        return value

    return back


def _many(what: Any) -> Way:
    made, inside = _MANY[get_origin(what) or what], get_args(what)
    one = _way_back(inside[0] if inside else Any)

    def back(value: object) -> Any:
        if not isinstance(value, list):
            raise Untellable("", "expected a list")
        return made([one(part) for part in value])

    return back


def _each(inside: tuple[Any, ...]) -> Way:
    """So many parts, each of its own kind."""
    ways = [_way_back(one) for one in inside]

    def back(value: object) -> Any:
        if not isinstance(value, list) or len(value) != len(ways):
            raise Untellable("", f"expected a list of {len(ways)}")
        return tuple(way(part) for way, part in zip(ways, value, strict=True))

    return back


def _mapping(what: Any) -> Way:
    one = _way_back(get_args(what)[1] if get_args(what) else Any)

    def back(value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Untellable("", "expected an object")
        told: dict[str, Any] = {}
        name = ""
        try:
            for name, part in value.items():
                told[name] = one(part)
        except Untellable as wrong:
            raise wrong.nested_in(name) from None
        return told

    return back


def _plain(what: Any) -> Way:
    expected = f"expected {getattr(what, '__name__', what)}"

    def same(value: object) -> Any:
        if type(value) is what or (value is None and what is None):
            return value
        raise Untellable("", expected)

    def number(value: object) -> float:
        if type(value) in (int, float):
            return float(value)  # type: ignore[arg-type]
        raise Untellable("", expected)

    def written(value: object) -> Any:
        if isinstance(value, str):
            try:
                return read(value)
            except ValueError:
                pass
        raise Untellable("", expected)

    if what is float:
        return number
    if what in (datetime, date):
        read = what.fromisoformat
        return written
    if isinstance(what, type) and issubclass(what, Enum):
        read = what
        return written
    return same
