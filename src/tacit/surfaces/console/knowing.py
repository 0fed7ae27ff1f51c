"""Whom a visitor knows: a person those they named or share a room with, an operator everybody in
the space."""

from __future__ import annotations

from collections.abc import Iterable

from tacit import Page, limits
from tacit.errors import InvalidInput, NotFound
from tacit.records.accounts import Name, NameKind, Person
from tacit.records.validation import fold_name
from tacit.surfaces.console.naming import called, key_of
from tacit.surfaces.console.visitor import Visitor

BY_NAME_ONLY = "person:"
KINDS = {
    NameKind.NAME: "name",
    NameKind.ALIAS: "alias",
    NameKind.USERNAME: "username",
    NameKind.RELATION: "what they are to you",
    NameKind.WITHHELD: "whom something is kept from",
}
_TO_SOMEBODY = "what they are to somebody"
_PLACES_MAX_CHARS = 9


def people(visitor: Visitor, name: str | None, cursor: str | None) -> Page[Person]:
    """By name; each word of `name` begins some word of what they are called."""
    if visitor.is_operator:
        return visitor.operator.people(name, limit=limits.PAGE_DEFAULT_COUNT, cursor=cursor)
    found = [one for one in visitor.view.people() if name is None or _fits(one, name)]
    found.sort(key=lambda one: (fold_name(title(one)), one.id))
    start = _place(cursor)
    end = start + limits.PAGE_DEFAULT_COUNT
    return Page(items=tuple(found[start:end]), cursor=str(end) if len(found) > end else None)


def person(visitor: Visitor, id: str) -> Person:
    """Somebody they know, or whom something that they may hear is about."""
    if ":" not in id:
        raise NotFound("page")
    try:
        known = visitor.operator.people(id) if visitor.is_operator else visitor.view.people()
        found = next((one for one in known if id in one.identities), None)
        if found is not None:
            return found
        mentioned = len(visitor.api.about(id, limit=1)) > 0
    except InvalidInput:
        mentioned = False
    if not mentioned:
        raise NotFound("page")
    return Person(id=id, names=(), identities=frozenset({id}))


def title(person: Person) -> str:
    """What a page calls them. Whom nobody but a secret names goes by that."""
    best = called(person)
    return person.names[0].text if best == key_of(person.id) and person.names else best


def sort_of(visitor: Visitor, name: Name) -> str:
    """What sort of name it is. Operators see what everybody calls somebody, and not who does."""
    is_theirs = visitor.is_operator and name.kind is NameKind.RELATION
    return _TO_SOMEBODY if is_theirs else KINDS[name.kind]


def keys(person: Person) -> list[str]:
    """As channels write them. Who is known by name only has none."""
    return sorted(key_of(one) for one in person.identities if not one.startswith(BY_NAME_ONLY))


def _fits(person: Person, name: str) -> bool:
    return all(
        any(part.startswith(word) for part in _words_of(person)) for word in fold_name(name).split()
    )


def _words_of(person: Person) -> Iterable[str]:
    for name in person.names:
        yield from fold_name(name.text).split()
    yield from keys(person)


def _place(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= _PLACES_MAX_CHARS):
        raise InvalidInput("cursor", "is not one we gave; start again without it")
    return int(cursor)
