"""What ranking needs to know of memories, at hand in the process: words, vectors, plain facts.

One shelf for each home, a person's or a room's. A memory that changes gets a new place and its old
one is no longer led to, so whoever holds places of an earlier moment is never disturbed. A shelf
knows nothing about who may hear what: it is asked for places that came through the predicate.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.clock import from_micros
from tacit.recall.dates import date_terms, tells_time
from tacit.recall.own_topics import opening
from tacit.records.memory import State
from tacit.records.text import fold_text, join_neighbors, key_words, split_words, stem_words
from tacit.storage.memory_reads import MemoryEdge, unpack_people

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]
Places = NDArray[np.int32]
Bits = NDArray[np.uint64]

# The plain facts of a memory, each a column of whole numbers.
(
    IMPORTANCE, PINNED, CREATED, UPDATED, WORDED, OBSERVED, EXPIRES, CATEGORY, KIND, TRUST, OWNER,
    SPEAKER, NAME, AGENT, RUN, ROLE, SESSION, SEQ, LENGTH, ASKS, TELLS_TIME, STANDS, SLOT,
    OPENING, OF_OWNER,
) = range(25)  # fmt: skip
NEVER: Final = 2**62
# Before a word of a key: two words of a question may be one together, as "time zone" is.
KEY_MARK: Final = "="
_OUTLINE_MAX_BITS: Final = 192
_OUTLINE_MIN_BITS: Final = 128
_FIRST_CAPACITY: Final = 64


def outline_bits(dimension: int) -> int:
    """How many bits the outline of a vector has; none where it would tell too little."""
    bits = min(dimension // 128 * 64, _OUTLINE_MAX_BITS)
    return bits if bits >= _OUTLINE_MIN_BITS else 0


def _outlined(vectors: Floats) -> Bits:
    """On which side of some planes vectors lie, a bit for each: the share of planes between two is
    about the angle between them. The planes are such that a side is told by two coordinates."""
    bits = outline_bits(vectors.shape[-1])
    sides: Bits = np.packbits(vectors[..., :bits] > vectors[..., bits : 2 * bits], axis=-1).view(
        np.uint64
    )
    return sides


class Codes:
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


class Shelf:
    FACTS_COUNT: Final = 25

    def __init__(self, codes: Codes) -> None:
        self.lock = Lock()
        self.rows: dict[str, tuple[int, int]] = {}  # id → (stamp, place)
        self.all_rows: dict[str, list[int]] = {}  # id → where it is and where it ever was
        self.ids: list[str] = []
        self.people: list[frozenset[str]] = []  # whom it is about, and who said it
        self.edges: defaultdict[str, dict[str, MemoryEdge]] = defaultdict(dict)
        self.facts: Whole = np.zeros((_FIRST_CAPACITY, Shelf.FACTS_COUNT), np.int64)
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
        self.facts[place, STANDS] = row.state == State.ACTIVE and row.session is None
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
            said += [KEY_MARK + word for word in named]
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

    def postings(self, term: str) -> tuple[Places, Places] | None:
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
            words = outline_bits(self.matrix.shape[1]) // 64
            room = np.zeros((words, len(self.facts)), np.uint64)
            if first:
                room[:, :first] = self._signatures[:, :first]
            self._signatures = room
        if first < count:
            self._signatures[:, first:count] = _outlined(self.matrix[first:count]).T
            self._signature_count = count
        return self._signatures[:, :count], _outlined(vector)

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
            NEVER if row.expires_at is None else row.expires_at,
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
            tells_time(row.content),
            row.state == State.ACTIVE and row.session is None,  # can be related to
            code(row.slot.partition(":")[0] if row.slot else None),
            code(opening(row.content, row.key)) if row.session is None else -1,
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
