"""Keep the memories of a partition in memory as an index, with the weights of the ranking."""

from __future__ import annotations

import math
from array import array
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from tacit import limits
from tacit.clock import from_micros
from tacit.records.accounts import Person
from tacit.records.memory import Kind, State, Trust
from tacit.records.request import Request
from tacit.retrieval.text_features import KnownNames, date_terms, find_opening, mentions_time
from tacit.storage import memory_reads
from tacit.storage.dialect import Dialect
from tacit.storage.memories import SimilarMemories
from tacit.storage.memory_reads import MemoryEdge, read_vectors, unpack_people
from tacit.storage.spaces import person_path, person_revision
from tacit.text import fold_text, join_neighbors, key_words, split_words, stem_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    # Evidence: these add up.
    words: float = 1.0  # BM25 of the text
    words_around: float = 1.0  # BM25 of the text and its neighbours as one
    answer: float = 0.5  # BM25 of the turn before, if that one asks something
    vector: float = 2.0  # the cosine
    vector_around: float = 1.5  # the cosines around it
    session: float = 1.5  # the best cosine in the same conversation
    # Fit: evidence is multiplied by one plus the sum of these.
    person: float = 0.4
    time: float = 0.4  # from the time that the question names
    when: float = 0.3  # the question asks when, and the text states a time
    asking: float = 0.1  # subtracted from an episode that is a question
    related: float = 0.15
    importance: float = 0.2
    recency: float = 0.15
    pinned: float = 0.1
    trust: float = 0.2
    insight: float = 0.5  # subtracted from inferred memories
    # Questions of a person about themselves: outweighs all evidence, so own facts come first.
    own: float = 1.0
    own_by_words: float = 0.8  # share if the words match and no slot does
    of_others: float = 0.5  # factor of a memory about another person
    # Shapes.
    word_reach: tuple[float, ...] = (1.0, 0.5, 0.25)  # of neighbours 1, 2, 3 turns away
    vector_reach: tuple[float, ...] = (1.0, 0.5)
    k1: float = 0.9
    k1_around: float = 1.2
    b: float = 0.4
    recency_days: float = 30.0
    min_cosine: float = 0.15  # below it, and without a shared word, a memory is no result

    @property
    def max_evidence(self) -> float:
        """The largest possible sum of the evidence."""
        words = self.words + self.words_around + self.answer
        return words + self.vector + 2 * self.vector_around + self.session


WEIGHTS = Weights()


# One index for each partition (a person or a chat) with the words, vectors and columns that ranking
# needs. A changed memory gets a new row and its old row stays, so readers that hold row numbers of
# an earlier moment are not affected. An index knows nothing about disclosure: callers ask for rows
# that came through the predicate.

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
RowNumbers = NDArray[np.int32]
Bits = NDArray[np.uint64]

# The columns of `facts`, all integers.
(
    IMPORTANCE, PINNED, CREATED, UPDATED, CONTENT_CHANGED, OBSERVED, EXPIRES, CATEGORY, KIND, TRUST, OWNER,
    SPEAKER, NAME, AGENT, RUN, ROLE, SESSION, SEQ, LENGTH, HAS_QUESTION, MENTIONS_TIME, IS_LINKABLE, SLOT,
    OPENING, ABOUT_OWNER,
) = range(25)  # fmt: skip
NEVER_EXPIRES: Final = 2**62
# Marks a word of a key: two words of a question may match it together, as "time zone" does.
KEY_TERM_PREFIX: Final = "="
_SIGNATURE_MAX_BITS: Final = 192
_SIGNATURE_MIN_BITS: Final = 128
_FIRST_CAPACITY: Final = 64


def signature_bits(dimension: int) -> int:
    """Return the length of a signature in bits; 0 for a dimension that is too small for one."""
    bits = min(dimension // 128 * 64, _SIGNATURE_MAX_BITS)
    return bits if bits >= _SIGNATURE_MIN_BITS else 0


def _make_signatures(vectors: Floats) -> Bits:
    """Return one bit per hyperplane: the side on which a vector lies.

    The share of different bits approximates the angle between two vectors. The hyperplanes are
    chosen so that comparing two coordinates gives the side.
    """
    bits = signature_bits(vectors.shape[-1])
    sides: Bits = np.packbits(vectors[..., :bits] > vectors[..., bits : 2 * bits], axis=-1).view(np.uint64)
    return sides


class StringCodes:
    """Strings as small integers, the same in all indexes, so that arrays can be compared."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._words: list[str] = []

    def of(self, word: str | None) -> int:
        """Return the code of a string; -1 for None."""
        if word is None:
            return -1
        code = self._codes.setdefault(word, len(self._codes))
        if code == len(self._words):
            self._words.append(word)
        return code

    def word(self, code: int) -> str:
        return self._words[code]


class PartitionIndex:
    FACTS_COUNT: Final = 25

    def __init__(self, codes: StringCodes) -> None:
        self.lock = Lock()
        self.rows: dict[str, tuple[int, int]] = {}  # id → (stamp, current row)
        self.all_rows: dict[str, list[int]] = {}  # id → current and earlier rows
        self.ids: list[str] = []
        self.people: list[frozenset[str]] = []  # subjects and speaker
        self.edges: defaultdict[str, dict[str, MemoryEdge]] = defaultdict(dict)
        self.facts: Ints = np.zeros((_FIRST_CAPACITY, PartitionIndex.FACTS_COUNT), np.int64)
        self.matrix: Floats = np.zeros((_FIRST_CAPACITY, 0), np.float32)
        self.placed: NDArray[np.bool_] = np.zeros(_FIRST_CAPACITY, np.bool_)  # has a vector
        self._pending: list[Any] = []  # records of the last rows, not indexed yet
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        self._signatures: Bits = np.zeros((0, 0), np.uint64)
        self._signature_count = 0
        self._codes = codes
        self.complete_at = -1  # the revision at which all memories of the partition were here

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_fragmented(self) -> bool:
        """Whether most rows are outdated, so that the index should be replaced."""
        return len(self.ids) > 2 * len(self.rows) + _FIRST_CAPACITY

    def list_missing(self, wanted: Iterable[tuple[str, int]]) -> list[str]:
        """Return the ids that are not here with the given stamp."""
        places = self.rows
        return [id for id, stamp in wanted if places.get(id, (None, 0))[0] != stamp]

    def add(self, row: Any, stamp: int, vector: bytes | None) -> None:
        """Add a record of `memory_reads.read_features`. The caller holds the lock."""
        place = len(self.ids)
        if place == len(self.facts):
            self._grow()
        self.facts[place, IS_LINKABLE] = row.state == State.ACTIVE and row.session is None
        self._pending.append(row)
        if vector is not None:
            self._set_vector(place, np.frombuffer(vector, np.float32))
        for other in self.edges.pop(row.id, {}):  # the caller adds the current edges again
            self.edges[other].pop(row.id, None)
        self.ids.append(row.id)
        self.rows[row.id] = (stamp, place)
        self.all_rows.setdefault(row.id, []).append(place)

    def index_pending(self) -> None:
        """Index the words and columns of added rows, which writers need not wait for.

        The caller holds the lock, and calls this before it uses the rows.
        """
        first = len(self.ids) - len(self._pending)
        for place, row in enumerate(self._pending, start=first):
            when = row.created_at if row.observed_at is None else row.observed_at
            terms = stem_words(row.content) + date_terms(from_micros(when))
            named = [] if row.key is None else split_words(" ".join(key_words(row.key)))
            terms += stem_words(" ".join([*named, *join_neighbors(named)]))
            about = unpack_people(row.subjects)
            self.facts[place] = self._columns(row, when, len(terms), about)
            terms += [KEY_TERM_PREFIX + word for word in named]
            self.people.append(about | {row.speaker} if row.speaker else about)
            for term, count in Counter(terms).items():
                where, counts = self._postings.setdefault(term, (array("i"), array("i")))
                where.append(place)
                counts.append(count)
        self._pending.clear()

    def add_edge(self, edge: MemoryEdge) -> None:
        """Add an edge in both directions. The caller holds the lock."""
        for here, there in ((edge.from_id, edge.to_id), (edge.to_id, edge.from_id)):
            known = self.edges[here].get(there)
            if known is None or (known.found, -known.strength) > (edge.found, -edge.strength):
                self.edges[here][there] = edge

    def postings(self, term: str) -> tuple[RowNumbers, RowNumbers] | None:
        """Return the rows that contain a term, and its counts."""
        with self.lock:
            found = self._postings.get(term)
            if found is None:
                return None
            return np.array(found[0], np.int32), np.array(found[1], np.int32)

    def signatures(self, vector: Floats) -> tuple[Bits, Bits]:
        """Return the signatures of all rows, one per column, and that of the vector.

        The caller holds the lock.
        """
        first, count = self._signature_count, len(self.ids)
        if self._signatures.shape[1] < count:
            words = signature_bits(self.matrix.shape[1]) // 64
            room = np.zeros((words, len(self.facts)), np.uint64)
            if first:
                room[:, :first] = self._signatures[:, :first]
            self._signatures = room
        if first < count:
            self._signatures[:, first:count] = _make_signatures(self.matrix[first:count]).T
            self._signature_count = count
        return self._signatures[:, :count], _make_signatures(vector)

    def _set_vector(self, place: int, vector: Floats) -> None:
        if not self.matrix.shape[1]:
            self.matrix = np.zeros((len(self.facts), len(vector)), np.float32)
        if len(vector) == self.matrix.shape[1]:
            self.matrix[place] = vector
            self.placed[place] = True

    def _columns(self, row: Any, observed: int, length: int, about: frozenset[str]) -> Sequence[int]:
        code = self._codes.of
        return (
            row.importance,
            bool(row.pinned),
            row.created_at,
            row.updated_at,
            row.created_at if row.worded_at is None else row.worded_at,
            observed,
            NEVER_EXPIRES if row.expires_at is None else row.expires_at,
            code(row.category),
            code(row.kind),
            code(row.trust),
            code(row.owner),
            code(row.speaker),
            code(fold_text(row.name) if row.name else None),
            code(row.agent),
            code(row.run),
            code(row.role),
            code(row.session),
            -1 if row.seq is None else row.seq,
            length,
            "?" in row.content,
            mentions_time(row.content),
            row.state == State.ACTIVE and row.session is None,  # can be related to
            code(row.slot.partition(":")[0] if row.slot else None),
            code(find_opening(row.content, row.key)) if row.session is None else -1,
            row.owner is not None and (not about or row.owner in about),
        )

    def _grow(self) -> None:
        """Copy into new, larger arrays, because readers may hold the old ones."""
        room = 2 * len(self.facts)
        for name in ("facts", "matrix", "placed"):
            old = getattr(self, name)
            new = np.zeros((room, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)


_TRUST_PENALTIES = {Trust.HEARSAY: 0.5, Trust.IMPORTED: 0.25, Trust.INFERRED: 0.75}
_MIDDLE_IMPORTANCE = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticScores:
    """The scores that do not depend on the query, one value per position; names as in `Signals`."""

    sessions: Ints  # a number per session; a memory without one has a negative number of its own
    has_turns: bool
    lengths: Floats
    importance: Floats
    pinned: Floats
    trust: Floats
    prior: Floats  # weighted sum
    valid_until: int  # time of the first expiry

    @classmethod
    def of(cls, facts: Ints, codes: StringCodes) -> StaticScores:
        count = facts.shape[1]
        sessions = facts[SESSION]
        in_turn = sessions >= 0
        trust = np.zeros(count, np.float32)
        for word, less in _TRUST_PENALTIES.items():
            trust[facts[TRUST] == codes.of(word)] = -less
        importance = ((facts[IMPORTANCE] - _MIDDLE_IMPORTANCE) / 2).astype(np.float32)
        pinned = facts[PINNED].astype(np.float32)
        insight = (facts[KIND] == codes.of(Kind.INSIGHT)).astype(np.float32)
        asking = ((facts[HAS_QUESTION] > 0) & in_turn).astype(np.float32)
        prior = WEIGHTS.importance * importance + WEIGHTS.pinned * pinned + WEIGHTS.trust * trust
        return cls(
            sessions=np.where(in_turn, sessions, -1 - np.arange(count)),
            has_turns=bool(in_turn.any()),
            valid_until=int(facts[EXPIRES].min()) if count else NEVER_EXPIRES,
            lengths=facts[LENGTH].astype(np.float32),
            importance=importance,
            pinned=pinned,
            trust=trust,
            prior=(prior - WEIGHTS.insight * insight - WEIGHTS.asking * asking).astype(np.float32),
        )


_DENSE_SHARE = 4  # with more than a quarter of an index permitted, compare all its vectors at once


@dataclass(frozen=True, slots=True)
class IndexSlice:
    """The permitted rows of one index, and their positions in the candidate set."""

    partition: PartitionIndex
    rows: RowNumbers
    positions: RowNumbers
    position_of_row: RowNumbers  # row → position, -1 if not permitted
    matrix: Floats
    placed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSet:
    """The memories that a query ranks, as arrays over positions.

    Episodes are ordered by session and turn.
    """

    parts: tuple[IndexSlice, ...]
    part_of: RowNumbers  # position → number of the part
    row_of: RowNumbers  # position → row in its index
    facts: Ints  # one column for each position
    static_scores: StaticScores
    names: KnownNames  # of the people that the requester knows
    own_identities: frozenset[str]  # owners whose fields the requester sees; empty in a group
    speakers: frozenset[str]  # folded names of the speakers of episodes

    def __len__(self) -> int:
        return int(self.facts.shape[1])

    def id(self, position: int) -> str:
        part = self.parts[int(self.part_of[position])]
        return part.partition.ids[int(self.row_of[position])]

    def ids(self, positions: list[int]) -> list[str]:
        indexes = [part.partition.ids for part in self.parts]
        parts, places = self.part_of[positions].tolist(), self.row_of[positions].tolist()
        return [indexes[part][place] for part, place in zip(parts, places, strict=True)]

    def position_of(self, id: str) -> int | None:
        """Return the position of an id, also if it has got a new row since."""
        for part in self.parts:
            for place in part.partition.all_rows.get(id, ()):
                if place < len(part.position_of_row) and part.position_of_row[place] >= 0:
                    return int(part.position_of_row[place])
        return None

    def vector_of(self, id: str) -> bytes | None:
        position = self.position_of(id)
        if position is None:
            return None
        part = self.parts[int(self.part_of[position])]
        place = int(self.row_of[position])
        return bytes(part.matrix[place].tobytes()) if part.placed[place] else None

    def postings(self, term: str) -> tuple[RowNumbers, RowNumbers]:
        """Return the positions that contain a term, and its counts."""
        found = []
        for part in self.parts:
            posted = part.partition.postings(term)
            if posted is None:
                continue
            places, counts = posted
            # Rows that were added later have no position here.
            old = np.searchsorted(places, len(part.position_of_row))
            positions = part.position_of_row[places[:old]]
            here = positions >= 0
            found.append((positions[here], counts[:old][here]))
        if not found:
            nothing = np.zeros(0, np.int32)
            return nothing, nothing
        if len(found) == 1:
            return found[0]
        return np.concatenate([p for p, _ in found]), np.concatenate([c for _, c in found])

    def cosines(self, vector: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the cosine at each position, and whether there is a vector.

        Row by row: a matrix product would start threads and wait for them on a busy machine.
        """
        cosines = np.zeros(len(self), np.float32)
        placed = np.zeros(len(self), np.bool_)
        for part in self.parts:
            if part.matrix.shape[1] != len(vector):
                continue
            if len(part.rows) * _DENSE_SHARE > len(part.position_of_row):
                found = np.vecdot(part.matrix[: len(part.position_of_row)], vector)[part.rows]
            else:
                found = np.vecdot(part.matrix[part.rows], vector)
            cosines[part.positions] = found
            placed[part.positions] = part.placed[part.rows]
        return cosines, placed

    def mask_about(self, people: frozenset[str]) -> NDArray[np.bool_]:
        """Mask the positions whose subjects or speaker are among these people."""
        found = np.zeros(len(self), np.bool_)
        for part in self.parts:
            known = part.partition.people
            for place, position in zip(part.rows.tolist(), part.positions.tolist(), strict=True):
                if not people.isdisjoint(known[place]):
                    found[position] = True
        return found

    def edges(self, ids: Iterable[str]) -> dict[str, dict[str, MemoryEdge]]:
        """Return the edges of these ids; they may lead to memories that are not permitted."""
        found: dict[str, dict[str, MemoryEdge]] = {}
        wanted = set(ids)
        for part in self.parts:
            with part.partition.lock:
                for id in wanted & part.partition.edges.keys():
                    found.setdefault(id, {}).update(part.partition.edges[id])
        return found


# The indexes of a process.

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
        self, connection: Connection, request: Request, held: CandidateIds, known: Sequence[Person] = ()
    ) -> CandidateSet:
        """Return these ids at these stamps; load what is missing into the indexes first."""
        space = request.space
        by_home: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        for id, (stamp, home) in held.items():
            by_home[home].append((id, stamp))
        gathered = [self._load_rows(connection, space, home, wanted) for home, wanted in sorted(by_home.items())]
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
        return self._assemble(list(by_index.items()), KnownNames(request, known), _own_identities(request))

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
        self, gathered: Sequence[tuple[PartitionIndex, RowNumbers]], names: KnownNames, mine: frozenset[str]
    ) -> CandidateSet:
        every = [index.facts[places] for index, places in gathered]
        rows = np.concatenate(every) if every else np.zeros((0, PartitionIndex.FACTS_COUNT), np.int64)
        self._redact(rows, mine)
        count = len(rows)
        position = np.arange(count, dtype=np.int32)
        if count and rows[:, SESSION].max() >= 0:
            # By session and turn; memories without a session keep their order.
            order = np.lexsort((position, rows[:, SEQ], rows[:, SESSION]))
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
            parts.append(IndexSlice(index, places, positions, position_of, index.matrix, index.placed))
            start += len(places)
        spoken = np.unique(facts[NAME, facts[SESSION] >= 0])
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
        owner = rows[:, OWNER]
        hidden = (owner >= 0) & (rows[:, SESSION] < 0)
        for identity in mine:
            hidden &= owner != self.codes.of(identity)
        if hidden.any():
            rows[hidden, IMPORTANCE] = limits.IMPORTANCE_DEFAULT
            rows[hidden, PINNED] = 0
            rows[hidden, ROLE] = -1

    def load_owner_index(
        self, connection: Connection, space: str, owner: str, rev: int, cleared: int
    ) -> PartitionIndex:
        """Load all memories of one owner, to compare a new memory with; never for an answer.

        `rev` and `cleared` are the revisions of the owner's partition.
        """
        home = person_path(owner)
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
            index = self._indexes.get((space, person_path(owner)))
        if index is None or index.complete_at < 0 or index.is_fragmented:
            return None
        return index

    def add_written(self, row: Mapping[str, Any], vector: bytes, edges: Iterable[MemoryEdge]) -> None:
        """Add a memory that this process has just written, with its edges.

        If there was no other write in between, the owner's index stays complete.
        """
        if row["owner"] is None:
            return
        index = self._get_index(row["space_id"], person_path(row["owner"]))
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
        self, connection: Connection, space: str, home: str, index: PartitionIndex, wanted: list[tuple[str, int]]
    ) -> None:
        """Load the missing ids. The caller holds the lock of the index."""
        missing = index.list_missing(wanted)
        if missing:
            stamps, found = dict(wanted), {}
            if self.model is not None:
                some = missing if len(missing) <= _VECTORS_BY_ID_MAX_COUNT else None
                found = read_vectors(connection, self._dialect, space, home, some, self.model)
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
    index_cache: IndexCache, connection: Connection, request: Request, vector: bytes, link_min: float
) -> Mapping[str, float]:
    """Return the writer's nearest own memories with at least `link_min`, as of this snapshot.

    Check them again when the edges are written: a neighbor may be gone by then.
    """
    if request.subject is None:
        return {}
    rev, cleared = person_revision(connection, request.space, request.subject)
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
        if facts[place, IS_LINKABLE] and index.rows[id][1] == place:
            found[id] = likeness
    return SimilarMemories(similarity=found, revision=whole_at)


def _compare_vectors(index: PartitionIndex, vector: bytes, link_min: float) -> tuple[NDArray[np.intp], Floats]:
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
