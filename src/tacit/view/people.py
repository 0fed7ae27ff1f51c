"""Merge people whom the requester named, for this requester only, and undo it."""

from __future__ import annotations

from sqlalchemy import Connection

from tacit.errors import InvalidInput, NotFound
from tacit.identity import external_keys
from tacit.records.accounts import NameKind, Person
from tacit.records.request import Request
from tacit.storage import people, revisions
from tacit.storage.idempotency import IdempotentResult
from tacit.storage.memories import Transaction
from tacit.view.context import ViewContext
from tacit.view.idempotency import record_nothing
from tacit.view.operations import Arguments, Replay, Resource, not_found, write


def _replay_person(context: ViewContext, _: IdempotentResult, asked: Arguments) -> Person:
    def work(connection: Connection, request: Request) -> Person:
        who = people.resolve_person(connection, request, asked["person"], "person")
        said = asked["name"], NameKind(asked["kind"])
        found = people.person_label(connection, request, who, *said) if who else None
        if found is None:
            raise NotFound("person")
        return found

    return context.read(work)


def _replay_merged(context: ViewContext, _: IdempotentResult, asked: Arguments) -> Person:
    who = asked.get("into", asked["person"])
    found = context.read(lambda connection, request: find_known_person(connection, request, who))
    if found is None:
        raise NotFound("person")
    return found


PERSON = Replay(record=record_nothing, replay=_replay_person)
MERGED = Replay(record=record_nothing, replay=_replay_merged)


class ViewPeople(Resource):
    @write(disabled=not_found("person"), replay=MERGED)
    def merge_people(self, person: str, into: str) -> Person:
        """Two people whom you named are one: from now on, in your private chats, they have their
        names and what is known about them together. Nobody else hears of it or by it: who is whom
        for everybody, an operator says. In a private chat only."""
        one, other = _parse_person_id(person, "person"), _parse_person_id(into, "into")

        def work(w: Transaction) -> Person:
            people.merge_people(w, one, other)
            return _reload_person(w, other)

        return self._context.write(work)

    @write(disabled=not_found("person"), replay=MERGED)
    def unmerge_people(self, person: str) -> Person:
        """Undo the merge of this person into another."""
        one = _parse_person_id(person, "person")

        def work(w: Transaction) -> Person:
            people.unmerge_person(w, one)
            return _reload_person(w, one)

        return self._context.write(work)


def _parse_person_id(person: object, field: str) -> str:
    found = external_keys.parse_identity(person, field)
    if found is None or not found.startswith(f"{external_keys.PERSON_PREFIX}:"):
        raise InvalidInput(field, "takes the person:… id of somebody you named; `people` tells it")
    return found


def _reload_person(w: Transaction, person: str) -> Person:
    # What is kept at hand of the requester's goes by the names that were true before.
    revisions.increment_revisions(
        w.connection, w.space, map(revisions.person_path, w.request.own_identities)
    )
    return find_known_person(w.connection, w.request, person) or people.build_person(
        {person}, set()
    )


def find_known_person(connection: Connection, request: Request, person: str) -> Person | None:
    """As the requester knows them; None where they have no name any more."""
    known = people.list_known_people(connection, request)
    return next((one for one in known if person in one.identities), None)
