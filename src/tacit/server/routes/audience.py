"""Who would be shown a memory, and who joins and leaves chats."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import AudienceChat, AudiencePreview, AudienceReport, Explanation, Page, limits
from tacit.errors import NotAllowed
from tacit.records.accounts import Scope
from tacit.records.memory import ChatKind, Visibility
from tacit.records.request import Chat, Requester
from tacit.server import schemas
from tacit.server.responses import no_content, paginate, record_response
from tacit.server.routing import Context, RequestContext, Router
from tacit.server.schemas import (
    FLAG,
    ChatId,
    Flag,
    PageQuery,
    PersonKey,
    PersonKeyOrNone,
    RequestModel,
    SearchOrNone,
    array_schema,
    enum_schema,
    integer_schema,
    nullable,
    object_schema,
    parse_search,
    string_schema,
)
from tacit.wire import build_record

# Who would hear the caller's memories: the rooms there are, and the rule that decides in each.

audience_router = Router("memory")
MEMORY_PATH = "/api/memory/{id}"
NAME_SCHEMA = nullable(string_schema(limits.NAME_MAX_CHARS))
PERSON_SCHEMA = object_schema(
    ("key",), key=schemas.PERSON_KEY, name=NAME_SCHEMA, username=NAME_SCHEMA, is_bot=FLAG
)
CHAT_SCHEMA = object_schema(
    ("id", "kind"),
    id=schemas.CHAT_ID,
    kind=enum_schema(ChatKind),
    participants=array_schema(
        {"anyOf": [schemas.PERSON_KEY, PERSON_SCHEMA]}, most=limits.PARTICIPANTS_MAX_COUNT
    ),
    complete=FLAG,
)


class ExplainBody(RequestModel):
    chat: Annotated[Any, WithJsonSchema(nullable(CHAT_SCHEMA))] = None
    asked_by: Annotated[Any, WithJsonSchema(nullable(PERSON_SCHEMA))] = None


class HearingBody(RequestModel):
    chat: Annotated[Any, WithJsonSchema(CHAT_SCHEMA)]
    asked_by: Annotated[Any, WithJsonSchema(nullable(PERSON_SCHEMA))] = None
    search: SearchOrNone = None
    limit: Annotated[Any, WithJsonSchema(integer_schema(1, limits.PAGE_MAX_COUNT))] = (
        limits.PAGE_DEFAULT_COUNT
    )
    cursor: Annotated[Any, WithJsonSchema(nullable({"type": "string"}))] = None


class HearersQuery(RequestModel):
    visibility: Annotated[Any, WithJsonSchema(enum_schema(Visibility))] = None


@audience_router.get(f"{MEMORY_PATH}/explain", scope=Scope.READ, gives=Explanation, problems=(404,))
def explain(asked: Context, id: str) -> Response:
    """Whether one of the caller's memories may be said here, and by which rule."""
    return record_response(asked.view.explain(id))


@audience_router.post(
    f"{MEMORY_PATH}/explain", scope=Scope.READ, gives=Explanation, problems=(404,)
)
def explain_elsewhere(asked: Context, id: str, body: ExplainBody) -> Response:
    """The same for another chat. Who is there, and who would ask, only a key that acts for others
    says; any other names a chat, and the store says who is there."""
    chat = None if body.chat is None else _parse_chat(asked, body.chat)
    return record_response(asked.view.explain(id, chat, _parse_asker(asked, body.asked_by)))


@audience_router.get(
    f"{MEMORY_PATH}/hearers", scope=Scope.READ, gives=AudienceReport, problems=(404,)
)
def list_hearers(asked: Context, id: str, query: Annotated[HearersQuery, Query()]) -> Response:
    """Who would hear one of the caller's memories, in each of their rooms and alone. With
    `visibility`, who would if that were set."""
    return record_response(asked.view.hearers(id, **query.sent_fields()))


@audience_router.post("/api/hearing", scope=Scope.READ, gives=Page[AudiencePreview])
def list_hearing(asked: Context, body: HearingBody) -> Response:
    """Each of the caller's own memories, and whether it would be said in a chat. As for one of
    them, only a key that acts for others says who is there, and who would ask."""
    chat, by = _parse_chat(asked, body.chat), _parse_asker(asked, body.asked_by)
    wanted = parse_search(body.search)
    return record_response(
        asked.view.hearing(chat, by, wanted, **body.sent_fields("chat", "asked_by", "search"))
    )


@audience_router.get("/api/rooms", scope=Scope.READ, gives=Page[AudienceChat])
def list_rooms(asked: Context, query: Annotated[PageQuery, Query()]) -> Response:
    """The caller's private chat and the groups they are in, with who else is there."""
    found = asked.view.rooms()
    return record_response(paginate(found, lambda one: one.id, query.limit, query.cursor))


def _parse_asker(asked: RequestContext, found: object) -> Requester | None:
    if found is None:
        return None
    asker = build_record(Requester, "asked_by", found)
    if not asked.admitted.has_scope(Scope.ACT_AS):
        raise NotAllowed
    return asker


def _parse_chat(asked: RequestContext, found: object) -> Chat:
    chat = build_record(Chat, "chat", found, participants=_parse_participants)
    if chat.kind in list(ChatKind):
        chat = replace(chat, kind=ChatKind(chat.kind))
    return chat if asked.admitted.has_scope(Scope.ACT_AS) else _find_known_chat(asked, chat)


def _parse_participants(found: Any) -> Any:
    if not isinstance(found, list):
        return found
    return tuple(
        one if isinstance(one, str) else build_record(Requester, "participants", one)
        for one in found
    )


def _find_known_chat(asked: RequestContext, chat: Chat) -> Chat:
    requester = asked.admitted.requester
    if requester is None:
        raise NotAllowed
    if chat.kind is ChatKind.PRIVATE and chat.id == requester.key:
        return Chat.private(chat.id)
    if chat.participants or chat.complete or chat.kind is not ChatKind.GROUP:
        raise NotAllowed
    known = asked.memory.chat(requester, chat.id)
    if known.kind is ChatKind.UNKNOWN:
        raise NotAllowed
    return known


# Who comes and goes in chats: for the adapters of channels, which see it.

chat_router = Router("chats")


class JoinedRequest(RequestModel):
    person: PersonKey


class LeftRequest(RequestModel):
    person: PersonKeyOrNone = None


class ConfidentialRequest(RequestModel):
    on: Flag = True


class MigratedRequest(RequestModel):
    new: ChatId


@chat_router.post("/api/chats/{chat:rest}/joined", scope=Scope.ACT_AS, status=204, problems=(404,))
def joined_chat(asked: Context, chat: str, body: JoinedRequest) -> Response:
    """Somebody came into a group, or spoke there."""
    asked.memory.joined(chat, body.person)
    return no_content()


@chat_router.post("/api/chats/{chat:rest}/left", scope=Scope.ACT_AS, status=204, problems=(404,))
def left_chat(asked: Context, chat: str, body: LeftRequest) -> Response:
    """Somebody left a group; without a person, everybody did."""
    asked.memory.left(chat, **body.sent_fields())
    return no_content()


@chat_router.post(
    "/api/chats/{chat:rest}/confidential", scope=Scope.ACT_AS, status=204, problems=(404,)
)
def confidential_chat(asked: Context, chat: str, body: ConfidentialRequest) -> Response:
    """What is said in a confidential group does not leave it."""
    asked.memory.set_confidential(chat, **body.sent_fields())
    return no_content()


@chat_router.post(
    "/api/chats/{chat:rest}/migrated", scope=Scope.ACT_AS, status=204, problems=(404, 409)
)
def migrated_chat(asked: Context, chat: str, body: MigratedRequest) -> Response:
    """The channel gave a group a new id."""
    asked.memory.migrated(chat, body.new)
    return no_content()
