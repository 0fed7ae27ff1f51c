"""Taking over what another memory kept: previewed, in steps, and reverted as one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import ImportPreview, ImportRun, ImportStep, Page, RevertedImport, limits
from tacit.records.accounts import Scope
from tacit.records.memory import Kind
from tacit.surfaces.rest.answers import answer
from tacit.surfaces.rest.asking import Asking
from tacit.surfaces.rest.parameters import Paged
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import (
    CONTENT,
    DAY_OR_MOMENT,
    IMPORTANCE,
    Given,
    Label,
    Shape,
    one_of,
    or_null,
    part,
    several,
    whole,
    words,
)

routes = Routes("imports")
_ITEM = part(
    ("content",),
    content=CONTENT,
    kind=or_null(one_of(Kind)),
    category=or_null(words(limits.CATEGORY_MAX_CHARS, 1)),
    key=or_null(words(limits.KEY_MAX_CHARS, 1)),
    about=or_null(several(words(limits.NAME_MAX_CHARS, 1))),
    tags=or_null(several(words(limits.TAG_MAX_CHARS, 1), most=limits.TAGS_MAX_COUNT)),
    data=or_null({"type": "object"}),
    created_at=or_null(DAY_OR_MOMENT),
    expires_at=or_null(DAY_OR_MOMENT),
    importance=or_null(IMPORTANCE),
    source=or_null(words(limits.IMPORT_ID_MAX_CHARS)),
)
_OTHER: Shape = {"description": "What is of another form is refused by its place, alone."}
_ITEMS = {
    **several({"anyOf": [_ITEM, _OTHER]}, most=limits.IMPORT_ITEMS_MAX_COUNT),
    "description": f"At most {limits.IMPORT_ITEMS_MAX_CHARS:,} characters in all.",
}
Items = Annotated[Any, WithJsonSchema(_ITEMS)]
_COUNT = or_null(whole(0, limits.IMPORT_TOTAL_MAX_COUNT))
CountOrNone = Annotated[Any, WithJsonSchema(_COUNT)]


class PreviewBody(Given):
    items: Items
    source: Label


class ImportBody(Given):
    run: Label
    items: Items
    source: Label
    total: CountOrNone = None
    after: CountOrNone = None


class RevertBody(Given):
    run: Label


@routes.get("/api/imports", scope=Scope.READ, gives=Page[ImportRun])
def list_imports(asked: Asking, query: Annotated[Paged, Query()]) -> Response:
    """The caller's imports, the newest first. In a private chat; elsewhere none."""
    return answer(asked.view.imports(**query.sent_fields()))


@routes.post("/api/imports/preview", scope=Scope.READ, gives=ImportPreview)
def preview_items(asked: Asking, body: PreviewBody) -> Response:
    """What an import would do with these items. Nothing is written. In a private chat only."""
    return answer(asked.view.preview_items(**body.sent_fields()))


@routes.post("/api/imports", scope=Scope.WRITE, gives=ImportStep, once=True)
def import_items(asked: Asking, body: ImportBody) -> Response:
    """Keep what another memory kept, some of it at a time. Bad items are refused one by one; sent
    again, an item is already here. The key has to be one that may read. In a private chat only."""
    asked.admitted.require_scopes(Scope.READ)  # what is already here is told
    return answer(asked.write_view.import_items(**body.sent_fields()))


@routes.post("/api/imports/revert", scope=Scope.WRITE, gives=RevertedImport, once=True)
def revert_import(asked: Asking, body: RevertBody) -> Response:
    """Forget everything that an import created, but for what was changed since. The key has to be
    one that may read. In a private chat only."""
    asked.admitted.require_scopes(
        Scope.READ
    )  # whether there is such an import, and what became of it
    return answer(asked.write_view.revert_import(**body.sent_fields()))
