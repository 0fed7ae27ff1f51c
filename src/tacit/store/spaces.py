"""Spaces, and the revision that moves whenever people, links or chats of a space do."""

from __future__ import annotations

import secrets
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, select, update

from tacit.clock import to_micros
from tacit.store import rendered
from tacit.store.dialect import Dialect
from tacit.store.tables import spaces, tombstones

_REV = select(spaces.c.identity_rev).where(spaces.c.space_id == bindparam("space"))
_ERASED = select(tombstones.c.digest).where(tombstones.c.space_id == spaces.c.space_id).exists()
_SPACE = select(spaces.c.identity_rev, spaces.c.secret, _ERASED).where(
    spaces.c.space_id == bindparam("space")
)


class Entered(NamedTuple):
    identity_revision: int
    secret: str
    has_tombstones: bool  # something was, and its id is never given again


def ensure(connection: Connection, dialect: Dialect, space: str, at: datetime) -> None:
    row = {
        "space_id": space,
        "secret": secrets.token_hex(32),
        # Never one that a space of this name had before it was erased: caches go by it.
        "identity_rev": secrets.randbits(60) + 1,
        "created_at": to_micros(at),
    }
    dialect.insert_missing(connection, spaces, [row])


def identity_rev(connection: Connection, space: str) -> int:
    """0 for a space that nobody has written to."""
    found = rendered.rows(connection, _REV, {"space": space})
    return int(found[0][0]) if found else 0


def touch(connection: Connection, space: str) -> None:
    """Somebody is somebody else from here on: every cached request is stale."""
    rev = spaces.c.identity_rev
    statement = update(spaces).where(spaces.c.space_id == space).values(identity_rev=rev + 1)
    connection.execute(statement)


def enter(connection: Connection, dialect: Dialect, space: str, at: datetime) -> Entered:
    """For a write: what it must know of the space, with identities held still until it is done."""
    found = rendered.rows(connection, _held_still(dialect), {"space": space})
    if not found:
        ensure(connection, dialect, space, at)
        found = rendered.rows(connection, _held_still(dialect), {"space": space})
    ((rev, secret, erased),) = found
    return Entered(rev, secret, bool(erased))


@lru_cache(maxsize=8)
def _held_still(dialect: Dialect) -> Select[Any]:
    return dialect.lock_space_shared(_SPACE)


def names(connection: Connection) -> list[str]:
    return list(connection.execute(select(spaces.c.space_id).order_by(spaces.c.space_id)).scalars())
