"""List the people a visitor knows, and merge two of them."""

from __future__ import annotations

from collections.abc import Iterable

from tacit import Page, limits
from tacit.console.labels import external_key, person_label
from tacit.console.sessions import Visitor
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.records.accounts import Link, LinkKind, Name, NameKind, Person
from tacit.records.validation import fold_name

# A person knows the people they named or share a group with, an operator all of the space.

NAME_ONLY_PREFIX = "person:"
NAME_KIND_LABELS = {
    NameKind.NAME: "name",
    NameKind.ALIAS: "alias",
    NameKind.USERNAME: "username",
    NameKind.RELATION: "relation to you",
    NameKind.WITHHELD: "person something is withheld from",
}
_RELATION_LABEL = "relation to another person"
_CURSOR_MAX_CHARS = 9


def list_known_people(visitor: Visitor, name: str | None, cursor: str | None) -> Page[Person]:
    """List people by name. Each word of `name` must begin a word of one of their names."""
    if visitor.is_operator:
        return visitor.operator.people.list(name, limit=limits.PAGE_DEFAULT_COUNT, cursor=cursor)
    found = [one for one in visitor.view.people.list() if name is None or _matches_name(one, name)]
    found.sort(key=lambda one: (fold_name(person_title(one)), one.id))
    start = _parse_cursor(cursor)
    end = start + limits.PAGE_DEFAULT_COUNT
    return Page(items=tuple(found[start:end]), cursor=str(end) if len(found) > end else None)


def get_known_person(visitor: Visitor, id: str) -> Person:
    """Return a person whom the visitor knows, or whom a memory they may see is about."""
    if ":" not in id:
        raise NotFound("page")
    try:
        known = visitor.operator.people.list(id) if visitor.is_operator else visitor.view.people.list()
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
    """Return the name for a page title; a name known only from a withheld memory is used last."""
    best = person_label(person)
    return person.names[0].text if best == external_key(person.id) and person.names else best


def name_kind_label(visitor: Visitor, name: Name) -> str:
    """Label the kind of a name. Operators see names from all people, not who gave them."""
    of_another = visitor.is_operator and name.kind is NameKind.RELATION
    return _RELATION_LABEL if of_another else NAME_KIND_LABELS[name.kind]


def list_external_keys(person: Person) -> list[str]:
    """Return external keys as channels write them; empty for a person known only by name."""
    return sorted(external_key(one) for one in person.identities if not one.startswith(NAME_ONLY_PREFIX))


def _matches_name(person: Person, name: str) -> bool:
    return all(any(part.startswith(word) for part in _searchable_words(person)) for word in fold_name(name).split())


def _searchable_words(person: Person) -> Iterable[str]:
    for name in person.names:
        yield from fold_name(name.text).split()
    yield from list_external_keys(person)


def _parse_cursor(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= _CURSOR_MAX_CHARS):
        raise InvalidInput("cursor", "is invalid; start again without it")
    return int(cursor)


# Merging. A person's merge applies to them alone, an operator's to all people of the space.


def order_merge(visitor: Visitor, one: Person, other: Person) -> tuple[Person, Person]:
    """Return source and target of a merge.

    The source must be known only by name: people with a key link it themselves.
    """
    if one.identities & other.identities:
        raise InvalidInput("into", "is the same person; choose another one")
    if visitor.is_operator:
        for source, target in ((one, other), (other, one)):
            if not list_external_keys(source):
                return source, target
        raise InvalidInput("into", "both have accounts; they can link them with a code")
    for person in (one, other):
        if not _name_only_identities(person):
            raise InvalidInput("into", "has an account; ask an operator to merge it")
    return one, other


def merge_people(visitor: Visitor, source: Person, target: Person) -> str:
    """Merge and return the identity that undoes it."""
    if visitor.is_operator:
        before = {link.source for link in _merge_links(visitor, source)}
        merged = next(one for one in _name_only_identities(source) if one not in before)
        actor = f"operator:{visitor.name}"
        visitor.memory.admin.merge_people(merged, target.id, actor=actor)
        return merged
    refused: Conflict | None = None
    for merged in _name_only_identities(source):  # all but one are merged already
        try:
            visitor.view.people.merge(merged, _name_only_identities(target)[0])
        except Conflict as error:
            refused = error
        else:
            return merged
    raise refused or NotFound("page")


def unmerge_person(visitor: Visitor, identity: str) -> None:
    if visitor.is_operator:
        visitor.memory.admin.unmerge_people(identity)
    else:
        visitor.view.people.unmerge(identity)


def list_unmergeable(visitor: Visitor, person: Person) -> list[str]:
    """Return the identities whose merge may be undone. A view does not say which are merged."""
    if len(person.identities) == 1:
        return []
    if visitor.is_operator:
        return sorted(link.source for link in _merge_links(visitor, person))
    return _name_only_identities(person)


def _merge_links(visitor: Visitor, person: Person) -> set[Link]:
    return {
        link
        for identity in person.identities
        for link in visitor.memory.admin.links(identity)
        if link.holds and link.kind is LinkKind.MERGE
    }


def _name_only_identities(person: Person) -> list[str]:
    return sorted(one for one in person.identities if one.startswith(NAME_ONLY_PREFIX))
