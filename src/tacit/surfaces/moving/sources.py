"""A file, a folder or a store of another memory, opened to be read as often as it takes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.surfaces.moving import basic_memory, chatgpt, claude, langgraph, mcp, mem0
from tacit.surfaces.moving.records import Found, Read, Skipped
from tacit.surfaces.moving.texts import FIELD, checked_size

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

_READ_AT_ONCE_BYTES = 1_048_576
_FINGERPRINT_CHARS = 12


class Format(StrEnum):
    """Which memory it comes from."""

    MEM0 = "mem0"
    MCP = "mcp"
    BASIC_MEMORY = "basic-memory"
    LANGGRAPH = "langgraph"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    format: Format
    run: str  # what an import of it is called unless another name is given: its content names it
    read: Callable[[], Iterator[Read]]

    def __iter__(self) -> Iterator[Read]:
        """Everything that can be taken in, and what cannot be read."""
        for count, one in enumerate(self.read(), start=1):
            if count > limits.IMPORTER_RECORDS_MAX_COUNT:
                most = f"{limits.IMPORTER_RECORDS_MAX_COUNT:,}"
                raise InvalidInput(FIELD, f"holds more than {most} things; split it")
            yield one


def open(path: str | Path, form: Format | str, *, only: str | None = None) -> Source:
    """Of a file or folder. `only`: of one user, in mem0's; below one namespace, in LangGraph's."""
    origin = validation.parse_enum("form", form, Format)
    where = _path(path)
    _check_only(only)
    if origin in (Format.MEM0, Format.LANGGRAPH):
        of_some = mem0.read if origin is Format.MEM0 else langgraph.read

        def read() -> Iterator[Read]:
            return of_some(where, only)
    elif only is not None:
        raise InvalidInput("only", f"is for {Format.MEM0} and {Format.LANGGRAPH}; leave it out")
    else:
        whole = _WHOLE[origin]

        def read() -> Iterator[Read]:
            return whole(where)

    run = _run(origin, _fingerprint(where, origin, only))
    return Source(format=origin, run=run, read=read)


def from_store(store: BaseStore, *, only: str | None = None) -> Source:
    """A store of LangGraph's that is open, such as an `InMemoryStore`."""
    if not all(callable(getattr(store, name, None)) for name in ("search", "list_namespaces")):
        raise InvalidInput("store", "takes an open store of LangGraph's; moving.open takes files")
    _check_only(only)

    def read() -> Iterator[Read]:
        return langgraph.live(store, only)

    mark = hashlib.sha256((only or "").encode())
    for one in read():
        if isinstance(one, Found):
            mark.update(f"{one.item.source}\0{one.item.content}\0".encode("utf-8", "replace"))
    return Source(format=Format.LANGGRAPH, run=_run(Format.LANGGRAPH, mark.hexdigest()), read=read)


_WHOLE = {
    Format.MCP: mcp.read,
    Format.BASIC_MEMORY: basic_memory.read,
    Format.CHATGPT: chatgpt.read,
    Format.CLAUDE: claude.read,
}


def _check_only(only: object) -> None:
    if only is not None and not isinstance(only, str):
        raise InvalidInput("only", f"expected text, got {type(only).__name__}")


def _path(path: object) -> Path:
    if not isinstance(path, str | Path) or "\0" in str(path) or not str(path):
        raise InvalidInput(FIELD, "is no file name")
    return Path(path)


def _fingerprint(path: Path, form: Format, only: str | None) -> str:
    """Of what it holds: the same again is the same import, and goes on where it stopped."""
    mark = hashlib.sha256((only or "").encode("utf-8", "replace"))
    if form is not Format.BASIC_MEMORY:
        checked_size(path)
        _add(mark, path)
        return mark.hexdigest()
    path.stat()  # one that is not there is told as such
    for one in basic_memory.files(path):
        if not isinstance(one, Skipped):
            mark.update(str(one.name).encode("utf-8", "surrogateescape") + b"\0")
            try:
                _add(mark, one)
            except OSError:
                continue  # it is told when it is read
    return mark.hexdigest()


def _add(mark: hashlib._Hash, path: Path) -> None:
    with path.open("rb") as file:
        while part := file.read(_READ_AT_ONCE_BYTES):
            mark.update(part)


def _run(form: Format, fingerprint: str) -> str:
    return f"{form}-{fingerprint[:_FINGERPRINT_CHARS]}"
