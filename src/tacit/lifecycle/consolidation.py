"""Merge memories of one owner that say the same, and undo such merges."""

from __future__ import annotations

import json
import logging
import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from sqlalchemy import Connection, or_, select

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import LanguageFailed
from tacit.learning.reconciliation import ask_verdicts, is_believable
from tacit.lifecycle.duplicates import (
    DuplicateCandidate,
    MemoryPair,
    disclosure_key,
    find_certain_pairs,
    find_numbers,
    find_similar_pairs,
    numbers_agree,
    select_candidates,
    to_hundredths,
)
from tacit.lifecycle.inferred import count_unanswered, find_next_owner, make_budget, should_ask_model
from tacit.lifecycle.tasks import LifecycleOptions, SaveProgress, StepProgress, TaskStep, write_step
from tacit.llm.budget import Allowance
from tacit.llm.language_model import LanguageModel
from tacit.records.memory import HistoryEvent, Memory, State
from tacit.retrieval.retriever import Retriever
from tacit.storage import learned_facts, memories, relations
from tacit.storage.engine import chunks, delete_rows, insert_missing, update_rows
from tacit.storage.memories import RELATED_TO, Transaction
from tacit.storage.memory_reads import read_vectors
from tacit.storage.relations import FOREVER, STATED_BY_PERSON, PairCheck
from tacit.storage.schema import history_table, memories_table, relations_table
from tacit.storage.spaces import person_path, restamp_memories
from tacit.storage.store import Store
from tacit.text import split_terms

# Merge two memories into one, and undo it. The other one stays, superseded; both histories name the
# run.

_M = memories_table.c
_H = history_table.c
_R = relations_table.c
_RUN, _INTO, _OTHER, _UPDATED = "run", "into", "other", "updated"
_MERGED_FIELDS = ("importance", "pinned", "tags")
_UNDO_REASON = "the merge was undone"
_PAGE_COUNT = 500
# Forgetting or erasing the memory that stayed includes the other one.
_UNDOABLE_STATES = (State.ACTIVE, State.SUPERSEDED, State.EXPIRED)


def choose_kept(pair: MemoryPair) -> tuple[Memory, Memory]:
    """Choose which of two equal memories stays and which one is superseded.

    In this order: the one with a key, the longer lasting, the pinned, the more important, an older
    one that says more; otherwise the newer wording.
    """
    older, newer = pair.older.memory, pair.newer.memory
    says_more = len(split_terms(older.content)) > len(split_terms(newer.content)) and (
        find_numbers(older.content) >= find_numbers(newer.content)
    )
    ranks = [
        (
            one.key is not None,
            one.expires_at is None,
            one.expires_at or from_micros(0),
            one.pinned,
            one.importance,
            says_more if one is older else not says_more,
        )
        for one in (older, newer)
    ]
    return (older, newer) if not pair.replaced and ranks[0] > ranks[1] else (newer, older)


def outlasts(one: Memory, other: Memory) -> bool:
    """Report whether one memory lasts at least as long as the other."""
    if one.expires_at is None or other.expires_at is None:
        return one.expires_at is None
    return one.expires_at >= other.expires_at


def merge_pair(tx: Transaction, pair: MemoryPair, run: str) -> bool:
    """Merge a pair; rows are locked in the order of their ids.

    Return False, without a change, if one of them has changed meanwhile or they do not belong
    together.
    """
    now = {id: memories.get_for_update(tx, id) for id in pair.key}
    kept, gone = (now[one.id] for one in choose_kept(pair))
    looked_at = {note.id: note.memory.version for note in (pair.older, pair.newer)}
    if kept is None or gone is None or not _is_mergeable(kept, gone, tx.at, replaced=pair.replaced):
        return False
    if any(one.version != looked_at[one.id] for one in (kept, gone)):
        return False
    better = enrich_kept(kept, gone)
    if better != kept:
        better = replace(better, updated_at=tx.at)
    before = {name: json.dumps(getattr(kept, name), ensure_ascii=False) for name in _MERGED_FIELDS}
    told = {_RUN: run, _OTHER: gone.id, _UPDATED: str(to_micros(kept.updated_at)), **before}
    memories.update_fields(tx, better, HistoryEvent.MERGE, "merged", told)
    _add_accesses(tx, kept, gone.access_count, gone.last_accessed_at)
    _copy_relations(tx, kept.id, gone.id)
    left = replace(gone, state=State.SUPERSEDED, superseded_by=kept.id, updated_at=tx.at)
    told = {_RUN: run, _INTO: kept.id, _UPDATED: str(to_micros(gone.updated_at))}
    memories.update_fields(tx, left, HistoryEvent.MERGE, "superseded", told)
    return True


def can_merge(pair: MemoryPair, at: datetime) -> bool:
    """Report whether a pair may merge, without reading its current rows."""
    return _is_mergeable(*choose_kept(pair), at, replaced=pair.replaced)


def _is_mergeable(kept: Memory, gone: Memory, at: datetime, *, replaced: bool) -> bool:
    """Report whether one may supersede the other: never one with a key or with data of its own."""
    stands = all(
        one.state is State.ACTIVE
        and not one.is_turn
        and not one.inferred
        and one.data is None
        and (one.expires_at is None or one.expires_at > at)
        for one in (kept, gone)
    )
    lasting = replaced or outlasts(kept, gone)
    return stands and lasting and gone.key is None and disclosure_key(kept) == disclosure_key(gone)


def enrich_kept(kept: Memory, gone: Memory) -> Memory:
    """Add the other memory's fields to the one that stays, none of which affect disclosure."""
    return replace(
        kept,
        importance=max(kept.importance, gone.importance),
        pinned=kept.pinned or gone.pinned,
        tags=tuple(dict.fromkeys([*kept.tags, *gone.tags]))[: limits.TAGS_MAX_COUNT],
    )


def _add_accesses(tx: Transaction, kept: Memory, count: int, last: datetime | None) -> None:
    """Add access counts, which are stored apart from the memory and never cached."""
    used: dict[str, Any] = {"access_count": max(0, kept.access_count + count)}
    if last is not None and (kept.last_accessed_at is None or last > kept.last_accessed_at):
        used["last_accessed_at"] = last
    update_rows(tx.connection, memories_table, tx.space, _M.id == kept.id, **used)


def _copy_relations(tx: Transaction, kept: str, gone: str) -> None:
    """Copy relations to the memory that stays. Those of the other stay too, unused."""
    rows = [
        {**row, "from_id": ends[0], "to_id": ends[1], "created_at": tx.at}
        for row in _list_relations(tx.connection, tx.space, gone)
        if (ends := _moved_ends(row, kept, gone)) is not None
    ]
    insert_missing(tx.connection, relations_table, tx.space, rows)


def _list_relations(connection: Connection, space: str, id: str) -> list[Any]:
    touching = or_(_R.from_id == id, _R.to_id == id)
    found = select(relations_table).where(_R.space_id == space, touching)
    return list(connection.execute(found).mappings())


def _moved_ends(row: Any, kept: str, gone: str) -> tuple[str, str] | None:
    ends = tuple(kept if end == gone else end for end in (row["from_id"], row["to_id"]))
    if ends[0] == ends[1]:
        return None
    if row["relation_type"] == RELATED_TO:
        return min(ends), max(ends)
    return ends[0], ends[1]


# Undo


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRecord:
    kept: str
    gone: str
    updated_at: datetime  # of the superseded memory, before the merge


def list_merges(connection: Connection, space: str, run: str) -> dict[str, list[MergeRecord]]:
    """List a run's merges that were not undone, by the id of the memory that stayed."""
    found: defaultdict[str, list[MergeRecord]] = defaultdict(list)
    after = ""
    while True:
        page = (
            select(_M.id)
            .where(_M.space_id == space, _M.superseded_by.is_not(None), _M.id > after)
            .order_by(_M.id)
            .limit(_PAGE_COUNT)
        )
        ids = list(connection.execute(page).scalars())
        events = select(_H.memory_id, _H.detail).where(
            _H.space_id == space, _H.memory_id.in_(ids), _H.event == HistoryEvent.MERGE.value
        )
        for id, detail in connection.execute(events) if ids else ():
            told = json.loads(detail)
            if told.get(_RUN) == run and _INTO in told:
                was = from_micros(int(told[_UPDATED]))
                found[told[_INTO]].append(MergeRecord(kept=told[_INTO], gone=id, updated_at=was))
        if len(ids) < _PAGE_COUNT:
            return found
        after = ids[-1]


def order_outermost_first(merged: Mapping[str, Sequence[MergeRecord]]) -> list[str]:
    """Order kept memories so that one that was itself merged later comes after its successor."""
    into = {one.gone: kept for kept, some in merged.items() for one in some}

    def depth(id: str) -> int:
        steps = 0
        while id in into and steps <= len(into):
            id, steps = into[id], steps + 1
        return steps

    return sorted(merged, key=lambda id: (depth(id), id))


def undo_merges(tx: Transaction, run: str, kept_id: str, merged: Sequence[MergeRecord]) -> int:
    """Undo a run's merges into one memory and return how many memories were restored.

    The kept memory gets its former fields back unless it was changed since.
    """
    held = {id: memories.get_for_update(tx, id) for id in sorted({kept_id, *(one.gone for one in merged)})}
    kept = held[kept_id]
    if kept is None or kept.state not in _UNDOABLE_STATES:
        return 0
    back, undo = 0, replace(tx, why=_UNDO_REASON)
    for one in merged:
        gone = held[one.gone]
        if gone is None or gone.state is not State.SUPERSEDED or gone.superseded_by != kept_id:
            continue
        if _has_changed_since(_list_history_details(tx, gone.id), run):
            continue
        back_again = replace(gone, state=State.ACTIVE, superseded_by=None, updated_at=one.updated_at)
        memories.update_fields(undo, back_again, HistoryEvent.RESTORE, "restored", {_RUN: run})
        # Record the check, or the next run would merge them again.
        check = PairCheck(similarity=STATED_BY_PERSON, is_same=False, checked_at=tx.at + FOREVER)
        relations.save_pair_checks(tx, {relations.pair_key(one.kept, one.gone): check})
        _delete_copied_relations(tx, kept_id, one.gone)
        counted = memories.get_for_update(tx, kept_id)
        assert counted is not None
        _add_accesses(tx, counted, -gone.access_count, None)
        back += 1
    if back and back == len(merged):
        _restore_kept(undo, kept, run)
    if back:
        restamp_memories(tx.connection, tx.space, [kept_id])
    return back


def _delete_copied_relations(tx: Transaction, kept: str, gone: str) -> None:
    """Delete the relations that were copied when the two were merged."""
    merged_at = select(_H.at).where(_H.space_id == tx.space, _H.memory_id == gone, _H.event == HistoryEvent.MERGE.value)
    moments = list(tx.connection.execute(merged_at).scalars())
    for row in _list_relations(tx.connection, tx.space, gone):
        ends = _moved_ends(row, kept, gone)
        if ends is not None:
            between = (_R.from_id == ends[0], _R.to_id == ends[1])
            copied = (_R.relation_type == row["relation_type"], _R.created_at.in_(moments))
            delete_rows(tx.connection, relations_table, tx.space, *between, *copied)


def _restore_kept(tx: Transaction, kept: Memory, run: str) -> None:
    events = _list_history_details(tx, kept.id)
    if _has_changed_since(events, run):
        return
    before = next(told for told in events if told.get(_RUN) == run and _OTHER in told)
    was = {name: json.loads(before[name]) for name in _MERGED_FIELDS}
    as_before = replace(
        kept,
        importance=was["importance"],
        pinned=was["pinned"],
        tags=tuple(was["tags"]),
        updated_at=from_micros(int(before[_UPDATED])),
    )
    memories.update_fields(tx, as_before, HistoryEvent.UPDATE, "updated", {_RUN: run})


def _list_history_details(tx: Transaction, id: str) -> list[dict[str, str]]:
    found = select(_H.detail).where(_H.space_id == tx.space, _H.memory_id == id).order_by(_H.seq)
    return [json.loads(detail) for detail in tx.connection.execute(found).scalars()]


def _has_changed_since(events: Iterable[dict[str, str]], run: str) -> bool:
    """Report whether a memory changed since the run, other than by the run and its undoing."""
    began = False
    for told in events:
        began = began or told.get(_RUN) == run
        if began and told.get(_RUN) != run:
            return True
    return False


# Consolidation: merge duplicates, one owner at a time and a few pairs per step. Without a model
# only certain pairs are merged. With one, similar pairs are asked about, several per request and so
# many a day; a failing model decides nothing.

CONSOLIDATE_TASK = "consolidate"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnerPlan:
    """One owner's memories, and what to do about them."""

    owner: str
    certain: Sequence[MemoryPair] = ()
    alike: Sequence[MemoryPair] = ()  # to ask about now
    more: bool = False  # further pairs are left to ask about
    spent: int = 0  # pairs asked about today


def build_consolidate_task(
    store: Store, retriever: Retriever, options: LifecycleOptions, model: LanguageModel | None, allowance: Allowance
) -> TaskStep:
    """Build the consolidation task.

    The cursor is the last owner who is done. The count `run` is the run's id, by which it can be
    undone.
    """
    return _Consolidation(store, retriever, options, model, allowance).step


@dataclass(frozen=True, slots=True)
class _Consolidation:
    store: Store
    retriever: Retriever
    options: LifecycleOptions
    model: LanguageModel | None
    allowance: Allowance

    def step(self, space: str, before: StepProgress, save: SaveProgress) -> StepProgress:
        if "run" not in before.counts:
            run = f"{self.store.clock():%Y%m%d%H%M%S}{secrets.randbelow(1_000):03d}"
            before = before.advance(before.cursor, run=int(run))
        asks = self.model is not None and should_ask_model(before)
        plan, passed = None, None
        if self.options.consolidate_enabled:
            read = partial(self._plan_owner, space, asks=asks)
            plan, passed = find_next_owner(self.store, space, before.cursor or "", read)
        behind = before.advance(passed)
        write = partial(write_step, self.store, space, save)
        if plan is None:
            return write(lambda tx: _skip_owners(tx, behind))
        if plan.certain:
            return write(lambda tx: _merge_certain(tx, behind, plan))
        try:
            same = self._ask_model(space, plan.alike)
        except LanguageFailed as failed:
            _log.info("The model did not compare pairs: %s", type(failed).__name__)
            after = count_unanswered(behind.advance(None, people=1), plan.owner, failed)
            return write(lambda _: after)
        return write(lambda tx: _merge_same(tx, behind, plan, same))

    def _plan_owner(self, space: str, connection: Connection, owner: str, *, asks: bool) -> _OwnerPlan | None:
        """Plan what to do about an owner's memories; None: nothing."""
        now, audiences = self.store.clock(), self.store.audiences
        found = relations.list_mergeable(connection, audiences, space, owner, now)
        if len(found) < 2:
            return None
        most = limits.CONSOLIDATE_POOL_MAX_COUNT
        known = {one.id: one for one in learned_facts.list_newest_facts(connection, space, [owner], most)}
        notes, may = select_candidates(found, known, now), partial(can_merge, at=now)
        checked = relations.list_pair_checks(connection, space, sorted(note.id for note in notes), now)
        sure = find_certain_pairs(notes, checked, may)
        if sure:
            return _OwnerPlan(owner=owner, certain=sure[: limits.CONSOLIDATE_MERGE_BATCH_COUNT])
        ran = relations.last_reflection(connection, space, owner, CONSOLIDATE_TASK)
        spent = ran[1] if ran is not None and ran[0].date() == now.date() else 0
        left = self.options.consolidate_pairs_per_day - spent
        if not asks or left <= 0:
            return None
        vectors = self._load_vectors(connection, space, owner, notes)
        wanted = min(left, limits.CONSOLIDATE_BATCH_MAX_COUNT)
        alike = list(islice(find_similar_pairs(notes, vectors, checked, may), wanted + 1))
        more = len(alike) > wanted and left > wanted
        if not alike:
            return None
        return _OwnerPlan(owner=owner, alike=alike[:wanted], more=more, spent=spent)

    def _load_vectors(
        self, connection: Connection, space: str, owner: str, notes: Sequence[DuplicateCandidate]
    ) -> dict[str, bytes] | None:
        """Load vectors, or None where there is no embedder: then words alone decide."""
        model = self.retriever.index_cache.model
        if model is None:
            return None
        dialect, home = self.store.database.dialect, person_path(owner)
        found: dict[str, bytes] = {}
        for ids in chunks(note.id for note in notes):
            found |= read_vectors(connection, dialect, space, home, ids, model)
        return found

    def _ask_model(self, space: str, alike: Sequence[MemoryPair]) -> list[bool]:
        """Ask the model which pairs are equal, outside any transaction.

        Pairs with different numbers, or hardly similar ones, are not equal whatever it answers.
        """
        assert self.model is not None
        budget = make_budget(self.store, space, self.allowance)
        by_meaning = self.retriever.index_cache.model is not None
        said = ask_verdicts([one.pair for one in alike], self.model, budget)
        return [
            verdict == "same" and numbers_agree(one) and (is_believable(one.pair) or not by_meaning)
            for one, verdict in zip(alike, said, strict=True)
        ]


def _merge_certain(tx: Transaction, before: StepProgress, plan: _OwnerPlan) -> StepProgress:
    _lock_pairs(tx, plan.certain)
    merged = sum(merge_pair(tx, one, str(before.counts["run"])) for one in plan.certain)
    # As long as merges succeed, stay with the same owner.
    cursor = before.cursor if merged else plan.owner
    return before.advance(cursor, merged=merged, certain=merged, people=0 if merged else 1)


def _merge_same(tx: Transaction, before: StepProgress, plan: _OwnerPlan, same: Sequence[bool]) -> StepProgress:
    there, run = _lock_pairs(tx, plan.alike), str(before.counts["run"])
    said = list(zip(plan.alike, same, strict=True))
    merged = sum(merge_pair(tx, one, run) for one, is_same in said if is_same)
    noted = {
        one.key: PairCheck(similarity=to_hundredths(one.likeness), is_same=is_same, checked_at=tx.at)
        for one, is_same in said
        if there >= {*one.key}
    }
    relations.save_pair_checks(tx, noted)
    spent = plan.spent + len(plan.alike)
    relations.save_reflection(tx, plan.owner, CONSOLIDATE_TASK, tx.at, spent)
    return before.advance(
        before.cursor if plan.more else plan.owner,
        merged=merged,
        asked=1,
        answered=1,
        pairs=len(plan.alike),
        people=0 if plan.more else 1,
    )


def _skip_owners(tx: Transaction, after: StepProgress) -> StepProgress:
    """Save that owners up to the cursor need nothing; without a cursor, that none is left."""
    if after.cursor is None:
        relations.delete_old_pair_checks(tx)
    return after


def _lock_pairs(tx: Transaction, found: Sequence[MemoryPair]) -> set[str]:
    """Lock all rows in the order of their ids, which avoids deadlocks; return those that exist."""
    ids = sorted({id for one in found for id in one.key})
    return {memory.id for memory in memories.lock_memories(tx, ids)}
