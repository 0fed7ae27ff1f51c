"""Where more is within reach than is kept at hand, the database nominates what is looked at: by the
question's words, by likeness where it can, and by what is newest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from tacit import limits
from tacit.recall.library import Held
from tacit.recall.own_topics import own_topics
from tacit.recall.reach import held_of
from tacit.recall.shelf import Floats
from tacit.records.request import Request
from tacit.records.text import join_neighbors, split_terms
from tacit.storage import memory_reads, search
from tacit.storage.search import ListFilter
from tacit.storage.store import Store


def nominees(
    connection: Connection,
    store: Store,
    requests: Sequence[Request],
    question: str,
    model: str | None,
    vector: Floats | None,
    only: frozenset[str] | None,
) -> Held:
    asked, own = split_terms(question), own_topics(question)
    said = [word for topic in own for word in split_terms(" ".join(sorted(topic.search_words)))]
    words = tuple(dict.fromkeys([*asked, *join_neighbors(asked), *said]))[
        : limits.RECALL_WORDS_MAX_COUNT
    ]
    dialect, most = store.database.dialect, limits.CANDIDATES_COUNT
    found: Held = {}
    for request in requests:
        ids: set[str] = set()
        of = None if only is None else tuple(sorted(only))
        newest = ListFilter(categories=of)
        for wanted in (replace(newest, words=words), newest) if words else (newest,):
            page = search.list_memories(connection, store.audiences, dialect, request, wanted, most)
            ids |= {memory.id for memory, _ in page}
        if own and request.private:
            slots = frozenset().union(*(topic.slots for topic in own))
            ids |= {
                one.id
                for one in memory_reads.list_slot_candidates(connection, request, slots, most)
            }
        if vector is not None and model is not None:
            near = memory_reads.list_nearest(
                connection, dialect, request, model, vector.tobytes(), most
            )
            ids |= {one.id for one in near}
        found |= held_of(memory_reads.filter_visible(connection, request, sorted(ids)))
    return found
