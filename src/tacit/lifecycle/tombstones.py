"""What is left of an erasure: keyed hashes and counts, signed. Enough to do it again to an older
copy, and nothing that tells what was removed, or whose it was."""

from __future__ import annotations

import hmac
import json
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit.clock import to_micros
from tacit.errors import ErasureForged, InvalidInput
from tacit.storage import erasures
from tacit.storage.erasures import Erasure
from tacit.storage.memories import Transaction
from tacit.storage.spaces import keyed_digest

SCOPES = ("memory", "owned", "person", "subject", "source", "space")
SPACE, IDS, PEOPLE, OWNERS, SOURCES = "space", "ids", "people", "owners", "sources"
_KEY = "key"  # in the row of a space that is gone: what its certificate is checked with
_MARK_CHARS = 32  # of a hash in hexadecimal: 128 bits
_FIELDS = ("id", "scope", "digests", "counts", "erased_at", "signature")


@dataclass(slots=True)
class Removal:
    """What one act has removed so far."""

    scope: str
    ids: set[str] = field(default_factory=set)
    people: set[str] = field(default_factory=set)
    owners: set[str] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def memories(self) -> int:
        return self.counts["memories"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """An erasure that was written down, and what may be told of it to whoever did it."""

    erasure: Erasure
    key: str  # of its certificate
    count: int
    counts: Mapping[str, int]


def mark(secret: str, what: str, value: str) -> str:
    return keyed_digest(secret, f"{what}\n{value}")[:_MARK_CHARS]


def space_mark(secret: str, space: str) -> str:
    return mark(secret, SPACE, space)


def certificate_key(secret: str) -> str:
    """Checks certificates, and tells nothing of the secret that it was made from."""
    return keyed_digest(secret, "the key of certificates")


def record(
    w: Transaction, removal: Removal, *, count: int | None = None, whole: bool = True
) -> Noted:
    """In the transaction of the erasure. Whoever is not to know the `whole` of it is told of one
    memory: not how many wordings it had, nor what was thought of it."""
    erasure = signed(w.secret, w.space, removal, to_micros(w.at))
    erasures.insert_erasure(w.connection, w.space, erasure)
    return Noted(
        erasure=erasure,
        key=certificate_key(w.secret),
        count=removal.memories if count is None else count,
        counts=erasure.counts if whole else {"memories": 1},
    )


def record_space(
    w_connection: Any, secret: str, space: str, counts: Counter[str], at: int
) -> Noted:
    """After everything of the space is gone, its secret too."""
    removal = Removal(scope="space", counts=counts)
    erasure = signed(secret, space, removal, at)
    key = certificate_key(secret)
    kept = Erasure(**{**_plain(erasure), "digests": {**erasure.digests, _KEY: key}})
    erasures.insert_erasure(w_connection, erasures.NO_SPACE, kept)
    return Noted(erasure=erasure, key=key, count=removal.memories, counts=erasure.counts)


def key_of_gone_space(erasure: Erasure | None) -> str | None:
    found = None if erasure is None else erasure.digests.get(_KEY)
    return found if isinstance(found, str) else None


def signed(secret: str, space: str, removal: Removal, at: int) -> Erasure:
    lists = {
        IDS: removal.ids,
        PEOPLE: removal.people,
        OWNERS: removal.owners,
        SOURCES: removal.sources,
    }
    digests: dict[str, str | list[str]] = {SPACE: space_mark(secret, space)}
    for what, values in lists.items():
        if values:
            digests[what] = sorted(mark(secret, what, value) for value in values)
    bare = Erasure(
        id=secrets.token_hex(8),
        scope=removal.scope,
        digests=digests,
        counts={name: number for name, number in sorted(removal.counts.items()) if number},
        erased_at=at,
        signature="",
    )
    return Erasure(**{**_plain(bare), "signature": _signature(secret, bare)})


def verify(secret: str, erasure: Erasure) -> None:
    if not hmac.compare_digest(_signature(secret, erasure), erasure.signature):
        raise ErasureForged(
            "a line of the journal of erasures is not as it was signed: put a true copy of the "
            "journal in its place, or move it aside to open the database without it"
        )


def to_line(erasure: Erasure) -> str:
    """The same for the same erasure, whenever it is written; its id comes first."""
    plain = _plain(erasure)
    plain["digests"] = {n: value for n, value in sorted(erasure.digests.items()) if n != _KEY}
    plain["counts"] = dict(sorted(erasure.counts.items()))
    return json.dumps(plain, separators=(",", ":"))


def from_line(line: object) -> Erasure:
    try:
        plain = json.loads(line) if isinstance(line, str | bytes) else None
    except (ValueError, RecursionError):
        plain = None
    if not isinstance(plain, dict) or not _is_whole(plain):
        raise InvalidInput("lines", "is no journal of erasures: a line cannot be read")
    return Erasure(**{name: plain[name] for name in _FIELDS})


def _is_whole(plain: Mapping[str, Any]) -> bool:
    digests, counts = plain.get("digests"), plain.get("counts")
    if not isinstance(digests, dict) or not isinstance(counts, dict):
        return False
    texts = [plain.get(name) for name in ("id", "scope", "signature")] + [digests.get(SPACE)]
    lists: Iterable[Any] = (v for name, v in digests.items() if name != SPACE)
    return (
        all(isinstance(one, str) for one in texts)
        and plain["scope"] in SCOPES
        and all(isinstance(v, list) and all(isinstance(x, str) for x in v) for v in lists)
        and all(type(number) is int for number in (*counts.values(), plain.get("erased_at")))
    )


def _plain(erasure: Erasure) -> dict[str, Any]:
    return {name: getattr(erasure, name) for name in _FIELDS}


def _signature(secret: str, erasure: Erasure) -> str:
    plain = _plain(erasure)
    del plain["signature"]
    plain["digests"] = {name: value for name, value in erasure.digests.items() if name != _KEY}
    return keyed_digest(secret, "erasure\n" + json.dumps(plain, sort_keys=True))
