"""Select the permitted memories that a question ranks, now or at an earlier time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from typing import Any

import numpy as np
from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.policy.predicate import AccessPath, PredicateBranch, predicate_parameters
from tacit.policy.redaction import can_see_all_fields
from tacit.records.accounts import Person
from tacit.records.memory import Memory, State
from tacit.records.request import Decision, Request
from tacit.records.text import join_neighbors, split_terms
from tacit.retrieval import partition_index as s
from tacit.retrieval.index_cache import CandidateIds, IndexCache
from tacit.retrieval.partition_index import CandidateSet, Floats, PartitionIndex
from tacit.retrieval.text_features import find_personal_topics
from tacit.storage import memory_reads, people, search
from tacit.storage.memory_reads import Candidate, MemoryDecision, to_row
from tacit.storage.revisions import (
    Revisions,
    chat_path,
    home_path,
    is_audience_path,
    person_path,
    read_revisions,
)
from tacit.storage.search import ListFilter
from tacit.storage.store import Store

# What a request may hear, kept at hand between questions and never a write behind.
#
# A reach holds ids that came through the disclosure predicate, with the revisions of the doors they
# came through. The revisions are read again in the snapshot of every question, and what moved is
# asked for anew. Whatever is chosen from a reach goes through the predicate once more before it is
# said, so that nothing kept here can disclose anything.

_NO_REVISION = (0, 0)


class TooManyCandidates(Exception):
    """More is within reach than is kept at hand."""


@dataclass(slots=True)
class _BranchIds:
    """One branch, or one owner's share of one."""

    token: Any  # the revisions that it holds for
    ids: CandidateIds


class PermittedSet:
    """Of one request, whatever the question and whenever it is asked."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.count = 0
        self._identity_rev: int | None = None
        self._branches: dict[tuple[bool, int, str | None], _BranchIds] = {}
        self._candidates: CandidateSet | None = None

    def load(
        self, connection: Connection, library: IndexCache, requests: Sequence[Request]
    ) -> CandidateSet:
        """Everything within reach in this snapshot. To be called under the lock."""
        request = requests[0]
        if self._identity_rev != request.identity_rev:
            self._branches.clear()
            self._candidates = None
            self._identity_rev = request.identity_rev
        revisions = read_revisions(connection, request)
        tokens = [unit.token for unit in self._branches.values()]
        moved: set[str] | None = set()
        for asked in requests:
            for number, branch in enumerate(memory_reads.policy_branches(asked)):
                for owner in _list_owners(asked, branch) if branch.by_owner else [None]:
                    some = self._refresh(connection, asked, revisions, number, owner, branch)
                    moved = None if moved is None or some is None else moved | some
        if self._candidates is None or moved is None:
            held: CandidateIds = {}
            for unit in self._branches.values():
                held.update(unit.ids)
            self._candidates = library.build_candidates(
                connection, request, held, list_known_people(connection, request)
            )
        elif tokens != [unit.token for unit in self._branches.values()]:
            changes = {id: self._find_id(id) for id in moved}
            known = list_known_people(connection, request)
            self._candidates = library.update_candidates(
                connection, request, self._candidates, changes, known
            )
        self._drop_expired(connection, library, request)
        self.count = len(self._candidates)
        return self._candidates

    def _drop_expired(self, connection: Connection, library: IndexCache, request: Request) -> None:
        """What has expired is not only left out of answers: it must not count in them either."""
        within, at = self._candidates, to_micros(request.at)
        if within is None or within.static_scores.valid_until > at:
            return
        lapsed = [within.id(one) for one in np.flatnonzero(within.facts[s.EXPIRES] <= at).tolist()]
        for unit in self._branches.values():
            for id in lapsed:
                unit.ids.pop(id, None)
        changes = dict.fromkeys(lapsed)
        known = list_known_people(connection, request)
        self._candidates = library.update_candidates(connection, request, within, changes, known)

    def _find_id(self, id: str) -> tuple[int, str] | None:
        return next((unit.ids[id] for unit in self._branches.values() if id in unit.ids), None)

    def _refresh(
        self,
        connection: Connection,
        request: Request,
        revisions: Revisions,
        number: int,
        owner: str | None,
        branch: PredicateBranch,
    ) -> set[str] | None:
        """The ids that this may have changed; None where all of it was asked for anew. Of one owner
        only what changed since is, unless something of theirs was erased."""
        if owner is None:
            token, cleared = _revision_token(branch.access_path, request, revisions), None
        else:
            token, cleared = revisions.get(person_path(owner), _NO_REVISION)
        key = (request.turns, number, owner)
        unit = self._branches.get(key)
        if unit is not None and unit.token == token:
            return set()
        if owner is not None and unit is not None and cleared <= unit.token < token:
            changed = {
                id
                for id, _ in memory_reads.list_changed(connection, request.space, owner, unit.token)
            }
            held = self._query_ids(connection, request, number, owner, unit.token)
            for id in changed:
                unit.ids.pop(id, None)
            unit.ids.update(held)
            unit.token = token
            return changed
        held = self._query_ids(connection, request, number, owner)
        self._branches[key] = _BranchIds(token, held)
        return _diff_ids(unit.ids, held) if unit is not None else None

    def _query_ids(
        self,
        connection: Connection,
        request: Request,
        number: int,
        owner: str | None,
        since: int | None = None,
    ) -> CandidateIds:
        most = limits.PERMITTED_SET_MAX_COUNT
        found = memory_reads.list_candidates(
            connection, request, number, most + 1, owner=owner, since=since
        )
        key = (request.turns, number, owner)
        others = sum(len(unit.ids) for at, unit in self._branches.items() if at != key)
        own = len(self._branches[key].ids) if since is not None else 0
        if len(found) + others + own > most:
            raise TooManyCandidates
        return collect_ids(found)


def list_known_people(connection: Connection, request: Request) -> list[Person]:
    """By the names that may be said here: what one calls somebody in private stays there."""
    return people.list_known_people(connection, request, own_names=request.private)


def _diff_ids(one: CandidateIds, other: CandidateIds) -> set[str] | None:
    """Where two differ; None where that is most of them."""
    differ = {id for id, _ in one.items() ^ other.items()}
    return differ if 2 * len(differ) <= len(other) else None


def collect_ids(found: Iterable[Candidate]) -> CandidateIds:
    return {one.id: (one.stamp, home_path(one.owner, one.learned_in)) for one in found}


def _list_owners(request: Request, branch: PredicateBranch) -> list[str]:
    params = predicate_parameters(request)
    owners: list[str] = params["p_me" if branch.access_path is AccessPath.ME else "p_here"]
    return owners


def _revision_token(door: AccessPath, request: Request, revisions: Revisions) -> Any:
    """The revisions that a branch's answer depends on."""
    if door is AccessPath.ME:
        doors = [person_path(one) for one in sorted(request.own_identities)]
        return tuple(revisions.get(one, _NO_REVISION) for one in doors)
    if door is AccessPath.ROOM:
        return tuple(
            revisions.get(chat_path(one), _NO_REVISION) for one in sorted(request.chat_ids)
        )
    return frozenset(item for item in revisions.items() if is_audience_path(item[0]))


class PermittedSetCache:
    """The reaches of those who asked lately."""

    def __init__(self, library: IndexCache) -> None:
        self._index_cache = library
        self._permitted_sets: OrderedDict[Any, PermittedSet] = OrderedDict()
        self._lock = Lock()

    def load(self, connection: Connection, requests: Sequence[Request]) -> CandidateSet:
        """`requests` are one request, for memories or turns or both."""
        request = requests[0]
        key = (
            request.space,
            request.requester,
            request.own_identities,
            request.chat,
            request.kind,
            request.audience,
            request.present,
            request.complete,
            request.purpose,
            tuple(one.turns for one in requests),
        )
        with self._lock:
            reach = self._permitted_sets.setdefault(key, PermittedSet())
            self._permitted_sets.move_to_end(key)
        try:
            with reach.lock:
                return reach.load(connection, self._index_cache, requests)
        except BaseException:
            with self._lock:
                self._permitted_sets.pop(key, None)
            raise
        finally:
            self._evict()

    def _evict(self) -> None:
        with self._lock:
            count = sum(reach.count for reach in self._permitted_sets.values())
            while len(self._permitted_sets) > 1 and (
                count > limits.PERMITTED_SETS_TOTAL_MAX_COUNT
                or len(self._permitted_sets) > limits.PERMITTED_SETS_CACHED_MAX_COUNT
            ):
                _, reach = self._permitted_sets.popitem(last=False)
                count -= reach.count


# Where more is within reach than is kept at hand, the database nominates what is looked at: by the
# question's words, by likeness where it can, and by what is newest.


def generate_candidates(
    connection: Connection,
    store: Store,
    requests: Sequence[Request],
    question: str,
    model: str | None,
    vector: Floats | None,
    only: frozenset[str] | None,
) -> CandidateIds:
    asked, own = split_terms(question), find_personal_topics(question)
    said = [word for topic in own for word in split_terms(" ".join(sorted(topic.search_words)))]
    words = tuple(dict.fromkeys([*asked, *join_neighbors(asked), *said]))[
        : limits.RECALL_WORDS_MAX_COUNT
    ]
    dialect, most = store.database.dialect, limits.CANDIDATES_COUNT
    found: CandidateIds = {}
    for request in requests:
        ids: set[str] = set()
        of = None if only is None else tuple(sorted(only))
        newest = ListFilter(categories=of)
        for wanted in (replace(newest, words=words), newest) if words else (newest,):
            page = search.list_memories(connection, store.audiences, dialect, request, wanted, most)
            ids |= {memory.id for memory, _ in page}
        if own and request.private:
            slots = frozenset().union(*(topic.slots for topic in own))
            ids |= {
                one.id
                for one in memory_reads.list_slot_candidates(connection, request, slots, most)
            }
        if vector is not None and model is not None:
            near = memory_reads.list_nearest(
                connection, dialect, request, model, vector.tobytes(), most
            )
            ids |= {one.id for one in near}
        found |= collect_ids(memory_reads.filter_visible(connection, request, sorted(ids)))
    return found


# What was known at an earlier time: the wordings of then, as far as they may be heard now.
#
# What was forgotten, erased or has expired since does not come back. What was replaced since does,
# but only to its owner in private: for everybody else it is gone.

_READ_BATCH_COUNT = 500


def rewind_candidates(
    connection: Connection,
    store: Store,
    library: IndexCache,
    requests: list[Request],
    within: CandidateSet,
    moment: datetime,
) -> tuple[CandidateSet, dict[str, MemoryDecision]]:
    """The same as `within`, at that time; and the memories themselves, worded as they were."""
    old = np.flatnonzero(within.facts[s.CREATED] <= to_micros(moment)).tolist()
    ids = [within.id(at) for at in old]
    found: dict[str, MemoryDecision] = {}
    vectors: dict[str, bytes | None] = {}
    for request in requests:
        for memory, now, decision in _list_active(connection, store, request, ids, moment):
            found[memory.id] = (memory, decision)
            same = memory.content == now.content
            vectors[memory.id] = within.vector_of(memory.id) if same else None
        if request.private and not request.turns:
            for memory, _, decision in _list_superseded(connection, store, request, moment):
                found[memory.id] = (memory, decision)
                vectors[memory.id] = None
    shelf = PartitionIndex(library.codes)
    for id in sorted(found):
        memory = found[id][0]
        row = memory_reads.RankingFeatures.from_new_row(to_row(memory, None))
        shelf.add(row, 0, vectors[id])
    return library.candidates_of(shelf, within), found


def _list_active(
    connection: Connection, store: Store, request: Request, ids: list[str], moment: datetime
) -> Iterator[tuple[Memory, Memory, Decision]]:
    for start in range(0, len(ids), _READ_BATCH_COUNT):
        some = ids[start : start + _READ_BATCH_COUNT]
        found = memory_reads.list_visible(connection, store.audiences, request, some)
        for memory, decision in found.values():
            then = _wording_at(connection, store, request, memory, moment)
            if then is not None:
                yield then, memory, decision


def _list_superseded(
    connection: Connection, store: Store, request: Request, moment: datetime
) -> Iterator[tuple[Memory, Memory, Decision]]:
    """The owner's own, that something else has taken the place of since."""
    own, after = request.for_management(), None
    while True:
        wanted = ListFilter(state=State.SUPERSEDED.value, after=after)
        page = search.list_memories(
            connection,
            store.audiences,
            store.database.dialect,
            own,
            wanted,
            limits.PAGE_MAX_COUNT,
        )
        for memory, decision in page:
            lapsed = memory.expires_at is not None and memory.expires_at <= request.at
            if memory.created_at <= moment < memory.updated_at and not lapsed:
                then = _wording_at(connection, store, own, memory, moment)
                if then is not None:
                    yield then, memory, decision
        if len(page) < limits.PAGE_MAX_COUNT:
            return
        last = page[-1][0]
        after = (to_micros(last.created_at), last.id)


def _wording_at(
    connection: Connection, store: Store, request: Request, memory: Memory, moment: datetime
) -> Memory | None:
    """As it was said then, if this requester may hear that wording."""
    if memory.is_turn or memory.version == 1:
        # When its fields last changed is the owner's to know.
        seen = can_see_all_fields(request, memory)
        return memory if seen else replace(memory, updated_at=memory.created_at)
    heard = memory_reads.list_versions(connection, store.audiences, request, memory)
    known = [one for one in heard if one.created_at <= moment]
    if not known:
        return None
    then = known[-1]
    return replace(
        memory,
        content=then.content,
        version=then.number,
        speaker=then.speaker,
        subjects=then.subjects,
        heard_by=then.heard_by,
        updated_at=then.created_at,
        data=memory.data if then is heard[-1] else None,  # it goes with the current wording
    )
