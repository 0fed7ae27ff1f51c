"""Cache the partition indexes of a process and find the neighbors of a new memory."""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict
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
from tacit.retrieval import partition_index
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

_VECTORS_BY_ID_MAX_COUNT = 500  # for more ids, all vectors of the partition are read at once

CandidateIds = dict[str, tuple[int, str]]  # id → (stamp, partition)


class IndexCache:
    """The partition indexes of a process, filled from the storage; the least recently used go."""

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
        """Return these ids at these stamps; load what is missing into the indexes first."""
        space = request.space
        by_home: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        for id, (stamp, home) in held.items():
            by_home[home].append((id, stamp))
        gathered = [
            self._load_rows(connection, space, home, wanted)
            for home, wanted in sorted(by_home.items())
        ]
        self._evict()
        return self._assemble(gathered, KnownNames(request, known), _own_identities(request))

    def update_candidates(
        self,
        connection: Connection,
        request: Request,
        candidates: CandidateSet,
        changes: Mapping[str, tuple[int, str] | None],
        known: Sequence[Person],
    ) -> CandidateSet:
        """Apply a few changes: each id has another stamp, or None if it is no longer permitted."""
        added: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        for id, now in changes.items():
            if now is not None:
                added[now[1]].append((id, now[0]))
        gone = [at for at in map(candidates.position_of, changes) if at is not None]
        kept = np.ones(len(candidates), np.bool_)
        kept[gone] = False
        # Drop an index without remaining rows: it was replaced, and would never be freed.
        stay = [(part.partition, part.rows[kept[part.positions]]) for part in candidates.parts]
        by_index = {index: places for index, places in stay if len(places)}
        for home, wanted in added.items():
            index, places = self._load_rows(connection, request.space, home, wanted)
            old = by_index.get(index, np.zeros(0, np.int32))
            by_index[index] = np.concatenate([old, places])
        return self._assemble(
            list(by_index.items()), KnownNames(request, known), _own_identities(request)
        )

    def restrict(self, candidates: CandidateSet, kept: NDArray[np.bool_]) -> CandidateSet:
        """Return the candidates under a mask, as if there were no others."""
        some = [(part.partition, part.rows[kept[part.positions]]) for part in candidates.parts]
        return self._assemble(some, candidates.names, candidates.own_identities)

    def candidates_of(self, index: PartitionIndex, candidates: CandidateSet) -> CandidateSet:
        """Return all rows of a temporary index, for the requester of `candidates`."""
        index.index_pending()
        places = np.arange(len(index), dtype=np.int32)
        return self._assemble([(index, places)], candidates.names, candidates.own_identities)

    def _assemble(
        self,
        gathered: Sequence[tuple[PartitionIndex, RowNumbers]],
        names: KnownNames,
        mine: frozenset[str],
    ) -> CandidateSet:
        every = [index.facts[places] for index, places in gathered]
        rows = (
            np.concatenate(every) if every else np.zeros((0, PartitionIndex.FACTS_COUNT), np.int64)
        )
        self._redact(rows, mine)
        count = len(rows)
        position = np.arange(count, dtype=np.int32)
        if count and rows[:, partition_index.SESSION].max() >= 0:
            # By session and turn; memories without a session keep their order.
            order = np.lexsort(
                (position, rows[:, partition_index.SEQ], rows[:, partition_index.SESSION])
            )
            rows = rows[order]
            position[order] = np.arange(count, dtype=np.int32)
        facts = np.ascontiguousarray(rows.T)
        part_of, place_of = np.empty(count, np.int32), np.empty(count, np.int32)
        parts, start = [], 0
        for number, (index, places) in enumerate(gathered):
            positions = position[start : start + len(places)]
            position_of = np.full(len(index), -1, np.int32)
            position_of[places] = positions
            part_of[positions], place_of[positions] = number, places
            parts.append(
                IndexSlice(index, places, positions, position_of, index.matrix, index.placed)
            )
            start += len(places)
        spoken = np.unique(facts[partition_index.NAME, facts[partition_index.SESSION] >= 0])
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
        """Neutralize fields that only the owner in private sees, as `redact_memory` does.

        Otherwise ranking, filters or explanations would reveal them. Episodes stay as they are.
        """
        owner = rows[:, partition_index.OWNER]
        hidden = (owner >= 0) & (rows[:, partition_index.SESSION] < 0)
        for identity in mine:
            hidden &= owner != self.codes.of(identity)
        if hidden.any():
            rows[hidden, partition_index.IMPORTANCE] = limits.IMPORTANCE_DEFAULT
            rows[hidden, partition_index.PINNED] = 0
            rows[hidden, partition_index.ROLE] = -1

    def load_owner_index(
        self, connection: Connection, space: str, owner: str, rev: int, cleared: int
    ) -> PartitionIndex:
        """Load all memories of one owner, to compare a new memory with; never for an answer.

        `rev` and `cleared` are the revisions of the owner's partition.
        """
        home = revisions.person_path(owner)
        index = self._get_index(space, home)
        if index.complete_at < cleared:  # rows were erased since: they must not be compared
            index = self._get_index(space, home, replace=index.complete_at >= 0)
        with index.lock:
            if index.complete_at != rev:
                since = index.complete_at if cleared <= index.complete_at < rev else -1
                changed = memory_reads.list_changed(connection, space, owner, since)
                self._fill(connection, space, home, index, changed)
                index.complete_at = rev
        return index

    def get_cached(self, space: str, owner: str) -> PartitionIndex | None:
        """Return the owner's index as of its `complete_at`, without reading the storage."""
        with self._lock:
            index = self._indexes.get((space, revisions.person_path(owner)))
        if index is None or index.complete_at < 0 or index.is_fragmented:
            return None
        return index

    def add_written(
        self, row: Mapping[str, Any], vector: bytes, edges: Iterable[MemoryEdge]
    ) -> None:
        """Add a memory that this process has just written, with its edges.

        If there was no other write in between, the owner's index stays complete.
        """
        if row["owner"] is None:
            return
        index = self._get_index(row["space_id"], revisions.person_path(row["owner"]))
        with index.lock:
            if index.complete_at == row["stamp"] - 1 and row["id"] not in index.rows:
                index.add(memory_reads.RankingFeatures.from_new_row(row), row["stamp"], vector)
                for edge in edges:
                    index.add_edge(edge)
                index.complete_at = row["stamp"]

    def _load_rows(
        self, connection: Connection, space: str, home: str, wanted: list[tuple[str, int]]
    ) -> tuple[PartitionIndex, RowNumbers]:
        """Return the index of a partition, and the rows of these ids at these stamps."""
        index = self._get_index(space, home)
        with index.lock:
            self._fill(connection, space, home, index, wanted)
            return index, np.array([index.rows[id][1] for id, _ in wanted], np.int32)

    def _fill(
        self,
        connection: Connection,
        space: str,
        home: str,
        index: PartitionIndex,
        wanted: list[tuple[str, int]],
    ) -> None:
        """Load the missing ids. The caller holds the lock of the index."""
        missing = index.list_missing(wanted)
        if missing:
            stamps, found = dict(wanted), {}
            if self.model is not None:
                some = missing if len(missing) <= _VECTORS_BY_ID_MAX_COUNT else None
                found = vectors.read_vectors(
                    connection, self._dialect, space, home, some, self.model
                )
            for row in memory_reads.read_features(connection, space, missing):
                index.add(row, stamps[row.id], found.get(row.id))
            for edge in memory_reads.list_edges(connection, space, missing):
                index.add_edge(edge)
        index.index_pending()

    def _get_index(self, space: str, home: str, *, replace: bool = False) -> PartitionIndex:
        with self._lock:
            index = self._indexes.get((space, home))
            if index is None or index.is_fragmented or replace:
                index = self._indexes[space, home] = PartitionIndex(self.codes)
            self._indexes.move_to_end((space, home))
            return index

    def _evict(self) -> None:
        with self._lock:
            count = sum(len(index) for index in self._indexes.values())
            while len(self._indexes) > 1 and count > limits.INDEX_CACHE_MAX_COUNT:
                _, index = self._indexes.popitem(last=False)
                count -= len(index)


def _own_identities(request: Request) -> frozenset[str]:
    return request.own_identities if request.private else frozenset()


# Neighbors of a new memory among its owner's, searched before the write and without its lock.

_EXHAUSTIVE_MAX_COUNT = 1_024
_COMPARED_COUNT = 64
_ERRORS = 3.0  # tolerated deviation of a Hamming distance, in standard deviations


def find_neighbors(
    index_cache: IndexCache,
    connection: Connection,
    request: Request,
    vector: bytes,
    link_min: float,
) -> Mapping[str, float]:
    """Return the writer's nearest own memories with at least `link_min`, as of this snapshot.

    Check them again when the edges are written: a neighbor may be gone by then.
    """
    if request.subject is None:
        return {}
    rev, cleared = revisions.person_revision(connection, request.space, request.subject)
    index = index_cache.load_owner_index(connection, request.space, request.subject, rev, cleared)
    return _find_nearest(index, vector, link_min).similarity


def find_cached_neighbors(
    index_cache: IndexCache, request: Request, vector: bytes, link_min: float
) -> SimilarMemories | None:
    """Return neighbors from the cached index; valid if the write finds the same revision."""
    index = index_cache.get_cached(request.space, request.subject) if request.subject else None
    if index is None:
        return None
    found = _find_nearest(index, vector, link_min)
    best = list(found.similarity.items())[: limits.RELATIONS_PER_MEMORY_MAX_COUNT]
    return SimilarMemories(similarity=dict(best), revision=found.revision)


def _find_nearest(index: PartitionIndex, vector: bytes, link_min: float) -> SimilarMemories:
    with index.lock:
        facts, whole_at = index.facts, index.complete_at
        places, cosines = _compare_vectors(index, vector, link_min)
    near = np.flatnonzero(cosines >= link_min)
    found: dict[str, float] = {}
    for at in near[np.argsort(-cosines[near], kind="stable")].tolist():
        place, likeness = int(places[at]), float(cosines[at])
        if len(found) > limits.RELATIONS_PER_MEMORY_MAX_COUNT:  # one may be the updated memory
            break
        id = index.ids[place]
        # Active, and not the outdated row of a changed memory.
        if facts[place, partition_index.IS_LINKABLE] and index.rows[id][1] == place:
            found[id] = likeness
    return SimilarMemories(similarity=found, revision=whole_at)


def _compare_vectors(
    index: PartitionIndex, vector: bytes, link_min: float
) -> tuple[NDArray[np.intp], Floats]:
    """Return rows and cosines: of all rows or, in a large index, of those with a near signature."""
    asked = np.frombuffer(vector, np.float32)
    count, matrix = len(index), index.matrix
    if matrix.shape[1] != len(asked):
        return np.zeros(0, np.intp), np.zeros(0, np.float32)
    bits = signature_bits(len(asked))
    if count <= _EXHAUSTIVE_MAX_COUNT or not bits:
        return np.arange(count), np.vecdot(matrix[:count], asked)
    apart = _hamming_distances(*index.signatures(asked))
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
    """Return the number of bits in which two signatures of this cosine may differ."""
    share = math.acos(min(max(cosine, -1.0), 1.0)) / math.pi
    return bits * share + _ERRORS * math.sqrt(bits * share * (1 - share))
