"""What somebody wanted done once, and was: found again by a hash of the key they gave it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, text, tuple_, update

from tacit.clock import to_micros
from tacit.errors import Conflict, NotFound
from tacit.records.request import Request
from tacit.store import rendered
from tacit.store.tables import done_memories, done_once
from tacit.store.writes import Writing

GONE = ""  # the fingerprint of what was erased
_O = done_once.c
_I = done_memories.c
_FIND = select(_O.person, _O.fingerprint, _O.result, _O.at).where(
    _O.space_id == bindparam("space"),
    _O.person.in_(bindparam("who", expanding=True)),
    _O.token == bindparam("token"),
)
_IDS = select(_I.position, _I.memory_id).where(
    _I.space_id == bindparam("space"),
    _I.person == bindparam("person"),
    _I.token == bindparam("token"),
)
_ADD = text(
    "INSERT INTO done_once (space_id, person, token, fingerprint, result, at) "
    "VALUES (:space, :person, :token, :fingerprint, :result, :at)"
)
# Unless it went with what was done: who forgets what waits for a yes leaves nothing of it.
_ADD_ID = text(
    "INSERT INTO done_memories (space_id, person, token, position, memory_id) "
    "SELECT space_id, CAST(:person AS text), CAST(:token AS text), CAST(:position AS integer), id "
    "FROM memories WHERE space_id = :space AND id = :memory_id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The hash of a key, and of what was asked with it."""

    token: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    result: Mapping[str, Any]
    ids: Mapping[int, str]  # by their place among those that were noted; without what is gone


def find(connection: Connection, request: Request, wanted: Wanted) -> Done | None:
    """What came of it, whichever of their identities asked. Conflict where the key was given for
    something else; NotFound where what came of it is erased."""
    params = {"space": request.space, "who": sorted(request.own_identities), "token": wanted.token}
    rows = rendered.rows(connection, _FIND, params)
    if not rows:
        return None
    same = [row for row in rows if row[1] == wanted.fingerprint]
    if not same:
        if any(row[1] == GONE for row in rows):
            raise NotFound
        raise Conflict("this key was given for another request: take a new key for each")
    person, _, result, _ = min(same, key=itemgetter(3, 0))  # of identities that are one by now
    one = {"space": request.space, "person": person, "token": wanted.token}
    return Done(result=json.loads(result), ids=dict(rendered.rows(connection, _IDS, one)))


def take_turns(w: Writing, wanted: Wanted) -> None:
    """Those of one name get in the way of each other's row: one of them begins again, and finds it.
    Whoever has several names takes turns."""
    if len(w.request.own_identities) > 1:
        what = f"{w.space} once {w.request.requester} {wanted.token}"
        w.dialect.acquire_lock(w.connection, what)


def add(
    w: Writing,
    person: str | None,
    wanted: Wanted,
    told: Mapping[str, Any],
    ids: Sequence[str | None],
) -> None:
    """In the transaction of what was done; under the name that they asked by, so that whoever is
    linked or unlinked since still finds their own."""
    key = {"space": w.space, "person": person, "token": wanted.token}
    done = {"fingerprint": wanted.fingerprint, "result": json.dumps(told), "at": to_micros(w.at)}
    named = [
        (_ADD_ID, {**key, "position": position, "memory_id": id})
        for position, id in enumerate(ids)
        if id is not None
    ]
    rendered.run(w.connection, [(_ADD, {**key, **done}), *named])


def forget(connection: Connection, space: str, ids: Collection[str]) -> None:
    """Before these memories are erased. That something was done stays known, so that it is not
    done again; what was asked does not."""
    about = select(_I.person, _I.token).where(_I.space_id == space, _I.memory_id.in_(ids))
    key = tuple_(_O.person, _O.token)
    these = update(done_once).where(_O.space_id == space, key.in_(about))
    connection.execute(these.values(fingerprint=GONE, result="{}"))


def forget_all(connection: Connection, space: str, who: Collection[str]) -> None:
    """The same of everything that somebody asked for."""
    theirs = update(done_once).where(_O.space_id == space, _O.person.in_(sorted(who)))
    connection.execute(theirs.values(fingerprint=GONE, result="{}"))
    ids = delete(done_memories).where(_I.space_id == space, _I.person.in_(sorted(who)))
    connection.execute(ids)
