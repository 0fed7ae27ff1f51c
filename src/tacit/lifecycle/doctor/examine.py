"""The doctor's round: every check in its turn, and repairs if asked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from tacit import limits
from tacit.errors import InvalidInput
from tacit.lifecycle.doctor.check import ACTOR, Case, Check, Patient
from tacit.lifecycle.doctor.checks import CHECKS
from tacit.records.results import Diagnosis, Finding
from tacit.storage.memories import Transaction


def examine(
    patient: Patient, *, repair: bool = False, names: Sequence[str] | None = None
) -> Diagnosis:
    """Without `repair` it changes nothing. With it, each check mends what it found before the next
    one looks: what follows from one trouble is not found as another."""
    found = (_finding(patient, check, repair=repair) for check in _chosen(names))
    return Diagnosis(findings=tuple(one for one in found if one is not None))


def _chosen(names: object) -> list[Check]:
    if names is None:
        return list(CHECKS)
    known = {check.name for check in CHECKS}
    wanted = list(names) if isinstance(names, list | tuple | set | frozenset) else [names]
    if isinstance(names, str) or not all(isinstance(n, str) and n in known for n in wanted):
        raise InvalidInput("checks", f"each is one of {', '.join(sorted(known))}")
    return [check for check in CHECKS if check.name in wanted]


def _finding(patient: Patient, check: Check, *, repair: bool) -> Finding | None:
    with patient.store.database.read() as connection:
        cases = list(check.find(connection, patient))
    if not cases:
        return None
    can = [case for case in cases if case.repairable] if check.repair is not None else []
    repaired = _mend(patient, check, can) if repair else 0
    ids = dict.fromkeys(case.id for case in cases if case.id is not None)
    return Finding(
        check=check.name,
        says=check.description,
        mends=check.remedy,
        count=len(cases),
        repairable=len(can),
        repaired=repaired,
        ids=tuple(islice(ids, limits.DOCTOR_IDS_MAX_COUNT)),
    )


def _mend(patient: Patient, check: Check, cases: list[Case]) -> int:
    store, most, mend, count = patient.store, check.batch_count, check.repair, 0
    if mend is None:
        return 0
    for start in range(0, len(cases), most):
        some = cases[start : start + most]

        def work(w: Transaction, some: list[Case] = some) -> int:
            return mend(w, some)

        count += (store.change_identities if check.waits_for_writers else store.write_as)(
            patient.space, ACTOR, work
        )
    if count and check.after_repair is not None:
        check.after_repair(patient)
    return count
