"""Store people: names, merges, links between identities, and the directory for operators."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Column, Connection, Select, and_, bindparam, func, select, union, union_all

from tacit import limits
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.identity import ACCOUNT_PREFIX, PERSON_PREFIX, Identities, is_subject, parse_identity
from tacit.records.accounts import Link, LinkKind, Name, NameKind, Person
from tacit.records.request import Request
from tacit.records.validation import fold_name, parse_screened_identifier
from tacit.storage import spaces
from tacit.storage.engine import (
    delete_rows,
    fetch_rows,
    has_row,
    insert_missing,
    insert_row,
    select_set,
    to_columns,
    to_record,
    update_rows,
)
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
from tacit.storage.spaces import load_identities, new_id

# Merges: which of the people that a requester has named are the same person to that requester.
#
# A merge belongs to its requester, as names do. It is read only for that requester's own private
# requests and never affects what other people see. Only a link states for the whole space that two
# identities are the same person.

_S = same_people.c
_N = person_names.c
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


def same_person_identities(connection: Connection, request: Request, who: Collection[str]) -> dict[str, frozenset[str]]:
    """Map each identity to all identities of the same person.

    Links apply to the whole space, merges only to this requester.
    """
    groups = read_merge_groups(connection, request)
    reached = frozenset(who)
    while True:
        identities = load_identities(connection, request.space, reached)
        wider = _close_over(reached, identities, groups)
        if wider == reached:
            return {one: _close_over(frozenset({one}), identities, groups) for one in who}
        reached = wider


def _close_over(who: frozenset[str], identities: Identities, groups: MergeGroups) -> frozenset[str]:
    """Add all that these identities are linked to or merged with, transitively."""
    while True:
        wider = who.union(
            *(merged_identities(groups, linked) for one in who for linked in identities.current_identities(one))
        )
        if wider == who:
            return who
        who = wider


def join_heads(heads: Mapping[str, str], found: MergeGroups, requester: str | None) -> dict[str, str]:
    """Give the people of one merge group the same head.

    The requester is the head only of a group that includes the requester.
    """
    joined: dict[str, frozenset[str]] = {}
    for some in set(found.values()):
        here = {heads[one] for one in some if one in heads}
        whole = here.union(*(joined.get(head, frozenset()) for head in here))
        joined |= dict.fromkeys(whole, frozenset(whole))

    def first(head: str) -> str:
        together = joined.get(head, frozenset({head}))
        return requester if requester in together and requester is not None else min(together)

    return {one: first(head) for one, head in heads.items()}


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
    merged = _is_merge_of(tx, person)
    if has_row(tx.connection, select(_S.into).where(_S.space_id == tx.space, merged)):
        raise Conflict(f"{person} is merged into another person: undo that first")
    if len(one | other) > limits.IDENTITIES_PER_PERSON_MAX_COUNT:
        most = limits.IDENTITIES_PER_PERSON_MAX_COUNT
        raise InvalidInput("into", f"one person has at most {most} identities")
    row = {"known_to": tx.request.subject, "person": person, "into": into, "created_at": tx.at}
    insert_row(tx.connection, same_people, tx.space, **row)


def unmerge_person(tx: Transaction, person: str) -> None:
    gone = tx.request.private and delete_rows(tx.connection, same_people, tx.space, _is_merge_of(tx, person))
    if not gone:
        raise NotFound("person")


def delete_merges(connection: Connection, space: str, who: Collection[str]) -> int:
    """Delete merges that these identities made and merges that include them; return the count."""
    return sum(
        delete_rows(connection, same_people, space, column.in_(sorted(who)))
        for column in (_S.known_to, _S.person, _S.into)
    )


def _is_merge_of(tx: Transaction, person: str) -> Any:
    return and_(_S.known_to.in_(sorted(tx.request.own_identities)), _S.person == person)


def _is_named(tx: Transaction, person: str) -> bool:
    mine = _N.known_to.in_(sorted(tx.request.own_identities))
    named = select(_N.person).where(_N.space_id == tx.space, mine, _N.person == person)
    return has_row(tx.connection, named)


# People by name: those that the requester has named, and those present in the chat.

WITHHELD_FIELD = "withheld_from"

_CHANNELLESS_PREFIXES = (f"{PERSON_PREFIX}:", f"{ACCOUNT_PREFIX}:")
_SELECT_NAMES = select(_N.person, _N.kind, _N.name).where(_N.space_id == bindparam("space"))
_PUBLIC_NAMES = _SELECT_NAMES.where(_N.known_to == "", _N.person.in_(bindparam("here", expanding=True)))
_ALL_NAMES = union_all(_SELECT_NAMES.where(_N.known_to.in_(bindparam("mine", expanding=True))), _PUBLIC_NAMES)
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
_NAMED = select(_N.person).where(_N.space_id == bindparam("space"), _N.folded == bindparam("folded"))
_WHO: Any = bindparam("who", expanding=True)
_NAMED_BY_REQUESTER = _NAMED.where(_N.known_to.in_(_WHO))
# People that are known only as the target of a hold.
_NAMED_WITHHELD = _NAMED.where(_N.person.in_(_WHO), _N.kind == NameKind.WITHHELD.value)
_NAMED_IN_PUBLIC = _NAMED.where(_N.known_to == "", _N.person.in_(_WHO))
_SELF_WORDS = frozenset({"me", "myself", "i"})


def find_people(
    connection: Connection, request: Request, name: str, *, withholding: bool = False
) -> tuple[list[str], bool]:
    """Return the people that a name may mean, and whether the name is the requester's own.

    Each person is returned under one identity. The flag is False where only a person's public name
    matches: a public name proves nothing. A person known only as the target of a hold matches last,
    unless `withholding` is set.
    """
    as_said = {"space": request.space, "folded": fold_name(name)}

    def select_named(statement: Select[Any], who: Collection[str]) -> set[str]:
        params = as_said | {"who": sorted(who)}
        return {person for (person,) in fetch_rows(connection, statement, params)}

    found = called = select_named(_NAMED_BY_REQUESTER, request.own_identities)
    if called and not withholding:
        found = called - select_named(_NAMED_WITHHELD, called)
    own = bool(found)
    if not own:
        found = select_named(_NAMED_IN_PUBLIC, list_met_identities(connection, request))
    if not found and called:
        found, own = called, True
    if len(found) > 1:
        same = same_person_identities(connection, request, found)
        found = {min(found & same[one]) for one in found}
    return sorted(found), own


def resolve_person(connection: Connection, request: Request, who: object, field: str) -> frozenset[str] | None:
    """Return the identities of the person meant, or None if the requester knows no such person.

    The result includes the person's account, merged identities (the requester's merges too) and the
    keys that the requester has met. It excludes the person's keys on other channels: only that
    person may disclose them.
    """
    if isinstance(who, str) and fold_name(who) in _SELF_WORDS:
        return request.own_identities
    written = parse_identity(who, field)
    found = [written] if written else find_people(connection, request, _clean_name(who, field))[0]
    _require_one(found, who, field)
    if not found:
        return None
    known = list_met_identities(connection, request)
    if found[0] not in known and not found[0].startswith(f"{PERSON_PREFIX}:"):
        return frozenset(found)
    everywhere = same_person_identities(connection, request, found)[found[0]]
    return frozenset(i for i in everywhere if i in known or i.startswith(_CHANNELLESS_PREFIXES)) | set(found)


def is_hidden_identity(connection: Connection, request: Request, who: frozenset[str]) -> bool:
    """Return whether these identities are unmet keys of a person who is present.

    Only that person may disclose that such a key is theirs.
    """
    if not list_met_identities(connection, request).isdisjoint(who):
        return False  # the requester has met this person under another identity
    return any(request.person(one) in request.audience for one in who)


def _require_one(found: Collection[str], name: object, field: str) -> None:
    if len(found) > 1:
        raise InvalidInput(field, f"{name!r} may be {len(found)} people; use their key or person id")


def resolve_or_create_people(tx: Transaction, who: Iterable[object], field: str) -> frozenset[str]:
    """Return identities for the people that a write names; create a person for each new name."""
    return frozenset(identity for one in who for identity in _resolve_or_create_person(tx, one, field))


def _resolve_or_create_person(tx: Transaction, who: object, field: str) -> list[str]:
    withholding = field == WITHHELD_FIELD
    written = parse_identity(who, field)
    if written:
        return _withheld_identities(tx, [written]) if withholding else [written]
    name = _clean_name(who, field)
    if fold_name(name) in _SELF_WORDS:
        assert tx.request.subject is not None
        return [tx.request.subject]
    found, own = find_people(tx.connection, tx.request, name, withholding=withholding)
    if not found or (withholding and not own):
        # Two transactions may create the same person at once: the second one finds the first one's.
        lock_person_name(tx, name)
        found, own = find_people(tx.connection, tx.request, name, withholding=withholding)
    _require_one(found, name, field)
    if found and (own or not withholding):
        return _withheld_identities(tx, found) if withholding else found
    # A person who uses the name Bob in public need not be the Bob that the hold is about.
    kind = NameKind.WITHHELD if withholding else NameKind.NAME
    return [*found, create_person(tx, name, kind)]


def _withheld_identities(tx: Transaction, who: list[str]) -> list[str]:
    """Return these identities and their merge groups: a hold applies to each merged identity."""
    groups = read_merge_groups(tx.connection, tx.request)
    return sorted({one for each in who for one in merged_identities(groups, each)})


def lock_person_name(tx: Transaction, name: str) -> None:
    """Serialize the creation of a person of this name by one requester."""
    tx.dialect.acquire_lock(tx.connection, f"{tx.space} {tx.request.subject} {fold_name(name)}")


def create_person(tx: Transaction, name: str, kind: NameKind) -> str:
    """Create a person that the requester knows only by a name or by a relation to the requester."""
    assert tx.request.subject is not None
    person = f"{PERSON_PREFIX}:{new_id()}"
    row = {"id": person, "created_by": tx.request.subject, "created_at": tx.at}
    insert_missing(tx.connection, people_table, tx.space, [row])
    add_person_name(tx, person, name, kind)
    return person


def add_person_name(tx: Transaction, person: str, name: str, kind: NameKind) -> None:
    """Insert the requester's name for a person; it is visible to the requester only."""
    assert tx.request.subject is not None
    clean = _clean_name(name, "name")
    key = {"person": person, "kind": kind, "folded": fold_name(clean)}
    row = {**key, "known_to": tx.request.subject, "name": clean, "created_at": tx.at}
    insert_missing(tx.connection, person_names, tx.space, [row])


def list_known_people(connection: Connection, request: Request, *, own_names: bool = True) -> list[Person]:
    """List the people that the requester has named and those present, with merges applied.

    Without `own_names`, leave out the requester's names for them: these are not for other people.
    """
    met = list_met_identities(connection, request)
    mine = sorted(request.own_identities)
    scope = {"space": request.space, "mine": mine, "here": sorted(met)}
    rows = connection.execute(_ALL_NAMES if own_names else _PUBLIC_NAMES, scope).all()
    called = {row.person for row in rows}
    # A key that the requester named but has not met stays separate: the requester may not learn
    # whose key it is.
    identities = load_identities(connection, request.space, called)
    heads = {
        one: identities.person_id(one) if one in met or one.startswith(_CHANNELLESS_PREFIXES) else one for one in called
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
    return sorted((build_person(known[head], names[head]) for head in names), key=lambda one: one.id)


def list_met_identities(connection: Connection, request: Request) -> frozenset[str]:
    """Return the identities under which the requester knows people.

    These are the requester's own, those of the people present and, in private, those of all members
    of the requester's groups. Each person counts only under the identity used there.
    """
    here = request.own_identities | request.present
    if not request.private:
        return here
    params = {"space": request.space, "mine": sorted(request.own_identities)}
    rows = fetch_rows(connection, _SELECT_ACQUAINTANCES, params)
    return here.union(person for (person,) in rows)


def read_public_names(connection: Connection, space: str, who: Iterable[str]) -> dict[str, Person]:
    """Read the public names of each of these identities."""
    who = list(who)
    names = _names_of(connection, space, who, by=()) if who else {}
    return {one: build_person({one}, names.get(one, ())) for one in who}


def build_person(known: Collection[str], names: Iterable[Name], id: str | None = None) -> Person:
    """Build a person from the identities that the requester knows, without any others."""
    first = min(known, key=lambda identity: (not is_subject(identity), identity))
    return Person(
        id=first if id is None else id,
        names=tuple(sorted(names, key=lambda name: (name.kind, name.text))),
        identities=frozenset(known),
    )


def _clean_name(value: object, field: str) -> str:
    """Parse a name and drop a leading `@`."""
    bare = value[1:] if isinstance(value, str) and value.startswith("@") else value
    return parse_screened_identifier(field, bare, limits.NAME_MAX_CHARS)


def delete_unmentioned_people(connection: Connection, space: str, identities: Iterable[str]) -> None:
    """Delete people that only had a name in memories that are now deleted."""
    m, link = memory_people.c, identity_links.c
    by_name_only = sorted(i for i in identities if i.startswith(f"{PERSON_PREFIX}:"))
    if not by_name_only:
        return
    mentions = union_all(
        *(
            select(column).where(column.table.c.space_id == space, column.in_(by_name_only))
            for column in (m.person, link.source, link.target)
        ),
        select(_N.person).where(
            _N.space_id == space,
            _N.person.in_(by_name_only),
            _N.kind.not_in([NameKind.NAME.value, NameKind.WITHHELD.value]),
        ),
    )
    gone = sorted(set(by_name_only) - select_set(connection, mentions))
    delete_rows(connection, person_names, space, _N.person.in_(gone))
    delete_rows(connection, people_table, space, people_table.c.id.in_(gone))
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
        names=tuple(one for one in found.names if one in told or (one.kind is kind and fold_name(one.text) == said)),
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
        listed = _list_identities(connection, space, begun, among=everyone)
        order = {one: number for number, one in enumerate(listed)}
        first = [id for id in ids if order[id] == min(order[one] for one in same[id] & set(order))]
        called = _names_of(connection, space, everyone)
        found += [(id, _directory_person(identities.person_id(id), same[id], called)) for id in first]
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
    callers = select(_N.known_to).where(_N.space_id == space, _N.person.in_(theirs), _N.known_to != "")
    return select_set(connection, union(here, callers)) if theirs else set()


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
    start = "" if begun is None else fold_name(begun)

    def select_from(column: Column[str]) -> Select[Any]:
        found = select(column.label("id")).where(column.table.c.space_id == space, column > after)
        if begun is not None:
            found = found.where(func.substr(_N.folded, 1, len(start)) == start)
        if among is not None:
            found = found.where(column.in_(sorted(among)))
        return select(found.distinct().order_by(column).limit(most).subquery())

    columns = _IDENTITY_COLUMNS if begun is None else (_N.person,)
    (id,) = union(*map(select_from, columns)).subquery().c
    return list(connection.execute(select(id).order_by(id).limit(most)).scalars())


def _names_of(
    connection: Connection, space: str, who: Collection[str], by: Collection[str] | None = None
) -> dict[str, set[Name]]:
    rows = select(_N.person, _N.kind, _N.name).where(_N.space_id == space, _N.person.in_(sorted(who)))
    if by is not None:
        rows = rows.where(_N.known_to.in_(["", *sorted(by)]))
    found: dict[str, set[Name]] = {}
    for row in connection.execute(rows):
        found.setdefault(row.person, set()).add(Name(kind=NameKind(row.kind), text=row.name))
    return found


def _directory_person(id: str, identities: frozenset[str], called: dict[str, set[Name]]) -> Person:
    names = {name for one in identities for name in called.get(one, ())}
    return build_person(identities, names, id)


# Links between identities: begun, verified and ended, never overwritten.

_C = identity_links.c


def begin_link(tx: Transaction, source: str, target: str, kind: LinkKind, *, actor: str, verified: bool = True) -> Link:
    """Link two identities as one person. The caller holds the lock of the space."""
    if source == target:
        raise InvalidInput("target", "an identity cannot be linked to itself")
    identities = load_identities(tx.connection, tx.space, (source, target))
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
        raise InvalidInput("target", f"one person has at most {limits.IDENTITIES_PER_PERSON_MAX_COUNT} identities")
    link = Link(
        id=new_id(),
        source=source,
        target=target,
        kind=kind,
        actor=actor,
        created_at=tx.at,
        verified_at=tx.at if verified else None,
        ended_at=None,
    )
    insert_row(tx.connection, identity_links, tx.space, **to_columns(link, identity_links))
    _apply_identity_change(tx, link)
    return link


def verify_link(tx: Transaction, source: str) -> Link:
    link = _require_link(tx, source)
    return link if link.was_verified else update_link(tx, replace(link, verified_at=tx.at))


def end_link(tx: Transaction, source: str, kind: LinkKind) -> Link:
    """End the current link of an identity, and return the ended link."""
    link = _require_link(tx, source)
    if link.kind is not kind:
        raise NotFound("link")
    return update_link(tx, replace(link, ended_at=tx.at))


def update_link(tx: Transaction, link: Link) -> Link:
    """Store the times of a link, with all that follows from it."""
    times = {"verified_at": link.verified_at, "ended_at": link.ended_at}
    update_rows(tx.connection, identity_links, tx.space, _C.id == link.id, **times)
    _apply_identity_change(tx, link)
    return link


def _apply_identity_change(tx: Transaction, link: Link) -> None:
    """Increment the identity revision and update key precedence, in the same transaction."""
    spaces.increment_identity_revision(tx.connection, tx.space)
    found = load_identities(tx.connection, tx.space, (link.source, link.target))
    reached = found.all_identities(link.source) | found.all_identities(link.target)
    update_precedence_of_people(tx.connection, tx.space, found, reached)


def current_link(connection: Connection, space: str, source: str) -> Link | None:
    """Return the current link of an identity, verified or not."""
    held = select(identity_links).where(_C.space_id == space, _C.source == source, _C.ended_at.is_(None))
    row = connection.execute(held).one_or_none()
    return None if row is None else to_record(Link, row)


def _require_link(tx: Transaction, source: str) -> Link:
    link = current_link(tx.connection, tx.space, source)
    if link is None:
        raise NotFound("link")
    return link
