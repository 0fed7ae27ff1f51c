"""What a write did, told by the write itself and recorded once it is committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tacit.model.happening import Node, Op, Status
from tacit.model.memory import Memory
from tacit.model.words import Event

if TYPE_CHECKING:
    from tacit.store.writes import Writing

SYSTEM = "system"  # the actor of upkeep
_OPS = {
    Event.ADD: Op.CREATE,
    Event.UPDATE: Op.UPDATE,
    Event.DELETE: Op.DELETE,
    Event.MERGE: Op.MERGE,
    Event.LINK: Op.LINK,
    Event.TTL: Op.TTL,
    Event.RESTORE: Op.RESTORE,
    Event.SUPERSEDE: Op.UPDATE,
    Event.ERASE: Op.ERASE,
    Event.CONSENT: Op.UPDATE,
}


class Happened(NamedTuple):
    """What names a memory goes when that goes. What names none names nobody either: it is a count
    and needs no erasing."""

    node: Node
    op: Op
    status: Status = Status.OK
    memory_id: str | None = None
    owner: str | None = None
    thread: str | None = None  # that of the memory, wherever it was changed
    category: str | None = None
    likeness: float | None = None  # to the nearest other memory, where that is known


def did(w: Writing, memory: Memory, event: Event, near: Mapping[str, float] | None = None) -> None:
    """Something happened to a memory; `near` is what it is like."""
    best = max(near.values()) if near else None
    node = Node.WORKER if w.actor == SYSTEM else Node.HOTPATH
    w.events.append(_about(memory, node, _OPS[event], best))


def recorded(w: Writing, turn: Memory) -> None:
    w.events.append(_about(turn, Node.EPISODIC, Op.CREATE))


def erased(w: Writing, ids: Sequence[str]) -> None:
    node = Node.WORKER if w.actor == SYSTEM else Node.HOTPATH
    w.events.extend(Happened(node, Op.ERASE, memory_id=id) for id in ids)


def classified(w: Writing, category: str | None) -> None:
    w.events.append(Happened(Node.HOTPATH, Op.CLASSIFY, category=category))


def unclassified(w: Writing) -> None:
    """Unless something was: the turn holds nothing to keep."""
    if not any(one.op is Op.CLASSIFY for one in w.events):
        w.events.append(Happened(Node.HOTPATH, Op.CLASSIFY, Status.SKIPPED))


def likened(w: Writing, id: str, near: Mapping[str, float]) -> None:
    """What a memory that this write made or changed is like, found before it was written."""
    best = max((likeness for other, likeness in near.items() if other != id), default=None)
    if best is None:
        return
    for place, one in enumerate(w.events):
        if one.memory_id == id and one.op in (Op.CREATE, Op.UPDATE):
            w.events[place] = one._replace(likeness=best)


def _about(memory: Memory, node: Node, op: Op, likeness: float | None = None) -> Happened:
    return Happened(
        node, op, Status.OK, memory.id, memory.owner, memory.thread, memory.category, likeness
    )
