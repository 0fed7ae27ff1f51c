"""Store people: names, merges, links between identities, and the directory for operators."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    select,
    union,
    union_all,
    update,
)

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.identity import ACCOUNT_PREFIX, PERSON_PREFIX, Identities, is_subject, parse_identity
from tacit.records.accounts import Link, LinkKind, Name, NameKind, Person
from tacit.records.request import Request
from tacit.records.validation import fold_name, parse_screened_identifier
from tacit.storage import spaces, statements
from tacit.storage.dialect import Dialect
from tacit.storage.memories import Transaction, update_precedence_of_people
from tacit.storage.schema import (
    chat_members,
    identity_links,
    memory_people,
    people_table,
    person_names,
    same_people,
    subjects,
)
from tacit.storage.spaces import load_identities, new_id, to_link

# Merges: which of the people that a requester has named are the same person to that requester.
#
# A merge belongs to its requester, as names do. It is read only for that requester's own private
# requests and never affects what other people see. Only a link states for the whole space that two
# identities are the same person.

_S = same_people.c
_NAMES = person_names.c
MergeGroups = Mapping[str, frozenset[str]]
NO_MERGE_GROUPS: MergeGroups = {}


def read_merge_groups(connection: Connection, request: Request) -> MergeGroups:
    """Map each person that the requester has merged to the full merge group."""
    if not request.private:
        return NO_MERGE_GROUPS
    rows = select(_S.person, _S.into).where(
        _S.space_id == request.space, _S.known_to.in_(sorted(request.own_identities))
    )
    found: dict[str, frozenset[str]] = {}
    for row in connection.execute(rows):
        joined = merged_identities(found, row.person) | merged_identities(found, row.into)
        found |= dict.fromkeys(joined, joined)
    return found


def merged_identities(groups: MergeGroups, person: str) -> frozenset[str]:
    return groups.get(person, frozenset({person}))


def same_person_identities(
    connection: Connection, request: Request, who: Collection[str]
) -> dict[str, frozenset[str]]:
    """Map each identity to all identities of the same person.

    Links apply to the whole space, merges only to this requester.
    """
    found = read_merge_groups(connection, request)
    reached = frozenset(who)
    while True:
        identities = load_identities(connection, request.space, reached)
        wider = reached | _widen(reached, identities, found)
        if wider == reached:
            break
        reached = wider
    return {one: _closure_of(one, identities, found) for one in who}


def _widen(who: frozenset[str], identities: Identities, found: MergeGroups) -> frozenset[str]:
    return frozenset(
        other
        for one in who
        for linked in identities.current_identities(one)
        for other in merged_identities(found, linked)
    )


def _closure_of(one: str, identities: Identities, found: MergeGroups) -> frozenset[str]:
    everywhere = frozenset({one})
    while not (wider := _widen(everywhere, identities, found)) <= everywhere:
        everywhere |= wider
    return everywhere


def join_heads(
    heads: Mapping[str, str], found: MergeGroups, requester: str | None
) -> dict[str, str]:
    """Give the people of one merge group the same head.

    The requester is the head only of a group that includes the requester.
    """
    together_: dict[str, frozenset[str]] = {}
    for some in set(found.values()):
        here = {heads[one] for one in some if one in heads}
        whole = here.union(*(together_.get(head, frozenset()) for head in here))
        together_ |= dict.fromkeys(whole, frozenset(whole))
    return {one: _first_head(together_.get(head, {head}), requester) for one, head in heads.items()}


def _first_head(heads: Collection[str], requester: str | None) -> str:
    return requester if requester in heads and requester is not None else min(heads)


def merge_people(tx: Transaction, person: str, into: str) -> None:
    """Merge two people for the requester.

    Raise NotFound for a person that the requester has not named, even if other people have.
    """
    if not tx.request.private or not _is_named(tx, person) or not _is_named(tx, into):
        raise NotFound("person")
    tx.dialect.acquire_lock(tx.connection, f"{tx.space} {tx.request.subject} merging")
    found = read_merge_groups(tx.connection, tx.request)
    one, other = merged_identities(found, person), merged_identities(found, into)
    if into in one:
        raise Conflict(f"{person} and {into} are already one person to you")
    if tx.connection.execute(select(_S.into).where(*_is_merge_of(tx, person))).first() is not None:
        raise Conflict(f"{person} is merged into somebody else: undo that first")
    if len(one | other) > limits.IDENTITIES_PER_PERSON_MAX_COUNT:
        most = limits.IDENTITIES_PER_PERSON_MAX_COUNT
        raise InvalidInput("into", f"one person has at most {most} identities")
    row = {
        "space_id": tx.space,
        "known_to": tx.request.subject,
        "person": person,
        "into": into,
        "created_at": to_micros(tx.at),
    }
    tx.connection.execute(insert(same_people).values(row))


def unmerge_person(tx: Transaction, person: str) -> None:
    private = tx.request.private
    done = (
        tx.connection.execute(delete(same_people).where(*_is_merge_of(tx, person)))
        if private
        else None
    )
    if done is None or not done.rowcount:
        raise NotFound("person")


def delete_merges(connection: Connection, space: str, who: Collection[str]) -> int:
    """Delete merges that these identities made and merges that include them; return the count."""
    return sum(
        connection.execute(
            delete(same_people).where(_S.space_id == space, column.in_(sorted(who)))
        ).rowcount
        for column in (_S.known_to, _S.person, _S.into)
    )


def _is_merge_of(tx: Transaction, person: str) -> tuple[ColumnElement[bool], ...]:
    return (
        _S.space_id == tx.space,
        _S.known_to.in_(sorted(tx.request.own_identities)),
        _S.person == person,
    )


def _is_named(tx: Transaction, person: str) -> bool:
    named = select(_NAMES.person).where(
        _NAMES.space_id == tx.space,
        _NAMES.known_to.in_(sorted(tx.request.own_identities)),
        _NAMES.person == person,
    )
    return tx.connection.execute(named.limit(1)).first() is not None


# People by name: those that the requester has named, and those present in the chat.

WITHHELD_FIELD = "withheld_from"

_N = person_names.c
_OWN_NAMES = and_(
    _N.space_id == bindparam("space"), _N.known_to.in_(bindparam("mine", expanding=True))
)
_PRESENT_NAMES = and_(
    _N.space_id == bindparam("space"),
    _N.known_to == "",
    _N.person.in_(bindparam("here", expanding=True)),
)
_PEOPLE_BY_OWN_NAME = select(_N.person).where(_OWN_NAMES, _N.folded == bindparam("folded"))
# People that are known only as the target of a hold.
_WITHHELD_PEOPLE = select(_N.person).where(
    _N.space_id == bindparam("space"),
    _N.person.in_(bindparam("called", expanding=True)),
    _N.kind == NameKind.WITHHELD.value,
    _N.folded == bindparam("folded"),
)
_PEOPLE_BY_PUBLIC_NAME = select(_N.person).where(_PRESENT_NAMES, _N.folded == bindparam("folded"))
_CHANNELLESS_PREFIXES = (f"{PERSON_PREFIX}:", f"{ACCOUNT_PREFIX}:")
_PUBLIC_NAMES = select(_N.person, _N.kind, _N.name).where(_PRESENT_NAMES)
_ALL_NAMES = union_all(select(_N.person, _N.kind, _N.name).where(_OWN_NAMES), _PUBLIC_NAMES)
_ME = chat_members.alias().c
_THEM = chat_members.alias().c
_SELECT_ACQUAINTANCES = (
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
_SELF_WORDS = frozenset({"me", "myself", "i"})


def find_people(
    connection: Connection, request: Request, name: str, *, withholding: bool = False
) -> tuple[list[str], bool]:
    """Return the people that a name may mean, and whether the name is the requester's own.

    Each person is returned under one identity. The flag is False where only a person's public name
    matches: a public name proves nothing. A person known only as the target of a hold matches last,
    unless `withholding` is set.
    """
    params = _name_scope(connection, request) | {"folded": fold_name(name)}
    space, as_said = request.space, params["folded"]
    mine = {"space": space, "mine": params["mine"], "folded": as_said}
    called = _select_people(connection, _PEOPLE_BY_OWN_NAME, mine)
    found = called
    if called and not withholding:
        named = {"space": space, "called": sorted(called), "folded": as_said}
        found = called - _select_people(connection, _WITHHELD_PEOPLE, named)
    own = bool(found)
    if not own:
        here = {"space": space, "here": params["here"], "folded": as_said}
        found = _select_people(connection, _PEOPLE_BY_PUBLIC_NAME, here)
    if not found and called:
        found, own = called, True
    if len(found) > 1:
        same = same_person_identities(connection, request, found)
        found = {min(found & same[one]) for one in found}
    return sorted(found), own


def _select_people(
    connection: Connection, statement: Select[Any], params: dict[str, Any]
) -> set[str]:
    return {person for (person,) in statements.fetch_rows(connection, statement, params)}


def resolve_person(
    connection: Connection, request: Request, who: object, field: str
) -> frozenset[str] | None:
    """Return the identities of the person meant, or None if the requester knows no such person.

    The result includes the person's account, merged identities (the requester's merges too) and the
    keys that the requester has met. It excludes the person's keys on other channels: only that
    person may disclose them.
    """
    if isinstance(who, str) and fold_name(who) in _SELF_WORDS:
        return request.own_identities
    written = parse_identity(who, field)
    found = [written] if written else find_people(connection, request, _clean_name(who, field))[0]
    if len(found) > 1:
        raise InvalidInput(field, f"{who!r} may be {len(found)} people; use their key or person id")
    if not found:
        return None
    known = set(_name_scope(connection, request)["here"])
    if found[0] not in known and not found[0].startswith(f"{PERSON_PREFIX}:"):
        return frozenset(found)
    everywhere = same_person_identities(connection, request, found)[found[0]]
    return frozenset(
        i for i in everywhere if i in known or i.startswith(_CHANNELLESS_PREFIXES)
    ) | set(found)


def is_hidden_identity(connection: Connection, request: Request, who: frozenset[str]) -> bool:
    """Return whether these identities are unmet keys of a person who is present.

    Only that person may disclose that such a key is theirs.
    """
    known = {*_name_scope(connection, request)["here"], *request.own_identities}
    if not known.isdisjoint(who):
        return False  # the requester has met this person under another identity
    return any(request.person(one) in request.audience for one in who)


def resolve_or_create_people(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    who: Iterable[object],
    field: str,
    at: datetime,
) -> frozenset[str]:
    """Return identities for the people that a write names; create a person for each new name."""
    found = (_resolve_or_create_person(connection, dialect, request, one, field, at) for one in who)
    return frozenset(identity for some in found for identity in some)


def _resolve_or_create_person(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    who: object,
    field: str,
    at: datetime,
) -> list[str]:
    withholding = field == WITHHELD_FIELD
    written = parse_identity(who, field)
    if written:
        return _withheld_identities(connection, request, [written]) if withholding else [written]
    name = _clean_name(who, field)
    if fold_name(name) in _SELF_WORDS:
        assert request.subject is not None
        return [request.subject]
    found, own = find_people(connection, request, name, withholding=withholding)
    if not found or (withholding and not own):
        # Two transactions may create the same person at once: the second one finds the first one's.
        dialect.acquire_lock(connection, f"{request.space} {request.subject} {fold_name(name)}")
        found, own = find_people(connection, request, name, withholding=withholding)
    if len(found) > 1:
        raise InvalidInput(
            field, f"{name!r} may be {len(found)} people; use their key or person id"
        )
    if found and (own or not withholding):
        return _withheld_identities(connection, request, found) if withholding else found
    # A person who uses the name Bob in public need not be the Bob that the hold is about.
    kind = NameKind.WITHHELD if withholding else NameKind.NAME
    return [*found, create_person(connection, dialect, request, name, at, kind=kind)]


def _withheld_identities(connection: Connection, request: Request, who: list[str]) -> list[str]:
    """Return these identities and their merge groups: a hold applies to each merged identity."""
    groups = read_merge_groups(connection, request)
    return sorted({one for each in who for one in merged_identities(groups, each)})


def create_person(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    name: str,
    at: datetime,
    *,
    kind: NameKind = NameKind.NAME,
) -> str:
    """Create a person that the requester knows only by a name or by a relation to the requester."""
    assert request.subject is not None
    person = f"{PERSON_PREFIX}:{new_id()}"
    row = {
        "space_id": request.space,
        "id": person,
        "created_by": request.subject,
        "created_at": to_micros(at),
    }
    dialect.insert_missing(connection, people_table, [row])
    add_person_name(connection, dialect, request, person, name, kind, at)
    return person


def add_person_name(
    connection: Connection,
    dialect: Dialect,
    request: Request,
    person: str,
    name: str,
    kind: NameKind,
    at: datetime,
) -> None:
    """Insert the requester's name for a person; it is visible to the requester only."""
    assert request.subject is not None
    row = {
        "space_id": request.space,
        "person": person,
        "kind": kind.value,
        "folded": fold_name(_clean_name(name, "name")),
        "known_to": request.subject,
        "name": _clean_name(name, "name"),
        "created_at": to_micros(at),
    }
    dialect.insert_missing(connection, person_names, [row])


def list_known_people(
    connection: Connection, request: Request, *, own_names: bool = True
) -> list[Person]:
    """List the people that the requester has named and those present, with merges applied.

    Without `own_names`, leave out the requester's names for them: these are not for other people.
    """
    named, scope = _ALL_NAMES if own_names else _PUBLIC_NAMES, _name_scope(connection, request)
    rows = connection.execute(named, scope).all()
    # A key that the requester named but has not met stays separate: the requester may not learn
    # whose key it is.
    met = {*scope["here"], *scope["mine"]}
    identities = load_identities(connection, request.space, {row.person for row in rows})
    heads = {
        one: identities.person_id(one)
        if one in met or one.startswith(_CHANNELLESS_PREFIXES)
        else one
        for one in {row.person for row in rows}
    }
    if own_names:
        heads = join_heads(heads, read_merge_groups(connection, request), request.requester)
    names: dict[str, set[Name]] = {}
    known: dict[str, set[str]] = {}
    for row in rows:
        head = heads[row.person]
        known.setdefault(head, set()).add(row.person)
        names.setdefault(head, set()).add(Name(kind=NameKind(row.kind), text=row.name))
    if request.requester in known:
        known[request.requester] |= request.own_identities
    # Sort by the visible id: the order of the resolved ids would reveal who is who.
    return sorted(
        (build_person(known[head], names[head]) for head in names), key=lambda one: one.id
    )


def list_met_identities(connection: Connection, request: Request) -> frozenset[str]:
    """Return the identities under which the requester knows people.

    These are the requester's own, those of the people present and, in private, those of all members
    of the requester's groups.
    """
    return frozenset(_name_scope(connection, request)["here"])


def read_public_names(connection: Connection, space: str, who: Iterable[str]) -> dict[str, Person]:
    """Read the public names of each of these identities."""
    names: dict[str, set[Name]] = {one: set() for one in who}
    if names:
        for row in connection.execute(_PUBLIC_NAMES, {"space": space, "here": sorted(names)}):
            names[row.person].add(Name(kind=NameKind(row.kind), text=row.name))
    return {one: build_person({one}, called) for one, called in names.items()}


def build_person(known: set[str], names: set[Name]) -> Person:
    """Build a person from the identities that the requester knows, without any others."""
    return Person(
        id=min(known, key=lambda identity: (not is_subject(identity), identity)),
        names=tuple(sorted(names, key=lambda name: (name.kind, name.text))),
        identities=frozenset(known),
    )


def _name_scope(connection: Connection, request: Request) -> dict[str, Any]:
    """Return the identities whose names the requester may use, as statement parameters.

    These are the requester's own, those of the people present and, in private, those of all members
    of the requester's groups. Each person counts only under the identity used there.
    """
    here = request.own_identities | request.present
    if request.private:
        params = {"space": request.space, "mine": sorted(request.own_identities)}
        here |= _select_people(connection, _SELECT_ACQUAINTANCES, params)
    return {"space": request.space, "mine": sorted(request.own_identities), "here": sorted(here)}


def _clean_name(value: object, field: str) -> str:
    """Parse a name and drop a leading `@`."""
    bare = value[1:] if isinstance(value, str) and value.startswith("@") else value
    return parse_screened_identifier(field, bare, limits.NAME_MAX_CHARS)


def delete_unmentioned_people(
    connection: Connection, space: str, identities: Iterable[str]
) -> None:
    """Delete people that only had a name in memories that are now deleted."""
    p, m, link = people_table.c, memory_people.c, identity_links.c
    by_name_only = sorted(i for i in identities if i.startswith(f"{PERSON_PREFIX}:"))
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
    connection.execute(delete(people_table).where(p.space_id == space, p.id.in_(gone)))
    delete_merges(connection, space, gone)


# Label of a person for the requester who has just named that person.


def person_label(
    connection: Connection, request: Request, who: Collection[str], name: str, kind: NameKind
) -> Person | None:
    """Return the person with the names that may be shown in this chat.

    In a group, these are the public names and the name that the requester has just used. The
    requester's other names for the person stay private.
    """
    known = list_known_people(connection, request)
    found = next((one for one in known if not one.identities.isdisjoint(who)), None)
    if found is None or request.private:
        return found
    everybody = list_known_people(connection, request, own_names=False)
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


# People directory: every person of a space with all identities and names, for an operator.

_IDENTITY_COLUMNS = (subjects.c.id, people_table.c.id, _N.person)


def list_people_directory(
    connection: Connection, space: str, begun: str | None, after: str, most: int
) -> list[tuple[str, Person]]:
    """List people with their cursor, in the order of identities, each under their first identity.

    `begun` keeps people with a name that starts with this prefix, no matter who uses the name.
    """
    found: list[tuple[str, Person]] = []
    while len(found) < most:
        ids = _list_identities(connection, space, begun, most, after=after)
        if not ids:
            break
        identities = load_identities(connection, space, ids)
        same = {id: identities.current_identities(id) for id in ids}
        everyone = {one for each in same.values() for one in each}
        order = {
            one: n
            for n, one in enumerate(_list_identities(connection, space, begun, among=everyone))
        }
        first = [id for id in ids if order[id] == min(order[one] for one in same[id] & set(order))]
        called = _names_of(connection, space, everyone)
        found += [
            (id, _directory_person(identities.person_id(id), same[id], called)) for id in first
        ]
        after = ids[-1]
    return found[:most]


def list_people(
    connection: Connection, space: str, who: Iterable[str], *, by: Collection[str] | None = None
) -> list[Person]:
    """List each of these people once, with all their names.

    If `by` is not None, include only public names and the names that these identities use for them.
    """
    identities = load_identities(connection, space, who)
    same = {identities.current_identities(one) for one in who}
    called = _names_of(connection, space, {one for each in same for one in each}, by)
    return [_directory_person(identities.person_id(min(each)), each, called) for each in same]


def find_in_directory(connection: Connection, space: str, who: str) -> tuple[Person, ...]:
    """Return the person with this identity, if the space knows the identity."""
    (one,) = list_people(connection, space, [who])
    there = _list_identities(connection, space, None, among=one.identities)
    return (one,) if there else ()


def list_concerned_people(connection: Connection, space: str, shown: Iterable[Person]) -> set[str]:
    """Return the people concerned when an operator reads these directory entries.

    These are the people shown and those whose names for them were shown. A person who never used
    the space is left out: they must not learn that other people mention them.
    """
    theirs = sorted({one for person in shown for one in person.identities})
    here = select(subjects.c.id).where(subjects.c.space_id == space, subjects.c.id.in_(theirs))
    callers = select(_N.known_to).where(
        _N.space_id == space, _N.person.in_(theirs), _N.known_to != ""
    )
    return set(connection.execute(union(here, callers)).scalars()) if theirs else set()


def _list_identities(
    connection: Connection,
    space: str,
    begun: str | None,
    most: int | None = None,
    *,
    after: str = "",
    among: Collection[str] | None = None,
) -> list[str]:
    """List identities in the collation order of the database."""
    parts = [
        _select_identities(column, space, begun, most, after, among)
        for column in (_IDENTITY_COLUMNS if begun is None else (_N.person,))
    ]
    listed = union(*parts).subquery()
    (id,) = listed.c
    rows = select(id).order_by(id)
    return list(connection.execute(rows if most is None else rows.limit(most)).scalars())


def _select_identities(
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


def _names_of(
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


def _directory_person(id: str, identities: frozenset[str], called: dict[str, set[Name]]) -> Person:
    names = {name for one in identities for name in called.get(one, ())}
    return Person(
        id=id,
        names=tuple(sorted(names, key=lambda name: (name.kind, name.text))),
        identities=identities,
    )


# Links between identities: begun, verified and ended, never overwritten.

_C = identity_links.c


def begin_link(
    connection: Connection,
    space: str,
    source: str,
    target: str,
    kind: LinkKind,
    *,
    verified: bool,
    actor: str,
    at: datetime,
) -> Link:
    """Link two identities as one person. The caller holds the lock of the space."""
    if source == target:
        raise InvalidInput("target", "an identity cannot be linked to itself")
    identities = load_identities(connection, space, (source, target))
    if target in identities.current_identities(source):
        raise Conflict(f"{source} and {target} are already one person")
    if kind is LinkKind.MERGE and identities.is_recognizable(source):
        raise InvalidInput(
            "source",
            "this person has an identity of their own: link it to an account instead of merging, "
            "or name the person without one first",
        )
    if any(x.source == source and x.ended_at is None for x in identities.links):
        raise Conflict(f"{source} already has a link: end it first")
    joined = identities.current_identities(source) | identities.current_identities(target)
    if len(joined) > limits.IDENTITIES_PER_PERSON_MAX_COUNT:
        raise InvalidInput(
            "target", f"one person has at most {limits.IDENTITIES_PER_PERSON_MAX_COUNT} identities"
        )
    link = Link(
        id=new_id(),
        source=source,
        target=target,
        kind=kind,
        actor=actor,
        created_at=at,
        verified_at=at if verified else None,
        ended_at=None,
    )
    connection.execute(insert(identity_links).values(_link_row(space, link)))
    _apply_identity_change(connection, space, (source, target))
    return link


def verify_link(connection: Connection, space: str, source: str, at: datetime) -> Link:
    link = _require_link(connection, space, source)
    if link.verified_at is None:
        connection.execute(_update_link(space, link).values(verified_at=to_micros(at)))
        _apply_identity_change(connection, space, (link.source, link.target))
    return _require_link(connection, space, source)


def end_link(connection: Connection, space: str, source: str, kind: LinkKind, at: datetime) -> Link:
    link = _require_link(connection, space, source)
    if link.kind is not kind:
        raise NotFound("link")
    connection.execute(_update_link(space, link).values(ended_at=to_micros(at)))
    _apply_identity_change(connection, space, (link.source, link.target))
    return link


def _apply_identity_change(connection: Connection, space: str, identities: Iterable[str]) -> None:
    """Increment the identity revision and update key precedence, in the same transaction."""
    spaces.increment_identity_revision(connection, space)
    found = load_identities(connection, space, identities)
    update_precedence_of_people(
        connection, space, found, {i for x in identities for i in found.all_identities(x)}
    )


def current_link(connection: Connection, space: str, source: str) -> Link | None:
    """Return the current link of an identity, verified or not."""
    held = select(identity_links).where(
        _C.space_id == space, _C.source == source, _C.ended_at.is_(None)
    )
    row = connection.execute(held).one_or_none()
    return None if row is None else to_link(row)


def _require_link(connection: Connection, space: str, source: str) -> Link:
    link = current_link(connection, space, source)
    if link is None:
        raise NotFound("link")
    return link


def _update_link(space: str, link: Link) -> Any:
    return update(identity_links).where(_C.space_id == space, _C.id == link.id)


def _link_row(space: str, link: Link) -> dict[str, Any]:
    return {
        "space_id": space,
        "id": link.id,
        "source": link.source,
        "target": link.target,
        "kind": link.kind.value,
        "actor": link.actor,
        "created_at": to_micros(link.created_at),
        "verified_at": None if link.verified_at is None else to_micros(link.verified_at),
        "ended_at": None,
    }
