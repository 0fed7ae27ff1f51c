"""Reading what was sent: JSON, lines of it, and query strings, each once and never guessed at.

The library says what is wrong with a value. Here only the form is looked at.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NoReturn, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers

from tacit.errors import InvalidInput
from tacit.surfaces.rest.refusals import Refused

M = TypeVar("M", bound=BaseModel)
DOCUMENT = "application/json"
LINES = "application/x-ndjson"
QUERY_FIELDS_MAX_COUNT = 64
_WRONG = {
    "missing": "is missing",
    "extra_forbidden": "is not known here; leave it out",
    "model_type": "expected an object",
}


def json_body(model: type[M], headers: Headers, body: bytes) -> M:
    _written_as(headers, DOCUMENT)
    try:
        found = json.loads(body.decode(), parse_constant=_no_number)
    except RecursionError:
        raise InvalidInput("body", "is nested too deeply") from None
    except ValueError:  # also a number too long to be read, and what is not UTF-8
        raise InvalidInput("body", "is no JSON; send one object") from None
    return checked(model, _with_whole_numbers(model, found))


def checked(model: type[M], found: object) -> M:
    try:
        return model.model_validate(found)
    except ValidationError as wrong:
        raise _first(wrong) from None


def query(model: type[M], written: bytes) -> M:
    try:
        found = parse_qsl(
            written.decode("latin-1"),
            keep_blank_values=True,
            errors="surrogateescape",
            max_num_fields=QUERY_FIELDS_MAX_COUNT,
        )
    except ValueError:
        raise InvalidInput("query", "has too many parts") from None
    values: dict[str, Any] = {}
    for name, value in found:
        if name in values:
            raise InvalidInput(_shown(name), "is given more than once; give it once")
        values[name] = value
    return checked(model, values)


def lines(headers: Headers, body: bytes) -> Iterator[str]:
    """Each line as text; bytes that are none become marks, which the import refuses by line."""
    _written_as(headers, LINES)
    for line in io.BytesIO(body):  # one at a time: a list of them is larger than the body
        yield line.rstrip(b"\r\n").decode("utf-8", errors="surrogateescape")


def _written_as(headers: Headers, wanted: str) -> None:
    sent = headers.getlist("content-type")
    kind, _, rest = sent[0].partition(";") if len(sent) == 1 else ("", "", "")
    name, _, value = rest.partition("=")
    charset = value.strip().strip('"').lower() if name.strip().lower() == "charset" else "utf-8"
    if kind.strip().lower() != wanted or charset not in ("utf-8", "utf8"):
        raise Refused("unsupported-media-type", f"send it as {wanted}", {"Accept": wanted})


def _with_whole_numbers(model: type[BaseModel], found: Any) -> Any:
    """3.0 is a whole number to whoever reads the document; the library takes 3 alone."""
    shapes = _numbered(model)
    if not shapes or not isinstance(found, dict):
        return found
    return {n: _whole(shapes[n], one) if n in shapes else one for n, one in found.items()}


@cache
def _numbered(model: type[BaseModel]) -> Mapping[str, Any]:
    """The fields that hold whole numbers, by how they are sent."""
    shapes = model.model_json_schema().get("properties", {})
    return {name: one for name, one in shapes.items() if '"integer"' in json.dumps(one)}


def _whole(shape: Mapping[str, Any], value: Any) -> Any:
    for one in shape.get("anyOf", ()):
        value = _whole(one, value)
    if isinstance(value, float) and shape.get("type") == "integer":
        return int(value) if value.is_integer() else value
    if isinstance(value, dict) and "properties" in shape:
        inside = shape["properties"]
        return {n: _whole(inside[n], one) if n in inside else one for n, one in value.items()}
    return value


def _no_number(_: str) -> NoReturn:
    raise ValueError


def _first(wrong: ValidationError) -> InvalidInput:
    one = wrong.errors(include_url=False, include_context=False, include_input=False)[0]
    names = [part for part in one["loc"] if isinstance(part, str)]
    field = _shown(names[-1]) if names else "body"
    return InvalidInput(field, _WRONG.get(one["type"], one["msg"][:1].lower() + one["msg"][1:]))


def _shown(name: str) -> str:
    """A name as it was sent, where it can be one."""
    return name if name.isidentifier() and name.isascii() and len(name) <= 64 else "field"
