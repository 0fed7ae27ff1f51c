"""The part of an operator's looks that tells who is known in a space, and what about them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import replace

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity import external_keys
from tacit.operators.access import OperatorAccess
from tacit.records import validation
from tacit.records.accounts import Person
from tacit.records.memory import Memory, State
from tacit.records.queries import decode_cursor, encode_cursor
from tacit.records.results import Page
from tacit.storage import people, search
from tacit.storage.memories import Transaction
from tacit.storage.search import ListFilter
from tacit.storage.spaces import load_identities


class OperatorPeople(OperatorAccess):
    def people(
        self,
        name: str | None = None,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Person]:
        """Everybody in the space, or those whom somebody calls by a name that begins like this:
        with all their identities, and all that anybody calls them. By a key or an id, that one.
        They are told of it, and so is who calls them so."""
        begun = (
            None
            if name is None
            else validation.parse_screened_identifier("name", name, limits.NAME_MAX_CHARS)
        )
        who = None if begun is None else external_keys.parse_identity(begun, "name")
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = _decoded(cursor)

        def work(w: Transaction) -> tuple[Page[Person], Iterable[Memory]]:
            if who is not None:
                return Page(items=people.find_in_directory(w.connection, w.space, who)), ()
            found = people.list_people_directory(w.connection, w.space, begun, after, most + 1)
            following = _encoded(found[most - 1][0]) if len(found) > most else None
            shown = tuple(person for _, person in found[:most])
            return Page(items=shown, cursor=following), ()

        return self._read_logged("people", work, _concerned)

    def about(
        self, person: str, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[Memory]:
        """What is remembered about a person, whoever said it, newest first. By a key or an id:
        an operator knows nobody by name."""
        who = external_keys.parse_identity(person, "person")
        if who is None:
            raise InvalidInput("person", "is a name; use a key or the id that `people` tells")
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(w: Transaction) -> tuple[Page[Memory], Iterable[Memory]]:
            same = load_identities(w.connection, w.space, [who]).current_identities(who)
            wanted = ListFilter(state=State.ACTIVE.value, about=tuple(sorted(same)))
            found = search.browse_space(w, replace(wanted, after=after), None, most + 1)
            shown = tuple(found[:most])
            following = encode_cursor(shown[-1]) if len(found) > most else None
            return Page(items=shown, cursor=following), shown

        return self._read_logged("about", work)


def _concerned(w: Transaction, shown: Page[Person]) -> Iterable[str]:
    return people.list_concerned_people(w.connection, w.space, shown)


def _encoded(identity: str) -> str:
    return base64.urlsafe_b64encode(identity.encode()).decode().rstrip("=")


def _decoded(cursor: str | None) -> str:
    if cursor is None:
        return ""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        plain = base64.urlsafe_b64decode(padded.encode("ascii")).decode()
    except (AttributeError, TypeError, ValueError, binascii.Error):
        raise InvalidInput("cursor", "is not one we gave; start again without it") from None
    if external_keys.parse_identity(plain, "cursor") is None:
        raise InvalidInput("cursor", "is not one we gave; start again without it")
    return plain
