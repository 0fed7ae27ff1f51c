"""Sets of listeners: a name is a hash of the people in it, so that each can be proved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlalchemy import Connection, bindparam, delete, or_, select, update

from tacit.lifecycle.doctor.check import Case, Check, Patient
from tacit.records.memory import HistoryEvent, Memory
from tacit.storage import integrity, memories, revisions
from tacit.storage.memories import Transaction
from tacit.storage.schema import audience_people, chat_members, memories_table, memory_versions
from tacit.storage.spaces import audience_id

_M = memories_table.c
_V = memory_versions.c
_A = audience_people.c
_C = chat_members.c
_HEARERS = select(_M.id, _M.heard).where(_M.space_id == bindparam("space"), _M.heard.is_not(None))
_HEARERS_THEN = (
    select(_V.memory_id, _V.heard)
    .where(_V.space_id == bindparam("space"), _V.heard.is_not(None))
    .distinct()
)


def _missing(connection: Connection, patient: Patient) -> Iterator[Case]:
    space = patient.space
    sets = integrity.read_audiences(connection, space)
    referred = integrity.list_referenced_audiences(connection, space)
    wrong = {one for one in referred if audience_id(frozenset(sets.get(one, ()))) != one}
    found: dict[tuple[str, str], None] = {}
    for statement in (_HEARERS, _HEARERS_THEN) if wrong else ():
        rows = connection.execute(statement, {"space": space})
        found |= {(audience, id): None for id, audience in rows if audience in wrong}
    return (Case((audience, id), id) for audience, id in sorted(found))


def _mend(w: Transaction, cases: Sequence[Case]) -> int:
    """First whatever can be proved: another memory may prove the set that this one refers to."""
    for case in cases:
        _prove(w, *case.key)
    for case in cases:
        audience, id = case.key
        if not _is_whole(w, audience):
            _clear(w, audience, id)
    return len(cases)


def _is_whole(w: Transaction, audience: str) -> bool:
    return audience_id(frozenset(_people(w, audience))) == audience


def _prove(w: Transaction, audience: str, id: str) -> None:
    """Whoever was in the chat then, if that is what the name says. A set that is there and says
    otherwise may be at hand in some process: it is given up instead."""
    memory = None if _people(w, audience) else memories.get_for_update(w, id)
    if memory is None:
        return
    then = frozenset(_there(w, memory.learned_in or "", id))
    if then and audience_id(then) == audience:
        rows = [{"space_id": w.space, "audience": audience, "person": one} for one in sorted(then)]
        w.dialect.insert_missing(w.connection, audience_people, rows)


def _clear(w: Transaction, audience: str, id: str) -> None:
    """Nobody heard it, neither now nor then."""
    of = (_V.space_id == w.space, _V.memory_id == id, _V.heard == audience)
    w.connection.execute(update(memory_versions).where(*of).values(heard=None))
    memory = memories.get_for_update(w, id)
    heard = select(_M.heard).where(_M.space_id == w.space, _M.id == id)
    if memory is not None and w.connection.execute(heard).scalar() == audience:
        _unhear(w, memory)


def _unhear(w: Transaction, memory: Memory) -> None:
    if not memory.is_turn:
        unheard = replace(memory, heard_by=frozenset())
        memories.update_fields(w, unheard, HistoryEvent.UPDATE, None, {"fields": "heard_by"})
        return
    of = (_M.space_id == w.space, _M.id == memory.id)
    revisions.restamp_memories(w.connection, w.space, [memory.id])  # for those who could hear it
    w.connection.execute(update(memories_table).where(*of).values(heard=None))
    integrity.reindex_memory(w, memory, None)


def _people(w: Transaction, audience: str) -> list[str]:
    of = select(_A.person).where(_A.space_id == w.space, _A.audience == audience)
    return list(w.connection.execute(of).scalars())


def _there(w: Transaction, chat: str, id: str) -> list[str]:
    """Who was a member when the memory was made."""
    made = select(_M.created_at).where(_M.space_id == w.space, _M.id == id).scalar_subquery()
    then = select(_C.person).where(
        _C.space_id == w.space,
        _C.chat == chat,
        _C.joined_at <= made,
        or_(_C.left_at.is_(None), _C.left_at > made),
    )
    return list(w.connection.execute(then).scalars())


MISSING = Check(
    name="audiences",
    description="memories name a set of listeners that is missing, or is not the one that heard them",
    remedy="restores the set where the chat's members prove it; otherwise nobody counts as having "
    "heard them",
    find=_missing,
    repair=_mend,
    waits_for_writers=True,
)


def _unused(connection: Connection, patient: Patient) -> Iterator[Case]:
    sets = integrity.read_audiences(connection, patient.space)
    for audience in sorted(
        sets.keys() - integrity.list_referenced_audiences(connection, patient.space)
    ):
        yield Case((audience,))


def _drop(w: Transaction, cases: Sequence[Case]) -> int:
    """Nobody writes meanwhile: what refers to a set now is all that does."""
    used = integrity.list_referenced_audiences(w.connection, w.space)
    gone = [case.key[0] for case in cases if case.key[0] not in used]
    of = (_A.space_id == w.space, _A.audience.in_(gone))
    w.connection.execute(delete(audience_people).where(*of))
    return len(cases)


UNUSED = Check(
    name="unused-audiences",
    description="sets of listeners are left from memories that are gone",
    remedy="removes them: who was together is told by nothing then",
    find=_unused,
    repair=_drop,
    batch_count=500,  # each time it looks through everything
    waits_for_writers=True,
)
