"""Which of a person's memories a new one is like: found before it is written, under no lock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from tacit import limits
from tacit.model.request import Request
from tacit.recall import shelf as s
from tacit.recall.library import Library
from tacit.recall.shelf import Shelf
from tacit.store import partitions


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest of what is the writer's own, wherever they write. By the time the edges are
    written one of them may not stand any more: that is looked at again."""

    likeness: dict[str, float]  # by id
    whole_at: int = -1  # the revision of the writer's partition at which these were all


def neighbours(
    library: Library, connection: Connection, request: Request, vector: bytes, link_min: float
) -> Neighbours:
    """As of this snapshot, from `link_min` on."""
    if request.subject is None:
        return Neighbours({})
    rev, cleared = partitions.revision(connection, request.space, request.subject)
    shelf = library.home(connection, request.space, request.subject, rev, cleared)
    return _nearest(shelf, vector, link_min)


def at_hand(
    library: Library, request: Request, vector: bytes, link_min: float
) -> Neighbours | None:
    """As of the last time that somebody looked: true if the write finds that revision."""
    if request.subject is None:
        return Neighbours({})
    shelf = library.at_hand(request.space, request.subject)
    return None if shelf is None else _nearest(shelf, vector, link_min)


def _nearest(shelf: Shelf, vector: bytes, link_min: float) -> Neighbours:
    with shelf.lock:
        count, matrix, facts, whole_at = len(shelf), shelf.matrix, shelf.facts, shelf.whole_at
    asked = np.frombuffer(vector, np.float32)
    if matrix.shape[1] != len(asked):
        return Neighbours({}, whole_at)
    cosines = matrix[:count] @ asked
    near = np.flatnonzero(cosines >= link_min)
    near = near[facts[near, s.STANDS] == 1]
    found: dict[str, float] = {}
    for place in near[np.argsort(-cosines[near], kind="stable")].tolist():
        id = shelf.ids[place]
        if shelf.places[id][1] == place:  # not where it was before its last change
            found[id] = float(cosines[place])
        if len(found) > limits.RELATIONS_PER_MEMORY_MAX_COUNT:  # one may be what is reworded
            break
    return Neighbours(found, whole_at)
