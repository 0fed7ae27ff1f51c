"""Which of a person's memories a new one is like: found before it is written, under no lock."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from tacit import limits
from tacit.recall import shelf as s
from tacit.recall.library import Library
from tacit.recall.shelf import Bits, Floats, Shelf, outline_bits
from tacit.records.request import Request
from tacit.storage import revisions
from tacit.storage.memories import SimilarMemories

_FEW_COUNT = 1_024
_COMPARED_COUNT = 64
_ERRORS = 3.0  # how many times the usual error two may seem further apart than they are


def neighbours(
    library: Library, connection: Connection, request: Request, vector: bytes, link_min: float
) -> Mapping[str, float]:
    """The nearest of what is the writer's own, wherever they write, from `link_min` on, as of this
    snapshot. By the time the edges are written one may not stand any more: look again then."""
    if request.subject is None:
        return {}
    rev, cleared = revisions.person_revision(connection, request.space, request.subject)
    shelf = library.load_owner_index(connection, request.space, request.subject, rev, cleared)
    return _nearest(shelf, vector, link_min).similarity


def at_hand(
    library: Library, request: Request, vector: bytes, link_min: float
) -> SimilarMemories | None:
    """As of the last time that somebody looked: true if the write finds that revision."""
    shelf = library.get_cached(request.space, request.subject) if request.subject else None
    if shelf is None:
        return None
    found = _nearest(shelf, vector, link_min)
    best = list(found.similarity.items())[: limits.RELATIONS_PER_MEMORY_MAX_COUNT]
    return SimilarMemories(similarity=dict(best), revision=found.revision)


def _nearest(shelf: Shelf, vector: bytes, link_min: float) -> SimilarMemories:
    with shelf.lock:
        facts, whole_at = shelf.facts, shelf.complete_at
        places, cosines = _compared(shelf, vector, link_min)
    near = np.flatnonzero(cosines >= link_min)
    found: dict[str, float] = {}
    for at in near[np.argsort(-cosines[near], kind="stable")].tolist():
        place, likeness = int(places[at]), float(cosines[at])
        if len(found) > limits.RELATIONS_PER_MEMORY_MAX_COUNT:  # one may be what is reworded
            break
        id = shelf.ids[place]
        # It stands, and this is not where it was before its last change.
        if facts[place, s.STANDS] and shelf.rows[id][1] == place:
            found[id] = likeness
    return SimilarMemories(similarity=found, revision=whole_at)


def _compared(shelf: Shelf, vector: bytes, link_min: float) -> tuple[NDArray[np.intp], Floats]:
    """Places and their likeness: all of them, or those that seem near enough in outline. What
    somebody has by the thousands takes too long to compare with each new memory."""
    asked = np.frombuffer(vector, np.float32)
    count, matrix = len(shelf), shelf.matrix
    if matrix.shape[1] != len(asked):
        return np.zeros(0, np.intp), np.zeros(0, np.float32)
    bits = outline_bits(len(asked))
    if count <= _FEW_COUNT or not bits:
        return np.arange(count), np.vecdot(matrix[:count], asked)
    apart = _bits_apart(*shelf.signatures(asked))
    places = np.flatnonzero(apart <= _bits_at(link_min, bits))
    if len(places) > _COMPARED_COUNT:
        places = places[np.argpartition(apart[places], _COMPARED_COUNT)[:_COMPARED_COUNT]]
    return places, np.vecdot(matrix[places], asked)


def _bits_apart(outlines: Bits, asked: Bits) -> NDArray[np.uint8]:
    apart: NDArray[np.uint8] = np.bitwise_count(outlines[0] ^ asked[0])
    for row, bits in zip(outlines[1:], asked[1:], strict=True):
        apart += np.bitwise_count(row ^ bits)
    return apart


@lru_cache(maxsize=8)
def _bits_at(cosine: float, bits: int) -> float:
    """By how many bits two that are as alike as this may differ."""
    share = math.acos(min(max(cosine, -1.0), 1.0)) / math.pi
    return bits * share + _ERRORS * math.sqrt(bits * share * (1 - share))
