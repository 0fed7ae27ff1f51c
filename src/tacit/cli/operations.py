"""Commands for operators: links, keys, jobs, doctor, maintenance, events, metrics."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from tacit import limits
from tacit.cli.arguments import (
    CURSOR,
    EXTERNAL_KEY,
    LIMIT,
    TIME_EXAMPLE,
    arg,
    command,
    flag,
)
from tacit.cli.output import (
    BadUsage,
    CommandResult,
    CountProgress,
    ExitCode,
    escape_controls,
    format_count,
    format_memory_count,
    format_table,
    format_time,
    more_notes,
    record_document,
    to_json,
)
from tacit.cli.session import CommandSession
from tacit.records import validation
from tacit.records.accounts import Key, Scope
from tacit.records.results import (
    EmbeddingStatus,
    EventNode,
    EventOperation,
    Finding,
    JobRun,
    JobStatus,
)

if TYPE_CHECKING:
    from tacit.memory import Link


# Identities.


@command(
    "link",
    EXTERNAL_KEY,
    arg("account", metavar="ACCOUNT", nargs="?", help="account, such as acct:42"),
    flag("--unverified", "has no effect until it is verified"),
    flag("--verify", "verify a pending link"),
)
def link(session: CommandSession) -> CommandResult:
    """Link an external key to an account."""
    args = session.args
    if (args.account is None) is not args.verify:
        raise BadUsage("link: specify an account, or --verify for a pending link")
    if args.verify:
        return _link_result(session.memory.admin.verify_link(args.external_key))
    verified = not args.unverified
    return _link_result(
        session.memory.admin.link(
            args.external_key, args.account, verified=verified, actor=session.actor
        )
    )


@command("unlink", EXTERNAL_KEY)
def unlink(session: CommandSession) -> CommandResult:
    """End a link."""
    return _link_result(session.memory.admin.unlink(session.args.external_key), ended=True)


@command(
    "merge",
    arg("person", metavar="PERSON", help="person:..., known by name only"),
    arg("into", metavar="INTO", help="the same person: person:... or telegram:123"),
)
def merge(session: CommandSession) -> CommandResult:
    """Merge two people into one."""
    args = session.args
    return _link_result(
        session.memory.admin.merge_people(args.person, args.into, actor=session.actor)
    )


@command("unmerge", arg("person", metavar="PERSON", help="person:..."))
def unmerge(session: CommandSession) -> CommandResult:
    """Undo a merge."""
    return _link_result(session.memory.admin.unmerge_people(session.args.person), ended=True)


@command("links", arg("identity", metavar="IDENTITY", help="telegram:123, acct:42 or person:..."))
def links(session: CommandSession) -> CommandResult:
    """List the links of an identity, past ones included."""
    found = session.memory.admin.links(session.args.identity)
    rows = [
        (one.kind.value, one.source, one.target, _link_state(one), format_time(one.created_at))
        for one in found
    ]
    return CommandResult(
        document={"links": to_json(found)},
        lines=format_table(rows),
        notes=() if found else ("No links found.",),
    )


def _link_result(one: Link, *, ended: bool = False) -> CommandResult:
    state = "ended" if ended else _link_state(one)
    return CommandResult(
        document={"link": record_document(one)},
        lines=[f"{one.kind}  {one.source} -> {one.target}  {state}"],
    )


def _link_state(one: Link) -> str:
    if one.ended_at is not None:
        return "ended"
    return "active" if one.holds else "pending: use --verify"


# The database and its vectors.


@command("spaces")
def spaces(session: CommandSession) -> CommandResult:
    """List the spaces of the database."""
    names = session.memory.spaces()
    return CommandResult(
        document={"spaces": names}, lines=names, notes=() if names else ("No spaces found.",)
    )


@command(
    "maintain",
    flag("--migrate", "migrate the schema, whatever db.automigrate says"),
    flag("--rewrite", "PostgreSQL: rewrite every table, so that no page holds erased data"),
)
def maintain(session: CommandSession) -> CommandResult:
    """Check, analyze and compact the database."""
    done = session.memory.admin.maintain(rewrite=session.args.rewrite)
    verdict = "healthy" if done.healthy else "unhealthy"
    return CommandResult(
        document={
            "healthy": done.healthy,
            "problems": list(done.problems),
            "did": list(done.did),
            "pending": list(done.pending),
        },
        lines=[f"{verdict}  {', '.join(done.did)}", *(f"  {one}" for one in done.problems)],
        notes=tuple(f"pending: {one}" for one in done.pending),
        exit=ExitCode.OK if done.healthy else ExitCode.STORE,
    )


@command("embedding")
def embedding(session: CommandSession) -> CommandResult:
    """Show the embedding model and how many memories have vectors."""
    found = session.memory.admin.embedding()
    return CommandResult(
        document={**asdict(found), "complete": found.complete}, lines=[_embedding_line(found)]
    )


@command("reembed")
def reembed(session: CommandSession) -> CommandResult:
    """Embed every memory that has no vector."""
    memory = session.memory
    with CountProgress("vectors made", quiet=session.args.json) as progress:
        made = memory.admin.reembed(progress)
    found = memory.admin.embedding()
    return CommandResult(
        document={"made": made, **asdict(found), "complete": found.complete},
        lines=[f"made  {made}", _embedding_line(found)],
    )


def _embedding_line(found: EmbeddingStatus) -> str:
    if found.model is None:
        return "no model: recall matches words only"
    running = ", in progress" if found.running and not found.complete else ""
    size = f"dimension {found.dimension}" if found.dimension else "dimension unknown"
    return f"{found.model}  {size}  {found.done} of {found.total} memories{running}"


@command("demo")
def demo(session: CommandSession) -> CommandResult:
    """Show what one memory discloses in three chats."""
    args = session.args
    for dest in ("requester", "chat", "config", "db", "space"):
        if getattr(args, dest) is not None:
            option = "as" if dest == "requester" else dest
            raise BadUsage(f"demo: uses a database of its own; leave out --{option}")
    from tacit.cli.demo import format_story, play_story

    story = play_story()
    return CommandResult(document=asdict(story), lines=format_story(story))


# API keys.

_KEY_ACTIONS = ("create", "list", "revoke")


@command(
    "keys",
    arg("act", metavar="ACTION", choices=_KEY_ACTIONS, help=", ".join(_KEY_ACTIONS)),
    arg("which", metavar="NAME|ID", nargs="?", help="name of the new key, or ID to revoke"),
    arg("--scope", metavar="SCOPE", action="append", help=f"{', '.join(Scope)}; repeatable"),
    arg("--for", dest="person", metavar="KEY", help="the only person it acts for: telegram:123"),
    arg("--agent", metavar="TEXT", help="agent that uses it"),
    arg(
        "--category",
        metavar="CATEGORY",
        action="append",
        help="only category it can read and write; repeatable",
    ),
    arg("--days", type=int, metavar="N", help=f"lifetime, at most {limits.API_KEY_MAX_DAYS}"),
    arg("--rate", type=int, metavar="N", help="maximum requests per minute"),
)
def keys(session: CommandSession) -> CommandResult:
    """Create, list and revoke API keys."""
    args = session.args
    if (args.which is None) is not (args.act == "list"):
        raise BadUsage("keys: create needs a name, revoke an ID, list neither")
    new_key_options = (args.scope, args.person, args.agent, args.category, args.days, args.rate)
    if args.act != "create" and any(new_key_options):
        raise BadUsage(f"keys {args.act}: takes no options of a new key")
    if args.act == "create":
        return _create_key(session)
    if args.act == "revoke":
        session.memory.keys.revoke(args.which)
        return CommandResult(
            document={"id": args.which, "done": "revoked"}, lines=[f"revoked  {args.which}"]
        )
    found = session.memory.keys.list()
    return CommandResult(
        document={"keys": to_json(found)},
        lines=format_table([_key_row(one, session.now) for one in found]),
        notes=() if found else ("No API keys found. Create one with `tacit keys create`.",),
    )


def _create_key(session: CommandSession) -> CommandResult:
    args = session.args
    if not args.scope:
        raise BadUsage(f"keys create: specify what it may do, with --scope {'|'.join(Scope)}")
    made = session.memory.keys.create(
        args.which,
        scopes=args.scope,
        requester=args.person,
        agent=args.agent,
        categories=args.category,
        expires_days=args.days,
        rate_per_minute=args.rate,
    )
    return CommandResult(
        document={"key": record_document(made.key), "token": made.token},
        lines=[*format_table([_key_row(made.key, session.now)]), made.token],
        notes=("Store the token now: it is not shown again.",),
    )


def _key_row(one: Key, now: datetime) -> tuple[str, ...]:
    scopes = ",".join(scope for scope in Scope if scope in one.scopes)
    return (one.id, scopes, f"for {one.requester or '-'}", _key_state(one, now), one.name)


def _key_state(one: Key, now: datetime) -> str:
    if one.revoked_at is not None:
        return f"revoked {format_time(one.revoked_at)}"
    if one.expires_at is None:
        return "active"
    ended = "until" if one.holds_at(now) else "expired"
    return f"{ended} {format_time(one.expires_at)}"


# Scheduled jobs.

_TASKS = tuple(limits.JOBS_EVERY_HOURS)


@command(
    "jobs",
    arg("act", metavar="ACTION", nargs="?", choices=("run",), help="run (default: list)"),
    arg("task", metavar="TASK", nargs="?", help=", ".join(_TASKS)),
)
def jobs(session: CommandSession) -> CommandResult:
    """List scheduled jobs, or run one now."""
    args = session.args
    if (args.act is None) is not (args.task is None):
        raise BadUsage(f"jobs: specify what to run: {', '.join(_TASKS)}")
    if args.act == "run":
        done = session.memory.jobs.run(args.task)
        counts = _format_counts(done.last.counts if done.last else {})
        return CommandResult(
            document={"jobs": [record_document(done)]}, lines=[f"ran  {done.task}  {counts}"]
        )
    found = session.memory.jobs.list()
    return CommandResult(
        document={"jobs": to_json(found)}, lines=format_table([_job_row(one) for one in found])
    )


def _job_row(one: JobStatus) -> tuple[str, ...]:
    due = f"due {format_time(one.due_at)}" if one.due_at is not None else ""
    progress = f"so far: {_format_counts(one.counts)}" if one.counts else _last_run_text(one.last)
    return one.task, one.state, due, progress


def _last_run_text(run: JobRun | None) -> str:
    if run is None:
        return "never ran"
    result = run.problem if run.problem is not None else _format_counts(run.counts)
    return f"last {format_time(run.finished_at)}: {result}"


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing to do"


@command("consolidate", arg("--undo", metavar="RUN", help="undo the merges of this run"))
def consolidate(session: CommandSession) -> CommandResult:
    """Merge duplicate memories, or undo a run."""
    undo = session.args.undo
    if undo is not None:
        restored = session.memory.jobs.undo_consolidation(undo)
        return CommandResult(
            document={"run": undo, "restored": restored},
            lines=[f"restored  {format_memory_count(restored)}"],
            notes=() if restored else ("Nothing in that run can be undone.",),
        )
    done = session.memory.jobs.consolidate()
    lines = [f"merged  {format_memory_count(done.merged)}, in run {done.run}"]
    if done.pairs:
        lines.append(f"compared  {format_count(done.pairs, 'pair')}")
    return CommandResult(
        document=asdict(done), lines=lines, notes=_skipped_notes(done.skipped, done.left)
    )


@command("reflect")
def reflect(session: CommandSession) -> CommandResult:
    """Infer insights about people, if the settings allow it."""
    done = session.memory.jobs.reflect()
    insights, people = format_count(done.insights, "insight"), _people(done.people)
    return CommandResult(
        document=asdict(done),
        lines=[f"stored  {insights} about {people}"],
        notes=_skipped_notes(done.skipped, done.left),
    )


@command("summarise")
def summarise(session: CommandSession) -> CommandResult:
    """Summarize finished conversations."""
    done = session.memory.jobs.summarize()
    conversations = format_count(done.sessions, "conversation")
    return CommandResult(
        document=asdict(done),
        lines=[f"summarized  {done.summaries} of {conversations}"],
        notes=_skipped_notes(done.skipped, done.left),
    )


def _people(number: int) -> str:
    return format_count(number, "person", "people")


def _skipped_notes(skipped: str, left: int) -> tuple[str, ...]:
    waiting = f"{_people(left)} left for the next run: the model did not answer"
    return tuple(filter(None, (skipped, waiting if left else "")))


# Observing.


@command(
    "doctor",
    flag("--repair", "repair what can be repaired (default: change nothing)"),
    arg(
        "--check",
        dest="checks",
        metavar="NAME",
        action="append",
        help="run only this check; repeatable (see docs/doctor.md)",
    ),
)
def doctor(session: CommandSession) -> CommandResult:
    """Find problems, and repair them with --repair."""
    args = session.args
    found = session.memory.admin.doctor(repair=args.repair, checks=args.checks)
    lines = [line for one in found.findings for line in _finding_lines(one, repair=args.repair)]
    return CommandResult(
        document={"healthy": found.healthy, "findings": to_json(found.findings)},
        lines=[*lines, "healthy" if found.healthy else "unhealthy"],
        exit=ExitCode.OK if found.healthy else ExitCode.ABSENT,
    )


def _finding_lines(one: Finding, *, repair: bool) -> list[str]:
    done = f"{one.repaired} of {one.count} repaired" if repair else f"{one.repairable} repairable"
    ids = [f"  memories: {' '.join(one.ids)}"] if one.ids else []
    return [f"{one.check}  {one.count}: {one.says} ({done})", f"  repair {one.mends}", *ids]


@command(
    "events",
    arg("--node", metavar="NODE", help=f"only this source: {', '.join(EventNode)}"),
    arg("--op", metavar="OP", help=f"only this operation: {', '.join(EventOperation)}"),
    arg("--since", metavar="TIME", help=TIME_EXAMPLE),
    LIMIT,
    CURSOR,
)
def events(session: CommandSession) -> CommandResult:
    """Count events by day."""
    args = session.args
    since = None
    if args.since is not None:
        parsed = validation.parse_iso_datetime("--since", args.since)
        since = validation.parse_datetime("--since", parsed)
    page = session.memory.admin.events(
        args.node, args.op, since, limit=args.limit, cursor=args.cursor
    )
    rows = [
        (one.day.isoformat(), one.node.value, one.op.value, one.status.value, str(one.count))
        for one in page
    ]
    empty = "No events found. None are recorded if events.keep_days is 0."
    return CommandResult(
        document={"events": to_json(page.items), "cursor": page.cursor},
        lines=format_table(rows),
        notes=(*(() if rows else (empty,)), *more_notes(page.cursor)),
    )


@command(
    "metrics",
    arg("--port", type=int, metavar="N", help="port to serve them at (default: metrics.port)"),
    flag("--print", "print them once instead"),
)
def metrics(session: CommandSession) -> CommandResult:
    """Serve metrics for Prometheus."""
    args = session.args
    memory = session.memory
    if args.print:
        text = memory.admin.metrics()
        return CommandResult(document={"metrics": text}, lines=text.splitlines())
    from tacit.server.metrics import serve_metrics

    wanted = session.settings.metrics.port if args.port is None else args.port
    with serve_metrics(validation.parse_int("port", wanted, 0, limits.PORT_MAX)) as address:
        if sys.stderr is not None:
            sys.stderr.write(f"{escape_controls(address)}\n")
            sys.stderr.flush()
        threading.Event().wait()
    raise AssertionError("served until interrupted")
