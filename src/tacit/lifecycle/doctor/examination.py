"""Run the checks of the doctor in order, and repair what they find if asked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from tacit import limits
from tacit.errors import InvalidInput
from tacit.lifecycle.doctor import memory_checks, people_checks
from tacit.lifecycle.doctor.check import DOCTOR_ACTOR, DoctorCheck, DoctorContext, Problem
from tacit.records.results import Diagnosis, Finding
from tacit.storage.memories import Transaction

# All checks in the order in which they run.

CHECKS: tuple[DoctorCheck, ...] = (
    people_checks.ORPHANS_CHECK,
    memory_checks.FTS_INDEX_CHECK,  # before checks that change memories: a change rewrites the words in the index
    memory_checks.VERSIONS_CHECK,
    memory_checks.HISTORY_CHECK,
    memory_checks.PEOPLE_CHECK,
    memory_checks.THREAD_REVISIONS_CHECK,
    people_checks.AUDIENCES_CHECK,
    people_checks.UNUSED_AUDIENCES_CHECK,
    people_checks.SUCCESSORS_CHECK,
    people_checks.IDENTITY_LINKS_CHECK,
    memory_checks.OVERRIDDEN_KEYS_CHECK,
    memory_checks.WITHHELD_UNKNOWN_CHECK,
    memory_checks.CONFIDENTIAL_CHECK,
    memory_checks.KEYS_CHECK,
    memory_checks.PURGE_DATES_CHECK,
    memory_checks.PROPOSALS_CHECK,
    people_checks.SPEAKERS_CHECK,
    people_checks.DUPLICATE_PEOPLE_CHECK,
    memory_checks.CONTRADICTIONS_CHECK,
    memory_checks.STRAY_VECTORS_CHECK,
    memory_checks.MISSING_VECTORS_CHECK,
    memory_checks.OVERDUE_PURGES_CHECK,
    memory_checks.PARKED_JOBS_CHECK,
)


def examine_space(context: DoctorContext, *, repair: bool = False, names: Sequence[str] | None = None) -> Diagnosis:
    """Run the checks and, with `repair`, the repairs.

    Each check repairs what it found before the next one runs, so that consequences of one problem
    are not reported as another.
    """
    found = (_run_check(context, check, repair=repair) for check in _select_checks(names))
    return Diagnosis(findings=tuple(one for one in found if one is not None))


def _select_checks(names: object) -> list[DoctorCheck]:
    if names is None:
        return list(CHECKS)
    known = {check.name for check in CHECKS}
    wanted = list(names) if isinstance(names, list | tuple | set | frozenset) else [names]
    if isinstance(names, str) or not all(isinstance(n, str) and n in known for n in wanted):
        raise InvalidInput("checks", f"each is one of {', '.join(sorted(known))}")
    return [check for check in CHECKS if check.name in wanted]


def _run_check(context: DoctorContext, check: DoctorCheck, *, repair: bool) -> Finding | None:
    with context.store.database.read() as connection:
        problems = list(check.find(connection, context))
    if not problems:
        return None
    can = [problem for problem in problems if problem.repairable and check.repair is not None]
    repaired = _repair_problems(context, check, can) if repair else 0
    ids = dict.fromkeys(problem.id for problem in problems if problem.id is not None)
    return Finding(
        check=check.name,
        says=check.description,
        mends=check.remedy,
        count=len(problems),
        repairable=len(can),
        repaired=repaired,
        ids=tuple(islice(ids, limits.DOCTOR_IDS_MAX_COUNT)),
    )


def _repair_problems(context: DoctorContext, check: DoctorCheck, problems: list[Problem]) -> int:
    store, most, count = context.store, check.batch_count, 0
    if (repair := check.repair) is None:
        return 0
    write = store.change_identities if check.waits_for_writers else store.write_as
    for start in range(0, len(problems), most):

        def work(tx: Transaction, some: Sequence[Problem] = problems[start : start + most]) -> int:
            return repair(tx, some)

        count += write(context.space, DOCTOR_ACTOR, work)
    if count and check.after_repair is not None:
        check.after_repair(context)
    return count
