"""Who is whom, as far as some people's links reach."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, bindparam, select, union_all

from tacit import limits
from tacit.clock import from_micros
from tacit.identity.links import Identities
from tacit.records.accounts import Link, LinkKind
from tacit.store.tables import identity_links

_C = identity_links.c
_FROM = select(identity_links).where(
    _C.space_id == bindparam("space"), _C.source.in_(bindparam("ids", expanding=True))
)
_TO = select(identity_links).where(
    _C.space_id == bindparam("space"), _C.target.in_(bindparam("ids", expanding=True))
)
_AROUND = union_all(_FROM, _TO)


def around(connection: Connection, space: str, identities: Iterable[str]) -> Identities:
    """Every link, past or present, that reaches these identities over verified links."""
    found: dict[str, Link] = {}
    reached: set[str] = set()
    fringe = set(identities)
    most = len(fringe) + limits.IDENTITIES_PER_PERSON_MAX_COUNT * max(1, len(fringe))
    while fringe and len(reached) <= most:
        rows = connection.execute(_AROUND, {"space": space, "ids": sorted(fringe)}).all()
        reached |= fringe
        fringe = set()
        for row in rows:
            link = to_link(row)
            found[link.id] = link
            if link.held:
                fringe |= {link.source, link.target} - reached
    return Identities(tuple(found.values()))


def of(connection: Connection, space: str, identity: str) -> list[Link]:
    """The whole history of one identity's links, oldest first."""
    rows = connection.execute(_AROUND, {"space": space, "ids": [identity]})
    links = {link.id: link for link in map(to_link, rows)}
    return sorted(links.values(), key=lambda link: (link.created_at, link.id))


def to_link(row: Any) -> Link:
    return Link(
        id=row.id,
        source=row.source,
        target=row.target,
        kind=LinkKind(row.kind),
        actor=row.actor,
        created_at=from_micros(row.created_at),
        verified_at=None if row.verified_at is None else from_micros(row.verified_at),
        ended_at=None if row.ended_at is None else from_micros(row.ended_at),
    )
