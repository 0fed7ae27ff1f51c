"""Which of the people whom somebody named are one to them.

That is theirs, like the names: it is read for their own requests in private alone, so nothing that
anybody else hears goes by it. Who is whom for everybody is a link, and an operator's to say.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.identity.links import Identities
from tacit.records.request import Request
from tacit.store.identities import around
from tacit.store.tables import person_names, same_people
from tacit.store.writes import Writing

_S = same_people.c
_N = person_names.c
Groups = Mapping[str, frozenset[str]]
NO_GROUPS: Groups = {}


def groups(connection: Connection, request: Request) -> Groups:
    """Everybody who is one with somebody else to this requester, with all who are."""
    if not request.private:
        return NO_GROUPS
    rows = select(_S.person, _S.into).where(
        _S.space_id == request.space, _S.known_to.in_(sorted(request.own_identities))
    )
    found: dict[str, frozenset[str]] = {}
    for row in connection.execute(rows):
        joined = together(found, row.person) | together(found, row.into)
        found |= dict.fromkeys(joined, joined)
    return found


def together(groups: Groups, person: str) -> frozenset[str]:
    return groups.get(person, frozenset({person}))


def same(
    connection: Connection, request: Request, who: Collection[str]
) -> dict[str, frozenset[str]]:
    """Each of these with all who are the same person: to everybody, or to this requester."""
    found = groups(connection, request)
    reached = frozenset(who)
    while True:
        identities = around(connection, request.space, reached)
        wider = reached | _wider(reached, identities, found)
        if wider == reached:
            break
        reached = wider
    return {one: _closed(one, identities, found) for one in who}


def _wider(who: frozenset[str], identities: Identities, found: Groups) -> frozenset[str]:
    return frozenset(
        other
        for one in who
        for linked in identities.current_identities(one)
        for other in together(found, linked)
    )


def _closed(one: str, identities: Identities, found: Groups) -> frozenset[str]:
    everywhere = frozenset({one})
    while not (wider := _wider(everywhere, identities, found)) <= everywhere:
        everywhere |= wider
    return everywhere


def joined(heads: Mapping[str, str], found: Groups, requester: str | None) -> dict[str, str]:
    """The same head for those who are one to the requester. Nobody is taken for the requester whom
    they did not say to be."""
    together_: dict[str, frozenset[str]] = {}
    for some in set(found.values()):
        here = {heads[one] for one in some if one in heads}
        whole = here.union(*(together_.get(head, frozenset()) for head in here))
        together_ |= dict.fromkeys(whole, frozenset(whole))
    return {one: _first(together_.get(head, {head}), requester) for one, head in heads.items()}


def _first(heads: Collection[str], requester: str | None) -> str:
    return requester if requester in heads and requester is not None else min(heads)


def merge(w: Writing, person: str, into: str) -> None:
    """Whom the requester did not name is absent, whoever else did."""
    if not w.request.private or not _named(w, person) or not _named(w, into):
        raise NotFound("person")
    w.dialect.acquire_lock(w.connection, f"{w.space} {w.request.subject} merging")
    found = groups(w.connection, w.request)
    one, other = together(found, person), together(found, into)
    if into in one:
        raise Conflict(f"{person} and {into} are already one person to you")
    if w.connection.execute(select(_S.into).where(*_led(w, person))).first() is not None:
        raise Conflict(f"{person} is merged into somebody else: undo that first")
    if len(one | other) > limits.IDENTITIES_PER_PERSON_MAX_COUNT:
        most = limits.IDENTITIES_PER_PERSON_MAX_COUNT
        raise InvalidInput("into", f"one person has at most {most} identities")
    row = {
        "space_id": w.space,
        "known_to": w.request.subject,
        "person": person,
        "into": into,
        "created_at": to_micros(w.at),
    }
    w.connection.execute(insert(same_people).values(row))


def unmerge(w: Writing, person: str) -> None:
    private = w.request.private
    done = w.connection.execute(delete(same_people).where(*_led(w, person))) if private else None
    if done is None or not done.rowcount:
        raise NotFound("person")


def forget(connection: Connection, space: str, who: Collection[str]) -> int:
    """What these said, and what was said of them."""
    return sum(
        connection.execute(
            delete(same_people).where(_S.space_id == space, column.in_(sorted(who)))
        ).rowcount
        for column in (_S.known_to, _S.person, _S.into)
    )


def _led(w: Writing, person: str) -> tuple[ColumnElement[bool], ...]:
    return (
        _S.space_id == w.space,
        _S.known_to.in_(sorted(w.request.own_identities)),
        _S.person == person,
    )


def _named(w: Writing, person: str) -> bool:
    named = select(_N.person).where(
        _N.space_id == w.space,
        _N.known_to.in_(sorted(w.request.own_identities)),
        _N.person == person,
    )
    return w.connection.execute(named.limit(1)).first() is not None
