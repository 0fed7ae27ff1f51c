"""JSON schemas of what tools take: written in few words here, and held against what a model wrote.

Only the part of JSON Schema that these tools use. Limits that the library knows are the library's
to check; these are told here so that a model keeps to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput

Schema = Mapping[str, Any]


def takes(properties: Mapping[str, Schema], *required: str) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def words(says: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": says, **more}


def number(says: str, least: int, most: int, **more: Any) -> dict[str, Any]:
    return {"type": "integer", "description": says, "minimum": least, "maximum": most, **more}


def fraction(says: str) -> dict[str, Any]:
    return {"type": "number", "description": says, "minimum": 0, "maximum": 1}


def flag(says: str) -> dict[str, Any]:
    return {"type": "boolean", "description": says}


def several(says: str, of: Schema) -> dict[str, Any]:
    return {"type": "array", "description": says, "items": dict(of)}


def checked(schema: Schema, arguments: object) -> dict[str, Any]:
    """The arguments, if they are of the schema. What is null counts as left out, because many
    models write down every argument that there is."""
    found: dict[str, Any] = _object("arguments", schema, arguments)
    if _parts(found) > limits.TOOL_PARTS_MAX_COUNT:
        most = limits.TOOL_PARTS_MAX_COUNT
        raise InvalidInput("arguments", f"list more than {most} things in all; call it in steps")
    return found


def _parts(value: object) -> int:
    """Of all lists in it, those within others too: each may be a write of its own."""
    if isinstance(value, Mapping):
        return sum(map(_parts, value.values()))
    return len(value) + sum(map(_parts, value)) if isinstance(value, list) else 0


def _object(field: str, schema: Schema, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(field, "expected an object")
    known: Mapping[str, Schema] = schema["properties"]
    if not known.keys() >= value.keys():
        raise InvalidInput(field, f"takes {', '.join(known) or 'nothing'}, and nothing else")
    given = {name: one for name, one in value.items() if one is not None}
    for name in schema.get("required", ()):
        if name not in given:
            raise InvalidInput(name, "is missing")
    return {name: _value(name, known[name], one) for name, one in given.items()}


def _value(field: str, schema: Schema, value: object) -> Any:
    good = _KINDS[schema["type"]](field, schema, value)
    if "enum" in schema and good not in schema["enum"]:
        raise InvalidInput(field, f"expected one of {', '.join(schema['enum'])}")
    return good


def _words(field: str, schema: Schema, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput(field, "expected text")
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if len(value) < least:
        raise InvalidInput(field, f"is too short; write at least {least} characters")
    if most is not None and len(value) > most:
        raise InvalidInput(field, f"is too long; write at most {most:,} characters")
    return value


def _number(field: str, schema: Schema, value: object) -> int | float:
    whole = schema["type"] == "integer"
    # True is an int to Python, and no number to anybody else.
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise InvalidInput(field, "expected a whole number" if whole else "expected a number")
    least, most = schema["minimum"], schema["maximum"]
    if not least <= value <= most:
        raise InvalidInput(field, f"expected a number from {least} to {most:,}")
    return value


def _flag(field: str, _: Schema, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(field, "expected true or false")
    return value


def _several(field: str, schema: Schema, value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InvalidInput(field, "expected a list")
    return [_value(field, schema["items"], one) for one in value]


_KINDS: Mapping[str, Callable[[str, Schema, object], Any]] = {
    "object": _object,
    "string": _words,
    "integer": _number,
    "number": _number,
    "boolean": _flag,
    "array": _several,
}
