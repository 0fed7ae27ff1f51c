"""Many new memories of one write: the same rows as `writes.add` leaves for each, with the counters
moved on once for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.records.memory import HistoryEvent, Memory
from tacit.store import ageing, happening, meanings, partitions, rendered, steps
from tacit.store import audiences as listeners
from tacit.store.rendered import Step
from tacit.store.rows import to_row
from tacit.store.writes import Writing


def add(w: Writing, memories: Sequence[Memory]) -> None:
    """They are told in their threads under revisions that do not count them."""
    if not memories:
        return
    heard = {
        one: listeners.ensure(w.connection, w.dialect, w.space, one)
        for one in {memory.heard_by for memory in memories}
    }
    through = {
        door for memory in memories for door in partitions.doors_of(memory, heard[memory.heard_by])
    }
    revisions = partitions.bump(w.connection, w.space, through)
    made: list[Step] = []
    for memory in memories:
        stamp = revisions[partitions.home_of(memory)]
        made += _rows(w, memory, heard[memory.heard_by], stamp)
        happening.did(w, memory, HistoryEvent.ADD)
    whole = all(w.vectors.of_memory(memory) is not None for memory in memories)
    rendered.insert(w.connection, made)
    rendered.run(w.connection, [steps.incomplete(w.space, w.vectors.model if whole else "")])
    ageing.tell(w, [(memory.thread or w.thread, memory.id) for memory in memories], "created")


def _rows(w: Writing, memory: Memory, heard: str | None, stamp: int) -> list[Step]:
    made = [
        *w.dialect.insert_memory_statements(
            to_row(memory, heard) | {"stamp": stamp}, memory.content
        ),
        steps.version(memory, heard, w.actor, w.at),
        *steps.people(memory),
        steps.first_event(
            memory, HistoryEvent.ADD, w.actor, w.at, {"why": w.why} if w.why else None
        ),
    ]
    vector = w.vectors.of_memory(memory)
    if vector is not None:
        home, model = partitions.home_of(memory), w.vectors.model
        made.append(meanings.placing(w.dialect, w.space, home, memory.id, model, vector))
    return made
