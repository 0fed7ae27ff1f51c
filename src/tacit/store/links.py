"""Links between identities: begun, verified and ended, never overwritten."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.records.accounts import Link, LinkKind
from tacit.store import spaces
from tacit.store.identities import around, to_link
from tacit.store.ids import new_id
from tacit.store.settle import settle_people
from tacit.store.tables import identity_links

_C = identity_links.c


def begin(
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
    """Say that two identities are one person. The caller holds the space's lock."""
    if source == target:
        raise InvalidInput("target", "an identity cannot be linked to itself")
    identities = around(connection, space, (source, target))
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
    connection.execute(insert(identity_links).values(_row(space, link)))
    _moved(connection, space, (source, target))
    return link


def verify(connection: Connection, space: str, source: str, at: datetime) -> Link:
    link = _current(connection, space, source)
    if link.verified_at is None:
        connection.execute(_change(space, link).values(verified_at=to_micros(at)))
        _moved(connection, space, (link.source, link.target))
    return _current(connection, space, source)


def end(connection: Connection, space: str, source: str, kind: LinkKind, at: datetime) -> Link:
    link = _current(connection, space, source)
    if link.kind is not kind:
        raise NotFound("link")
    connection.execute(_change(space, link).values(ended_at=to_micros(at)))
    _moved(connection, space, (link.source, link.target))
    return link


def _moved(connection: Connection, space: str, identities: Iterable[str]) -> None:
    """What follows from a change of identity, in the same transaction."""
    spaces.touch(connection, space)
    found = around(connection, space, identities)
    settle_people(
        connection, space, found, {i for x in identities for i in found.all_identities(x)}
    )


def current(connection: Connection, space: str, source: str) -> Link | None:
    """The link that an identity has, verified or not."""
    held = select(identity_links).where(
        _C.space_id == space, _C.source == source, _C.ended_at.is_(None)
    )
    row = connection.execute(held).one_or_none()
    return None if row is None else to_link(row)


def _current(connection: Connection, space: str, source: str) -> Link:
    link = current(connection, space, source)
    if link is None:
        raise NotFound("link")
    return link


def _change(space: str, link: Link) -> Any:
    return update(identity_links).where(_C.space_id == space, _C.id == link.id)


def _row(space: str, link: Link) -> dict[str, Any]:
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
