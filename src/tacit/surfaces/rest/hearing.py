"""Who would hear the caller's memories: the rooms there are, and the rule that decides in each."""

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
from tacit.surfaces.rest import named
from tacit.surfaces.rest.answers import answer
from tacit.surfaces.rest.asking import Asked, Asking
from tacit.surfaces.rest.paging import paged
from tacit.surfaces.rest.parameters import Paged
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.searching import SearchOrNone, search_of
from tacit.surfaces.rest.shapes import FLAG, Given, one_of, or_null, part, several, whole, words
from tacit.surfaces.wire.taking import made

routes = Routes("memory")
ONE = "/api/memory/{id}"
NAME = or_null(words(limits.NAME_MAX_CHARS))
PERSON = part(("key",), key=named.PERSON, name=NAME, username=NAME, is_bot=FLAG)
CHAT = part(
    ("id", "kind"),
    id=named.CHAT,
    kind=one_of(ChatKind),
    participants=several({"anyOf": [named.PERSON, PERSON]}, most=limits.PARTICIPANTS_MAX_COUNT),
    complete=FLAG,
)


class ExplainBody(Given):
    chat: Annotated[Any, WithJsonSchema(or_null(CHAT))] = None
    asked_by: Annotated[Any, WithJsonSchema(or_null(PERSON))] = None


class HearingBody(Given):
    chat: Annotated[Any, WithJsonSchema(CHAT)]
    asked_by: Annotated[Any, WithJsonSchema(or_null(PERSON))] = None
    search: SearchOrNone = None
    limit: Annotated[Any, WithJsonSchema(whole(1, limits.PAGE_MAX_COUNT))] = (
        limits.PAGE_DEFAULT_COUNT
    )
    cursor: Annotated[Any, WithJsonSchema(or_null({"type": "string"}))] = None


class HearersQuery(Given):
    visibility: Annotated[Any, WithJsonSchema(one_of(Visibility))] = None


@routes.get(f"{ONE}/explain", scope=Scope.READ, gives=Explanation, problems=(404,))
def explain(asked: Asking, id: str) -> Response:
    """Whether one of the caller's memories may be said here, and by which rule."""
    return answer(asked.view.explain(id))


@routes.post(f"{ONE}/explain", scope=Scope.READ, gives=Explanation, problems=(404,))
def explain_elsewhere(asked: Asking, id: str, body: ExplainBody) -> Response:
    """The same for another chat. Who is there, and who would ask, only a key that acts for others
    says; any other names a chat, and the store says who is there."""
    chat = None if body.chat is None else _chat(asked, body.chat)
    return answer(asked.view.explain(id, chat, _asker(asked, body.asked_by)))


@routes.get(f"{ONE}/hearers", scope=Scope.READ, gives=AudienceReport, problems=(404,))
def list_hearers(asked: Asking, id: str, query: Annotated[HearersQuery, Query()]) -> Response:
    """Who would hear one of the caller's memories, in each of their rooms and alone. With
    `visibility`, who would if that were set."""
    return answer(asked.view.hearers(id, **query.sent_fields()))


@routes.post("/api/hearing", scope=Scope.READ, gives=Page[AudiencePreview])
def list_hearing(asked: Asking, body: HearingBody) -> Response:
    """Each of the caller's own memories, and whether it would be said in a chat. As for one of
    them, only a key that acts for others says who is there, and who would ask."""
    chat, by = _chat(asked, body.chat), _asker(asked, body.asked_by)
    wanted = search_of(body.search)
    return answer(
        asked.view.hearing(chat, by, wanted, **body.sent_fields("chat", "asked_by", "search"))
    )


@routes.get("/api/rooms", scope=Scope.READ, gives=Page[AudienceChat])
def list_rooms(asked: Asking, query: Annotated[Paged, Query()]) -> Response:
    """The caller's private chat and the groups they are in, with who else is there."""
    found = asked.view.rooms()
    return answer(paged(found, lambda one: one.id, query.limit, query.cursor))


def _asker(asked: Asked, found: object) -> Requester | None:
    if found is None:
        return None
    asker = made(Requester, "asked_by", found)
    if not asked.admitted.has_scope(Scope.ACT_AS):
        raise NotAllowed
    return asker


def _chat(asked: Asked, found: object) -> Chat:
    chat = made(Chat, "chat", found, participants=_people)
    if chat.kind in list(ChatKind):
        chat = replace(chat, kind=ChatKind(chat.kind))
    return chat if asked.admitted.has_scope(Scope.ACT_AS) else _known(asked, chat)


def _people(found: Any) -> Any:
    if not isinstance(found, list):
        return found
    return tuple(
        one if isinstance(one, str) else made(Requester, "participants", one) for one in found
    )


def _known(asked: Asked, chat: Chat) -> Chat:
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
