"""Results of calls with an idempotency key, found again by a hash of the key."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, select, text, tuple_

from tacit.clock import to_micros
from tacit.errors import Conflict, NotFound
from tacit.records.request import Request
from tacit.storage.engine import (
    delete_rows,
    fetch_mappings,
    fetch_rows,
    insert_statement,
    run_statements,
    update_rows,
)
from tacit.storage.memories import Transaction
from tacit.storage.schema import idempotency_keys, idempotency_memories

ERASED = ""  # the fingerprint of what was erased
_O = idempotency_keys.c
_I = idempotency_memories.c
_SELECT_RESULT = select(_O.person, _O.fingerprint, _O.result, _O.at).where(
    _O.space_id == bindparam("space"), _O.person.in_(bindparam("who", expanding=True)), _O.token == bindparam("token")
)
_SELECT_RESULT_IDS = select(_I.position, _I.memory_id).where(
    _I.space_id == bindparam("space"), _I.person == bindparam("person"), _I.token == bindparam("token")
)
_INSERT_RESULT = insert_statement(idempotency_keys)
# Only if the memory still exists: declining a proposal deletes its memory.
_INSERT_RESULT_ID = text(
    "INSERT INTO idempotency_memories (space_id, person, token, position, memory_id) "
    "SELECT space_id, CAST(:person AS text), CAST(:token AS text), CAST(:position AS integer), id "
    "FROM memories WHERE space_id = :space AND id = :memory_id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyKey:
    """Hashes of an idempotency key and of the call."""

    token: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotentResult:
    result: Mapping[str, Any]
    ids: Mapping[int, str]  # by position in the result; without erased memories


def find_result(connection: Connection, request: Request, wanted: IdempotencyKey) -> IdempotentResult | None:
    """Return the stored result for any identity of the requester, None if there is none.

    Raises Conflict if the key was used for another call, NotFound if the result was erased.
    """
    params = {"space": request.space, "who": sorted(request.own_identities), "token": wanted.token}
    rows = fetch_mappings(connection, _SELECT_RESULT, params)
    if not rows:
        return None
    same = [row for row in rows if row["fingerprint"] == wanted.fingerprint]
    if not same:
        if any(row["fingerprint"] == ERASED for row in rows):
            raise NotFound
        raise Conflict("this key was given for another request: take a new key for each")
    # Identities may have been linked since.
    first = min(same, key=lambda row: (row["at"], row["person"]))
    one = {"space": request.space, "person": first["person"], "token": wanted.token}
    return IdempotentResult(
        result=json.loads(first["result"]), ids=dict(fetch_rows(connection, _SELECT_RESULT_IDS, one))
    )


def lock_idempotency_key(tx: Transaction, wanted: IdempotencyKey) -> None:
    """Serialize calls with this key by a person with several identities.

    With one identity the primary key does so: the second insert fails, and the retry finds the row.
    """
    if len(tx.request.own_identities) > 1:
        what = f"{tx.space} once {tx.request.requester} {wanted.token}"
        tx.dialect.acquire_lock(tx.connection, what)


def insert_result(
    tx: Transaction, person: str | None, wanted: IdempotencyKey, told: Mapping[str, Any], ids: Sequence[str | None]
) -> None:
    """Store the result in the transaction of the write, under the identity that made the call."""
    key = {"person": person, "token": wanted.token}
    done = {"fingerprint": wanted.fingerprint, "result": json.dumps(told), "at": to_micros(tx.at)}
    named = [
        (_INSERT_RESULT_ID, {"space": tx.space, **key, "position": position, "memory_id": id})
        for position, id in enumerate(ids)
        if id is not None
    ]
    result = (_INSERT_RESULT, {"space_id": tx.space, **key, **done})
    run_statements(tx.connection, [result, *named])


def remove_memories_from_results(connection: Connection, space: str, ids: Collection[str]) -> None:
    """Clear results of memories that are about to be erased; a repeat still finds the key."""
    about = select(_I.person, _I.token).where(_I.space_id == space, _I.memory_id.in_(ids))
    _clear_results(connection, space, tuple_(_O.person, _O.token).in_(about))


def clear_results_of_people(connection: Connection, space: str, who: Collection[str]) -> None:
    """Clear all results of these people."""
    _clear_results(connection, space, _O.person.in_(sorted(who)))
    delete_rows(connection, idempotency_memories, space, _I.person.in_(sorted(who)))


def _clear_results(connection: Connection, space: str, which: ColumnElement[bool]) -> None:
    update_rows(connection, idempotency_keys, space, which, fingerprint=ERASED, result="{}")
