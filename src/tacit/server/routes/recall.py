"""Recall and query memories; the block, fresh context and deltas of a prompt."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from tacit import limits
from tacit.records.accounts import Scope
from tacit.records.results import Block, Bullet, Delta, Fresh, Recalled
from tacit.server.responses import json_response, record_response
from tacit.server.routing import Context, RequestContext, Router
from tacit.server.schemas import (
    Categories,
    Flag,
    Fraction,
    Importance,
    Include,
    Kinds,
    Label,
    QueryFilters,
    QueryText,
    RequestModel,
    ResultCount,
    Revision,
    Time,
    Tokens,
    not_sent,
    query_whole,
)
from tacit.wire import encode

recall_router = Router("recall")
BULLETS_FORM: Final = "bullets"
_BULLET_FIELDS = ("id", "category", "text")


class QueryRequest(RequestModel):
    """A query of an agent."""

    query: QueryText
    agent: Label | None = None
    categories: Categories | None = None
    filters: QueryFilters | None = None
    top_k: ResultCount = limits.QUERY_DEFAULT_COUNT
    form: Annotated[Literal["bullets", "full"], Field(alias="return")] = BULLETS_FORM
    budget_tokens: Tokens | None = None
    threshold: Fraction | None = None


class RecallRequest(RequestModel):
    query: QueryText
    top_k: ResultCount = limits.RECALL_DEFAULT_COUNT
    budget_tokens: Tokens | None = None
    categories: Categories | None = None
    kinds: Kinds | None = None
    user: Label | None = None
    agent: Label | None = None
    run: Label | None = None
    actor: Label | None = None
    role: Label | None = None
    pinned: Flag | None = None
    importance_min: Importance | None = None
    importance_max: Importance | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None
    threshold: Fraction | None = None
    as_of: Time | None = None
    include: Include | None = None


class FreshRequest(RequestModel):
    query: QueryText
    since: Revision | None = None
    top_k: ResultCount = limits.RECALL_DEFAULT_COUNT
    budget_tokens: Tokens = limits.FRESH_BUDGET_TOKENS


class BlockQuery(RequestModel):
    style: Literal["memory", "filtered", "summary"] = not_sent()


class DeltaQuery(RequestModel):
    since: Annotated[int, query_whole(0, limits.REVISION_MAX)] = 0


@recall_router.post("/api/query", scope=Scope.READ, gives=list[Bullet])
def query_memories(context: Context, body: QueryRequest) -> Response:
    """Query memories as lines for the prompt of an agent; with `full`, the records behind them. An
    agent with an allow-list gets its categories alone."""
    if body.agent is not None:
        context = context.with_claims(agent=body.agent)
    sent = body.sent_fields("agent")
    if body.filters is not None:
        sent["filters"] = body.filters.sent_fields()
    found = context.view.query(**sent)
    if body.form != BULLETS_FORM:
        return record_response(found)
    return json_response([_encode_bullet(one) for one in found])


@recall_router.post("/api/recall", scope=Scope.READ, gives=list[Recalled])
def recall_memories(context: Context, body: RecallRequest) -> Response:
    """Recall memories for a question, best first, each with why and by which rule."""
    return record_response(context.view.recall(**body.sent_fields()))


@recall_router.get("/api/block", scope=Scope.READ, gives=Block)
def show_block(context: Context, query: Annotated[BlockQuery, Query()]) -> Response:
    """Show the block for the cached beginning of a prompt."""
    return record_response(context.view.block(query.style))


@recall_router.post("/api/fresh", scope=Scope.READ, gives=Fresh)
def show_fresh(context: Context, body: FreshRequest) -> Response:
    """Show the fresh context of a turn: changes since the block, and recalled memories."""
    return record_response(context.view.fresh(**body.sent_fields()))


@recall_router.get("/api/delta", scope=Scope.READ, gives=Delta)
def show_delta(context: Context, query: Annotated[DeltaQuery, Query()]) -> Response:
    """Show what changed in the thread of this request since a revision. Ask again from the returned
    revision until nothing changed."""
    return record_response(context.view.delta(query.since))


@recall_router.get("/api/threads/{thread:rest}/delta", scope=Scope.READ, gives=Delta)
def show_delta_of_thread(
    context: Context, thread: Label, query: Annotated[DeltaQuery, Query()]
) -> Response:
    """Show what changed in a thread since a revision, as far as the caller may see it."""
    return record_response(_view_of_thread(context, thread).delta(query.since))


def _view_of_thread(context: RequestContext, thread: str) -> Any:
    return context.caller.view(thread=thread)


def _encode_bullet(one: Bullet) -> dict[str, Any]:
    told = {name: encode(getattr(one, name)) for name in _BULLET_FIELDS}
    return {**told, "related": True} if one.related else told
