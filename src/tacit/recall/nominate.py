"""Where more is within reach than is kept at hand, the database nominates what is looked at: by the
question's words, by likeness where it can, and by what is newest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from tacit import limits
from tacit.model.key_text import joined
from tacit.model.request import Request
from tacit.model.terms import terms
from tacit.recall.library import Held
from tacit.recall.own_topics import own_topics
from tacit.recall.reach import held_of
from tacit.recall.shelf import Floats
from tacit.store import candidates, listing
from tacit.store.core import Store
from tacit.store.listing import Filter


def nominees(
    connection: Connection,
    store: Store,
    requests: Sequence[Request],
    question: str,
    model: str | None,
    vector: Floats | None,
    only: frozenset[str] | None,
) -> Held:
    asked, own = terms(question), own_topics(question)
    said = [word for topic in own for word in terms(" ".join(sorted(topic.search_words)))]
    words = tuple(dict.fromkeys([*asked, *joined(asked), *said]))[: limits.RECALL_WORDS_MAX_COUNT]
    dialect, most = store.database.dialect, limits.NOMINEES_COUNT
    found: Held = {}
    for request in requests:
        ids: set[str] = set()
        of = None if only is None else tuple(sorted(only))
        newest = Filter(categories=of)
        for wanted in (replace(newest, words=words), newest) if words else (newest,):
            page = listing.page(connection, store.audiences, dialect, request, wanted, most)
            ids |= {memory.id for memory, _ in page}
        if own and request.private:
            slots = frozenset().union(*(topic.slots for topic in own))
            ids |= {one.id for one in candidates.of_slots(connection, request, slots, most)}
        if vector is not None and model is not None:
            near = candidates.nearest(connection, dialect, request, model, vector.tobytes(), most)
            ids |= {one.id for one in near}
        found |= held_of(candidates.standing(connection, request, sorted(ids)))
    return found
