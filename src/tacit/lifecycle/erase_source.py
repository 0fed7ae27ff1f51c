"""Erasing a source: what was learned from it is reverted first, so that what gave way to it stands
again; then its memories, its turns and its wordings of others go for good."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, select, update

from tacit.lifecycle import tombstones
from tacit.lifecycle.erase import remove_settled
from tacit.lifecycle.revert import revert
from tacit.lifecycle.sources import AS_VERSION, Origin, wordings
from tacit.lifecycle.tombstones import Noted, Removal
from tacit.records.memory import Memory, State, Trust
from tacit.storage import checkpoints, memories, queue
from tacit.storage.memories import Transaction
from tacit.storage.schema import history_table, learned, memories_table, memory_versions

_M = memories_table.c
_L = learned.c
_H = history_table.c
_V = memory_versions.c
_WORDING = (
    _V.content, _V.speaker, _V.subjects, _V.heard, _V.visibility, _V.sensitivity, _V.portable,
)  # fmt: skip
# Of whose wording nothing is left if the source's is taken away.
_PAST = (State.SUPERSEDED, State.FORGOTTEN, State.EXPIRED)

Act = Callable[[Callable[[Transaction], Any]], Any]


def erase_source(
    act: Act, origin: Origin, note: Callable[[Transaction, Removal], Noted] = tombstones.record
) -> Noted:
    """`act` runs one transaction. Reverting takes some; erasing takes one, which writes the `note`.
    Whoever dies between the two begins again, and finds the rest."""
    revert(act, origin, dry_run=False)

    def work(w: Transaction) -> Noted:
        found = origin.resolve_chat(w.connection, w.space)
        removal = Removal(scope="source", sources=set(names(found)))
        _take(w, removal, found)
        return note(w, removal)

    done: Noted = act(work)
    return done


def names(origin: Origin) -> list[str]:
    """A source as it is hashed: under each id that its chat has had."""
    if origin.agent is not None:
        return [f"agent:{origin.agent}"]
    if origin.role is not None:
        return [f"role:{origin.role.value}"]
    tail = "" if origin.message is None else f"/{origin.message}"
    return [f"{room}{tail}" for room in origin.chat_ids]


def _take(w: Transaction, removal: Removal, origin: Origin) -> None:
    if origin.chat is not None and origin.message is None:
        removal.counts["updates"] += queue.clear_updates_of_chats(w, origin.chat_ids)
        steps = checkpoints.delete_steps_of_chats(w.connection, w.space, origin.chat_ids)
        removal.counts["graph_steps"] += steps
    dead: set[str] = set()
    for id in _ids(w, origin.row_filter):
        memory = memories.get_for_update(w, id)
        if memory is None:
            continue
        if memory.is_turn or _is_all_of(w, memory):
            dead.add(id)
        elif origin.chat is not None and origin.message is None:
            bad = {one.version for one in wordings(w, memory) if one.learned}
            _redact(w, removal, memory, bad)
    remove_settled(w, removal, dead)
    here = _M.source_chat.in_(origin.chat_ids) if origin.chat is not None else None
    for id in _ids(w, _put_back_once(), *(() if here is None else (here,))):
        memory = memories.get_for_update(w, id)
        if memory is not None:
            _redact(w, removal, memory, _undone(w, memory))


def _ids(w: Transaction, *which: ColumnElement[bool]) -> list[str]:
    return list(w.connection.execute(select(_M.id).where(_M.space_id == w.space, *which)).scalars())


def _put_back_once() -> ColumnElement[bool]:
    put_back = select(_H.memory_id).where(
        _H.space_id == _M.space_id,
        _H.memory_id == _M.id,
        _H.detail.contains(f'"{AS_VERSION}"', autoescape=True),
    )
    return put_back.exists()


def _is_all_of(w: Transaction, memory: Memory) -> bool:
    """Whether learning made it: a person's own word is left alone, whatever chat it is from."""
    known = select(_L.memory_id).where(_L.space_id == w.space, _L.memory_id == memory.id)
    if memory.trust is not Trust.UNTRUSTED and w.connection.execute(known).first() is None:
        return False
    said = wordings(w, memory)
    if all(one.learned for one in said):
        return True
    return memory.state in _PAST and said[-1].learned


def _undone(w: Transaction, memory: Memory) -> set[int]:
    """The wordings between one that was put back and its return."""
    entries = select(_H.version, _H.detail).where(_H.space_id == w.space, _H.memory_id == memory.id)
    bad: set[int] = set()
    for row in w.connection.execute(entries):
        before = json.loads(row.detail).get(AS_VERSION)
        if before is not None:
            bad |= set(range(int(before) + 1, row.version))
    return bad


def _redact(w: Transaction, removal: Removal, memory: Memory, bad: set[int]) -> None:
    """In the place of each, the nearest wording that stays: versions are counted without gaps."""
    rows = w.connection.execute(
        select(_V.version, *_WORDING).where(_V.space_id == w.space, _V.memory_id == memory.id)
    ).all()
    good = {row.version: row for row in rows if row.version not in bad}
    if memory.version in bad or not good:
        return
    for row in rows:
        if row.version not in bad:
            continue
        nearest = good[min(good, key=lambda number: (abs(number - row.version), number))]
        values = {column.name: getattr(nearest, column.name) for column in _WORDING}
        if values == {column.name: getattr(row, column.name) for column in _WORDING}:
            continue
        one = (_V.space_id == w.space, _V.memory_id == memory.id, _V.version == row.version)
        w.connection.execute(update(memory_versions).where(*one).values(values))
        removal.counts["memory_versions"] += 1
