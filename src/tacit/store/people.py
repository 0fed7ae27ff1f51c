"""People by name: those a requester speaks of, and those who are in the room with them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, delete, select, union_all

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import InvalidInput
from tacit.identity import external_keys
from tacit.records.accounts import Name, NameKind, Person
from tacit.records.request import Request
from tacit.records.validation import fold_name, parse_screened_identifier
from tacit.store import merged, rendered
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

WITHHELD_FIELD = "withheld_from"

_N = person_names.c
_OWN = and_(_N.space_id == bindparam("space"), _N.known_to.in_(bindparam("mine", expanding=True)))
_HERE = and_(
    _N.space_id == bindparam("space"),
    _N.known_to == "",
    _N.person.in_(bindparam("here", expanding=True)),
)
_CALLED = select(_N.person).where(_OWN, _N.folded == bindparam("folded"))
# Whom a secret is kept from, and who is known by nothing else.
_KEPT_FROM = select(_N.person).where(
    _N.space_id == bindparam("space"),
    _N.person.in_(bindparam("called", expanding=True)),
    _N.kind == NameKind.WITHHELD.value,
    _N.folded == bindparam("folded"),
)
_CALLING_THEMSELVES = select(_N.person).where(_HERE, _N.folded == bindparam("folded"))
_UNCHANNELLED = (f"{external_keys.PERSON_PREFIX}:", f"{external_keys.ACCOUNT_PREFIX}:")
_GIVEN = select(_N.person, _N.kind, _N.name).where(_HERE)
_ALL = union_all(select(_N.person, _N.kind, _N.name).where(_OWN), _GIVEN)
_ME = chat_members.alias().c
_THEM = chat_members.alias().c
_ACQUAINTED = (
    select(_THEM.person)
    .where(
        _THEM.space_id == bindparam("space"),
        _THEM.left_at.is_(None),
        _THEM.chat.in_(
            select(_ME.chat).where(
                _ME.space_id == bindparam("space"),
                _ME.person.in_(bindparam("mine", expanding=True)),
                _ME.left_at.is_(None),
            )
        ),
    )
    .limit(limits.PARTICIPANTS_MAX_COUNT)
)
_ONESELF = frozenset({"me", "myself", "i"})


def find(
    connection: Connection, request: Request, name: str, *, withholding: bool = False
) -> tuple[list[str], bool]:
    """The people this requester can mean by a name, one identity for each; and whether they are
    so called by the requester, or only by themselves, which proves nothing. Whom a secret is kept
    from is somebody of that name, and not yet whom the requester means by it otherwise."""
    params = _scope(connection, request) | {"folded": fold_name(name)}
    space, as_said = request.space, params["folded"]
    mine = {"space": space, "mine": params["mine"], "folded": as_said}
    called = _people(connection, _CALLED, mine)
    found = called
    if called and not withholding:
        named = {"space": space, "called": sorted(called), "folded": as_said}
        found = called - _people(connection, _KEPT_FROM, named)
    own = bool(found)
    if not own:
        here = {"space": space, "here": params["here"], "folded": as_said}
        found = _people(connection, _CALLING_THEMSELVES, here)
    if not found and called:
        found, own = called, True
    if len(found) > 1:
        same = merged.same(connection, request, found)
        found = {min(found & same[one]) for one in found}
    return sorted(found), own


def _people(connection: Connection, statement: Select[Any], params: dict[str, Any]) -> set[str]:
    return {person for (person,) in rendered.rows(connection, statement, params)}


def meant(
    connection: Connection, request: Request, who: object, field: str
) -> frozenset[str] | None:
    """The identities of the person meant, or None where the requester knows nobody of that name.

    Their account and who was merged with them are among these, by the requester too, and so are the
    keys that the requester has met. That somebody has other keys, on other channels, is theirs to
    tell.
    """
    if isinstance(who, str) and fold_name(who) in _ONESELF:
        return request.own_identities
    written = external_keys.parse_identity(who, field)
    found = [written] if written else find(connection, request, _name(who, field))[0]
    if len(found) > 1:
        raise InvalidInput(field, f"{who!r} may be {len(found)} people; use their key or person id")
    if not found:
        return None
    known = set(_scope(connection, request)["here"])
    if found[0] not in known and not found[0].startswith(f"{external_keys.PERSON_PREFIX}:"):
        return frozenset(found)
    everywhere = merged.same(connection, request, found)[found[0]]
    return frozenset(i for i in everywhere if i in known or i.startswith(_UNCHANNELLED)) | set(
        found
    )


def is_hidden(connection: Connection, request: Request, who: frozenset[str]) -> bool:
    """Whether this is a key that somebody here has elsewhere and that the requester has not met:
    whose it is, is theirs to tell."""
    known = {*_scope(connection, request)["here"], *request.own_identities}
    if not known.isdisjoint(who):
        return False  # somebody they met, and an account that this one has besides
    return any(request.person(one) in request.audience for one in who)


def refer(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    who: Iterable[object],
    field: str,
    at: datetime,
) -> frozenset[str]:
    """Identities for the people a write names; somebody new by name becomes a person."""
    found = (_refer(connection, dialect, request, one, field, at) for one in who)
    return frozenset(identity for some in found for identity in some)


def _refer(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    who: object,
    field: str,
    at: datetime,
) -> list[str]:
    withholding = field == WITHHELD_FIELD
    written = external_keys.parse_identity(who, field)
    if written:
        return _kept_from(connection, request, [written]) if withholding else [written]
    name = _name(who, field)
    if fold_name(name) in _ONESELF:
        assert request.subject is not None
        return [request.subject]
    found, own = find(connection, request, name, withholding=withholding)
    if not found or (withholding and not own):
        # Two writers may meet somebody new at once: the second finds whom the first made.
        dialect.acquire_lock(connection, f"{request.space} {request.subject} {fold_name(name)}")
        found, own = find(connection, request, name, withholding=withholding)
    if len(found) > 1:
        raise InvalidInput(
            field, f"{name!r} may be {len(found)} people; use their key or person id"
        )
    if found and (own or not withholding):
        return _kept_from(connection, request, found) if withholding else found
    # Somebody who calls themselves Bob need not be the Bob that a secret is kept from.
    kind = NameKind.WITHHELD if withholding else NameKind.NAME
    return [*found, create(connection, dialect, request, name, at, kind=kind)]


def _kept_from(connection: Connection, request: Request, who: list[str]) -> list[str]:
    """Whom the requester takes for one person, a secret is kept from under each of their names."""
    groups = merged.groups(connection, request)
    return sorted({one for each in who for one in merged.together(groups, each)})


def create(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    name: str,
    at: datetime,
    *,
    kind: NameKind = NameKind.NAME,
) -> str:
    """Somebody this requester speaks of, whom we know by name only, or by what they are to them."""
    assert request.subject is not None
    person = f"{external_keys.PERSON_PREFIX}:{new_id()}"
    row = {
        "space_id": request.space,
        "id": person,
        "created_by": request.subject,
        "created_at": to_micros(at),
    }
    dialect.insert_missing(connection, people, [row])
    add_name(connection, dialect, request, person, name, kind, at)
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
        "folded": fold_name(_name(name, "name")),
        "known_to": request.subject,
        "name": _name(name, "name"),
        "created_at": to_micros(at),
    }
    dialect.insert_missing(connection, person_names, [row])


def known_to(connection: Connection, request: Request, *, own_names: bool = True) -> list[Person]:
    """Everybody the requester has named, and everybody who is here, with merges settled. Without
    the requester's own names for them: what one calls somebody is not for everybody's ears."""
    named, scope = _ALL if own_names else _GIVEN, _scope(connection, request)
    rows = connection.execute(named, scope).all()
    # A key that the requester named without having met it stands alone: whose it is, is not theirs
    # to know.
    met = {*scope["here"], *scope["mine"]}
    identities = around(connection, request.space, {row.person for row in rows})
    heads = {
        one: identities.person_id(one) if one in met or one.startswith(_UNCHANNELLED) else one
        for one in {row.person for row in rows}
    }
    if own_names:
        heads = merged.joined(heads, merged.groups(connection, request), request.requester)
    names: dict[str, set[Name]] = {}
    known: dict[str, set[str]] = {}
    for row in rows:
        head = heads[row.person]
        known.setdefault(head, set()).add(row.person)
        names.setdefault(head, set()).add(Name(kind=NameKind(row.kind), text=row.name))
    if request.requester in known:
        known[request.requester] |= request.own_identities
    # In the order of what is shown: that of who they really are would tell of it.
    return sorted((whole(known[head], names[head]) for head in names), key=lambda one: one.id)


def met(connection: Connection, request: Request) -> frozenset[str]:
    """The identities that the requester knows people by: their own, of those here, and in private
    of everybody they share a group with."""
    return frozenset(_scope(connection, request)["here"])


def going_by(connection: Connection, space: str, who: Iterable[str]) -> dict[str, Person]:
    """Each of these identities by the names that they go by themselves."""
    names: dict[str, set[Name]] = {one: set() for one in who}
    if names:
        for row in connection.execute(_GIVEN, {"space": space, "here": sorted(names)}):
            names[row.person].add(Name(kind=NameKind(row.kind), text=row.name))
    return {one: whole({one}, called) for one, called in names.items()}


def whole(known: set[str], names: set[Name]) -> Person:
    """By the identities the requester knows: that somebody has others is theirs to tell."""
    return Person(
        id=min(known, key=lambda identity: (not external_keys.is_subject(identity), identity)),
        names=tuple(sorted(names, key=lambda name: (name.kind, name.text))),
        identities=frozenset(known),
    )


def _scope(connection: Connection, request: Request) -> dict[str, Any]:
    """Whose names this requester may use: their own, of those here, and in private of everybody
    they share a group with; by the identities those have there and by no others."""
    here = request.own_identities | request.present
    if request.private:
        params = {"space": request.space, "mine": sorted(request.own_identities)}
        here |= _people(connection, _ACQUAINTED, params)
    return {"space": request.space, "mine": sorted(request.own_identities), "here": sorted(here)}


def _name(value: object, field: str) -> str:
    """`@bob` is how people write the name bob."""
    bare = value[1:] if isinstance(value, str) and value.startswith("@") else value
    return parse_screened_identifier(field, bare, limits.NAME_MAX_CHARS)


def forget_unmentioned(connection: Connection, space: str, identities: Iterable[str]) -> None:
    """People who are known by nothing but a name in memories that are gone go with them."""
    p, m, link = people.c, memory_people.c, identity_links.c
    by_name_only = sorted(i for i in identities if i.startswith(f"{external_keys.PERSON_PREFIX}:"))
    if not by_name_only:
        return
    mentioned = select(m.person).where(m.space_id == space, m.person.in_(by_name_only))
    linked = select(link.source).where(link.space_id == space, link.source.in_(by_name_only))
    meant = select(link.target).where(link.space_id == space, link.target.in_(by_name_only))
    called = select(_N.person).where(
        _N.space_id == space,
        _N.person.in_(by_name_only),
        _N.kind.not_in([NameKind.NAME.value, NameKind.WITHHELD.value]),
    )
    kept = set(connection.execute(union_all(mentioned, linked, meant, called)).scalars())
    gone = [person for person in by_name_only if person not in kept]
    connection.execute(delete(person_names).where(_N.space_id == space, _N.person.in_(gone)))
    connection.execute(delete(people).where(p.space_id == space, p.id.in_(gone)))
    merged.forget(connection, space, gone)
