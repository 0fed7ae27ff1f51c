"""The people whom a visitor knows, and merging two of them into one."""

from __future__ import annotations

from collections.abc import Iterable

from tacit import Page, limits
from tacit.console.labels import external_key, person_label
from tacit.console.sessions import Visitor
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.records.accounts import Link, LinkKind, Name, NameKind, Person
from tacit.records.validation import fold_name

# Whom a visitor knows: a person those they named or share a room with, an operator everybody in
# the space.

NAME_ONLY_PREFIX = "person:"
NAME_KIND_LABELS = {
    NameKind.NAME: "name",
    NameKind.ALIAS: "alias",
    NameKind.USERNAME: "username",
    NameKind.RELATION: "what they are to you",
    NameKind.WITHHELD: "whom something is kept from",
}
_RELATION_LABEL = "what they are to somebody"
_CURSOR_MAX_CHARS = 9


def list_known_people(visitor: Visitor, name: str | None, cursor: str | None) -> Page[Person]:
    """By name; each word of `name` begins some word of what they are called."""
    if visitor.is_operator:
        return visitor.operator.people.list(name, limit=limits.PAGE_DEFAULT_COUNT, cursor=cursor)
    found = [one for one in visitor.view.people.list() if name is None or _matches_name(one, name)]
    found.sort(key=lambda one: (fold_name(person_title(one)), one.id))
    start = _parse_cursor(cursor)
    end = start + limits.PAGE_DEFAULT_COUNT
    return Page(items=tuple(found[start:end]), cursor=str(end) if len(found) > end else None)


def get_known_person(visitor: Visitor, id: str) -> Person:
    """Somebody they know, or whom something that they may hear is about."""
    if ":" not in id:
        raise NotFound("page")
    try:
        known = (
            visitor.operator.people.list(id) if visitor.is_operator else visitor.view.people.list()
        )
        found = next((one for one in known if id in one.identities), None)
        if found is not None:
            return found
        mentioned = len(visitor.api.people.about(id, limit=1)) > 0
    except InvalidInput:
        mentioned = False
    if not mentioned:
        raise NotFound("page")
    return Person(id=id, names=(), identities=frozenset({id}))


def person_title(person: Person) -> str:
    """What a page calls them. Whom nobody but a secret names goes by that."""
    best = person_label(person)
    return person.names[0].text if best == external_key(person.id) and person.names else best


def name_kind_label(visitor: Visitor, name: Name) -> str:
    """What sort of name it is. Operators see what everybody calls somebody, and not who does."""
    is_theirs = visitor.is_operator and name.kind is NameKind.RELATION
    return _RELATION_LABEL if is_theirs else NAME_KIND_LABELS[name.kind]


def list_external_keys(person: Person) -> list[str]:
    """As channels write them. Who is known by name only has none."""
    return sorted(
        external_key(one) for one in person.identities if not one.startswith(NAME_ONLY_PREFIX)
    )


def _matches_name(person: Person, name: str) -> bool:
    return all(
        any(part.startswith(word) for part in _searchable_words(person))
        for word in fold_name(name).split()
    )


def _searchable_words(person: Person) -> Iterable[str]:
    for name in person.names:
        yield from fold_name(name.text).split()
    yield from list_external_keys(person)


def _parse_cursor(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= _CURSOR_MAX_CHARS):
        raise InvalidInput("cursor", "is not one we gave; start again without it")
    return int(cursor)


# Two people who turned out to be one: for a person in their own eyes alone, for an operator to
# everybody in the space.


def order_merge(visitor: Visitor, one: Person, other: Person) -> tuple[Person, Person]:
    """Who is merged, and into whom. It is somebody known by name that is merged: whoever has a key
    says themselves whose it is, by linking it."""
    if one.identities & other.identities:
        raise InvalidInput("into", "is the same person; choose somebody else")
    if visitor.is_operator:
        for source, target in ((one, other), (other, one)):
            if not list_external_keys(source):
                return source, target
        raise InvalidInput("into", "both have keys of their own; they link them by a code")
    for person in (one, other):
        if not _name_only_identities(person):
            raise InvalidInput("into", "goes by a key of theirs; an operator says who that is")
    return one, other


def merge_people(visitor: Visitor, source: Person, target: Person) -> str:
    """The identity by which it is undone."""
    if visitor.is_operator:
        merged = _unmerged_identity(visitor, source)
        actor = f"operator:{visitor.name}"
        visitor.memory.admin.merge_people(merged, target.id, actor=actor)
        return merged
    refused: Conflict | None = None
    for merged in _name_only_identities(
        source
    ):  # all but one of these are merged into another already
        try:
            visitor.view.people.merge(merged, _name_only_identities(target)[0])
        except Conflict as wrong:
            refused = wrong
        else:
            return merged
    raise refused or NotFound("page")


def unmerge_person(visitor: Visitor, identity: str) -> None:
    if visitor.is_operator:
        visitor.memory.admin.unmerge_people(identity)
    else:
        visitor.view.people.unmerge(identity)


def list_unmergeable(visitor: Visitor, person: Person) -> list[str]:
    """Those whose merge may be undone. A view does not tell which of them are merged."""
    if len(person.identities) == 1:
        return []
    if visitor.is_operator:
        return sorted(link.source for link in _merge_links(visitor, person))
    return _name_only_identities(person)


def _unmerged_identity(visitor: Visitor, person: Person) -> str:
    """The one that is not merged into another yet."""
    led = {link.source for link in _merge_links(visitor, person)}
    return next(one for one in _name_only_identities(person) if one not in led)


def _merge_links(visitor: Visitor, person: Person) -> set[Link]:
    return {
        link
        for identity in person.identities
        for link in visitor.memory.admin.links(identity)
        if link.holds and link.kind is LinkKind.MERGE
    }


def _name_only_identities(person: Person) -> list[str]:
    return sorted(one for one in person.identities if one.startswith(NAME_ONLY_PREFIX))
