"""Notes as files, and checkpoints of agents by thread."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from tacit import limits
from tacit.errors import NotFound
from tacit.records.accounts import Scope
from tacit.records.checkpoints import Checkpoint
from tacit.records.results import Page
from tacit.server import schemas
from tacit.server.etags import IF_MATCH, IF_NONE_MATCH, check_unchanged, matches_etag
from tacit.server.responses import no_content, paginate, record_response, version_etag
from tacit.server.routing import Context, RequestContext, Router

file_router = Router("files")
FILE_PATH = "/api/files/{path:rest}"
_ETAG_CHARS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class FileListed:
    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    path: str
    text: str


class FilesQuery(schemas.PageQuery):
    folder: schemas.FolderFilter = ""


class WriteRequest(schemas.RequestModel):
    text: schemas.FileText
    new: schemas.Flag = False
    instead_of: schemas.FormerFileText | None = None


_RENAME_TYPES = {"old": schemas.FileOrFolderPath, "new": schemas.FileOrFolderPath}


@file_router.add("GET", "/api/files", scope=Scope.READ, gives=Page[FileListed], problems=(404,))
def list_files(context: Context, query: Annotated[FilesQuery, Query()]) -> Response:
    """List the note files of the caller in this chat, or those of a folder; a file lists itself. Of
    sessions the newest are listed."""
    sizes = context.view.files.sizes(query.folder)
    found = [FileListed(path=path, size_bytes=size) for path, size in sizes.items()]
    return record_response(paginate(found, lambda one: one.path, query.limit, query.cursor))


@file_router.add("GET", FILE_PATH, scope=Scope.READ, gives=FileRead, problems=(404,), sends=("ETag",))
def read_file(context: Context, path: schemas.FilePath) -> Response:
    """Read a file, as far as it may be shown here."""
    text = context.view.files.read(path)
    return record_response(FileRead(path=path, text=text), headers={"ETag": _text_etag(text)})


@file_router.add(
    "PUT", FILE_PATH, scope=Scope.WRITE, status=204, once=True, problems=(404, 412), headers=(IF_MATCH, IF_NONE_MATCH)
)
def write_file(context: Context, path: schemas.FilePath, body: WriteRequest) -> Response:
    """Write a file: new lines are remembered, changed ones updated, missing ones forgotten. `new`,
    or If-None-Match: *, requires that the file does not exist; `instead_of` is the text that was
    read, and If-Match its ETag."""
    problem = "the file is not as you read it"
    with check_unchanged(context, problem, {"new": True}, lambda tags: _expect_text(context, path, tags)) as expected:
        context.write_view.files.write(path, **{**body.sent_fields(), **(expected or {})})
    return no_content()


@file_router.serve("files.delete")
def delete_file() -> None:
    """Forget everything in a file, or in all files of a folder."""


@file_router.serve("files.rename", body="RenameRequest", types=_RENAME_TYPES)
def rename_file() -> None:
    """Rename a page, or a folder of pages, to a name that is free."""


def _expect_text(context: RequestContext, path: str, tags: list[str]) -> dict[str, Any] | None:
    try:
        text = context.view.files.read(path)
    except NotFound:
        return None
    return {"instead_of": text} if matches_etag(tags, _text_etag(text)) else None


def _text_etag(text: str) -> str:
    return f'"{sha256(text.encode()).hexdigest()[:_ETAG_CHARS]}"'


# Checkpoints of agents.

checkpoint_router = Router("checkpoints")
OWN_CHECKPOINT_PATH = "/api/checkpoints"
CHECKPOINT_PATH = "/api/checkpoints/{thread:rest}"
_VERSION_TAG_PATTERN = re.compile(r'"v([0-9]{1,18})"')


_DATA_DESCRIPTION = (
    f"Any JSON value without secrets: at most {limits.CHECKPOINT_MAX_BYTES:,} bytes, and "
    f"{limits.SCREENED_MAX_CHARS:,} characters of texts and names."
)


class SaveRequest(schemas.RequestModel):
    data: Annotated[Any, schemas.Described(description=_DATA_DESCRIPTION)]
    version: schemas.Revision | None = None


_READ_OPTIONS: dict[str, Any] = {"scope": Scope.READ, "gives": Checkpoint, "problems": (404,), "sends": ("ETag",)}
_SAVE_OPTIONS: dict[str, Any] = {
    "scope": Scope.WRITE,
    "gives": Checkpoint,
    "once": True,
    "problems": (412,),
    "headers": (IF_MATCH, IF_NONE_MATCH),
    "sends": ("ETag",),
}


@checkpoint_router.add("GET", OWN_CHECKPOINT_PATH, **_READ_OPTIONS)
def show_own_checkpoint(context: Context) -> Response:
    """Show the checkpoint of the thread of this request."""
    return _checkpoint_response(context, None)


@checkpoint_router.add("PUT", OWN_CHECKPOINT_PATH, **_SAVE_OPTIONS)
def save_own_checkpoint(context: Context, body: SaveRequest) -> Response:
    """Save a checkpoint for the thread of this request."""
    return _save_checkpoint(context, None, body)


@checkpoint_router.add("DELETE", OWN_CHECKPOINT_PATH, scope=Scope.WRITE, status=204, once=True)
def forget_own_checkpoint(context: Context) -> Response:
    """Delete the checkpoint of the thread of this request, if there is one."""
    context.write_view.checkpoints.delete()
    return no_content()


@checkpoint_router.add("GET", CHECKPOINT_PATH, **_READ_OPTIONS)
def show_checkpoint(context: Context, thread: schemas.Label) -> Response:
    """Show the checkpoint of a thread. In a private chat only; elsewhere there is none."""
    return _checkpoint_response(context, thread)


@checkpoint_router.add("PUT", CHECKPOINT_PATH, **_SAVE_OPTIONS)
def save_checkpoint(context: Context, thread: schemas.Label, body: SaveRequest) -> Response:
    """Save a checkpoint for a thread, in place of the one before. `version`, or If-Match, is the one
    that was read; 0, or If-None-Match: *, is for the first."""
    return _save_checkpoint(context, thread, body)


@checkpoint_router.serve("checkpoints.delete")
def forget_checkpoint() -> None:
    """Delete the checkpoint of a thread, if there is one."""


def _checkpoint_response(context: RequestContext, thread: str | None) -> Response:
    found = context.view.checkpoints.get(thread)
    if found is None:
        raise NotFound("checkpoint")
    return record_response(found, headers={"ETag": version_etag(found.version)})


def _save_checkpoint(context: RequestContext, thread: str | None, body: SaveRequest) -> Response:
    with check_unchanged(
        context, "the checkpoint changed", 0, lambda tags: _find_version(context, thread, tags)
    ) as version:
        sent = body.sent_fields("data")
        if version is not None:
            sent["version"] = version
        done = context.write_view.checkpoints.save(body.data, thread=thread, **sent)
    return record_response(done, headers={"ETag": version_etag(done.version)})


def _find_version(context: RequestContext, thread: str | None, tags: list[str]) -> int | None:
    """Return the version that the tags name, if it may be current. A single tag is not looked up:
    the request may be a repetition."""
    named = [int(one[1]) for tag in tags if (one := _VERSION_TAG_PATTERN.fullmatch(tag))]
    if len(tags) == 1 and "*" not in tags:
        return named[0] if named else None
    now = context.view.checkpoints.get(thread)
    return now.version if now is not None and ("*" in tags or now.version in named) else None
