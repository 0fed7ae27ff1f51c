"""Durable queues: turns to learn, scheduled tasks and their runs, channel updates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, case, exists, func, insert, not_, or_, select, update

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.policy.rules import sql_literal
from tacit.records.conversation import PendingUpdate
from tacit.records.conversation import Update as ConversationUpdate
from tacit.records.results import JobRun, LearningQueueStatus
from tacit.storage.chats import list_private_chats
from tacit.storage.dialect import Dialect
from tacit.storage.engine import (
    chunks,
    delete_rows,
    encode,
    fetch_rows,
    has_row,
    insert_missing,
    insert_row,
    insert_statement,
    run_statements,
    select_set,
    to_columns,
    to_record,
    update_rows,
)
from tacit.storage.memories import Transaction
from tacit.storage.schema import job_runs, jobs, spaces_table, updates

# Jobs: accepted turns that are not learned yet, in the order of their thread.
#
# A worker takes a lease, so that two workers seldom process the same job. Exactly-once does not
# depend on the lease: the job is deleted, only by the worker that holds it, in the transaction that
# writes the result.
#
# The same table holds the scheduled tasks (below); their kind excludes them here.

LEARN_JOB = "learn"  # kind of the job of a turn
_J, _EARLIER = jobs.c, jobs.alias("earlier")
_IS_LEARN_JOB = _J.kind == sql_literal(LEARN_JOB)  # the kind leads the index of due jobs
_IS_WAITING = and_(_IS_LEARN_JOB, _J.parked.is_(False))
_IS_FIRST_IN_THREAD = not_(
    select(_EARLIER.c.seq)
    .where(
        _EARLIER.c.space_id == _J.space_id,
        _EARLIER.c.thread == _J.thread,
        _EARLIER.c.parked.is_(False),
        _EARLIER.c.seq < _J.seq,
    )
    .exists()
)
_JOB_COLUMNS = (
    _J.space_id.label("space"), _J.thread, _J.seq, _J.payload, _J.attempts, _J.worker,
)  # fmt: skip
_SELECT_LAST_JOB = select(func.max(_J.seq)).where(_J.space_id == bindparam("space"), _J.thread == bindparam("thread"))
_INSERT_JOB = insert_statement(jobs)
_LEASE = timedelta(seconds=limits.LEASE_SECONDS)
_RELEASED: Mapping[str, Any] = {"leased_until": None, "worker": None}


class LeaseLost(Exception):
    """The worker no longer holds the job: another worker took it, or it was erased."""


def scheduled_thread(task: str) -> str:
    """Return the thread of a scheduled task.

    No identifier may begin with its prefix, so no conversation has the same thread.
    """
    return f"\x1f{task}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    space: str
    thread: str
    seq: int
    payload: str
    attempts: int  # failed attempts before this one
    worker: str | None = None  # the holder of the lease


def _job_row(thread: str, kind: str, owner: str, at: datetime, due_at: datetime) -> dict[str, Any]:
    key = {"thread": thread, "kind": kind, "owner": owner, "attempts": 0, "created_at": at}
    return {**key, "due_at": due_at, "problem": None, "parked": False, **_RELEASED}


def insert_jobs(tx: Transaction, payloads: Sequence[str], due_at: datetime) -> None:
    """Queue turns of the requester in their thread and wake workers when it commits."""
    if not payloads:
        return
    insert_thread_jobs(tx.connection, tx.space, tx.thread, tx.request.subject or "", payloads, tx.at, due_at)
    if due_at <= tx.at:  # workers poll for jobs that are due later
        tx.dialect.notify_workers(tx.connection)


def insert_thread_jobs(
    connection: Connection, space: str, thread: str, owner: str, payloads: Sequence[str], at: datetime, due_at: datetime
) -> None:
    """Queue turns of one owner at the end of a thread."""
    ((last,),) = fetch_rows(connection, _SELECT_LAST_JOB, {"space": space, "thread": thread})
    # Sequence numbers follow the clock, but never precede a job that is already in the thread.
    first = max((last or 0) + 1, to_micros(at))
    new = _job_row(thread, LEARN_JOB, owner, at, due_at)
    row = {"space_id": space} | {name: encode(value) for name, value in new.items()}
    numbered = enumerate(payloads, start=first)
    run_statements(connection, [(_INSERT_JOB, row | {"seq": seq, "payload": payload}) for seq, payload in numbered])


def list_due_jobs(
    connection: Connection,
    now: datetime,
    most: int,
    *,
    early: timedelta = timedelta(),
    thread: tuple[str, str] | None = None,
) -> list[Job]:
    """List jobs that can run now, the first of each thread, or of one `thread` of a space.

    `early` adds jobs that are due within this time and have not failed before.
    """
    soon = and_(_J.attempts == 0, _J.due_at <= to_micros(now + early))
    due = (
        select(*_JOB_COLUMNS)
        .where(_IS_WAITING, or_(_J.due_at <= to_micros(now), soon), _is_free(now))
        .where(_IS_FIRST_IN_THREAD)
        .order_by(_J.due_at, _J.seq)
        .limit(most)
    )
    if thread is not None:
        due = due.where(_is_of_thread(thread))
    return [to_record(Job, row) for row in connection.execute(due)]


def has_waiting_jobs(connection: Connection) -> bool:
    return has_row(connection, select(_J.seq).where(_IS_WAITING))


def has_leased_jobs(connection: Connection, now: datetime, thread: tuple[str, str] | None = None) -> bool:
    """Return whether any worker holds a lease, or one in this `thread` of a space."""
    held = select(_J.seq).where(_IS_WAITING, _J.leased_until > to_micros(now))
    return has_row(connection, held if thread is None else held.where(_is_of_thread(thread)))


def _is_of_thread(thread: tuple[str, str]) -> ColumnElement[bool]:
    return and_(_J.space_id == thread[0], _J.thread == thread[1])


def claim_job(connection: Connection, job: Job, worker: str, now: datetime) -> Job | None:
    """Lease a job and return its current row, or None if another worker holds it.

    The row may differ from `job`: if the clock stands still, a finished job may have been followed
    by another one with the same number.
    """
    free = update(jobs).where(_is_row_of(job), _is_free(now), _J.parked.is_(False))
    taken = free.values(leased_until=to_micros(now + _LEASE), worker=worker)
    row = connection.execute(taken.returning(*_JOB_COLUMNS)).first()
    return None if row is None else to_record(Job, row)


def finish_job(connection: Connection, job: Job) -> None:
    """Delete a finished job in the transaction that writes its result.

    Raise LeaseLost if its worker no longer holds it.
    """
    if not delete_rows(connection, jobs, job.space, _is_row_of(job), _J.worker == job.worker):
        raise LeaseLost


def postpone_job(
    connection: Connection,
    job: Job,
    due_at: datetime,
    problem: str | None,
    *,
    parked: bool = False,
    counted: bool = True,
) -> None:
    """Release the job until `due_at`; `problem` is the kind of failure."""
    attempts = _J.attempts + int(counted)
    values = {"attempts": attempts, "due_at": due_at, "problem": problem, "parked": parked}
    with suppress(LeaseLost):
        _change_held(connection, job, **values, **_RELEASED)


def unpark_jobs(connection: Connection, dialect: Dialect, space: str, now: datetime) -> int:
    """Retry parked jobs; return how many there are."""
    again = {"parked": False, "attempts": 0, "due_at": now}
    count = update_rows(connection, jobs, space, _IS_LEARN_JOB, _J.parked.is_(True), **again)
    if count:
        dialect.notify_workers(connection)
    return count


def count_queue(connection: Connection, space: str) -> LearningQueueStatus:
    turns = (_J.space_id == space, _IS_LEARN_JOB)
    parked = func.coalesce(func.sum(case((_J.parked, 1), else_=0)), 0)
    totals = select(
        (func.count() - parked).label("turns"), parked.label("parked"), func.min(_J.created_at).label("oldest")
    )
    problems = select(_J.problem).where(*turns, _J.problem.is_not(None))
    return to_record(
        LearningQueueStatus,
        connection.execute(totals.where(*turns)).one(),
        problems=tuple(sorted(select_set(connection, problems))),
    )


def delete_jobs(connection: Connection, space: str, owners: Collection[str], thread: str | None = None) -> int:
    """Delete the jobs of these owners, whose turns are not learned yet.

    Call this before the memories of the owners are erased: it waits for jobs that are running now,
    so that the erasure then finds what they wrote.
    """
    theirs = [_IS_LEARN_JOB, _J.owner.in_(sorted(owners))]
    if thread is not None:
        theirs.append(_J.thread == thread)
    else:
        _reset_tasks(connection, space, owners)
    return delete_rows(connection, jobs, space, *theirs)


def _reset_tasks(connection: Connection, space: str, owners: Collection[str]) -> None:
    """Reset tasks whose cursor names one of these people."""
    threads = [scheduled_thread(task) for task in limits.JOBS_EVERY_HOURS]
    tasks = select(_J.thread, _J.payload).where(_J.space_id == space, _J.thread.in_(threads))
    for task, payload in connection.execute(tasks).all():
        cursor = str(json.loads(payload).get("cursor") or "")
        if any(owner in cursor for owner in owners):
            reset = {"payload": _NO_PROGRESS, **_RELEASED}
            update_rows(connection, jobs, space, _J.thread == task, **reset)


def _is_row_of(held: Job | ScheduledTask) -> ColumnElement[bool]:
    return and_(_J.space_id == held.space, _J.thread == held.thread, _J.seq == held.seq)


def renew_lease(connection: Connection, held: Job | ScheduledTask, now: datetime) -> None:
    """Extend the lease, if its worker still holds the job or the task."""
    with suppress(LeaseLost):
        _change_held(connection, held, leased_until=now + _LEASE)


def _change_held(connection: Connection, held: Job | ScheduledTask, **values: Any) -> str:
    """Change a job or task and return its payload. Raise LeaseLost if its worker lost it."""
    changes = {name: encode(value) for name, value in values.items()}
    own = update(jobs).where(_is_row_of(held), _J.worker == held.worker)
    row = connection.execute(own.values(**changes).returning(_J.payload)).first()
    if row is None:
        raise LeaseLost
    payload: str = row.payload
    return payload


def _is_free(now: datetime) -> ColumnElement[bool]:
    return or_(_J.leased_until.is_(None), _J.leased_until <= to_micros(now))


# Runs: the last runs of each task in each space, with times, counts and failures.

_R = job_runs.c


def _insert_task_run(
    connection: Connection, held: ScheduledTask, now: datetime, counts: Mapping[str, int], problem: str | None
) -> None:
    """Insert a run and delete the oldest ones.

    Only the worker that holds the task may call this: the sequence number is not locked.
    """
    of_task = (_R.space_id == held.space, _R.task == held.task)
    newest = select(func.coalesce(func.max(_R.seq), 0)).where(*of_task)
    seq = connection.execute(newest).scalar_one() + 1
    row = {"task": held.task, "seq": seq, "started_at": held.started_at, "finished_at": now}
    insert_row(connection, job_runs, held.space, **row, counts=counts, problem=problem)
    old = _R.seq <= seq - limits.JOBS_RUNS_KEEP_COUNT
    delete_rows(connection, job_runs, held.space, _R.task == held.task, old)


def last_task_runs(connection: Connection, space: str) -> dict[str, JobRun]:
    """Return the newest run of each task."""
    runs = select(job_runs).where(_R.space_id == space).order_by(_R.seq)
    return {row.task: to_record(JobRun, row) for row in connection.execute(runs)}


# Scheduled tasks: one permanent row in `jobs` for each space and task.
#
# The worker that runs a task holds a lease. Exactly-once does not depend on the lease: each step
# saves its cursor, as the holder of the task, in the transaction that writes the result of the
# step.

_TASK_SEQ = 0
_NO_PROGRESS = "{}"
# Allowed clock difference between two servers.
_LEASE_MAX_AHEAD = timedelta(seconds=limits.LEASE_HELD_MAX_SECONDS)
_S = spaces_table.c


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledTask:
    """A task of a space that a worker holds, with its progress."""

    space: str
    task: str
    worker: str
    started_at: datetime
    attempts: int  # failed attempts since the task last finished
    cursor: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def thread(self) -> str:
        return scheduled_thread(self.task)

    @property
    def seq(self) -> int:
        return _TASK_SEQ


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatus:
    """The current status of a task of a space."""

    due_at: datetime
    is_leased: bool  # a worker holds the lease, though its process may have died
    has_begun: bool
    problem: str | None
    attempts: int
    counts: Mapping[str, int]


def list_unscheduled_spaces(connection: Connection, task: str) -> list[str]:
    """List spaces that have no row for this task."""
    row = exists().where(_is_task(_S.space_id, task))
    missing = select(_S.space_id).where(not_(row)).order_by(_S.space_id)
    return list(connection.execute(missing.limit(limits.JOBS_PLAN_BATCH_COUNT)).scalars())


def schedule_task(connection: Connection, names: Collection[str], task: str, every: timedelta, now: datetime) -> None:
    """Insert task rows for these spaces, each due at its own phase of the period."""
    # Lock each space separately, so that a space that is being erased does not keep a task: a
    # sharded database locks rows of one space at a time.
    locked = select(_S.space_id).where(_S.space_id == bindparam("space")).with_for_update(read=True)
    for space in sorted(names):
        if connection.execute(locked, {"space": space}).first() is not None:
            due_at = now + every * task_phase(space, task)
            row = _job_row(scheduled_thread(task), task, "", now, due_at)
            new = row | {"seq": _TASK_SEQ, "payload": _NO_PROGRESS}
            insert_missing(connection, jobs, space, [new])


def task_phase(space: str, task: str) -> float:
    """Return the phase of this space within the period, at least 0 and less than 1."""
    digest = hashlib.sha256(f"{space}{scheduled_thread(task)}".encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48


def reschedule_late_tasks(connection: Connection, task: str, every: timedelta, now: datetime) -> None:
    """Move tasks that are due more than a period from now into the period.

    This happens after the period was shortened or the clock was set back. Each task keeps its
    phase.
    """
    at, period = to_micros(now), every // timedelta(microseconds=1)
    late = (_J.kind == task, _J.parked.is_(False), _J.due_at > at + period)
    connection.execute(update(jobs).where(*late).values(due_at=at + (_J.due_at - at) % period))


def schedule_now(connection: Connection, space: str, tasks: Collection[str], now: datetime) -> None:
    """Make tasks that never ran in this space due now."""
    ran = exists().where(_R.space_id == _J.space_id, _R.task == _J.kind)
    never = (_J.kind.in_(sorted(tasks)), not_(ran), _J.attempts == 0, _J.due_at > to_micros(now))
    update_rows(connection, jobs, space, *never, due_at=now)


def has_overdue_tasks(connection: Connection, space: str, tasks: Collection[str], now: datetime) -> bool:
    """Return whether any of these tasks is due in any space, or never ran in this one."""
    if list_due_tasks(connection, tasks, now, worker="", most=1):
        return True
    if not has_row(connection, select(_S.space_id).where(_S.space_id == space)):
        return False
    ran = select(_R.task).where(_R.space_id == space, _R.task.in_(sorted(tasks)))
    return len(select_set(connection, ran)) < len(tasks)


def list_due_tasks(
    connection: Connection, tasks: Collection[str], now: datetime, *, worker: str, most: int
) -> list[tuple[str, str]]:
    """List spaces and tasks that are due and that no other worker holds, the longest due first."""
    theirs = (_J.kind.in_(sorted(tasks)), _J.parked.is_(False), _J.due_at <= to_micros(now))
    found = select(_J.space_id, _J.kind).where(*theirs, _is_task_free(now, worker))
    rows = connection.execute(found.order_by(_J.due_at, _J.space_id).limit(most))
    return [(space, task) for space, task in rows]


def claim_task(
    connection: Connection, space: str, task: str, worker: str, now: datetime, *, early: bool
) -> ScheduledTask | None:
    """Lease a task, or return None if another worker holds it or has just finished it.

    `early` also leases a task that is not due yet.
    """
    mine = [_is_task(space, task), _is_task_free(now, worker)]
    if not early:
        mine.append(_J.due_at <= to_micros(now))
    taken = update(jobs).where(*mine).values(leased_until=to_micros(now + _LEASE), worker=worker)
    row = connection.execute(taken.returning(_J.payload, _J.attempts)).first()
    if row is None:
        return None
    begun = json.loads(row.payload)
    return ScheduledTask(
        space=space,
        task=task,
        worker=worker,
        started_at=from_micros(begun["started_at"]) if begun else now,
        attempts=row.attempts,
        cursor=begun.get("cursor"),
        counts=begun.get("counts", {}),
    )


def save_task_progress(
    connection: Connection, held: ScheduledTask, cursor: str, counts: Mapping[str, int], now: datetime
) -> None:
    """Save the cursor in the transaction of a step."""
    begun = {"started_at": to_micros(held.started_at), "cursor": cursor, "counts": dict(counts)}
    _change_held(connection, held, payload=json.dumps(begun), leased_until=now + _LEASE)


def finish_task(
    connection: Connection, held: ScheduledTask, counts: Mapping[str, int], now: datetime, due_at: datetime
) -> None:
    """Finish a task and insert its run in the transaction of the last step."""
    values = {"payload": _NO_PROGRESS, "attempts": 0, "due_at": due_at, "problem": None}
    _change_held(connection, held, **values, **_RELEASED)
    _insert_task_run(connection, held, now, counts, None)


def fail_task(
    connection: Connection, held: ScheduledTask, now: datetime, due_at: datetime, problem: str, *, counted: bool
) -> None:
    """Release the task until `due_at` and insert a failed run; `problem` is the kind of failure.

    The next attempt resumes at the cursor, unless the task failed there too often.
    """
    attempts = held.attempts + int(counted)
    values = {"attempts": attempts, "due_at": due_at, "problem": problem}
    payload = _change_held(connection, held, **values, **_RELEASED)
    if counted and attempts % limits.JOBS_RESUMES_MAX_COUNT == 0:
        update_rows(connection, jobs, held.space, _is_row_of(held), payload=_NO_PROGRESS)
    _insert_task_run(connection, held, now, json.loads(payload).get("counts", {}), problem)


def release_task(connection: Connection, held: ScheduledTask) -> None:
    """Release the task so that another worker can resume it at once."""
    with suppress(LeaseLost):
        _change_held(connection, held, **_RELEASED)


def read_task_statuses(
    connection: Connection, space: str, tasks: Collection[str], now: datetime
) -> dict[str, TaskStatus]:
    """Read the statuses of these tasks of a space, by name."""
    threads = sorted(map(scheduled_thread, tasks))
    tasks_ = select(jobs).where(_J.space_id == space, _J.thread.in_(threads), _J.seq == _TASK_SEQ)
    latest = to_micros(now + _LEASE_MAX_AHEAD)
    found = {}
    for row in connection.execute(tasks_):
        leased = row.leased_until is not None and to_micros(now) < row.leased_until <= latest
        begun = json.loads(row.payload)
        told = {"is_leased": leased, "has_begun": bool(begun), "counts": begun.get("counts", {})}
        found[row.kind] = to_record(TaskStatus, row, **told)
    return found


def _is_task(space: str | ColumnElement[str], task: str) -> ColumnElement[bool]:
    return and_(_J.space_id == space, _J.thread == scheduled_thread(task), _J.seq == _TASK_SEQ)


def _is_task_free(now: datetime, worker: str) -> ColumnElement[bool]:
    """Match a task without a valid lease, or one that this worker holds.

    The worker may hold the task from before it lost its database connection. A lease that ends
    beyond the maximum was made before the clock was set back.
    """
    beyond = to_micros(now + _LEASE_MAX_AHEAD)
    return or_(_is_free(now), _J.leased_until > beyond, _J.worker == worker)


# Channel updates: inserted once, processed in order, and cleared as soon as they are done.
#
# Sequence numbers follow the clock and only grow. Inserts for one channel are serialized by a lock,
# so that a reader that continues after a number misses no update committed later.

UPDATE_WAITING, UPDATE_PARKED, UPDATE_DONE = "waiting", "parked", "done"
_U = updates.c
_IS_UPDATE_WAITING = _U.state == sql_literal(UPDATE_WAITING)


def insert_updates(tx: Transaction, channel: str, brought: Sequence[ConversationUpdate]) -> int:
    """Insert the updates that are not known yet; return how many there are."""
    tx.dialect.acquire_lock(tx.connection, f"{tx.space} updates {channel}")
    of_channel = (_U.space_id == tx.space, _U.channel == channel)
    known: set[str] = set()
    for some in chunks(one.id for one in brought):
        known |= select_set(tx.connection, select(_U.update_id).where(*of_channel, _U.update_id.in_(some)))
    new = [one for one in brought if one.id not in known]
    if not new:
        return 0
    # One subquery for each state: an index by state and number answers each with one row.
    last = [
        select(_U.seq)
        .where(*of_channel, _U.state == sql_literal(state))
        .order_by(_U.seq.desc())
        .limit(1)
        .scalar_subquery()
        for state in (UPDATE_WAITING, UPDATE_PARKED, UPDATE_DONE)
    ]
    highest = max((seq for seq in tx.connection.execute(select(*last)).one() if seq), default=0)
    same = {"space_id": tx.space, "channel": channel, "state": UPDATE_WAITING, "attempts": 0}
    at = to_micros(tx.at)
    rows = [
        same | to_columns(one, updates) | {"update_id": one.id, "seq": seq, "at": at}
        for seq, one in enumerate(new, start=max(highest + 1, at))
    ]
    tx.connection.execute(insert(updates), rows)
    return len(new)


def list_waiting_updates(
    connection: Connection, space: str, channel: str, after: int, most: int
) -> list[PendingUpdate]:
    waiting = select(_U.seq, _U.update_id.label("id"), _U.chat, _U.payload, _U.attempts).where(
        _U.space_id == space, _U.channel == channel, _IS_UPDATE_WAITING, _U.seq > after
    )
    rows = connection.execute(waiting.order_by(_U.seq).limit(most))
    return [to_record(PendingUpdate, row) for row in rows]


def finish_update(tx: Transaction, channel: str, id: str) -> None:
    _clear_updates(tx, _U.channel == channel, _U.update_id == id, _U.state != sql_literal(UPDATE_DONE))


def fail_update(tx: Transaction, channel: str, id: str) -> bool:
    """Count a failed attempt; return whether the update still waits for another one."""
    one = (_U.space_id == tx.space, _U.channel == channel, _U.update_id == id, _IS_UPDATE_WAITING)
    attempts = _U.attempts + 1
    parked = (attempts >= limits.UPDATE_ATTEMPTS_MAX_COUNT, UPDATE_PARKED)
    state = case(parked, else_=UPDATE_WAITING)
    failed = update(updates).where(*one).values(attempts=attempts, at=to_micros(tx.at), state=state)
    return tx.connection.execute(failed.returning(_U.state)).scalar() == UPDATE_WAITING


def clear_updates_of_people(tx: Transaction, who: Collection[str]) -> int:
    """Clear the updates that these people sent and all updates of their private chats.

    The ids stay: an update that the channel delivers again is not inserted again.
    """
    rooms = list_private_chats(tx.connection, tx.space, who)
    return _clear_updates(tx, _U.person.in_(sorted(who))) + clear_updates_of_chats(tx, rooms)


def clear_updates_of_chats(tx: Transaction, rooms: Collection[str]) -> int:
    return sum(_clear_updates(tx, _U.chat.in_(some)) for some in chunks(rooms))


def _clear_updates(tx: Transaction, *which: ColumnElement[bool]) -> int:
    cleared = {"state": UPDATE_DONE, "chat": None, "person": None, "payload": "", "at": tx.at}
    return update_rows(tx.connection, updates, tx.space, *which, **cleared)
