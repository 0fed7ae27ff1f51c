"""Per-partition index of words, vectors and columns, and the candidate sets over it."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.clock import from_micros
from tacit.records.memory import Kind, State, Trust
from tacit.records.text import fold_text, join_neighbors, key_words, split_words, stem_words
from tacit.retrieval.text_features import KnownNames, date_terms, find_opening, mentions_time
from tacit.retrieval.weights import WEIGHTS as W
from tacit.storage.memory_reads import MemoryEdge, unpack_people

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
    sides: Bits = np.packbits(vectors[..., :bits] > vectors[..., bits : 2 * bits], axis=-1).view(
        np.uint64
    )
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

    def _columns(
        self, row: Any, observed: int, length: int, about: frozenset[str]
    ) -> Sequence[int]:
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
        prior = W.importance * importance + W.pinned * pinned + W.trust * trust
        return cls(
            sessions=np.where(in_turn, sessions, -1 - np.arange(count)),
            has_turns=bool(in_turn.any()),
            valid_until=int(facts[EXPIRES].min()) if count else NEVER_EXPIRES,
            lengths=facts[LENGTH].astype(np.float32),
            importance=importance,
            pinned=pinned,
            trust=trust,
            prior=(prior - W.insight * insight - W.asking * asking).astype(np.float32),
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
