"""Durable queues: turns to learn, scheduled tasks and their runs, channel updates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Update,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    literal_column,
    not_,
    or_,
    select,
    union_all,
    update,
)

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.records.conversation import PendingUpdate
from tacit.records.conversation import Update as ConversationUpdate
from tacit.records.memory import ChatKind
from tacit.storage import dialect, statements
from tacit.storage.memories import Transaction
from tacit.storage.schema import chat_members, chats_table, job_runs, jobs, spaces_table, updates

# Jobs: accepted turns that are not learned yet, in the order of their thread.
#
# A worker takes a lease, so that two workers seldom process the same job. Exactly-once does not
# depend on the lease: the job is deleted, only by the worker that holds it, in the transaction that
# writes the result.
#
# The same table holds the scheduled tasks (below); their kind excludes them here.

LEARN_JOB = "learn"  # kind of the job of a turn
_J, _EARLIER = jobs.c, jobs.alias("earlier")
_IS_LEARN_JOB = _J.kind == literal_column(
    f"'{LEARN_JOB}'"
)  # a literal: the kind leads the index of due jobs
_IS_JOB = and_(
    _J.space_id == bindparam("b_space"),
    _J.thread == bindparam("b_thread"),
    _J.seq == bindparam("b_seq"),
)
_IS_FREE = or_(_J.leased_until.is_(None), _J.leased_until <= bindparam("now"))
# A job that failed before waits until it is due, even if the caller asks for early jobs.
_IS_DUE = or_(
    _J.due_at <= bindparam("now"), and_(_J.attempts == 0, _J.due_at <= bindparam("early"))
)
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
_JOB_COLUMNS = (_J.space_id, _J.thread, _J.seq, _J.kind, _J.owner, _J.payload, _J.attempts)
_NO_LEAD = timedelta()
_JOB_FIELDS = ("space", "thread", "seq", "kind", "owner", "payload", "attempts")
_SELECT_DUE = (
    select(*_JOB_COLUMNS)
    .where(_IS_LEARN_JOB, _J.parked.is_(False), _IS_DUE, _IS_FREE, _IS_FIRST_IN_THREAD)
    .order_by(_J.due_at, _J.seq)
    .limit(bindparam("most"))
)
_CLAIM_JOB = (
    update(jobs)
    .where(_IS_JOB, _IS_FREE, _J.parked.is_(False))
    .values(leased_until=bindparam("until"), worker=bindparam("b_worker"))
    .returning(*_JOB_COLUMNS)
)
_DELETE_JOB = delete(jobs).where(_IS_JOB, _J.worker == bindparam("b_worker")).returning(_J.seq)
_POSTPONE_JOB = update(jobs).where(_IS_JOB, _J.worker == bindparam("b_worker"))
_RENEW_JOB = _POSTPONE_JOB.values(leased_until=bindparam("until"))
# Sequence numbers follow the clock, but never precede a job that is already in the thread.
_SELECT_LAST_JOB = select(func.max(_J.seq)).where(
    _J.space_id == bindparam("space"), _J.thread == bindparam("thread")
)
_INSERT_JOB = statements.insert_statement(jobs)


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
    kind: str
    owner: str
    payload: str
    attempts: int  # failed attempts before this one

    @property
    def _which(self) -> dict[str, object]:
        return {"b_space": self.space, "b_thread": self.thread, "b_seq": self.seq}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounts:
    """Numbers of waiting and parked jobs of a space."""

    waiting: int = 0
    parked: int = 0
    oldest: datetime | None = None
    problems: tuple[str, ...] = ()  # distinct kinds of failures


def insert_jobs(
    connection: Connection,
    space: str,
    thread: str,
    kind: str,
    owner: str,
    payloads: Sequence[str],
    at: datetime,
    due_at: datetime,
) -> None:
    """Queue turns in the caller's transaction and wake workers when it commits."""
    key = {"space": space, "thread": thread}
    ((last,),) = statements.fetch_rows(connection, _SELECT_LAST_JOB, key) if payloads else ((0,),)
    first = max((last or 0) + 1, to_micros(at))
    row = {
        "space_id": space,
        "thread": thread,
        "kind": kind,
        "owner": owner,
        "attempts": 0,
        "due_at": to_micros(due_at),
        "leased_until": None,
        "worker": None,
        "problem": None,
        "parked": False,
        "created_at": to_micros(at),
    }
    statements.run_statements(
        connection,
        [
            (_INSERT_JOB, {**row, "seq": first + number, "payload": payload})
            for number, payload in enumerate(payloads)
        ],
    )
    if payloads and due_at <= at:  # workers poll for jobs that are due later
        dialect.dialect_of(connection).notify_workers(connection)


def list_due_jobs(
    connection: Connection, now: datetime, most: int, *, early: timedelta = _NO_LEAD
) -> list[Job]:
    """List jobs that can run now, the first of each thread.

    `early` adds jobs that are due within this time and have not failed before.
    """
    params = {"now": to_micros(now), "early": to_micros(now + early), "most": most}
    return [_to_job(row) for row in connection.execute(_SELECT_DUE, params)]


def has_waiting_jobs(connection: Connection) -> bool:
    one = select(_J.seq).where(_IS_LEARN_JOB, _J.parked.is_(False)).limit(1)
    return connection.execute(one).first() is not None


def has_leased_jobs(connection: Connection, now: datetime) -> bool:
    """Return whether any worker holds a lease."""
    return _has_leases(connection, now)


def is_thread_leased(connection: Connection, space: str, thread: str, now: datetime) -> bool:
    """Return whether a worker holds a lease in this thread."""
    return _has_leases(connection, now, _J.space_id == space, _J.thread == thread)


def _has_leases(connection: Connection, now: datetime, *of: ColumnElement[bool]) -> bool:
    held = (_IS_LEARN_JOB, _J.parked.is_(False), _J.leased_until > to_micros(now), *of)
    return connection.execute(select(_J.seq).where(*held).limit(1)).first() is not None


def first_job_of_thread(
    connection: Connection, space: str, thread: str, now: datetime
) -> Job | None:
    """Return the next job of a thread, if it can run now."""
    params = {"now": to_micros(now), "early": to_micros(now), "most": 1}
    of_thread = _SELECT_DUE.where(_J.space_id == space, _J.thread == thread)
    row = connection.execute(of_thread, params).first()
    return None if row is None else _to_job(row)


def claim_job(
    connection: Connection, job: Job, worker: str, now: datetime, until: datetime
) -> Job | None:
    """Lease a job and return its current row, or None if another worker holds it.

    The row may differ from `job`: if the clock stands still, a finished job may have been followed
    by another one with the same number.
    """
    params = {"b_worker": worker, "now": to_micros(now), "until": to_micros(until)}
    rows = statements.fetch_rows(connection, _CLAIM_JOB, job._which | params)
    return Job(**dict(zip(_JOB_FIELDS, rows[0], strict=True))) if rows else None


def renew_job(connection: Connection, job: Job, worker: str, until: datetime) -> None:
    """Extend the lease, if this worker still holds the job."""
    params = {"b_worker": worker, "until": to_micros(until)}
    connection.execute(_RENEW_JOB, job._which | params)


def finish_job(connection: Connection, job: Job, worker: str) -> None:
    """Delete a finished job in the transaction that writes its result.

    Raise LeaseLost if this worker no longer holds the job.
    """
    if not statements.fetch_rows(connection, _DELETE_JOB, job._which | {"b_worker": worker}):
        raise LeaseLost


def postpone_job(
    connection: Connection,
    job: Job,
    worker: str,
    due_at: datetime,
    problem: str | None,
    *,
    parked: bool = False,
    counted: bool = True,
) -> None:
    """Release the job until `due_at`; `problem` is the kind of failure."""
    connection.execute(
        _POSTPONE_JOB.values(
            attempts=_J.attempts + (1 if counted else 0),
            due_at=to_micros(due_at),
            problem=problem,
            parked=parked,
            leased_until=None,
            worker=None,
        ),
        job._which | {"b_worker": worker},
    )


def unpark_jobs(connection: Connection, space: str, now: datetime) -> int:
    """Retry parked jobs; return how many there are."""
    again = update(jobs).where(_J.space_id == space, _IS_LEARN_JOB, _J.parked.is_(True))
    values = {"parked": False, "attempts": 0, "due_at": to_micros(now)}
    count = connection.execute(again.values(**values)).rowcount
    if count:
        dialect.dialect_of(connection).notify_workers(connection)
    return count


def count_queue(connection: Connection, space: str) -> QueueCounts:
    parked = func.sum(case((_J.parked, 1), else_=0))
    turns = (_J.space_id == space, _IS_LEARN_JOB)
    totals = select(func.count(), parked, func.min(_J.created_at)).where(*turns)
    count, kept, oldest = connection.execute(totals).one()
    problems = select(_J.problem).where(*turns, _J.problem.is_not(None)).distinct()
    return QueueCounts(
        waiting=count - (kept or 0),
        parked=kept or 0,
        oldest=None if oldest is None else from_micros(oldest),
        problems=tuple(sorted(connection.execute(problems).scalars())),
    )


def delete_jobs(
    connection: Connection, space: str, owners: Collection[str], thread: str | None = None
) -> int:
    """Delete the jobs of these owners, whose turns are not learned yet.

    Call this before the memories of the owners are erased: it waits for jobs that are running now,
    so that the erasure then finds what they wrote.
    """
    theirs = delete(jobs).where(_J.space_id == space, _IS_LEARN_JOB, _J.owner.in_(sorted(owners)))
    if thread is not None:
        theirs = theirs.where(_J.thread == thread)
    else:
        _reset_tasks(connection, space, owners)
    return connection.execute(theirs).rowcount


def _reset_tasks(connection: Connection, space: str, owners: Collection[str]) -> None:
    """Reset tasks whose cursor names one of these people."""
    threads = [scheduled_thread(task) for task in limits.JOBS_EVERY_HOURS]
    tasks = select(_J.thread, _J.payload).where(_J.space_id == space, _J.thread.in_(threads))
    for task, payload in connection.execute(tasks).all():
        cursor = str(json.loads(payload).get("cursor") or "")
        if any(owner in cursor for owner in owners):
            one = update(jobs).where(_J.space_id == space, _J.thread == task)
            connection.execute(one.values(payload="{}", worker=None, leased_until=None))


def _to_job(row: Row[*tuple[Any, ...]]) -> Job:
    return Job(**dict(zip(_JOB_FIELDS, row, strict=True)))


# Runs: the last runs of each task in each space, with times, counts and failures.

_R = job_runs.c


class TaskRun(NamedTuple):
    started_at: datetime
    finished_at: datetime
    counts: Mapping[str, int]
    problem: str | None = None  # kind of failure


def insert_task_run(connection: Connection, space: str, task: str, run: TaskRun) -> None:
    """Insert a run and delete the oldest ones.

    Only the worker that holds the task may call this: the sequence number is not locked.
    """
    of_task = (_R.space_id == space, _R.task == task)
    newest = select(func.coalesce(func.max(_R.seq), 0)).where(*of_task)
    seq = connection.execute(newest).scalar_one() + 1
    row = {
        "space_id": space,
        "task": task,
        "seq": seq,
        "started_at": to_micros(run.started_at),
        "finished_at": to_micros(run.finished_at),
        "counts": json.dumps(dict(run.counts)),
        "problem": run.problem,
    }
    connection.execute(insert(job_runs).values(**row))
    old = _R.seq <= seq - limits.JOBS_RUNS_KEEP_COUNT
    connection.execute(delete(job_runs).where(*of_task, old))


def last_task_runs(connection: Connection, space: str) -> dict[str, TaskRun]:
    """Return the newest run of each task."""
    newest = (
        select(_R.task, func.max(_R.seq).label("seq"))
        .where(_R.space_id == space)
        .group_by(_R.task)
        .subquery()
    )
    rows = connection.execute(
        select(_R.task, _R.started_at, _R.finished_at, _R.counts, _R.problem)
        .join(newest, and_(_R.task == newest.c.task, _R.seq == newest.c.seq))
        .where(_R.space_id == space)
    )
    return {
        row.task: TaskRun(
            from_micros(row.started_at),
            from_micros(row.finished_at),
            json.loads(row.counts),
            row.problem,
        )
        for row in rows
    }


# Scheduled tasks: one permanent row in `jobs` for each space and task.
#
# The worker that runs a task holds a lease. Exactly-once does not depend on the lease: each step
# saves its cursor, as the holder of the task, in the transaction that writes the result of the
# step.

_TASK_SEQ = 0
_NO_PROGRESS = "{}"
_LEASE = timedelta(seconds=limits.LEASE_SECONDS)
_LEASE_MAX_AHEAD = timedelta(
    seconds=limits.LEASE_HELD_MAX_SECONDS
)  # allowed clock difference between two servers
_JOBS = jobs.c
_RUNS = job_runs.c
_S = spaces_table.c
_NEVER_RAN = not_(exists().where(_RUNS.space_id == _JOBS.space_id, _RUNS.task == _JOBS.kind))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatus:
    """The current status of a task of a space."""

    due_at: datetime
    is_leased: bool  # a worker holds the lease, though its process may have died
    has_begun: bool
    problem: str | None
    attempts: int
    counts: Mapping[str, int]


# Scheduling


def list_unscheduled_spaces(connection: Connection, task: str) -> list[str]:
    """List spaces that have no row for this task."""
    row = exists().where(
        _JOBS.space_id == _S.space_id,
        _JOBS.thread == scheduled_thread(task),
        _JOBS.seq == _TASK_SEQ,
    )
    missing = select(_S.space_id).where(not_(row)).order_by(_S.space_id)
    return list(connection.execute(missing.limit(limits.JOBS_PLAN_BATCH_COUNT)).scalars())


def schedule_task(
    connection: Connection, names: Collection[str], task: str, every: timedelta, now: datetime
) -> None:
    """Insert task rows for these spaces, each due at its own phase of the period."""
    here = dialect.dialect_of(connection)
    # Lock each space separately, so that a space that is being erased does not keep a task: a
    # sharded database locks rows of one space at a time.
    locked = here.lock_space_shared(select(_S.space_id).where(_S.space_id == bindparam("space")))
    found = [
        name
        for name in sorted(names)
        if connection.execute(locked, {"space": name}).first() is not None
    ]
    rows = [
        {
            "space_id": space,
            "thread": scheduled_thread(task),
            "seq": _TASK_SEQ,
            "kind": task,
            "owner": "",
            "payload": _NO_PROGRESS,
            "attempts": 0,
            "due_at": to_micros(now + every * task_phase(space, task)),
            "leased_until": None,
            "worker": None,
            "problem": None,
            "parked": False,
            "created_at": to_micros(now),
        }
        for space in found
    ]
    here.insert_missing(connection, jobs, rows)


def task_phase(space: str, task: str) -> float:
    """Return the phase of this space within the period, at least 0 and less than 1."""
    digest = hashlib.sha256(f"{space}{scheduled_thread(task)}".encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48


def reschedule_late_tasks(
    connection: Connection, task: str, every: timedelta, now: datetime
) -> None:
    """Move tasks that are due more than a period from now into the period.

    This happens after the period was shortened or the clock was set back. Each task keeps its
    phase.
    """
    at, period = to_micros(now), every // timedelta(microseconds=1)
    late = (_JOBS.kind == task, _JOBS.parked.is_(False), _JOBS.due_at > at + period)
    connection.execute(update(jobs).where(*late).values(due_at=at + (_JOBS.due_at - at) % period))


def schedule_now(connection: Connection, space: str, tasks: Collection[str], now: datetime) -> None:
    """Make tasks that never ran in this space due now."""
    never = (
        _JOBS.space_id == space,
        _JOBS.kind.in_(sorted(tasks)),
        _NEVER_RAN,
        _JOBS.attempts == 0,
    )
    later = update(jobs).where(*never, _JOBS.due_at > to_micros(now))
    connection.execute(later.values(due_at=to_micros(now)))


def has_overdue_tasks(
    connection: Connection, space: str, tasks: Collection[str], now: datetime
) -> bool:
    """Return whether any of these tasks is due in any space, or never ran in this one."""
    if list_due_tasks(connection, tasks, now, worker="", most=1):
        return True
    known = select(_S.space_id).where(_S.space_id == space)
    if connection.execute(known).first() is None:
        return False
    ran = (
        select(_RUNS.task).where(_RUNS.space_id == space, _RUNS.task.in_(sorted(tasks))).distinct()
    )
    return len(connection.execute(ran).all()) < len(tasks)


def list_due_tasks(
    connection: Connection, tasks: Collection[str], now: datetime, *, worker: str, most: int
) -> list[tuple[str, str]]:
    """List spaces and tasks that are due and that no other worker holds, the longest due first."""
    theirs = (
        _JOBS.kind.in_(sorted(tasks)),
        _JOBS.parked.is_(False),
        _JOBS.due_at <= to_micros(now),
    )
    found = select(_JOBS.space_id, _JOBS.kind).where(*theirs, _is_task_free(now, worker))
    return [
        (space, task)
        for space, task in connection.execute(
            found.order_by(_JOBS.due_at, _JOBS.space_id).limit(most)
        )
    ]


# Running


def claim_task(
    connection: Connection, space: str, task: str, worker: str, now: datetime, *, early: bool
) -> ScheduledTask | None:
    """Lease a task, or return None if another worker holds it or has just finished it.

    `early` also leases a task that is not due yet.
    """
    mine = [_is_task(space, task), _is_task_free(now, worker)]
    if not early:
        mine.append(_JOBS.due_at <= to_micros(now))
    taken = update(jobs).where(*mine).values(leased_until=to_micros(now + _LEASE), worker=worker)
    row = connection.execute(taken.returning(_JOBS.payload, _JOBS.attempts)).first()
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
    connection: Connection,
    errand: ScheduledTask,
    cursor: str,
    counts: Mapping[str, int],
    now: datetime,
) -> None:
    """Save the cursor in the transaction of a step. Raise LeaseLost if the worker lost the task."""
    payload = {"started_at": to_micros(errand.started_at), "cursor": cursor, "counts": dict(counts)}
    lease = to_micros(now + _LEASE)
    _require_lease(
        connection, _update_own_task(errand).values(payload=json.dumps(payload), leased_until=lease)
    )


def renew_task(errand: ScheduledTask, connection: Connection, now: datetime) -> None:
    """Extend the lease, if this worker still holds the task."""
    connection.execute(_update_own_task(errand).values(leased_until=to_micros(now + _LEASE)))


def finish_task(
    connection: Connection,
    errand: ScheduledTask,
    counts: Mapping[str, int],
    now: datetime,
    due_at: datetime,
) -> None:
    """Finish a task and insert its run in the transaction of the last step."""
    _require_lease(
        connection,
        _update_own_task(errand).values(
            payload=_NO_PROGRESS,
            attempts=0,
            due_at=to_micros(due_at),
            problem=None,
            leased_until=None,
            worker=None,
        ),
    )
    insert_task_run(connection, errand.space, errand.task, TaskRun(errand.started_at, now, counts))


def fail_task(
    connection: Connection,
    errand: ScheduledTask,
    now: datetime,
    due_at: datetime,
    problem: str,
    *,
    counted: bool,
) -> None:
    """Release the task until `due_at` and insert a failed run; `problem` is the kind of failure.

    The next attempt resumes at the cursor, unless the task failed there too often.
    """
    attempts = errand.attempts + (1 if counted else 0)
    values: dict[str, Any] = {
        "attempts": attempts,
        "due_at": to_micros(due_at),
        "problem": problem,
        "leased_until": None,
        "worker": None,
    }
    row = _require_lease(connection, _update_own_task(errand).values(**values))
    if counted and attempts % limits.JOBS_RESUMES_MAX_COUNT == 0:
        anew = update(jobs).where(_is_task(errand.space, errand.task))
        connection.execute(anew.values(payload=_NO_PROGRESS))
    counts = json.loads(row.payload).get("counts", {})
    run = TaskRun(errand.started_at, now, counts, problem)
    insert_task_run(connection, errand.space, errand.task, run)


def release_task(connection: Connection, errand: ScheduledTask) -> None:
    """Release the task so that another worker can resume it at once."""
    connection.execute(_update_own_task(errand).values(leased_until=None, worker=None))


# Status


def read_task_statuses(
    connection: Connection, space: str, tasks: Collection[str], now: datetime
) -> dict[str, TaskStatus]:
    """Read the statuses of these tasks of a space, by name."""
    threads = sorted(map(scheduled_thread, tasks))
    rows = connection.execute(
        select(
            _JOBS.kind,
            _JOBS.due_at,
            _JOBS.leased_until,
            _JOBS.payload,
            _JOBS.problem,
            _JOBS.attempts,
        ).where(_JOBS.space_id == space, _JOBS.thread.in_(threads), _JOBS.seq == _TASK_SEQ)
    )
    return {row.kind: _to_task_status(row, now) for row in rows}


def _is_task(space: str, task: str) -> ColumnElement[bool]:
    return and_(
        _JOBS.space_id == space, _JOBS.thread == scheduled_thread(task), _JOBS.seq == _TASK_SEQ
    )


def _update_own_task(errand: ScheduledTask) -> Update:
    one = _is_task(errand.space, errand.task)
    return update(jobs).where(one, _JOBS.worker == errand.worker)


def _is_task_free(now: datetime, worker: str) -> ColumnElement[bool]:
    """Match a task without a valid lease, or one that this worker holds.

    The worker may hold the task from before it lost its database connection. A lease that ends
    beyond the maximum was made before the clock was set back.
    """
    end = _JOBS.leased_until
    beyond = to_micros(now + _LEASE_MAX_AHEAD)
    return or_(end.is_(None), end <= to_micros(now), end > beyond, _JOBS.worker == worker)


def _is_lease_held(leased_until: int, now: datetime) -> bool:
    return to_micros(now) < leased_until <= to_micros(now + _LEASE_MAX_AHEAD)


def _require_lease(connection: Connection, changed: Update) -> Row[Any]:
    row = connection.execute(changed.returning(_JOBS.payload)).first()
    if row is None:
        raise LeaseLost
    return row


def _to_task_status(row: Row[*tuple[Any, ...]], now: datetime) -> TaskStatus:
    begun = json.loads(row.payload)
    return TaskStatus(
        due_at=from_micros(row.due_at),
        is_leased=row.leased_until is not None and _is_lease_held(row.leased_until, now),
        has_begun=bool(begun),
        problem=row.problem,
        attempts=row.attempts,
        counts=begun.get("counts", {}),
    )


# Channel updates: inserted once, processed in order, and cleared as soon as they are done.
#
# Sequence numbers follow the clock and only grow. Inserts for one channel are serialized by a lock,
# so that a reader that continues after a number misses no update committed later.

UPDATE_WAITING, UPDATE_PARKED, UPDATE_DONE = "waiting", "parked", "done"
_U = updates.c
_C = chat_members.c
_CHATS = chats_table.c
_AT_ONCE_COUNT = 500
# Values that remain of an update that is done.
_CLEARED_VALUES: dict[str, Any] = {
    "state": UPDATE_DONE,
    "chat": None,
    "person": None,
    "payload": "",
}
_IS_OF_CHANNEL = and_(_U.space_id == bindparam("b_space"), _U.channel == bindparam("b_channel"))
_SELECT_KNOWN_UPDATES = select(_U.update_id).where(
    _IS_OF_CHANNEL, _U.update_id.in_(bindparam("ids", expanding=True))
)
_SELECT_LAST_SEQ = union_all(
    *(
        select(select(_U.seq).where(_IS_OF_CHANNEL, _U.state == literal_column(f"'{state}'"))
               .order_by(_U.seq.desc()).limit(1).scalar_subquery())
        for state in (UPDATE_WAITING, UPDATE_PARKED, UPDATE_DONE)
    )
)  # fmt: skip
_SELECT_WAITING = (
    select(_U.seq, _U.update_id, _U.chat, _U.payload, _U.attempts)
    .where(
        _IS_OF_CHANNEL,
        _U.state == literal_column(f"'{UPDATE_WAITING}'"),
        _U.seq > bindparam("after"),
    )
    .order_by(_U.seq)
    .limit(bindparam("most"))
)
_IS_UPDATE = and_(_IS_OF_CHANNEL, _U.update_id == bindparam("b_id"))
_FINISH_UPDATE = (
    update(updates)
    .where(_IS_UPDATE, _U.state != literal_column(f"'{UPDATE_DONE}'"))
    .values(**_CLEARED_VALUES, at=bindparam("b_at"))
)
_FAIL_UPDATE = (
    update(updates)
    .where(_IS_UPDATE, _U.state == literal_column(f"'{UPDATE_WAITING}'"))
    .values(
        attempts=_U.attempts + 1,
        at=bindparam("b_at"),
        state=case(
            (_U.attempts + 1 >= limits.UPDATE_ATTEMPTS_MAX_COUNT, UPDATE_PARKED),
            else_=UPDATE_WAITING,
        ),
    )
    .returning(_U.state)
)


def insert_updates(tx: Transaction, channel: str, brought: Sequence[ConversationUpdate]) -> int:
    """Insert the updates that are not known yet; return how many there are."""
    tx.dialect.acquire_lock(tx.connection, f"{tx.space} updates {channel}")
    where = {"b_space": tx.space, "b_channel": channel}
    known: set[str] = set()
    for some in _batches_of([one.id for one in brought]):
        known.update(
            id
            for (id,) in statements.fetch_rows(
                tx.connection, _SELECT_KNOWN_UPDATES, {**where, "ids": some}
            )
        )
    new = [one for one in brought if one.id not in known]
    if not new:
        return 0
    at = to_micros(tx.at)
    last = max(
        (seq for (seq,) in statements.fetch_rows(tx.connection, _SELECT_LAST_SEQ, where) if seq),
        default=0,
    )
    rows = [
        {
            "space_id": tx.space,
            "channel": channel,
            "update_id": one.id,
            "seq": seq,
            "state": UPDATE_WAITING,
            "attempts": 0,
            "at": at,
            "chat": one.chat,
            "person": one.person,
            "payload": one.payload,
        }
        for seq, one in enumerate(new, start=max(last + 1, at))
    ]
    tx.connection.execute(insert(updates), rows)
    return len(new)


def list_waiting_updates(
    connection: Connection, space: str, channel: str, after: int, most: int
) -> list[PendingUpdate]:
    params = {"b_space": space, "b_channel": channel, "after": after, "most": most}
    return [
        PendingUpdate(seq=seq, id=id, chat=chat, payload=payload, attempts=attempts)
        for seq, id, chat, payload, attempts in statements.fetch_rows(
            connection, _SELECT_WAITING, params
        )
    ]


def finish_update(tx: Transaction, channel: str, id: str) -> None:
    tx.connection.execute(_FINISH_UPDATE, _update_params(tx, channel, id))


def fail_update(tx: Transaction, channel: str, id: str) -> bool:
    """Count a failed attempt; return whether the update still waits for another one."""
    return (
        tx.connection.execute(_FAIL_UPDATE, _update_params(tx, channel, id)).scalar()
        == UPDATE_WAITING
    )


def _update_params(tx: Transaction, channel: str, id: str) -> dict[str, Any]:
    at = to_micros(tx.at)
    return {"b_space": tx.space, "b_channel": channel, "b_id": id, "b_at": at}


def clear_updates_of_people(tx: Transaction, who: Collection[str]) -> int:
    """Clear the updates that these people sent and all updates of their private chats.

    The ids stay: an update that the channel delivers again is not inserted again.
    """
    alone = (
        select(_C.chat)
        .join(chats_table, (_CHATS.space_id == _C.space_id) & (_CHATS.id == _C.chat))
        .where(
            _C.space_id == tx.space,
            _C.person.in_(sorted(who)),
            _CHATS.kind == ChatKind.PRIVATE.value,
        )
    )
    rooms = sorted(set(tx.connection.execute(alone).scalars()))
    return _clear_updates(tx, _U.person.in_(sorted(who))) + clear_updates_of_chats(tx, rooms)


def clear_updates_of_chats(tx: Transaction, rooms: Collection[str]) -> int:
    return sum(_clear_updates(tx, _U.chat.in_(some)) for some in _batches_of(sorted(rooms)))


def _clear_updates(tx: Transaction, which: ColumnElement[bool]) -> int:
    these = update(updates).where(_U.space_id == tx.space, which)
    return tx.connection.execute(these.values(**_CLEARED_VALUES, at=to_micros(tx.at))).rowcount


def _batches_of(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), _AT_ONCE_COUNT):
        yield names[start : start + _AT_ONCE_COUNT]
