"""Cache the partition indexes of a process and find the neighbors of a new memory."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from tacit import limits
from tacit.records.accounts import Person
from tacit.records.request import Request
from tacit.retrieval import partition_index as s
from tacit.retrieval.partition_index import (
    Bits,
    CandidateSet,
    Floats,
    IndexSlice,
    Ints,
    PartitionIndex,
    RowNumbers,
    StaticScores,
    StringCodes,
    signature_bits,
)
from tacit.retrieval.text_features import KnownNames
from tacit.storage import memory_reads, revisions, vectors
from tacit.storage.dialect import Dialect
from tacit.storage.memories import SimilarMemories
from tacit.storage.memory_reads import MemoryEdge

# All the shelves of a process: filled from the store, and emptied when they hold too much.

_VECTORS_BY_ID_MAX_COUNT = 500  # with more of a home wanted, all its vectors are read in one sweep

CandidateIds = dict[str, tuple[int, str]]  # id → (stamp, home)


class IndexCache:
    def __init__(self, dialect: Dialect, model: str | None) -> None:
        self.codes = StringCodes()
        self.model = model
        self._dialect = dialect
        self._indexes: OrderedDict[tuple[str, str], PartitionIndex] = OrderedDict()
        self._lock = Lock()

    def build_candidates(
        self,
        connection: Connection,
        request: Request,
        held: CandidateIds,
        known: Sequence[Person] = (),
    ) -> CandidateSet:
        """These ids at these stamps, from their homes' shelves, put there first if need be."""
        space = request.space
        homes: dict[str, list[tuple[str, int]]] = {}
        for id, (stamp, home) in held.items():
            homes.setdefault(home, []).append((id, stamp))
        gathered = []
        for home in sorted(homes):
            shelf = self._get_index(space, home)
            with shelf.lock:
                self._fill(connection, space, home, shelf, homes[home])
                led = shelf.rows
                places = np.array([led[id][1] for id, _ in homes[home]], np.int32)
            gathered.append((shelf, places))
        self._evict()
        return self._assemble(gathered, KnownNames(request, known), _own_identities(request))

    def update_candidates(
        self,
        connection: Connection,
        request: Request,
        within: CandidateSet,
        changes: Mapping[str, tuple[int, str] | None],
        known: Sequence[Person],
    ) -> CandidateSet:
        """The same with a few changes: each id at another stamp, or no longer within reach."""
        came: dict[str, list[tuple[str, int]]] = {}
        for id, now in changes.items():
            if now is not None:
                came.setdefault(now[1], []).append((id, now[0]))
        gone = [at for at in map(within.position_of, changes) if at is not None]
        kept = np.ones(len(within), np.bool_)
        kept[gone] = False
        # A shelf of which nothing is left was replaced: to keep it would keep all that ever were.
        stay = [(part.partition, part.rows[kept[part.positions]]) for part in within.parts]
        by_shelf = {shelf: places for shelf, places in stay if len(places)}
        for home, wanted in came.items():
            shelf = self._get_index(request.space, home)
            with shelf.lock:
                self._fill(connection, request.space, home, shelf, wanted)
                places = np.array([shelf.rows[one][1] for one, _ in wanted], np.int32)
            old = by_shelf.get(shelf, np.zeros(0, np.int32))
            by_shelf[shelf] = np.concatenate([old, places])
        return self._assemble(
            list(by_shelf.items()), KnownNames(request, known), _own_identities(request)
        )

    def restrict(self, within: CandidateSet, kept: NDArray[np.bool_]) -> CandidateSet:
        """Some of it, as if there were nothing else."""
        some = [(part.partition, part.rows[kept[part.positions]]) for part in within.parts]
        return self._assemble(some, within.names, within.own_identities)

    def candidates_of(self, shelf: PartitionIndex, within: CandidateSet) -> CandidateSet:
        """Everything on one shelf that nobody else has, for whom `within` is."""
        shelf.index_pending()
        places = np.arange(len(shelf), dtype=np.int32)
        return self._assemble([(shelf, places)], within.names, within.own_identities)

    def _assemble(
        self,
        gathered: Sequence[tuple[PartitionIndex, RowNumbers]],
        names: KnownNames,
        mine: frozenset[str],
    ) -> CandidateSet:
        every = [shelf.facts[places] for shelf, places in gathered]
        rows = (
            np.concatenate(every) if every else np.zeros((0, PartitionIndex.FACTS_COUNT), np.int64)
        )
        self._redact(rows, mine)
        count = len(rows)
        position = np.arange(count, dtype=np.int32)
        if count and rows[:, s.SESSION].max() >= 0:
            # By conversation and turn; what stands alone keeps the order it has.
            order = np.lexsort((position, rows[:, s.SEQ], rows[:, s.SESSION]))
            rows = rows[order]
            position[order] = np.arange(count, dtype=np.int32)
        facts = np.ascontiguousarray(rows.T)
        part_of, place_of = np.empty(count, np.int32), np.empty(count, np.int32)
        parts, start = [], 0
        for number, (shelf, places) in enumerate(gathered):
            positions = position[start : start + len(places)]
            index = np.full(len(shelf), -1, np.int32)
            index[places] = positions
            part_of[positions], place_of[positions] = number, places
            parts.append(IndexSlice(shelf, places, positions, index, shelf.matrix, shelf.placed))
            start += len(places)
        spoken = np.unique(facts[s.NAME, facts[s.SESSION] >= 0])
        speakers = frozenset(self.codes.word(int(code)) for code in spoken if code >= 0)
        return CandidateSet(
            parts=tuple(parts),
            part_of=part_of,
            row_of=place_of,
            facts=facts,
            static_scores=StaticScores.of(facts, self.codes),
            names=names,
            own_identities=mine,
            speakers=speakers,
        )

    def _redact(self, rows: Ints, mine: frozenset[str]) -> None:
        """Neutral values for what only the owner in private sees, as `disclosure.redact` has them:
        then no order, filter or reason tells them. A turn is as it was said."""
        owner = rows[:, s.OWNER]
        hidden = (owner >= 0) & (rows[:, s.SESSION] < 0)
        for identity in mine:
            hidden &= owner != self.codes.of(identity)
        if hidden.any():
            rows[hidden, s.IMPORTANCE] = limits.IMPORTANCE_DEFAULT
            rows[hidden, s.PINNED] = 0
            rows[hidden, s.ROLE] = -1

    def load_owner_index(
        self, connection: Connection, space: str, owner: str, rev: int, cleared: int
    ) -> PartitionIndex:
        """Everything of one owner's, whoever may hear it: for comparing a new memory with the old
        ones, and never for an answer. `rev` and `cleared` are those of the owner's partition."""
        home = revisions.person_path(owner)
        shelf = self._get_index(space, home)
        if shelf.complete_at < cleared:  # something was erased since: it is not to be compared with
            shelf = self._get_index(space, home, anew=shelf.complete_at >= 0)
        with shelf.lock:
            if shelf.complete_at != rev:
                since = shelf.complete_at if cleared <= shelf.complete_at < rev else -1
                changed = memory_reads.list_changed(connection, space, owner, since)
                self._fill(connection, space, home, shelf, changed)
                shelf.complete_at = rev
        return shelf

    def get_cached(self, space: str, owner: str) -> PartitionIndex | None:
        """What `home` gave last, without a look at the store: see `whole_at` for when that was."""
        with self._lock:
            shelf = self._indexes.get((space, revisions.person_path(owner)))
        return (
            shelf
            if shelf is not None and shelf.complete_at >= 0 and not shelf.is_fragmented
            else None
        )

    def add_written(
        self, row: Mapping[str, Any], vector: bytes, edges: Iterable[MemoryEdge]
    ) -> None:
        """A memory that this process has just written, with its edges. If nobody wrote in between,
        its owner's shelf is as whole with it as it was before."""
        if row["owner"] is None:
            return
        shelf = self._get_index(row["space_id"], revisions.person_path(row["owner"]))
        with shelf.lock:
            if shelf.complete_at == row["stamp"] - 1 and row["id"] not in shelf.rows:
                shelf.add(memory_reads.RankingFeatures.from_new_row(row), row["stamp"], vector)
                for edge in edges:
                    shelf.add_edge(edge)
                shelf.complete_at = row["stamp"]

    def _fill(
        self,
        connection: Connection,
        space: str,
        home: str,
        shelf: PartitionIndex,
        wanted: list[tuple[str, int]],
    ) -> None:
        missing = shelf.list_missing(wanted)
        if missing:
            self._add_missing(connection, space, home, shelf, missing, dict(wanted))
        shelf.index_pending()

    def _add_missing(
        self,
        connection: Connection,
        space: str,
        home: str,
        shelf: PartitionIndex,
        missing: list[str],
        stamps: Mapping[str, int],
    ) -> None:
        vectors = self._vectors(connection, space, home, missing)
        for row in memory_reads.read_features(connection, space, missing):
            shelf.add(row, stamps[row.id], vectors.get(row.id))
        for edge in memory_reads.list_edges(connection, space, missing):
            shelf.add_edge(edge)

    def _vectors(
        self, connection: Connection, space: str, home: str, ids: list[str]
    ) -> dict[str, bytes]:
        if self.model is None:
            return {}
        some = ids if len(ids) <= _VECTORS_BY_ID_MAX_COUNT else None
        return vectors.read_vectors(connection, self._dialect, space, home, some, self.model)

    def _get_index(self, space: str, home: str, *, anew: bool = False) -> PartitionIndex:
        with self._lock:
            shelf = self._indexes.get((space, home))
            if shelf is None or shelf.is_fragmented or anew:
                shelf = self._indexes[space, home] = PartitionIndex(self.codes)
            self._indexes.move_to_end((space, home))
            return shelf

    def _evict(self) -> None:
        with self._lock:
            count = sum(len(shelf) for shelf in self._indexes.values())
            while len(self._indexes) > 1 and count > limits.INDEX_CACHE_MAX_COUNT:
                _, shelf = self._indexes.popitem(last=False)
                count -= len(shelf)


def _own_identities(request: Request) -> frozenset[str]:
    return request.own_identities if request.private else frozenset()


# Which of a person's memories a new one is like: found before it is written, under no lock.

_EXHAUSTIVE_MAX_COUNT = 1_024
_COMPARED_COUNT = 64
_ERRORS = 3.0  # how many times the usual error two may seem further apart than they are


def find_neighbors(
    library: IndexCache, connection: Connection, request: Request, vector: bytes, link_min: float
) -> Mapping[str, float]:
    """The nearest of what is the writer's own, wherever they write, from `link_min` on, as of this
    snapshot. By the time the edges are written one may not stand any more: look again then."""
    if request.subject is None:
        return {}
    rev, cleared = revisions.person_revision(connection, request.space, request.subject)
    shelf = library.load_owner_index(connection, request.space, request.subject, rev, cleared)
    return _find_nearest(shelf, vector, link_min).similarity


def find_cached_neighbors(
    library: IndexCache, request: Request, vector: bytes, link_min: float
) -> SimilarMemories | None:
    """As of the last time that somebody looked: true if the write finds that revision."""
    shelf = library.get_cached(request.space, request.subject) if request.subject else None
    if shelf is None:
        return None
    found = _find_nearest(shelf, vector, link_min)
    best = list(found.similarity.items())[: limits.RELATIONS_PER_MEMORY_MAX_COUNT]
    return SimilarMemories(similarity=dict(best), revision=found.revision)


def _find_nearest(shelf: PartitionIndex, vector: bytes, link_min: float) -> SimilarMemories:
    with shelf.lock:
        facts, whole_at = shelf.facts, shelf.complete_at
        places, cosines = _compare_vectors(shelf, vector, link_min)
    near = np.flatnonzero(cosines >= link_min)
    found: dict[str, float] = {}
    for at in near[np.argsort(-cosines[near], kind="stable")].tolist():
        place, likeness = int(places[at]), float(cosines[at])
        if len(found) > limits.RELATIONS_PER_MEMORY_MAX_COUNT:  # one may be what is reworded
            break
        id = shelf.ids[place]
        # It stands, and this is not where it was before its last change.
        if facts[place, s.IS_LINKABLE] and shelf.rows[id][1] == place:
            found[id] = likeness
    return SimilarMemories(similarity=found, revision=whole_at)


def _compare_vectors(
    shelf: PartitionIndex, vector: bytes, link_min: float
) -> tuple[NDArray[np.intp], Floats]:
    """Places and their likeness: all of them, or those that seem near enough in outline. What
    somebody has by the thousands takes too long to compare with each new memory."""
    asked = np.frombuffer(vector, np.float32)
    count, matrix = len(shelf), shelf.matrix
    if matrix.shape[1] != len(asked):
        return np.zeros(0, np.intp), np.zeros(0, np.float32)
    bits = signature_bits(len(asked))
    if count <= _EXHAUSTIVE_MAX_COUNT or not bits:
        return np.arange(count), np.vecdot(matrix[:count], asked)
    apart = _hamming_distances(*shelf.signatures(asked))
    places = np.flatnonzero(apart <= _max_hamming_distance(link_min, bits))
    if len(places) > _COMPARED_COUNT:
        places = places[np.argpartition(apart[places], _COMPARED_COUNT)[:_COMPARED_COUNT]]
    return places, np.vecdot(matrix[places], asked)


def _hamming_distances(outlines: Bits, asked: Bits) -> NDArray[np.uint8]:
    apart: NDArray[np.uint8] = np.bitwise_count(outlines[0] ^ asked[0])
    for row, bits in zip(outlines[1:], asked[1:], strict=True):
        apart += np.bitwise_count(row ^ bits)
    return apart


@lru_cache(maxsize=8)
def _max_hamming_distance(cosine: float, bits: int) -> float:
    """By how many bits two that are as alike as this may differ."""
    share = math.acos(min(max(cosine, -1.0), 1.0)) / math.pi
    return bits * share + _ERRORS * math.sqrt(bits * share * (1 - share))
