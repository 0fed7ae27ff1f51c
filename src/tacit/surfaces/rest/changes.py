"""One memory and what is done to it: its past, its reach, and its end."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import Erased, Explanation, Remembered, limits
from tacit.errors import NotAllowed
from tacit.model.chat import Chat, Requester
from tacit.model.keys import Scope
from tacit.model.memory import HistoryEntry
from tacit.model.words import ChatKind, Visibility
from tacit.surfaces.rest import named
from tacit.surfaces.rest.answers import answer, nothing
from tacit.surfaces.rest.asking import Asked, Asking
from tacit.surfaces.rest.fields import MOMENTS, UpdateFields
from tacit.surfaces.rest.parameters import Flag
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import FLAG, Given, one_of, or_null, part, several, words
from tacit.surfaces.wire.taking import made, moments

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


class PinBody(Given):
    on: Annotated[Any, WithJsonSchema(FLAG)] = True


class VisibilityBody(Given):
    visibility: Annotated[Any, WithJsonSchema(one_of(Visibility))]


class WithholdBody(Given):
    who: Annotated[
        Any,
        WithJsonSchema(
            several(words(limits.NAME_MAX_CHARS, 1), most=limits.PEOPLE_PER_MEMORY_MAX_COUNT)
        ),
    ]


class EraseQuery(Given):
    turns: Flag = False


class ExplainBody(Given):
    chat: Annotated[Any, WithJsonSchema(or_null(CHAT))] = None
    asked_by: Annotated[Any, WithJsonSchema(or_null(PERSON))] = None


@routes.post(f"{ONE}/update", scope=Scope.WRITE, gives=Remembered, once=True, problems=(404, 409))
def update(asked: Asking, id: str, body: UpdateFields) -> Response:
    """Change a memory in any of its fields. With `if_version`, only if it is still at that one."""
    return answer(asked.writing.update(id, **moments(body.named(), *MOMENTS)))


@routes.put(f"{ONE}/pinned", scope=Scope.WRITE, status=204, once=True, problems=(404,))
def pin(asked: Asking, id: str, body: PinBody) -> Response:
    """Keep a memory in mind: it does not fade. Or let it fade again."""
    asked.writing.pin(id, body.on)
    return nothing()


@routes.put(f"{ONE}/visibility", scope=Scope.WRITE, status=204, once=True, problems=(404,))
def set_visibility(asked: Asking, id: str, body: VisibilityBody) -> Response:
    """Say how far a memory may travel."""
    asked.writing.set_visibility(id, body.visibility)
    return nothing()


@routes.post(f"{ONE}/withhold", scope=Scope.WRITE, status=204, once=True, problems=(404,))
def withhold_from(asked: Asking, id: str, body: WithholdBody) -> Response:
    """Name people whom a memory must never reach."""
    asked.writing.withhold_from(id, body.who)
    return nothing()


@routes.get(f"{ONE}/history", scope=Scope.READ, gives=list[HistoryEntry], problems=(404,))
def history(asked: Asking, id: str) -> Response:
    """What happened to a memory, oldest first, in the wordings that the caller may hear."""
    return answer(asked.view.history(id))


@routes.post(f"{ONE}/restore", scope=Scope.WRITE, status=204, once=True, problems=(404, 409))
def restore(asked: Asking, id: str) -> Response:
    """Bring back what was forgotten."""
    asked.writing.restore(id)
    return nothing()


@routes.post(f"{ONE}/erase", scope=Scope.ERASE, gives=Erased, once=True, problems=(404,))
def erase(asked: Asking, id: str, query: Annotated[EraseQuery, Query()]) -> Response:
    """Remove a memory for good; with `turns`, also what it was learned from."""
    return answer(asked.writing.erase(id, turns=query.turns))


@routes.get(f"{ONE}/explain", scope=Scope.READ, gives=Explanation, problems=(404,))
def explain(asked: Asking, id: str) -> Response:
    """Whether one of the caller's memories may be said here, and by which rule."""
    return answer(asked.view.explain(id))


@routes.post(f"{ONE}/explain", scope=Scope.READ, gives=Explanation, problems=(404,))
def explain_elsewhere(asked: Asking, id: str, body: ExplainBody) -> Response:
    """The same for another chat. Who is there, and who would ask, only a key that acts for others
    says; any other names a chat, and the store says who is there."""
    chat = None if body.chat is None else _chat(body.chat)
    by = None if body.asked_by is None else made(Requester, "asked_by", body.asked_by)
    if not asked.admitted.may(Scope.ACT_AS):
        if by is not None:
            raise NotAllowed
        chat = None if chat is None else _known(asked, chat)
    return answer(asked.view.explain(id, chat, by))


def _chat(found: object) -> Chat:
    chat = made(Chat, "chat", found, participants=_people)
    known = chat.kind in list(ChatKind)
    return replace(chat, kind=ChatKind(chat.kind)) if known else chat


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
