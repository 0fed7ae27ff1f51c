"""Two people who turned out to be one: for a person in their own eyes alone, for an operator to
everybody in the space."""

from __future__ import annotations

from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.records.accounts import Link, LinkKind, Person
from tacit.surfaces.console.knowing import BY_NAME_ONLY, keys
from tacit.surfaces.console.visitor import Visitor


def pair(visitor: Visitor, one: Person, other: Person) -> tuple[Person, Person]:
    """Who is merged, and into whom. It is somebody known by name that is merged: whoever has a key
    says themselves whose it is, by linking it."""
    if one.identities & other.identities:
        raise InvalidInput("into", "is the same person; choose somebody else")
    if visitor.is_operator:
        for source, target in ((one, other), (other, one)):
            if not keys(source):
                return source, target
        raise InvalidInput("into", "both have keys of their own; they link them by a code")
    for person in (one, other):
        if not _by_name(person):
            raise InvalidInput("into", "goes by a key of theirs; an operator says who that is")
    return one, other


def merge(visitor: Visitor, source: Person, target: Person) -> str:
    """The identity by which it is undone."""
    if visitor.is_operator:
        merged = _head(visitor, source)
        actor = f"operator:{visitor.name}"
        visitor.memory.merge_people(merged, target.id, actor=actor)
        return merged
    refused: Conflict | None = None
    for merged in _by_name(source):  # all but one of these are merged into another already
        try:
            visitor.view.merge_people(merged, _by_name(target)[0])
        except Conflict as wrong:
            refused = wrong
        else:
            return merged
    raise refused or NotFound("page")


def unmerge(visitor: Visitor, identity: str) -> None:
    if visitor.is_operator:
        visitor.memory.unmerge_people(identity)
    else:
        visitor.view.unmerge_people(identity)


def merged_into(visitor: Visitor, person: Person) -> list[str]:
    """Those whose merge may be undone. A view does not tell which of them are merged."""
    if len(person.identities) == 1:
        return []
    if visitor.is_operator:
        return sorted(link.source for link in _merges(visitor, person))
    return _by_name(person)


def _head(visitor: Visitor, person: Person) -> str:
    """The one that is not merged into another yet."""
    led = {link.source for link in _merges(visitor, person)}
    return next(one for one in _by_name(person) if one not in led)


def _merges(visitor: Visitor, person: Person) -> set[Link]:
    return {
        link
        for identity in person.identities
        for link in visitor.memory.links(identity)
        if link.holds and link.kind is LinkKind.MERGE
    }


def _by_name(person: Person) -> list[str]:
    return sorted(one for one in person.identities if one.startswith(BY_NAME_ONLY))
