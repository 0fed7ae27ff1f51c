"""Certificates: a signed word on what was removed, for whoever asked for it. They tell how much,
and never what or whose."""

from __future__ import annotations

import hmac
import json

from sqlalchemy import Connection

from tacit.clock import from_micros
from tacit.errors import InvalidInput
from tacit.lifecycle.tombstones import Noted, certificate_key, key_of_gone_space
from tacit.model.upkeep import Certificate
from tacit.store import erasures
from tacit.store.ids import digest

_NAMES = {"id", "scope", "erased_at", "counts", "complete", "signature"}


def issue(done: Noted, *, complete: bool) -> Certificate:
    bare = Certificate(
        id=done.erasure.id,
        scope=done.erasure.scope,
        erased_at=from_micros(done.erasure.erased_at),
        counts=dict(done.counts),
        complete=complete,
        signature="",
    )
    return Certificate(**{**bare.fields, "signature": _signature(done.key, bare.to_json())})


def verify(connection: Connection, space: str, text: object) -> bool:
    """Whether this space, or one that was erased from this database, issued it as it stands."""
    plain = _parsed(text)
    bare = json.dumps({**plain, "signature": ""}, sort_keys=True)
    keys = [key_of_gone_space(erasures.of_gone_space(connection, str(plain["id"])))]
    secret = erasures.secrets(connection).get(space)
    if secret is not None:
        keys.append(certificate_key(secret))
    given = str(plain["signature"])
    return any(hmac.compare_digest(_signature(key, bare), given) for key in keys if key)


def _parsed(text: object) -> dict[str, object]:
    try:
        plain = json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        plain = None
    if not isinstance(plain, dict) or set(plain) != _NAMES:
        raise InvalidInput("certificate", "is none: hand in the text that an erasure gave")
    if not str(plain["signature"]).isascii():
        raise InvalidInput("certificate", "is none: its signature cannot be read")
    return plain


def _signature(key: str, bare: str) -> str:
    return digest(key, "certificate\n" + bare)
