"""Store import runs and their items, and insert memories in bulk."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, insert, or_, select, text, update

from tacit.clock import from_micros, to_micros
from tacit.errors import Conflict
from tacit.policy.predicate import sql_literal
from tacit.records.drafts import ImportRun
from tacit.records.memory import HistoryEvent, Memory, State
from tacit.records.request import Request
from tacit.storage import memory_reads, retention, statements
from tacit.storage.memories import (
    Transaction,
    embedded_mark_delete,
    emit_memory_event,
    history_insert,
    people_inserts,
    upsert_vector,
    version_insert,
)
from tacit.storage.memory_reads import to_row
from tacit.storage.revisions import access_paths_of, home_path_of, increment_revisions
from tacit.storage.schema import imported_items, imports_table, memories_table, spaces_table
from tacit.storage.spaces import id_range_of_second, keyed_digest, new_id
from tacit.storage.statements import Statement

# Imports: the runs that imported memories from another system, and the items of each run.

_R = imports_table.c
_I = imported_items.c
_M = memories_table.c
_TOKEN_CHARS = 32
_IS_OWN_IMPORT = (
    _R.space_id == bindparam("space"),
    _R.person.in_(bindparam("who", expanding=True)),
)
_SELECT_IMPORT = (
    select(imports_table)
    .where(*_IS_OWN_IMPORT, _R.run == bindparam("run"))
    .order_by(_R.started_at.desc(), _R.person)
)
_SELECT_KNOWN_TOKENS = select(_I.token, _I.run).where(
    _I.space_id == bindparam("space"),
    _I.person.in_(bindparam("who", expanding=True)),
    _I.token.in_(bindparam("tokens", expanding=True)),
)
_IS_OWN_ACTIVE = (
    _M.space_id == bindparam("space"),
    _M.owner.in_(bindparam("who", expanding=True)),
    _M.state == sql_literal(State.ACTIVE),
)
_IS_LIVE = or_(_M.expires_at.is_(None), _M.expires_at > bindparam("at"))
_SELECT_SAME_CONTENTS = select(_M.content, _M.id).where(
    *_IS_OWN_ACTIVE, _IS_LIVE, _M.is_turn.is_(False)
)
_SELECT_KEY_HOLDERS = select(_M.key, _M.id).where(
    *_IS_OWN_ACTIVE,
    _M.category == bindparam("category"),
    _M.key.is_not(None),
    _M.key.in_(bindparam("keys", expanding=True)),
)
_SELECT_LIVE_HOLDERS = _SELECT_KEY_HOLDERS.where(_IS_LIVE)
_SELECT_EXPIRED_HOLDERS = _SELECT_KEY_HOLDERS.where(_M.expires_at <= bindparam("at"))
_SELECT_IDS_OF_SECOND = select(_M.id).where(
    _M.space_id == bindparam("space"), _M.id.between(bindparam("first"), bindparam("last"))
)
_SELECT_SECRET = select(spaces_table.c.secret).where(spaces_table.c.space_id == bindparam("space"))
_INSERT_IMPORTED = statements.insert_statement(imported_items)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImport:
    """An import run, and the identity of the person who started it."""

    person: str
    forgotten: int
    changed: int
    run: ImportRun


def get_space_secret(connection: Connection, space: str) -> str | None:
    """Return the secret that keys the hashes of a space, or None if the space has no row."""
    found = statements.fetch_rows(connection, _SELECT_SECRET, {"space": space})
    return found[0][0] if found else None


def import_token(key: str, source: str, kind: str, named: str) -> str:
    """Return a keyed hash of an item's external id or content, which reveals neither."""
    return keyed_digest(key, json.dumps([source, kind, named]))[:_TOKEN_CHARS]


def find_known_tokens(
    connection: Connection, space: str, who: Collection[str], tokens: Collection[str]
) -> dict[str, str | None]:
    """Map those of these tokens that were imported before to their run."""
    params = {"space": space, "who": sorted(who), "tokens": sorted(tokens)}
    return dict(statements.fetch_rows(connection, _SELECT_KNOWN_TOKENS, params)) if tokens else {}


def find_same_contents(
    connection: Connection, request: Request, contents: Collection[str]
) -> dict[str, str]:
    """Map contents to the requester's memories with exactly the same content."""
    if not contents:
        return {}
    params = _own_params(request)
    params |= {f"c{number}": content for number, content in enumerate(sorted(contents))}
    return dict(statements.fetch_rows(connection, _select_same_contents(len(contents)), params))


@lru_cache(maxsize=256)
def _select_same_contents(count: int) -> Select[Any]:
    """Filter by a VALUES table: PostgreSQL would scan an IN list for each memory."""
    table = ", ".join(f"(:c{number})" for number in range(count))
    return _SELECT_SAME_CONTENTS.where(text(f"memories.content IN (VALUES {table})"))


def find_key_holders(
    connection: Connection, request: Request, category: str, keys: Collection[str]
) -> dict[str, str]:
    """Map these keys to the requester's active memories that hold them."""
    params = _own_params(request) | {"category": category, "keys": sorted(keys)}
    return dict(statements.fetch_rows(connection, _SELECT_LIVE_HOLDERS, params))


def list_expired_holders(
    connection: Connection, request: Request, category: str, keys: Collection[str]
) -> list[str]:
    """List expired memories that still hold these keys."""
    params = _own_params(request) | {"category": category, "keys": sorted(keys)}
    return [id for _, id in statements.fetch_rows(connection, _SELECT_EXPIRED_HOLDERS, params)]


def _own_params(request: Request) -> dict[str, Any]:
    return {
        "space": request.space,
        "who": sorted(request.own_identities),
        "at": to_micros(request.at),
    }


def lock_imports(tx: Transaction) -> None:
    """Serialize the imports of one person, so that each sees the rows of the other."""
    tx.dialect.acquire_lock(tx.connection, f"{tx.space} imports {tx.request.requester}")


def avoid_ids_of_second(tx: Transaction) -> None:
    """Reserve the ids of this second: hundreds of inserts in one second could draw an id twice."""
    first, last = id_range_of_second(tx.at)
    params = {"space": tx.space, "first": first, "last": last}
    tx.issued_ids.update(
        id for (id,) in statements.fetch_rows(tx.connection, _SELECT_IDS_OF_SECOND, params)
    )


def find_imports(
    connection: Connection, space: str, who: Collection[str], run: str
) -> list[StoredImport]:
    """List imports with this run name, the newest first.

    Identities that were linked later may each have one.
    """
    params = {"space": space, "who": sorted(who), "run": run}
    return [_to_import(row) for row in connection.execute(_SELECT_IMPORT, params)]


def begin_import(tx: Transaction, run: str, source: str, total: int | None) -> StoredImport:
    """Return the run as it was before this call, or insert it; a reverted run starts again.

    Raise Conflict if the run is being reverted or has another source.
    """
    found = find_imports(tx.connection, tx.space, tx.request.own_identities, run)
    if not found:
        return _insert_import(tx, run, source, total)
    kept = found[0]
    if any(one.run.reverting for one in found):
        raise Conflict("this import is being reverted: revert it to the end, then begin again")
    if kept.run.source != source:
        raise Conflict("this run is the name of an import from elsewhere: take another one")
    if kept.run.reverted_at is None:
        return kept
    zero = dict.fromkeys(("created", "already", "refused", "done", "forgotten", "changed"), 0)
    at = to_micros(tx.at)
    update_import(tx, kept, {**zero, "total": total, "started_at": at, "reverted_at": None})
    return find_imports(tx.connection, tx.space, tx.request.own_identities, run)[0]


def _insert_import(tx: Transaction, run: str, source: str, total: int | None) -> StoredImport:
    at = to_micros(tx.at)
    row = {
        "space_id": tx.space,
        "person": tx.request.subject,
        "run": run,
        "id": new_id(),
        "source": source,
        "started_at": at,
        "updated_at": at,
        **dict.fromkeys(("created", "already", "refused", "done", "forgotten", "changed"), 0),
        "total": total,
        "reverting": False,
        "reverted_at": None,
    }
    tx.connection.execute(insert(imports_table).values(**row))
    return find_imports(tx.connection, tx.space, tx.request.own_identities, run)[0]


def update_import(tx: Transaction, kept: StoredImport, values: Mapping[str, Any]) -> None:
    one = (_R.space_id == tx.space, _R.person == kept.person, _R.run == kept.run.run)
    moved = {**values, "updated_at": to_micros(tx.at)}
    tx.connection.execute(update(imports_table).where(*one).values(**moved))


def add_import_counts(
    tx: Transaction, kept: StoredImport, more: Mapping[str, int], total: int | None
) -> ImportRun:
    """Add the counts of this call to the run and return it."""
    values: dict[str, Any] = {name: getattr(kept.run, name) + by for name, by in more.items()}
    if total is not None:
        values["total"] = total
    update_import(tx, kept, values)
    return replace(kept.run, **values, updated_at=tx.at)


def insert_imported(tx: Transaction, made: Iterable[tuple[str, str | None, str]]) -> None:
    """Insert imported items as (token, run, memory id).

    `run` is None if the memory existed before the import.
    """
    fixed = {"space_id": tx.space, "person": tx.request.subject, "at": to_micros(tx.at)}
    steps = [
        (_INSERT_IMPORTED, {**fixed, "token": t, "run": run, "memory_id": id})
        for t, run, id in made
    ]
    statements.insert_rows(tx.connection, steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMemory:
    """A memory that a run inserted, with its current state."""

    token: str
    memory_id: str
    is_untouched: bool  # unchanged since the import
    is_changed: bool  # changed, or superseded by another memory


def list_imported(tx: Transaction, run: str, most: int) -> list[ImportedMemory]:
    """List memories that a run inserted and that are not reverted yet, and lock their rows."""
    rows = (
        select(_I.token, _I.memory_id, _I.at, _M.state, _M.version, _M.updated_at)
        .join(memories_table, (_M.space_id == _I.space_id) & (_M.id == _I.memory_id))
        .where(
            _I.space_id == tx.space, _I.person.in_(sorted(tx.request.own_identities)), _I.run == run
        )
        .order_by(_I.person, _I.token)
        .limit(most)
    )
    return [_to_imported(row) for row in tx.connection.execute(tx.dialect.lock_memory(rows))]


def _to_imported(row: Any) -> ImportedMemory:
    untouched = row.state == State.ACTIVE and (row.version, row.updated_at) == (1, row.at)
    stands = row.state in (State.ACTIVE, State.SUPERSEDED)
    return ImportedMemory(
        token=row.token,
        memory_id=row.memory_id,
        is_untouched=untouched,
        is_changed=stands and not untouched,
    )


def mark_undone(tx: Transaction, run: str, forgotten: Sequence[str], left: Sequence[str]) -> None:
    """Mark items of a run as reverted.

    Forgotten items may be imported again; the others stay known without a run.
    """
    of_run = (
        _I.space_id == tx.space,
        _I.person.in_(sorted(tx.request.own_identities)),
        _I.run == run,
    )
    if forgotten:
        tx.connection.execute(delete(imported_items).where(*of_run, _I.token.in_(forgotten)))
    if left:
        these = update(imported_items).where(*of_run, _I.token.in_(left))
        tx.connection.execute(these.values(run=None))


def list_imports(
    connection: Connection,
    space: str,
    who: Collection[str],
    after: tuple[int, str] | None,
    most: int,
) -> list[tuple[str, ImportRun]]:
    """List import runs of these identities with their ids, the newest first."""
    wanted = select(imports_table).where(_R.space_id == space, _R.person.in_(sorted(who)))
    if after is not None:
        at, id = after
        wanted = wanted.where(or_(_R.started_at < at, (_R.started_at == at) & (_R.id < id)))
    rows = connection.execute(wanted.order_by(_R.started_at.desc(), _R.id.desc()).limit(most))
    return [(row.id, _to_import(row).run) for row in rows]


def delete_imports_of_people(connection: Connection, space: str, who: Collection[str]) -> int:
    """Delete all import runs and items of these identities; return the number of runs."""
    theirs = sorted(who)
    connection.execute(delete(imported_items).where(_I.space_id == space, _I.person.in_(theirs)))
    gone = delete(imports_table).where(_R.space_id == space, _R.person.in_(theirs))
    return connection.execute(gone).rowcount


def _to_import(row: Any) -> StoredImport:
    reverted = row.reverted_at
    return StoredImport(
        person=row.person,
        forgotten=row.forgotten,
        changed=row.changed,
        run=ImportRun(
            run=row.run,
            source=row.source,
            started_at=from_micros(row.started_at),
            updated_at=from_micros(row.updated_at),
            created=row.created,
            already=row.already,
            refused=row.refused,
            done=row.done,
            total=row.total,
            reverting=bool(row.reverting),
            reverted_at=None if reverted is None else from_micros(reverted),
        ),
    )


# Bulk insert: the same rows as `insert_memory` writes for each memory, with one increment of the
# revisions for all of them.


def bulk_insert(tx: Transaction, memories: Sequence[Memory]) -> None:
    """Insert memories and log them in their threads.

    The revisions in the threads do not reveal how many memories were inserted.
    """
    if not memories:
        return
    audience_ids = {
        one: memory_reads.ensure_audience(tx.connection, tx.dialect, tx.space, one)
        for one in {memory.heard_by for memory in memories}
    }
    through = {
        door
        for memory in memories
        for door in access_paths_of(memory, audience_ids[memory.heard_by])
    }
    revisions = increment_revisions(tx.connection, tx.space, through)
    made: list[Statement] = []
    for memory in memories:
        stamp = revisions[home_path_of(memory)]
        made += _memory_inserts(tx, memory, audience_ids[memory.heard_by], stamp)
        emit_memory_event(tx, memory, HistoryEvent.ADD)
    whole = all(tx.vectors.of_memory(memory) is not None for memory in memories)
    statements.insert_rows(tx.connection, made)
    statements.run_statements(
        tx.connection, [embedded_mark_delete(tx.space, tx.vectors.model if whole else "")]
    )
    retention.insert_thread_changes(
        tx, [(memory.thread or tx.thread, memory.id) for memory in memories], "created"
    )


def _memory_inserts(
    tx: Transaction, memory: Memory, audience: str | None, stamp: int
) -> list[Statement]:
    made = [
        *tx.dialect.insert_memory_statements(
            to_row(memory, audience) | {"stamp": stamp}, memory.content
        ),
        version_insert(memory, audience, tx.actor, tx.at),
        *people_inserts(memory),
        history_insert(
            memory, HistoryEvent.ADD, tx.actor, tx.at, {"why": tx.why} if tx.why else None
        ),
    ]
    vector = tx.vectors.of_memory(memory)
    if vector is not None:
        home, model = home_path_of(memory), tx.vectors.model
        made.append(upsert_vector(tx.dialect, tx.space, home, memory.id, model, vector))
    return made
