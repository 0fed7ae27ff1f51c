"""Define what a check of the doctor consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, select

from tacit import limits
from tacit.records.memory import Memory
from tacit.storage import integrity, memories
from tacit.storage.memories import Transaction
from tacit.storage.schema import memories_table
from tacit.storage.store import Store

DOCTOR_ACTOR = "doctor"  # in the history of what it repairs


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorContext:
    """The space under examination, and what its checks and repairs need."""

    store: Store
    space: str
    model: str | None = None  # the model whose vectors are expected
    embed: Callable[[], object] | None = None  # computes missing vectors now
    wake: Callable[[], None] = lambda: None  # wakes the workers


class Problem(NamedTuple):
    """One inconsistency."""

    key: tuple[str, ...]  # identifies it to the repair
    id: str | None = None  # of the memory that it is about, if any
    repairable: bool = True


FindProblems = Callable[[Connection, DoctorContext], Iterable[Problem]]
# Returns how many were repaired. Checks each one again before it changes anything.
RepairProblems = Callable[[Transaction, Sequence[Problem]], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """A check that finds problems in one snapshot and may repair them.

    Repairs run in small transactions, each of which leaves the space better, so they may stop at
    any time.
    """

    name: str
    description: str  # for people, after a count: what is wrong
    remedy: str  # what the repair does, or who can help
    find: FindProblems
    repair: RepairProblems | None = None
    batch_count: int = limits.DOCTOR_REPAIR_BATCH_COUNT  # per transaction
    # Changes identities or audiences: waits for the writes that rely on them.
    waits_for_writers: bool = False
    after_repair: Callable[[DoctorContext], object] | None = None  # called once some were repaired


def find_broken(*invariants: Select[Any]) -> FindProblems:
    """Find the memories that break one of these invariants."""

    def find(connection: Connection, context: DoctorContext) -> Iterator[Problem]:
        ids = [row.id for one in invariants for row in integrity.list_broken_rows(connection, one, context.space)]
        return (Problem((id,), id) for id in dict.fromkeys(ids))

    return find


def repair_each(mend: Callable[[Transaction, Problem], object]) -> RepairProblems:
    """Repair problems one by one; one for which `mend` returns False is left."""
    return lambda tx, problems: sum([mend(tx, problem) is not False for problem in problems])


def repair_memory(mend: Callable[[Transaction, Memory], object]) -> RepairProblems:
    """Repair locked memories, which the keys of the problems begin with, one by one.

    A memory that is gone needs no repair.
    """

    def mend_one(tx: Transaction, problem: Problem) -> object:
        memory = memories.get_for_update(tx, problem.key[0])
        return memory is None or mend(tx, memory)

    return repair_each(mend_one)


def repair_pair(mend: Callable[[Transaction, Memory, Memory], object]) -> RepairProblems:
    """Repair pairs of locked memories; a pair of which one is gone needs no repair."""

    def mend_one(tx: Transaction, problem: Problem) -> object:
        one, other = (memories.get_for_update(tx, id) for id in problem.key)
        return one is None or other is None or mend(tx, one, other)

    return repair_each(mend_one)


def get_audience_id(tx: Transaction, id: str) -> str | None:
    m = memories_table.c
    heard = select(m.audience).where(m.space_id == tx.space, m.id == id)
    return tx.connection.execute(heard).scalar()
