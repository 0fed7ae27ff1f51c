"""The command that tells what comes round in a space, and runs it now."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tacit import limits
from tacit.records.results import JobRun, JobStatus
from tacit.surfaces.cli import documents, tables
from tacit.surfaces.cli.answers import Answer
from tacit.surfaces.cli.exits import BadUsage
from tacit.surfaces.cli.session import Session

_TASKS = tuple(limits.JOBS_EVERY_HOURS)


def options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "act", metavar="ACT", nargs="?", choices=("run",), help="run; else tell how they stand"
    )
    parser.add_argument("task", metavar="TASK", nargs="?", help=", ".join(_TASKS))


def jobs(session: Session) -> Answer:
    args = session.args
    if (args.act is None) is not (args.task is None):
        raise BadUsage(f"jobs: name what to run: {', '.join(_TASKS)}")
    if args.act == "run":
        done = session.memory.run_job(args.task)
        return Answer(
            document={"jobs": [_document(done)]},
            lines=[f"ran  {done.task}  {_counts(done.last.counts if done.last else {})}".rstrip()],
        )
    found = session.memory.jobs()
    return Answer(
        document={"jobs": [_document(one) for one in found]},
        lines=tables.table([_row(one) for one in found]),
    )


def _row(one: JobStatus) -> tuple[str, ...]:
    due = f"due {tables.when(one.due_at)}" if one.due_at is not None else ""
    return (one.task, one.state, due, _so_far(one) if one.counts else _last(one.last))


def _so_far(one: JobStatus) -> str:
    return f"so far: {_counts(one.counts)}"


def _last(run: JobRun | None) -> str:
    if run is None:
        return "never ran"
    came = run.problem if run.problem is not None else _counts(run.counts)
    return f"last {tables.when(run.finished_at)}: {came}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing to do"


def _document(one: JobStatus) -> dict[str, Any]:
    last = None if one.last is None else _plain(asdict(one.last))
    return _plain(asdict(one)) | {"last": last}


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, dict) else documents.plain(value)
        for name, value in fields.items()
    }
