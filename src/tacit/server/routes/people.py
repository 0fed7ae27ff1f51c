"""People the caller knows, relations, counts, and links between identities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit.errors import NotFound
from tacit.records.accounts import Link, LinkOffer, LinkWaiting, NameKind, Scope
from tacit.records.accounts import Person as PersonRecord
from tacit.records.memory import Memory
from tacit.records.results import Page, Stats
from tacit.server.responses import no_content, paginate, record_response
from tacit.server.routing import Context, RequestContext, Router
from tacit.server.schemas import (
    AssignableNameKind,
    Fraction,
    MemoryId,
    NamedPerson,
    PageQuery,
    PersonName,
    RelationName,
    RequestModel,
)

# People, what is known about them, what belongs together, and how much of it there is.

people_router = Router("people")


class AboutQuery(PageQuery):
    person: PersonName


class NameRequest(RequestModel):
    person: PersonName
    name: PersonName
    kind: AssignableNameKind = NameKind.ALIAS.value


class MergeRequest(RequestModel):
    person: NamedPerson
    into: NamedPerson


class UnmergeRequest(RequestModel):
    person: NamedPerson


class RelateRequest(RequestModel):
    id: MemoryId
    other: MemoryId
    relation: RelationName = "related_to"
    strength: Fraction = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Whether anything is remembered for whoever asks."""

    enabled: bool
    why_disabled: str | None


@people_router.get("/api/view", scope=Scope.READ, gives=Standing)
def show_view(asked: Context) -> Response:
    """Whether memory is on for this caller, and if not, why."""
    view = asked.view
    return record_response(Standing(enabled=view.enabled, why_disabled=view.why_disabled))


@people_router.get("/api/people", scope=Scope.READ, gives=Page[PersonRecord])
def list_people(asked: Context, query: Annotated[PageQuery, Query()]) -> Response:
    """The people whom the caller has named, and those who are here."""
    found = asked.view.people()
    return record_response(paginate(found, lambda one: one.id, query.limit, query.cursor))


@people_router.post(
    "/api/people/name", scope=Scope.WRITE, gives=PersonRecord, once=True, problems=(404,)
)
def name_person(asked: Context, body: NameRequest) -> Response:
    """Say what the caller calls somebody: a name, a username, an alias, or what they are. A key
    that may not read is told their id alone."""
    return _person_response(asked, asked.write_view.name(**body.sent_fields()))


@people_router.post(
    "/api/people/merge", scope=Scope.WRITE, gives=PersonRecord, once=True, problems=(404, 409)
)
def merge_people(asked: Context, body: MergeRequest) -> Response:
    """Two people whom the caller named are one to the caller, in private chats. Nobody else hears
    of it, or hears anything else for it."""
    return _person_response(asked, asked.write_view.merge_people(**body.sent_fields()))


@people_router.post(
    "/api/people/unmerge", scope=Scope.WRITE, gives=PersonRecord, once=True, problems=(404,)
)
def unmerge_people(asked: Context, body: UnmergeRequest) -> Response:
    """Undo the merge of this person into another."""
    return _person_response(asked, asked.write_view.unmerge_people(**body.sent_fields()))


@people_router.get("/api/about", scope=Scope.READ, gives=Page[Memory])
def list_about(asked: Context, query: Annotated[AboutQuery, Query()]) -> Response:
    """What may be said here about a person, whoever said it. Of somebody unknown it is nothing."""
    return record_response(asked.view.about(query.person, limit=query.limit, cursor=query.cursor))


@people_router.post("/api/relations", scope=Scope.WRITE, status=204, once=True, problems=(404,))
def relate_memories(asked: Context, body: RelateRequest) -> Response:
    """Say that two of the caller's memories belong together, from the first to the second."""
    asked.write_view.relate(**body.sent_fields())
    return no_content()


@people_router.get("/api/stats", scope=Scope.READ, gives=Stats)
def show_stats(asked: Context) -> Response:
    """Counts of the caller's own memories, in a private chat; elsewhere of nothing."""
    return record_response(asked.view.stats())


def _person_response(asked: RequestContext, person: PersonRecord) -> Response:
    told = person if asked.may_read else replace(person, names=(), identities=frozenset())
    return record_response(told)


# Two identities of one person become one: a code, an answer to it, and a yes.
#
# Whoever links may read from then on as the other does, so that a key needs both scopes.

account_router = Router("linking")
_CODE_SCHEMA = {"type": "string", "examples": ["ABCDE-23456"]}


class AcceptRequest(RequestModel):
    code: Annotated[Any, WithJsonSchema(_CODE_SCHEMA)]


@account_router.post("/api/link/offer", scope=Scope.WRITE, gives=LinkOffer, problems=(409,))
def offer_link(asked: Context) -> Response:
    """A code to be entered once from the caller's other identity. An earlier one is void."""
    asked.admitted.require_scopes(Scope.READ)
    return record_response(asked.view.offer_link())


@account_router.post("/api/link/accept", scope=Scope.WRITE, gives=LinkWaiting, once=True)
def accept_link(asked: Context, body: AcceptRequest) -> Response:
    """Answer to a code; says whose it is. Nothing is shared before they confirm it."""
    asked.admitted.require_scopes(Scope.READ)
    return record_response(asked.write_view.accept_link(body.code))


@account_router.get("/api/link/waiting", scope=Scope.READ, gives=LinkWaiting, problems=(404,))
def show_link_waiting(asked: Context) -> Response:
    """Who answered to the caller's code, and waits for their yes."""
    found = asked.view.link_waiting()
    if found is None:
        raise NotFound("link")
    return record_response(found)


@account_router.post("/api/link/confirm", scope=Scope.WRITE, gives=Link, once=True)
def confirm_link(asked: Context) -> Response:
    """Yes: from now on, both identities are one person."""
    asked.admitted.require_scopes(Scope.READ)
    return record_response(asked.write_view.confirm_link())


@account_router.post("/api/link/refuse", scope=Scope.WRITE, status=204, once=True)
def refuse_link(asked: Context) -> Response:
    """No: the caller's code, and their answer to another's, are void."""
    asked.write_view.refuse_link()
    return no_content()


@account_router.post("/api/link/unlink", scope=Scope.WRITE, gives=Link, once=True)
def unlink_me(asked: Context) -> Response:
    """The identity that asks leaves its account at once."""
    return record_response(asked.write_view.unlink_me())


@account_router.get("/api/link/identities", scope=Scope.READ, gives=list[str])
def list_identities(asked: Context) -> Response:
    """The keys that are the caller by now, in a private chat; elsewhere none."""
    return record_response(asked.view.identities())
