"""Define what a check of the doctor consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection

from tacit import limits
from tacit.storage.memories import Transaction
from tacit.storage.store import Store

DOCTOR_ACTOR = "doctor"  # stands in the history of what it mends


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorContext:
    """One space, and what is known of how it should be."""

    store: Store
    space: str
    model: str | None = None  # the one whose vectors there should be
    embed: Callable[[], object] | None = None  # makes vectors that are missing, now
    wake: Callable[[], None] = lambda: None  # there is something to do for who works


class Problem(NamedTuple):
    """One thing that is wrong."""

    key: tuple[str, ...]  # names it to whoever mends it
    id: str | None = None  # the memory that it is about, if it is about one
    repairable: bool = True


FindProblems = Callable[[Connection, DoctorContext], Iterable[Problem]]
# How many of them are well now. It looks again at each before it changes anything.
RepairProblems = Callable[[Transaction, Sequence[Problem]], int]


def repair_each(mend: Callable[[Transaction, Problem], bool]) -> RepairProblems:
    """One after the other."""
    return lambda w, cases: sum([mend(w, case) for case in cases])


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """Finds what is wrong by looking once, in one snapshot. Mends in small transactions, each of
    which leaves everything better, so that it may be stopped at any moment."""

    name: str
    description: str  # for people, behind a count: what is wrong
    remedy: str  # and what repair does about it, or who can
    find: FindProblems
    repair: RepairProblems | None = None
    batch_count: int = limits.DOCTOR_REPAIR_BATCH_COUNT  # in one transaction
    waits_for_writers: bool = (
        False  # changes who is who, or who heard: waits for the writes that rely on it
    )
    after_repair: Callable[[DoctorContext], object] | None = None  # once some were mended
