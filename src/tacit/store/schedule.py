"""Tasks that come round in every space: one row in `jobs` for each, which always stays.

Whoever runs a task holds a lease. That nothing is done twice does not depend on it: a step says how
far it has come, as the task's holder, in the transaction that writes what it did.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Update,
    and_,
    exists,
    not_,
    or_,
    select,
    update,
)

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.store import dialect, runs
from tacit.store.jobs import Lost, thread_of
from tacit.store.runs import Run
from tacit.store.tables import job_runs, jobs, spaces

_SEQ = 0
_NOT_BEGUN = "{}"
_LEASE = timedelta(seconds=limits.LEASE_SECONDS)
_AHEAD = timedelta(seconds=limits.LEASE_HELD_MAX_SECONDS)  # that the clocks of two servers may be
_J = jobs.c
_R = job_runs.c
_S = spaces.c
_NEVER_RAN = not_(exists().where(_R.space_id == _J.space_id, _R.task == _J.kind))


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """A task of a space that somebody holds, and how far it has come."""

    space: str
    task: str
    worker: str
    started_at: datetime
    attempts: int  # that failed since it last came to its end
    cursor: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A task of a space as it stands."""

    due_at: datetime
    is_leased: bool  # somebody is at it, unless they died
    has_begun: bool
    problem: str | None
    attempts: int
    counts: Mapping[str, int]


# When


def unplanned(connection: Connection, task: str) -> list[str]:
    """Spaces that have no row for a task yet."""
    row = exists().where(_J.space_id == _S.space_id, _J.thread == thread_of(task), _J.seq == _SEQ)
    missing = select(_S.space_id).where(not_(row)).order_by(_S.space_id)
    return list(connection.execute(missing.limit(limits.JOBS_PLAN_BATCH_COUNT)).scalars())


def plan(
    connection: Connection, names: Collection[str], task: str, every: timedelta, now: datetime
) -> None:
    """Rows for these spaces, each at a time of its own within the period."""
    here = dialect.of(connection)
    # Held still, so that a space that is being erased does not leave a task behind.
    standing = select(_S.space_id).where(_S.space_id.in_(sorted(names))).order_by(_S.space_id)
    found = connection.execute(here.lock_space_shared(standing)).scalars().all()
    rows = [
        {
            "space_id": space,
            "thread": thread_of(task),
            "seq": _SEQ,
            "kind": task,
            "owner": "",
            "payload": _NOT_BEGUN,
            "attempts": 0,
            "due_at": to_micros(now + every * share(space, task)),
            "leased_until": None,
            "worker": None,
            "problem": None,
            "parked": False,
            "created_at": to_micros(now),
        }
        for space in found
    ]
    here.insert_missing(connection, jobs, rows)


def share(space: str, task: str) -> float:
    """Which part of the period is this space's own: from 0, and below 1."""
    digest = hashlib.sha256(f"{space}{thread_of(task)}".encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48


def bring_in(connection: Connection, task: str, every: timedelta, now: datetime) -> None:
    """What is due later than a period from now: the period was shortened, or the clock set back.
    Each keeps its part of the period."""
    at, period = to_micros(now), every // timedelta(microseconds=1)
    late = (_J.kind == task, _J.parked.is_(False), _J.due_at > at + period)
    connection.execute(update(jobs).where(*late).values(due_at=at + (_J.due_at - at) % period))


def hasten(connection: Connection, space: str, tasks: Collection[str], now: datetime) -> None:
    """What never ran in a space is due now."""
    never = (_J.space_id == space, _J.kind.in_(sorted(tasks)), _NEVER_RAN, _J.attempts == 0)
    later = update(jobs).where(*never, _J.due_at > to_micros(now))
    connection.execute(later.values(due_at=to_micros(now)))


def overdue(connection: Connection, space: str, tasks: Collection[str], now: datetime) -> bool:
    """Whether any of these tasks is due in any space, or never ran in this one."""
    if due(connection, tasks, now, worker="", most=1):
        return True
    known = select(_S.space_id).where(_S.space_id == space)
    if connection.execute(known).first() is None:
        return False
    ran = select(_R.task).where(_R.space_id == space, _R.task.in_(sorted(tasks))).distinct()
    return len(connection.execute(ran).all()) < len(tasks)


def due(
    connection: Connection, tasks: Collection[str], now: datetime, *, worker: str, most: int
) -> list[tuple[str, str]]:
    """Spaces and tasks whose time has come, and that nobody else holds; the longest due first."""
    theirs = (_J.kind.in_(sorted(tasks)), _J.parked.is_(False), _J.due_at <= to_micros(now))
    found = select(_J.space_id, _J.kind).where(*theirs, _free(now, worker))
    return [
        (space, task)
        for space, task in connection.execute(found.order_by(_J.due_at, _J.space_id).limit(most))
    ]


# Running


def claim(
    connection: Connection, space: str, task: str, worker: str, now: datetime, *, early: bool
) -> Errand | None:
    """None where somebody else holds it, or has just done it. `early`: before its time as well."""
    mine = [_one(space, task), _free(now, worker)]
    if not early:
        mine.append(_J.due_at <= to_micros(now))
    taken = update(jobs).where(*mine).values(leased_until=to_micros(now + _LEASE), worker=worker)
    row = connection.execute(taken.returning(_J.payload, _J.attempts)).first()
    if row is None:
        return None
    begun = json.loads(row.payload)
    return Errand(
        space=space,
        task=task,
        worker=worker,
        started_at=from_micros(begun["started_at"]) if begun else now,
        attempts=row.attempts,
        cursor=begun.get("cursor"),
        counts=begun.get("counts", {}),
    )


def save(
    connection: Connection, errand: Errand, cursor: str, counts: Mapping[str, int], now: datetime
) -> None:
    """In the transaction of a step, which fails where the task is not ours any more."""
    payload = {"started_at": to_micros(errand.started_at), "cursor": cursor, "counts": dict(counts)}
    lease = to_micros(now + _LEASE)
    _held(connection, _ours(errand).values(payload=json.dumps(payload), leased_until=lease))


def renew(errand: Errand, connection: Connection, now: datetime) -> None:
    """Hold it for longer, if it is still this worker's."""
    connection.execute(_ours(errand).values(leased_until=to_micros(now + _LEASE)))


def finish(
    connection: Connection,
    errand: Errand,
    counts: Mapping[str, int],
    now: datetime,
    due_at: datetime,
) -> None:
    """In the transaction of the last step."""
    _held(
        connection,
        _ours(errand).values(
            payload=_NOT_BEGUN,
            attempts=0,
            due_at=to_micros(due_at),
            problem=None,
            leased_until=None,
            worker=None,
        ),
    )
    runs.note(connection, errand.space, errand.task, Run(errand.started_at, now, counts))


def fail(
    connection: Connection,
    errand: Errand,
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
    row = _held(connection, _ours(errand).values(**values))
    if counted and attempts % limits.JOBS_RESUMES_MAX_COUNT == 0:
        anew = update(jobs).where(_one(errand.space, errand.task))
        connection.execute(anew.values(payload=_NOT_BEGUN))
    counts = json.loads(row.payload).get("counts", {})
    run = Run(errand.started_at, now, counts, problem)
    runs.note(connection, errand.space, errand.task, run)


def release(connection: Connection, errand: Errand) -> None:
    """Let go of it, for somebody else to go on at once."""
    connection.execute(_ours(errand).values(leased_until=None, worker=None))


# What is seen of it


def standing(
    connection: Connection, space: str, tasks: Collection[str], now: datetime
) -> dict[str, Standing]:
    """These tasks of a space, by name."""
    threads = sorted(map(thread_of, tasks))
    rows = connection.execute(
        select(_J.kind, _J.due_at, _J.leased_until, _J.payload, _J.problem, _J.attempts).where(
            _J.space_id == space, _J.thread.in_(threads), _J.seq == _SEQ
        )
    )
    return {row.kind: _standing(row, now) for row in rows}


def _one(space: str, task: str) -> ColumnElement[bool]:
    return and_(_J.space_id == space, _J.thread == thread_of(task), _J.seq == _SEQ)


def _ours(errand: Errand) -> Update:
    one = _one(errand.space, errand.task)
    return update(jobs).where(one, _J.worker == errand.worker)


def _free(now: datetime, worker: str) -> ColumnElement[bool]:
    """Nobody holds it; or we ourselves, who lost the database meanwhile. A lease that ends later
    than any that could be given now is one from before the clock was set back."""
    end = _J.leased_until
    beyond = to_micros(now + _AHEAD)
    return or_(end.is_(None), end <= to_micros(now), end > beyond, _J.worker == worker)


def _holds(leased_until: int, now: datetime) -> bool:
    return to_micros(now) < leased_until <= to_micros(now + _AHEAD)


def _held(connection: Connection, changed: Update) -> Row[Any]:
    row = connection.execute(changed.returning(_J.payload)).first()
    if row is None:
        raise Lost
    return row


def _standing(row: Row[*tuple[Any, ...]], now: datetime) -> Standing:
    begun = json.loads(row.payload)
    return Standing(
        due_at=from_micros(row.due_at),
        is_leased=row.leased_until is not None and _holds(row.leased_until, now),
        has_begun=bool(begun),
        problem=row.problem,
        attempts=row.attempts,
        counts=begun.get("counts", {}),
    )
