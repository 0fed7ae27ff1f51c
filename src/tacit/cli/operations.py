"""Commands for operators: links, keys, jobs, doctor, maintenance, events, metrics."""

from __future__ import annotations

import sys
import threading
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tacit import limits
from tacit.cli import inputs, memories, output
from tacit.cli.options import IMPORT_FORMATS
from tacit.cli.output import (
    BadUsage,
    CommandResult,
    CountProgress,
    ExitCode,
    StreamedResult,
    escape_controls,
)
from tacit.cli.session import CommandSession, format_count
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


# Commands about identities, and about the memory as a whole.


def add_link(session: CommandSession) -> CommandResult:
    args = session.args
    if (args.account is None) is not args.verify:
        raise BadUsage("link: name an account, or say --verify for a link that waits")
    if args.verify:
        return _link_result(session.memory.verify_link(args.external_key))
    verified = not args.unverified
    return _link_result(
        session.memory.link(args.external_key, args.account, verified=verified, actor=session.actor)
    )


def end_link(session: CommandSession) -> CommandResult:
    args = session.args
    return _link_result(session.memory.unlink(args.external_key), ended=True)


def merge_people(session: CommandSession) -> CommandResult:
    args = session.args
    return _link_result(session.memory.merge_people(args.person, args.into, actor=session.actor))


def unmerge_people(session: CommandSession) -> CommandResult:
    args = session.args
    return _link_result(session.memory.unmerge_people(args.person), ended=True)


def list_links(session: CommandSession) -> CommandResult:
    args = session.args
    found = session.memory.links(args.identity)
    rows = [
        (
            one.kind.value,
            one.source,
            one.target,
            _link_state(one),
            output.format_time(one.created_at),
        )
        for one in found
    ]
    return CommandResult(
        document={"links": [output.link_document(one) for one in found]},
        lines=output.format_table(rows),
        notes=() if found else ("no links",),
    )


def _link_result(one: Link, *, ended: bool = False) -> CommandResult:
    standing = "ended" if ended else _link_state(one)
    return CommandResult(
        document={"link": output.link_document(one)},
        lines=[f"{one.kind}  {one.source} -> {one.target}  {standing}"],
    )


def _link_state(one: Link) -> str:
    if one.ended_at is not None:
        return "ended"
    return "holds" if one.holds else "waits for --verify"


def import_lines(session: CommandSession) -> CommandResult:
    args = session.args
    view = session.require_private_view("import")
    with inputs.open_input(args.file) as source:
        done = view.imports.add_lines(inputs.read_lines(source))
    nothing_of_ours = done.refused and not done.created and not done.skipped
    hint = (f"if another memory wrote it, say which: --from {'|'.join(IMPORT_FORMATS)}",)
    told = f"imported  {done.created} new, {done.skipped} already here, {len(done.refused)} refused"
    return CommandResult(
        document={"created": done.created, "skipped": done.skipped, "refused": list(done.refused)},
        lines=[told],
        notes=(*done.refused, *(hint if nothing_of_ours else ())),
        exit=ExitCode.ABSENT if done.refused else ExitCode.OK,
    )


def list_spaces(session: CommandSession) -> CommandResult:
    names = session.memory.spaces()
    return CommandResult(
        document={"spaces": names}, lines=names, notes=() if names else ("no spaces yet",)
    )


def maintain_database(session: CommandSession) -> CommandResult:
    done = session.memory.maintain(rewrite=session.args.rewrite)
    verdict = "healthy" if done.healthy else "trouble"
    return CommandResult(
        document={
            "healthy": done.healthy,
            "problems": list(done.problems),
            "did": list(done.did),
            "pending": list(done.pending),
        },
        lines=[f"{verdict}  {', '.join(done.did)}", *(f"  {p}" for p in done.problems)],
        notes=tuple(f"pending: {one}" for one in done.pending),
        exit=ExitCode.OK if done.healthy else ExitCode.STORE,
    )


def show_embedding(session: CommandSession) -> CommandResult:
    found = session.memory.embedding()
    return CommandResult(document=output.embedding_document(found), lines=_embedding_lines(found))


def reembed_memories(session: CommandSession) -> CommandResult:
    memory = session.memory
    with CountProgress("vectors made", quiet=session.args.json) as progress:
        made = memory.reembed(progress)
    found = memory.embedding()
    return CommandResult(
        document={"made": made, **output.embedding_document(found)},
        lines=[f"made  {made}", *_embedding_lines(found)],
    )


def _embedding_lines(found: EmbeddingStatus) -> list[str]:
    if found.model is None:
        return ["no model: recall goes by words alone"]
    going = ", more are being made" if found.running and not found.complete else ""
    size = f"{found.dimension} numbers each" if found.dimension else "length not known yet"
    return [f"{found.model}  {size}  {found.done} of {found.total} memories{going}"]


def play_demo(session: CommandSession) -> CommandResult:
    args = session.args
    given = [
        name
        for name in ("requester", "chat", "config", "db", "space")
        if getattr(args, name) is not None
    ]
    if given:
        named = {"requester": "as"}.get(given[0], given[0])
        raise BadUsage(f"demo: plays on a database of its own; leave out --{named}")
    from tacit.cli import demo as story

    told = story.play_story()
    return CommandResult(document=asdict(told), lines=story.format_story(told))


# The command that makes keys for callers from outside, lists them and revokes them.

_KEY_ACTIONS = ("create", "list", "revoke")
_TOKEN_NOTE = "this is the only time that the token is shown: keep it where secrets are kept"


def add_keys_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("act", metavar="ACT", choices=_KEY_ACTIONS, help=", ".join(_KEY_ACTIONS))
    add("which", metavar="NAME|ID", nargs="?", help="what to call it; or which one to revoke")
    scopes = ", ".join(Scope)
    add("--scope", metavar="SCOPE", action="append", help=f"{scopes}; may be repeated")
    add("--for", dest="person", metavar="KEY", help="the one person it acts for: telegram:123")
    add("--agent", metavar="TEXT", help="the agent that uses it")
    add(
        "--category",
        metavar="CATEGORY",
        action="append",
        help="it reads and writes nothing else; may be repeated",
    )
    add("--days", type=int, metavar="N", help=f"for how long, at most {limits.API_KEY_MAX_DAYS}")
    add("--rate", type=int, metavar="N", help="at most so many requests in a minute")


def manage_keys(session: CommandSession) -> CommandResult:
    args = session.args
    if (args.which is None) is not (args.act == "list"):
        raise BadUsage("keys: create takes a name, revoke an id, and list neither")
    if args.act != "create" and any(_list_key_options(session)):
        raise BadUsage(f"keys {args.act}: takes no options of a new key")
    if args.act == "create":
        return _create_key(session)
    return _revoke_key(session) if args.act == "revoke" else _list_keys(session)


def _list_key_options(session: CommandSession) -> tuple[object, ...]:
    args = session.args
    return args.scope, args.person, args.agent, args.category, args.days, args.rate


def _create_key(session: CommandSession) -> CommandResult:
    args = session.args
    if not args.scope:
        raise BadUsage(f"keys create: say what it may do, with --scope {'|'.join(Scope)}")
    made = session.memory.create_key(
        args.which,
        scopes=args.scope,
        requester=args.person,
        agent=args.agent,
        categories=args.category,
        expires_days=args.days,
        rate_per_minute=args.rate,
    )
    return CommandResult(
        document={"key": _key_document(made.key), "token": made.token},
        lines=[*output.format_table([_key_row(made.key, session.now)]), made.token],
        notes=(_TOKEN_NOTE,),
    )


def _list_keys(session: CommandSession) -> CommandResult:
    found = session.memory.keys()
    return CommandResult(
        document={"keys": [_key_document(one) for one in found]},
        lines=output.format_table([_key_row(one, session.now) for one in found]),
        notes=() if found else ("no keys; `tacit keys create` makes one",),
    )


def _revoke_key(session: CommandSession) -> CommandResult:
    id: str = session.args.which
    session.memory.revoke_key(id)
    return CommandResult(document={"id": id, "done": "revoked"}, lines=[f"revoked  {id}"])


def _key_row(one: Key, now: datetime) -> tuple[str, ...]:
    scopes = ",".join(scope for scope in Scope if scope in one.scopes)
    return (one.id, scopes, f"for {one.requester or 'nobody'}", _key_state(one, now), one.name)


def _key_state(one: Key, now: datetime) -> str:
    if one.revoked_at is not None:
        return f"revoked {output.format_time(one.revoked_at)}"
    if one.expires_at is None:
        return "holds"
    ended = "until" if one.holds_at(now) else "expired"
    return f"{ended} {output.format_time(one.expires_at)}"


def _key_document(one: Key) -> dict[str, Any]:
    return {name: output.to_json(value) for name, value in asdict(one).items()}


# The command that tells what comes round in a space, and runs it now.

_TASKS = tuple(limits.JOBS_EVERY_HOURS)


def add_jobs_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "act", metavar="ACT", nargs="?", choices=("run",), help="run; else tell how they stand"
    )
    parser.add_argument("task", metavar="TASK", nargs="?", help=", ".join(_TASKS))


def manage_jobs(session: CommandSession) -> CommandResult:
    args = session.args
    if (args.act is None) is not (args.task is None):
        raise BadUsage(f"jobs: name what to run: {', '.join(_TASKS)}")
    if args.act == "run":
        done = session.memory.run_job(args.task)
        return CommandResult(
            document={"jobs": [_job_document(done)]},
            lines=[
                f"ran  {done.task}  {_format_counts(done.last.counts if done.last else {})}".rstrip()
            ],
        )
    found = session.memory.jobs()
    return CommandResult(
        document={"jobs": [_job_document(one) for one in found]},
        lines=output.format_table([_job_row(one) for one in found]),
    )


def _job_row(one: JobStatus) -> tuple[str, ...]:
    due = f"due {output.format_time(one.due_at)}" if one.due_at is not None else ""
    return (
        one.task,
        one.state,
        due,
        _progress_text(one) if one.counts else _last_run_text(one.last),
    )


def _progress_text(one: JobStatus) -> str:
    return f"so far: {_format_counts(one.counts)}"


def _last_run_text(run: JobRun | None) -> str:
    if run is None:
        return "never ran"
    came = run.problem if run.problem is not None else _format_counts(run.counts)
    return f"last {output.format_time(run.finished_at)}: {came}"


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing to do"


def _job_document(one: JobStatus) -> dict[str, Any]:
    last = None if one.last is None else _encode_fields(asdict(one.last))
    return _encode_fields(asdict(one)) | {"last": last}


def _encode_fields(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, dict) else output.to_json(value)
        for name, value in fields.items()
    }


# The command that finds what is wrong, and mends it if asked.


def add_doctor_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--repair", action="store_true", help="mend what can be mended; else nothing is changed")
    add(
        "--check",
        dest="checks",
        metavar="NAME",
        action="append",
        help="look for this alone; may be repeated (see docs/doctor.md)",
    )


def run_doctor(session: CommandSession) -> CommandResult:
    args = session.args
    found = session.memory.doctor(repair=args.repair, checks=args.checks)
    lines = [line for one in found.findings for line in _finding_lines(one, repair=args.repair)]
    return CommandResult(
        document={
            "healthy": found.healthy,
            "findings": [asdict(one) for one in found.findings],
        },
        lines=[*lines, "healthy" if found.healthy else "trouble"],
        exit=ExitCode.OK if found.healthy else ExitCode.ABSENT,
    )


def _finding_lines(one: Finding, *, repair: bool) -> list[str]:
    done = f"{one.repaired} of {one.count} repaired" if repair else f"{one.repairable} repairable"
    ids = f"  memories: {' '.join(one.ids)}"
    return [
        f"{one.check}  {one.count}: {one.says} ({done})",
        f"  repair {one.mends}",
        *([ids] if one.ids else []),
    ]


# Commands that merge what is there twice, think about people, and sum up conversations.


def add_consolidate_options(parser: ArgumentParser) -> None:
    parser.add_argument("--undo", metavar="RUN", help="take back what this run merged")


def consolidate_memories(session: CommandSession) -> CommandResult:
    if session.args.undo is not None:
        return _undo_consolidation(session, session.args.undo)
    done = session.memory.consolidate()
    lines = [f"merged  {format_count(done.merged, 'memory', 'memories')}, in run {done.run}"]
    if done.pairs:
        lines.append(f"asked   about {format_count(done.pairs, 'pair')}")
    return CommandResult(
        document=asdict(done), lines=lines, notes=_skipped_notes(done.skipped, done.left)
    )


def _undo_consolidation(session: CommandSession, run: str) -> CommandResult:
    back = session.memory.undo_consolidation(run)
    return CommandResult(
        document={"run": run, "restored": back},
        lines=[f"brought back  {format_count(back, 'memory', 'memories')}"],
        notes=() if back else ("nothing of that run can be taken back",),
    )


def reflect_on_people(session: CommandSession) -> CommandResult:
    done = session.memory.reflect()
    told = f"kept  {format_count(done.insights, 'insight')} about {format_count(done.people, 'person', 'people')}"
    return CommandResult(
        document=asdict(done), lines=[told], notes=_skipped_notes(done.skipped, done.left)
    )


def summarize_conversations(session: CommandSession) -> CommandResult:
    done = session.memory.summarise()
    told = f"summed up  {done.summaries} of {format_count(done.sessions, 'conversation')}"
    return CommandResult(
        document=asdict(done), lines=[told], notes=_skipped_notes(done.skipped, done.left)
    )


def _skipped_notes(skipped: str, left: int) -> tuple[str, ...]:
    waiting = (
        f"{format_count(left, 'person', 'people')} left for another day: the model did not answer"
    )
    return tuple(filter(None, (skipped, waiting if left else "")))


# Commands that tell what happened: history, events, metrics.


def add_history_options(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="the memory's 8 characters")
    parser.add_argument(
        "--export",
        action="store_true",
        help="of every memory that may be heard here, as JSON lines",
    )


def add_events_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--node", metavar="NODE", help=f"only where: {', '.join(EventNode)}")
    add("--op", metavar="OP", help=f"only what: {', '.join(EventOperation)}")
    add("--since", metavar="TIME", help="2026-03-01T12:00:00+00:00")
    add(
        "--limit",
        type=int,
        metavar="N",
        default=limits.PAGE_DEFAULT_COUNT,
        help="at most this many (default %(default)s)",
    )
    add("--cursor", metavar="CURSOR", help="where the last page stopped")


def add_metrics_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=int, metavar="N", help="where to serve them; without it, metrics.port"
    )
    parser.add_argument("--print", action="store_true", help="print them once instead")


def show_or_export_history(session: CommandSession) -> CommandResult | StreamedResult:
    args = session.args
    if (args.id is None) is not args.export:
        raise BadUsage("history: name a memory, or say --export for all of them")
    if args.export:
        return StreamedResult(lines=session.view.audit.export_history())
    return memories.show_history(session)


def list_events(session: CommandSession) -> CommandResult:
    args = session.args
    page = session.memory.events(
        args.node, args.op, _parse_since(args.since), limit=args.limit, cursor=args.cursor
    )
    rows = [
        (one.day.isoformat(), one.node.value, one.op.value, one.status.value, str(one.count))
        for one in page
    ]
    documents = [
        {
            "day": one.day.isoformat(),
            "node": one.node,
            "op": one.op,
            "status": one.status,
            "count": one.count,
        }
        for one in page
    ]
    notes = [] if rows else ["nothing has happened, or events.keep_days is 0"]
    if page.cursor is not None:
        notes.append(f"there is more: say the same again with --cursor {page.cursor}")
    return CommandResult(
        document={"events": documents, "cursor": page.cursor},
        lines=output.format_table(rows),
        notes=tuple(notes),
    )


def show_metrics(session: CommandSession) -> CommandResult:
    args = session.args
    memory = session.memory
    if args.print:
        told = memory.metrics()
        return CommandResult(document={"metrics": told}, lines=told.splitlines())
    from tacit.server.metrics import serve_metrics

    wanted = session.settings.metrics.port if args.port is None else args.port
    with serve_metrics(validation.parse_int("port", wanted, 0, limits.PORT_MAX)) as address:
        if sys.stderr is not None:
            sys.stderr.write(f"{escape_controls(address)}\n")
            sys.stderr.flush()
        threading.Event().wait()
    raise AssertionError("served until interrupted")


def _parse_since(written: str | None) -> datetime | None:
    return (
        None
        if written is None
        else validation.parse_datetime("--since", validation.parse_iso_datetime("--since", written))
    )
