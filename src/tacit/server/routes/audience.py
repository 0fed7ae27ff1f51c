"""Who would be shown a memory, and who joins and leaves chats."""

from __future__ import annotations

from starlette.responses import Response

from tacit import AudiencePreview, Explanation, Page, limits
from tacit.errors import NotAllowed
from tacit.records.accounts import Scope
from tacit.records.memory import ChatKind
from tacit.records.queries import MATCH_ALL
from tacit.records.request import Chat, Requester
from tacit.server.responses import no_content, record_response
from tacit.server.routing import Context, RequestContext, Router
from tacit.server.schemas import ChatId, ChatInput, Flag, PageSize, PersonKey, RequesterInput, RequestModel, SearchInput

audience_router = Router("memory")
MEMORY_PATH = "/api/memory/{id}"


class ExplainBody(RequestModel):
    chat: ChatInput | None = None
    asked_by: RequesterInput | None = None


class HearingBody(RequestModel):
    chat: ChatInput
    asked_by: RequesterInput | None = None
    search: SearchInput | None = None
    limit: PageSize = limits.PAGE_DEFAULT_COUNT
    cursor: str | None = None


@audience_router.add("GET", f"{MEMORY_PATH}/explain", scope=Scope.READ, gives=Explanation, problems=(404,))
def explain(context: Context, id: str) -> Response:
    """Explain whether one of the caller's memories may be shown here, and by which rule."""
    return record_response(context.view.explain(id))


@audience_router.add("POST", f"{MEMORY_PATH}/explain", scope=Scope.READ, gives=Explanation, problems=(404,))
def explain_elsewhere(context: Context, id: str, body: ExplainBody) -> Response:
    """Explain the same for another chat. Only a key that acts for others names participants and the
    requester; any other names a chat, and the stored participants count."""
    chat = None if body.chat is None else _check_chat(context, body.chat)
    return record_response(context.view.explain(id, chat, _check_asker(context, body.asked_by)))


@audience_router.serve("audience.of")
def list_hearers() -> None:
    """List who can see one of the caller's memories, in each of their chats and alone. With
    `visibility`, who could if that were set."""


@audience_router.add("POST", "/api/hearing", scope=Scope.READ, gives=Page[AudiencePreview])
def list_hearing(context: Context, body: HearingBody) -> Response:
    """List the caller's own memories, each with whether it would be shown in a chat. As for one
    memory, only a key that acts for others names participants and the requester."""
    chat, by = _check_chat(context, body.chat), _check_asker(context, body.asked_by)
    return record_response(
        context.view.audience.preview(
            chat, by, body.search or MATCH_ALL, **body.sent_fields("chat", "asked_by", "search")
        )
    )


@audience_router.serve("audience.chats")
def list_rooms() -> None:
    """List the caller's private chat and their groups, with the other participants."""


def _check_asker(context: RequestContext, asker: Requester | None) -> Requester | None:
    """Return the asker of a preview, whom only a key that acts for others names."""
    if asker is not None:
        context.caller.require_scopes(Scope.ACT_AS)
    return asker


def _check_chat(context: RequestContext, chat: Chat) -> Chat:
    """Return the chat of a preview: as a key that acts for others says, or as it is stored."""
    return chat if context.caller.has_scope(Scope.ACT_AS) else _find_known_chat(context, chat)


def _find_known_chat(context: RequestContext, chat: Chat) -> Chat:
    requester = context.caller.requester
    if requester is None:
        raise NotAllowed
    if chat.kind is ChatKind.PRIVATE and chat.id == requester.key:
        return Chat.private(chat.id)
    if chat.participants or chat.complete or chat.kind is not ChatKind.GROUP:
        raise NotAllowed
    known = context.memory.chats.resolve(requester, chat.id)
    if known.kind is ChatKind.UNKNOWN:
        raise NotAllowed
    return known


# Participants of chats, as channel adapters see them.

chat_router = Router("chats")


class JoinedRequest(RequestModel):
    person: PersonKey


class LeftRequest(RequestModel):
    person: PersonKey | None = None


class ConfidentialRequest(RequestModel):
    on: Flag = True


class MigratedRequest(RequestModel):
    new: ChatId


@chat_router.add("POST", "/api/chats/{chat:rest}/joined", scope=Scope.ACT_AS, status=204, problems=(404,))
def joined_chat(context: Context, chat: ChatId, body: JoinedRequest) -> Response:
    """Record that a person joined a group, or spoke there."""
    context.memory.chats.join(chat, body.person)
    return no_content()


@chat_router.add("POST", "/api/chats/{chat:rest}/left", scope=Scope.ACT_AS, status=204, problems=(404,))
def left_chat(context: Context, chat: ChatId, body: LeftRequest) -> Response:
    """Record that a person left a group; without a person, that all did."""
    context.memory.chats.leave(chat, **body.sent_fields())
    return no_content()


@chat_router.add("POST", "/api/chats/{chat:rest}/confidential", scope=Scope.ACT_AS, status=204, problems=(404,))
def confidential_chat(context: Context, chat: ChatId, body: ConfidentialRequest) -> Response:
    """Make a group confidential: what is said there is not shown elsewhere."""
    context.memory.chats.set_confidential(chat, **body.sent_fields())
    return no_content()


@chat_router.add("POST", "/api/chats/{chat:rest}/migrated", scope=Scope.ACT_AS, status=204, problems=(404, 409))
def migrated_chat(context: Context, chat: ChatId, body: MigratedRequest) -> Response:
    """Record the new id that the channel gave a group."""
    context.memory.chats.migrate(chat, body.new)
    return no_content()
