"""The part of a view by which a person says that two whom they named are one, and takes it back."""

from __future__ import annotations

from sqlalchemy import Connection

from tacit.errors import InvalidInput
from tacit.identity import external_keys
from tacit.records.accounts import Person
from tacit.records.request import Request
from tacit.storage import people, revisions
from tacit.storage.memories import Transaction
from tacit.views.access import Access


class ViewMerging(Access):
    def merge_people(self, person: str, into: str) -> Person:
        """Two people whom you named are one: from now on, in your private chats, they have their
        names and what is known about them together. Nobody else hears of it or by it: who is whom
        for everybody, an operator says. In a private chat only."""
        one, other = _named(person, "person"), _named(into, "into")

        def work(w: Transaction) -> Person:
            people.merge_people(w, one, other)
            return _as_now(w, other)

        return self._write(work)

    def unmerge_people(self, person: str) -> Person:
        """Undo the merge of this person into another."""
        one = _named(person, "person")

        def work(w: Transaction) -> Person:
            people.unmerge_person(w, one)
            return _as_now(w, one)

        return self._write(work)


def _named(person: object, field: str) -> str:
    found = external_keys.parse_identity(person, field)
    if found is None or not found.startswith(f"{external_keys.PERSON_PREFIX}:"):
        raise InvalidInput(field, "takes the person:… id of somebody you named; `people` tells it")
    return found


def _as_now(w: Transaction, person: str) -> Person:
    # What is kept at hand of the requester's goes by the names that were true before.
    revisions.increment_revisions(
        w.connection, w.space, map(revisions.person_path, w.request.own_identities)
    )
    return whoever(w.connection, w.request, person) or people.build_person({person}, set())


def whoever(connection: Connection, request: Request, person: str) -> Person | None:
    """As the requester knows them; None where they have no name any more."""
    known = people.list_known_people(connection, request)
    return next((one for one in known if person in one.identities), None)
