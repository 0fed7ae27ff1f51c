"""Commands that learn from conversations, and manage what was learned."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from tacit import Message, limits
from tacit.cli import inputs
from tacit.cli import output as out
from tacit.cli.arguments import ID, OPERATOR, OPTIONAL_ID, TIME_EXAMPLE, arg, command, flag
from tacit.cli.output import BadUsage, CommandResult, ExitCode
from tacit.cli.session import CommandSession
from tacit.errors import InvalidInput
from tacit.records.conversation import Role
from tacit.records.results import LearningQueueStatus, Quarantined

_STAGE_COLUMNS = 9  # the longest name of a stage
_QUARANTINE_ACTIONS = ("release", "discard")


@command(
    "learn",
    arg("text", "TEXT", "one message each; - reads lines from stdin", nargs="*"),
    flag("--again", "queue the episodes of the space once more; known facts are not doubled"),
    flag("--queue", "only queue the messages; a worker learns from them"),
    flag("--trace", "print the stages of each message"),
    flag("--dry-run", "as --trace, and store nothing"),
    arg("--role", "ROLE", f"speaker: {', '.join(Role)}", default=Role.USER.value),
    arg("--message", "TEXT", "ID of the message in its channel; for one message"),
    arg("--at", "TIME", f"when it was said, {TIME_EXAMPLE}"),
    arg("--by", "AGENT", "agent that sends the messages"),
)
def learn(session: CommandSession) -> CommandResult:
    """Learn from messages."""
    args = session.args
    if args.again:
        return _learn_again(session)
    if not args.text:
        raise BadUsage("learn: needs a message, or --again")
    messages = _parse_messages(session)
    if args.dry_run or args.trace:
        if args.queue:
            raise BadUsage("learn: --queue cannot be combined with --trace or --dry-run")
        return _trace_messages(session, messages, keep=not args.dry_run)
    view, mine = session.view, session.private_view

    def list_quarantined() -> list[str]:
        return [one.id for one in mine.list(state="quarantined", limit=limits.PAGE_MAX_COUNT)]

    revision = view.delta().revision
    asked, held = {one.id for one in view.proposals.list()}, set(list_quarantined())
    accepted = view.learn(messages)
    if not args.queue:
        session.memory.jobs.wait_for_learning()
    changes = view.delta(revision).changes[::-1]
    new = [one for one in view.proposals.list() if one.id not in asked]
    quarantined = [id for id in list_quarantined() if id not in held]
    waits = session.memory.jobs.pending().turns
    state = "queued" if args.queue else "accepted" if waits else "learned"
    rows = [
        *((one.event, one.memory_id, one.content or "") for one in changes),
        *(("asks", one.id, f"{one.content} ({one.reason})") for one in new),
        *(("quarantined", id, "see `tacit quarantine`") for id in quarantined),
    ]
    notes = [f"not learned: contains a secret ({kind})" for kind in accepted.refused]
    if waits and not args.queue:
        notes.append(f"{out.format_count(waits, 'turn')} queued: see `tacit waiting`")
    return CommandResult(
        {
            "turns": accepted.turns,
            "refused": list(accepted.refused),
            "changes": out.to_json(changes),
            "proposals": out.to_json(new),
            "quarantined": quarantined,
            "waiting": waits,
        },
        [f"{state}  {out.format_count(accepted.turns, 'turn')}", *out.format_table(rows)],
        tuple(notes),
        ExitCode.ABSENT if accepted.refused else ExitCode.OK,
    )


def _learn_again(session: CommandSession) -> CommandResult:
    args, jobs = session.args, session.memory.jobs
    if args.text or args.trace or args.dry_run:
        raise BadUsage("learn: --again takes no messages, --trace or --dry-run")
    count = jobs.learn_again()
    if not args.queue:
        jobs.wait_for_learning()
    waits = jobs.pending().turns
    state = "queued" if args.queue or waits else "learned"
    return CommandResult({"turns": count, "waiting": waits}, [f"{state}  {out.format_count(count, 'turn')} again"])


def _parse_messages(session: CommandSession) -> list[Message]:
    args = session.args
    texts = list(_read_texts(args.text))
    if args.message is not None and len(texts) != 1:
        raise BadUsage("learn: --message is for one message; learn one at a time")
    if len(texts) > limits.MESSAGES_MAX_COUNT:
        raise InvalidInput("text", f"takes at most {limits.MESSAGES_MAX_COUNT} messages; split them")
    at = inputs.parse_zoned_time("at", args.at)
    return [Message(args.role, text, at=at, id=args.message) for text in texts]


def _read_texts(written: list[str]) -> Iterator[str]:
    for text in written:
        if text != inputs.STDIN_NAME:
            yield text
            continue
        with inputs.open_input(text) as source:
            for line in inputs.read_lines(source):
                if line.strip():
                    yield line.rstrip("\r\n")


def _trace_messages(session: CommandSession, messages: list[Message], *, keep: bool) -> CommandResult:
    view = session.view
    lines: list[str] = []
    found: list[dict[str, Any]] = []
    for number, one in enumerate(messages):
        steps = view.trace(one, keep=keep)
        if number:
            lines.append("")
        lines += [f"{step.stage:<{_STAGE_COLUMNS}}  {out.to_one_line(step.says)}" for step in steps]
        found.append({"steps": [asdict(step) for step in steps]})
    return CommandResult({"messages": found}, lines)


@command("proposals")
def proposals(session: CommandSession) -> CommandResult:
    """List proposals that wait for your consent."""
    return out.list_result(
        "proposals",
        session.view.proposals.list(),
        lambda one: (one.id, f"until {out.format_time(one.expires_at)}", f"{one.content} ({one.reason})"),
        "No proposals found.",
    )


@command("approve", ID)
def approve(session: CommandSession) -> CommandResult:
    """Approve a proposal."""
    session.view.proposals.approve(session.args.id)
    return out.done_result("approved", session.args.id)


@command("decline", ID)
def decline(session: CommandSession) -> CommandResult:
    """Decline a proposal."""
    session.view.proposals.decline(session.args.id)
    return out.done_result("declined", session.args.id)


@command("waiting", flag("--retry", "retry turns that failed"))
def waiting(session: CommandSession) -> CommandResult:
    """Show the learning queue."""
    jobs = session.memory.jobs
    retried = jobs.retry_learning() if session.args.retry else 0
    found = jobs.pending()
    notes = ("The next `tacit work` or `tacit learn` tries them.",) if retried else ()
    return CommandResult({**out.document_of(found), "retried": retried}, _queue_lines(found), notes)


@command("work", flag("--once", "process what is due now, then exit"))
def work(session: CommandSession) -> CommandResult:
    """Learn from queued turns and run due jobs, until stopped."""
    jobs = session.memory.jobs
    learned, ran = None, None
    lines = []
    if session.args.once:
        learned, ran = jobs.wait_for_learning(), jobs.run_due()
        lines.append(f"learned  {out.format_count(learned, 'turn')}")
        if ran:
            lines.append(f"ran      {out.format_count(ran, 'task')}")
    else:
        with _catch_stop_signals() as stopped:
            jobs.start()
            stopped.wait()
    found = jobs.pending()
    document = {"learned": learned, "ran": ran, **out.document_of(found)}
    return CommandResult(document, [*lines, *_queue_lines(found)])


@contextmanager
def _catch_stop_signals() -> Iterator[threading.Event]:
    stopped = threading.Event()
    before = {one: signal.signal(one, lambda *_: stopped.set()) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _queue_lines(found: LearningQueueStatus) -> list[str]:
    since = f", the oldest since {out.format_time(found.oldest)}" if found.oldest else ""
    lines = [f"waiting  {out.format_count(found.turns, 'turn')}{since}"]
    if found.parked:
        lines.append(f"parked   {out.format_count(found.parked, 'turn')}; use --retry")
    return [*lines, *(f"problem  {kind}" for kind in found.problems)]


@command(
    "quarantine",
    arg("act", "ACTION", f"{', '.join(_QUARANTINE_ACTIONS)} (default: list)", nargs="?", choices=_QUARANTINE_ACTIONS),
    OPTIONAL_ID,
    OPERATOR,
)
def quarantine(session: CommandSession) -> CommandResult:
    """List, release or discard quarantined memories."""
    args = session.args
    if (args.act is None) is not (args.id is None):
        raise BadUsage("quarantine: specify the ID to release or discard")
    kept = session.memory.operator(args.as_operator).quarantine
    if args.act == "release":
        kept.release(args.id)
        return out.done_result("released", args.id, "; it is untrusted")
    if args.act == "discard":
        return out.done_result("discarded", args.id, complete=kept.discard(args.id).complete)

    def row(one: Quarantined) -> tuple[str, ...]:
        source = f"{one.chat or ''}/{one.message}" if one.message else one.chat or ""
        said_by = f"{one.role or ''}{' of ' + one.agent if one.agent else ''}"
        return one.id, out.format_time(one.created_at), one.owner or "", source, said_by, one.reason

    return out.list_result("quarantined", kept.list(), row, "No quarantined memories found.")


@command(
    "revert",
    arg("--source", "SOURCE", "telegram:-100, telegram:-100/42 (a message), agent:NAME or role:tool", required=True),
    flag("--dry-run", "only count"),
    OPERATOR,
)
def revert(session: CommandSession) -> CommandResult:
    """Undo everything learned from one source."""
    args = session.args
    done = session.memory.operator(args.as_operator).revert(args.source, dry_run=args.dry_run)
    memories = ("memory", "memories")
    parts = (
        (done.forgotten, *memories, "forgotten; restorable for 30 days"),
        (done.reworded, *memories, "with an earlier version restored"),
        (done.restored, *memories, "restored that had been replaced"),
        (done.proposals, "proposal", "proposals", "withdrawn"),
        (done.turns, "turn", "turns", "removed from the queue"),
    )
    lines = [f"  {out.format_count(n, one, more)} {what}" for n, one, more, what in parts if n]
    return CommandResult(
        {"source": args.source, "dry_run": args.dry_run, **asdict(done)},
        [
            f"{'would revert' if args.dry_run else 'reverted'}  {args.source}",
            *(lines if done else ["  nothing to revert"]),
        ],
    )
