"""Who comes and goes in chats: for the adapters of channels, which see it."""

from __future__ import annotations

from starlette.responses import Response

from tacit.records.accounts import Scope
from tacit.surfaces.rest.answers import nothing
from tacit.surfaces.rest.asking import Asking
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import ChatId, Flag, Given, Somebody, SomebodyOrNull

routes = Routes("chats")


class JoinedRequest(Given):
    person: Somebody


class LeftRequest(Given):
    person: SomebodyOrNull = None


class ConfidentialRequest(Given):
    on: Flag = True


class MigratedRequest(Given):
    new: ChatId


@routes.post("/api/chats/{chat:rest}/joined", scope=Scope.ACT_AS, status=204, problems=(404,))
def joined_chat(asked: Asking, chat: str, body: JoinedRequest) -> Response:
    """Somebody came into a group, or spoke there."""
    asked.memory.joined(chat, body.person)
    return nothing()


@routes.post("/api/chats/{chat:rest}/left", scope=Scope.ACT_AS, status=204, problems=(404,))
def left_chat(asked: Asking, chat: str, body: LeftRequest) -> Response:
    """Somebody left a group; without a person, everybody did."""
    asked.memory.left(chat, **body.sent_fields())
    return nothing()


@routes.post("/api/chats/{chat:rest}/confidential", scope=Scope.ACT_AS, status=204, problems=(404,))
def confidential_chat(asked: Asking, chat: str, body: ConfidentialRequest) -> Response:
    """What is said in a confidential group does not leave it."""
    asked.memory.set_confidential(chat, **body.sent_fields())
    return nothing()


@routes.post("/api/chats/{chat:rest}/migrated", scope=Scope.ACT_AS, status=204, problems=(404, 409))
def migrated_chat(asked: Asking, chat: str, body: MigratedRequest) -> Response:
    """The channel gave a group a new id."""
    asked.memory.migrated(chat, body.new)
    return nothing()
