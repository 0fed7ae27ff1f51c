"""Answer a question from the permitted memories, best first, each with its reasons."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np
from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.embeddings.embedder import Embedder
from tacit.errors import EmbeddingFailed
from tacit.policy.rules import AccessPath, PredicateBranch, can_see_all_fields, may_enter_prompt, predicate_parameters
from tacit.records.accounts import Person
from tacit.records.conversation import Role
from tacit.records.memory import Memory, State
from tacit.records.queries import INCLUDE_MEMORIES, INCLUDE_TURNS, RecallQuery
from tacit.records.request import Decision, Request
from tacit.retrieval.episodes import (
    EPISODE_MIN_SIMILARITY,
    EPISODES_RANKED_COUNT,
    list_unwanted_episodes,
    merge_answers,
)
from tacit.retrieval.index_cache import CREATED, EXPIRES, CandidateIds, CandidateSet, Floats, IndexCache, PartitionIndex
from tacit.retrieval.scoring import (
    RecallAnswer,
    build_answers,
    build_filter_mask,
    list_answer_ids,
    mask_categories,
    mask_owned,
    parse_query,
    rank_candidates,
    score_candidates,
)
from tacit.retrieval.text_features import find_personal_topics
from tacit.storage import memory_reads, people, search
from tacit.storage.memories import NO_VECTORS, TextVectors
from tacit.storage.memory_reads import Candidate, MemoryDecision, to_row
from tacit.storage.search import ListFilter
from tacit.storage.spaces import Revisions, chat_path, home_path, is_audience_path, person_path, read_revisions
from tacit.storage.store import Store
from tacit.telemetry.metrics import EMBEDDING_FAILURES
from tacit.text import join_neighbors, split_terms

# A permitted set caches the ids that a request may see between queries. The ids came through the
# disclosure predicate and are kept with the revisions of their access paths. Every query reads the
# revisions again in its snapshot and reloads the branches that changed. Every result goes through
# the predicate once more before it is returned, so the cache itself cannot disclose anything.

_NO_REVISION = (0, 0)


class TooManyCandidates(Exception):
    """The request may see more memories than are kept in memory."""


@dataclass(slots=True)
class _BranchIds:
    """The ids of one branch, or of one owner in it."""

    token: Any  # the revisions for which the ids are valid
    ids: CandidateIds


class PermittedSet:
    """The memories that one request may see, for all its queries."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.count = 0
        self._identity_rev: int | None = None
        self._branches: dict[tuple[bool, int, str | None], _BranchIds] = {}
        self._candidates: CandidateSet | None = None

    def load(
        self, connection: Connection, index_cache: IndexCache, requests: Sequence[Request], revisions: Revisions
    ) -> CandidateSet:
        """Return the permitted memories of this snapshot, of which these are the revisions.

        The caller holds the lock.
        """
        request = requests[0]
        if self._identity_rev != request.identity_rev:
            self._branches.clear()
            self._candidates = None
            self._identity_rev = request.identity_rev
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
            self._candidates = index_cache.build_candidates(
                connection, request, held, list_known_people(connection, request)
            )
        elif tokens != [unit.token for unit in self._branches.values()]:
            changes = {id: self._find_id(id) for id in moved}
            known = list_known_people(connection, request)
            self._candidates = index_cache.update_candidates(connection, request, self._candidates, changes, known)
        self._drop_expired(connection, index_cache, request)
        self.count = len(self._candidates)
        return self._candidates

    def _drop_expired(self, connection: Connection, index_cache: IndexCache, request: Request) -> None:
        """Remove expired memories, so that they do not count in term statistics either."""
        candidates, at = self._candidates, to_micros(request.at)
        if candidates is None or candidates.static_scores.valid_until > at:
            return
        lapsed = [candidates.id(one) for one in np.flatnonzero(candidates.facts[EXPIRES] <= at).tolist()]
        for unit in self._branches.values():
            for id in lapsed:
                unit.ids.pop(id, None)
        changes = dict.fromkeys(lapsed)
        known = list_known_people(connection, request)
        self._candidates = index_cache.update_candidates(connection, request, candidates, changes, known)

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
        """Return the ids that may have changed, or None if the whole branch was reloaded.

        Of one owner only the changes are loaded, unless rows of the owner were erased.
        """
        if owner is None:
            token, cleared = _revision_token(branch.access_path, request, revisions), None
        else:
            token, cleared = revisions.get(person_path(owner), _NO_REVISION)
        key = (request.turns, number, owner)
        unit = self._branches.get(key)
        if unit is not None and unit.token == token:
            return set()
        if owner is not None and unit is not None and cleared <= unit.token < token:
            changed = {id for id, _ in memory_reads.list_changed(connection, request.space, owner, unit.token)}
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
        self, connection: Connection, request: Request, number: int, owner: str | None, since: int | None = None
    ) -> CandidateIds:
        most = limits.PERMITTED_SET_MAX_COUNT
        found = memory_reads.list_candidates(connection, request, number, most + 1, owner=owner, since=since)
        key = (request.turns, number, owner)
        others = sum(len(unit.ids) for at, unit in self._branches.items() if at != key)
        own = len(self._branches[key].ids) if since is not None else 0
        if len(found) + others + own > most:
            raise TooManyCandidates
        return collect_ids(found)


def list_known_people(connection: Connection, request: Request) -> list[Person]:
    """List people by names that may be shown here; private names only in a private chat."""
    return people.list_known_people(connection, request, own_names=request.private)


def _diff_ids(one: CandidateIds, other: CandidateIds) -> set[str] | None:
    """Return the ids in which two differ, or None if these are most of them."""
    differ = {id for id, _ in one.items() ^ other.items()}
    return differ if 2 * len(differ) <= len(other) else None


def collect_ids(found: Iterable[Candidate]) -> CandidateIds:
    return {one.id: (one.stamp, home_path(one.owner, one.learned_in)) for one in found}


def _list_owners(request: Request, branch: PredicateBranch) -> list[str]:
    params = predicate_parameters(request)
    owners: list[str] = params["p_me" if branch.access_path is AccessPath.ME else "p_here"]
    return owners


def _revision_token(path: AccessPath, request: Request, revisions: Revisions) -> Any:
    """Return the revisions that the ids of a branch depend on."""
    if path is AccessPath.ME:
        paths = [person_path(one) for one in sorted(request.own_identities)]
        return tuple(revisions.get(one, _NO_REVISION) for one in paths)
    if path is AccessPath.ROOM:
        return tuple(revisions.get(chat_path(one), _NO_REVISION) for one in sorted(request.chat_ids))
    return frozenset(item for item in revisions.items() if is_audience_path(item[0]))


class PermittedSetCache:
    """The permitted sets of recent requests."""

    def __init__(self, index_cache: IndexCache) -> None:
        self._index_cache = index_cache
        self._permitted_sets: OrderedDict[Any, PermittedSet] = OrderedDict()
        self._lock = Lock()

    def load(self, connection: Connection, requests: Sequence[Request], revisions: Revisions) -> CandidateSet:
        """Load the set. `requests` is one request for memories, for episodes, or for both.

        The revisions are those of the snapshot, which memories and episodes share.
        """
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
            permitted = self._permitted_sets.setdefault(key, PermittedSet())
            self._permitted_sets.move_to_end(key)
        try:
            with permitted.lock:
                return permitted.load(connection, self._index_cache, requests, revisions)
        except BaseException:
            with self._lock:
                self._permitted_sets.pop(key, None)
            raise
        finally:
            self._evict()

    def _evict(self) -> None:
        with self._lock:
            count = sum(permitted.count for permitted in self._permitted_sets.values())
            while len(self._permitted_sets) > 1 and (
                count > limits.PERMITTED_SETS_TOTAL_MAX_COUNT
                or len(self._permitted_sets) > limits.PERMITTED_SETS_CACHED_MAX_COUNT
            ):
                _, permitted = self._permitted_sets.popitem(last=False)
                count -= permitted.count


# Candidate generation by the database, for requests with more memories than are kept in memory.


def generate_candidates(
    connection: Connection,
    store: Store,
    requests: Sequence[Request],
    question: str,
    model: str | None,
    vector: Floats | None,
    only: frozenset[str] | None,
) -> CandidateIds:
    """Select candidates by the words of the question, by vector if possible, and the newest."""
    terms, own = split_terms(question), find_personal_topics(question)
    topic_words = " ".join(word for topic in own for word in sorted(topic.search_words))
    words = tuple(dict.fromkeys([*terms, *join_neighbors(terms), *split_terms(topic_words)]))
    words = words[: limits.RECALL_WORDS_MAX_COUNT]
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
            ids |= {one.id for one in memory_reads.list_slot_candidates(connection, request, slots, most)}
        if vector is not None and model is not None:
            near = memory_reads.list_nearest(connection, dialect, request, model, vector.tobytes(), most)
            ids |= {one.id for one in near}
        found |= collect_ids(memory_reads.filter_visible(connection, request, sorted(ids)))
    return found


# Recall at an earlier time: the versions of that time that the requester may see now. Memories that
# were forgotten, erased or expired since do not come back. Superseded ones do, for their owner in
# private only.

_READ_BATCH_COUNT = 500


def rewind_candidates(
    connection: Connection,
    store: Store,
    index_cache: IndexCache,
    requests: list[Request],
    candidates: CandidateSet,
    moment: datetime,
) -> tuple[CandidateSet, dict[str, MemoryDecision]]:
    """Return the candidates as of that time, and the memories with their wording of that time."""
    old = np.flatnonzero(candidates.facts[CREATED] <= to_micros(moment)).tolist()
    ids = [candidates.id(at) for at in old]
    found: dict[str, MemoryDecision] = {}
    vectors: dict[str, bytes | None] = {}
    for request in requests:
        for memory, now, decision in _list_active(connection, store, request, ids, moment):
            found[memory.id] = (memory, decision)
            same = memory.content == now.content
            vectors[memory.id] = candidates.vector_of(memory.id) if same else None
        if request.private and not request.turns:
            for memory, _, decision in _list_superseded(connection, store, request, moment):
                found[memory.id] = (memory, decision)
                vectors[memory.id] = None
    index = PartitionIndex(index_cache.codes)
    for id in sorted(found):
        memory = found[id][0]
        row = memory_reads.RankingFeatures.from_new_row(to_row(memory, None))
        index.add(row, 0, vectors[id])
    return index_cache.candidates_of(index, candidates), found


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
    """Yield the owner's memories that were superseded after that time."""
    own, after = request.for_management(), None
    while True:
        wanted = ListFilter(state=State.SUPERSEDED.value, after=after)
        page = search.list_memories(
            connection, store.audiences, store.database.dialect, own, wanted, limits.PAGE_MAX_COUNT
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
    """Return the memory with its wording of that time, or None if the requester may not see it."""
    if memory.is_turn or memory.version == 1:
        # Only the owner may know when the fields last changed.
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
        data=memory.data if then is heard[-1] else None,  # data belongs to the current wording
    )


# The retriever of a process.

T = TypeVar("T")
ConvertAnswer = Callable[[Connection, Request, RecallAnswer], T]
_log = logging.getLogger(__name__)
_QUESTION_VECTORS_MAX_COUNT = 256
_TEXT_COST_MAX_CHARS = 256  # a local model reads 256 tokens, each at least one character


class SnapshotReader(Protocol):
    """Run work in a snapshot, with the resolved request."""

    def __call__(self, work: Callable[[Connection, Request], T], /) -> T: ...


class _NamesSpeakers(Exception):
    """The question names speakers of episodes; the message is its text without them."""


@dataclass(frozen=True, slots=True)
class _EpisodeQuestion:
    """What is compared with the vectors of episodes: the question without the names of their speakers."""

    text: str
    vector: Floats | None
    final: bool  # it is not compared with the names of the speakers again


class Retriever:
    """Answer queries from the in-memory indexes of a process. Safe to share between threads."""

    def __init__(self, store: Store, embedder: Embedder | None) -> None:
        self._store = store
        self.embedder = embedder
        self.index_cache = IndexCache(store.database.dialect, embedder.name if embedder else None)
        self._permitted_sets = PermittedSetCache(self.index_cache)
        self._cached_vector = lru_cache(maxsize=_QUESTION_VECTORS_MAX_COUNT)(self._embed)

    def candidates(
        self, connection: Connection, request: Request, question: RecallQuery, revisions: Revisions | None = None
    ) -> CandidateSet:
        """Return the permitted memories, or a selection if there are too many to keep in memory.

        `revisions` are those of this snapshot, if they were read in it before.
        """
        if revisions is None:
            revisions = read_revisions(connection, request)
        requests, only = _included_requests(request, question), question.only
        try:
            candidates = self._permitted_sets.load(connection, requests, revisions)
        except TooManyCandidates:
            text, model = question.text[: limits.QUESTION_MAX_CHARS], self.index_cache.model
            vector = self.embed_question(text)
            found = generate_candidates(connection, self._store, requests, text, model, vector, only)
            candidates = self.index_cache.build_candidates(
                connection, request, found, list_known_people(connection, request)
            )
        if only is None:
            return candidates
        # Memories outside the allowed categories must not count in term statistics either.
        return self.index_cache.restrict(candidates, mask_categories(candidates, only, self.index_cache.codes))

    def recall(self, read: SnapshotReader, question: RecallQuery, convert: ConvertAnswer[T]) -> list[T]:
        """Answer a query. `read` runs work in a snapshot, in which `convert` gets each answer.

        The embedding model is never called inside a snapshot.
        """
        plain = question.text[: limits.QUESTION_MAX_CHARS]
        vector = self.embed_question(plain)

        def work(connection: Connection, request: Request, episodes: _EpisodeQuestion) -> list[T]:
            found = self._answer(connection, request, question, vector, episodes)
            return [convert(connection, request, one) for one in found]

        first = _EpisodeQuestion(plain, vector, final=self.embedder is None)
        try:
            return read(lambda c, r: work(c, r, first))
        except _NamesSpeakers as named:
            # The names of the speakers, and so the text to embed, depend on the permitted episodes.
            text = str(named)
        second = _EpisodeQuestion(text, self.embed_question(text), final=True)
        return read(lambda c, r: work(c, r, second))

    def _answer(
        self,
        connection: Connection,
        request: Request,
        question: RecallQuery,
        vector: Floats | None,
        episodes: _EpisodeQuestion,
    ) -> list[RecallAnswer]:
        """Answer from memories, from episodes, or from both: memories first.

        Each is scored by itself, so memories rank as if there were no episodes.
        """
        facts: list[RecallAnswer] | None = None
        if INCLUDE_TURNS not in question.include:
            return self._rank(connection, request, question, self.candidates(connection, request, question), vector)
        alone = replace(question, include=frozenset({INCLUDE_TURNS}))
        revisions = read_revisions(connection, request)
        candidates = self.candidates(connection, request, alone, revisions)
        if not episodes.final:
            text = parse_query(episodes.text, {}, candidates.speakers).text
            if text != episodes.text:
                raise _NamesSpeakers(text)
        if INCLUDE_MEMORIES in question.include:
            of_memories = replace(question, include=frozenset({INCLUDE_MEMORIES}))
            known = self.candidates(connection, request, of_memories, revisions)
            facts = self._rank(connection, request, of_memories, known, vector)
            if not len(candidates):
                return facts
            least = max(question.threshold, EPISODE_MIN_SIMILARITY)
            alone = replace(alone, role=question.role or Role.USER, threshold=least)
        found = self._rank(connection, request, alone, candidates, episodes.vector, beside=facts)
        return found if facts is None else merge_answers(facts, found, question.top_k)

    def _rank(
        self,
        connection: Connection,
        request: Request,
        question: RecallQuery,
        candidates: CandidateSet,
        vector: Floats | None,
        beside: Sequence[RecallAnswer] | None = None,
    ) -> list[RecallAnswer]:
        """Rank memories or episodes; `beside` are the memories that episodes only add to."""
        requests, codes = _included_requests(request, question), self.index_cache.codes
        found: dict[str, MemoryDecision] | None = None
        if question.as_of is not None:
            candidates, found = rewind_candidates(
                connection, self._store, self.index_cache, requests, candidates, question.as_of
            )
            if question.only is not None:
                candidates = self.index_cache.restrict(candidates, mask_categories(candidates, question.only, codes))
        text = question.text[: limits.QUESTION_MAX_CHARS]
        asked = parse_query(text, candidates.names.find_in(text), candidates.speakers)
        kept = build_filter_mask(connection, request, question, candidates, codes)
        scores = score_candidates(asked, vector, candidates, request, codes)
        owned = mask_owned(request, candidates, codes)
        while True:
            best = rank_candidates(scores, kept, owned, candidates, question)
            ids = list_answer_ids(best)
            here = self._read_permitted(connection, requests, ids) if found is None else found
            unwanted = {id for id in ids if id in here and not may_enter_prompt(request, here[id][0])}
            if INCLUDE_TURNS in question.include:
                episodes = [here[id][0] for id in ids if id in here]
                unwanted |= list_unwanted_episodes(connection, request, text, episodes, beside)
            if not unwanted:
                return build_answers(here, candidates, scores, asked, best)
            # Rank again without them, so that they take no result's place.
            if beside is not None:  # a question may have been asked often
                question = replace(question, top_k=max(question.top_k, EPISODES_RANKED_COUNT))
            kept[[at for at in map(candidates.position_of, unwanted) if at is not None]] = False

    def _read_permitted(
        self, connection: Connection, requests: Sequence[Request], ids: Sequence[str]
    ) -> dict[str, MemoryDecision]:
        found: dict[str, MemoryDecision] = {}
        for one in requests:
            found |= memory_reads.list_visible(connection, self._store.audiences, one, ids)
        return found

    def embed_question(self, text: str) -> Floats | None:
        """Return the vector of a question, or None without a model or if the model fails."""
        if self.embedder is None or not text.strip():
            return None
        try:
            return np.frombuffer(self._cached_vector(text), np.float32)
        except EmbeddingFailed as error:
            _log.warning("recall goes by words alone: %s", type(error).__name__)
            self._store.meter.count(EMBEDDING_FAILURES, purpose="question")
            return None

    def embed_inline(self, texts: Sequence[str]) -> TextVectors:
        """Embed the texts of a write if the model is fast and the texts are short.

        Otherwise the background indexer embeds them later.
        """
        if self.embedder is None or not self.embedder.inline:
            return NO_VECTORS
        if sum(min(len(text), _TEXT_COST_MAX_CHARS) for text in texts) > limits.EMBEDDING_INLINE_MAX_CHARS:
            return NO_VECTORS
        try:
            made = self.embedder.embed(texts)
        except EmbeddingFailed as error:
            _log.warning("a vector will be made later: %s", type(error).__name__)
            self._store.meter.count(EMBEDDING_FAILURES, purpose="write")
            return NO_VECTORS
        by_text = {text: row.tobytes() for text, row in zip(texts, made, strict=True)}
        return TextVectors(model=self.embedder.name, by_text=by_text)

    def _embed(self, text: str) -> bytes:
        assert self.embedder is not None
        return self.embedder.embed_query(text).astype(np.float32).tobytes()


def _included_requests(request: Request, question: RecallQuery) -> list[Request]:
    both = {INCLUDE_MEMORIES: request, INCLUDE_TURNS: request.for_turns()}
    return [both[what] for what in (INCLUDE_MEMORIES, INCLUDE_TURNS) if what in question.include]
