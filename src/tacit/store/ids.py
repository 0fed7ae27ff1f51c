"""Random ids, and the keyed hashes that keep an erased id from ever being used again."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import string

from tacit import limits

_ALPHABET = string.ascii_letters + string.digits


def new_id() -> str:
    number = secrets.randbelow(len(_ALPHABET) ** limits.ID_CHARS)
    chars = []
    for _ in range(limits.ID_CHARS):
        number, at = divmod(number, len(_ALPHABET))
        chars.append(_ALPHABET[at])
    return "".join(chars)


def digest(secret: str, id: str) -> str:
    """Recognises an id without telling it; the key never leaves the space's row."""
    return hmac.digest(bytes.fromhex(secret), id.encode(), "sha256").hex()


def audience_id(people: frozenset[str]) -> str:
    """The name of a set of listeners: equal sets share it."""
    return hashlib.sha256("\n".join(sorted(people)).encode()).hexdigest()[:32]
