"""Merge people whom the requester named, for this requester only, and undo it."""

from __future__ import annotations

import builtins

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.identity import PERSON_PREFIX, parse_identity
from tacit.records import validation
from tacit.records.accounts import NameKind, Person
from tacit.records.memory import Memory
from tacit.records.request import Request
from tacit.records.results import Page
from tacit.storage import people
from tacit.storage.idempotency import IdempotentResult
from tacit.storage.memories import Transaction
from tacit.storage.search import ListFilter
from tacit.storage.spaces import increment_revisions, person_path
from tacit.view.context import Arguments, Replay, Resource, ViewContext, not_found, read, write
from tacit.view.idempotency import record_nothing

List = builtins.list


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


class People(Resource, name="people"):
    """People by the names that the requester has for them."""

    @read("GET /api/people", disabled=List, paged=True)
    def list(self) -> List[Person]:
        """List the people you have named, and those who are present.

        In a group they have the names that the group knows; your own names for them are private.
        """
        return self._context.read(lambda c, r: people.list_known_people(c, r, own_names=r.private))

    @read("GET /api/about", disabled=Page)
    def about(self, person: str, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None) -> Page[Memory]:
        """List what may be shown here about a person, from any speaker."""

        def wanted(connection: Connection, request: Request) -> ListFilter | None:
            who = people.resolve_person(connection, request, person, "person")
            if not who:
                return None
            # For a key that the requester has not met here, return only the requester's own
            # memories.
            own = people.is_hidden_identity(connection, request, who)
            mine = tuple(sorted(request.own_identities)) if own else None
            return ListFilter(about=tuple(sorted(who)), owners=mine)

        return self._context.list_page(wanted, limit, cursor)

    @write("POST /api/people/name", disabled=not_found("person"), replay=PERSON)
    def name(self, person: str, name: str, kind: NameKind | str = NameKind.ALIAS) -> Person:
        """Set what you call a person: a name, a username, an alias, or their relation to you."""
        what = validation.parse_enum("kind", kind, NameKind)
        if what is NameKind.WITHHELD:
            raise InvalidInput("kind", "use name, username, alias or relation")
        wanted = validation.parse_screened_identifier("name", name, limits.NAME_MAX_CHARS)

        def work(tx: Transaction) -> Person:
            (who,) = people.resolve_or_create_people(tx, [person], "person")
            people.add_person_name(tx, who, wanted, what)
            increment_revisions(tx.connection, tx.space, map(person_path, tx.request.own_identities))
            named = people.person_label(tx.connection, tx.request, [who], wanted, what)
            assert named is not None
            return named

        return self._context.write(work)

    @write("POST /api/people/merge", disabled=not_found("person"), replay=MERGED)
    def merge(self, person: str, into: str) -> Person:
        """Merge two people whom you named: in your private chats they become one person.

        They share their names and the memories about them. The merge has no effect on other
        requesters; only an operator merges people for all of them. Works in a private chat only.
        """
        one, other = _parse_person_id(person, "person"), _parse_person_id(into, "into")

        def work(tx: Transaction) -> Person:
            people.merge_people(tx, one, other)
            return _reload_person(tx, other)

        return self._context.write(work)

    @write("POST /api/people/unmerge", disabled=not_found("person"), replay=MERGED)
    def unmerge(self, person: str) -> Person:
        """Undo the merge of this person into another."""
        one = _parse_person_id(person, "person")

        def work(tx: Transaction) -> Person:
            people.unmerge_person(tx, one)
            return _reload_person(tx, one)

        return self._context.write(work)


def _parse_person_id(person: object, field: str) -> str:
    found = parse_identity(person, field)
    if found is None or not found.startswith(f"{PERSON_PREFIX}:"):
        raise InvalidInput(field, "takes the person:… id of a person that you named; `people` lists the ids")
    return found


def _reload_person(tx: Transaction, person: str) -> Person:
    # Invalidate the requester's caches, which hold the earlier names.
    increment_revisions(tx.connection, tx.space, map(person_path, tx.request.own_identities))
    return find_known_person(tx.connection, tx.request, person) or people.build_person({person}, set())


def find_known_person(connection: Connection, request: Request, person: str) -> Person | None:
    """Return a person as the requester knows them; None if they no longer have a name."""
    known = people.list_known_people(connection, request)
    return next((one for one in known if person in one.identities), None)
