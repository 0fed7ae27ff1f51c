"""People, what is known about them, what belongs together, and how much of it there is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from tacit.records.accounts import NameKind, Scope
from tacit.records.accounts import Person as PersonRecord
from tacit.records.memory import Memory
from tacit.records.results import Page, Stats
from tacit.surfaces.rest.answers import answer, nothing
from tacit.surfaces.rest.asking import Asked, Asking
from tacit.surfaces.rest.paging import paged
from tacit.surfaces.rest.parameters import Paged
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import Called, Fraction, Given, Id, Named, Person, Relation

routes = Routes("people")


class AboutQuery(Paged):
    person: Person


class NameRequest(Given):
    person: Person
    name: Person
    kind: Called = NameKind.ALIAS.value


class MergeRequest(Given):
    person: Named
    into: Named


class UnmergeRequest(Given):
    person: Named


class RelateRequest(Given):
    id: Id
    other: Id
    relation: Relation = "related_to"
    strength: Fraction = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Whether anything is remembered for whoever asks."""

    enabled: bool
    why_disabled: str | None


@routes.get("/api/view", scope=Scope.READ, gives=Standing)
def show_view(asked: Asking) -> Response:
    """Whether memory is on for this caller, and if not, why."""
    view = asked.view
    return answer(Standing(enabled=view.enabled, why_disabled=view.why_disabled))


@routes.get("/api/people", scope=Scope.READ, gives=Page[PersonRecord])
def list_people(asked: Asking, query: Annotated[Paged, Query()]) -> Response:
    """The people whom the caller has named, and those who are here."""
    found = asked.view.people()
    return answer(paged(found, lambda one: one.id, query.limit, query.cursor))


@routes.post("/api/people/name", scope=Scope.WRITE, gives=PersonRecord, once=True, problems=(404,))
def name_person(asked: Asking, body: NameRequest) -> Response:
    """Say what the caller calls somebody: a name, a username, an alias, or what they are. A key
    that may not read is told their id alone."""
    return _told(asked, asked.write_view.name(**body.sent_fields()))


@routes.post(
    "/api/people/merge", scope=Scope.WRITE, gives=PersonRecord, once=True, problems=(404, 409)
)
def merge_people(asked: Asking, body: MergeRequest) -> Response:
    """Two people whom the caller named are one to the caller, in private chats. Nobody else hears
    of it, or hears anything else for it."""
    return _told(asked, asked.write_view.merge_people(**body.sent_fields()))


@routes.post(
    "/api/people/unmerge", scope=Scope.WRITE, gives=PersonRecord, once=True, problems=(404,)
)
def unmerge_people(asked: Asking, body: UnmergeRequest) -> Response:
    """Undo the merge of this person into another."""
    return _told(asked, asked.write_view.unmerge_people(**body.sent_fields()))


@routes.get("/api/about", scope=Scope.READ, gives=Page[Memory])
def list_about(asked: Asking, query: Annotated[AboutQuery, Query()]) -> Response:
    """What may be said here about a person, whoever said it. Of somebody unknown it is nothing."""
    return answer(asked.view.about(query.person, limit=query.limit, cursor=query.cursor))


@routes.post("/api/relations", scope=Scope.WRITE, status=204, once=True, problems=(404,))
def relate_memories(asked: Asking, body: RelateRequest) -> Response:
    """Say that two of the caller's memories belong together, from the first to the second."""
    asked.write_view.relate(**body.sent_fields())
    return nothing()


@routes.get("/api/stats", scope=Scope.READ, gives=Stats)
def show_stats(asked: Asking) -> Response:
    """Counts of the caller's own memories, in a private chat; elsewhere of nothing."""
    return answer(asked.view.stats())


def _told(asked: Asked, person: PersonRecord) -> Response:
    told = person if asked.may_read else replace(person, names=(), identities=frozenset())
    return answer(told)
