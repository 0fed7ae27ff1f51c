"""Taking memories along, and in: lines of JSON, a part at a time."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import Imported
from tacit.model.keys import Scope
from tacit.model.words import Format
from tacit.surfaces.rest.answers import NDJSON, answer
from tacit.surfaces.rest.asking import Asking, SentLines
from tacit.surfaces.rest.parameters import Flag
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import Given, one_of
from tacit.surfaces.rest.streams import Lines

routes = Routes("export")
MARKDOWN = "text/markdown; charset=utf-8"


class ExportQuery(Given):
    format: Annotated[Any, WithJsonSchema(one_of(Format))] = Format.JSONL
    everything: Flag = False
    turns: Flag = False


@routes.get("/api/export", scope=Scope.READ, media=(NDJSON, "text/markdown"))
def export(asked: Asking, query: Annotated[ExportQuery, Query()]) -> Response:
    """The caller's memories as lines of JSON, which an import takes in; or everything about them,
    also as Markdown. In a private chat only."""
    lines = asked.view.export(**query.named())
    return Lines(lines, MARKDOWN if query.format == Format.MARKDOWN else NDJSON)


@routes.get("/api/export/history", scope=Scope.READ, media=(NDJSON,))
def history_export(asked: Asking) -> Response:
    """What happened to each memory that the caller may hear of here, as lines of JSON."""
    return Lines(asked.view.history_export(), NDJSON)


@routes.post("/api/import", scope=Scope.WRITE, gives=Imported, reads=NDJSON, once=True)
def import_lines(asked: Asking, lines: SentLines) -> Response:
    """Take in what an export wrote. Bad lines are refused one by one; good ones are kept."""
    return answer(asked.writing.import_lines(lines))
