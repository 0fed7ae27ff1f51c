"""The memory tool of Anthropic's SDK, on the files of a view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tacit.errors import Conflict, InvalidInput, MissingExtra, NotFound, StoreError, TacitError
from tacit.memory import View

# The commands, in the formats that models know: a listing with sizes, numbered lines, edits by
# exact text.

T = TypeVar("T")

MEMORY_ROOT = "/memories"
LEVELS_MAX_COUNT = 2  # of folders, in a listing
NUMBER_WIDTH = 6
CONTEXT_LINES_COUNT = 2  # lines shown on each side of an edit
QUOTE_MAX_CHARS = 200  # of what was looked for, when it is told back


class CommandRefused(Exception):
    """A message to the model instead of a result. It says what to do."""


@dataclass(frozen=True, slots=True)
class FileCommands:
    """The commands. Each returns text for a model, or raises `CommandRefused` with such text."""

    view_of: View

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        inner = path_below_root(path)
        sizes = self._run(path, lambda: self.view_of.files.sizes(inner))
        if inner in sizes:
            return _number_file(path, self._read(path, inner), view_range)
        return _format_listing(path.rstrip("/"), inner, sizes)

    def create(self, path: str, file_text: str) -> str:
        inner = _require_below_root(path)
        taken = f"File {path} already exists: edit it, or choose another name."
        self._run(path, lambda: self.view_of.files.write(inner, file_text, new=True), taken)
        return f"File created at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        inner = _require_below_root(path)
        text = self._read(path, inner)
        found = _find_occurrences(text, old_str)
        if not found:
            quoted = _quote_text(old_str)
            raise CommandRefused(f"Nothing was replaced: old_str {quoted} does not appear verbatim in {path}.")
        if len(found) > 1:
            lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in found)
            raise CommandRefused(
                f"Nothing was replaced: old_str {_quote_text(old_str)} appears more than once, in "
                f"lines: {lines}. Give enough of the text around it to make it unique."
            )
        place = found[0]
        after = text[:place] + new_str + text[place + len(old_str) :]
        return self._write_edit(path, inner, text, after, text.count("\n", 0, place))

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        inner = _require_below_root(path)
        text = self._read(path, inner)
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        if not 0 <= insert_line <= len(lines):
            raise CommandRefused(
                f"Invalid `insert_line`: {insert_line}. Give a number in the range "
                f"[0, {len(lines)}]; 0 puts the text first."
            )
        lines.insert(insert_line, insert_text.removesuffix("\n"))
        return self._write_edit(path, inner, text, "\n".join(lines) + "\n", insert_line)

    def delete(self, path: str) -> str:
        inner = _require_below_root(path)
        self._run(path, lambda: self.view_of.files.delete(inner))
        return f"Deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        old, new = _require_below_root(old_path), _require_below_root(new_path)
        taken = f"The destination {new_path} already exists: choose another name."
        self._run(old_path, lambda: self.view_of.files.rename(old, new), taken)
        return f"Renamed {old_path} to {new_path}"

    def _write_edit(self, path: str, inner: str, before: str, after: str, line: int) -> str:
        """Return the file as it reads now, which may be tidier than what was written."""
        if before != after:
            write = self.view_of.files.write
            self._run(path, lambda: write(inner, after, instead_of=before))
        try:
            lines = self._read(path, inner).split("\n")
        except CommandRefused:
            return f"The file {path} has been edited: nothing is left of it."
        first = max(0, min(line, len(lines) - 1) - CONTEXT_LINES_COUNT)
        shown = lines[first : first + 2 * CONTEXT_LINES_COUNT + 1]
        return f"The file {path} has been edited. Around the change it reads:\n" + _number_lines(shown, first + 1)

    def _read(self, path: str, inner: str) -> str:
        return self._run(path, lambda: self.view_of.files.read(inner))

    def _run(self, path: str, act: Callable[[], T], taken: str | None = None) -> T:
        """Run an operation and turn its errors into `CommandRefused`. `taken` is the message of a
        conflict, where that is no concurrent write."""
        if not self.view_of.enabled:
            raise CommandRefused("Memory is not available in this conversation.")
        try:
            return act()
        except NotFound:
            told = f"The path {path} does not exist: view {MEMORY_ROOT} to see what there is."
        except Conflict:
            told = taken or f"{path} was changed meanwhile: view it again, then repeat the edit."
        except InvalidInput as error:
            what = "cannot be used" if error.field == "path" else "was not changed"
            told = f"{path} {what}: {error.problem}."
        except StoreError:
            told = "Memory could not be reached just now: try again later."
        except TacitError as error:
            told = f"{path} was not changed: {error}."
        raise CommandRefused(told)


def path_below_root(path: str) -> str:
    """Return the path below the root; the view checks the rest of it."""
    if path != MEMORY_ROOT and not path.startswith(f"{MEMORY_ROOT}/"):
        raise CommandRefused(f"The path must begin with {MEMORY_ROOT}: for example {MEMORY_ROOT}/trips.md.")
    return path.removeprefix(MEMORY_ROOT).removeprefix("/").removesuffix("/")


def _require_below_root(path: str) -> str:
    inner = path_below_root(path)
    if not inner:
        raise CommandRefused(f"{MEMORY_ROOT} itself stays as it is: name a file in it.")
    return inner


def _find_occurrences(text: str, wanted: str) -> list[int]:
    """Return where a text begins, also overlapping ones, up to a limit."""
    found: list[int] = []
    if not wanted:
        return found
    place = text.find(wanted)
    while place != -1 and len(found) < 50:
        found.append(place)
        place = text.find(wanted, place + 1)
    return found


def _quote_text(text: str) -> str:
    return f"`{text[:QUOTE_MAX_CHARS]}{'…' if len(text) > QUOTE_MAX_CHARS else ''}`"


def _number_file(path: str, text: str, wanted: Sequence[int] | None) -> str:
    lines = text.split("\n")
    first, last = 1, len(lines)
    if wanted is not None:
        first, last = _parse_range(wanted, len(lines))
    return f"Content of {path} with line numbers:\n" + _number_lines(lines[first - 1 : last], first)


def _parse_range(wanted: Sequence[int], count: int) -> tuple[int, int]:
    if len(wanted) == 2:
        first, last = max(1, wanted[0]), count if wanted[1] == -1 else min(wanted[1], count)
        if first <= last:
            return first, last
    raise CommandRefused(
        f"Invalid `view_range`: the file has {count} lines. Give the first line and the last one, or -1 for the end."
    )


def _number_lines(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first))


def _format_listing(path: str, inner: str, sizes: Mapping[str, int]) -> str:
    """List sizes and paths, two levels deep; a folder has a slash and the size of its files."""
    shown: dict[str, int] = {}
    for name, size in sizes.items():
        parts = name[len(inner) :].strip("/").split("/")
        for depth in range(1, min(len(parts), LEVELS_MAX_COUNT) + 1):
            whole = depth == len(parts)
            entry = "/".join(parts[:depth]) + ("" if whole else "/")
            shown[entry] = shown.get(entry, 0) + size
    lines = [f"{_format_size(sum(sizes.values()))}\t{path}"]
    lines += [f"{_format_size(shown[entry])}\t{path}/{entry}" for entry in sorted(shown)]
    return f"Files and folders in {path}, two levels deep, without hidden ones:\n" + "\n".join(lines)


def _format_size(count: int) -> str:
    size, unit = float(count), "B"
    for larger in ("K", "M"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f}{unit}" if size == int(size) else f"{size:.1f}{unit}"


# The tool of the SDK. `/memories` holds what this requester may read and write in this chat.

try:
    from anthropic.lib.tools import (
        BetaAbstractMemoryTool,
        BetaAsyncAbstractMemoryTool,
        BetaFunctionToolResultType,
        ToolError,
    )
    from anthropic.types.beta import BetaCacheControlEphemeralParam
    from anyio.to_thread import run_sync
except ImportError:
    raise MissingExtra("language", "the memory tool of Anthropic's SDK") from None

# The required arguments of each command. The SDK passes on whatever a model wrote.
_COMMAND_FIELDS: Mapping[str, Mapping[str, type]] = {
    "view": {"path": str},
    "create": {"path": str, "file_text": str},
    "str_replace": {"path": str, "old_str": str, "new_str": str},
    "insert": {"path": str, "insert_line": int, "insert_text": str},
    "delete": {"path": str},
    "rename": {"old_path": str, "new_path": str},
}
_TYPE_NAMES = {str: "text", int: "a whole number"}


def _check_command(input: object) -> None:  # noqa: A002 (the SDK's name for it)
    """Check the input: the SDK builds a command without checking it."""
    given = input if isinstance(input, Mapping) else {}
    name = given.get("command")
    fields = _COMMAND_FIELDS.get(name) if isinstance(name, str) else None
    if fields is None:
        raise ToolError(f"Unknown command: use one of {', '.join(_COMMAND_FIELDS)}.")
    for field, kind in fields.items():
        if type(given.get(field)) is not kind:
            raise ToolError(f"The command {name} needs `{field}`: {_TYPE_NAMES[kind]}.")
    lines = given.get("view_range")
    if name == "view" and lines is not None:
        good = isinstance(lines, list) and len(lines) == 2 and all(type(n) is int for n in lines)
        if not good:
            raise ToolError("`view_range` takes two whole numbers: the first line and the last.")


def _command(name: str) -> Any:
    """Return the method of a command, which the SDK calls with a record of its arguments."""
    names = [*_COMMAND_FIELDS[name], *(["view_range"] if name == "view" else [])]

    def run(self: MemoryTool, command: object) -> str:
        try:
            act: Callable[..., str] = getattr(self._commands, name)
            return act(**{field: getattr(command, field) for field in names})
        except CommandRefused as refused:
            raise ToolError(str(refused)) from None

    return run


class MemoryTool(BetaAbstractMemoryTool):
    """Hand it to `client.beta.messages.tool_runner(tools=[MemoryTool(view)], …)`."""

    def __init__(self, view: View, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._commands = FileCommands(view)

    def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002
        _check_command(input)
        return super().call(input)

    view = _command("view")
    create = _command("create")
    str_replace = _command("str_replace")
    insert = _command("insert")
    delete = _command("delete")
    rename = _command("rename")


def _async_command(name: str) -> Any:
    async def run(self: AsyncMemoryTool, command: object) -> str:
        return await run_sync(_command(name), self, command)

    return run


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for `AsyncAnthropic`. The work is done in a worker thread."""

    def __init__(self, view: View, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._commands = FileCommands(view)

    async def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002
        _check_command(input)
        return await super().call(input)

    view = _async_command("view")
    create = _async_command("create")
    str_replace = _async_command("str_replace")
    insert = _async_command("insert")
    delete = _async_command("delete")
    rename = _async_command("rename")
