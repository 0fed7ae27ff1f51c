"""Learn from messages, record turns, answer proposals, begin and end sessions."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import Response

from tacit.records.accounts import Scope
from tacit.records.results import TraceStep
from tacit.server.responses import record_response
from tacit.server.routing import Context, Router
from tacit.server.schemas import Content, Flag, MessageInput, Messages, RequestModel, not_sent

learning_router = Router("learning")


class TraceRequest(RequestModel):
    text: Content | MessageInput
    keep: Flag = False


@learning_router.serve("learn", body="LearnRequest", status=202)
def learn_messages() -> None:
    """Queue messages to learn from, in order. A worker learns from them in the background; none is
    lost."""


@learning_router.serve("record", body="RecordRequest")
def record_messages() -> None:
    """Keep turns of a conversation word for word."""


@learning_router.serve("unlearn", body="UnlearnRequest")
def unlearn_message() -> None:
    """Undo what was learned from one message of the caller in this chat, by the channel's id of it.
    An unknown message and one of another person are answered alike: nothing was undone."""


@learning_router.add("POST", "/api/trace", scope=Scope.WRITE, gives=list[TraceStep])
def trace_message(context: Context, body: TraceRequest) -> Response:
    """Trace one message through the stages of learning. Unless `keep` is set, nothing is stored."""
    context.caller.require_scopes(Scope.READ)  # it tells what is known already
    view = context.write_view if body.keep else context.view
    return record_response(view.trace(body.text, body.keep))


@learning_router.serve("proposals.list")
def list_proposals() -> None:
    """List the proposals that wait for the caller's consent."""


@learning_router.serve("proposals.propose_public", body="ProposeRequest")
def propose_public() -> None:
    """Ask the caller, in their private chat, whether the value of a key may be shown anywhere.
    Whether there is one is not disclosed."""


@learning_router.serve("proposals.approve")
def approve_proposal() -> None:
    """Approve a proposal: it is stored."""


@learning_router.serve("proposals.decline")
def decline_proposal() -> None:
    """Decline a proposal: its text is deleted, and it is not proposed again for a while."""


@learning_router.serve("sessions.begin", body="BeginRequest")
def begin_session() -> None:
    """Begin a session: return lasting notes, recent sessions and today's note."""


@learning_router.serve(
    "sessions.end",
    body="EndRequest",
    types={"messages": (Messages, not_sent())},
    hide=lambda ended: replace(ended, note=None),
)
def end_session() -> None:
    """End a session: write its note from the messages or from a draft. A key that may not read does
    not get the note."""
