"""The last runs of each task in each space: when, what was done, and what went wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, and_, delete, func, insert, select

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.store.tables import job_runs

_R = job_runs.c


class Run(NamedTuple):
    started_at: datetime
    finished_at: datetime
    counts: Mapping[str, int]
    problem: str | None = None  # what kind of failure it was


def note(connection: Connection, space: str, task: str, run: Run) -> None:
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


def last(connection: Connection, space: str) -> dict[str, Run]:
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
        row.task: Run(
            from_micros(row.started_at),
            from_micros(row.finished_at),
            json.loads(row.counts),
            row.problem,
        )
        for row in rows
    }
