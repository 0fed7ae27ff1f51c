"""People the caller knows, relations, counts, and links between identities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Query
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
    Described,
    Fraction,
    MemoryId,
    NamedPerson,
    PageQuery,
    PersonName,
    RequestModel,
    Tag,
)

people_router = Router("people")


class AboutQuery(PageQuery):
    person: PersonName


class NameRequest(RequestModel):
    person: PersonName
    name: PersonName
    kind: AssignableNameKind = NameKind.ALIAS


class MergeRequest(RequestModel):
    person: NamedPerson
    into: NamedPerson


class UnmergeRequest(RequestModel):
    person: NamedPerson


class RelateRequest(RequestModel):
    id: MemoryId
    other: MemoryId
    relation: Tag = "related_to"
    strength: Fraction = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Whether memory is enabled for the caller."""

    enabled: bool
    why_disabled: str | None


@people_router.get("/api/view", scope=Scope.READ, gives=Standing)
def show_view(context: Context) -> Response:
    """Show whether memory is enabled for this caller, and if not, why."""
    view = context.view
    return record_response(Standing(enabled=view.enabled, why_disabled=view.why_disabled))


@people_router.get("/api/people", scope=Scope.READ, gives=Page[PersonRecord])
def list_people(context: Context, query: Annotated[PageQuery, Query()]) -> Response:
    """List the people whom the caller has named, and the participants of this chat."""
    found = context.view.people.list()
    return record_response(paginate(found, lambda one: one.id, query.limit, query.cursor))


@people_router.post(
    "/api/people/name", scope=Scope.WRITE, gives=PersonRecord, once=True, problems=(404,)
)
def name_person(context: Context, body: NameRequest) -> Response:
    """Name a person for the caller: a name, a username, an alias or a relation. A key that may not
    read gets their id alone."""
    return _person_response(context, context.write_view.people.name(**body.sent_fields()))


@people_router.post(
    "/api/people/merge", scope=Scope.WRITE, gives=PersonRecord, once=True, problems=(404, 409)
)
def merge_people(context: Context, body: MergeRequest) -> Response:
    """Merge two people whom the caller named, for the caller alone and in private chats."""
    return _person_response(context, context.write_view.people.merge(**body.sent_fields()))


@people_router.post(
    "/api/people/unmerge", scope=Scope.WRITE, gives=PersonRecord, once=True, problems=(404,)
)
def unmerge_people(context: Context, body: UnmergeRequest) -> Response:
    """Undo the merge of a person into another."""
    return _person_response(context, context.write_view.people.unmerge(**body.sent_fields()))


@people_router.get("/api/about", scope=Scope.READ, gives=Page[Memory])
def list_about(context: Context, query: Annotated[AboutQuery, Query()]) -> Response:
    """List memories about a person that are visible here, of any speaker. An unknown person has none."""
    return record_response(
        context.view.people.about(query.person, limit=query.limit, cursor=query.cursor)
    )


@people_router.post("/api/relations", scope=Scope.WRITE, status=204, once=True, problems=(404,))
def relate_memories(context: Context, body: RelateRequest) -> Response:
    """Relate two memories of the caller, from the first to the second."""
    context.write_view.relate(**body.sent_fields())
    return no_content()


@people_router.get("/api/stats", scope=Scope.READ, gives=Stats)
def show_stats(context: Context) -> Response:
    """Count the caller's own memories, in a private chat; elsewhere none."""
    return record_response(context.view.stats())


def _person_response(context: RequestContext, person: PersonRecord) -> Response:
    told = person if context.may_read else replace(person, names=(), identities=frozenset())
    return record_response(told)


# Links between two identities of one person: a code, its acceptance, and a confirmation. Linked
# identities read as one person, so that a key needs the scopes read and write.

account_router = Router("linking")


class AcceptRequest(RequestModel):
    code: Annotated[str, Described(examples=["ABCDE-23456"])]


@account_router.post("/api/link/offer", scope=Scope.WRITE, gives=LinkOffer, problems=(409,))
def offer_link(context: Context) -> Response:
    """Create a code to enter once from the caller's other identity. It voids an earlier one."""
    context.caller.require_scopes(Scope.READ)
    return record_response(context.view.account.offer_link())


@account_router.post("/api/link/accept", scope=Scope.WRITE, gives=LinkWaiting, once=True)
def accept_link(context: Context, body: AcceptRequest) -> Response:
    """Accept a code; returns whose it is. Nothing is shared before they confirm."""
    context.caller.require_scopes(Scope.READ)
    return record_response(context.write_view.account.accept_link(body.code))


@account_router.get("/api/link/waiting", scope=Scope.READ, gives=LinkWaiting, problems=(404,))
def show_link_waiting(context: Context) -> Response:
    """Show who accepted the caller's code and waits for confirmation."""
    found = context.view.account.pending_link()
    if found is None:
        raise NotFound("link")
    return record_response(found)


@account_router.post("/api/link/confirm", scope=Scope.WRITE, gives=Link, once=True)
def confirm_link(context: Context) -> Response:
    """Confirm a link: from now on, both identities are one person."""
    context.caller.require_scopes(Scope.READ)
    return record_response(context.write_view.account.confirm_link())


@account_router.post("/api/link/refuse", scope=Scope.WRITE, status=204, once=True)
def refuse_link(context: Context) -> Response:
    """Refuse a link: the caller's code and their acceptance of another's are void."""
    context.write_view.account.refuse_link()
    return no_content()


@account_router.post("/api/link/unlink", scope=Scope.WRITE, gives=Link, once=True)
def unlink_me(context: Context) -> Response:
    """Unlink the identity of this request from its account."""
    return record_response(context.write_view.account.unlink())


@account_router.get("/api/link/identities", scope=Scope.READ, gives=list[str])
def list_identities(context: Context) -> Response:
    """List the caller's identities, in a private chat; elsewhere none."""
    return record_response(context.view.account.identities())
