"""Export and import memories, as JSON lines and from other systems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from tacit import Imported, limits
from tacit.errors import InvalidInput
from tacit.records.accounts import Scope
from tacit.records.memory import ExportFormat, Kind
from tacit.server import schemas
from tacit.server.responses import NDJSON_MEDIA_TYPE, record_response
from tacit.server.routing import BodyLines, Context, Router
from tacit.server.streaming import LineResponse

export_router = Router("export")
MARKDOWN_MEDIA_TYPE = "text/markdown; charset=utf-8"


class ExportQuery(schemas.RequestModel):
    format: ExportFormat = ExportFormat.JSONL
    everything: schemas.QueryFlag = False
    turns: schemas.QueryFlag = False


@export_router.add("GET", "/api/export", scope=Scope.READ, media=(NDJSON_MEDIA_TYPE, "text/markdown"))
def export(context: Context, query: Annotated[ExportQuery, Query()]) -> Response:
    """Export the caller's memories as JSON lines, which an import accepts; or everything about them,
    also as Markdown. In a private chat only."""
    lines = context.view.export(**query.sent_fields())
    return LineResponse(lines, MARKDOWN_MEDIA_TYPE if query.format == ExportFormat.MARKDOWN else NDJSON_MEDIA_TYPE)


@export_router.serve("audit.export_history")
def history_export() -> None:
    """Export the history of each memory that the caller may see here, as JSON lines."""


@export_router.add("POST", "/api/import", scope=Scope.WRITE, gives=Imported, reads=NDJSON_MEDIA_TYPE, once=True)
def import_lines(context: Context, lines: BodyLines) -> Response:
    """Import what an export wrote. Bad lines are refused one by one; good ones are stored."""
    return record_response(context.write_view.imports.add_lines(_limit_lines(lines)))


def _limit_lines(lines: Iterator[str]) -> list[str]:
    """Return the lines; refuse all of them where they are too many at once."""
    found = list(lines)
    # A line that is too long is refused by its number, and not parsed.
    size = sum(len(one) for one in found if len(one) <= limits.IMPORT_LINE_MAX_BYTES)
    if size > limits.IMPORT_REQUEST_MAX_CHARS:
        most = limits.IMPORT_REQUEST_MAX_CHARS
        raise InvalidInput(
            "lines", f"are {size:,} characters in all; at most {most:,} are taken at once: send fewer lines"
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
    """Return how many writes a line is; the import reports what is wrong with it."""
    if not line.strip():
        return 0
    if len(line) > limits.IMPORT_LINE_MAX_BYTES:
        return 1
    try:
        versions = json.loads(line).get("versions")
    except (ValueError, RecursionError, AttributeError):
        return 1
    return max(1, len(versions)) if isinstance(versions, list) else 1


# Imports from other systems: previewed, in steps, and reverted as one.

import_router = Router("imports")
_OTHER_ITEM_SCHEMA = {"description": "An item of another form is refused by its place, alone."}


class ImportItem(schemas.RequestModel):
    """One item, as the library parses it."""

    content: schemas.Content
    kind: Kind | None = None
    category: schemas.Category | None = None
    key: schemas.KeyName | None = None
    about: list[schemas.PersonName] | None = None
    tags: Annotated[list[schemas.Tag], schemas.items(most=limits.TAGS_MAX_COUNT)] | None = None
    data: dict[Any, Any] | None = None
    created_at: schemas.DateOrTime | None = None
    expires_at: schemas.DateOrTime | None = None
    importance: schemas.Importance | None = None
    source: Annotated[str, schemas.at_most(limits.IMPORT_ID_MAX_CHARS)] | None = None


_ITEM_SCHEMA = ImportItem.model_json_schema(ref_template="#/components/schemas/{model}")
del _ITEM_SCHEMA["$defs"]  # the document has them
# Of any form: the library refuses a bad item by its place, alone.
ImportItems = Annotated[
    list[Any],
    schemas.items(
        most=limits.IMPORT_ITEMS_MAX_COUNT,
        items={"anyOf": [_ITEM_SCHEMA, _OTHER_ITEM_SCHEMA]},
        description=f"At most {limits.IMPORT_ITEMS_MAX_CHARS:,} characters in all.",
    ),
]
ItemCount = Annotated[int, schemas.whole(0, limits.IMPORT_TOTAL_MAX_COUNT)]


_ADD_TYPES = {"items": ImportItems, "total": ItemCount, "after": ItemCount}


@import_router.serve("imports.list")
def list_imports() -> None:
    """List the caller's imports, newest first. In a private chat; elsewhere none."""


@import_router.serve("imports.preview", body="PreviewBody", types={"items": ImportItems})
def preview_items() -> None:
    """Preview an import of these items. Nothing is written. In a private chat only."""


# These need a key that may read: the response tells what is stored already, or whether there is
# such an import.


@import_router.serve("imports.add", body="ImportBody", types=_ADD_TYPES, also_read=True)
def import_items() -> None:
    """Import memories of another system, some at a time. Bad items are refused one by one; an item
    that is sent again is not stored twice. Needs a key that may read. In a private chat only."""


@import_router.serve("imports.revert", body="RevertBody", also_read=True)
def revert_import() -> None:
    """Forget everything that an import created, except what was changed since. Needs a key that may
    read. In a private chat only."""
