"""Tokens: an id by which something is found, and a secret of which only a hash is kept."""

from __future__ import annotations

import hashlib
import re
import secrets
import string
from dataclasses import dataclass, field
from typing import NamedTuple

_ID_CHARS = 12
_SECRET_BYTES = 32
_LETTERS = string.ascii_letters + string.digits
_TOKEN = re.compile(rf"([a-z]+)_([A-Za-z0-9]{{{_ID_CHARS}}})_([A-Za-z0-9_-]{{43}})", re.ASCII)


class Read(NamedTuple):
    """What a token says of itself, whether or not it opens anything."""

    id: str
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A new one. Its text goes to whoever is to hold it, and nowhere else."""

    id: str
    digest: bytes
    text: str = field(repr=False)


def new(prefix: str) -> Token:
    id = "".join(secrets.choice(_LETTERS) for _ in range(_ID_CHARS))
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    return Token(id=id, digest=_digest(secret), text=f"{prefix}_{id}_{secret}")


def read(prefix: str, token: object) -> Read | None:
    """None where it cannot be one of these."""
    written = _TOKEN.fullmatch(token) if isinstance(token, str) else None
    if written is None or written[1] != prefix:
        return None
    return Read(written[2], _digest(written[3]))


def _digest(secret: str) -> bytes:
    """Of 256 bits of chance: there is nothing to guess, so nothing to slow down."""
    return hashlib.sha256(secret.encode()).digest()
