"""What comes to mind: query, recall, the block and the fresh part of a prompt, deltas."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field, WithJsonSchema
from starlette.responses import Response

from tacit import limits
from tacit.records.accounts import Scope
from tacit.records.results import Block, Bullet, Delta, Fresh, Recalled
from tacit.surfaces.rest.answers import answer, plain
from tacit.surfaces.rest.asking import Asked, Asking
from tacit.surfaces.rest.parameters import WHOLE
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import (
    CategoriesOrNone,
    Count,
    Filters,
    FlagOrNone,
    FractionOrNone,
    Given,
    ImportanceOrNone,
    IncludeOrNone,
    KindsOrNone,
    LabelOrNone,
    MomentOrNone,
    Revision,
    Tokens,
    TokensOrNone,
    Words,
    one_of,
    whole,
)
from tacit.surfaces.wire import taking
from tacit.surfaces.wire.values import encode

routes = Routes("recall")
STYLES = ("memory", "filtered", "summary")
BULLETS = "bullets"
_FORM = one_of((BULLETS, "full"))
_LINE = ("id", "category", "text")


class QueryRequest(Given):
    """The one question of an agent."""

    query: Words
    agent: LabelOrNone = None
    categories: CategoriesOrNone = None
    filters: Filters = None
    top_k: Count = limits.QUERY_DEFAULT_COUNT
    form: Annotated[Any, WithJsonSchema(_FORM), Field(alias="return")] = BULLETS
    budget_tokens: TokensOrNone = None
    threshold: FractionOrNone = None


class RecallRequest(Given):
    query: Words
    top_k: Count = limits.RECALL_DEFAULT_COUNT
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
    updated_after: MomentOrNone = None
    updated_before: MomentOrNone = None
    threshold: FractionOrNone = None
    as_of: MomentOrNone = None
    include: IncludeOrNone = None


class FreshRequest(Given):
    query: Words
    since: Revision = None
    top_k: Count = limits.RECALL_DEFAULT_COUNT
    budget_tokens: Tokens = limits.FRESH_BUDGET_TOKENS


class BlockQuery(Given):
    style: Annotated[Any, WithJsonSchema(one_of(STYLES))] = None


class DeltaQuery(Given):
    since: Annotated[
        Any, WHOLE, WithJsonSchema({**whole(0, limits.REVISION_MAX), "default": 0})
    ] = 0


@routes.post("/api/query", scope=Scope.READ, gives=list[Bullet])
def query_memories(asked: Asking, body: QueryRequest) -> Response:
    """Lines for the prompt of an agent, and with `full` the records behind them. An agent with an
    allow-list gets nothing outside of it."""
    if body.agent is not None:
        asked = asked.with_claims(agent=body.agent)
    found = asked.view.query(**body.sent_fields("agent"))
    if body.form != BULLETS:
        return answer(found)
    return plain([_line(one) for one in found])


@routes.post("/api/recall", scope=Scope.READ, gives=list[Recalled])
def recall_memories(asked: Asking, body: RecallRequest) -> Response:
    """What comes to mind for a question, strongest first, with why and by which rule."""
    moments = ("updated_after", "updated_before", "as_of")
    return answer(asked.view.recall(**taking.moments(body.sent_fields(), *moments)))


@routes.get("/api/block", scope=Scope.READ, gives=Block)
def show_block(asked: Asking, query: Annotated[BlockQuery, Query()]) -> Response:
    """What is known, for the cached beginning of a prompt."""
    return answer(asked.view.block(query.style))


@routes.post("/api/fresh", scope=Scope.READ, gives=Fresh)
def show_fresh(asked: Asking, body: FreshRequest) -> Response:
    """What changed since the block, and what comes to mind: for the part that is new each turn."""
    return answer(asked.view.fresh(**body.sent_fields()))


@routes.get("/api/delta", scope=Scope.READ, gives=Delta)
def show_delta(asked: Asking, query: Annotated[DeltaQuery, Query()]) -> Response:
    """What changed in the thread of this request since a revision. Ask again from the revision that
    is told, until nothing changed."""
    return answer(asked.view.delta(query.since))


@routes.get("/api/threads/{thread:rest}/delta", scope=Scope.READ, gives=Delta)
def show_delta_of_thread(
    asked: Asking, thread: str, query: Annotated[DeltaQuery, Query()]
) -> Response:
    """What changed in a thread since a revision, as far as the caller may hear it."""
    return answer(_in(asked, thread).delta(query.since))


def _in(asked: Asked, thread: str) -> Any:
    return asked.admitted.view(thread=thread)


def _line(one: Bullet) -> dict[str, Any]:
    told = {name: encode(getattr(one, name)) for name in _LINE}
    return {**told, "related": True} if one.related else told
