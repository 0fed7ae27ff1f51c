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
from tacit.model.people import Person
from tacit.model.request import Request
from tacit.recall import shelf as s
from tacit.recall.names import Names
from tacit.recall.shelf import Codes, Places, Shelf, Whole
from tacit.recall.standing import Standing
from tacit.recall.within import Part, Within
from tacit.store import candidates, meanings, partitions
from tacit.store.candidates import Edge
from tacit.store.dialect import Dialect

_FEW_COUNT = 500  # with more of a home wanted, all its vectors are read in one sweep

Held = dict[str, tuple[int, str]]  # id → (stamp, home)


class Library:
    def __init__(self, dialect: Dialect, model: str | None) -> None:
        self.codes = Codes()
        self.model = model
        self._dialect = dialect
        self._shelves: OrderedDict[tuple[str, str], Shelf] = OrderedDict()
        self._lock = Lock()

    def gather(
        self, connection: Connection, request: Request, held: Held, known: Sequence[Person] = ()
    ) -> Within:
        """These ids at these stamps, from their homes' shelves, put there first if need be."""
        space = request.space
        homes: dict[str, list[tuple[str, int]]] = {}
        for id, (stamp, home) in held.items():
            homes.setdefault(home, []).append((id, stamp))
        gathered = []
        for home in sorted(homes):
            shelf = self._shelf(space, home)
            with shelf.lock:
                self._fill(connection, space, home, shelf, homes[home])
                led = shelf.places
                places = np.array([led[id][1] for id, _ in homes[home]], np.int32)
            gathered.append((shelf, places))
        self._trim()
        return self._whole(gathered, Names(request, known), _mine(request))

    def amend(
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
        gone = [at for at in map(within.position, changes) if at is not None]
        kept = np.ones(len(within), np.bool_)
        kept[gone] = False
        # A shelf of which nothing is left was replaced: to keep it would keep all that ever were.
        stay = [(part.shelf, part.places[kept[part.positions]]) for part in within.parts]
        by_shelf = {shelf: places for shelf, places in stay if len(places)}
        for home, wanted in came.items():
            shelf = self._shelf(request.space, home)
            with shelf.lock:
                self._fill(connection, request.space, home, shelf, wanted)
                places = np.array([shelf.places[one][1] for one, _ in wanted], np.int32)
            old = by_shelf.get(shelf, np.zeros(0, np.int32))
            by_shelf[shelf] = np.concatenate([old, places])
        return self._whole(list(by_shelf.items()), Names(request, known), _mine(request))

    def part(self, within: Within, kept: NDArray[np.bool_]) -> Within:
        """Some of it, as if there were nothing else."""
        some = [(part.shelf, part.places[kept[part.positions]]) for part in within.parts]
        return self._whole(some, within.names, within.mine)

    def only(self, shelf: Shelf, within: Within) -> Within:
        """Everything on one shelf that nobody else has, for whom `within` is."""
        shelf.read()
        places = np.arange(len(shelf), dtype=np.int32)
        return self._whole([(shelf, places)], within.names, within.mine)

    def _whole(
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
            place_of=place_of,
            facts=facts,
            standing=Standing.of(facts, self.codes),
            names=names,
            mine=mine,
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

    def home(self, connection: Connection, space: str, owner: str, rev: int, cleared: int) -> Shelf:
        """Everything of one owner's, whoever may hear it: for comparing a new memory with the old
        ones, and never for an answer. `rev` and `cleared` are those of the owner's partition."""
        home = partitions.person(owner)
        shelf = self._shelf(space, home)
        if shelf.whole_at < cleared:  # something was erased since: it is not to be compared with
            shelf = self._shelf(space, home, anew=shelf.whole_at >= 0)
        with shelf.lock:
            if shelf.whole_at != rev:
                since = shelf.whole_at if cleared <= shelf.whole_at < rev else -1
                changed = candidates.changed(connection, space, owner, since)
                self._fill(connection, space, home, shelf, changed)
                shelf.whole_at = rev
        return shelf

    def at_hand(self, space: str, owner: str) -> Shelf | None:
        """What `home` gave last, without a look at the store: see `whole_at` for when that was."""
        with self._lock:
            shelf = self._shelves.get((space, partitions.person(owner)))
        return shelf if shelf is not None and shelf.whole_at >= 0 and not shelf.worn else None

    def learn(self, row: Mapping[str, Any], vector: bytes, edges: Iterable[Edge]) -> None:
        """A memory that this process has just written, with its edges. If nobody wrote in between,
        its owner's shelf is as whole with it as it was before."""
        if row["owner"] is None:
            return
        shelf = self._shelf(row["space_id"], partitions.person(row["owner"]))
        with shelf.lock:
            if shelf.whole_at == row["stamp"] - 1 and row["id"] not in shelf.places:
                shelf.add(candidates.Feature.of_new(row), row["stamp"], vector)
                for edge in edges:
                    shelf.relate(edge)
                shelf.whole_at = row["stamp"]

    def _fill(
        self,
        connection: Connection,
        space: str,
        home: str,
        shelf: Shelf,
        wanted: list[tuple[str, int]],
    ) -> None:
        missing = shelf.missing(wanted)
        if missing:
            self._add(connection, space, home, shelf, missing, dict(wanted))
        shelf.read()

    def _add(
        self,
        connection: Connection,
        space: str,
        home: str,
        shelf: Shelf,
        missing: list[str],
        stamps: Mapping[str, int],
    ) -> None:
        vectors = self._vectors(connection, space, home, missing)
        for row in candidates.features(connection, space, missing):
            shelf.add(row, stamps[row.id], vectors.get(row.id))
        for edge in candidates.edges(connection, space, missing):
            shelf.relate(edge)

    def _vectors(
        self, connection: Connection, space: str, home: str, ids: list[str]
    ) -> dict[str, bytes]:
        if self.model is None:
            return {}
        some = ids if len(ids) <= _FEW_COUNT else None
        return meanings.of_home(connection, self._dialect, space, home, some, self.model)

    def _shelf(self, space: str, home: str, *, anew: bool = False) -> Shelf:
        with self._lock:
            shelf = self._shelves.get((space, home))
            if shelf is None or shelf.worn or anew:
                shelf = self._shelves[space, home] = Shelf(self.codes)
            self._shelves.move_to_end((space, home))
            return shelf

    def _trim(self) -> None:
        with self._lock:
            count = sum(len(shelf) for shelf in self._shelves.values())
            while len(self._shelves) > 1 and count > limits.SHELVES_MAX_COUNT:
                _, shelf = self._shelves.popitem(last=False)
                count -= len(shelf)


def _mine(request: Request) -> frozenset[str]:
    return request.mine if request.private else frozenset()
