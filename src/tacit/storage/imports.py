"""Store import runs and their items, and insert memories in bulk."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, or_, select, text

from tacit.clock import to_micros
from tacit.errors import Conflict
from tacit.policy.rules import sql_literal
from tacit.records.drafts import ImportRun
from tacit.records.memory import HistoryEvent, Memory, State
from tacit.records.request import Request
from tacit.storage import memory_reads, retention
from tacit.storage.dialect import Statement
from tacit.storage.engine import (
    delete_rows,
    insert_row,
    insert_rows,
    insert_statement,
    lock_rows,
    run_statements,
    select_set,
    to_record,
    update_rows,
)
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
from tacit.storage.schema import imported_items, imports_table, memories_table, spaces_table
from tacit.storage.spaces import (
    access_paths_of,
    home_path_of,
    id_range_of_second,
    increment_revisions,
    keyed_digest,
    new_id,
)

# Imports: the runs that imported memories from another system, and the items of each run.

_R = imports_table.c
_I = imported_items.c
_M = memories_table.c
_TOKEN_CHARS = 32
_NO_COUNTS = dict.fromkeys(("created", "already", "refused", "done", "forgotten", "changed"), 0)
_INSERT_IMPORTED = insert_statement(imported_items)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImport:
    """An import run, and the identity of the person who started it."""

    person: str
    forgotten: int
    changed: int
    run: ImportRun


def get_space_secret(connection: Connection, space: str) -> str | None:
    """Return the secret that keys the hashes of a space, or None if the space has no row."""
    secret = select(spaces_table.c.secret).where(spaces_table.c.space_id == space)
    return connection.execute(secret).scalar()


def import_token(key: str, source: str, kind: str, named: str) -> str:
    """Return a keyed hash of an item's external id or content, which reveals neither."""
    return keyed_digest(key, json.dumps([source, kind, named]))[:_TOKEN_CHARS]


def find_known_tokens(
    connection: Connection, space: str, who: Collection[str], tokens: Collection[str]
) -> dict[str, str | None]:
    """Map those of these tokens that were imported before to their run."""
    known = select(_I.token, _I.run).where(
        _I.space_id == space, _I.person.in_(sorted(who)), _I.token.in_(sorted(tokens))
    )
    return dict(connection.execute(known).all()) if tokens else {}


def find_same_contents(connection: Connection, request: Request, contents: Collection[str]) -> dict[str, str]:
    """Map contents to the requester's memories with exactly the same content."""
    if not contents:
        return {}
    # A VALUES table: PostgreSQL would scan an IN list for each memory.
    given = {f"c{number}": content for number, content in enumerate(sorted(contents))}
    table = ", ".join(f"(:{name})" for name in given)
    same = text(f"memories.content IN (VALUES {table})").bindparams(**given)
    found = _select_own(request, _M.content).where(same, _is_live(request), _M.is_turn.is_(False))
    return dict(connection.execute(found).all())


def find_key_holders(connection: Connection, request: Request, category: str, keys: Collection[str]) -> dict[str, str]:
    """Map these keys to the requester's active memories that hold them."""
    found = _select_holders(request, category, keys).where(_is_live(request))
    return dict(connection.execute(found).all())


def list_expired_holders(connection: Connection, request: Request, category: str, keys: Collection[str]) -> list[str]:
    """List expired memories that still hold these keys."""
    expired = _M.expires_at <= to_micros(request.at)
    found = _select_holders(request, category, keys).where(expired)
    return [id for _, id in connection.execute(found)]


def _select_holders(request: Request, category: str, keys: Collection[str]) -> Select[Any]:
    of_keys = (_M.category == category, _M.key.is_not(None), _M.key.in_(sorted(keys)))
    return _select_own(request, _M.key).where(*of_keys)


def _select_own(request: Request, column: Any) -> Select[Any]:
    """Select a column and the id of the requester's active memories."""
    return select(column, _M.id).where(
        _M.space_id == request.space,
        _M.owner.in_(sorted(request.own_identities)),
        _M.state == sql_literal(State.ACTIVE),
    )


def _is_live(request: Request) -> ColumnElement[bool]:
    return or_(_M.expires_at.is_(None), _M.expires_at > to_micros(request.at))


def lock_imports(tx: Transaction) -> None:
    """Serialize the imports of one person, so that each sees the rows of the other."""
    tx.dialect.acquire_lock(tx.connection, f"{tx.space} imports {tx.request.requester}")


def avoid_ids_of_second(tx: Transaction) -> None:
    """Reserve the ids of this second: hundreds of inserts in one second could draw an id twice."""
    ids = _M.id.between(*id_range_of_second(tx.at))
    tx.issued_ids.update(select_set(tx.connection, select(_M.id).where(_M.space_id == tx.space, ids)))


def find_imports(connection: Connection, space: str, who: Collection[str], run: str) -> list[StoredImport]:
    """List imports with this run name, the newest first.

    Identities that were linked later may each have one.
    """
    found = select(imports_table).where(_R.space_id == space, _R.person.in_(sorted(who)), _R.run == run)
    rows = connection.execute(found.order_by(_R.started_at.desc(), _R.person))
    return [_to_import(row) for row in rows]


def begin_import(tx: Transaction, run: str, source: str, total: int | None) -> StoredImport:
    """Return the run as it was before this call, or insert it; a reverted run starts again.

    Raise Conflict if the run is being reverted or has another source.
    """
    found = find_imports(tx.connection, tx.space, tx.request.own_identities, run)
    anew = {**_NO_COUNTS, "total": total, "started_at": tx.at, "reverted_at": None}
    if not found:
        key = {"person": tx.request.subject, "run": run, "id": new_id(), "source": source}
        anew |= {"updated_at": tx.at, "reverting": False}
        insert_row(tx.connection, imports_table, tx.space, **key, **anew)
    elif any(one.run.reverting for one in found):
        raise Conflict("this import is being reverted: revert it to the end, then begin again")
    elif found[0].run.source != source:
        raise Conflict("this run is the name of an import from elsewhere: take another one")
    elif found[0].run.reverted_at is None:
        return found[0]
    else:
        update_import(tx, found[0], anew)
    return find_imports(tx.connection, tx.space, tx.request.own_identities, run)[0]


def update_import(tx: Transaction, kept: StoredImport, values: Mapping[str, Any]) -> None:
    this = (_R.person == kept.person, _R.run == kept.run.run)
    update_rows(tx.connection, imports_table, tx.space, *this, **values, updated_at=tx.at)


def add_import_counts(tx: Transaction, kept: StoredImport, more: Mapping[str, int], total: int | None) -> ImportRun:
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
    steps = [(_INSERT_IMPORTED, {**fixed, "token": t, "run": run, "memory_id": id}) for t, run, id in made]
    insert_rows(tx.connection, steps)


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
        .where(_I.space_id == tx.space, *_is_of_run(tx, run))
        .order_by(_I.person, _I.token)
        .limit(most)
    )
    found = []
    for row in tx.connection.execute(lock_rows(rows)):
        untouched = row.state == State.ACTIVE and (row.version, row.updated_at) == (1, row.at)
        changed = not untouched and row.state in (State.ACTIVE, State.SUPERSEDED)
        found.append(to_record(ImportedMemory, row, is_untouched=untouched, is_changed=changed))
    return found


def mark_undone(tx: Transaction, run: str, forgotten: Sequence[str], left: Sequence[str]) -> None:
    """Mark items of a run as reverted.

    Forgotten items may be imported again; the others stay known without a run.
    """
    of_run = _is_of_run(tx, run)
    delete_rows(tx.connection, imported_items, tx.space, *of_run, _I.token.in_(forgotten))
    update_rows(tx.connection, imported_items, tx.space, *of_run, _I.token.in_(left), run=None)


def _is_of_run(tx: Transaction, run: str) -> tuple[ColumnElement[bool], ...]:
    return _I.person.in_(sorted(tx.request.own_identities)), _I.run == run


def list_imports(
    connection: Connection, space: str, who: Collection[str], after: tuple[int, str] | None, most: int
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
    delete_rows(connection, imported_items, space, _I.person.in_(theirs))
    return delete_rows(connection, imports_table, space, _R.person.in_(theirs))


def _to_import(row: Any) -> StoredImport:
    return to_record(StoredImport, row, run=to_record(ImportRun, row))


# Bulk insert: the same rows as `insert_memory` writes for each memory, with one increment of the
# revisions for all of them.


def bulk_insert(tx: Transaction, memories: Sequence[Memory]) -> None:
    """Insert memories and log them in their threads.

    The revisions in the threads do not reveal how many memories were inserted.
    """
    if not memories:
        return
    audience_ids = {
        one: memory_reads.ensure_audience(tx.connection, tx.space, one)
        for one in {memory.heard_by for memory in memories}
    }
    through = {path for memory in memories for path in access_paths_of(memory, audience_ids[memory.heard_by])}
    revisions = increment_revisions(tx.connection, tx.space, through)
    made: list[Statement] = []
    for memory in memories:
        stamp = revisions[home_path_of(memory)]
        made += _memory_inserts(tx, memory, audience_ids[memory.heard_by], stamp)
        emit_memory_event(tx, memory, HistoryEvent.ADD)
    whole = all(tx.vectors.of_memory(memory) is not None for memory in memories)
    insert_rows(tx.connection, made)
    run_statements(tx.connection, [embedded_mark_delete(tx.space, tx.vectors.model if whole else "")])
    retention.insert_thread_changes(tx, [(memory.thread or tx.thread, memory.id) for memory in memories], "created")


def _memory_inserts(tx: Transaction, memory: Memory, audience: str | None, stamp: int) -> list[Statement]:
    made = [
        *tx.dialect.insert_memory_statements(to_row(memory, audience) | {"stamp": stamp}, memory.content),
        version_insert(memory, audience, tx.actor, tx.at),
        *people_inserts(memory),
        history_insert(memory, HistoryEvent.ADD, tx.actor, tx.at, {"why": tx.why} if tx.why else None),
    ]
    vector = tx.vectors.of_memory(memory)
    if vector is not None:
        home, model = home_path_of(memory), tx.vectors.model
        made.append(upsert_vector(tx.dialect, tx.space, home, memory.id, model, vector))
    return made
