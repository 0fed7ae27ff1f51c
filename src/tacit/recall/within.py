"""Everything within reach of a request, as arrays over one row of positions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.recall.names import Names
from tacit.recall.shelf import Floats, Places, Shelf, Whole
from tacit.recall.standing import Standing
from tacit.storage.memory_reads import MemoryEdge

_DENSE = 4  # with more than a quarter of a shelf in reach, all of it is compared at once


@dataclass(frozen=True, slots=True)
class Part:
    """The places on one shelf that are within reach, and their positions in the whole."""

    partition: Shelf
    rows: Places
    positions: Places
    position_of_row: Places  # place on the shelf → position in the whole, -1 where out of reach
    matrix: Floats
    placed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Turns stand in the order they were said in, each conversation by itself."""

    parts: tuple[Part, ...]
    part_of: Places  # position → which part
    row_of: Places  # position → where on its shelf
    facts: Whole  # one column for each position
    static_scores: Standing
    names: Names  # of the people that the requester knows
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

    def postings(self, term: str) -> tuple[Places, Places]:
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
            if len(part.rows) * _DENSE > len(part.position_of_row):
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
