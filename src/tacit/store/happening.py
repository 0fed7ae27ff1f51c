"""What a write did, told by the write itself and recorded once it is committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tacit.records.memory import HistoryEvent, Memory
from tacit.records.results import EventNode, EventOperation, EventStatus

if TYPE_CHECKING:
    from tacit.store.writes import Writing

SYSTEM = "system"  # the actor of upkeep
_OPS = {
    HistoryEvent.ADD: EventOperation.CREATE,
    HistoryEvent.UPDATE: EventOperation.UPDATE,
    HistoryEvent.DELETE: EventOperation.DELETE,
    HistoryEvent.MERGE: EventOperation.MERGE,
    HistoryEvent.LINK: EventOperation.LINK,
    HistoryEvent.TTL: EventOperation.TTL,
    HistoryEvent.RESTORE: EventOperation.RESTORE,
    HistoryEvent.SUPERSEDE: EventOperation.UPDATE,
    HistoryEvent.ERASE: EventOperation.ERASE,
    HistoryEvent.CONSENT: EventOperation.UPDATE,
}


class Happened(NamedTuple):
    """What names a memory goes when that goes. What names none names nobody either: it is a count
    and needs no erasing."""

    node: EventNode
    op: EventOperation
    status: EventStatus = EventStatus.OK
    memory_id: str | None = None
    owner: str | None = None
    thread: str | None = None  # that of the memory, wherever it was changed
    category: str | None = None
    likeness: float | None = None  # to the nearest other memory, where that is known


def did(
    w: Writing, memory: Memory, event: HistoryEvent, near: Mapping[str, float] | None = None
) -> None:
    """Something happened to a memory; `near` is what it is like."""
    best = max(near.values()) if near else None
    node = EventNode.WORKER if w.actor == SYSTEM else EventNode.HOTPATH
    w.events.append(_about(memory, node, _OPS[event], best))


def recorded(w: Writing, turn: Memory) -> None:
    w.events.append(_about(turn, EventNode.EPISODIC, EventOperation.CREATE))


def erased(w: Writing, ids: Sequence[str]) -> None:
    node = EventNode.WORKER if w.actor == SYSTEM else EventNode.HOTPATH
    w.events.extend(Happened(node, EventOperation.ERASE, memory_id=id) for id in ids)


def classified(w: Writing, category: str | None) -> None:
    w.events.append(Happened(EventNode.HOTPATH, EventOperation.CLASSIFY, category=category))


def unclassified(w: Writing) -> None:
    """Unless something was: the turn holds nothing to keep."""
    if not any(one.op is EventOperation.CLASSIFY for one in w.events):
        w.events.append(Happened(EventNode.HOTPATH, EventOperation.CLASSIFY, EventStatus.SKIPPED))


def likened(w: Writing, id: str, near: Mapping[str, float]) -> None:
    """What a memory that this write made or changed is like, found before it was written."""
    best = max((likeness for other, likeness in near.items() if other != id), default=None)
    if best is None:
        return
    for place, one in enumerate(w.events):
        if one.memory_id == id and one.op in (EventOperation.CREATE, EventOperation.UPDATE):
            w.events[place] = one._replace(likeness=best)


def _about(
    memory: Memory, node: EventNode, op: EventOperation, likeness: float | None = None
) -> Happened:
    return Happened(
        node, op, EventStatus.OK, memory.id, memory.owner, memory.thread, memory.category, likeness
    )
