"""Consolidation: what somebody has twice becomes one, a person at a time and a few pairs a step.

Without a model only what is certain is merged. With one, what is alike is asked about, a handful of
pairs in a question and so many a day; a model that fails decides nothing.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import LanguageFailed
from tacit.learning.reconciliation import ask_verdicts, is_believable
from tacit.lifecycle.alike import nearest
from tacit.lifecycle.concluded import ACTOR, budget_of, noted, still_asking, unanswered
from tacit.lifecycle.merge import may_merge, merge
from tacit.lifecycle.pairs import Note, Two, certain, hundredths, numbers_agree, pool
from tacit.lifecycle.policy import Upkeep
from tacit.lifecycle.progress import Progress, Save, Work
from tacit.llm.budget import Allowance
from tacit.llm.language_model import LanguageModel
from tacit.retrieval.retriever import Retriever
from tacit.storage import learned_facts, memories, relations, revisions, vectors
from tacit.storage.memories import Transaction
from tacit.storage.relations import PairCheck, PairKey
from tacit.storage.store import Store

TASK = "consolidate"
_VECTORS_AT_ONCE_COUNT = 500
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """One person's memories, and what there is to do about them."""

    owner: str
    certain: Sequence[Two] = ()
    alike: Sequence[Two] = ()  # to ask about now
    more: bool = False  # there is more to ask about
    spent: int = 0  # pairs asked about today


def consolidating(
    store: Store,
    recollection: Retriever,
    upkeep: Upkeep,
    model: LanguageModel | None,
    allowance: Allowance,
) -> Work:
    """The cursor is the last person who is done with. Among the counts `run` is the name of the
    run, by which it can be undone."""
    return _Consolidating(store, recollection, upkeep, model, allowance).step


@dataclass(frozen=True, slots=True)
class _Consolidating:
    store: Store
    retriever: Retriever
    options: Upkeep
    model: LanguageModel | None
    allowance: Allowance

    def step(self, space: str, before: Progress, save: Save) -> Progress:
        if "run" not in before.counts:
            before = before.advance(before.cursor, run=self._new_run_id())
        asks = self.model is not None and still_asking(before)
        look, passed = self._next_plan(space, before.cursor or "", asks=asks)
        if look is None:
            return self._skip_owners(space, before.advance(passed), save)
        behind = before.advance(passed)
        if look.certain:
            return self._merge_certain(space, behind, look, save)
        try:
            same = self._ask_model(space, look.alike)
        except LanguageFailed as failed:
            _log.info("pairs were not compared: %s", type(failed).__name__)
            after = unanswered(behind.advance(None, people=1), look.owner, failed)
            return noted(self.store, space, after, save)
        return self._merge_same(space, behind, look, same, save)

    def _new_run_id(self) -> int:
        """A name that says when, as a number."""
        return int(f"{self.store.clock():%Y%m%d%H%M%S}{secrets.randbelow(1_000):03d}")

    def _skip_owners(self, space: str, after: Progress, save: Save) -> Progress:
        """Nothing to do for those up to here; for nobody any more, where there is no cursor."""

        def work(w: Transaction) -> None:
            if after.cursor is None:
                relations.delete_old_pair_checks(w)
            save(w.connection, after)

        self.store.write_as(space, ACTOR, work)
        return after

    def _next_plan(self, space: str, after: str, *, asks: bool) -> tuple[_Look | None, str | None]:
        """The next person for whom there is something to do, and the last one who has nothing;
        None for the latter where nobody is left."""
        if not self.options.consolidate_enabled:
            return None, None
        for _ in range(limits.OWNERS_BATCH_COUNT):
            with self.store.database.read() as connection:
                owner = relations.next_owner(connection, space, after)
                if owner is None:
                    return None, None
                look = self._plan_owner(connection, space, owner, asks=asks)
            if look.certain or look.alike:
                return look, after
            after = owner
        return None, after

    def _plan_owner(self, connection: Connection, space: str, owner: str, *, asks: bool) -> _Look:
        now, audiences = self.store.clock(), self.store.audiences
        found = relations.list_mergeable(connection, audiences, space, owner, now)
        if len(found) < 2:
            return _Look(owner=owner)
        most = limits.CONSOLIDATE_POOL_MAX_COUNT
        known = {
            one.id: one for one in learned_facts.list_newest_facts(connection, space, [owner], most)
        }
        notes, may = pool(found, known, now), partial(may_merge, at=now)
        checked = relations.list_pair_checks(
            connection, space, sorted(note.id for note in notes), now
        )
        sure = certain(notes, checked, may)
        if sure:
            return _Look(owner=owner, certain=sure[: limits.CONSOLIDATE_MERGE_BATCH_COUNT])
        ran = relations.last_reflection(connection, space, owner, TASK)
        spent = ran[1] if ran is not None and ran[0].date() == now.date() else 0
        left = self.options.consolidate_pairs_per_day - spent
        if not asks or left <= 0:
            return _Look(owner=owner)
        vectors = self._load_vectors(connection, space, owner, notes)
        wanted = min(left, limits.CONSOLIDATE_BATCH_MAX_COUNT)
        alike = list(islice(nearest(notes, vectors, checked, may), wanted + 1))
        more = len(alike) > wanted and left > wanted
        return _Look(owner=owner, alike=alike[:wanted], more=more, spent=spent)

    def _load_vectors(
        self, connection: Connection, space: str, owner: str, notes: Sequence[Note]
    ) -> dict[str, bytes] | None:
        """None where nobody makes any: then words alone say what is alike."""
        model = self.retriever.index_cache.model
        if model is None:
            return None
        dialect, home = self.store.database.dialect, revisions.person_path(owner)
        found: dict[str, bytes] = {}
        for start in range(0, len(notes), _VECTORS_AT_ONCE_COUNT):
            ids = [note.id for note in notes[start : start + _VECTORS_AT_ONCE_COUNT]]
            found |= vectors.read_vectors(connection, dialect, space, home, ids, model)
        return found

    def _ask_model(self, space: str, alike: Sequence[Two]) -> list[bool]:
        """Whether each says the same, before any transaction. Two notes with different numbers do
        not, nor two that are hardly alike, whatever a model says."""
        assert self.model is not None
        budget = budget_of(self.store, space, self.allowance)
        by_meaning = self.retriever.index_cache.model is not None
        said = ask_verdicts([one.pair for one in alike], self.model, budget)
        return [
            verdict == "same" and numbers_agree(one) and (is_believable(one.pair) or not by_meaning)
            for one, verdict in zip(alike, said, strict=True)
        ]

    def _merge_certain(self, space: str, before: Progress, look: _Look, save: Save) -> Progress:
        run = str(before.counts["run"])

        def work(w: Transaction) -> Progress:
            _hold(w, look.certain)
            merged = sum(merge(w, one, run) for one in look.certain)
            # As long as something comes of it, the same person once more.
            cursor = before.cursor if merged else look.owner
            counts = {"merged": merged, "certain": merged, "people": 0 if merged else 1}
            after = before.advance(cursor, **counts)
            save(w.connection, after)
            return after

        return self.store.write_as(space, ACTOR, work)

    def _merge_same(
        self, space: str, before: Progress, look: _Look, same: Sequence[bool], save: Save
    ) -> Progress:
        run = str(before.counts["run"])

        def work(w: Transaction) -> Progress:
            there = _hold(w, look.alike)
            merged = sum(
                merge(w, one, run) for one, is_same in zip(look.alike, same, strict=True) if is_same
            )
            noted: dict[PairKey, PairCheck] = {
                one.key: PairCheck(
                    similarity=hundredths(one.likeness), is_same=is_same, checked_at=w.at
                )
                for one, is_same in zip(look.alike, same, strict=True)
                if there >= {*one.key}
            }
            relations.save_pair_checks(w, noted)
            relations.save_reflection(w, look.owner, TASK, w.at, look.spent + len(look.alike))
            after = before.advance(
                before.cursor if look.more else look.owner,
                merged=merged,
                asked=1,
                answered=1,
                pairs=len(look.alike),
                people=0 if look.more else 1,
            )
            save(w.connection, after)
            return after

        return self.store.write_as(space, ACTOR, work)


def _hold(w: Transaction, found: Sequence[Two]) -> set[str]:
    """Lock all rows in the order of their ids, so that nobody waits for one who waits for them;
    those that are still there."""
    ids = sorted({id for one in found for id in one.key})
    return {id for id in ids if memories.get_for_update(w, id) is not None}
