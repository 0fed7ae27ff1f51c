"""A tool: name, JSON schema of its arguments, call and answer."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from tacit import limits
from tacit.errors import InvalidInput, StoreBusy, StoreError, StoreUnavailable, TacitError
from tacit.memory import make_inert, quote_memory, wrap_in_fence
from tacit.records.memory import Memory, State
from tacit.records.results import Remembered

# JSON schemas of arguments, and the check of what a model wrote: the part of JSON Schema that these
# tools use. The library checks its own limits; the schema names them for the model.

Schema = Mapping[str, Any]


def object_schema(properties: Mapping[str, Schema], *required: str) -> dict[str, Any]:
    """Return the schema of an object with these properties and no others."""
    return {"type": "object", "properties": dict(properties), "required": list(required), "additionalProperties": False}


def string_schema(says: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": says, **more}


def integer_schema(says: str, least: int, most: int, **more: Any) -> dict[str, Any]:
    return {"type": "integer", "description": says, "minimum": least, "maximum": most, **more}


def fraction_schema(says: str) -> dict[str, Any]:
    return {"type": "number", "description": says, "minimum": 0, "maximum": 1}


def boolean_schema(says: str) -> dict[str, Any]:
    return {"type": "boolean", "description": says}


def array_schema(says: str, of: Schema) -> dict[str, Any]:
    return {"type": "array", "description": says, "items": dict(of)}


def check_arguments(schema: Schema, arguments: object) -> dict[str, Any]:
    """Return the arguments if they match the schema. Null counts as left out, because many models
    write every argument."""
    found: dict[str, Any] = _check_object("arguments", schema, arguments)
    if _count_list_items(found) > limits.TOOL_PARTS_MAX_COUNT:
        most = limits.TOOL_PARTS_MAX_COUNT
        raise InvalidInput("arguments", f"list more than {most} things in all; call it in steps")
    return found


def _count_list_items(value: object) -> int:
    """Count the items of all lists, also nested ones: each may be a write of its own."""
    if isinstance(value, Mapping):
        return sum(map(_count_list_items, value.values()))
    return len(value) + sum(map(_count_list_items, value)) if isinstance(value, list) else 0


def _check_object(field: str, schema: Schema, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(field, "expected an object")
    known: Mapping[str, Schema] = schema["properties"]
    if not known.keys() >= value.keys():
        raise InvalidInput(field, f"takes {', '.join(known) or 'nothing'}, and nothing else")
    given = {name: one for name, one in value.items() if one is not None}
    for name in schema.get("required", ()):
        if name not in given:
            raise InvalidInput(name, "is missing")
    return {name: _check_value(name, known[name], one) for name, one in given.items()}


def _check_value(field: str, schema: Schema, value: object) -> Any:
    good = _CHECKS[schema["type"]](field, schema, value)
    if "enum" in schema and good not in schema["enum"]:
        raise InvalidInput(field, f"expected one of {', '.join(schema['enum'])}")
    return good


def _check_string(field: str, schema: Schema, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput(field, "expected text")
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if len(value) < least:
        raise InvalidInput(field, f"is too short; write at least {least} characters")
    if most is not None and len(value) > most:
        raise InvalidInput(field, f"is too long; write at most {most:,} characters")
    return value


def _check_number(field: str, schema: Schema, value: object) -> int | float:
    whole = schema["type"] == "integer"
    # True is an int in Python, and no number in JSON.
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise InvalidInput(field, "expected a whole number" if whole else "expected a number")
    least, most = schema["minimum"], schema["maximum"]
    if not least <= value <= most:
        raise InvalidInput(field, f"expected a number from {least} to {most:,}")
    return value


def _check_boolean(field: str, _: Schema, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(field, "expected true or false")
    return value


def _check_array(field: str, schema: Schema, value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InvalidInput(field, "expected a list")
    return [_check_value(field, schema["items"], one) for one in value]


_CHECKS: Mapping[str, Callable[[str, Schema, object], Any]] = {
    "object": _check_object,
    "string": _check_string,
    "integer": _check_number,
    "number": _check_number,
    "boolean": _check_boolean,
    "array": _check_array,
}


ToolScope = Literal["read", "write"]
C = TypeVar("C")
_TOOL_FIELDS = {"always_available", "destructive", "idempotent", "returns", "argument_aliases"}
_UNAVAILABLE = "memory cannot be reached just now: try again later"


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back to the model: text, and structured data where there is more."""

    text: str
    data: Mapping[str, Any] | None = None  # as JSON has it
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that reads and changes through one view only."""

    name: str
    title: str
    description: str
    parameters: Schema
    act: Callable[[dict[str, Any]], Answer]
    needs: tuple[ToolScope, ...]  # the scopes that a key must have for it
    always_available: bool = True  # False: a selection of tools may leave it out
    destructive: bool = False
    idempotent: bool = False
    returns: Schema | None = None  # the schema of an answer's data, where one is promised
    argument_aliases: Mapping[str, str] = field(default_factory=dict)  # other name → name

    @property
    def read_only(self) -> bool:
        return "write" not in self.needs

    def call(self, arguments: object) -> Answer:
        """Run the tool. Never raise for what a model wrote, or while the database is unavailable."""
        try:
            return self.act(check_arguments(self.parameters, self._rename_arguments(arguments)))
        except (StoreBusy, StoreUnavailable):
            return Answer(_UNAVAILABLE, failed=True)
        except StoreError:
            raise
        except TacitError as error:
            return Answer(format_error(error), failed=True)

    def _rename_arguments(self, arguments: object) -> object:
        if not self.argument_aliases or not isinstance(arguments, Mapping):
            return arguments
        given = dict(arguments)
        for other, name in self.argument_aliases.items():
            if other in given and name not in given:
                given[name] = given.pop(other)
        return given


class ToolRegistry(Generic[C]):
    """Tools that functions declare, which take a context of one kind and the arguments by name.

    The docstring of a function is what a model reads of the tool, and its parameters without a
    default are the required arguments. `type_` is the argument `type`.
    """

    def __init__(self) -> None:
        self._build: list[Callable[[C], Tool]] = []

    def build(self, context: C) -> tuple[Tool, ...]:
        return tuple(build(context) for build in self._build)

    def tool(
        self, title: str, needs: tuple[ToolScope, ...], **declared: Any
    ) -> Callable[[Callable[..., Answer]], None]:
        """Declare a tool: the schemas of its arguments by name, and other fields of `Tool`."""
        more = {name: declared.pop(name) for name in _TOOL_FIELDS & declared.keys()}

        def add(run: Callable[..., Answer]) -> None:
            _, *parameters = inspect.signature(run).parameters.values()
            names = {one.name.removesuffix("_"): one.name for one in parameters}
            required = [
                one.name.removesuffix("_")
                for one in parameters
                if one.default is one.empty and one.kind is not one.VAR_KEYWORD
            ]
            schema = object_schema(declared, *required)
            description = " ".join((run.__doc__ or "").split())

            def build(context: C) -> Tool:
                return Tool(
                    name=run.__name__,
                    title=title,
                    description=description,
                    parameters=schema,
                    act=lambda given: run(context, **{names.get(name, name): one for name, one in given.items()}),
                    needs=needs,
                    **more,
                )

            self._build.append(build)

        return add


def format_error(error: TacitError) -> str:
    """Return the message with lone surrogates escaped: it may quote what the model wrote."""
    return str(error).encode("utf-8", "backslashreplace").decode()


def dump_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


# Memories as a model sees them. Their text is data: it is inert, fenced, and names its speaker.


def describe_memory(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "category": memory.category,
        "key": None if memory.key is None else make_inert(memory.key),
        "type": memory.kind.value,
        "content": quote_memory(memory),
        "version": memory.version,
        "updated_at": memory.updated_at.isoformat(),
    }


def answer_pending(done: Remembered) -> Answer | None:
    """Return the answer where the write waits for consent; None where it is stored."""
    if done.state is not State.PENDING:
        return None
    return Answer(
        f"Not kept yet: a name, pronouns, a home or a language is for the person to say. It "
        f"waits as proposal {done.id} until they say yes, in their private chat: they answer the "
        f"question there, or run `tacit approve {done.id}`. Do not write it again.",
        {"stored": False, "waiting": True, "id": done.id, "version": done.version},
    )


def answer_with_json(shown: Any, data: dict[str, Any]) -> Answer:
    """Return `shown` as fenced JSON text, beside the data."""
    return Answer(wrap_in_fence([dump_json(shown)]), data)
