"""Which of a person's memories a new one is like: found before it is written, under no lock."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from tacit import limits
from tacit.model.request import Request
from tacit.recall import shelf as s
from tacit.recall.library import Library
from tacit.recall.shelf import Floats, Shelf, directions
from tacit.store import partitions
from tacit.store.writes import Alike

_FEW_COUNT = 256
_COMPARED_COUNT = 96
# How much less alike two may seem in outline than they are: three times the usual error.
_BLUR = 0.4


def neighbours(
    library: Library, connection: Connection, request: Request, vector: bytes, link_min: float
) -> Mapping[str, float]:
    """The nearest of what is the writer's own, wherever they write, from `link_min` on, as of this
    snapshot. By the time the edges are written one may not stand any more: look again then."""
    if request.subject is None:
        return {}
    rev, cleared = partitions.revision(connection, request.space, request.subject)
    shelf = library.home(connection, request.space, request.subject, rev, cleared)
    return _nearest(shelf, vector, link_min).likeness


def at_hand(library: Library, request: Request, vector: bytes, link_min: float) -> Alike | None:
    """As of the last time that somebody looked: true if the write finds that revision."""
    shelf = library.at_hand(request.space, request.subject) if request.subject else None
    if shelf is None:
        return None
    found = _nearest(shelf, vector, link_min)
    best = list(found.likeness.items())[: limits.RELATIONS_PER_MEMORY_MAX_COUNT]
    return Alike(likeness=dict(best), whole_at=found.whole_at)


def _nearest(shelf: Shelf, vector: bytes, link_min: float) -> Alike:
    asked = np.frombuffer(vector, np.float32)
    with shelf.lock:
        facts, whole_at = shelf.facts, shelf.whole_at
        places, cosines = _compared(shelf, asked, link_min)
    near = np.flatnonzero(cosines >= link_min)
    near = near[facts[places[near], s.STANDS] == 1]
    found: dict[str, float] = {}
    for at in near[np.argsort(-cosines[near], kind="stable")].tolist():
        place = int(places[at])
        id = shelf.ids[place]
        if shelf.places[id][1] == place:  # not where it was before its last change
            found[id] = float(cosines[at])
        if len(found) > limits.RELATIONS_PER_MEMORY_MAX_COUNT:  # one may be what is reworded
            break
    return Alike(likeness=found, whole_at=whole_at)


def _compared(shelf: Shelf, asked: Floats, link_min: float) -> tuple[NDArray[np.intp], Floats]:
    """Places and their likeness: all of them, or those that seem near enough in outline. What
    somebody has by the thousands takes too long to compare with each new memory."""
    count, matrix = len(shelf), shelf.matrix
    if matrix.shape[1] != len(asked):
        return np.zeros(0, np.intp), np.zeros(0, np.float32)
    if count <= _FEW_COUNT:
        return np.arange(count), matrix[:count] @ asked
    rough = shelf.outline() @ (asked @ directions(len(asked)))
    places = np.flatnonzero(rough >= link_min - _BLUR)
    if len(places) > _COMPARED_COUNT:
        kept = np.argpartition(rough[places], len(places) - _COMPARED_COUNT)[-_COMPARED_COUNT:]
        places = places[kept]
    return places, matrix[places] @ asked
