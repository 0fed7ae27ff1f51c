"""Recall and query memories; the block, fresh context and deltas of a prompt."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from tacit import limits
from tacit.records.accounts import Scope
from tacit.records.results import Bullet, Delta
from tacit.server import schemas
from tacit.server.responses import json_response, record_response
from tacit.server.routing import Context, Router
from tacit.wire import encode

recall_router = Router("recall")
BULLETS_FORM: Final = "bullets"
_BULLET_FIELDS = ("id", "category", "text")


class QueryRequest(schemas.RequestModel):
    """A query of an agent."""

    query: schemas.QueryText
    agent: schemas.Label | None = None
    categories: schemas.Categories | None = None
    filters: schemas.QueryFilters | None = None
    top_k: schemas.ResultCount = limits.QUERY_DEFAULT_COUNT
    form: Annotated[Literal["bullets", "full"], Field(alias="return")] = BULLETS_FORM
    budget_tokens: schemas.Tokens | None = None
    threshold: schemas.Fraction | None = None


class DeltaQuery(schemas.RequestModel):
    since: Annotated[int, schemas.query_whole(0, limits.REVISION_MAX)] = 0


@recall_router.add("POST", "/api/query", scope=Scope.READ, gives=list[Bullet])
def query_memories(context: Context, body: QueryRequest) -> Response:
    """Query memories as lines for the prompt of an agent; with `full`, the records behind them. An
    agent with an allow-list gets its categories alone."""
    if body.agent is not None:
        context = context.with_agent(body.agent)
    sent = body.sent_fields("agent")
    if body.filters is not None:
        sent["filters"] = body.filters.sent_fields()
    found = context.view.query(**sent)
    if body.form != BULLETS_FORM:
        return record_response(found)
    return json_response([_encode_bullet(one) for one in found])


@recall_router.serve("recall", body="RecallRequest")
def recall_memories() -> None:
    """Recall memories for a question, best first, each with why and by which rule."""


@recall_router.serve("block")
def show_block() -> None:
    """Show the block for the cached beginning of a prompt."""


@recall_router.serve("fresh", body="FreshRequest")
def show_fresh() -> None:
    """Show the fresh context of a turn: changes since the block, and recalled memories."""


@recall_router.serve("delta", query=DeltaQuery)
def show_delta() -> None:
    """Show what changed in the thread of this request since a revision. Ask again from the returned
    revision until nothing changed."""


@recall_router.add("GET", "/api/threads/{thread:rest}/delta", scope=Scope.READ, gives=Delta)
def show_delta_of_thread(context: Context, thread: schemas.Label, query: Annotated[DeltaQuery, Query()]) -> Response:
    """Show what changed in a thread since a revision, as far as the caller may see it."""
    return record_response(context.caller.view(thread=thread).delta(query.since))


def _encode_bullet(one: Bullet) -> dict[str, Any]:
    told = {name: encode(getattr(one, name)) for name in _BULLET_FIELDS}
    return {**told, "related": True} if one.related else told
