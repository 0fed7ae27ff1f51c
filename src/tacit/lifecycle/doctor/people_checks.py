"""Check people and references: audiences, speakers, duplicate people, orphans, links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, bindparam, func, or_, select

from tacit.errors import Conflict, InvalidInput
from tacit.identity import PERSON_PREFIX, Identities
from tacit.lifecycle.doctor.check import (
    DOCTOR_ACTOR,
    DoctorCheck,
    DoctorContext,
    Problem,
    get_audience_id,
    repair_each,
    repair_memory,
)
from tacit.records.accounts import Link, LinkKind, NameKind
from tacit.records.conversation import Role
from tacit.records.memory import HistoryEvent, Memory
from tacit.storage import integrity, memories, people
from tacit.storage.engine import delete_rows, has_row, insert_missing, select_set, to_record, update_rows
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import audience_id, unpack_people
from tacit.storage.schema import (
    audience_people,
    chat_members,
    identity_links,
    memories_table,
    memory_people,
    memory_versions,
    metadata,
    people_table,
    person_names,
)
from tacit.storage.spaces import load_identities, restamp_memories

# Audiences: the id is a hash of the people in it, so each one can be verified.

_M = memories_table.c
_V = memory_versions.c
_A = audience_people.c
_C = chat_members.c
_AUDIENCE_ROWS = select(_M.id, _M.audience).where(_M.space_id == bindparam("space"), _M.audience.is_not(None))
_VERSION_AUDIENCE_ROWS = (
    select(_V.memory_id, _V.audience).where(_V.space_id == bindparam("space"), _V.audience.is_not(None)).distinct()
)


def _find_missing_audiences(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    space = context.space
    sets = integrity.read_audiences(connection, space)
    referred = integrity.list_referenced_audiences(connection, space)
    wrong = {one for one in referred if audience_id(frozenset(sets.get(one, ()))) != one}
    found: dict[tuple[str, str], None] = {}
    for statement in (_AUDIENCE_ROWS, _VERSION_AUDIENCE_ROWS) if wrong else ():
        rows = connection.execute(statement, {"space": space})
        found |= {(audience, id): None for id, audience in rows if audience in wrong}
    return (Problem((audience, id), id) for audience, id in sorted(found))


def _repair_audiences(tx: Transaction, problems: Sequence[Problem]) -> int:
    """Rebuild what can be verified first: another memory may prove the same audience."""
    for problem in problems:
        _rebuild_audience(tx, *problem.key)
    for problem in problems:
        audience, id = problem.key
        if audience_id(_audience_members(tx, audience)) != audience:
            _clear_audience(tx, audience, id)
    return len(problems)


def _rebuild_audience(tx: Transaction, audience: str, id: str) -> None:
    """Rebuild an audience from the chat's members at that time, if the hash matches.

    Existing rows that do not match may be cached by a process, so such an audience is given up
    instead.
    """
    memory = None if _audience_members(tx, audience) else memories.get_for_update(tx, id)
    if memory is None:
        return
    made = select(_M.created_at).where(_M.space_id == tx.space, _M.id == id).scalar_subquery()
    members = select(_C.person).where(
        _C.space_id == tx.space,
        _C.chat == (memory.learned_in or ""),
        _C.joined_at <= made,
        or_(_C.left_at.is_(None), _C.left_at > made),
    )
    then = frozenset(tx.connection.execute(members).scalars())
    if then and audience_id(then) == audience:
        rows = [{"audience": audience, "person": one} for one in sorted(then)]
        insert_missing(tx.connection, audience_people, tx.space, rows)


def _clear_audience(tx: Transaction, audience: str, id: str) -> None:
    """Make the memory visible to no audience, now and in its versions."""
    heard = (_V.memory_id == id, _V.audience == audience)
    update_rows(tx.connection, memory_versions, tx.space, *heard, audience=None)
    memory = memories.get_for_update(tx, id)
    if memory is None or get_audience_id(tx, id) != audience:
        return
    if memory.is_turn:
        restamp_memories(tx.connection, tx.space, [id])  # for those who could see it
        update_rows(tx.connection, memories_table, tx.space, _M.id == id, audience=None)
        integrity.reindex_memory(tx, memory, None)
    else:
        unheard = replace(memory, heard_by=frozenset())
        memories.update_fields(tx, unheard, HistoryEvent.UPDATE, None, {"fields": "heard_by"})


def _audience_members(tx: Transaction, audience: str) -> frozenset[str]:
    of = select(_A.person).where(_A.space_id == tx.space, _A.audience == audience)
    return frozenset(tx.connection.execute(of).scalars())


AUDIENCES_CHECK = DoctorCheck(
    name="audiences",
    description="memories have an audience that is missing or wrong",
    remedy="restores the set where the chat's members prove it; otherwise no person counts as having heard them",
    find=_find_missing_audiences,
    repair=_repair_audiences,
    waits_for_writers=True,
)


def _find_unused_audiences(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    sets = integrity.read_audiences(connection, context.space)
    used = integrity.list_referenced_audiences(connection, context.space)
    return (Problem((audience,)) for audience in sorted(sets.keys() - used))


def _delete_unused_audiences(tx: Transaction, problems: Sequence[Problem]) -> int:
    """Delete unused audiences. The space is locked, so no write refers to them meanwhile."""
    used = integrity.list_referenced_audiences(tx.connection, tx.space)
    gone = [problem.key[0] for problem in problems if problem.key[0] not in used]
    delete_rows(tx.connection, audience_people, tx.space, _A.audience.in_(gone))
    return len(problems)


UNUSED_AUDIENCES_CHECK = DoctorCheck(
    name="unused-audiences",
    description="audiences belong to no memory",
    remedy="deletes them",
    find=_find_unused_audiences,
    repair=_delete_unused_audiences,
    batch_count=500,  # each batch scans everything
    waits_for_writers=True,
)


# Memories that people stated about themselves in private, without a recorded speaker.

_WORDING_ROWS = select(_V.memory_id, _V.speaker, _V.actor).join(
    memories_table, (_M.space_id == _V.space_id) & (_M.id == _V.memory_id) & (_M.version == _V.version)
)


def _find_missing_speakers(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    rows = integrity.list_broken_rows(connection, integrity.WITHOUT_SPEAKER, context.space)
    identities = integrity.load_all_identities(connection, context.space) if rows else Identities()
    for row in rows:
        if unpack_people(row.subjects) - identities.current_identities(row.owner):
            continue  # also about another person
        of = (_V.space_id == context.space, _V.memory_id == row.id)
        worded = connection.execute(_WORDING_ROWS.where(*of)).first()
        who = _infer_speaker(row.owner, row.role, worded, identities)
        yield Problem((row.id,), row.id, repairable=who is not None)


def _infer_speaker(owner: str, role: str | None, worded: Any, identities: Identities) -> str | None:
    """Return the owner if the current wording has a speaker or was written by the owner."""
    if worded is None:
        return None
    mine = identities.current_identities(owner)
    if worded.speaker is not None:
        return str(worded.speaker) if worded.speaker in mine else None
    own = role in (None, Role.USER.value) and worded.actor in mine
    return str(worded.actor) if own else None


def _set_speaker(tx: Transaction, memory: Memory) -> bool:
    if memory.speaker is not None or memory.owner is None:
        return True
    of = (_V.space_id == tx.space, _V.memory_id == memory.id)
    worded = tx.connection.execute(_WORDING_ROWS.where(*of)).first()
    who = _infer_speaker(memory.owner, memory.role, worded, load_identities(tx.connection, tx.space, [memory.owner]))
    if who is None:
        return False
    spoken = replace(memory, speaker=who)
    memories.update_fields(tx, spoken, HistoryEvent.UPDATE, None, {"fields": "speaker"})
    now = (*of, _V.version == memory.version)
    update_rows(tx.connection, memory_versions, tx.space, *now, speaker=who)
    return True


SPEAKERS_CHECK = DoctorCheck(
    name="speakers",
    description="memories of a person about themselves have no speaker",
    remedy="sets the speaker where its wording tells it; otherwise correct the memory in its owner's private chat",
    find=_find_missing_speakers,
    repair=repair_memory(_set_speaker),
)


# People who are stored twice: the same name, known to the same person.

_N = person_names.c
_P = memory_people.c
_PEOPLE = people_table.c
_NAME_KINDS = [NameKind.NAME.value, NameKind.USERNAME.value, NameKind.ALIAS.value]
_NAMED_PEOPLE = (_N.known_to != "", _N.kind.in_(_NAME_KINDS), _N.person.like(f"{PERSON_PREFIX}:%"))


def _find_duplicate_people(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    space = context.space
    several = (
        select(_N.known_to, _N.folded)
        .where(_N.space_id == space, *_NAMED_PEOPLE)
        .group_by(_N.known_to, _N.folded)
        .having(func.count(_N.person.distinct()) > 1)
    )
    groups = connection.execute(several).all()
    identities = integrity.load_all_identities(connection, space) if groups else Identities()
    seen: set[str] = set()
    for known_to, folded in groups:
        who = select(_N.person).where(
            _N.space_id == space, _N.known_to == known_to, _N.folded == folded, *_NAMED_PEOPLE
        )
        # Of people that secrets are kept from, one of that name need not be the person meant.
        withheld = select(_N.person).where(
            _N.space_id == space, _N.known_to == known_to, _N.kind == NameKind.WITHHELD.value
        )
        found = select_set(connection, who.except_(withheld))
        yield from _duplicates_among(connection, space, identities, found - seen)
        seen |= found


def _duplicates_among(connection: Connection, space: str, identities: Identities, found: set[str]) -> Iterator[Problem]:
    """Yield all but one of these people.

    They are the same without doubt if memories mention at most one of them.
    """
    heads = {identities.person_id(one) for one in found}
    if len(heads) < 2:
        return
    told = [one for one in sorted(heads) if _is_mentioned(connection, space, identities.current_identities(one))]
    made = select(_PEOPLE.id).where(_PEOPLE.space_id == space, _PEOPLE.id.in_(heads))
    earliest = made.order_by(_PEOPLE.created_at, _PEOPLE.id).limit(1)
    first = told[0] if told else connection.execute(earliest).scalar() or min(heads)
    for one in sorted(heads - {first}):
        alone = len(identities.current_identities(one)) == 1 and one.startswith(f"{PERSON_PREFIX}:")
        yield Problem((one, first), repairable=len(told) < 2 and alone)


def _is_mentioned(connection: Connection, space: str, who: Sequence[str] | frozenset[str]) -> bool:
    of = select(_P.memory_id).where(_P.space_id == space, _P.person.in_(sorted(who)))
    return has_row(connection, of)


def _merge_people(tx: Transaction, problem: Problem) -> bool:
    """Merge two people; `unmerge_people` undoes it."""
    source, target = problem.key
    if _is_mentioned(tx.connection, tx.space, [source]):
        return False
    try:
        people.begin_link(tx, source, target, LinkKind.MERGE, actor=DOCTOR_ACTOR)
    except (Conflict, InvalidInput):
        return False  # it was changed meanwhile
    return True


DUPLICATE_PEOPLE_CHECK = DoctorCheck(
    name="duplicate-people",
    description="people are stored twice, with the same name known to the same person",
    remedy="merges those of whom nothing is told, which can be undone; where something is told of "
    "each, say which are one with `tacit merge`",
    find=_find_duplicate_people,
    repair=repair_each(_merge_people),
    waits_for_writers=True,
)


# References to rows that do not exist, and cycles.

_I = identity_links.c


def _find_orphans(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    for table, column in integrity.list_dependents():
        for id in integrity.list_orphans(connection, context.space, table, column):
            yield Problem((table.name, column, id))  # its memory is gone, so there is no id


def _delete_orphan(tx: Transaction, problem: Problem) -> None:
    name, column, id = problem.key
    integrity.delete_orphans(tx.connection, tx.space, metadata.tables[name], column, [id])


ORPHANS_CHECK = DoctorCheck(
    name="orphans",
    description="rows belong to deleted memories",
    remedy="removes them",
    find=_find_orphans,
    repair=repair_each(_delete_orphan),
)


def _find_broken_successors(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    """Find pointers to nothing, and of every cycle the newest link, which is cut."""
    rows = integrity.list_broken_rows(connection, integrity.SUCCESSORS, context.space)
    leads = {row.id: row.superseded_by for row in rows}
    moved = {row.id: (row.updated_at, row.id) for row in rows}
    for row in rows:
        if not row.has_successor:
            yield Problem((row.id, row.superseded_by), row.id)
    for circle in find_cycles(leads):
        last = max(circle, key=lambda id: moved[id])
        yield Problem((last, leads[last]), last)


def find_cycles(leads: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield every cycle once, visiting each link once."""
    done: set[str] = set()
    for start in leads:
        path: list[str] = []
        on_path: dict[str, int] = {}
        one: str | None = start
        while one is not None and one not in done and one not in on_path:
            on_path[one] = len(path)
            path.append(one)
            one = leads.get(one)
        if one is not None and one in on_path:
            yield path[on_path[one] :]
        done |= on_path.keys()


def _clear_successor(tx: Transaction, problem: Problem) -> None:
    id, target = problem.key
    memory = memories.get_for_update(tx, id)
    if memory is not None and memory.superseded_by == target:
        alone = replace(memory, superseded_by=None)
        memories.update_fields(tx, alone, HistoryEvent.UPDATE, None, {"fields": "superseded_by"})


SUCCESSORS_CHECK = DoctorCheck(
    name="successors",
    description="memories gave way to something that is not there, or to one another in a circle",
    remedy="clears the reference; no memory is restored by it",
    find=_find_broken_successors,
    repair=repair_each(_clear_successor),
)


def _find_broken_identity_links(connection: Connection, context: DoctorContext) -> Iterable[Problem]:
    """Find, of two links from one identity, the newer; of a cycle, the newest."""
    current = select(_I.id, _I.source, _I.target, _I.created_at).where(
        _I.space_id == context.space, _I.ended_at.is_(None)
    )
    leads: dict[str, str] = {}
    newest: dict[str, tuple[int, str]] = {}
    problems = []
    for row in connection.execute(current.order_by(_I.created_at, _I.id)):
        if row.source in leads:
            problems.append(Problem((row.id,)))
        else:
            leads[row.source] = row.target
            newest[row.source] = (row.created_at, row.id)
    cut = (max(newest[source] for source in circle)[1] for circle in find_cycles(leads))
    return [*problems, *(Problem((id,)) for id in cut)]


def _end_identity_link(tx: Transaction, problem: Problem) -> None:
    """End a link as `unlink` does, with all that follows from it."""
    (id,) = problem.key
    one = select(identity_links).where(_I.space_id == tx.space, _I.id == id, _I.ended_at.is_(None))
    row = tx.connection.execute(one).first()
    if row is not None:
        people.update_link(tx, replace(to_record(Link, row), ended_at=tx.at))


IDENTITY_LINKS_CHECK = DoctorCheck(
    name="identity-links",
    description="identities are linked in a cycle, or to two others at once",
    remedy="ends the newest of the links; it stays in the record",
    find=_find_broken_identity_links,
    repair=repair_each(_end_identity_link),
    waits_for_writers=True,
)
