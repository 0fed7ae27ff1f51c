"""Taking memories along, and in: lines of JSON, a part at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import Imported, limits
from tacit.errors import InvalidInput
from tacit.records.accounts import Scope
from tacit.records.memory import ExportFormat
from tacit.surfaces.rest.answers import NDJSON, answer
from tacit.surfaces.rest.asking import Asking, SentLines
from tacit.surfaces.rest.parameters import Flag
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import Given, one_of
from tacit.surfaces.rest.streams import Lines

routes = Routes("export")
MARKDOWN = "text/markdown; charset=utf-8"


class ExportQuery(Given):
    format: Annotated[Any, WithJsonSchema(one_of(ExportFormat))] = ExportFormat.JSONL
    everything: Flag = False
    turns: Flag = False


@routes.get("/api/export", scope=Scope.READ, media=(NDJSON, "text/markdown"))
def export(asked: Asking, query: Annotated[ExportQuery, Query()]) -> Response:
    """The caller's memories as lines of JSON, which an import takes in; or everything about them,
    also as Markdown. In a private chat only."""
    lines = asked.view.export(**query.sent_fields())
    return Lines(lines, MARKDOWN if query.format == ExportFormat.MARKDOWN else NDJSON)


@routes.get("/api/export/history", scope=Scope.READ, media=(NDJSON,))
def history_export(asked: Asking) -> Response:
    """What happened to each memory that the caller may hear of here, as lines of JSON."""
    return Lines(asked.view.history_export(), NDJSON)


@routes.post("/api/import", scope=Scope.WRITE, gives=Imported, reads=NDJSON, once=True)
def import_lines(asked: Asking, lines: SentLines) -> Response:
    """Take in what an export wrote. Bad lines are refused one by one; good ones are kept."""
    return answer(asked.write_view.import_lines(_bounded(lines)))


def _bounded(lines: Iterator[str]) -> list[str]:
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
    if sum(map(_wordings, found)) > limits.IMPORT_REQUEST_WORDINGS_MAX_COUNT:
        most = limits.IMPORT_REQUEST_WORDINGS_MAX_COUNT
        raise InvalidInput(
            "lines",
            f"hold more than {most} memories, each version counted; send fewer lines at once, or "
            "leave out the versions",
        )
    return found


def _wordings(line: str) -> int:
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
