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

# Turns that were accepted and are not learned, in the order of their thread.
#
# Whoever works takes a lease, so that two seldom do the same; that nothing is done twice does
# not depend on it: a job is removed, by its holder alone, in the transaction that writes what
# came of it.
#
# The same table holds the tasks that come round (`schedule.py`): by their kind they are left out.

LEARN_JOB = "learn"  # the kind of a turn's job
_J, _EARLIER = jobs.c, jobs.alias("earlier")
_IS_LEARN_JOB = _J.kind == literal_column(
    f"'{LEARN_JOB}'"
)  # in the text: it leads the index of what is due
_IS_JOB = and_(
    _J.space_id == bindparam("b_space"),
    _J.thread == bindparam("b_thread"),
    _J.seq == bindparam("b_seq"),
)
_IS_FREE = or_(_J.leased_until.is_(None), _J.leased_until <= bindparam("now"))
# What failed before waits for its time, whoever is in a hurry.
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
# By the clock, but never before what is already in the thread.
_SELECT_LAST_JOB = select(func.max(_J.seq)).where(
    _J.space_id == bindparam("space"), _J.thread == bindparam("thread")
)
_INSERT_JOB = statements.insert_statement(jobs)


class LeaseLost(Exception):
    """The job is not ours any more: somebody else does it, or it was erased."""


def scheduled_thread(task: str) -> str:
    """Of a task that comes round. No identifier can begin so: no conversation is named like it."""
    return f"\x1f{task}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    space: str
    thread: str
    seq: int
    kind: str
    owner: str
    payload: str
    attempts: int  # before this one

    @property
    def _which(self) -> dict[str, object]:
        return {"b_space": self.space, "b_thread": self.thread, "b_seq": self.seq}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounts:
    """How much of a space waits, by what it waits for."""

    waiting: int = 0
    parked: int = 0
    oldest: datetime | None = None
    problems: tuple[str, ...] = ()  # kinds of failures, each once


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
    if payloads and due_at <= at:  # workers poll for what is due later
        dialect.dialect_of(connection).notify_workers(connection)


def list_due_jobs(
    connection: Connection, now: datetime, most: int, *, early: timedelta = _NO_LEAD
) -> list[Job]:
    """What can be done now, of each thread the first; `early`: so long before its time."""
    params = {"now": to_micros(now), "early": to_micros(now + early), "most": most}
    return [_to_job(row) for row in connection.execute(_SELECT_DUE, params)]


def has_waiting_jobs(connection: Connection) -> bool:
    one = select(_J.seq).where(_IS_LEARN_JOB, _J.parked.is_(False)).limit(1)
    return connection.execute(one).first() is not None


def has_leased_jobs(connection: Connection, now: datetime) -> bool:
    """Whether somebody is at anything."""
    return _has_leases(connection, now)


def is_thread_leased(connection: Connection, space: str, thread: str, now: datetime) -> bool:
    """Whether somebody is at something of a thread."""
    return _has_leases(connection, now, _J.space_id == space, _J.thread == thread)


def _has_leases(connection: Connection, now: datetime, *of: ColumnElement[bool]) -> bool:
    held = (_IS_LEARN_JOB, _J.parked.is_(False), _J.leased_until > to_micros(now), *of)
    return connection.execute(select(_J.seq).where(*held).limit(1)).first() is not None


def first_job_of_thread(
    connection: Connection, space: str, thread: str, now: datetime
) -> Job | None:
    """Return the next job of a thread, if it can be done now."""
    params = {"now": to_micros(now), "early": to_micros(now), "most": 1}
    of_thread = _SELECT_DUE.where(_J.space_id == space, _J.thread == thread)
    row = connection.execute(of_thread, params).first()
    return None if row is None else _to_job(row)


def claim_job(
    connection: Connection, job: Job, worker: str, now: datetime, until: datetime
) -> Job | None:
    """As it stands now: where a clock does not move, a job that was done may have been followed by
    another one of the same number."""
    params = {"b_worker": worker, "now": to_micros(now), "until": to_micros(until)}
    rows = statements.fetch_rows(connection, _CLAIM_JOB, job._which | params)
    return Job(**dict(zip(_JOB_FIELDS, rows[0], strict=True))) if rows else None


def renew_job(connection: Connection, job: Job, worker: str, until: datetime) -> None:
    """Hold it until then, if it is still this worker's."""
    params = {"b_worker": worker, "until": to_micros(until)}
    connection.execute(_RENEW_JOB, job._which | params)


def finish_job(connection: Connection, job: Job, worker: str) -> None:
    """In the transaction that writes what came of it."""
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
    """Let go of it until then; `problem` says what kind of failure it was."""
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
    """Try again what was given up."""
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
    """What people said and was not learned yet goes with what is erased of theirs.

    To be called before what they own is erased: what is being learned at this moment is waited for
    here, and then found there.
    """
    theirs = delete(jobs).where(_J.space_id == space, _IS_LEARN_JOB, _J.owner.in_(sorted(owners)))
    if thread is not None:
        theirs = theirs.where(_J.thread == thread)
    else:
        _reset_tasks(connection, space, owners)
    return connection.execute(theirs).rowcount


def _reset_tasks(connection: Connection, space: str, owners: Collection[str]) -> None:
    """A task that has stopped at one of these people is not to name them any longer."""
    threads = [scheduled_thread(task) for task in limits.JOBS_EVERY_HOURS]
    tasks = select(_J.thread, _J.payload).where(_J.space_id == space, _J.thread.in_(threads))
    for task, payload in connection.execute(tasks).all():
        cursor = str(json.loads(payload).get("cursor") or "")
        if any(owner in cursor for owner in owners):
            one = update(jobs).where(_J.space_id == space, _J.thread == task)
            connection.execute(one.values(payload="{}", worker=None, leased_until=None))


def _to_job(row: Row[*tuple[Any, ...]]) -> Job:
    return Job(**dict(zip(_JOB_FIELDS, row, strict=True)))


# The last runs of each task in each space: when, what was done, and what went wrong.

_R = job_runs.c


class TaskRun(NamedTuple):
    started_at: datetime
    finished_at: datetime
    counts: Mapping[str, int]
    problem: str | None = None  # what kind of failure it was


def insert_task_run(connection: Connection, space: str, task: str, run: TaskRun) -> None:
    """One more, and the oldest out. For whoever holds the task, who is alone at this."""
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
    """The newest of each task."""
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


# Tasks that come round in every space: one row in `jobs` for each, which always stays.
#
# Whoever runs a task holds a lease. That nothing is done twice does not depend on it: a step
# says how far it has come, as the task's holder, in the transaction that writes what it did.

_TASK_SEQ = 0
_NO_PROGRESS = "{}"
_LEASE = timedelta(seconds=limits.LEASE_SECONDS)
_LEASE_MAX_AHEAD = timedelta(
    seconds=limits.LEASE_HELD_MAX_SECONDS
)  # that the clocks of two servers may be
_JOBS = jobs.c
_RUNS = job_runs.c
_S = spaces_table.c
_NEVER_RAN = not_(exists().where(_RUNS.space_id == _JOBS.space_id, _RUNS.task == _JOBS.kind))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledTask:
    """A task of a space that somebody holds, and how far it has come."""

    space: str
    task: str
    worker: str
    started_at: datetime
    attempts: int  # that failed since it last came to its end
    cursor: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatus:
    """A task of a space as it stands."""

    due_at: datetime
    is_leased: bool  # somebody is at it, unless they died
    has_begun: bool
    problem: str | None
    attempts: int
    counts: Mapping[str, int]


# When


def list_unscheduled_spaces(connection: Connection, task: str) -> list[str]:
    """Spaces that have no row for a task yet."""
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
    """Rows for these spaces, each at a time of its own within the period."""
    here = dialect.dialect_of(connection)
    # Locked one by one, so that a space that is being erased does not leave a task behind: a
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
    """Which part of the period is this space's own: from 0, and below 1."""
    digest = hashlib.sha256(f"{space}{scheduled_thread(task)}".encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48


def reschedule_late_tasks(
    connection: Connection, task: str, every: timedelta, now: datetime
) -> None:
    """What is due later than a period from now: the period was shortened, or the clock set back.
    Each keeps its part of the period."""
    at, period = to_micros(now), every // timedelta(microseconds=1)
    late = (_JOBS.kind == task, _JOBS.parked.is_(False), _JOBS.due_at > at + period)
    connection.execute(update(jobs).where(*late).values(due_at=at + (_JOBS.due_at - at) % period))


def schedule_now(connection: Connection, space: str, tasks: Collection[str], now: datetime) -> None:
    """What never ran in a space is due now."""
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
    """Whether any of these tasks is due in any space, or never ran in this one."""
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
    """Spaces and tasks whose time has come, and that nobody else holds; the longest due first."""
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
    """None where somebody else holds it, or has just done it. `early`: before its time as well."""
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
    """In the transaction of a step, which fails where the task is not ours any more."""
    payload = {"started_at": to_micros(errand.started_at), "cursor": cursor, "counts": dict(counts)}
    lease = to_micros(now + _LEASE)
    _require_lease(
        connection, _update_own_task(errand).values(payload=json.dumps(payload), leased_until=lease)
    )


def renew_task(errand: ScheduledTask, connection: Connection, now: datetime) -> None:
    """Hold it for longer, if it is still this worker's."""
    connection.execute(_update_own_task(errand).values(leased_until=to_micros(now + _LEASE)))


def finish_task(
    connection: Connection,
    errand: ScheduledTask,
    counts: Mapping[str, int],
    now: datetime,
    due_at: datetime,
) -> None:
    """In the transaction of the last step."""
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
    """Let go of it until then; `problem` says what kind of failure it was. It goes on from where it
    was, unless it failed there too often."""
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
    """Let go of it, for somebody else to go on at once."""
    connection.execute(_update_own_task(errand).values(leased_until=None, worker=None))


# What is seen of it


def read_task_statuses(
    connection: Connection, space: str, tasks: Collection[str], now: datetime
) -> dict[str, TaskStatus]:
    """These tasks of a space, by name."""
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
    """Nobody holds it; or we ourselves, who lost the database meanwhile. A lease that ends later
    than any that could be given now is one from before the clock was set back."""
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


# What channels brought, as rows: taken in once, in order, and emptied as soon as it is done.
#
# Numbers go by the clock, but only ever on. Those who take in for one channel take turns, so that
# whoever reads on behind a number misses nothing that was committed later.

UPDATE_WAITING, UPDATE_PARKED, UPDATE_DONE = "waiting", "parked", "done"
_U = updates.c
_C = chat_members.c
_CHATS = chats_table.c
_AT_ONCE_COUNT = 500
# All that is left of one that is done.
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
    """Those that are not known yet; says how many that are."""
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
    """Whether it still waits."""
    return (
        tx.connection.execute(_FAIL_UPDATE, _update_params(tx, channel, id)).scalar()
        == UPDATE_WAITING
    )


def _update_params(tx: Transaction, channel: str, id: str) -> dict[str, Any]:
    at = to_micros(tx.at)
    return {"b_space": tx.space, "b_channel": channel, "b_id": id, "b_at": at}


def clear_updates_of_people(tx: Transaction, who: Collection[str]) -> int:
    """What these people sent, and whatever came from their private chats. That it came stays known:
    brought again, it is not taken in again."""
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
