"""Which of a person's memories a new one is like: found before it is written, under no lock."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection

from tacit import limits
from tacit.model.request import Request
from tacit.recall import shelf as s
from tacit.recall.library import Library
from tacit.store import partitions

_NOMINATED_COUNT = 4 * limits.RELATIONS_PER_MEMORY_MAX_COUNT


def neighbours(
    library: Library, connection: Connection, request: Request, vector: bytes, link_min: float
) -> dict[str, float]:
    """The nearest of what is the writer's own, from `link_min` on, wherever they write. Some may
    not stand any more: whoever writes the edges looks again, and keeps the best."""
    if request.subject is None:
        return {}
    rev, cleared = partitions.revision(connection, request.space, request.subject)
    shelf = library.home(connection, request.space, request.subject, rev, cleared)
    with shelf.lock:
        count, matrix, facts = len(shelf), shelf.matrix, shelf.facts
    asked = np.frombuffer(vector, np.float32)
    if matrix.shape[1] != len(asked):
        return {}
    cosines = matrix[:count] @ asked
    near = np.flatnonzero((cosines >= link_min) & (facts[:count, s.SESSION] < 0))
    best = near[np.argsort(-cosines[near], kind="stable")][:_NOMINATED_COUNT]
    found: dict[str, float] = {}
    for place in best.tolist():
        id = shelf.ids[place]
        if shelf.places[id][1] == place:
            found[id] = float(cosines[place])
    return found
