"""Repeat, in an older copy of the database, the erasures that were made since."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, select

from tacit.errors import InvalidInput
from tacit.learning.turns import LEARN_JOB, unpack_turn
from tacit.lifecycle import erasure_records
from tacit.lifecycle.erasure import (
    erase_source,
    erase_space,
    remove_and_update_keys,
    remove_owned,
    remove_person,
    remove_subject,
    scrub_files,
)
from tacit.lifecycle.erasure_records import (
    ID_DIGESTS,
    OWNER_DIGESTS,
    PEOPLE_DIGESTS,
    SOURCE_DIGESTS,
    SPACE_DIGEST,
    RecordedErasure,
    Removal,
    derive_certificate_key,
    hash_value,
    log,
)
from tacit.lifecycle.revert import Origin, parse_source
from tacit.records.results import Erased
from tacit.storage import erasures, queue
from tacit.storage.erasures import Erasure
from tacit.storage.memories import SYSTEM_ACTOR, Transaction
from tacit.storage.schema import jobs, memories_table, updates
from tacit.storage.store import Store

_M = memories_table.c
_J = jobs.c
_U = updates.c
_REMOVE_PEOPLE = {"person": remove_person, "subject": remove_subject, "owned": remove_owned}


@dataclass(frozen=True, slots=True)
class _DueErasure:
    space: str
    secret: str
    erasure: Erasure


def replay_journal(store: Store) -> int:
    """Bring a database and its journal together when it is opened, before anything is read.

    Erasures that only the table knows are appended to the journal. Erasures that only the journal
    knows are repeated, because an older copy was restored. Return how many were repeated.
    """
    path = store.journal
    if path is None:
        return 0
    with store.database.read() as connection:
        known = erasures.list_erasure_ids(connection)
        written = erasure_records.read_journal_ids(path) if path.exists() else set()
        missing = list(erasures.list_erasures(connection, known - written))
    erasure_records.append_to_journal(path, missing)
    if written <= known:
        return 0
    due = _find_due(store, _parse_readable(erasure_records.read_journal_lines(path, but=known)))
    for one in due:
        _erase_again(store, one)
    if due:
        log.warning("An older copy of the database was restored: %d erasures were repeated", len(due))
        scrub_files(store.database)
    return len(due)


def replay_lines(store: Store, lines: object) -> Erased:
    """Repeat the erasures of exported lines. All lines are checked before anything is erased."""
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise InvalidInput("lines", "expected lines of an erasure journal, or its path")
    parsed = [erasure_records.parse_journal_line(line) for line in lines if line != "\n"]
    due = _find_due(store, parsed)
    count = sum(_erase_again(store, one) for one in due)
    scrub_files(store.database)
    left = erasure_records.follow_write_ahead_log(store.database)
    return Erased(count=count, complete=left.keys().isdisjoint(one.erasure.id for one in due))


def _parse_readable(lines: Iterable[str]) -> list[Erasure]:
    """Parse lines, skipping one that a crash cut short: the database that wrote it has its row."""
    found = []
    for line in lines:
        try:
            found.append(erasure_records.parse_journal_line(line))
        except InvalidInput:
            log.warning("Skipped a line of the erasure journal that cannot be read")
    return found


def _find_due(store: Store, parsed: Iterable[Erasure]) -> list[_DueErasure]:
    """List erasures that this database does not know, oldest first.

    Those of spaces that do not exist here have nothing to erase.
    """
    with store.database.read() as connection:
        known = erasures.list_erasure_ids(connection)
        here = {
            hash_value(secret, SPACE_DIGEST, space): (space, secret)
            for space, secret in erasures.list_space_secrets(connection).items()
        }
    due: dict[str, _DueErasure] = {}
    for erasure in parsed:
        found = here.get(str(erasure.digests[SPACE_DIGEST]))
        if found is not None:
            erasure_records.verify_tombstone(found[1], erasure)
            if erasure.id not in known:
                due[erasure.id] = _DueErasure(*found, erasure)
    return sorted(due.values(), key=lambda one: (one.erasure.erased_at, one.erasure.id))


def _erase_again(store: Store, due: _DueErasure) -> int:
    if due.erasure.scope == "space":
        return _erase_space_again(store, due)
    count = _erase_origins_again(store, due) if due.erasure.scope == "source" else 0
    return count + store.change_identities(due.space, SYSTEM_ACTOR, lambda tx: _remove_due(tx, due))


def _remove_due(tx: Transaction, due: _DueErasure) -> int:
    """Remove what the erasure lists, and record it; return how many memories were removed."""
    erasure, secret = due.erasure, due.secret
    removal = Removal(scope=erasure.scope)
    who = _find_people(tx.connection, due, PEOPLE_DIGESTS)
    # Queued work of an older copy was done since, and may be what was erased.
    concerned = _find_people(tx.connection, due, OWNER_DIGESTS) | who
    queue.clear_updates_of_people(tx, concerned)
    queue.delete_jobs(tx.connection, tx.space, concerned)
    if who and erasure.scope in _REMOVE_PEOPLE:
        _REMOVE_PEOPLE[erasure.scope](tx, removal, who)
    wanted = erasure.hashes(ID_DIGESTS)
    found = erasures.iterate_memory_ids(tx.connection, tx.space)
    remove_and_update_keys(tx, removal, [id for id in found if hash_value(secret, ID_DIGESTS, id) in wanted])
    erasures.insert_erasure(tx.connection, tx.space, erasure)
    return removal.memories


def _find_people(connection: Connection, due: _DueErasure, what: str) -> set[str]:
    wanted = due.erasure.hashes(what)
    if not wanted:
        return set()
    known = erasures.list_all_identities(connection, due.space)
    return {one for one in known if hash_value(due.secret, what, one) in wanted}


def _erase_space_again(store: Store, due: _DueErasure) -> int:
    def work(connection: Connection) -> int:
        done = erase_space(connection, store, due.space)
        if done is None:
            return 0
        # Under the journal's id, so that it counts as known from now on.
        erasures.rename_erasure(connection, done.erasure.id, due.erasure)
        return done.count

    return store.database.write(work)


def _erase_origins_again(store: Store, due: _DueErasure) -> int:
    """Erase all that the source left here."""
    with store.database.read() as connection:
        origins = _find_origins(connection, due)

    def note(tx: Transaction, removal: Removal) -> RecordedErasure:
        return RecordedErasure(
            erasure=due.erasure, key=derive_certificate_key(tx.secret), count=removal.memories, counts=removal.counts
        )

    act = partial(store.write_as, due.space, SYSTEM_ACTOR)
    return sum(erase_source(act, origin, note).count for origin in origins)


def _find_origins(connection: Connection, due: _DueErasure) -> list[Origin]:
    wanted = due.erasure.hashes(SOURCE_DIGESTS)
    columns = (_M.source_chat, _M.source_message, _M.agent, _M.role)
    rows = select(*columns).where(_M.space_id == due.space).distinct()
    said = {tuple(row) for row in connection.execute(rows)}
    queued = select(_J.payload).where(_J.space_id == due.space, _J.kind == LEARN_JOB)
    for payload in connection.execute(queued).scalars():
        turn = unpack_turn(payload)
        said.add((turn.asking.chat, turn.message, turn.agent, turn.role.value))
    brought = select(_U.chat).where(_U.space_id == due.space, _U.chat.is_not(None)).distinct()
    names = set(connection.execute(brought).scalars())
    for chat, message, agent, role in said:
        names |= {chat or "", f"{chat}/{message}", f"agent:{agent}", f"role:{role}"}
    return [parse_source(name) for name in sorted(names) if hash_value(due.secret, SOURCE_DIGESTS, name) in wanted]
