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

# What ranking needs to know of memories, at hand in the process: words, vectors, plain facts.
#
# One shelf for each home, a person's or a room's. A memory that changes gets a new place and
# its old one is no longer led to, so whoever holds places of an earlier moment is never
# disturbed. A shelf knows nothing about who may hear what: it is asked for places that came
# through the predicate.

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
RowNumbers = NDArray[np.int32]
Bits = NDArray[np.uint64]

# The plain facts of a memory, each a column of whole numbers.
(
    IMPORTANCE, PINNED, CREATED, UPDATED, CONTENT_CHANGED, OBSERVED, EXPIRES, CATEGORY, KIND, TRUST, OWNER,
    SPEAKER, NAME, AGENT, RUN, ROLE, SESSION, SEQ, LENGTH, HAS_QUESTION, MENTIONS_TIME, IS_LINKABLE, SLOT,
    OPENING, ABOUT_OWNER,
) = range(25)  # fmt: skip
NEVER_EXPIRES: Final = 2**62
# Before a word of a key: two words of a question may be one together, as "time zone" is.
KEY_TERM_PREFIX: Final = "="
_SIGNATURE_MAX_BITS: Final = 192
_SIGNATURE_MIN_BITS: Final = 128
_FIRST_CAPACITY: Final = 64


def signature_bits(dimension: int) -> int:
    """How many bits the outline of a vector has; none where it would tell too little."""
    bits = min(dimension // 128 * 64, _SIGNATURE_MAX_BITS)
    return bits if bits >= _SIGNATURE_MIN_BITS else 0


def _make_signatures(vectors: Floats) -> Bits:
    """On which side of some planes vectors lie, a bit for each: the share of planes between two is
    about the angle between them. The planes are such that a side is told by two coordinates."""
    bits = signature_bits(vectors.shape[-1])
    sides: Bits = np.packbits(vectors[..., :bits] > vectors[..., bits : 2 * bits], axis=-1).view(
        np.uint64
    )
    return sides


class StringCodes:
    """Words as small numbers, the same on every shelf, so that they can be compared at once."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._words: list[str] = []

    def of(self, word: str | None) -> int:
        """-1 where there is no word."""
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
        self.rows: dict[str, tuple[int, int]] = {}  # id → (stamp, place)
        self.all_rows: dict[str, list[int]] = {}  # id → where it is and where it ever was
        self.ids: list[str] = []
        self.people: list[frozenset[str]] = []  # whom it is about, and who said it
        self.edges: defaultdict[str, dict[str, MemoryEdge]] = defaultdict(dict)
        self.facts: Ints = np.zeros((_FIRST_CAPACITY, PartitionIndex.FACTS_COUNT), np.int64)
        self.matrix: Floats = np.zeros((_FIRST_CAPACITY, 0), np.float32)
        self.placed: NDArray[np.bool_] = np.zeros(_FIRST_CAPACITY, np.bool_)  # has a vector
        self._pending: list[Any] = []  # the rows of the last places
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        self._signatures: Bits = np.zeros((0, 0), np.uint64)
        self._signature_count = 0
        self._codes = codes
        self.complete_at = -1  # the revision at which everything of its home was here

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_fragmented(self) -> bool:
        """Most of its places are no longer led to: time for a new one."""
        return len(self.ids) > 2 * len(self.rows) + _FIRST_CAPACITY

    def list_missing(self, wanted: Iterable[tuple[str, int]]) -> list[str]:
        """Of ids and stamps, the ids that are not here as they stand now."""
        places = self.rows
        return [id for id, stamp in wanted if places.get(id, (None, 0))[0] != stamp]

    def add(self, row: Any, stamp: int, vector: bytes | None) -> None:
        """A row of `candidates.features`. To be called under the lock."""
        place = len(self.ids)
        if place == len(self.facts):
            self._grow()
        self.facts[place, IS_LINKABLE] = row.state == State.ACTIVE and row.session is None
        self._pending.append(row)
        if vector is not None:
            self._set_vector(place, np.frombuffer(vector, np.float32))
        for other in self.edges.pop(row.id, {}):  # they are told anew with the row
            self.edges[other].pop(row.id, None)
        self.ids.append(row.id)
        self.rows[row.id] = (stamp, place)
        self.all_rows.setdefault(row.id, []).append(place)

    def index_pending(self) -> None:
        """The words and facts of what was added. Until somebody asks a question, a writer need not
        wait for them. To be called under the lock, before anything is made of its places."""
        first = len(self.ids) - len(self._pending)
        for place, row in enumerate(self._pending, start=first):
            when = row.created_at if row.observed_at is None else row.observed_at
            said = stem_words(row.content) + date_terms(from_micros(when))
            named = [] if row.key is None else split_words(" ".join(key_words(row.key)))
            said += stem_words(" ".join([*named, *join_neighbors(named)]))
            about = unpack_people(row.subjects)
            self.facts[place] = self._columns(row, when, len(said), about)
            said += [KEY_TERM_PREFIX + word for word in named]
            self.people.append(about | {row.speaker} if row.speaker else about)
            for term, count in Counter(said).items():
                where, counts = self._postings.setdefault(term, (array("i"), array("i")))
                where.append(place)
                counts.append(count)
        self._pending.clear()

    def add_edge(self, edge: MemoryEdge) -> None:
        """Both ways. To be called under the lock."""
        for here, there in ((edge.from_id, edge.to_id), (edge.to_id, edge.from_id)):
            known = self.edges[here].get(there)
            if known is None or (known.found, -known.strength) > (edge.found, -edge.strength):
                self.edges[here][there] = edge

    def postings(self, term: str) -> tuple[RowNumbers, RowNumbers] | None:
        """The places that hold a term, and how often."""
        with self.lock:
            found = self._postings.get(term)
            if found is None:
                return None
            return np.array(found[0], np.int32), np.array(found[1], np.int32)

    def signatures(self, vector: Floats) -> tuple[Bits, Bits]:
        """All vectors in outline, a column for each, and one more, for a first look. To be called
        under the lock."""
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
        """Into new arrays: those who hold the old ones go on reading what they held."""
        room = 2 * len(self.facts)
        for name in ("facts", "matrix", "placed"):
            old = getattr(self, name)
            new = np.zeros((room, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)


# What a memory brings to every question, whatever is asked: found once, when it comes in reach.

_TRUST_PENALTIES = {Trust.HEARSAY: 0.5, Trust.IMPORTED: 0.25, Trust.INFERRED: 0.75}
_MIDDLE_IMPORTANCE = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticScores:
    """One value for each position; names as in `Signals`, those below 0 lower."""

    sessions: Ints  # a number for each conversation; what stands alone has one of its own
    has_turns: bool  # whether there are turns at all
    lengths: Floats
    importance: Floats
    pinned: Floats
    trust: Floats
    prior: Floats  # all of it, weighted
    valid_until: int  # the first moment at which something of it has expired

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


# Everything within reach of a request, as arrays over one row of positions.

_DENSE_SHARE = 4  # with more than a quarter of a shelf in reach, all of it is compared at once


@dataclass(frozen=True, slots=True)
class IndexSlice:
    """The places on one shelf that are within reach, and their positions in the whole."""

    partition: PartitionIndex
    rows: RowNumbers
    positions: RowNumbers
    position_of_row: RowNumbers  # place on the shelf → position in the whole, -1 where out of reach
    matrix: Floats
    placed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSet:
    """Turns stand in the order they were said in, each conversation by itself."""

    parts: tuple[IndexSlice, ...]
    part_of: RowNumbers  # position → which part
    row_of: RowNumbers  # position → where on its shelf
    facts: Ints  # one column for each position
    static_scores: StaticScores
    names: KnownNames  # of the people that the requester knows
    own_identities: frozenset[
        str
    ]  # whose memories the requester sees all of; none where others listen
    speakers: frozenset[str]  # what those go by who speak in turns, folded

    def __len__(self) -> int:
        return int(self.facts.shape[1])

    def id(self, position: int) -> str:
        part = self.parts[int(self.part_of[position])]
        return part.partition.ids[int(self.row_of[position])]

    def ids(self, positions: list[int]) -> list[str]:
        shelves = [part.partition.ids for part in self.parts]
        parts, places = self.part_of[positions].tolist(), self.row_of[positions].tolist()
        return [shelves[part][place] for part, place in zip(parts, places, strict=True)]

    def position_of(self, id: str) -> int | None:
        """Where it stood at this moment, also if it has moved on its shelf since."""
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
        """The positions that hold a term, and how often they do."""
        found = []
        for part in self.parts:
            posted = part.partition.postings(term)
            if posted is None:
                continue
            places, counts = posted
            # What came to the shelf after this moment has no position here.
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
        """The cosine with a vector at each position, and whether there is one to compare with. Row
        by row: a product of the whole would wait for a second thread, on a busy machine for long.
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
        """Whether it is about, or was said by, one of these."""
        found = np.zeros(len(self), np.bool_)
        for part in self.parts:
            known = part.partition.people
            for place, position in zip(part.rows.tolist(), part.positions.tolist(), strict=True):
                if not people.isdisjoint(known[place]):
                    found[position] = True
        return found

    def edges(self, ids: Iterable[str]) -> dict[str, dict[str, MemoryEdge]]:
        """What these are related to: ids of anything, also of what is out of reach."""
        found: dict[str, dict[str, MemoryEdge]] = {}
        wanted = set(ids)
        for part in self.parts:
            with part.partition.lock:
                for id in wanted & part.partition.edges.keys():
                    found.setdefault(id, {}).update(part.partition.edges[id])
        return found
