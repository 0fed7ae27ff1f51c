"""Define what a check of the doctor consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection

from tacit import limits
from tacit.storage.memories import Transaction
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


def repair_each(mend: Callable[[Transaction, Problem], bool]) -> RepairProblems:
    """Repair problems one by one."""
    return lambda tx, problems: sum([mend(tx, problem) for problem in problems])


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
    waits_for_writers: bool = (
        False  # changes identities or audiences: waits for the writes that rely on them
    )
    after_repair: Callable[[DoctorContext], object] | None = None  # called once some were repaired
