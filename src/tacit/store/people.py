"""People by name: those a requester speaks of, and those who are in the room with them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, or_, select, union_all

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import InvalidInput
from tacit.identity import keys
from tacit.model.people import Name, NameKind, Person
from tacit.model.request import Request
from tacit.model.text import folded, identifier
from tacit.store.dialect import Dialect
from tacit.store.identities import around
from tacit.store.ids import new_id
from tacit.store.tables import (
    chat_members,
    identity_links,
    memory_people,
    people,
    person_names,
)

_N = person_names.c
_KNOWN = or_(
    _N.known_to.in_(bindparam("mine", expanding=True)),
    and_(_N.known_to == "", _N.person.in_(bindparam("here", expanding=True))),
)
_BY_NAME = select(_N.person).where(
    _N.space_id == bindparam("space"), _N.folded == bindparam("folded"), _KNOWN
)


_ME, _THEM = chat_members.alias(), chat_members.alias()
_ACQUAINTED = (
    select(_THEM.c.person)
    .distinct()
    .select_from(_ME)
    .join(_THEM, and_(_THEM.c.space_id == _ME.c.space_id, _THEM.c.chat == _ME.c.chat))
    .where(
        _ME.c.space_id == bindparam("space"),
        _ME.c.person.in_(bindparam("mine", expanding=True)),
        _ME.c.left_at.is_(None),
        _THEM.c.left_at.is_(None),
    )
    .limit(limits.PARTICIPANTS_MAX_COUNT)
)


def find(connection: Connection, request: Request, name: str) -> list[str]:
    """The people this requester can mean by a name, one identity for each."""
    params = _scope(connection, request) | {"folded": folded(name.removeprefix("@"))}
    found = sorted(set(connection.execute(_BY_NAME, params).scalars()))
    if len(found) < 2:
        return found
    identities = around(connection, request.space, found)
    people: dict[str, str] = {}
    for identity in found:
        people.setdefault(identities.head(identity), identity)
    return sorted(people.values())


def meant(
    connection: Connection, request: Request, who: object, field: str
) -> frozenset[str] | None:
    """Every identity of the person meant, or None where the requester knows nobody of that name."""
    written = keys.identity(who, field)
    found = [written] if written else find(connection, request, _name(who, field))
    if len(found) > 1:
        raise InvalidInput(field, f"{who!r} may be {len(found)} people; use their key or person id")
    if not found:
        return None
    if written and written not in _scope(connection, request)["here"]:
        # Somebody the requester has not met: that other keys are theirs too is not ours to tell.
        return frozenset({written})
    return around(connection, request.space, found).now(found[0])


def refer(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    who: Iterable[object],
    field: str,
    at: datetime,
) -> frozenset[str]:
    """Identities for the people a write names; somebody new by name becomes a person."""
    return frozenset(_refer(connection, dialect, request, one, field, at) for one in who)


def _refer(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    who: object,
    field: str,
    at: datetime,
) -> str:
    written = keys.identity(who, field)
    if written:
        return written
    name = _name(who, field)
    if folded(name) in ("me", "myself", "i"):
        assert request.subject is not None
        return request.subject
    found = find(connection, request, name)
    if len(found) > 1:
        raise InvalidInput(
            field, f"{name!r} may be {len(found)} people; use their key or person id"
        )
    return found[0] if found else create(connection, dialect, request, name, at)


def create(
    connection: Connection, dialect: Dialect, request: Request, name: str, at: datetime
) -> str:
    """Somebody this requester speaks of, whom we know by name only."""
    assert request.subject is not None
    person = f"{keys.PERSON}:{new_id()}"
    row = {
        "space_id": request.space,
        "id": person,
        "created_by": request.subject,
        "created_at": to_micros(at),
    }
    dialect.insert_missing(connection, people, [row])
    add_name(connection, dialect, request, person, name, NameKind.NAME, at)
    return person


def add_name(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    person: str,
    name: str,
    kind: NameKind,
    at: datetime,
) -> None:
    """What this requester calls a person. Nobody else is told."""
    assert request.subject is not None
    row = {
        "space_id": request.space,
        "person": person,
        "kind": kind.value,
        "folded": folded(name),
        "known_to": request.subject,
        "name": _name(name, "name"),
        "created_at": to_micros(at),
    }
    dialect.insert_missing(connection, person_names, [row])


def known_to(connection: Connection, request: Request) -> list[Person]:
    """Everybody the requester has named, and everybody who is here, with merges settled."""
    rows = connection.execute(_ALL, _scope(connection, request)).all()
    identities = around(connection, request.space, {row.person for row in rows})
    names: dict[str, set[Name]] = {}
    known: dict[str, set[str]] = {}
    for row in rows:
        head = identities.head(row.person)
        known.setdefault(head, set()).add(row.person)
        names.setdefault(head, set()).add(Name(kind=NameKind(row.kind), text=row.name))
    if request.requester in known:
        known[request.requester] |= request.mine
    return [_person(known[head], names[head]) for head in sorted(names)]


_ALL = select(_N.person, _N.kind, _N.name).where(_N.space_id == bindparam("space"), _KNOWN)


def _person(known: set[str], names: set[Name]) -> Person:
    """By the identities the requester knows: that somebody has others is theirs to tell."""
    return Person(
        id=min(known, key=lambda identity: (not keys.is_subject(identity), identity)),
        names=tuple(sorted(names, key=lambda name: (name.kind, name.text))),
        identities=frozenset(known),
    )


def _scope(connection: Connection, request: Request) -> dict[str, Any]:
    """Whose names this requester may use: their own, of those here, and in private of everybody
    they share a group with; by the identities those have there and by no others."""
    here = request.mine | request.present
    if request.private:
        params = {"space": request.space, "mine": sorted(request.mine)}
        here |= set(connection.execute(_ACQUAINTED, params).scalars())
    return {"space": request.space, "mine": sorted(request.mine), "here": sorted(here)}


def _name(value: object, field: str) -> str:
    return identifier(field, value, limits.NAME_MAX_CHARS)


def forget_unmentioned(connection: Connection, space: str, identities: Iterable[str]) -> None:
    """People who are known by nothing but a name in memories that are gone go with them."""
    p, m, link = people.c, memory_people.c, identity_links.c
    by_name_only = sorted(i for i in identities if i.startswith(f"{keys.PERSON}:"))
    if not by_name_only:
        return
    mentioned = select(m.person).where(m.space_id == space, m.person.in_(by_name_only))
    linked = select(link.source).where(link.space_id == space, link.source.in_(by_name_only))
    meant = select(link.target).where(link.space_id == space, link.target.in_(by_name_only))
    called = select(_N.person).where(
        _N.space_id == space, _N.person.in_(by_name_only), _N.kind != NameKind.NAME.value
    )
    kept = set(connection.execute(union_all(mentioned, linked, meant, called)).scalars())
    gone = [person for person in by_name_only if person not in kept]
    connection.execute(delete(person_names).where(_N.space_id == space, _N.person.in_(gone)))
    connection.execute(delete(people).where(p.space_id == space, p.id.in_(gone)))
