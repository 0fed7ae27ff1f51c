"""All the shelves of a process: filled from the store, and emptied when they hold too much."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from tacit import limits
from tacit.recall import shelf as s
from tacit.recall.names import Names
from tacit.recall.shelf import Codes, Places, Shelf, Whole
from tacit.recall.standing import Standing
from tacit.recall.within import Part, Within
from tacit.records.accounts import Person
from tacit.records.request import Request
from tacit.storage import memory_reads, revisions, vectors
from tacit.storage.dialect import Dialect
from tacit.storage.memory_reads import MemoryEdge

_FEW_COUNT = 500  # with more of a home wanted, all its vectors are read in one sweep

Held = dict[str, tuple[int, str]]  # id → (stamp, home)


class Library:
    def __init__(self, dialect: Dialect, model: str | None) -> None:
        self.codes = Codes()
        self.model = model
        self._dialect = dialect
        self._indexes: OrderedDict[tuple[str, str], Shelf] = OrderedDict()
        self._lock = Lock()

    def build_candidates(
        self, connection: Connection, request: Request, held: Held, known: Sequence[Person] = ()
    ) -> Within:
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
        return self._assemble(gathered, Names(request, known), _mine(request))

    def update_candidates(
        self,
        connection: Connection,
        request: Request,
        within: Within,
        changes: Mapping[str, tuple[int, str] | None],
        known: Sequence[Person],
    ) -> Within:
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
        return self._assemble(list(by_shelf.items()), Names(request, known), _mine(request))

    def restrict(self, within: Within, kept: NDArray[np.bool_]) -> Within:
        """Some of it, as if there were nothing else."""
        some = [(part.partition, part.rows[kept[part.positions]]) for part in within.parts]
        return self._assemble(some, within.names, within.own_identities)

    def candidates_of(self, shelf: Shelf, within: Within) -> Within:
        """Everything on one shelf that nobody else has, for whom `within` is."""
        shelf.index_pending()
        places = np.arange(len(shelf), dtype=np.int32)
        return self._assemble([(shelf, places)], within.names, within.own_identities)

    def _assemble(
        self, gathered: Sequence[tuple[Shelf, Places]], names: Names, mine: frozenset[str]
    ) -> Within:
        every = [shelf.facts[places] for shelf, places in gathered]
        rows = np.concatenate(every) if every else np.zeros((0, Shelf.FACTS_COUNT), np.int64)
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
            parts.append(Part(shelf, places, positions, index, shelf.matrix, shelf.placed))
            start += len(places)
        spoken = np.unique(facts[s.NAME, facts[s.SESSION] >= 0])
        speakers = frozenset(self.codes.word(int(code)) for code in spoken if code >= 0)
        return Within(
            parts=tuple(parts),
            part_of=part_of,
            row_of=place_of,
            facts=facts,
            static_scores=Standing.of(facts, self.codes),
            names=names,
            own_identities=mine,
            speakers=speakers,
        )

    def _redact(self, rows: Whole, mine: frozenset[str]) -> None:
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
    ) -> Shelf:
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

    def get_cached(self, space: str, owner: str) -> Shelf | None:
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
        shelf: Shelf,
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
        shelf: Shelf,
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
        some = ids if len(ids) <= _FEW_COUNT else None
        return vectors.read_vectors(connection, self._dialect, space, home, some, self.model)

    def _get_index(self, space: str, home: str, *, anew: bool = False) -> Shelf:
        with self._lock:
            shelf = self._indexes.get((space, home))
            if shelf is None or shelf.is_fragmented or anew:
                shelf = self._indexes[space, home] = Shelf(self.codes)
            self._indexes.move_to_end((space, home))
            return shelf

    def _evict(self) -> None:
        with self._lock:
            count = sum(len(shelf) for shelf in self._indexes.values())
            while len(self._indexes) > 1 and count > limits.INDEX_CACHE_MAX_COUNT:
                _, shelf = self._indexes.popitem(last=False)
                count -= len(shelf)


def _mine(request: Request) -> frozenset[str]:
    return request.own_identities if request.private else frozenset()
