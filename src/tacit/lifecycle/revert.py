"""Revert: what was learned from one source is undone, as far as nobody said otherwise since.

A memory that the source made is forgotten; one that it only reworded has its earlier wording back;
what gave way to either stands again. A person's own later word is left alone.

An operator reverts any source. Whoever takes back a message of their own unlearns that one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, delete, or_, select

from tacit import limits
from tacit.learning.turns import LEARN_JOB, unpack_turn
from tacit.lifecycle.purge import remove
from tacit.lifecycle.sources import AS_VERSION, Origin, Wording, wordings
from tacit.policy.rules import decide
from tacit.records.memory import HistoryEvent, Memory, State, Trust
from tacit.records.results import Reverted
from tacit.storage import learned_facts, memories
from tacit.storage.erasures import hard_delete
from tacit.storage.learned_facts import StoredFact
from tacit.storage.memories import Transaction, update_key_precedence
from tacit.storage.memory_reads import to_sensitivity, to_visibility
from tacit.storage.memory_reads import unpack_people as people
from tacit.storage.schema import history_table, jobs, learned, memories_table, memory_versions
from tacit.storage.spaces import load_identities

_AT_ONCE_COUNT = 100
_TURNS_AT_ONCE_COUNT = 500
_M = memories_table.c
_L = learned.c
_J = jobs.c
_V = memory_versions.c
_H = history_table.c
_STANDING = (State.ACTIVE, State.PENDING, State.QUARANTINED, State.SUPERSEDED, State.EXPIRED)
# No word of where it came from: whoever hears a memory may read its history.
_GONE = "what was learned from its source was reverted"
_BACK = "the earlier wording; the source of the later one was reverted"
_AGAIN = "what had replaced it was reverted"

T = TypeVar("T")
Act = Callable[[Callable[[Transaction], T]], T]


@dataclass(frozen=True, slots=True)
class _Done:
    """By id, so that what two steps come across counts once."""

    forgotten: set[str] = field(default_factory=set)
    reworded: set[str] = field(default_factory=set)
    restored: set[str] = field(default_factory=set)
    proposals: set[str] = field(default_factory=set)
    turns: set[tuple[str, int]] = field(default_factory=set)
    recorded: set[str] = field(default_factory=set)

    def add(self, other: _Done) -> None:
        self.forgotten.update(other.forgotten)
        self.reworded.update(other.reworded)
        self.restored.update(other.restored)
        self.proposals.update(other.proposals)
        self.turns.update(other.turns)

    def to_result(self) -> Reverted:
        return Reverted(**{one.name: len(getattr(self, one.name)) for one in fields(self)})


class _Rehearsed(Exception):
    def __init__(self, came: Any) -> None:
        super().__init__()
        self.came = came


def revert(act: Act[Any], origin: Origin, *, dry_run: bool) -> Reverted:
    """`act` runs one batch in one transaction. First what waits in the queue, so that nothing more
    is learned from the source meanwhile."""
    whole = _Done()
    for part in (_turns, _memories):
        after: Any = None
        while True:
            done, after = _batch(act, part, origin, after, dry_run=dry_run)
            whole.add(done)
            if after is None:
                break
    return whole.to_result()


def unlearn(w: Transaction, message: str, only: Collection[str] | None) -> Reverted:
    """What the requester said in one message of this chat: all of it in this transaction, and what
    was recorded of it as well. Of what stands again because of it, as much is counted as they may
    hear here; that there was more is not theirs to know."""
    named = Origin(
        chat=w.request.chat, message=message, identities=w.request.own_identities, categories=only
    )
    origin = named.resolve_chat(w.connection, w.space)
    done = _Done()
    queued = select(_J.thread, _J.seq, _J.payload).where(
        _J.space_id == w.space, _J.kind == LEARN_JOB, _J.owner.in_(sorted(w.request.own_identities))
    )
    _drop_turns(w, origin, w.connection.execute(queued).all(), done)
    for id in _own(w, origin):
        memory = memories.get_for_update(w, id)
        if memory is None or not origin.matches_memory(memory):
            continue
        if memory.is_turn:
            done.recorded.add(id)
        elif memory.state in _STANDING:
            _undo(w, origin, memory, done)
    remove(w, sorted(done.recorded))
    told = {id for id in done.restored if _hears(w, id)}
    return replace(done, restored=told).to_result()


def _own(w: Transaction, origin: Origin) -> list[str]:
    """By whose it is and by who said it: an index leads to each."""
    own = sorted(origin.identities or ())
    theirs = _M.owner.in_(own)
    others = _M.speaker.in_(own) & or_(_M.owner.is_(None), _M.owner != _M.speaker)
    found: set[str] = set()
    for which in (theirs, others):
        rows = select(_M.id).where(_M.space_id == w.space, which, origin.row_filter)
        found.update(w.connection.execute(rows).scalars())
    return sorted(found)


def _hears(w: Transaction, id: str) -> bool:
    memory = memories.get_for_update(w, id)
    return memory is not None and decide(w.request, memory).allowed


def _batch(
    act: Act[Any],
    part: Callable[[Transaction, Origin, Any], tuple[_Done, Any]],
    origin: Origin,
    after: Any,
    *,
    dry_run: bool,
) -> tuple[_Done, Any]:
    def work(w: Transaction) -> tuple[_Done, Any]:
        came = part(w, origin.resolve_chat(w.connection, w.space), after)
        if dry_run:
            raise _Rehearsed(came)
        return came

    try:
        done, onward = act(work)
    except _Rehearsed as rehearsed:
        done, onward = rehearsed.came
    return done, onward


def _turns(w: Transaction, origin: Origin, after: tuple[str, int] | None) -> tuple[_Done, Any]:
    """What was accepted from there and is not learned yet. Whoever is at it finds its job gone."""
    thread, seq = after or ("", -1)
    later = or_(_J.thread > thread, (_J.thread == thread) & (_J.seq > seq))
    waiting = (
        select(_J.thread, _J.seq, _J.payload)
        .where(_J.space_id == w.space, _J.kind == LEARN_JOB, later)
        .order_by(_J.thread, _J.seq)
        .limit(_TURNS_AT_ONCE_COUNT)
    )
    rows = w.connection.execute(waiting).all()
    done = _Done()
    _drop_turns(w, origin, rows, done)
    more = len(rows) == _TURNS_AT_ONCE_COUNT
    return done, (rows[-1].thread, rows[-1].seq) if more else None


def _drop_turns(w: Transaction, origin: Origin, rows: Iterable[Any], done: _Done) -> None:
    for row in rows:
        if origin.matches_turn(unpack_turn(row.payload)):
            one = (_J.space_id == w.space, _J.thread == row.thread, _J.seq == row.seq)
            if w.connection.execute(delete(jobs).where(*one)).rowcount:
                done.turns.add((row.thread, row.seq))


def _memories(w: Transaction, origin: Origin, after: str | None) -> tuple[_Done, Any]:
    found = (
        select(_M.id)
        .where(
            _M.space_id == w.space,
            _M.is_turn.is_(False),
            _M.id > (after or ""),
            _M.state.in_([state.value for state in _STANDING]),
            or_(_known_to_learning(), _M.trust == Trust.UNTRUSTED.value),
            origin.row_filter,
        )
        .order_by(_M.id)
        .limit(_AT_ONCE_COUNT)
    )
    ids = list(w.connection.execute(found).scalars())
    done = _Done()
    for id in ids:
        memory = memories.get_for_update(w, id)
        if memory is not None and memory.state in _STANDING and origin.matches_memory(memory):
            _undo(w, origin, memory, done)
    return done, ids[-1] if len(ids) == _AT_ONCE_COUNT else None


def _known_to_learning() -> ColumnElement[bool]:
    return select(_L.memory_id).where(_L.space_id == _M.space_id, _L.memory_id == _M.id).exists()


def _undo(w: Transaction, origin: Origin, memory: Memory, done: _Done) -> None:
    first = _first_undone(w, origin, memory)
    if first is None:
        return
    if memory.state is State.PENDING:
        learned_facts.delete_proposal(w, memory.id)
        hard_delete(w, [memory.id])
        done.proposals.add(memory.id)
    elif first.version == 1:
        _forget(w, memory, done)
        if memory.state is not State.SUPERSEDED:
            _stand_again(w, origin, memory.id, done, since=0)
    elif memory.state is not State.SUPERSEDED:  # that one comes back with what replaced it, or not
        _put_back(w, memory, first.version - 1, done)
        _stand_again(w, origin, memory.id, done, since=first.at)


def _first_undone(w: Transaction, origin: Origin, memory: Memory) -> Wording | None:
    """Where the wordings from this source begin; None if the current one is not one of them.

    All wordings of a memory are from one chat; of agent and role only the last is noted, and stands
    for those before it. Of messages each has its own. Who takes back a message of their own takes
    back, too, what a tool wrote down because of it; for an operator that is a person's own word.
    """
    if not origin.matches_memory(memory):
        return None
    first = None
    for wording in reversed(wordings(w, memory)):
        if not wording.learned and origin.identities is None:
            break
        first = wording
        if origin.message is not None:
            break
    return first


def _forget(w: Transaction, memory: Memory, done: _Done) -> None:
    gone = replace(
        memory,
        state=State.FORGOTTEN,
        purge_at=w.at + timedelta(days=limits.RESTORABLE_DAYS),
        updated_at=w.at,
    )
    told = "deleted" if memory.state is State.ACTIVE else None
    memories.update_fields(replace(w, why=_GONE), gone, HistoryEvent.DELETE, told)
    done.forgotten.add(memory.id)


def _put_back(w: Transaction, memory: Memory, version: int, done: _Done) -> None:
    """An earlier wording, no further than it might go then or may go now."""
    which = (_V.space_id == w.space, _V.memory_id == memory.id, _V.version == version)
    then = w.connection.execute(select(memory_versions).where(*which)).one()
    heard = w.audiences.get_people(w.connection, w.space, [then.heard])[then.heard]
    back = replace(
        memory,
        content=then.content,
        data=memory.data if _has_its_data(w, memory, version) else None,
        version=memory.version + 1,
        speaker=then.speaker,
        subjects=people(then.subjects),
        heard_by=heard,
        visibility=min(memory.visibility, to_visibility(then.visibility), key=lambda v: v.rank),
        sensitivity=max(memory.sensitivity, to_sensitivity(then.sensitivity), key=lambda s: s.rank),
        portable=memory.portable and bool(then.portable),
        source=replace(memory.source, message=None),
        agent=None,
        role=None,
        state=State.ACTIVE,
        superseded_by=None,
        updated_at=w.at,
    )
    memories.update_content(replace(w, why=_BACK), back, {AS_VERSION: str(version)})
    _compare_by(w, back)
    _settle(w, back)
    done.reworded.add(memory.id)


def _has_its_data(w: Transaction, memory: Memory, version: int) -> bool:
    """Whether its data has been the same since that version: other data than now's is not kept."""
    since = select(_H.detail).where(
        _H.space_id == w.space, _H.memory_id == memory.id, _H.version > version
    )
    details = map(json.loads, w.connection.execute(since).scalars())
    return not any("data" in (one.get("fields"), one.get("also")) for one in details)


def _compare_by(w: Transaction, memory: Memory) -> None:
    """What learning compared it by was of the other wording."""
    whose = memory.owner or memory.learned_in or ""
    of_themselves = not memory.subjects or memory.owner in memory.subjects
    fact = StoredFact(
        slot=memory.slot, value=None, negated=False, about_speaker=of_themselves, about="[]"
    )
    learned_facts.save_fact(w, memory.id, whose, memory.content, fact)


def _stand_again(w: Transaction, origin: Origin, id: str, done: _Done, since: int) -> None:
    """What gave way to a memory, from then on. Where that is from the source as well it goes, and
    what gave way to it is looked for."""
    gave_way = select(_M.id).where(
        _M.space_id == w.space, _M.superseded_by == id, _M.updated_at >= since
    )
    for before in w.connection.execute(gave_way).scalars().all():
        memory = memories.get_for_update(w, before)
        if memory is None or memory.superseded_by != id:
            continue
        first = _first_undone(w, origin, memory)
        if memory.state is State.FORGOTTEN:  # reverted before
            _stand_again(w, origin, memory.id, done, since=0)
        elif memory.state is not State.SUPERSEDED or memories.is_key_taken(w, memory):
            continue
        elif first is None:
            _restore(w, memory, done)
        elif first.version > 1:
            _put_back(w, memory, first.version - 1, done)
        else:
            _forget(w, memory, done)
            _stand_again(w, origin, memory.id, done, since=0)


def _restore(w: Transaction, memory: Memory, done: _Done) -> None:
    back = replace(memory, state=State.ACTIVE, superseded_by=None, updated_at=w.at)
    memories.update_fields(replace(w, why=_AGAIN), back, HistoryEvent.RESTORE, "restored")
    _settle(w, back)
    done.restored.add(memory.id)


def _settle(w: Transaction, memory: Memory) -> None:
    if memory.key is not None and memory.owner is not None:
        owners = load_identities(w.connection, w.space, [memory.owner]).current_identities(
            memory.owner
        )
        update_key_precedence(w.connection, w.space, sorted(owners), memory.category, memory.key)
