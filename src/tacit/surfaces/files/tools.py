"""`read_file` and `write_file` as tools for any model: a name, words, a JSON schema, and a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tacit.errors import InvalidInput, StoreError, TacitError
from tacit.memory import DisabledView, View

_PATH = {
    "type": "string",
    "description": (
        "Relative to the notes, for example trips.md, _index.md or 2026-03-01/telegram_1001.md"
    ),
}
_READ = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "description": f"{_PATH['description']}. Empty: tells which files there are",
        }
    },
    "required": ["path"],
    "additionalProperties": False,
}
_WRITE = {
    "type": "object",
    "properties": {
        "path": _PATH,
        "text": {
            "type": "string",
            "description": "The whole file as it is to be; a fact is a line that begins with '- '",
        },
    },
    "required": ["path", "text"],
    "additionalProperties": False,
}
_READ_SAYS = (
    "Read a file of the notes that are kept for this conversation. They hold what was remembered, "
    "as Markdown: each bullet is one memory."
)
_WRITE_SAYS = (
    "Write a file of the notes. Read it first: each bullet is one memory, and one that is missing "
    "from the text is forgotten. Leave passwords, keys and card numbers out; they are refused."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back to the model."""

    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTool:
    """`parameters` is a JSON schema. `call` takes what a model wrote, whatever that is."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    act: Callable[[str, str], str]

    def call(self, arguments: Mapping[str, Any]) -> Answer:
        """Never raises for what the model did; only where the database does not answer."""
        try:
            given = _checked(self.parameters, arguments)
            return Answer(text=self.act(given.get("path", ""), given.get("text", "")))
        except StoreError:
            raise
        except TacitError as error:
            return Answer(text=str(error), failed=True)


def file_tools(view: View | DisabledView) -> tuple[FileTool, FileTool]:
    """Bound to this view: nothing else can be read or written by them."""

    def read(path: str, _: str) -> str:
        if path.strip("/"):
            return view.read_file(path)
        return "\n".join(view.files()) or "There are no files yet."

    def write(path: str, text: str) -> str:
        if not view.enabled:
            return "Nothing was written: memory is not available in this conversation."
        view.write_file(path, text)
        return f"Written: {path}"

    return (
        FileTool(name="read_file", description=_READ_SAYS, parameters=_READ, act=read),
        FileTool(name="write_file", description=_WRITE_SAYS, parameters=_WRITE, act=write),
    )


def _checked(schema: Mapping[str, Any], arguments: object) -> dict[str, str]:
    if not isinstance(arguments, Mapping):
        raise InvalidInput("arguments", "expected an object")
    known = schema["properties"]
    for name in arguments:
        if name not in known:
            raise InvalidInput("arguments", f"takes {' and '.join(known)} alone")
    for name in known:
        if not isinstance(arguments.get(name), str):
            raise InvalidInput(name, "is missing; give it as text")
    return {name: arguments[name] for name in known}
