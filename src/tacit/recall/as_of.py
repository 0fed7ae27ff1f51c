"""What was known at an earlier time: the wordings of then, as far as they may be heard now.

What was forgotten, erased or has expired since does not come back. What was replaced since does,
but only to its owner in private: for everybody else it is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import numpy as np
from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.policy.redaction import can_see_all_fields
from tacit.recall import shelf as s
from tacit.recall.library import Library
from tacit.recall.shelf import Shelf
from tacit.recall.within import Within
from tacit.records.memory import Memory, State
from tacit.records.request import Decision, Request
from tacit.storage import memory_reads, search
from tacit.storage.memory_reads import MemoryDecision, to_row
from tacit.storage.search import ListFilter
from tacit.storage.store import Store

_ASKED_AT_ONCE_COUNT = 500


def as_of(
    connection: Connection,
    store: Store,
    library: Library,
    requests: list[Request],
    within: Within,
    moment: datetime,
) -> tuple[Within, dict[str, MemoryDecision]]:
    """The same as `within`, at that time; and the memories themselves, worded as they were."""
    old = np.flatnonzero(within.facts[s.CREATED] <= to_micros(moment)).tolist()
    ids = [within.id(at) for at in old]
    found: dict[str, MemoryDecision] = {}
    vectors: dict[str, bytes | None] = {}
    for request in requests:
        for memory, now, decision in _standing(connection, store, request, ids, moment):
            found[memory.id] = (memory, decision)
            same = memory.content == now.content
            vectors[memory.id] = within.vector_of(memory.id) if same else None
        if request.private and not request.turns:
            for memory, _, decision in _replaced(connection, store, request, moment):
                found[memory.id] = (memory, decision)
                vectors[memory.id] = None
    shelf = Shelf(library.codes)
    for id in sorted(found):
        memory = found[id][0]
        row = memory_reads.RankingFeatures.from_new_row(to_row(memory, None))
        shelf.add(row, 0, vectors[id])
    return library.candidates_of(shelf, within), found


def _standing(
    connection: Connection, store: Store, request: Request, ids: list[str], moment: datetime
) -> Iterator[tuple[Memory, Memory, Decision]]:
    for start in range(0, len(ids), _ASKED_AT_ONCE_COUNT):
        some = ids[start : start + _ASKED_AT_ONCE_COUNT]
        found = memory_reads.list_visible(connection, store.audiences, request, some)
        for memory, decision in found.values():
            then = _worded(connection, store, request, memory, moment)
            if then is not None:
                yield then, memory, decision


def _replaced(
    connection: Connection, store: Store, request: Request, moment: datetime
) -> Iterator[tuple[Memory, Memory, Decision]]:
    """The owner's own, that something else has taken the place of since."""
    own, after = request.for_management(), None
    while True:
        wanted = ListFilter(state=State.SUPERSEDED.value, after=after)
        page = search.list_memories(
            connection,
            store.audiences,
            store.database.dialect,
            own,
            wanted,
            limits.PAGE_MAX_COUNT,
        )
        for memory, decision in page:
            lapsed = memory.expires_at is not None and memory.expires_at <= request.at
            if memory.created_at <= moment < memory.updated_at and not lapsed:
                then = _worded(connection, store, own, memory, moment)
                if then is not None:
                    yield then, memory, decision
        if len(page) < limits.PAGE_MAX_COUNT:
            return
        last = page[-1][0]
        after = (to_micros(last.created_at), last.id)


def _worded(
    connection: Connection, store: Store, request: Request, memory: Memory, moment: datetime
) -> Memory | None:
    """As it was said then, if this requester may hear that wording."""
    if memory.is_turn or memory.version == 1:
        # When its fields last changed is the owner's to know.
        seen = can_see_all_fields(request, memory)
        return memory if seen else replace(memory, updated_at=memory.created_at)
    heard = memory_reads.list_versions(connection, store.audiences, request, memory)
    known = [one for one in heard if one.created_at <= moment]
    if not known:
        return None
    then = known[-1]
    return replace(
        memory,
        content=then.content,
        version=then.number,
        speaker=then.speaker,
        subjects=then.subjects,
        heard_by=then.heard_by,
        updated_at=then.created_at,
        data=memory.data if then is heard[-1] else None,  # it goes with the current wording
    )
