"""Recall and query memories; the block, fresh context and deltas of a prompt."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field, WithJsonSchema
from starlette.responses import Response

from tacit import limits, wire
from tacit.records.accounts import Scope
from tacit.records.results import Block, Bullet, Delta, Fresh, Recalled
from tacit.server.responses import json_response, record_response
from tacit.server.routing import Context, RequestContext, Router
from tacit.server.schemas import (
    INTEGER_FROM_QUERY,
    CategoriesOrNone,
    Filters,
    FlagOrNone,
    FractionOrNone,
    ImportanceOrNone,
    IncludeOrNone,
    KindsOrNone,
    LabelOrNone,
    QueryText,
    RequestModel,
    ResultCount,
    Revision,
    TimeOrNone,
    Tokens,
    TokensOrNone,
    enum_schema,
    integer_schema,
)
from tacit.wire import encode

recall_router = Router("recall")
BLOCK_STYLES = ("memory", "filtered", "summary")
BULLETS_FORM = "bullets"
_FORM_SCHEMA = enum_schema((BULLETS_FORM, "full"))
_BULLET_FIELDS = ("id", "category", "text")


class QueryRequest(RequestModel):
    """The one question of an agent."""

    query: QueryText
    agent: LabelOrNone = None
    categories: CategoriesOrNone = None
    filters: Filters = None
    top_k: ResultCount = limits.QUERY_DEFAULT_COUNT
    form: Annotated[Any, WithJsonSchema(_FORM_SCHEMA), Field(alias="return")] = BULLETS_FORM
    budget_tokens: TokensOrNone = None
    threshold: FractionOrNone = None


class RecallRequest(RequestModel):
    query: QueryText
    top_k: ResultCount = limits.RECALL_DEFAULT_COUNT
    budget_tokens: TokensOrNone = None
    categories: CategoriesOrNone = None
    kinds: KindsOrNone = None
    user: LabelOrNone = None
    agent: LabelOrNone = None
    run: LabelOrNone = None
    actor: LabelOrNone = None
    role: LabelOrNone = None
    pinned: FlagOrNone = None
    importance_min: ImportanceOrNone = None
    importance_max: ImportanceOrNone = None
    updated_after: TimeOrNone = None
    updated_before: TimeOrNone = None
    threshold: FractionOrNone = None
    as_of: TimeOrNone = None
    include: IncludeOrNone = None


class FreshRequest(RequestModel):
    query: QueryText
    since: Revision = None
    top_k: ResultCount = limits.RECALL_DEFAULT_COUNT
    budget_tokens: Tokens = limits.FRESH_BUDGET_TOKENS


class BlockQuery(RequestModel):
    style: Annotated[Any, WithJsonSchema(enum_schema(BLOCK_STYLES))] = None


class DeltaQuery(RequestModel):
    since: Annotated[
        Any,
        INTEGER_FROM_QUERY,
        WithJsonSchema({**integer_schema(0, limits.REVISION_MAX), "default": 0}),
    ] = 0


@recall_router.post("/api/query", scope=Scope.READ, gives=list[Bullet])
def query_memories(asked: Context, body: QueryRequest) -> Response:
    """Lines for the prompt of an agent, and with `full` the records behind them. An agent with an
    allow-list gets nothing outside of it."""
    if body.agent is not None:
        asked = asked.with_claims(agent=body.agent)
    found = asked.view.query(**body.sent_fields("agent"))
    if body.form != BULLETS_FORM:
        return record_response(found)
    return json_response([_encode_bullet(one) for one in found])


@recall_router.post("/api/recall", scope=Scope.READ, gives=list[Recalled])
def recall_memories(asked: Context, body: RecallRequest) -> Response:
    """What comes to mind for a question, strongest first, with why and by which rule."""
    moments = ("updated_after", "updated_before", "as_of")
    return record_response(asked.view.recall(**wire.parse_times(body.sent_fields(), *moments)))


@recall_router.get("/api/block", scope=Scope.READ, gives=Block)
def show_block(asked: Context, query: Annotated[BlockQuery, Query()]) -> Response:
    """What is known, for the cached beginning of a prompt."""
    return record_response(asked.view.block(query.style))


@recall_router.post("/api/fresh", scope=Scope.READ, gives=Fresh)
def show_fresh(asked: Context, body: FreshRequest) -> Response:
    """What changed since the block, and what comes to mind: for the part that is new each turn."""
    return record_response(asked.view.fresh(**body.sent_fields()))


@recall_router.get("/api/delta", scope=Scope.READ, gives=Delta)
def show_delta(asked: Context, query: Annotated[DeltaQuery, Query()]) -> Response:
    """What changed in the thread of this request since a revision. Ask again from the revision that
    is told, until nothing changed."""
    return record_response(asked.view.delta(query.since))


@recall_router.get("/api/threads/{thread:rest}/delta", scope=Scope.READ, gives=Delta)
def show_delta_of_thread(
    asked: Context, thread: str, query: Annotated[DeltaQuery, Query()]
) -> Response:
    """What changed in a thread since a revision, as far as the caller may hear it."""
    return record_response(_view_of_thread(asked, thread).delta(query.since))


def _view_of_thread(asked: RequestContext, thread: str) -> Any:
    return asked.admitted.view(thread=thread)


def _encode_bullet(one: Bullet) -> dict[str, Any]:
    told = {name: encode(getattr(one, name)) for name in _BULLET_FIELDS}
    return {**told, "related": True} if one.related else told
