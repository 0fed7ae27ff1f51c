"""Erase: gone now, everywhere, for good. First the rows, in one transaction, with a signed note of
their hashes; then the note in a journal beside the database; then the bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from sqlalchemy import Connection, delete, select, update

from tacit.clock import to_micros
from tacit.errors import StoreBusy
from tacit.lifecycle import certificate, journal, remnants, tombstones
from tacit.lifecycle.tombstones import Noted, Removal
from tacit.records.memory import Memory
from tacit.records.results import Erased
from tacit.storage import (
    auth,
    checkpoints,
    erasures,
    idempotency,
    imports,
    memories,
    notes,
    queue,
    revisions,
)
from tacit.storage.engine import Database
from tacit.storage.erasures import hard_delete
from tacit.storage.memories import Transaction, update_key_precedence
from tacit.storage.schema import derived_from, memories_table, metadata, spaces_table
from tacit.storage.schema import tombstones as tombstones_table
from tacit.storage.spaces import load_identities
from tacit.storage.store import Store

_ERASED_AT_ONCE_COUNT = 500
_M = memories_table.c


def erase(w: Transaction, memory: Memory, *, turns: bool = False) -> Noted:
    """For its owner and for an operator, with what it replaced and with the values of its key under
    the owner's other identities: to them it is one thing, and where others listen it counts as
    one. Anybody else erases what they may hear, and that alone. What was thought because of it goes
    with it, whoever erases."""
    removal = Removal(scope="memory")
    ids = {memory.id}
    operator = w.request.requester is None
    own = memory.owner is not None and w.request.person(memory.owner) == w.request.requester
    owner = memory.owner or ""
    owners = load_identities(w.connection, w.space, [owner]).current_identities(owner)
    if operator or own:
        if turns:  # first, so that what is being learned at this moment is there to be found
            thread = memory.thread or w.thread
            removal.counts["jobs"] += queue.delete_jobs(w.connection, w.space, owners, thread)
        ids |= set(memories.list_key_siblings(w, memory))
        ids |= _replaced(w, ids, owners)
        if turns:
            ids |= _learned_from(w, ids, owners)
    remove(w, removal, ids)
    if memory.key is not None and memory.owner is not None:
        update_key_precedence(w.connection, w.space, sorted(owners), memory.category, memory.key)
    whole = operator or (own and w.request.private)
    count = None if whole else len(ids) if w.request.private else 1
    return tombstones.record(w, removal, count=count, whole=whole)


def _replaced(w: Transaction, ids: set[str], owners: Collection[str]) -> set[str]:
    """What these memories took the place of, step by step, as far as it has the same owner."""
    found: set[str] = set()
    fringe = set(ids)
    while fringe:
        before = select(_M.id).where(
            _M.space_id == w.space,
            _M.superseded_by.in_(sorted(fringe)),
            _M.owner.in_(sorted(owners)),
        )
        fringe = set(w.connection.execute(before).scalars()) - found - ids
        found |= fringe
    return found


def _learned_from(w: Transaction, ids: set[str], owners: Collection[str]) -> set[str]:
    """The turns that led to these memories, as far as they have the same owner."""
    d = derived_from.c
    said = (
        select(d.turn_id)
        .join(memories_table, (_M.space_id == d.space_id) & (_M.id == d.turn_id))
        .where(
            d.space_id == w.space,
            d.memory_id.in_(sorted(ids)),
            _M.owner.in_(sorted(owners)),
            _M.is_turn.is_(True),  # an insight rests on memories, which stay
        )
    )
    return set(w.connection.execute(said).scalars())


def remove(w: Transaction, removal: Removal, ids: Iterable[str]) -> None:
    """These memories, and what was thought because of them, step by step."""
    waiting = set(ids) - removal.ids
    while waiting:
        some = sorted(waiting)[:_ERASED_AT_ONCE_COUNT]
        thoughts = erasures.list_derived_memories(w.connection, w.space, some)
        removal.counts.update(erasures.count_rows_of_memories(w.connection, w.space, some))
        removal.owners |= erasures.list_owners_of(w.connection, w.space, some)
        # Not counted: how many others have is not for a certificate to tell.
        exposed = erasures.read_exposure(w.connection, w.space, some)
        checkpoints.delete_exposed_checkpoints(w.connection, w.space, exposed)
        checkpoints.delete_exposed_steps(w.connection, w.space, exposed)
        erasures.delete_mentions(w.connection, w.space, some)
        stood_in = revisions.update_note_links_of_many(w, some)
        thoughts |= notes.list_summaries_of(w, stood_in)
        hard_delete(w, some)
        removal.counts["notes"] += notes.delete_empty_sessions(w, stood_in)
        removal.ids.update(some)
        waiting = (waiting | thoughts) - removal.ids


def remove_settled(w: Transaction, removal: Removal, ids: Collection[str]) -> None:
    """The same; and where one of them was the value of a key, another one may be it now."""
    named: set[tuple[str, str, str]] = set()
    todo = sorted(ids)
    for start in range(0, len(todo), _ERASED_AT_ONCE_COUNT):
        some = todo[start : start + _ERASED_AT_ONCE_COUNT]
        rows = select(_M.owner, _M.category, _M.key).where(
            _M.space_id == w.space, _M.id.in_(some), _M.key.is_not(None), _M.owner.is_not(None)
        )
        named |= {(owner, category, key) for owner, category, key in w.connection.execute(rows)}
    remove(w, removal, todo)
    for owner, category, key in sorted(named):
        owners = load_identities(w.connection, w.space, [owner]).current_identities(owner)
        update_key_precedence(w.connection, w.space, sorted(owners), category, key)


def erase_one(w: Transaction, id: str) -> Noted:
    """Out of quarantine, say: this one, and nothing that it stood for."""
    removal = Removal(scope="memory")
    remove(w, removal, [id])
    return tombstones.record(w, removal)


def wipe(w: Transaction, owners: Collection[str]) -> Noted:
    removal = Removal(scope="owned", people=set(owners))
    erase_owned(w, removal, owners)
    return tombstones.record(w, removal)


def erase_owned(w: Transaction, removal: Removal, owners: Collection[str]) -> None:
    """Everything that belongs to these identities of one person, their notes, their checkpoints,
    what waits to be learned, what channels brought from them and is not done, the codes by which
    they were about to be linked, and where they are signed in."""
    removal.counts["sittings"] += auth.end_web_sessions(w.connection, w.space, owners)
    removal.counts["link_offers"] += auth.delete_link_offers(w.connection, w.space, owners)
    removal.counts["updates"] += queue.clear_updates_of_people(w, owners)
    removal.counts["jobs"] += queue.delete_jobs(w.connection, w.space, owners)
    removal.counts["checkpoints"] += checkpoints.delete_checkpoints(
        w.connection, w.space, owners, None
    )
    removal.counts["graph_steps"] += checkpoints.delete_steps_of_people(
        w.connection, w.space, owners
    )
    removal.counts["imports"] += imports.delete_imports_of_people(w.connection, w.space, owners)
    idempotency.clear_results_of_people(w.connection, w.space, owners)
    removal.counts.update(notes.erase_notes(w, owners))
    owned = (
        select(_M.id)
        .where(_M.space_id == w.space, _M.owner.in_(sorted(owners)))
        .limit(_ERASED_AT_ONCE_COUNT)
    )
    while ids := w.connection.execute(owned).scalars().all():
        remove(w, removal, ids)


def erase_space(connection: Connection, store: Store, space: str) -> Noted | None:
    """Every row of a space, its tombstones and its secret among them: with the space go its ids.
    None where there was no such space."""
    store.database.dialect.lock_space(connection, space)
    secret = connection.execute(
        select(spaces_table.c.secret).where(spaces_table.c.space_id == space)
    ).scalar_one_or_none()
    counts: Counter[str] = Counter()
    store.database.dialect.unindex_space(connection, space)
    for table in reversed(metadata.sorted_tables):
        done = connection.execute(delete(table).where(table.c.space_id == space))
        counts[table.name] = done.rowcount
    if secret is None:
        return None
    at = to_micros(store.clock())
    return tombstones.record_space(connection, secret, space, counts, at)


def finish(store: Store, done: Noted, *, again: bool = False, mirrored: bool = True) -> Erased:
    """After the rows are gone: the journal, then their bytes, and what mirrors hold of them.
    `again`: it is noted already, but its bytes may still be there. `mirrored`: whether what the
    caller had to remove from mirrors is gone."""
    if not again:
        journal.append(store.journal, [tombstones.to_line(done.erasure)])
    worked = [mirrored, *(work() for work in store.after_erasure)]
    scrub(store.database)
    pending = remnants.pending(store.database, done.erasure.id)
    issued = certificate.issue(done, pending if all(worked) else (*pending, remnants.NOTES))
    return Erased(count=done.count, complete=issued.complete, certificate=issued)


def scrub(database: Database) -> bool:
    """Clean the files, as far as that takes no rewrite of a server's tables. False while another
    process still reads what was there before."""
    try:
        with database.autocommit_connection() as connection:
            before = [
                id for id, left in erasures.list_unfinished(connection).items() if left is None
            ]
            done = database.dialect.scrub(connection)
    except StoreBusy:
        done = False
    if done:
        t = tombstones_table.c

        def note(connection: Connection) -> None:
            connection.execute(
                update(tombstones_table).where(t.scrubbed.is_(False)).values(scrubbed=True)
            )
            erasures.mark_cleaned(connection, before, database.dialect.remains_after_scrub)

        database.write(note)
    return done
