"""Certificates: a signed word on what was removed, for whoever asked for it. They tell how much,
and never what or whose."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from tacit.clock import from_micros
from tacit.errors import InvalidInput
from tacit.lifecycle.remnants import NOTES
from tacit.lifecycle.tombstones import Noted, certificate_key, key_of_gone_space
from tacit.records.results import Certificate, PendingErasure
from tacit.storage import erasures
from tacit.storage.spaces import keyed_digest

_NAMES = {"id", "scope", "erased_at", "counts", "complete", "pending", "signature"}


def issue(done: Noted, pending: Sequence[PendingErasure]) -> Certificate:
    bare = Certificate(
        id=done.erasure.id,
        scope=done.erasure.scope,
        erased_at=from_micros(done.erasure.erased_at),
        counts=dict(done.counts),
        complete=not pending,
        pending=tuple(pending),
        signature="",
    )
    return Certificate(**{**bare.fields, "signature": _signature(done.key, bare.to_json())})


def verify(connection: Connection, space: str, text: object) -> bool:
    """Whether this space, or one that was erased from this database, issued it as it stands."""
    return _key(connection, space, _parsed(text)) is not None


def issued(connection: Connection, space: str, text: object) -> tuple[Noted, bool]:
    """The erasure that a genuine certificate is about, with the counts that it tells; and whether
    the notes of a space that is gone could be removed: nothing tells later which files were its.
    """
    plain = _parsed(text)
    key = _key(connection, space, plain)
    id = str(plain["id"])
    erasure = erasures.get_erasure(connection, space, id) or erasures.get_erasure_of_erased_space(
        connection, id
    )
    counts = plain["counts"]
    if key is None or erasure is None or not isinstance(counts, dict):
        raise InvalidInput("certificate", "is not genuine: hand in the text that an erasure gave")
    mirrored = erasure.scope != "space" or f'"{NOTES.where}"' not in json.dumps(plain["pending"])
    return Noted(erasure=erasure, key=key, count=0, counts=counts), mirrored


def _key(connection: Connection, space: str, plain: Mapping[str, object]) -> str | None:
    """That it was signed with; None where it is not genuine."""
    bare = json.dumps({**plain, "signature": ""}, sort_keys=True)
    keys = [key_of_gone_space(erasures.get_erasure_of_erased_space(connection, str(plain["id"])))]
    secret = erasures.list_space_secrets(connection).get(space)
    if secret is not None:
        keys.append(certificate_key(secret))
    given = str(plain["signature"])
    for key in keys:
        if key and hmac.compare_digest(_signature(key, bare), given):
            return key
    return None


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
    return keyed_digest(key, "certificate\n" + bare)
