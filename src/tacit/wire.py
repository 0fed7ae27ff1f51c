"""The wire format: records and errors as JSON, and back."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache
from math import isfinite
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from tacit import SessionDraft, TaskDraft, TopicDraft, errors
from tacit.errors import InvalidInput, TacitError
from tacit.records.notes import NoteLink

# Records as JSON and back. The converter of each type is looked up once: pages hold thousands of
# fields. Not Pydantic: the client and the command line work without it.

T = TypeVar("T")
Converter = Callable[[Any], Any]
_encoders: dict[type, Converter] = {}  # those that were looked up
# Exactly these types: a member of a StrEnum is a str too.
_JSON_TYPES = frozenset({str, int, bool, type(None)})
_COLLECTIONS: dict[Any, Any] = {tuple: tuple, list: list, frozenset: frozenset, set: set, Sequence: tuple}


class WireFormatError(ValueError):
    """A value that has no form on the wire, or one that is not of the expected type.

    The message names the place and never the value.
    """

    def __init__(self, at: str, problem: str) -> None:
        super().__init__(f"{at or 'the value'}: {problem}")
        self.path = at
        self.problem = problem

    def nested_in(self, name: object) -> WireFormatError:
        return WireFormatError(f"{name}.{self.path}" if self.path else str(name), self.problem)


def encode(value: object) -> Any:
    """Return a value of the public API as JSON: times as ISO 8601, enumerations as their values,
    collections as lists. Sets are sorted, so that equal sets give equal text."""
    kind = type(value)
    way = _encoders.get(kind)
    if way is None:
        way = _encoders[kind] = _find_encoder(kind)
    return way(value)


def decode(what: Any, value: object) -> Any:
    """Return JSON as a record, `Page[Memory]`, `list[Person]` or `Memory | None`. Unknown fields
    are ignored, so that a client reads the responses of a newer server."""
    return _find_decoder(what)(value)


def _find_encoder(kind: type) -> Converter:
    if kind in _JSON_TYPES:
        return _identity
    if is_dataclass(kind):
        return _record_encoder(tuple(one.name for one in fields(kind)))
    for kinds, way in _ENCODERS:
        if issubclass(kind, kinds):
            return way
    return _refuse_type


def _identity(value: Any) -> Any:
    return value


def _refuse_type(value: object) -> Any:
    raise WireFormatError("", f"a {type(value).__name__} cannot be sent")


def _encode_float(value: float) -> float:
    if not isfinite(value):
        raise WireFormatError("", "expected a finite number")
    return float(value)


def _encode_sequence(value: Sequence[object]) -> list[Any]:
    return [one if type(one) in _JSON_TYPES else encode(one) for one in value]


def _record_encoder(names: tuple[str, ...]) -> Converter:
    def way(value: object) -> dict[str, Any]:
        told: dict[str, Any] = {}
        name = ""
        try:
            for name in names:
                one = getattr(value, name)
                told[name] = one if type(one) in _JSON_TYPES else encode(one)
        except WireFormatError as wrong:
            raise wrong.nested_in(name) from None
        return told

    return way


def _encode_mapping(value: Mapping[object, object]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    name: object = ""
    try:
        for name, one in value.items():
            told[_encode_key(name)] = encode(one)
    except WireFormatError as wrong:
        raise wrong.nested_in(name) from None
    return told


def _encode_key(key: object) -> str:
    if type(key) is str:
        return key
    if not isinstance(key, str):
        raise WireFormatError("", "expected names as keys")
    return str(key.value) if isinstance(key, Enum) else str(key)


# The first that fits: a StrEnum is a str too.
_ENCODERS: tuple[tuple[type | tuple[type, ...], Converter], ...] = (
    (Enum, lambda value: value.value),
    (str, str),
    (int, int),
    (float, _encode_float),
    (date, lambda value: value.isoformat()),  # a datetime is one too
    (Mapping, _encode_mapping),
    ((frozenset, set), lambda value: sorted(map(encode, value), key=repr)),
    ((list, tuple), _encode_sequence),
)


@cache
def _find_decoder(what: Any) -> Converter:
    origin = get_origin(what)
    if what is Any or what is object or isinstance(what, TypeVar):
        return _identity
    if origin in (Union, types.UnionType):
        return _union_decoder(get_args(what))
    if origin is Literal:
        return _literal_decoder(get_args(what))
    if is_dataclass(origin or what):
        return _record_decoder(what)
    if origin is tuple and get_args(what)[-1] is not Ellipsis:
        return _tuple_decoder(get_args(what))
    if (origin or what) in _COLLECTIONS:
        return _collection_decoder(what)
    if (origin or what) in (dict, Mapping):
        return _mapping_decoder(what)
    return _scalar_decoder(what)


def _record_decoder(what: Any) -> Converter:
    """Return the decoder of a dataclass, also of a generic one such as `Page[Memory]`."""
    cls: Any = get_origin(what) or what
    bound = dict(zip(getattr(cls, "__parameters__", ()), get_args(what), strict=False))
    hints = get_type_hints(cls)
    parts = [
        (one.name, _find_decoder(_bind_type_vars(hints[one.name], bound)), _has_default(one)) for one in fields(cls)
    ]

    def back(value: object) -> Any:
        if not isinstance(value, dict):
            raise WireFormatError("", f"expected an object: {cls.__name__}")
        known: dict[str, Any] = {}
        name = ""
        try:
            for name, way, optional in parts:
                if name in value:
                    known[name] = way(value[name])
                elif not optional:
                    raise WireFormatError("", "is missing")
        except WireFormatError as wrong:
            raise wrong.nested_in(name) from None
        return cls(**known)

    return back


def _bind_type_vars(hint: Any, bound: Mapping[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return bound.get(hint, Any)
    inside = getattr(hint, "__parameters__", ())
    return hint[tuple(bound.get(one, Any) for one in inside)] if inside else hint


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _union_decoder(choices: tuple[Any, ...]) -> Converter:
    """Try each type in turn; text last, because an enumeration is text too."""
    real = [one for one in choices if one is not type(None)]
    ways = [_find_decoder(one) for one in sorted(real, key=lambda one: one is str)]

    def back(value: object) -> Any:
        if value is None and len(real) < len(choices):
            return None
        for way in ways[:-1]:
            try:
                return way(value)
            except WireFormatError:
                continue
        return ways[-1](value)

    return back


def _literal_decoder(known: tuple[Any, ...]) -> Converter:
    def back(value: object) -> Any:
        if not isinstance(value, str) or value not in known:
            raise WireFormatError("", "expected one of the known values")
        return value

    return back


def _collection_decoder(what: Any) -> Converter:
    made, inside = _COLLECTIONS[get_origin(what) or what], get_args(what)
    one = _find_decoder(inside[0] if inside else Any)

    def back(value: object) -> Any:
        if not isinstance(value, list):
            raise WireFormatError("", "expected a list")
        return made([one(part) for part in value])

    return back


def _tuple_decoder(inside: tuple[Any, ...]) -> Converter:
    ways = [_find_decoder(one) for one in inside]

    def back(value: object) -> Any:
        if not isinstance(value, list) or len(value) != len(ways):
            raise WireFormatError("", f"expected a list of {len(ways)}")
        return tuple(way(part) for way, part in zip(ways, value, strict=True))

    return back


def _mapping_decoder(what: Any) -> Converter:
    one = _find_decoder(get_args(what)[1] if get_args(what) else Any)

    def back(value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise WireFormatError("", "expected an object")
        told: dict[str, Any] = {}
        name = ""
        try:
            for name, part in value.items():
                told[name] = one(part)
        except WireFormatError as wrong:
            raise wrong.nested_in(name) from None
        return told

    return back


def _scalar_decoder(what: Any) -> Converter:
    expected = f"expected {getattr(what, '__name__', what)}"

    def same(value: object) -> Any:
        if type(value) is what or (value is None and what is None):
            return value
        raise WireFormatError("", expected)

    def number(value: object) -> float:
        if type(value) in (int, float):
            return float(value)  # type: ignore[arg-type]
        raise WireFormatError("", expected)

    def written(value: object) -> Any:
        if isinstance(value, str):
            try:
                return read(value)
            except ValueError:
                pass
        raise WireFormatError("", expected)

    if what is float:
        return number
    if what in (datetime, date):
        read = what.fromisoformat
        return written
    if isinstance(what, type) and issubclass(what, Enum):
        read = what
        return written
    return same


# Drafts of sessions that the command line reads. The library checks the values; here, only the
# names of fields.


def parse_session_draft(found: object) -> SessionDraft:
    return _build_record(
        SessionDraft,
        "draft",
        found,
        topics=lambda one: _build_records(TopicDraft, "topics", one),
        tasks=lambda one: _build_records(TaskDraft, "tasks", one),
        follow_ups=lambda one: _build_records(TaskDraft, "follow_ups", one),
        links=lambda one: _build_records(NoteLink, "links", one),
    )


def parse_time(field: str, value: object) -> Any:
    """Parse a time that is text; the library checks its zone."""
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(field, "is no time; write it as 2026-03-01T12:00:00Z") from None


def _build_record(kind: type[T], field: str, found: object, **how: Callable[[object], Any]) -> T:
    """Build a record from an object; `how` parses fields that are records themselves."""
    if not isinstance(found, dict):
        raise InvalidInput(field, "expected an object")
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    if not known.keys() >= found.keys():
        raise InvalidInput(field, f"has an unknown field; use {', '.join(known)}")
    for name, one in known.items():
        if name not in found and one.default is MISSING:
            raise InvalidInput(field, f"has no {name}")
    return kind(**{name: how[name](value) if name in how else value for name, value in found.items()})


def _build_records(kind: type[T], field: str, found: object) -> Any:
    if not isinstance(found, list):
        return found
    return tuple(_build_record(kind, field, one) for one in found)


# Errors as problem details (RFC 9457) and back. Unexpected errors are `internal`, without detail.

PROBLEM_CONTENT_TYPE = "application/problem+json"
PROBLEM_URN = "urn:tacit:problem:"
INTERNAL_PROBLEM = "internal"
# Problems of HTTP itself: no error of the library has them.
HTTP_PROBLEM_STATUSES: Mapping[str, int] = {
    "no-such-route": 404,
    "method-not-allowed": 405,
    "precondition-failed": 412,
    "too-large": 413,
    "unsupported-media-type": 415,
    "misdirected": 421,
    "headers-too-large": 431,
    INTERNAL_PROBLEM: 500,
    "draining": 503,
}
# The first that fits: subclasses come before their bases. All other errors are 500.
_ERROR_STATUSES: tuple[tuple[type[TacitError], int], ...] = (
    (errors.InvalidInput, 422),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.KeyRefused, 401),
    (errors.TooManyRequests, 429),
    (errors.AccessRefused, 403),
    (errors.NoteUnreadable, 422),
    (errors.EmbeddingFailed, 502),
    (errors.LanguageUnavailable, 503),
    (errors.LanguageFailed, 502),
    (errors.StoreBusy, 503),
    (errors.StoreUnavailable, 503),
)
# Members of a problem beside its text. The client sets no others on an error.
PROBLEM_MEMBERS = ("field", "problem", "kind", "reason", "retry_after_seconds", "suggestion")


def to_kebab_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


_ERROR_CLASSES: Mapping[str, type[TacitError]] = {
    to_kebab_case(name): found
    for name, found in vars(errors).items()
    if isinstance(found, type) and issubclass(found, TacitError)
}


def error_status(error: BaseException) -> int:
    for kind, status in _ERROR_STATUSES:
        if isinstance(error, kind):
            return status
    return HTTP_PROBLEM_STATUSES[INTERNAL_PROBLEM]


def problem_from_error(error: BaseException, request_id: str, **more: Any) -> dict[str, Any]:
    """Return an error as a problem; `more` are members such as the `suggestion` of a conflict."""
    status = error_status(error)
    if status == HTTP_PROBLEM_STATUSES[INTERNAL_PROBLEM]:
        return http_problem(INTERNAL_PROBLEM, request_id)
    own = {name: value for name, value in vars(error).items() if name in PROBLEM_MEMBERS}
    name = to_kebab_case(type(error).__name__)
    return {**_build_problem(name, status, str(error), request_id), **own, **more}


def http_problem(name: str, request_id: str, detail: str = "", **more: Any) -> dict[str, Any]:
    """Return one of the problems in `HTTP_PROBLEM_STATUSES`."""
    return {**_build_problem(name, HTTP_PROBLEM_STATUSES[name], detail, request_id), **more}


def error_from_problem(problem: Mapping[str, Any]) -> TacitError | None:
    """The same error with the same words; None where the problem is the wire's own."""
    kind = _ERROR_CLASSES.get(str(problem.get("type", "")).removeprefix(PROBLEM_URN))
    if kind is None:
        return None
    detail = str(problem.get("detail", ""))
    # Not through its own constructor, which would put together the words once more.
    error = kind.__new__(kind, detail)
    for name in PROBLEM_MEMBERS:
        if name in problem:
            setattr(error, name, problem[name])
    return error


def problem_name(problem: Mapping[str, Any]) -> str:
    return str(problem.get("type", "")).removeprefix(PROBLEM_URN)


def _build_problem(name: str, status: int, detail: str, request_id: str) -> dict[str, Any]:
    told = {
        "type": f"{PROBLEM_URN}{name}",
        "title": name.replace("-", " ").capitalize(),
        "status": status,
        "detail": detail,
        "request_id": request_id,
    }
    if not detail:
        del told["detail"]
    return told
