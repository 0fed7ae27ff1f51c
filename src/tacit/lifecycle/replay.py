"""Erasing again, in an older copy, what was erased since it was made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from tacit.errors import InvalidInput
from tacit.learning.turns import LEARN_JOB, unpack_turn
from tacit.lifecycle import journal, remnants, tombstones
from tacit.lifecycle.erase import erase_owned, erase_space, remove_settled, scrub
from tacit.lifecycle.erase_person import take_about, take_person
from tacit.lifecycle.erase_source import erase_source
from tacit.lifecycle.journal import log
from tacit.lifecycle.sources import Origin, parse
from tacit.lifecycle.tombstones import (
    IDS,
    OWNERS,
    PEOPLE,
    SOURCES,
    SPACE,
    Noted,
    Removal,
    certificate_key,
    mark,
    space_mark,
)
from tacit.records.results import Erased
from tacit.storage import erasures, queue
from tacit.storage.erasures import Erasure
from tacit.storage.memories import Transaction
from tacit.storage.schema import jobs, memories_table, updates
from tacit.storage.store import Store

_M = memories_table.c
_J = jobs.c
_U = updates.c


@dataclass(frozen=True, slots=True)
class _Due:
    space: str
    secret: str
    erasure: Erasure


def settle(store: Store) -> int:
    """When a database is opened, before anybody reads: what its table knows and its journal does
    not is added there; what its journal knows and its table does not is erased again, for an older
    copy was put in its place. Says how many erasures that were."""
    path = store.journal
    if path is None:
        return 0
    with store.database.read() as connection:
        known = erasures.list_erasure_ids(connection)
        written = journal.ids(path) if path.exists() else set()
        missing = known - written
        lines = [tombstones.to_line(e) for e in erasures.list_erasures(connection, missing)]
    if lines:
        journal.append(path, lines)
    if written <= known:
        return 0
    due = _due(store, _readable(journal.lines(path, but=known)))
    for one in due:
        _again(store, one)
    if due:
        log.warning("an older copy of the database: %d erasures were done again", len(due))
        scrub(store.database)
    return len(due)


def replay(store: Store, lines: object) -> Erased:
    """Everything is checked before anything is erased."""
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise InvalidInput("lines", "expected lines of a journal of erasures, or its path")
    parsed = [tombstones.from_line(line) for line in lines if line != "\n"]
    due = _due(store, parsed)
    count = sum(_again(store, one) for one in due)
    scrub(store.database)
    left = remnants.follow(store.database)
    return Erased(count=count, complete=left.keys().isdisjoint(one.erasure.id for one in due))


def _readable(lines: Iterable[str]) -> list[Erasure]:
    """A line that a crash cut short is none: its row is in the database that wrote it."""
    found = []
    for line in lines:
        try:
            found.append(tombstones.from_line(line))
        except InvalidInput:
            log.warning("a line of the journal of erasures cannot be read, and is left out")
    return found


def _due(store: Store, parsed: Iterable[Erasure]) -> list[_Due]:
    """Those that this database does not know of, in the order they happened. What is of a space
    that is not here has nothing to erase here."""
    with store.database.read() as connection:
        known = erasures.list_erasure_ids(connection)
        here = {
            space_mark(secret, space): (space, secret)
            for space, secret in erasures.list_space_secrets(connection).items()
        }
    due: dict[str, _Due] = {}
    for erasure in parsed:
        found = here.get(str(erasure.digests[SPACE]))
        if found is not None:
            tombstones.verify(found[1], erasure)
            if erasure.id not in known:
                due[erasure.id] = _Due(*found, erasure)
    return sorted(due.values(), key=lambda one: (one.erasure.erased_at, one.erasure.id))


def _again(store: Store, due: _Due) -> int:
    scope = due.erasure.scope
    if scope == "space":
        return _space_again(store, due)
    if scope == "source":
        return _source_again(store, due)

    def work(w: Transaction) -> int:
        removal = Removal(scope=scope)
        _take(w, removal, due)
        erasures.insert_erasure(w.connection, w.space, due.erasure)
        return removal.memories

    return store.change_identities(due.space, "system", work)


def _take(w: Transaction, removal: Removal, due: _Due) -> None:
    erasure, secret = due.erasure, due.secret
    who = _people(w.connection, due, PEOPLE)
    # What waits in an older copy was done and learned since, and may be what was erased.
    concerned = _people(w.connection, due, OWNERS) | who
    queue.clear_updates_of_people(w, concerned)
    queue.delete_jobs(w.connection, w.space, concerned)
    if erasure.scope == "person" and who:
        take_person(w, removal, who)
    elif erasure.scope == "subject" and who:
        take_about(w, removal, who)
    elif erasure.scope == "owned" and who:
        erase_owned(w, removal, who)
    wanted = erasure.hashes(IDS)
    found = erasures.iterate_memory_ids(w.connection, w.space)
    remove_settled(w, removal, [id for id in found if mark(secret, IDS, id) in wanted])


def _people(connection: Connection, due: _Due, what: str) -> set[str]:
    wanted = due.erasure.hashes(what)
    if not wanted:
        return set()
    everybody = erasures.list_all_identities(connection, due.space)
    return {one for one in everybody if mark(due.secret, what, one) in wanted}


def _space_again(store: Store, due: _Due) -> int:
    def work(connection: Connection) -> int:
        done = erase_space(connection, store, due.space)
        if done is None:
            return 0
        # Under the id that the journal has, so that it is known from here on.
        erasures.rename_erasure(connection, done.erasure.id, due.erasure)
        return done.count

    return store.database.write(work)


def _source_again(store: Store, due: _Due) -> int:
    """Everything that the source left here; and what was its, by id, wherever that is from."""
    with store.database.read() as connection:
        origins = _origins(connection, due)
    counted = 0

    def note(w: Transaction, removal: Removal) -> Noted:
        return Noted(
            erasure=due.erasure,
            key=certificate_key(w.secret),
            count=removal.memories,
            counts=removal.counts,
        )

    for origin in origins:
        done = erase_source(lambda work: store.write_as(due.space, "system", work), origin, note)
        counted += done.count

    def rest(w: Transaction) -> int:
        removal = Removal(scope="source")
        _take(w, removal, due)
        erasures.insert_erasure(w.connection, w.space, due.erasure)
        return removal.memories

    return counted + store.change_identities(due.space, "system", rest)


def _origins(connection: Connection, due: _Due) -> list[Origin]:
    wanted = due.erasure.hashes(SOURCES)
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
    return [parse(name) for name in sorted(names) if mark(due.secret, SOURCES, name) in wanted]
