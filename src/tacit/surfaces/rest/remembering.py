"""To keep a fact with all its fields, to look before one is added, and to begin anew."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import Erased, Remembered, Suggestion, limits
from tacit.records.accounts import Scope
from tacit.surfaces.rest.answers import answer
from tacit.surfaces.rest.asking import Asking
from tacit.surfaces.rest.fields import MOMENTS, People, RememberFields
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import CONTENT, Given, or_null, words
from tacit.surfaces.wire.taking import moments

routes = Routes("remember")


class SuggestBody(Given):
    content: Annotated[Any, WithJsonSchema(CONTENT)]
    category: Annotated[Any, WithJsonSchema(or_null(words(limits.CATEGORY_MAX_CHARS, 1)))] = None
    about: People = None


@routes.post("/api/remember", scope=Scope.WRITE, gives=Remembered, once=True, problems=(404,))
def remember(asked: Asking, body: RememberFields) -> Response:
    """Keep a fact. Under a key it has one value: written again, it becomes a new version."""
    fields = moments(body.sent_fields("content"), *MOMENTS)
    return answer(asked.write_view.remember(body.content, **fields))


@routes.post("/api/suggest", scope=Scope.READ, gives=Suggestion | None)
def suggest_update(asked: Asking, body: SuggestBody) -> Response:
    """The memory that is better changed than joined by another one; null where there is none."""
    return answer(asked.view.suggest_update(**body.sent_fields()))


@routes.post("/api/wipe", scope=Scope.ERASE, gives=Erased, once=True)
def wipe(asked: Asking) -> Response:
    """Remove everything of the caller's for good. In a private chat only."""
    return answer(asked.write_view.wipe())
