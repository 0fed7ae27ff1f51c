"""The JSON schema of an answer, and validation of what the model returned."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from tacit import limits
from tacit.errors import InvalidInput

T = TypeVar("T")

_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFault:
    """Why an answer is not valid. The sentences may quote it and go to the model only."""

    sentences: tuple[str, ...]


class AnswerSchema(Generic[T]):
    """The JSON schema of a dataclass or Pydantic model, and the parser of answers."""

    def __init__(self, schema: type[T]) -> None:
        try:
            self._adapter: TypeAdapter[T] = TypeAdapter(schema)
            self.json_schema: dict[str, Any] = self._adapter.json_schema()
        except (PydanticSchemaGenerationError, PydanticUserError) as problem:
            raise InvalidInput("schema", "cannot be put into a JSON schema: use plain fields") from problem
        if self.json_schema.get("type") != "object":
            raise InvalidInput("schema", "is not an object with fields: wrap it in a dataclass")
        self.json_text = json.dumps(self.json_schema, ensure_ascii=False)

    def parse_arguments(self, arguments: str | dict[str, Any]) -> T | AnswerFault:
        """Parse the arguments of a tool call, as JSON text or already decoded."""
        return self._parse([arguments if isinstance(arguments, str) else json.dumps(arguments)])

    def parse_text(self, text: str) -> T | AnswerFault:
        """Parse JSON that is alone, in a code fence, or between other text."""
        text = text.strip()
        fenced = [found.strip() for found in _FENCED.findall(text)[:1]]
        begin, end = text.find("{"), text.rfind("}")
        inner = [text[begin : end + 1]] if 0 <= begin < end else []
        # The narrowest last: if none is valid, the faults of the last are reported.
        return self._parse(list(dict.fromkeys([text, *fenced, *inner])))

    def _parse(self, candidates: list[str]) -> T | AnswerFault:
        fault = AnswerFault(sentences=("there is no JSON object in it",))
        for candidate in candidates:
            try:
                return self._adapter.validate_json(candidate.encode("utf-8", "replace"))
            except ValidationError as problem:
                fault = AnswerFault(sentences=tuple(_describe_errors(problem)))
            except (ValueError, RecursionError):  # raised by a custom validator
                fault = AnswerFault(sentences=("it is not of the right form",))
        return fault


@lru_cache(maxsize=64)
def _cached_schema(schema: Hashable) -> AnswerSchema[Any]:
    return AnswerSchema(cast("type[Any]", schema))


def schema_of(schema: type[T]) -> AnswerSchema[T]:
    """Return the cached schema: building one takes longer than parsing an answer."""
    return cast("AnswerSchema[T]", _cached_schema(cast("Hashable", schema)))


def _describe_errors(problem: ValidationError) -> Iterator[str]:
    errors = problem.errors(include_url=False, include_context=False, include_input=False)
    for error in errors[: limits.LANGUAGE_REPAIR_FAULTS_MAX_COUNT]:
        place = ".".join(str(part) for part in error["loc"]) or "the whole"
        yield f"{place}: {error['msg']}"[: limits.LANGUAGE_REPAIR_FAULT_MAX_CHARS]
