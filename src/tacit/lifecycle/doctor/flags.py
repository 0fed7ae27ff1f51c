"""What is settled before the disclosure rules and kept in columns, beside what it follows from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from tacit.lifecycle.doctor.check import Case, Check, Patient, each
from tacit.policy.predicate import ROLE_WITHHELD
from tacit.storage import integrity, revisions, spaces
from tacit.storage.memories import (
    SELECT_KEYED,
    Transaction,
    key_precedence,
    update_precedence_of_people,
)
from tacit.storage.schema import chats_table, memories_table, memory_people
from tacit.storage.spaces import load_identities

_M = memories_table.c
_P = memory_people.c


def _shadowed(connection: Connection, patient: Patient) -> Iterator[Case]:
    """The values of each key that one person has, under all of their identities."""
    identities = integrity.load_all_identities(connection, patient.space)
    values: dict[tuple[frozenset[str], str, str], list[Any]] = {}
    owned = SELECT_KEYED.where(_M.space_id == patient.space, _M.owner.is_not(None))
    for row in connection.execute(owned):
        person = identities.current_identities(row.owner)
        if len(person) > 1 or row.shadowed:
            values.setdefault((person, row.category, row.key), []).append(row)
    for rows in values.values():
        winner = max(rows, key=key_precedence)
        for row in rows:
            if bool(row.shadowed) != (row.owner != winner.owner):
                yield Case((row.owner,), row.id)


def _settle(w: Transaction, cases: Sequence[Case]) -> int:
    """Each person once, whatever was found of theirs."""
    who = {one for case in cases for one in case.key}
    spaces.increment_identity_revision(w.connection, w.space)
    found = load_identities(w.connection, w.space, who)
    update_precedence_of_people(
        w.connection, w.space, found, {i for one in who for i in found.current_identities(one)}
    )
    return len(cases)


SHADOWED = Check(
    name="shadowed-keys",
    description="values of a key count as current, or do not, against what the person's identities say",
    remedy="settles again which value counts",
    find=_shadowed,
    repair=_settle,
    waits_for_writers=True,
)

_KEPT_FROM = (
    select(_P.memory_id, _P.person, _M.withheld_unknown)
    .join(memories_table, (_M.space_id == _P.space_id) & (_M.id == _P.memory_id))
    .where(_P.role == ROLE_WITHHELD)
)


def _unknown(connection: Connection, patient: Patient) -> Iterator[Case]:
    identities = integrity.load_all_identities(connection, patient.space)
    people: dict[str, list[str]] = {}
    flag: dict[str, bool] = {}
    for row in connection.execute(_KEPT_FROM.where(_P.space_id == patient.space)):
        people.setdefault(row.memory_id, []).append(row.person)
        flag[row.memory_id] = bool(row.withheld_unknown)
    for id, who in people.items():
        if flag[id] == all(identities.is_recognizable(one) for one in who):
            yield Case(tuple(who), id)


UNKNOWN = Check(
    name="withheld-unknown",
    description="memories are withheld from somebody, and it is noted wrongly whether we know them",
    remedy="settles it again from the links that hold",
    find=_unknown,
    repair=_settle,
    waits_for_writers=True,
)


def _confidential(connection: Connection, patient: Patient) -> Iterator[Case]:
    for row in integrity.list_broken_rows(connection, integrity.CHAT_MISMATCH, patient.space):
        yield Case((row.id,), row.id, repairable=bool(row.confidential))


def _keep_in(w: Transaction, case: Case) -> bool:
    """Only ever stricter: that a chat is confidential no more is for `set_confidential` to say."""
    (id,) = case.key
    chat = (chats_table.c.space_id == _M.space_id) & (chats_table.c.id == _M.learned_in)
    strict = select(chats_table.c.id).where(chat, chats_table.c.confidential.is_(True)).exists()
    one = update(memories_table).where(_M.space_id == w.space, _M.id == id, strict)
    if w.connection.execute(one.values(confidential=True)).rowcount:
        revisions.restamp_memories(w.connection, w.space, [id])
    return True


CONFIDENTIAL = Check(
    name="confidential",
    description="memories and the chat they come from disagree on whether it is confidential",
    remedy="makes memories of a confidential chat confidential; the other way round, say anew "
    "whether the chat is",
    find=_confidential,
    repair=each(_keep_in),
    waits_for_writers=True,
)
