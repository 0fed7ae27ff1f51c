"""What was said: learning from it, keeping it, and asking before some of it is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from tacit.records import validation
from tacit.records.accounts import Scope
from tacit.records.notes import SessionEnded, SessionStart
from tacit.records.results import Accepted, Page, Proposal, Recorded, Reverted, TraceStep
from tacit.surfaces.rest.answers import answer, nothing
from tacit.surfaces.rest.asking import Asking
from tacit.surfaces.rest.paging import paged
from tacit.surfaces.rest.parameters import Paged
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import (
    Category,
    Draft,
    Flag,
    Given,
    KeyName,
    Label,
    LabelOrNone,
    MessageOrText,
    Messages,
)
from tacit.surfaces.wire import taking

routes = Routes("learning")


class LearnRequest(Given):
    messages: Messages


class UnlearnRequest(Given):
    message: Label


class RecordRequest(Given):
    messages: Messages
    session: LabelOrNone = None


class TraceRequest(Given):
    text: MessageOrText
    keep: Flag = False


class BeginRequest(Given):
    session: LabelOrNone = None


class EndRequest(Given):
    messages: Messages = ()
    draft: Draft = None
    session: LabelOrNone = None


class ProposeRequest(Given):
    category: Category
    key: KeyName


@routes.post("/api/learn", scope=Scope.WRITE, gives=Accepted, status=202, once=True)
def learn_messages(asked: Asking, body: LearnRequest) -> Response:
    """Hand over what was said, in order. It is learned in the background, and not lost."""
    return answer(asked.write_view.learn(taking.messages(body.messages)), 202)


@routes.post("/api/record", scope=Scope.WRITE, gives=Recorded, once=True)
def record_messages(asked: Asking, body: RecordRequest) -> Response:
    """Keep turns of a conversation as they were said."""
    said = taking.messages(body.messages)
    return answer(asked.write_view.record(said, **body.sent_fields("messages")))


@routes.post("/api/unlearn", scope=Scope.WRITE, gives=Reverted, once=True)
def unlearn_message(asked: Asking, body: UnlearnRequest) -> Response:
    """Take back what the caller said in one message of this chat, by the channel's id of it. A
    message that is somebody else's, or nobody's, is answered alike: nothing was undone."""
    return answer(asked.write_view.unlearn(body.message))


@routes.post("/api/trace", scope=Scope.WRITE, gives=list[TraceStep])
def trace_message(asked: Asking, body: TraceRequest) -> Response:
    """The way of one message through the stages of learning. Unless `keep`, nothing of it stays."""
    asked.admitted.require_scopes(Scope.READ)  # it tells what is known already
    keep = validation.parse_bool("keep", body.keep)
    view = asked.write_view if keep else asked.view
    said = taking.message(body.text, "text") if isinstance(body.text, dict) else body.text
    return answer(view.trace(said, keep))


@routes.get("/api/proposals", scope=Scope.READ, gives=Page[Proposal])
def list_proposals(asked: Asking, query: Annotated[Paged, Query()]) -> Response:
    """What waits for the caller's yes."""
    found = asked.view.proposals()
    return answer(paged(found, lambda one: one.id, query.limit, query.cursor))


@routes.post("/api/proposals", scope=Scope.WRITE, status=204, once=True)
def propose_public(asked: Asking, body: ProposeRequest) -> Response:
    """Ask the caller, in their own private chat, whether the value of a key may be said anywhere.
    Whether there is one is not told."""
    asked.write_view.propose_public(body.category, body.key)
    return nothing()


@routes.post(
    "/api/proposals/{id:rest}/approve", scope=Scope.WRITE, status=204, once=True, problems=(404,)
)
def approve_proposal(asked: Asking, id: str) -> Response:
    """Yes: keep it."""
    asked.write_view.approve(id)
    return nothing()


@routes.post(
    "/api/proposals/{id:rest}/decline", scope=Scope.WRITE, status=204, once=True, problems=(404,)
)
def decline_proposal(asked: Asking, id: str) -> Response:
    """No: its words are gone, and nobody asks again for a while."""
    asked.write_view.decline(id)
    return nothing()


@routes.post("/api/sessions/begin", scope=Scope.READ, gives=SessionStart)
def begin_session(asked: Asking, body: BeginRequest) -> Response:
    """What a session starts with: what is kept for good, recent sessions, and today's note."""
    return answer(asked.view.begin_session(body.session))


@routes.post("/api/sessions/end", scope=Scope.WRITE, gives=SessionEnded, once=True)
def end_session(asked: Asking, body: EndRequest) -> Response:
    """Write down what a session came to, from what was said or from a draft of it. A key that may
    not read is not told the note."""
    sent = body.sent_fields("messages", "draft")
    if "messages" in body.model_fields_set:
        sent["messages"] = taking.messages(body.messages)
    if "draft" in body.model_fields_set:
        sent["draft"] = None if body.draft is None else taking.draft(body.draft)
    ended = asked.write_view.end_session(**sent)
    return answer(ended if asked.may_read else replace(ended, note=None))
