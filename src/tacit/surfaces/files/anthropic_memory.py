"""The memory tool of Anthropic's SDK, on the files of a view: `/memories` is what this requester
may read and write in this chat."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tacit.errors import MissingExtra
from tacit.memory import DisabledView, View
from tacit.surfaces.files.commands import Commands, Refused

try:
    from anthropic.lib.tools import (
        BetaAbstractMemoryTool,
        BetaAsyncAbstractMemoryTool,
        BetaFunctionToolResultType,
        ToolError,
    )
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
    from anyio.to_thread import run_sync
except ImportError:
    raise MissingExtra("language", "the memory tool of Anthropic's SDK") from None

# What each command must say, and of which type. The SDK hands over whatever a model wrote.
_FIELDS: Mapping[str, Mapping[str, type]] = {
    "view": {"path": str},
    "create": {"path": str, "file_text": str},
    "str_replace": {"path": str, "old_str": str, "new_str": str},
    "insert": {"path": str, "insert_line": int, "insert_text": str},
    "delete": {"path": str},
    "rename": {"old_path": str, "new_path": str},
}
_WORDS = {str: "text", int: "a whole number"}


def _checked(input: object) -> None:  # noqa: A002 (the SDK's name for it)
    """Before the SDK builds a command, which it does without looking."""
    given = input if isinstance(input, Mapping) else {}
    name = given.get("command")
    fields = _FIELDS.get(name) if isinstance(name, str) else None
    if fields is None:
        raise ToolError(f"Unknown command: use one of {', '.join(_FIELDS)}.")
    for field, kind in fields.items():
        if type(given.get(field)) is not kind:
            raise ToolError(f"The command {name} needs `{field}`: {_WORDS[kind]}.")
    lines = given.get("view_range")
    if name == "view" and lines is not None:
        good = isinstance(lines, list) and len(lines) == 2 and all(type(n) is int for n in lines)
        if not good:
            raise ToolError("`view_range` takes two whole numbers: the first line and the last.")


def _told(act: Callable[[], str]) -> str:
    try:
        return act()
    except Refused as refused:
        raise ToolError(str(refused)) from None


class MemoryTool(BetaAbstractMemoryTool):
    """Hand it to `client.beta.messages.tool_runner(tools=[MemoryTool(view)], …)`."""

    def __init__(
        self,
        view: View | DisabledView,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._commands = Commands(view)

    def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002
        _checked(input)
        return super().call(input)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return _told(lambda: self._commands.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return _told(lambda: self._commands.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        asked = (command.path, command.old_str, command.new_str)
        return _told(lambda: self._commands.str_replace(*asked))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        asked = (command.path, command.insert_line, command.insert_text)
        return _told(lambda: self._commands.insert(*asked))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return _told(lambda: self._commands.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return _told(lambda: self._commands.rename(command.old_path, command.new_path))


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for `AsyncAnthropic`. The work is done in a worker thread."""

    def __init__(
        self,
        view: View | DisabledView,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = MemoryTool(view)

    async def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002
        _checked(input)
        return await super().call(input)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await run_sync(self._tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await run_sync(self._tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await run_sync(self._tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await run_sync(self._tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await run_sync(self._tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await run_sync(self._tool.rename, command)
