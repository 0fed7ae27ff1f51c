"""Learn from messages, record turns, answer proposals, begin and end sessions."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from tacit import wire
from tacit.records import validation
from tacit.records.accounts import Scope
from tacit.records.notes import SessionEnded, SessionStart
from tacit.records.results import Accepted, Page, Proposal, Recorded, Reverted, TraceStep
from tacit.server.responses import no_content, paginate, record_response
from tacit.server.routing import Context, Router
from tacit.server.schemas import (
    Category,
    Flag,
    KeyName,
    Label,
    LabelOrNone,
    MessageOrText,
    Messages,
    PageQuery,
    RequestModel,
    SessionDraftOrNone,
)

learning_router = Router("learning")


class LearnRequest(RequestModel):
    messages: Messages


class UnlearnRequest(RequestModel):
    message: Label


class RecordRequest(RequestModel):
    messages: Messages
    session: LabelOrNone = None


class TraceRequest(RequestModel):
    text: MessageOrText
    keep: Flag = False


class BeginRequest(RequestModel):
    session: LabelOrNone = None


class EndRequest(RequestModel):
    messages: Messages = ()
    draft: SessionDraftOrNone = None
    session: LabelOrNone = None


class ProposeRequest(RequestModel):
    category: Category
    key: KeyName


@learning_router.post("/api/learn", scope=Scope.WRITE, gives=Accepted, status=202, once=True)
def learn_messages(asked: Context, body: LearnRequest) -> Response:
    """Hand over what was said, in order. It is learned in the background, and not lost."""
    return record_response(asked.write_view.learn(wire.parse_messages(body.messages)), 202)


@learning_router.post("/api/record", scope=Scope.WRITE, gives=Recorded, once=True)
def record_messages(asked: Context, body: RecordRequest) -> Response:
    """Keep turns of a conversation as they were said."""
    said = wire.parse_messages(body.messages)
    return record_response(asked.write_view.record(said, **body.sent_fields("messages")))


@learning_router.post("/api/unlearn", scope=Scope.WRITE, gives=Reverted, once=True)
def unlearn_message(asked: Context, body: UnlearnRequest) -> Response:
    """Take back what the caller said in one message of this chat, by the channel's id of it. A
    message that is somebody else's, or nobody's, is answered alike: nothing was undone."""
    return record_response(asked.write_view.unlearn(body.message))


@learning_router.post("/api/trace", scope=Scope.WRITE, gives=list[TraceStep])
def trace_message(asked: Context, body: TraceRequest) -> Response:
    """The way of one message through the stages of learning. Unless `keep`, nothing of it stays."""
    asked.admitted.require_scopes(Scope.READ)  # it tells what is known already
    keep = validation.parse_bool("keep", body.keep)
    view = asked.write_view if keep else asked.view
    said = wire.parse_message(body.text, "text") if isinstance(body.text, dict) else body.text
    return record_response(view.trace(said, keep))


@learning_router.get("/api/proposals", scope=Scope.READ, gives=Page[Proposal])
def list_proposals(asked: Context, query: Annotated[PageQuery, Query()]) -> Response:
    """What waits for the caller's yes."""
    found = asked.view.proposals()
    return record_response(paginate(found, lambda one: one.id, query.limit, query.cursor))


@learning_router.post("/api/proposals", scope=Scope.WRITE, status=204, once=True)
def propose_public(asked: Context, body: ProposeRequest) -> Response:
    """Ask the caller, in their own private chat, whether the value of a key may be said anywhere.
    Whether there is one is not told."""
    asked.write_view.propose_public(body.category, body.key)
    return no_content()


@learning_router.post(
    "/api/proposals/{id:rest}/approve", scope=Scope.WRITE, status=204, once=True, problems=(404,)
)
def approve_proposal(asked: Context, id: str) -> Response:
    """Yes: keep it."""
    asked.write_view.approve(id)
    return no_content()


@learning_router.post(
    "/api/proposals/{id:rest}/decline", scope=Scope.WRITE, status=204, once=True, problems=(404,)
)
def decline_proposal(asked: Context, id: str) -> Response:
    """No: its words are gone, and nobody asks again for a while."""
    asked.write_view.decline(id)
    return no_content()


@learning_router.post("/api/sessions/begin", scope=Scope.READ, gives=SessionStart)
def begin_session(asked: Context, body: BeginRequest) -> Response:
    """What a session starts with: what is kept for good, recent sessions, and today's note."""
    return record_response(asked.view.begin_session(body.session))


@learning_router.post("/api/sessions/end", scope=Scope.WRITE, gives=SessionEnded, once=True)
def end_session(asked: Context, body: EndRequest) -> Response:
    """Write down what a session came to, from what was said or from a draft of it. A key that may
    not read is not told the note."""
    sent = body.sent_fields("messages", "draft")
    if "messages" in body.model_fields_set:
        sent["messages"] = wire.parse_messages(body.messages)
    if "draft" in body.model_fields_set:
        sent["draft"] = None if body.draft is None else wire.parse_session_draft(body.draft)
    ended = asked.write_view.end_session(**sent)
    return record_response(ended if asked.may_read else replace(ended, note=None))
