"""Notes as files: a small tree of Markdown, as far as this audience may hear it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from tacit.errors import Conflict, NotFound
from tacit.records.accounts import Scope
from tacit.records.results import Page
from tacit.surfaces.rest.answers import answer, nothing
from tacit.surfaces.rest.asking import Asked, Asking
from tacit.surfaces.rest.matching import IF_MATCH, IF_NONE_MATCH, matched, tags
from tacit.surfaces.rest.paging import paged
from tacit.surfaces.rest.parameters import Paged
from tacit.surfaces.rest.refusals import Refused
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import (
    FileText,
    FileTextOrNone,
    Flag,
    FolderOrNone,
    Given,
    Path,
    PathOrFolder,
)

routes = Routes("files")
ONE = "/api/files/{path:rest}"
_TAG_CHARS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class FileListed:
    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    path: str
    text: str


class FilesQuery(Paged):
    folder: FolderOrNone = ""


class WriteRequest(Given):
    text: FileText
    new: Flag = False
    instead_of: FileTextOrNone = None


class RenameRequest(Given):
    old: PathOrFolder
    new: PathOrFolder


@routes.get("/api/files", scope=Scope.READ, gives=Page[FileListed], problems=(404,))
def list_files(asked: Asking, query: Annotated[FilesQuery, Query()]) -> Response:
    """The files that there are for the caller here, or those of a folder; a file stands for itself.
    Of sessions the newest are listed."""
    sizes = asked.view.file_sizes(query.folder)
    found = [FileListed(path=path, size_bytes=size) for path, size in sizes.items()]
    return answer(paged(found, lambda one: one.path, query.limit, query.cursor))


@routes.get(ONE, scope=Scope.READ, gives=FileRead, problems=(404,), sends=("ETag",))
def read_file(asked: Asking, path: Path) -> Response:
    """What a file says, as far as it may be heard here."""
    text = asked.view.read_file(path)
    return answer(FileRead(path=path, text=text), headers={"ETag": _tag(text)})


@routes.put(
    ONE,
    scope=Scope.WRITE,
    status=204,
    once=True,
    problems=(404, 412),
    headers=(IF_MATCH, IF_NONE_MATCH),
)
def write_file(asked: Asking, path: Path, body: WriteRequest) -> Response:
    """Make a file read like this: new lines are remembered, changed ones updated, missing ones
    forgotten. `new`, or If-None-Match: *, is for a file that is not there yet; `instead_of` is the
    text that was read, and If-Match its ETag."""
    with _unless_changed(asked, path) as expected:
        asked.write_view.write_file(path, **{**body.sent_fields(), **expected})
    return nothing()


@routes.delete(ONE, scope=Scope.WRITE, status=204, once=True, problems=(404,))
def delete_file(asked: Asking, path: PathOrFolder) -> Response:
    """Forget everything in a file, or in all files of a folder."""
    asked.write_view.delete_file(path)
    return nothing()


@routes.post("/api/rename-file", scope=Scope.WRITE, status=204, once=True, problems=(404,))
def rename_file(asked: Asking, body: RenameRequest) -> Response:
    """Give a page, or a folder of pages, another name that is free."""
    asked.write_view.rename_file(body.old, body.new)
    return nothing()


@contextmanager
def _unless_changed(asked: Asked, path: str) -> Iterator[dict[str, Any]]:
    """What the headers expect, for the write itself to look at."""
    matching = asked.headers.getlist(IF_MATCH)
    first = "*" in tags(asked.headers.getlist(IF_NONE_MATCH))
    if not matching and not first:
        yield {}
        return
    if first and matching:
        raise _failed()
    expected = {"new": True} if first else {"instead_of": _expected(asked, path, matching)}
    try:
        yield expected
    except Conflict:
        raise _failed() from None


def _expected(asked: Asked, path: str, matching: list[str]) -> str:
    try:
        text = asked.view.read_file(path)
    except NotFound:
        raise _failed() from None
    if not matched(matching, _tag(text)):
        raise _failed()
    return text


def _tag(text: str) -> str:
    return f'"{sha256(text.encode()).hexdigest()[:_TAG_CHARS]}"'


def _failed() -> Refused:
    return Refused("precondition-failed", "the file is not as you read it: read it again")
