"""Store spaces: ids, keyed digests, the identity revision and links between identities."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import string
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, select, union_all

from tacit import limits
from tacit.identity import Identities
from tacit.records.accounts import Link
from tacit.storage.engine import fetch_rows, insert_missing, to_record, update_rows
from tacit.storage.schema import identity_links, spaces_table, tombstones

# Ids, and the keyed digests that prevent an erased id from being used again.

# In ASCII order: ids of later seconds sort after ids of earlier seconds.
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SECOND_CHARS = 5  # enough for 29 years; then they repeat
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


def new_id() -> str:
    return _encode_base62(secrets.randbelow(len(_ALPHABET) ** limits.ID_CHARS), limits.ID_CHARS)


def new_memory_id(at: datetime) -> str:
    """Return an id that starts with the second of creation, followed by random characters.

    Memories written one after the other are adjacent in every index. The id reveals no more than
    the record, which holds the time too.
    """
    rest = limits.ID_CHARS - _SECOND_CHARS
    return _second_prefix(at.replace(microsecond=0)) + _encode_base62(secrets.randbelow(len(_ALPHABET) ** rest), rest)


def id_range_of_second(at: datetime) -> tuple[str, str]:
    """Return the first and the last id that a memory created in this second may have."""
    rest = limits.ID_CHARS - _SECOND_CHARS
    begun = _second_prefix(at.replace(microsecond=0))
    return begun + _ALPHABET[0] * rest, begun + _ALPHABET[-1] * rest


@lru_cache(maxsize=4)
def _second_prefix(at: datetime) -> str:
    seconds = (at - _EPOCH) // _SECOND % len(_ALPHABET) ** _SECOND_CHARS
    return _encode_base62(seconds, _SECOND_CHARS)


def _encode_base62(number: int, count: int) -> str:
    chars = []
    for _ in range(count):
        number, at = divmod(number, len(_ALPHABET))
        chars.append(_ALPHABET[at])
    return "".join(reversed(chars))


def keyed_digest(secret: str, id: str) -> str:
    """Return a keyed hash that identifies an id without revealing it.

    The key is stored only in the row of the space.
    """
    return hmac.digest(bytes.fromhex(secret), id.encode(), "sha256").hex()


def audience_id(people: frozenset[str]) -> str:
    """Return the id of an audience; equal sets of people have the same id."""
    return hashlib.sha256("\n".join(sorted(people)).encode()).hexdigest()[:32]


# Spaces, and the identity revision, which grows with each change of people, links or chats.

_SELECT_IDENTITY_REVISION = select(spaces_table.c.identity_rev).where(spaces_table.c.space_id == bindparam("space"))
_HAS_TOMBSTONES = select(tombstones.c.digest).where(tombstones.c.space_id == spaces_table.c.space_id).exists()
_SELECT_LOCKED_STATE = (
    select(spaces_table.c.identity_rev, spaces_table.c.secret, _HAS_TOMBSTONES)
    .where(spaces_table.c.space_id == bindparam("space"))
    .with_for_update(read=True)
)


class SpaceState(NamedTuple):
    identity_revision: int
    secret: str
    has_tombstones: bool  # an id was erased and must not be used again


def ensure_space(connection: Connection, space: str, at: datetime) -> None:
    row = {
        "secret": secrets.token_hex(32),
        # Random, so that it differs from the revision of an erased space of this name: caches
        # compare it.
        "identity_rev": secrets.randbits(60) + 1,
        "created_at": at,
    }
    insert_missing(connection, spaces_table, space, [row])


def identity_revision(connection: Connection, space: str) -> int:
    """Return the identity revision, or 0 if the space has no row."""
    found = fetch_rows(connection, _SELECT_IDENTITY_REVISION, {"space": space})
    return int(found[0][0]) if found else 0


def increment_identity_revision(connection: Connection, space: str) -> None:
    """Increment the identity revision, which makes every cached request stale."""
    rev = spaces_table.c.identity_rev
    update_rows(connection, spaces_table, space, identity_rev=rev + 1)


def lock_space_for_write(connection: Connection, space: str, at: datetime) -> SpaceState:
    """Lock the identities of a space until the transaction ends, and return its state."""
    params = {"space": space}
    if not (found := fetch_rows(connection, _SELECT_LOCKED_STATE, params)):
        ensure_space(connection, space, at)
        found = fetch_rows(connection, _SELECT_LOCKED_STATE, params)
    ((rev, secret, erased),) = found
    return SpaceState(rev, secret, bool(erased))


def list_spaces(connection: Connection) -> list[str]:
    s = spaces_table.c.space_id
    return list(connection.execute(select(s).order_by(s)).scalars())


# Identities, as far as the links of some people reach.

_C = identity_links.c
_LINKS_AROUND = union_all(
    *(
        select(identity_links).where(_C.space_id == bindparam("space"), end.in_(bindparam("ids", expanding=True)))
        for end in (_C.source, _C.target)
    )
)


def load_identities(connection: Connection, space: str, identities: Iterable[str]) -> Identities:
    """Load every link, past or present, that reaches these identities over verified links."""
    found: dict[str, Link] = {}
    reached: set[str] = set()
    fringe = set(identities)
    most = len(fringe) + limits.IDENTITIES_PER_PERSON_MAX_COUNT * max(1, len(fringe))
    while fringe and len(reached) <= most:
        rows = connection.execute(_LINKS_AROUND, {"space": space, "ids": sorted(fringe)}).all()
        reached |= fringe
        fringe = set()
        for row in rows:
            link = to_link(row)
            found[link.id] = link
            if link.held:
                fringe |= {link.source, link.target} - reached
    return Identities(tuple(found.values()))


def list_link_history(connection: Connection, space: str, identity: str) -> list[Link]:
    """List all links of an identity, past or present, the oldest first."""
    rows = connection.execute(_LINKS_AROUND, {"space": space, "ids": [identity]})
    links = {link.id: link for link in map(to_link, rows)}
    return sorted(links.values(), key=lambda link: (link.created_at, link.id))


def to_link(row: Any) -> Link:
    return to_record(Link, row)
