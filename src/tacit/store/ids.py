"""Ids, and the keyed hashes that keep an erased id from ever being used again."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import string
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from tacit import limits

# In the order of their codes: ids of later seconds sort behind those of earlier ones.
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SECOND_CHARS = 5  # enough for 29 years; then they begin again
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


def new_id() -> str:
    return _in_letters(secrets.randbelow(len(_ALPHABET) ** limits.ID_CHARS), limits.ID_CHARS)


def memory_id(at: datetime) -> str:
    """The second it was made in, which its record tells anyway, then chance: what is written one
    after the other lies side by side in every index, however large the store."""
    rest = limits.ID_CHARS - _SECOND_CHARS
    return _second(at.replace(microsecond=0)) + _in_letters(
        secrets.randbelow(len(_ALPHABET) ** rest), rest
    )


def within_second(at: datetime) -> tuple[str, str]:
    """The first and the last id that a memory made in this second may have."""
    rest = limits.ID_CHARS - _SECOND_CHARS
    begun = _second(at.replace(microsecond=0))
    return begun + _ALPHABET[0] * rest, begun + _ALPHABET[-1] * rest


@lru_cache(maxsize=4)
def _second(at: datetime) -> str:
    seconds = (at - _EPOCH) // _SECOND % len(_ALPHABET) ** _SECOND_CHARS
    return _in_letters(seconds, _SECOND_CHARS)


def _in_letters(number: int, count: int) -> str:
    chars = []
    for _ in range(count):
        number, at = divmod(number, len(_ALPHABET))
        chars.append(_ALPHABET[at])
    return "".join(reversed(chars))


def digest(secret: str, id: str) -> str:
    """Recognises an id without telling it; the key never leaves the space's row."""
    return hmac.digest(bytes.fromhex(secret), id.encode(), "sha256").hex()


def audience_id(people: frozenset[str]) -> str:
    """The name of a set of listeners: equal sets share it."""
    return hashlib.sha256("\n".join(sorted(people)).encode()).hexdigest()[:32]
