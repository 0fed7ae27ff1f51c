"""Erase memories, people, sources and spaces for good."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, or_, select, update

from tacit.clock import to_micros
from tacit.errors import StoreBusy
from tacit.identity import EXTERNAL_PREFIX
from tacit.lifecycle import erasure_records
from tacit.lifecycle.erasure_records import RecordedErasure, Removal
from tacit.lifecycle.revert import AS_VERSION, Origin, list_learned_wordings, revert_source, update_owner_key
from tacit.records.memory import HistoryEvent, Memory, State, Trust
from tacit.records.results import Erased
from tacit.storage import (
    access_log,
    auth,
    checkpoints,
    episodes,
    erasures,
    idempotency,
    imports,
    memories,
    notes,
    people,
    queue,
    spaces,
)
from tacit.storage.chats import list_private_chats
from tacit.storage.engine import Database, chunks, delete_rows, has_row, select_set, update_rows
from tacit.storage.erasures import hard_delete
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import effective_subjects
from tacit.storage.schema import (
    api_keys,
    audience_people,
    blocks,
    chat_members,
    chats_table,
    declined_proposals,
    derived_from,
    events,
    history_table,
    idempotency_keys,
    learned_facts_table,
    learning_days,
    link_attempts,
    memories_table,
    memory_people,
    memory_versions,
    metadata,
    people_table,
    person_names,
    proposals,
    reflections,
    revisions_table,
    subjects,
    thread_revisions,
    tombstones,
)
from tacit.storage.spaces import audience_path, chat_path, load_identities, person_path, update_note_links_of_many
from tacit.storage.store import Store

# Erase in three steps: delete the rows in one transaction, with a signed record of their hashes;
# append the record to the journal beside the database; then remove the bytes from the files.

_ERASED_AT_ONCE_COUNT = 500
_M = memories_table.c


def erase_memory(tx: Transaction, memory: Memory, *, turns: bool = False) -> RecordedErasure:
    """Erase a memory, and for its owner or an operator also what it stood for.

    That is: what it superseded, the values of its key under the owner's other identities and, with
    `turns`, the turns that a summary is made of and those of its thread that wait to be learned.
    Any other requester erases the visible memory alone. The episodes that a memory was learned from
    are erased with it in every case.
    Memories derived from it are erased in every case.
    """
    removal = Removal(scope="memory")
    ids = {memory.id}
    operator = tx.request.requester is None
    own = memory.owner is not None and tx.request.person(memory.owner) == tx.request.requester
    owner = memory.owner or ""
    owners = load_identities(tx.connection, tx.space, [owner]).current_identities(owner)
    if operator or own:
        if turns:  # before the rest, so that a turn which is being learned now is found
            thread = memory.thread or tx.thread
            removal.counts["jobs"] += queue.delete_jobs(tx.connection, tx.space, owners, thread)
        ids |= set(memories.list_key_siblings(tx, memory))
        ids |= erasures.list_superseded(tx.connection, tx.space, ids, owners)
        if turns:
            ids |= _find_source_turns(tx, ids, owners)
    remove_memories(tx, removal, ids)
    update_owner_key(tx, memory.owner, memory.category, memory.key)
    whole = operator or (own and tx.request.private)
    count = None if whole else len(ids) if tx.request.private else 1
    return erasure_records.record_erasure(tx, removal, count=count, whole=whole)


def _find_source_turns(tx: Transaction, ids: set[str], owners: Collection[str]) -> set[str]:
    """Find the episodes these memories were learned from, where they have the same owner."""
    d = derived_from.c
    said = (
        select(d.turn_id)
        .join(memories_table, (_M.space_id == d.space_id) & (_M.id == d.turn_id))
        .where(
            d.space_id == tx.space,
            d.memory_id.in_(sorted(ids)),
            _M.owner.in_(sorted(owners)),
            _M.is_turn.is_(True),  # an insight is derived from memories, which stay
        )
    )
    return select_set(tx.connection, said)


def remove_memories(tx: Transaction, removal: Removal, ids: Iterable[str]) -> None:
    """Delete these memories, the episodes they were learned from and, transitively, what was derived from them."""
    waiting = set(ids) - removal.ids
    while waiting:
        some = sorted(waiting)[:_ERASED_AT_ONCE_COUNT]
        derived = erasures.list_derived_memories(tx.connection, tx.space, some)
        derived |= episodes.list_sources(tx, some)
        removal.counts.update(erasures.count_rows_of_memories(tx.connection, tx.space, some))
        removal.owners |= erasures.list_owners_of(tx.connection, tx.space, some)
        # Not counted: a certificate must not tell how many rows other people have.
        exposed = erasures.read_exposure(tx.connection, tx.space, some)
        checkpoints.delete_exposed_checkpoints(tx.connection, tx.space, exposed)
        checkpoints.delete_exposed_steps(tx.connection, tx.space, exposed)
        erasures.delete_mentions(tx.connection, tx.space, some)
        note_paths = update_note_links_of_many(tx, some)
        derived |= notes.list_summaries_of(tx, note_paths)
        hard_delete(tx, some)
        removal.counts["notes"] += notes.delete_empty_sessions(tx, note_paths)
        removal.ids.update(some)
        waiting = (waiting | derived) - removal.ids


def remove_and_update_keys(tx: Transaction, removal: Removal, ids: Collection[str]) -> None:
    """Delete these memories, and let another value take the place of a deleted keyed one."""
    named: set[tuple[str, str, str]] = set()
    for some in chunks(ids):
        rows = select(_M.owner, _M.category, _M.key).where(
            _M.space_id == tx.space, _M.id.in_(some), _M.key.is_not(None), _M.owner.is_not(None)
        )
        named |= {(owner, category, key) for owner, category, key in tx.connection.execute(rows)}
    remove_memories(tx, removal, ids)
    for owner, category, key in sorted(named):
        update_owner_key(tx, owner, category, key)


def erase_single_memory(tx: Transaction, id: str) -> RecordedErasure:
    """Erase this memory alone, for example out of quarantine."""
    removal = Removal(scope="memory")
    remove_memories(tx, removal, [id])
    return erasure_records.record_erasure(tx, removal)


def erase_owner(tx: Transaction, owners: Collection[str]) -> RecordedErasure:
    return _erase_people(tx, "owned", owners, remove_owned)


def remove_owned(tx: Transaction, removal: Removal, owners: Collection[str]) -> None:
    """Delete all that belongs to these identities of one person.

    Besides memories: notes, checkpoints, queued turns, unprocessed channel updates, link codes and
    web sessions.
    """
    theirs = (tx.connection, tx.space, owners)
    removal.counts.update(
        web_sessions=auth.end_web_sessions(*theirs),
        link_offers=auth.delete_link_offers(*theirs),
        updates=queue.clear_updates_of_people(tx, owners),
        jobs=queue.delete_jobs(*theirs),
        checkpoints=checkpoints.delete_checkpoints(*theirs, None),
        graph_steps=checkpoints.delete_steps_of_people(*theirs),
        imports=imports.delete_imports_of_people(*theirs),
    )
    idempotency.clear_results_of_people(*theirs)
    removal.counts.update(notes.erase_notes(tx, owners))
    remove_memories(tx, removal, _select_ids(tx, _M.owner.in_(sorted(owners))))


def erase_space(connection: Connection, store: Store, space: str) -> RecordedErasure | None:
    """Delete every row of a space, its tombstones and secret included.

    Return None where the space does not exist.
    """
    spaces.lock_space(connection, space)
    secret = imports.get_space_secret(connection, space)
    store.database.dialect.unindex_space(connection, space)
    tables = reversed(metadata.sorted_tables)
    counts = Counter({table.name: delete_rows(connection, table, space) for table in tables})
    if secret is None:
        return None
    at = to_micros(store.clock())
    return erasure_records.record_space_erasure(connection, secret, space, counts, at)


def finish_erasure(store: Store, done: RecordedErasure, *, again: bool = False, mirrored: bool = True) -> Erased:
    """Complete an erasure after its rows are gone: journal, bytes in files, mirrored notes.

    `again`: the erasure is recorded already, but its bytes may still be there. `mirrored`: whether
    the caller removed the files that it is responsible for.
    """
    if not again:
        erasure_records.append_to_journal(store.journal, [done.erasure])
    worked = [mirrored, *(work() for work in store.after_erasure)]
    scrub_files(store.database)
    pending = erasure_records.list_pending(store.database, done.erasure.id)
    issued = erasure_records.issue_certificate(
        done, pending if all(worked) else (*pending, erasure_records.PENDING_NOTES)
    )
    return Erased(count=done.count, complete=issued.complete, certificate=issued)


def scrub_files(database: Database) -> bool:
    """Clean the database files without rewriting tables.

    Return False while another process still reads the old rows.
    """
    try:
        with database.autocommit_connection() as connection:
            before = [id for id, left in erasures.list_unfinished(connection).items() if left is None]
            done = database.dialect.scrub(connection)
    except StoreBusy:
        done = False

    def note(connection: Connection) -> None:
        unscrubbed = update(tombstones).where(tombstones.c.scrubbed.is_(False))
        connection.execute(unscrubbed.values(scrubbed=True))
        erasures.mark_cleaned(connection, before, database.dialect.remains_after_scrub)

    if done:
        database.write(note)
    return done


# Erase a person (what they own and every trace of them) or a subject (what is about them, of any
# owner). Only operators may: people do not see what others say about them.

ERASED_PERSON = "somebody"  # replaces an erased person in the history of other people's memories


def erase_person(tx: Transaction, identities: Collection[str]) -> RecordedErasure:
    return _erase_people(tx, "person", identities, remove_person)


def erase_subject(tx: Transaction, identities: Collection[str]) -> RecordedErasure:
    return _erase_people(tx, "subject", identities, remove_subject)


def _erase_people(
    tx: Transaction, scope: str, who: Collection[str], remove: Callable[[Transaction, Removal, Collection[str]], None]
) -> RecordedErasure:
    removal = Removal(scope=scope, people=set(who))
    remove(tx, removal, who)
    return erasure_records.record_erasure(tx, removal)


def remove_person(tx: Transaction, removal: Removal, identities: Collection[str]) -> None:
    """Delete a person's memories, names, proposals, chats, API keys and access log entries.

    Links stay, and so do audiences of what others said: they withhold a memory from every identity
    that the person ever had.
    """
    who = sorted(identities)
    chats, threads = _find_private_chats(tx, who)
    removal.counts.update(notes.erase_notes(tx, who, chats))
    remove_owned(tx, removal, who)
    _remove_learning(tx, removal, who)
    _remove_statements(tx, removal, who)
    removal.counts.update(
        same_people=people.delete_merges(tx.connection, tx.space, who),
        access_log=access_log.delete_access_log_of_people(tx.connection, tx.space, who),
    )
    n, c, p, e = person_names.c, chat_members.c, people_table.c, events.c
    outside = [one.removeprefix(f"{EXTERNAL_PREFIX}:") for one in who]  # as API keys name them
    empty = chats_table.c.id.not_in(select(c.chat).where(c.space_id == tx.space))
    for table, theirs in (
        (person_names, or_(n.person.in_(who), n.known_to.in_(who))),
        (chat_members, c.person.in_(who)),
        (chats_table, chats_table.c.id.in_(chats) & empty),
        (people_table, or_(p.created_by.in_(who), p.id.in_(who))),
        (subjects, subjects.c.id.in_(who)),
        (idempotency_keys, idempotency_keys.c.person.in_(who)),
        (link_attempts, link_attempts.c.person.in_(who)),
        (api_keys, api_keys.c.requester.in_([*who, *outside])),
        (blocks, blocks.c.thread.in_(threads)),
        (thread_revisions, thread_revisions.c.thread.in_(threads)),
        (events, or_(e.owner.in_(who), e.thread.in_(threads))),
    ):
        _delete_counted(tx, removal, table, theirs)
    sets = _delete_unused_audiences(tx, removal, who)
    paths = [*map(person_path, who), *map(chat_path, chats)]
    paths += map(audience_path, sets)
    _delete_counted(tx, removal, revisions_table, revisions_table.c.access_path.in_(paths))
    spaces.increment_identity_revision(tx.connection, tx.space)


def remove_subject(tx: Transaction, removal: Removal, identities: Collection[str]) -> None:
    """Delete every memory about these identities, in any version, and the names others gave them."""
    who = sorted(identities)
    remove_and_update_keys(tx, removal, erasures.list_memories_about(tx.connection, tx.space, who))
    n, p, m = person_names.c, people_table.c, memory_people.c
    _delete_counted(tx, removal, person_names, n.person.in_(who), n.known_to != "")
    removal.counts["same_people"] += people.delete_merges(tx.connection, tx.space, who)
    named = select(m.person).where(m.space_id == tx.space, m.person.in_(who))
    _delete_counted(tx, removal, people_table, p.id.in_(who), p.id.not_in(named))
    spaces.increment_identity_revision(tx.connection, tx.space)


def _find_private_chats(tx: Transaction, who: list[str]) -> tuple[list[str], list[str]]:
    """Return their private chats and the threads in these."""
    chats = list_private_chats(tx.connection, tx.space, who)
    there = select(_M.thread).where(_M.space_id == tx.space, _M.owner.in_(who), _M.learned_in.in_(chats))
    threads = select_set(tx.connection, there.distinct()) - {None, ""}
    return sorted(chats), sorted(threads | chats)


def _remove_learning(tx: Transaction, removal: Removal, who: list[str]) -> None:
    """Delete their proposals, the facts they declined, and their learning counters."""
    a = proposals.c
    asked = select(a.memory_id).where(a.space_id == tx.space, a.concerns.in_(who))
    remove_memories(tx, removal, tx.connection.execute(asked).scalars().all())
    _delete_counted(tx, removal, declined_proposals, declined_proposals.c.concerns.in_(who))
    for table in (learning_days, reflections):
        _delete_counted(tx, removal, table, table.c.owner.in_(who))


def _remove_statements(tx: Transaction, removal: Removal, who: list[str]) -> None:
    """Delete what they said without an owner; clear them as speaker of other people's memories."""
    said = select(_M.id, _M.owner, _M.is_turn).where(_M.space_id == tx.space, _M.speaker.in_(who))
    rows = tx.connection.execute(said).all()
    remove_memories(tx, removal, [row.id for row in rows if row.owner is None or row.is_turn])
    for memory in memories.lock_memories(tx, [row.id for row in rows]):  # those that are left
        cleared = replace(memory, speaker=None, subjects=effective_subjects(memory))
        memories.update_fields(tx, cleared, HistoryEvent.UPDATE, None, {"fields": "speaker"})
    for table, column, value in (
        (memory_versions, memory_versions.c.speaker, None),
        (memory_versions, memory_versions.c.actor, ERASED_PERSON),
        (history_table, history_table.c.actor, ERASED_PERSON),
    ):
        update_rows(tx.connection, table, tx.space, column.in_(who), **{column.name: value})


def _delete_unused_audiences(tx: Transaction, removal: Removal, who: list[str]) -> list[str]:
    """Delete audiences that no row refers to any more, and return their ids."""
    a = audience_people.c
    sets = select(a.audience).where(a.space_id == tx.space, a.person.in_(who))
    for one in (memories_table, memory_versions, *checkpoints.STEP_TABLES):
        used = (one.c.space_id == tx.space, one.c.audience.is_not(None))
        sets = sets.where(a.audience.not_in(select(one.c.audience).where(*used)))
    unused = select_set(tx.connection, sets)
    for some in chunks(unused):
        _delete_counted(tx, removal, audience_people, a.audience.in_(some))
    return sorted(unused)


def _delete_counted(tx: Transaction, removal: Removal, table: Table, *which: ColumnElement[bool]) -> None:
    removal.counts[table.name] += delete_rows(tx.connection, table, tx.space, *which)


# Erase a source: first revert what was learned from it, which restores what it had superseded; then
# delete its memories, its turns and its versions of other memories.

_L = learned_facts_table.c
_H = history_table.c
_V = memory_versions.c
_WORDING_COLUMNS = (
    _V.content, _V.speaker, _V.subjects, _V.audience, _V.visibility, _V.sensitivity, _V.portable,
)  # fmt: skip
# In these states nothing is left of a memory once the source's version is removed.
_PAST_STATES = (State.SUPERSEDED, State.FORGOTTEN, State.EXPIRED)

RunTransaction = Callable[[Callable[[Transaction], Any]], Any]


def erase_source(
    act: RunTransaction,
    origin: Origin,
    note: Callable[[Transaction, Removal], RecordedErasure] = erasure_records.record_erasure,
) -> RecordedErasure:
    """Revert a source and erase what is left of it.

    `act` runs one transaction: reverting takes several, erasing takes one, in which `note` records
    it. A run that is interrupted in between can be repeated.
    """
    revert_source(act, origin, dry_run=False)

    def work(tx: Transaction) -> RecordedErasure:
        found = origin.resolve_chat(tx.connection, tx.space)
        removal = Removal(scope="source", sources=set(source_names(found)))
        _remove_source(tx, removal, found)
        return note(tx, removal)

    done: RecordedErasure = act(work)
    return done


def source_names(origin: Origin) -> list[str]:
    """Return the names under which a source is hashed: one for each id that its chat has had."""
    if origin.agent is not None:
        return [f"agent:{origin.agent}"]
    if origin.role is not None:
        return [f"role:{origin.role.value}"]
    tail = "" if origin.message is None else f"/{origin.message}"
    return [f"{chat}{tail}" for chat in origin.chat_ids]


def _remove_source(tx: Transaction, removal: Removal, origin: Origin) -> None:
    if origin.chat is not None and origin.message is None:
        removal.counts["updates"] += queue.clear_updates_of_chats(tx, origin.chat_ids)
        steps = checkpoints.delete_steps_of_chats(tx.connection, tx.space, origin.chat_ids)
        removal.counts["graph_steps"] += steps
    dead: set[str] = set()
    for memory in memories.lock_memories(tx, sorted(_select_ids(tx, origin.row_filter))):
        if memory.is_turn or _is_only_learned(tx, memory):
            dead.add(memory.id)
        elif origin.chat is not None and origin.message is None:
            bad = {one.version for one in list_learned_wordings(tx, memory) if one.learned}
            _redact_versions(tx, removal, memory, bad)
    remove_and_update_keys(tx, removal, dead)
    here = () if origin.chat is None else (_M.source_chat.in_(origin.chat_ids),)
    put_back = select(_H.memory_id).where(
        _H.space_id == _M.space_id, _H.memory_id == _M.id, _H.detail.contains(f'"{AS_VERSION}"', autoescape=True)
    )
    for memory in memories.lock_memories(tx, sorted(_select_ids(tx, put_back.exists(), *here))):
        _redact_versions(tx, removal, memory, _undone_versions(tx, memory))


def _select_ids(tx: Transaction, *which: ColumnElement[bool]) -> set[str]:
    return select_set(tx.connection, select(_M.id).where(_M.space_id == tx.space, *which))


def _is_only_learned(tx: Transaction, memory: Memory) -> bool:
    """Report whether learning made this memory. What a person wrote themselves stays."""
    known = select(_L.memory_id).where(_L.space_id == tx.space, _L.memory_id == memory.id)
    if memory.trust is not Trust.UNTRUSTED and not has_row(tx.connection, known):
        return False
    said = list_learned_wordings(tx, memory)
    if all(one.learned for one in said):
        return True
    return memory.state in _PAST_STATES and said[-1].learned


def _undone_versions(tx: Transaction, memory: Memory) -> set[int]:
    """Return the versions between one that was reverted to and its return."""
    entries = select(_H.version, _H.detail).where(_H.space_id == tx.space, _H.memory_id == memory.id)
    bad: set[int] = set()
    for row in tx.connection.execute(entries):
        before = json.loads(row.detail).get(AS_VERSION)
        if before is not None:
            bad |= set(range(int(before) + 1, row.version))
    return bad


def _redact_versions(tx: Transaction, removal: Removal, memory: Memory, bad: set[int]) -> None:
    """Replace each bad version by the nearest good one, because versions have no gaps."""
    of = (_V.space_id == tx.space, _V.memory_id == memory.id)
    rows = tx.connection.execute(select(_V.version, *_WORDING_COLUMNS).where(*of)).mappings()
    wordings = {row["version"]: {k: v for k, v in row.items() if k != "version"} for row in rows}
    good = wordings.keys() - bad
    if memory.version in bad or not good:
        return
    for version in wordings.keys() & bad:
        nearest = wordings[min(good, key=lambda number: (abs(number - version), number))]
        if nearest != wordings[version]:
            update_rows(tx.connection, memory_versions, tx.space, *of, _V.version == version, **nearest)
            removal.counts["memory_versions"] += 1
