"""Turns that were accepted and are not learned, in the order of their thread.

Whoever works takes a lease, so that two seldom do the same; that nothing is done twice does not
depend on it: a job is removed, by its holder alone, in the transaction that writes what came of it.

The same table holds the tasks that come round (`schedule.py`): by their kind they are left out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    TextClause,
    and_,
    bindparam,
    case,
    delete,
    func,
    literal_column,
    not_,
    or_,
    select,
    text,
    update,
)

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.store import dialect, rendered
from tacit.store.tables import jobs

LEARN = "learn"  # the kind of a turn's job
_J, _EARLIER = jobs.c, jobs.alias("earlier")
_TURN = _J.kind == literal_column(f"'{LEARN}'")  # in the text: it leads the index of what is due
_ONE = and_(
    _J.space_id == bindparam("b_space"),
    _J.thread == bindparam("b_thread"),
    _J.seq == bindparam("b_seq"),
)
_FREE = or_(_J.leased_until.is_(None), _J.leased_until <= bindparam("now"))
# What failed before waits for its time, whoever is in a hurry.
_ITS_TIME = or_(
    _J.due_at <= bindparam("now"), and_(_J.attempts == 0, _J.due_at <= bindparam("early"))
)
_FIRST_IN_THREAD = not_(
    select(_EARLIER.c.seq)
    .where(
        _EARLIER.c.space_id == _J.space_id,
        _EARLIER.c.thread == _J.thread,
        _EARLIER.c.parked.is_(False),
        _EARLIER.c.seq < _J.seq,
    )
    .exists()
)
_FIELDS = (_J.space_id, _J.thread, _J.seq, _J.kind, _J.owner, _J.payload, _J.attempts)
_NOT_EARLY = timedelta()
_NAMES = ("space", "thread", "seq", "kind", "owner", "payload", "attempts")
_DUE = (
    select(*_FIELDS)
    .where(_TURN, _J.parked.is_(False), _ITS_TIME, _FREE, _FIRST_IN_THREAD)
    .order_by(_J.due_at, _J.seq)
    .limit(bindparam("most"))
)
_CLAIM = (
    update(jobs)
    .where(_ONE, _FREE, _J.parked.is_(False))
    .values(leased_until=bindparam("until"), worker=bindparam("b_worker"))
    .returning(*_FIELDS)
)
_FINISH = delete(jobs).where(_ONE, _J.worker == bindparam("b_worker")).returning(_J.seq)
_PUT_OFF = update(jobs).where(_ONE, _J.worker == bindparam("b_worker"))
_RENEW = _PUT_OFF.values(leased_until=bindparam("until"))
# By the clock, but never before what is already in the thread.
_ADD = text(
    "INSERT INTO jobs (space_id, thread, seq, kind, owner, payload, attempts, due_at, "
    "leased_until, worker, problem, parked, created_at) "
    "SELECT :space, :thread, CASE WHEN coalesce(max(seq), 0) < :at THEN :at ELSE max(seq) + 1 END, "
    ":kind, :owner, :payload, 0, :due, NULL, NULL, NULL, :parked, :at "
    "FROM jobs WHERE space_id = :space AND thread = :thread"
)


class Lost(Exception):
    """The job is not ours any more: somebody else does it, or it was erased."""


def thread_of(task: str) -> str:
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
class Queue:
    """How much of a space waits, by what it waits for."""

    waiting: int = 0
    parked: int = 0
    oldest: datetime | None = None
    problems: tuple[str, ...] = ()  # kinds of failures, each once


def add(
    connection: Connection,
    space: str,
    thread: str,
    kind: str,
    owner: str,
    payloads: Sequence[str],
    at: datetime,
    due_at: datetime,
) -> None:
    """In the transaction of whoever hands it over; who works hears of it when that is done."""
    for payload in payloads:
        params = {
            "space": space,
            "thread": thread,
            "kind": kind,
            "owner": owner,
            "payload": payload,
            "at": to_micros(at),
            "due": to_micros(due_at),
            "parked": False,
        }
        rendered.run(connection, [(_ADD, params)])
    if payloads:
        later = due_at if due_at > at else None
        dialect.of(connection).notify(connection, space, thread, later)


def due(
    connection: Connection, now: datetime, most: int, *, early: timedelta = _NOT_EARLY
) -> list[Job]:
    """What can be done now, of each thread the first; `early`: so long before its time."""
    params = {"now": to_micros(now), "early": to_micros(now + early), "most": most}
    return [_job(row) for row in connection.execute(_DUE, params)]


def any_waiting(connection: Connection) -> bool:
    one = select(_J.seq).where(_TURN, _J.parked.is_(False)).limit(1)
    return connection.execute(one).first() is not None


def leased(connection: Connection, now: datetime) -> bool:
    """Whether somebody is at anything."""
    return _leased(connection, now)


def leased_of(connection: Connection, space: str, thread: str, now: datetime) -> bool:
    """Whether somebody is at something of a thread."""
    return _leased(connection, now, _J.space_id == space, _J.thread == thread)


def _leased(connection: Connection, now: datetime, *of: ColumnElement[bool]) -> bool:
    held = (_TURN, _J.parked.is_(False), _J.leased_until > to_micros(now), *of)
    return connection.execute(select(_J.seq).where(*held).limit(1)).first() is not None


def first_of(connection: Connection, space: str, thread: str, now: datetime) -> Job | None:
    """The next of a thread, if it can be done now."""
    return first(connection, now, _J.space_id == space, _J.thread == thread)


def first(
    connection: Connection, now: datetime, *of: ColumnElement[bool] | TextClause
) -> Job | None:
    params = {"now": to_micros(now), "early": to_micros(now), "most": 1}
    row = connection.execute(_DUE.where(*of), params).first()
    return None if row is None else _job(row)


def claim(
    connection: Connection, job: Job, worker: str, now: datetime, until: datetime
) -> Job | None:
    """As it stands now: where a clock does not move, a job that was done may have been followed by
    another one of the same number."""
    params = {"b_worker": worker, "now": to_micros(now), "until": to_micros(until)}
    rows = rendered.rows(connection, _CLAIM, job._which | params)
    return Job(**dict(zip(_NAMES, rows[0], strict=True))) if rows else None


def renew(connection: Connection, job: Job, worker: str, until: datetime) -> None:
    """Hold it until then, if it is still this worker's."""
    params = {"b_worker": worker, "until": to_micros(until)}
    connection.execute(_RENEW, job._which | params)


def finish(connection: Connection, job: Job, worker: str) -> None:
    """In the transaction that writes what came of it."""
    if not rendered.rows(connection, _FINISH, job._which | {"b_worker": worker}):
        raise Lost


def put_off(
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
        _PUT_OFF.values(
            attempts=_J.attempts + (1 if counted else 0),
            due_at=to_micros(due_at),
            problem=problem,
            parked=parked,
            leased_until=None,
            worker=None,
        ),
        job._which | {"b_worker": worker},
    )
    if not parked:
        dialect.of(connection).notify(connection, job.space, job.thread, due_at)


def unpark(connection: Connection, space: str, now: datetime) -> int:
    """Try again what was given up."""
    again = update(jobs).where(_J.space_id == space, _TURN, _J.parked.is_(True))
    values = {"parked": False, "attempts": 0, "due_at": to_micros(now)}
    threads = connection.execute(again.values(**values).returning(_J.thread)).scalars().all()
    for thread in dict.fromkeys(threads):
        dialect.of(connection).notify(connection, space, thread, None)
    return len(threads)


def queue(connection: Connection, space: str) -> Queue:
    parked = func.sum(case((_J.parked, 1), else_=0))
    turns = (_J.space_id == space, _TURN)
    totals = select(func.count(), parked, func.min(_J.created_at)).where(*turns)
    count, kept, oldest = connection.execute(totals).one()
    problems = select(_J.problem).where(*turns, _J.problem.is_not(None)).distinct()
    return Queue(
        waiting=count - (kept or 0),
        parked=kept or 0,
        oldest=None if oldest is None else from_micros(oldest),
        problems=tuple(sorted(connection.execute(problems).scalars())),
    )


def drop(
    connection: Connection, space: str, owners: Collection[str], thread: str | None = None
) -> int:
    """What people said and was not learned yet goes with what is erased of theirs.

    To be called before what they own is erased: what is being learned at this moment is waited for
    here, and then found there.
    """
    theirs = delete(jobs).where(_J.space_id == space, _TURN, _J.owner.in_(sorted(owners)))
    if thread is not None:
        theirs = theirs.where(_J.thread == thread)
    else:
        _begin_anew(connection, space, owners)
    return connection.execute(theirs).rowcount


def _begin_anew(connection: Connection, space: str, owners: Collection[str]) -> None:
    """A task that has stopped at one of these people is not to name them any longer."""
    threads = [thread_of(task) for task in limits.JOBS_EVERY_HOURS]
    tasks = select(_J.thread, _J.payload).where(_J.space_id == space, _J.thread.in_(threads))
    for task, payload in connection.execute(tasks).all():
        cursor = str(json.loads(payload).get("cursor") or "")
        if any(owner in cursor for owner in owners):
            one = update(jobs).where(_J.space_id == space, _J.thread == task)
            connection.execute(one.values(payload="{}", worker=None, leased_until=None))


def _job(row: Row[*tuple[Any, ...]]) -> Job:
    return Job(**dict(zip(_NAMES, row, strict=True)))
