"""Commands for operators: links, keys, jobs, doctor, maintenance, events, metrics."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from tacit import limits
from tacit.cli import output as out
from tacit.cli.arguments import EXTERNAL_KEY, PAGE, TIME_EXAMPLE, arg, command, flag, many
from tacit.cli.output import BadUsage, CommandResult, ExitCode, document_of, format_time, to_json
from tacit.cli.session import CommandSession
from tacit.clock import system_clock
from tacit.records import validation
from tacit.records.accounts import Key, Scope
from tacit.records.results import EmbeddingStatus, EventNode, EventOperation, JobStatus

if TYPE_CHECKING:
    from tacit.memory import Link


# Identities.


@command(
    "link",
    EXTERNAL_KEY,
    arg("account", "ACCOUNT", "account, such as acct:42", nargs="?"),
    flag("--unverified", "has no effect until it is verified"),
    flag("--verify", "verify a pending link"),
)
def link(session: CommandSession) -> CommandResult:
    """Link an external key to an account."""
    args, actor = session.args, session.actor
    if (args.account is None) is not args.verify:
        raise BadUsage("link: specify an account, or --verify for a pending link")
    admin = session.memory.admin
    if args.verify:
        return _link_result(admin.verify_link(args.external_key))
    verified = not args.unverified
    return _link_result(admin.link(args.external_key, args.account, verified=verified, actor=actor))


@command("unlink", EXTERNAL_KEY)
def unlink(session: CommandSession) -> CommandResult:
    """End a link."""
    return _link_result(session.memory.admin.unlink(session.args.external_key), ended=True)


@command(
    "merge",
    arg("person", "PERSON", "person:..., known by name only"),
    arg("into", "INTO", "the same person: person:... or telegram:123"),
)
def merge(session: CommandSession) -> CommandResult:
    """Merge two people into one."""
    done = session.memory.admin.merge_people(**session.given, actor=session.actor)
    return _link_result(done)


@command("unmerge", arg("person", "PERSON", "person:..."))
def unmerge(session: CommandSession) -> CommandResult:
    """Undo a merge."""
    return _link_result(session.memory.admin.unmerge_people(session.args.person), ended=True)


@command("links", arg("identity", "IDENTITY", "telegram:123, acct:42 or person:..."))
def links(session: CommandSession) -> CommandResult:
    """List the links of an identity, past ones included."""

    def row(one: Link) -> tuple[str, ...]:
        made = format_time(one.created_at)
        return one.kind.value, one.source, one.target, _link_state(one), made

    found = session.memory.admin.links(session.args.identity)
    return out.list_result("links", found, row, "No links found.")


def _link_result(one: Link, *, ended: bool = False) -> CommandResult:
    state = "ended" if ended else _link_state(one)
    line = f"{one.kind}  {one.source} -> {one.target}  {state}"
    return CommandResult({"link": document_of(one)}, [line])


def _link_state(one: Link) -> str:
    if one.ended_at is not None:
        return "ended"
    return "active" if one.holds else "pending: use --verify"


# The database and its vectors.


@command("spaces")
def spaces(session: CommandSession) -> CommandResult:
    """List the spaces of the database."""
    names = session.memory.spaces()
    return out.list_result("spaces", names, lambda name: (name,), "No spaces found.")


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
        {name: to_json(getattr(done, name)) for name in ("healthy", "problems", "did", "pending")},
        [f"{verdict}  {', '.join(done.did)}", *(f"  {one}" for one in done.problems)],
        tuple(f"pending: {one}" for one in done.pending),
        ExitCode.OK if done.healthy else ExitCode.STORE,
    )


@command("embedding")
def embedding(session: CommandSession) -> CommandResult:
    """Show the embedding model and how many memories have vectors."""
    return _embedding_result(session.memory.admin.embedding())


@command("reembed")
def reembed(session: CommandSession) -> CommandResult:
    """Embed every memory that has no vector."""
    admin = session.memory.admin
    with out.Progress("vectors made", quiet=session.args.json) as progress:
        made = admin.reembed(progress)
    return _embedding_result(admin.embedding(), made=made)


def _embedding_result(found: EmbeddingStatus, **made: int) -> CommandResult:
    line = "no model: recall matches words only"
    if found.model is not None:
        running = ", in progress" if found.running and not found.complete else ""
        size = f"dimension {found.dimension}" if found.dimension else "dimension unknown"
        line = f"{found.model}  {size}  {found.done} of {found.total} memories{running}"
    counts = [f"{name}  {count}" for name, count in made.items()]
    return CommandResult({**made, **asdict(found), "complete": found.complete}, [*counts, line])


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
    return CommandResult(asdict(story), format_story(story))


# API keys.

_KEY_ACTIONS = ("create", "list", "revoke")


@command(
    "keys",
    arg("act", "ACTION", ", ".join(_KEY_ACTIONS), choices=_KEY_ACTIONS),
    arg("which", "NAME|ID", "name of the new key, or ID to revoke", nargs="?"),
    many("--scope", "SCOPE", f"{', '.join(Scope)}; repeatable"),
    arg("--for", "KEY", "the only person it acts for: telegram:123", dest="person"),
    arg("--agent", "TEXT", "agent that uses it"),
    many("--category", "CATEGORY", "only category it can read and write; repeatable"),
    arg("--days", "N", f"lifetime, at most {limits.API_KEY_MAX_DAYS}", type=int),
    arg("--rate", "N", "maximum requests per minute", type=int),
)
def keys(session: CommandSession) -> CommandResult:
    """Create, list and revoke API keys."""
    args = session.args
    if (args.which is None) is not (args.act == "list"):
        raise BadUsage("keys: create needs a name, revoke an ID, list neither")
    new_key_options = (args.scope, args.person, args.agent, args.category, args.days, args.rate)
    if args.act != "create" and any(new_key_options):
        raise BadUsage(f"keys {args.act}: takes no options of a new key")
    if args.act == "create" and not args.scope:
        raise BadUsage(f"keys create: specify what it may do, with --scope {'|'.join(Scope)}")
    stored = session.memory.keys
    if args.act == "revoke":
        stored.revoke(args.which)
        return out.done_result("revoked", args.which)

    def row(one: Key) -> tuple[str, ...]:
        scopes = ",".join(scope for scope in Scope if scope in one.scopes)
        state = _key_state(one, system_clock())
        return one.id, scopes, f"for {one.requester or '-'}", state, one.name

    if args.act == "list":
        empty = "No API keys found. Create one with `tacit keys create`."
        return out.list_result("keys", stored.list(), row, empty)
    made = stored.create(
        args.which,
        scopes=args.scope,
        requester=args.person,
        agent=args.agent,
        categories=args.category,
        expires_days=args.days,
        rate_per_minute=args.rate,
    )
    return CommandResult(
        {"key": document_of(made.key), "token": made.token},
        [*out.format_table([row(made.key)]), made.token],
        ("Store the token now: it is not shown again.",),
    )


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
    arg("act", "ACTION", "run (default: list)", nargs="?", choices=("run",)),
    arg("task", "TASK", ", ".join(_TASKS), nargs="?"),
)
def jobs(session: CommandSession) -> CommandResult:
    """List scheduled jobs, or run one now."""
    args = session.args
    if (args.act is None) is not (args.task is None):
        raise BadUsage(f"jobs: specify what to run: {', '.join(_TASKS)}")
    if args.act is None:
        return out.list_result("jobs", session.memory.jobs.list(), _job_row)
    done = session.memory.jobs.run(args.task)
    counts = _format_counts(done.last.counts if done.last else {})
    return CommandResult({"jobs": [document_of(done)]}, [f"ran  {done.task}  {counts}"])


def _job_row(one: JobStatus) -> tuple[str, ...]:
    due = f"due {format_time(one.due_at)}" if one.due_at is not None else ""
    progress, run = "never ran", one.last
    if one.counts:
        progress = f"so far: {_format_counts(one.counts)}"
    elif run is not None:
        result = run.problem if run.problem is not None else _format_counts(run.counts)
        progress = f"last {format_time(run.finished_at)}: {result}"
    return one.task, one.state, due, progress


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing to do"


@command("consolidate", arg("--undo", "RUN", "undo the merges of this run"))
def consolidate(session: CommandSession) -> CommandResult:
    """Merge duplicate memories, or undo a run."""
    undo = session.args.undo
    if undo is not None:
        restored = session.memory.jobs.undo_consolidation(undo)
        return CommandResult(
            {"run": undo, "restored": restored},
            [f"restored  {out.format_memory_count(restored)}"],
            () if restored else ("Nothing in that run can be undone.",),
        )
    done = session.memory.jobs.consolidate()
    lines = [f"merged  {out.format_memory_count(done.merged)}, in run {done.run}"]
    if done.pairs:
        lines.append(f"compared  {out.format_count(done.pairs, 'pair')}")
    return CommandResult(asdict(done), lines, _skipped_notes(done.skipped, done.left))


@command("reflect")
def reflect(session: CommandSession) -> CommandResult:
    """Infer insights about people, if the settings allow it."""
    done = session.memory.jobs.reflect()
    line = f"stored  {out.format_count(done.insights, 'insight')} about {_people(done.people)}"
    return CommandResult(asdict(done), [line], _skipped_notes(done.skipped, done.left))


@command("summarise")
def summarise(session: CommandSession) -> CommandResult:
    """Summarize finished conversations."""
    done = session.memory.jobs.summarize()
    line = f"summarized  {done.summaries} of {out.format_count(done.sessions, 'conversation')}"
    return CommandResult(asdict(done), [line], _skipped_notes(done.skipped, done.left))


def _people(number: int) -> str:
    return out.format_count(number, "person", "people")


def _skipped_notes(skipped: str, left: int) -> tuple[str, ...]:
    waiting = f"{_people(left)} left for the next run: the model did not answer"
    return tuple(filter(None, (skipped, waiting if left else "")))


# Observing.


@command(
    "doctor",
    flag("--repair", "repair what can be repaired (default: change nothing)"),
    many("--check", "NAME", "run only this check; repeatable (see docs/doctor.md)", dest="checks"),
)
def doctor(session: CommandSession) -> CommandResult:
    """Find problems, and repair them with --repair."""
    found = session.memory.admin.doctor(**session.given)
    lines = []
    for one in found.findings:
        done = f"{one.repairable} repairable"
        if session.args.repair:
            done = f"{one.repaired} of {one.count} repaired"
        lines += [f"{one.check}  {one.count}: {one.says} ({done})", f"  repair {one.mends}"]
        if one.ids:
            lines.append(f"  memories: {' '.join(one.ids)}")
    return CommandResult(
        {"healthy": found.healthy, "findings": to_json(found.findings)},
        [*lines, "healthy" if found.healthy else "unhealthy"],
        exit=ExitCode.OK if found.healthy else ExitCode.ABSENT,
    )


@command(
    "events",
    arg("--node", "NODE", f"only this source: {', '.join(EventNode)}"),
    arg("--op", "OP", f"only this operation: {', '.join(EventOperation)}"),
    arg("--since", "TIME", TIME_EXAMPLE),
    *PAGE,
)
def events(session: CommandSession) -> CommandResult:
    """Count events by day."""
    args = session.args
    since = None
    if args.since is not None:
        parsed = validation.parse_iso_datetime("--since", args.since)
        since = validation.parse_datetime("--since", parsed)
    return out.list_result(
        "events",
        session.memory.admin.events(args.node, args.op, since, limit=args.limit, cursor=args.cursor),
        lambda one: (one.day.isoformat(), one.node, one.op, one.status, str(one.count)),
        "No events found. None are recorded if events.keep_days is 0.",
    )


@command(
    "metrics",
    arg("--port", "N", "port to serve them at (default: metrics.port)", type=int),
    flag("--print", "print them once instead"),
)
def metrics(session: CommandSession) -> CommandResult:
    """Serve metrics for Prometheus."""
    args = session.args
    memory = session.memory
    if args.print:
        text = memory.admin.metrics()
        return CommandResult({"metrics": text}, text.splitlines())
    from tacit.server.metrics import serve_metrics

    wanted = session.settings.metrics.port if args.port is None else args.port
    with serve_metrics(validation.parse_int("port", wanted, 0, limits.PORT_MAX)) as address:
        if sys.stderr is not None:
            sys.stderr.write(f"{out.escape_controls(address)}\n")
            sys.stderr.flush()
        threading.Event().wait()
    raise AssertionError("served until interrupted")
