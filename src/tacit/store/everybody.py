"""Everybody whom a space knows of, under all their identities and names: for an operator."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select, union

from tacit.records.accounts import Name, NameKind, Person
from tacit.records.validation import fold_name
from tacit.store.identities import around
from tacit.store.tables import people, person_names, subjects

_N = person_names.c
_KNOWN = (subjects.c.id, people.c.id, _N.person)


def page(
    connection: Connection, space: str, begun: str | None, after: str, most: int
) -> list[tuple[str, Person]]:
    """In the order of identities, each person at the first of theirs; with where that is. `begun`:
    those of whom some name begins like this, whoever calls them so."""
    found: list[tuple[str, Person]] = []
    while len(found) < most:
        ids = _listed(connection, space, begun, most, after=after)
        if not ids:
            break
        identities = around(connection, space, ids)
        same = {id: identities.current_identities(id) for id in ids}
        everyone = {one for each in same.values() for one in each}
        order = {one: n for n, one in enumerate(_listed(connection, space, begun, among=everyone))}
        first = [id for id in ids if order[id] == min(order[one] for one in same[id] & set(order))]
        called = _called(connection, space, everyone)
        found += [(id, _person(identities.person_id(id), same[id], called)) for id in first]
        after = ids[-1]
    return found[:most]


def named(
    connection: Connection, space: str, who: Iterable[str], *, by: Collection[str] | None = None
) -> list[Person]:
    """These people, once each; by the names that they go by and, where `by` is not None, by what
    those call them and nobody else."""
    identities = around(connection, space, who)
    same = {identities.current_identities(one) for one in who}
    called = _called(connection, space, {one for each in same for one in each}, by)
    return [_person(identities.person_id(min(each)), each, called) for each in same]


def found(connection: Connection, space: str, who: str) -> tuple[Person, ...]:
    """The one with this identity, where the space knows of them."""
    (one,) = named(connection, space, [who])
    there = _listed(connection, space, None, among=one.identities)
    return (one,) if there else ()


def concerned(connection: Connection, space: str, shown: Iterable[Person]) -> set[str]:
    """Whom it concerns that an operator was told of these: themselves, and who calls them so. Who
    was never here themselves is not told that others speak of them."""
    theirs = sorted({one for person in shown for one in person.identities})
    here = select(subjects.c.id).where(subjects.c.space_id == space, subjects.c.id.in_(theirs))
    callers = select(_N.known_to).where(
        _N.space_id == space, _N.person.in_(theirs), _N.known_to != ""
    )
    return set(connection.execute(union(here, callers)).scalars()) if theirs else set()


def _listed(
    connection: Connection,
    space: str,
    begun: str | None,
    most: int | None = None,
    *,
    after: str = "",
    among: Collection[str] | None = None,
) -> list[str]:
    """Identities in the order of the database, whose collation is its own."""
    parts = [
        _part(column, space, begun, most, after, among)
        for column in (_KNOWN if begun is None else (_N.person,))
    ]
    listed = union(*parts).subquery()
    (id,) = listed.c
    rows = select(id).order_by(id)
    return list(connection.execute(rows if most is None else rows.limit(most)).scalars())


def _part(
    column: ColumnElement[str],
    space: str,
    begun: str | None,
    most: int | None,
    after: str,
    among: Collection[str] | None,
) -> Select[Any]:
    found = select(column.label("id")).where(column.table.c.space_id == space, column > after)
    if begun is not None:
        start = fold_name(begun)
        found = found.where(func.substr(_N.folded, 1, len(start)) == start)
    if among is not None:
        found = found.where(column.in_(sorted(among)))
    found = found.distinct().order_by(column)
    return select((found if most is None else found.limit(most)).subquery())


def _called(
    connection: Connection, space: str, who: Collection[str], by: Collection[str] | None = None
) -> dict[str, set[Name]]:
    rows = select(_N.person, _N.kind, _N.name).where(
        _N.space_id == space, _N.person.in_(sorted(who))
    )
    if by is not None:
        rows = rows.where(_N.known_to.in_(["", *sorted(by)]))
    found: dict[str, set[Name]] = {}
    for row in connection.execute(rows):
        found.setdefault(row.person, set()).add(Name(kind=NameKind(row.kind), text=row.name))
    return found


def _person(id: str, identities: frozenset[str], called: dict[str, set[Name]]) -> Person:
    names = {name for one in identities for name in called.get(one, ())}
    return Person(
        id=id,
        names=tuple(sorted(names, key=lambda name: (name.kind, name.text))),
        identities=identities,
    )
