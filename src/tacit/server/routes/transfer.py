"""Export and import memories, as JSON lines and from other systems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import Imported, ImportPreview, ImportRun, ImportStep, Page, RevertedImport, limits
from tacit.errors import InvalidInput
from tacit.records.accounts import Scope
from tacit.records.memory import ExportFormat, Kind
from tacit.server.responses import NDJSON_MEDIA_TYPE, record_response
from tacit.server.routing import BodyLines, Context, Router
from tacit.server.schemas import (
    CONTENT,
    DATE_OR_TIME,
    IMPORTANCE,
    Label,
    PageQuery,
    QueryFlag,
    RequestModel,
    Shape,
    array_schema,
    enum_schema,
    integer_schema,
    nullable,
    object_schema,
    string_schema,
)
from tacit.server.streaming import LineResponse

# Taking memories along, and in: lines of JSON, a part at a time.

export_router = Router("export")
MARKDOWN_MEDIA_TYPE = "text/markdown; charset=utf-8"


class ExportQuery(RequestModel):
    format: Annotated[Any, WithJsonSchema(enum_schema(ExportFormat))] = ExportFormat.JSONL
    everything: QueryFlag = False
    turns: QueryFlag = False


@export_router.get("/api/export", scope=Scope.READ, media=(NDJSON_MEDIA_TYPE, "text/markdown"))
def export(asked: Context, query: Annotated[ExportQuery, Query()]) -> Response:
    """The caller's memories as lines of JSON, which an import takes in; or everything about them,
    also as Markdown. In a private chat only."""
    lines = asked.view.export(**query.sent_fields())
    return LineResponse(
        lines, MARKDOWN_MEDIA_TYPE if query.format == ExportFormat.MARKDOWN else NDJSON_MEDIA_TYPE
    )


@export_router.get("/api/export/history", scope=Scope.READ, media=(NDJSON_MEDIA_TYPE,))
def history_export(asked: Context) -> Response:
    """What happened to each memory that the caller may hear of here, as lines of JSON."""
    return LineResponse(asked.view.history_export(), NDJSON_MEDIA_TYPE)


@export_router.post(
    "/api/import", scope=Scope.WRITE, gives=Imported, reads=NDJSON_MEDIA_TYPE, once=True
)
def import_lines(asked: Context, lines: BodyLines) -> Response:
    """Take in what an export wrote. Bad lines are refused one by one; good ones are kept."""
    return record_response(asked.write_view.import_lines(_limit_lines(lines)))


def _limit_lines(lines: Iterator[str]) -> list[str]:
    """Refused as a whole where it is too much at once, before any of it is kept."""
    found = list(lines)
    # One that is longer than any line may be is refused by its number, and without being read.
    size = sum(len(one) for one in found if len(one) <= limits.IMPORT_LINE_MAX_BYTES)
    if size > limits.IMPORT_REQUEST_MAX_CHARS:
        most = limits.IMPORT_REQUEST_MAX_CHARS
        raise InvalidInput(
            "lines",
            f"are {size:,} characters in all; at most {most:,} are taken at once: send fewer lines",
        )
    if sum(map(_count_versions, found)) > limits.IMPORT_REQUEST_WORDINGS_MAX_COUNT:
        most = limits.IMPORT_REQUEST_WORDINGS_MAX_COUNT
        raise InvalidInput(
            "lines",
            f"hold more than {most} memories, each version counted; send fewer lines at once, or "
            "leave out the versions",
        )
    return found


def _count_versions(line: str) -> int:
    """How many writes a line is; what is wrong with it is said when it is taken in."""
    if not line.strip():
        return 0
    if len(line) > limits.IMPORT_LINE_MAX_BYTES:
        return 1
    try:
        versions = json.loads(line).get("versions")
    except (ValueError, RecursionError, AttributeError):
        return 1
    return max(1, len(versions)) if isinstance(versions, list) else 1


# Taking over what another memory kept: previewed, in steps, and reverted as one.

import_router = Router("imports")
_ITEM_SCHEMA = object_schema(
    ("content",),
    content=CONTENT,
    kind=nullable(enum_schema(Kind)),
    category=nullable(string_schema(limits.CATEGORY_MAX_CHARS, 1)),
    key=nullable(string_schema(limits.KEY_MAX_CHARS, 1)),
    about=nullable(array_schema(string_schema(limits.NAME_MAX_CHARS, 1))),
    tags=nullable(array_schema(string_schema(limits.TAG_MAX_CHARS, 1), most=limits.TAGS_MAX_COUNT)),
    data=nullable({"type": "object"}),
    created_at=nullable(DATE_OR_TIME),
    expires_at=nullable(DATE_OR_TIME),
    importance=nullable(IMPORTANCE),
    source=nullable(string_schema(limits.IMPORT_ID_MAX_CHARS)),
)
_OTHER_ITEM_SCHEMA: Shape = {
    "description": "What is of another form is refused by its place, alone."
}
_ITEMS_SCHEMA = {
    **array_schema(
        {"anyOf": [_ITEM_SCHEMA, _OTHER_ITEM_SCHEMA]}, most=limits.IMPORT_ITEMS_MAX_COUNT
    ),
    "description": f"At most {limits.IMPORT_ITEMS_MAX_CHARS:,} characters in all.",
}
ImportItems = Annotated[Any, WithJsonSchema(_ITEMS_SCHEMA)]
_COUNT_SCHEMA = nullable(integer_schema(0, limits.IMPORT_TOTAL_MAX_COUNT))
CountOrNone = Annotated[Any, WithJsonSchema(_COUNT_SCHEMA)]


class PreviewBody(RequestModel):
    items: ImportItems
    source: Label


class ImportBody(RequestModel):
    run: Label
    items: ImportItems
    source: Label
    total: CountOrNone = None
    after: CountOrNone = None


class RevertBody(RequestModel):
    run: Label


@import_router.get("/api/imports", scope=Scope.READ, gives=Page[ImportRun])
def list_imports(asked: Context, query: Annotated[PageQuery, Query()]) -> Response:
    """The caller's imports, the newest first. In a private chat; elsewhere none."""
    return record_response(asked.view.imports(**query.sent_fields()))


@import_router.post("/api/imports/preview", scope=Scope.READ, gives=ImportPreview)
def preview_items(asked: Context, body: PreviewBody) -> Response:
    """What an import would do with these items. Nothing is written. In a private chat only."""
    return record_response(asked.view.preview_items(**body.sent_fields()))


@import_router.post("/api/imports", scope=Scope.WRITE, gives=ImportStep, once=True)
def import_items(asked: Context, body: ImportBody) -> Response:
    """Keep what another memory kept, some of it at a time. Bad items are refused one by one; sent
    again, an item is already here. The key has to be one that may read. In a private chat only."""
    asked.admitted.require_scopes(Scope.READ)  # what is already here is told
    return record_response(asked.write_view.import_items(**body.sent_fields()))


@import_router.post("/api/imports/revert", scope=Scope.WRITE, gives=RevertedImport, once=True)
def revert_import(asked: Context, body: RevertBody) -> Response:
    """Forget everything that an import created, but for what was changed since. The key has to be
    one that may read. In a private chat only."""
    asked.admitted.require_scopes(
        Scope.READ
    )  # whether there is such an import, and what became of it
    return record_response(asked.write_view.revert_import(**body.sent_fields()))
