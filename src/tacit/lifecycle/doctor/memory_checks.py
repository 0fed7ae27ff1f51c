"""Check memories: versions, history, people, keys, states, contradictions, flags, indexes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, and_, func, insert, or_, select

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.learning import memory_writes
from tacit.lifecycle.doctor.check import (
    DOCTOR_ACTOR,
    DoctorCheck,
    DoctorContext,
    Problem,
    find_broken,
    get_audience_id,
    repair_each,
    repair_memory,
    repair_pair,
)
from tacit.lifecycle.duplicates import is_replaced
from tacit.policy.rules import ROLE_MENTIONED, ROLE_SUBJECT, ROLE_WITHHELD
from tacit.records.memory import ChatKind, HistoryEvent, Memory, Sensitivity, State, Visibility
from tacit.storage import integrity, learned_facts, memories, queue, spaces, vectors
from tacit.storage.engine import delete_rows, has_row, run_statements, select_set, update_rows
from tacit.storage.erasures import hard_delete
from tacit.storage.learned_facts import StoredFact
from tacit.storage.memories import SELECT_KEYED, Transaction, key_precedence, update_precedence_of_people
from tacit.storage.memory_reads import unpack_people
from tacit.storage.schema import (
    change_log,
    chats_table,
    embedded_spaces,
    history_table,
    learned_facts_table,
    memories_table,
    memory_people,
    memory_versions,
    thread_revisions,
    vectors_table,
)
from tacit.storage.schema import jobs as jobs_table
from tacit.storage.spaces import load_identities, restamp_memories

# Rows that are written with every memory: versions, history, people, revisions.

_M = memories_table.c
_V = memory_versions.c
_H = history_table.c
_P = memory_people.c
_T = thread_revisions.c
_C = change_log.c


def _repair_versions(tx: Transaction, memory: Memory) -> None:
    """Replace a lost version by the one after it, visible to the owner only.

    The newest version is what the memory says now.
    """
    of = (_V.space_id == tx.space, _V.memory_id == memory.id)
    rows = tx.connection.execute(select(memory_versions).where(*of)).mappings().all()
    found: dict[int, Any] = {row["version"]: dict(row) for row in rows}
    if memory.version not in found and memory.version >= max(found, default=0):
        heard = get_audience_id(tx, memory.id)
        _, now = memories.version_insert(memory, heard, tx.actor, memory.updated_at)
        found[memory.version] = now
        tx.connection.execute(insert(memory_versions).values(now))
    last = max(found)
    strict = {
        "visibility": Visibility.PRIVATE_ONLY.value,
        "sensitivity": Sensitivity.SENSITIVE.value,
        "portable": False,
        "audience": None,
        "actor": DOCTOR_ACTOR,
    }
    following = found[last]
    for number in range(last - 1, 0, -1):
        if number in found:
            following = found[number]
        else:
            lost = {**following, **strict, "version": number}
            tx.connection.execute(insert(memory_versions).values(lost))
    if last != memory.version or found[last]["content"] != memory.content:
        again = replace(memory, version=last + 1, updated_at=tx.at)
        memories.update_content(tx, again, {"fields": "version"})
    else:
        memories.record_event(tx, memory, HistoryEvent.UPDATE, None, {"fields": "versions"})


VERSIONS_CHECK = DoctorCheck(
    name="versions",
    description="memories lack a version",
    remedy="writes the current wording down as a version, and counts a lost one as the one after it",
    find=find_broken(integrity.WITHOUT_CURRENT_VERSION, integrity.VERSION_GAPS),
    repair=repair_memory(_repair_versions),
)


def _repair_history(tx: Transaction, memory: Memory) -> None:
    """Add the missing first entry, dated when the memory was made."""
    of = (_H.space_id == tx.space, _H.memory_id == memory.id)
    begun = select(_H.seq).where(*of, _H.event == HistoryEvent.ADD.value)
    if has_row(tx.connection, begun):
        return
    first = tx.connection.execute(select(func.min(_H.seq)).where(*of)).scalar()
    version = (_V.space_id == tx.space, _V.memory_id == memory.id)
    actor = select(_V.actor).where(*version).order_by(_V.version).limit(1)
    by = tx.connection.execute(actor).scalar() or DOCTOR_ACTOR
    _, row = memories.history_insert(memory, HistoryEvent.ADD, by, memory.created_at)
    seq = 1 if first is None else first - 1
    tx.connection.execute(insert(history_table).values({**row, "seq": seq, "version": 1}))


HISTORY_CHECK = DoctorCheck(
    name="history",
    description="memories have no first history entry",
    remedy="adds one, dated when the memory was made",
    find=find_broken(integrity.WITHOUT_HISTORY),
    repair=repair_memory(_repair_history),
)

_NAMED_PEOPLE = select(_M.id, _M.owner, _M.speaker, _M.subjects, _M.withheld_from, _M.has_withheld, _M.learned_kind)


def _find_people_mismatches(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    """Find memories whose people differ from the rows that index them."""
    for page in integrity.iterate_memory_pages(connection, _NAMED_PEOPLE, context.space):
        rows = select(_P.memory_id, _P.role, _P.person).where(
            _P.space_id == context.space, _P.memory_id.between(page[0].id, page[-1].id)
        )
        indexed: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        for id, role, person in connection.execute(rows):
            indexed[id].add((role, person))
        for row in page:
            about = ROLE_SUBJECT if row.learned_kind == ChatKind.GROUP.value else ROLE_MENTIONED
            default = row.speaker or row.owner
            people = unpack_people(row.subjects) or ({default} if default else set())
            withheld = unpack_people(row.withheld_from)
            named = {(about, one) for one in people} | {(ROLE_WITHHELD, one) for one in withheld}
            readable = row.withheld_from == "[]" or bool(withheld)
            if indexed[row.id] != named or not readable or row.has_withheld != bool(withheld):
                yield Problem((row.id,), row.id, repairable=readable)


def _repair_people(tx: Transaction, memory: Memory) -> None:
    """Keep the people of both sides, so that the memory is withheld from at least as many."""
    of = (_P.space_id == tx.space, _P.memory_id == memory.id)
    kept = select(_P.person).where(*of, _P.role == ROLE_WITHHELD)
    withheld = memory.withheld_from | select_set(tx.connection, kept)
    known = load_identities(tx.connection, tx.space, withheld).is_recognizable
    unknown = not all(known(one) for one in withheld)
    whole = replace(memory, withheld_from=withheld, withheld_unknown=unknown)
    if not memory.is_turn:
        memories.update_fields(tx, whole, HistoryEvent.UPDATE, None, {"fields": "people"})
        return
    # A turn has no history.
    restamp_memories(tx.connection, tx.space, [memory.id])
    delete_rows(tx.connection, memory_people, tx.space, *of)
    run_statements(tx.connection, memories.people_inserts(whole))
    update_rows(
        tx.connection,
        memories_table,
        tx.space,
        _M.id == memory.id,
        withheld_from=withheld,
        has_withheld=bool(withheld),
        withheld_unknown=unknown,
    )
    integrity.reindex_memory(tx, whole, get_audience_id(tx, memory.id))


PEOPLE_CHECK = DoctorCheck(
    name="people",
    description="memories are not indexed under the people they are about, or withheld from",
    remedy="files them again, withheld from everybody whom either side names; where a list of "
    "people cannot be read, the memory stays as it is",
    find=_find_people_mismatches,
    repair=repair_memory(_repair_people),
)


def _find_stale_threads(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    behind = [row.thread for row in integrity.list_broken_rows(connection, integrity.STALE_THREADS, context.space)]
    of = select(_T.thread).where(_T.space_id == _C.space_id, _T.thread == _C.thread)
    without = select(_C.thread).where(_C.space_id == context.space, ~of.exists()).distinct()
    threads = {*behind, *connection.execute(without).scalars()}
    return (Problem((thread,)) for thread in sorted(threads))


def _repair_thread_revision(tx: Transaction, problem: Problem) -> None:
    (thread,) = problem.key
    of = (_C.space_id == tx.space, _C.thread == thread)
    newest = tx.connection.execute(select(func.max(_C.rev)).where(*of)).scalar()
    rev = memories.increment_thread_revision(tx, thread)
    if newest is not None and rev < newest:
        later = max(newest, to_micros(tx.at))
        update_rows(tx.connection, thread_revisions, tx.space, _T.thread == thread, rev=later)


THREAD_REVISIONS_CHECK = DoctorCheck(
    name="thread-revisions",
    description="threads have a revision that is behind their changes",
    remedy="increments the revision",
    find=_find_stale_threads,
    repair=repair_each(_repair_thread_revision),
)


# States that do not fit: keys with two values, purge dates, proposals, parked jobs.

_LIVE_STATES = frozenset({State.ACTIVE, State.PENDING, State.QUARANTINED})
_WORDED_IDS = (
    select(_M.id)
    .outerjoin(memory_versions, and_(_V.space_id == _M.space_id, _V.memory_id == _M.id, _V.version == _M.version))
    .where(_M.state == State.ACTIVE.value)
    .order_by(_V.created_at.desc(), _M.id.desc())
)


def _find_duplicate_keys(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    """Find every active value of a key but the newest, with the newest."""
    for row in integrity.list_broken_rows(connection, integrity.DUPLICATE_KEYS, context.space):
        holder = _M.owner == row.owner if row.owner else _M.learned_in == row.holder
        whose = holder if row.owner else and_(_M.owner.is_(None), holder)
        of = (_M.space_id == context.space, whose, _M.category == row.category, _M.key == row.key)
        newest, *older = connection.execute(_WORDED_IDS.where(*of)).scalars()
        yield from (Problem((id, newest), id) for id in older)


def _supersede_older_value(tx: Transaction, old: Memory, new: Memory) -> None:
    if new.state is State.ACTIVE:
        memory_writes.supersede_memory(tx, old, new.id)


KEYS_CHECK = DoctorCheck(
    name="keys",
    description="memories are older values of a key that has a newer one",
    remedy="marks them as superseded by the newest",
    find=_find_duplicate_keys,
    repair=repair_pair(_supersede_older_value),
)


def _repair_purge_date(tx: Transaction, memory: Memory) -> None:
    later = tx.at + timedelta(days=limits.RESTORABLE_DAYS)
    purge_at = None if memory.state in _LIVE_STATES else memory.purge_at or later
    if purge_at != memory.purge_at:
        dated = replace(memory, purge_at=purge_at)
        memories.update_fields(tx, dated, HistoryEvent.UPDATE, None, {"fields": "purge_at"})


PURGE_DATES_CHECK = DoctorCheck(
    name="purge-dates",
    description="memories are forgotten without a purge date, or active with one",
    remedy=f"gives the former {limits.RESTORABLE_DAYS} days from now, and takes it from the latter",
    find=find_broken(integrity.WRONG_PURGE_DATE),
    repair=repair_memory(_repair_purge_date),
)


def _find_overdue_purges(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    late = context.store.clock() - timedelta(days=limits.PURGE_OVERDUE_DAYS)
    of = (_M.space_id == context.space, _M.purge_at <= to_micros(late))
    for id in connection.execute(select(_M.id).where(*of)).scalars():
        yield Problem((id,), id)


OVERDUE_PURGES_CHECK = DoctorCheck(
    name="overdue-purges",
    description=f"memories should have gone more than {limits.PURGE_OVERDUE_DAYS} days ago",
    remedy="is not for the doctor, because nothing purged comes back: run `tacit purge`, which also "
    "looks at whether the clock leapt",
    find=_find_overdue_purges,
)


def _repair_proposal(tx: Transaction, memory: Memory) -> None:
    """Delete as `forget` does: restoring it would skip the consent."""
    if memory.state is not State.PENDING:
        learned_facts.delete_proposal(tx, memory.id)
    elif integrity.list_broken_rows(
        tx.connection, integrity.PENDING_WITHOUT_PROPOSAL.where(_M.id == memory.id), tx.space
    ):
        hard_delete(tx, [memory.id])


PROPOSALS_CHECK = DoctorCheck(
    name="proposals",
    description="memories wait for consent without a proposal, or have one although they were answered",
    remedy="deletes memories without a proposal, and answered proposals",
    find=find_broken(integrity.PENDING_WITHOUT_PROPOSAL, integrity.ANSWERED_PROPOSALS),
    repair=repair_memory(_repair_proposal),
)


def _find_parked_jobs(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    j = jobs_table.c
    of = (j.space_id == context.space, j.kind == queue.LEARN_JOB, j.parked.is_(True))
    given_up = select(j.thread, j.seq).where(*of)
    return (Problem((thread, str(seq))) for thread, seq in connection.execute(given_up))


def _retry_parked_jobs(tx: Transaction, problems: Sequence[Problem]) -> int:
    queue.unpark_jobs(tx.connection, tx.dialect, tx.space, tx.at)
    return len(problems)


PARKED_JOBS_CHECK = DoctorCheck(
    name="parked-jobs",
    description="turns could not be learned and are parked",
    remedy="queues them again",
    find=_find_parked_jobs,
    repair=_retry_parked_jobs,
    after_repair=lambda context: context.wake(),
)


# Two active memories of one owner that cannot both hold.

_COMPARED_MAX_COUNT = 40  # of one slot, the newest
_CONTRADICTION_REASON = "another value of the same"
_L = learned_facts_table.c
_FACT_ROWS = (
    select(
        _M.id, _M.content, _M.speaker, _M.pinned, _M.updated_at, _M.owner,
        _L.slot, _L.value, _L.negated, _L.about_speaker, _L.about,
    )
    .join(learned_facts_table, and_(_L.space_id == _M.space_id, _L.memory_id == _M.id))
    .outerjoin(
        memory_versions,
        and_(_V.space_id == _M.space_id, _V.memory_id == _M.id, _V.version == _M.version),
    )
    .where(_M.state == State.ACTIVE.value, _M.is_turn.is_(False))
    .order_by(_V.created_at.desc(), _M.id.desc())
    .limit(_COMPARED_MAX_COUNT)
)  # fmt: skip


def _find_contradictions(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    now = to_micros(context.store.clock())
    for slot in integrity.list_broken_rows(connection, integrity.DUPLICATE_SLOTS, context.space):
        of = (_L.space_id == context.space, _L.owner == slot.owner, _L.slot == slot.slot)
        holds = or_(_M.expires_at.is_(None), _M.expires_at > now)
        yield from _contradicting_pairs(connection.execute(_FACT_ROWS.where(*of, holds)).all())


def _contradicting_pairs(newest_first: Any) -> Iterator[Problem]:
    """Yield each older memory once, with the newest one that contradicts it.

    It is repairable if the same person said both and the older one is not pinned.
    """
    seen: list[tuple[Any, StoredFact]] = []
    for old in newest_first:
        fact = StoredFact(old.slot, bool(old.about_speaker), old.value, bool(old.negated), old.about)
        said_at = from_micros(old.updated_at)
        newer = (new for new, of in seen if is_replaced(fact, old.content, said_at, of, new.content))
        by = next(newer, None)
        if by is not None:
            whose = (old.speaker, old.owner)
            same = None not in whose and whose == (by.speaker, by.owner)
            yield Problem((old.id, by.id), old.id, repairable=same and not old.pinned)
        seen.append((old, fact))


def _supersede_contradicted(tx: Transaction, old: Memory, new: Memory) -> bool:
    """Supersede the older one, as learning would have done."""
    if old.state is not State.ACTIVE:
        return True
    if new.state is not State.ACTIVE or old.speaker != new.speaker:
        return False
    memory_writes.supersede_memory(replace(tx, why=_CONTRADICTION_REASON), old, new.id)
    return True


CONTRADICTIONS_CHECK = DoctorCheck(
    name="contradictions",
    description="memories say something that a newer one of the same owner contradicts",
    remedy="lets the older give way where the same person said both and did not pin it; otherwise "
    "ask its owner which holds",
    find=_find_contradictions,
    repair=repair_pair(_supersede_contradicted),
)


# Columns that are derived from other rows and that the disclosure rules read.


def _find_wrong_overridden(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    """Find wrong precedence among one person's values of a key, under all their identities."""
    identities = integrity.load_all_identities(connection, context.space)
    values: defaultdict[tuple[frozenset[str], str, str], list[Any]] = defaultdict(list)
    owned = SELECT_KEYED.where(_M.space_id == context.space, _M.owner.is_not(None))
    for row in connection.execute(owned):
        person = identities.current_identities(row.owner)
        if len(person) > 1 or row.overridden:
            values[person, row.category, row.key].append(row)
    for rows in values.values():
        winner = max(rows, key=key_precedence)
        for row in rows:
            if bool(row.overridden) != (row.owner != winner.owner):
                yield Problem((row.owner,), row.id)


def _repair_key_precedence(tx: Transaction, problems: Sequence[Problem]) -> int:
    """Repair the precedence of each person's keys once."""
    who = {one for problem in problems for one in problem.key}
    spaces.increment_identity_revision(tx.connection, tx.space)
    found = load_identities(tx.connection, tx.space, who)
    update_precedence_of_people(
        tx.connection, tx.space, found, {i for one in who for i in found.current_identities(one)}
    )
    return len(problems)


OVERRIDDEN_KEYS_CHECK = DoctorCheck(
    name="shadowed-keys",
    description="values of a key have the wrong precedence among the person's identities",
    remedy="computes the precedence again",
    find=_find_wrong_overridden,
    repair=_repair_key_precedence,
    waits_for_writers=True,
)

_WITHHELD_ROWS = (
    select(_P.memory_id, _P.person, _M.withheld_unknown)
    .join(memories_table, (_M.space_id == _P.space_id) & (_M.id == _P.memory_id))
    .where(_P.role == ROLE_WITHHELD)
)


def _find_wrong_withheld_unknown(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    identities = integrity.load_all_identities(connection, context.space)
    people: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for row in connection.execute(_WITHHELD_ROWS.where(_P.space_id == context.space)):
        people[row.memory_id, bool(row.withheld_unknown)].append(row.person)
    for (id, unknown), who in people.items():
        if unknown == all(identities.is_recognizable(one) for one in who):
            yield Problem(tuple(who), id)


WITHHELD_UNKNOWN_CHECK = DoctorCheck(
    name="withheld-unknown",
    description="memories are withheld from a person, with a wrong flag for whether that person is known",
    remedy="computes the flag again from the current links",
    find=_find_wrong_withheld_unknown,
    repair=_repair_key_precedence,
    waits_for_writers=True,
)


def _find_wrong_confidential(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    for row in integrity.list_broken_rows(connection, integrity.CHAT_MISMATCH, context.space):
        yield Problem((row.id,), row.id, repairable=bool(row.confidential))


def _make_confidential(tx: Transaction, problem: Problem) -> None:
    """Make memories confidential. Only `set_confidential` may do the opposite."""
    (id,) = problem.key
    chat = (chats_table.c.space_id == _M.space_id) & (chats_table.c.id == _M.learned_in)
    strict = select(chats_table.c.id).where(chat, chats_table.c.confidential.is_(True)).exists()
    this = (_M.id == id, strict)
    if update_rows(tx.connection, memories_table, tx.space, *this, confidential=True):
        restamp_memories(tx.connection, tx.space, [id])


CONFIDENTIAL_CHECK = DoctorCheck(
    name="confidential",
    description="memories and the chat they come from disagree on whether it is confidential",
    remedy="makes memories of a confidential chat confidential; the other way round, say anew whether the chat is",
    find=_find_wrong_confidential,
    repair=repair_each(_make_confidential),
    waits_for_writers=True,
)


# Vectors that are missing, and vectors that no search reads.

_PAGE_COUNT = 500
_VECTORS = vectors_table.c
_PLACED_VECTORS = (
    select(_VECTORS.home_path, _VECTORS.memory_id, _M.owner, _M.learned_in)
    .join(memories_table, (_M.space_id == _VECTORS.space_id) & (_M.id == _VECTORS.memory_id))
    .where(_VECTORS.home_path != vectors.HOME_PATH)
)


def _find_stray_vectors(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    found = connection.execute(_PLACED_VECTORS.where(_VECTORS.space_id == context.space))
    return (Problem((row.home_path, row.memory_id), row.memory_id) for row in found)


def _delete_stray_vector(tx: Transaction, problem: Problem) -> None:
    home, id = problem.key
    of = (_VECTORS.space_id == tx.space, _VECTORS.home_path == home, _VECTORS.memory_id == id)
    if has_row(tx.connection, _PLACED_VECTORS.where(*of)):
        delete_rows(tx.connection, vectors_table, tx.space, *of)
        delete_rows(tx.connection, embedded_spaces, tx.space)
        restamp_memories(tx.connection, tx.space, [id])


STRAY_VECTORS_CHECK = DoctorCheck(
    name="stray-vectors",
    description="vectors belong to an owner who does not have the memory",
    remedy="deletes them; memories without a vector get one",
    find=_find_stray_vectors,
    repair=repair_each(_delete_stray_vector),
    after_repair=lambda context: context.embed() if context.embed else None,
)


def _find_unembedded(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    after = ""
    while context.model is not None:
        some = vectors.list_unembedded(connection, context.space, context.model, after, _PAGE_COUNT)
        yield from (Problem((one.id,), one.id) for one in some)
        if len(some) < _PAGE_COUNT:
            return
        after = some[-1].id


def _mark_incomplete(tx: Transaction, problems: Sequence[Problem]) -> int:
    """Mark the space as incomplete, so that the indexer searches it again."""
    delete_rows(tx.connection, embedded_spaces, tx.space)
    return len(problems)


MISSING_VECTORS_CHECK = DoctorCheck(
    name="missing-vectors",
    description="memories have no vector of the current model, so only full-text search finds them",
    remedy="computes the vectors now",
    find=_find_unembedded,
    repair=_mark_incomplete,
    after_repair=lambda context: context.embed() if context.embed else None,
)


# The full-text index compared with the memories.

_STRAY_ENTRY, _STALE_ENTRY = "stray", "stale"


def _find_index_mismatches(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
    """Find mismatches; stray rows first, because they may block new ones."""
    dialect, space = context.store.database.dialect, context.space
    for number in integrity.list_stray_documents(connection, dialect, space):
        yield Problem((_STRAY_ENTRY, str(number)))
    for id in integrity.list_stale_documents(connection, dialect, space):
        yield Problem((_STALE_ENTRY, id), id)


def _repair_index_entry(tx: Transaction, problem: Problem) -> None:
    kind, which = problem.key
    if kind == _STRAY_ENTRY:
        integrity.delete_stray_document(tx.connection, int(which))
    elif (memory := memories.get_for_update(tx, which)) is not None:
        integrity.reindex_memory(tx, memory, get_audience_id(tx, which))


FTS_INDEX_CHECK = DoctorCheck(
    name="words",
    description="memories have a wrong full-text index",
    remedy="indexes them again, and deletes index rows of deleted memories",
    find=_find_index_mismatches,
    repair=repair_each(_repair_index_entry),
)
