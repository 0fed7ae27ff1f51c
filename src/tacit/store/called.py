"""Somebody as whoever has just named them may be told of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlalchemy import Connection

from tacit.records.accounts import NameKind, Person
from tacit.records.request import Request
from tacit.records.validation import fold_name
from tacit.store import people


def person(
    connection: Connection, request: Request, who: Collection[str], name: str, kind: NameKind
) -> Person | None:
    """Where others listen, by the names that all of them know and by the one that was just said:
    what else the requester calls them is not for everybody's ears."""
    known = people.known_to(connection, request)
    found = next((one for one in known if not one.identities.isdisjoint(who)), None)
    if found is None or request.private:
        return found
    everybody = people.known_to(connection, request, own_names=False)
    open_to_all = [one for one in everybody if not one.identities.isdisjoint(found.identities)]
    told = {one for other in open_to_all for one in other.names}
    said = fold_name(name.removeprefix("@"))
    return replace(
        found,
        names=tuple(
            one
            for one in found.names
            if one in told or (one.kind is kind and fold_name(one.text) == said)
        ),
    )
