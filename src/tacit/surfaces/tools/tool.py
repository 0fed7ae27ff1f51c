"""What a tool is: a name, words for a model, a schema, and a call that answers whatever comes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tacit.errors import StoreBusy, StoreError, StoreUnavailable, TacitError
from tacit.surfaces.tools.schemas import Schema, checked

Needs = Literal["read", "write"]
_NOT_NOW = "memory cannot be reached just now: try again later"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back to the model: words, and the same as data where there is more to it."""

    text: str
    data: Mapping[str, Any] | None = None  # as JSON has it
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Bound to a view: nothing else can be read or changed by it."""

    name: str
    title: str
    description: str
    parameters: Schema
    act: Callable[[dict[str, Any]], Answer]
    needs: tuple[Needs, ...]  # the scopes that a key must have for it
    always_available: bool = True  # no part of what a tool selection may leave out
    destructive: bool = False
    idempotent: bool = False
    returns: Schema | None = None  # the schema of an answer's data, where one is promised
    argument_aliases: Mapping[str, str] = field(default_factory=dict)  # of its arguments

    @property
    def read_only(self) -> bool:
        return "write" not in self.needs

    def call(self, arguments: object) -> Answer:
        """Never raises for what a model wrote, nor where the database does not answer just now."""
        try:
            return self.act(checked(self.parameters, self._rename_arguments(arguments)))
        except (StoreBusy, StoreUnavailable):
            return Answer(text=_NOT_NOW, failed=True)
        except StoreError:
            raise
        except TacitError as error:
            return Answer(text=in_words(error), failed=True)

    def _rename_arguments(self, arguments: object) -> object:
        if not self.argument_aliases or not isinstance(arguments, Mapping):
            return arguments
        given = dict(arguments)
        for other, name in self.argument_aliases.items():
            if other in given and name not in given:
                given[name] = given.pop(other)
        return given


def in_words(error: TacitError) -> str:
    """It may quote what was written, which need not be text that can travel."""
    return str(error).encode("utf-8", "backslashreplace").decode()


def as_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)
