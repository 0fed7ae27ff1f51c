"""Learn from messages, record turns, answer proposals, begin and end sessions."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from tacit.records.accounts import Scope
from tacit.records.notes import SessionEnded, SessionStart
from tacit.records.results import Accepted, Page, Proposal, Recorded, Reverted, TraceStep
from tacit.server.responses import no_content, paginate, record_response
from tacit.server.routing import Context, Router
from tacit.server.schemas import (
    Category,
    Content,
    Flag,
    KeyName,
    Label,
    MessageInput,
    Messages,
    PageQuery,
    RequestModel,
    SessionDraftInput,
    not_sent,
)

learning_router = Router("learning")


class LearnRequest(RequestModel):
    messages: Messages


class UnlearnRequest(RequestModel):
    message: Label


class RecordRequest(RequestModel):
    messages: Messages
    session: Label | None = None


class TraceRequest(RequestModel):
    text: Content | MessageInput
    keep: Flag = False


class BeginRequest(RequestModel):
    session: Label | None = None


class EndRequest(RequestModel):
    messages: Messages = not_sent()
    draft: SessionDraftInput | None = None
    session: Label | None = None


class ProposeRequest(RequestModel):
    category: Category
    key: KeyName


@learning_router.post("/api/learn", scope=Scope.WRITE, gives=Accepted, status=202, once=True)
def learn_messages(context: Context, body: LearnRequest) -> Response:
    """Queue messages to learn from, in order. A worker learns from them in the background; none is
    lost."""
    return record_response(context.write_view.learn(body.messages), 202)


@learning_router.post("/api/record", scope=Scope.WRITE, gives=Recorded, once=True)
def record_messages(context: Context, body: RecordRequest) -> Response:
    """Keep turns of a conversation word for word."""
    return record_response(context.write_view.record(**body.sent_fields()))


@learning_router.post("/api/unlearn", scope=Scope.WRITE, gives=Reverted, once=True)
def unlearn_message(context: Context, body: UnlearnRequest) -> Response:
    """Undo what was learned from one message of the caller in this chat, by the channel's id of it.
    An unknown message and one of another person are answered alike: nothing was undone."""
    return record_response(context.write_view.unlearn(body.message))


@learning_router.post("/api/trace", scope=Scope.WRITE, gives=list[TraceStep])
def trace_message(context: Context, body: TraceRequest) -> Response:
    """Trace one message through the stages of learning. Unless `keep` is set, nothing is stored."""
    context.caller.require_scopes(Scope.READ)  # it tells what is known already
    view = context.write_view if body.keep else context.view
    return record_response(view.trace(body.text, body.keep))


@learning_router.get("/api/proposals", scope=Scope.READ, gives=Page[Proposal])
def list_proposals(context: Context, query: Annotated[PageQuery, Query()]) -> Response:
    """List the proposals that wait for the caller's consent."""
    found = context.view.proposals.list()
    return record_response(paginate(found, lambda one: one.id, query.limit, query.cursor))


@learning_router.post("/api/proposals", scope=Scope.WRITE, status=204, once=True)
def propose_public(context: Context, body: ProposeRequest) -> Response:
    """Ask the caller, in their private chat, whether the value of a key may be shown anywhere.
    Whether there is one is not disclosed."""
    context.write_view.proposals.propose_public(body.category, body.key)
    return no_content()


@learning_router.post(
    "/api/proposals/{id:rest}/approve", scope=Scope.WRITE, status=204, once=True, problems=(404,)
)
def approve_proposal(context: Context, id: str) -> Response:
    """Approve a proposal: it is stored."""
    context.write_view.proposals.approve(id)
    return no_content()


@learning_router.post(
    "/api/proposals/{id:rest}/decline", scope=Scope.WRITE, status=204, once=True, problems=(404,)
)
def decline_proposal(context: Context, id: str) -> Response:
    """Decline a proposal: its text is deleted, and it is not proposed again for a while."""
    context.write_view.proposals.decline(id)
    return no_content()


@learning_router.post("/api/sessions/begin", scope=Scope.READ, gives=SessionStart)
def begin_session(context: Context, body: BeginRequest) -> Response:
    """Begin a session: return lasting notes, recent sessions and today's note."""
    return record_response(context.view.sessions.begin(body.session))


@learning_router.post("/api/sessions/end", scope=Scope.WRITE, gives=SessionEnded, once=True)
def end_session(context: Context, body: EndRequest) -> Response:
    """End a session: write its note from the messages or from a draft. A key that may not read does
    not get the note."""
    ended = context.write_view.sessions.end(**body.sent_fields())
    return record_response(ended if context.may_read else replace(ended, note=None))
